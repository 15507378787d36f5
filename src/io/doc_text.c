/* doc_text.c: the characters of a document: which may stand in it, and how messages show them.
 *
 * A text is checked before libyaml sees it.  libyaml takes U+0085, U+2028 and U+2029 for line
 * breaks as YAML 1.1 did; YAML 1.2 and editors do not, so they are refused: lines always agree. */
#include "io/doc_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* ---- characters ------------------------------------------------------------------------------ */

/* One character of UTF-8: its length in bytes, 0 if it is none. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *out) {
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const size_t length = s[0] < 0x80   ? 1
                        : s[0] < 0xc0 ? 0
                        : s[0] < 0xe0 ? 2
                        : s[0] < 0xf0 ? 3
                        : s[0] < 0xf8 ? 4
                                      : 0;
  if (length == 0 || length > n) {
    return 0;
  }
  uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) {
      return 0;
    }
    c = c << 6 | (s[i] & 0x3f);
  }
  *out = c;
  return c < smallest[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : length;
}

/* False for control characters, and for what Unicode says is no character. */
static bool is_text_character(uint32_t c) {
  return c >= 0x20 ? !(c >= 0x7f && c < 0xa0 && c != 0x85) && c != 0xfeff && (c & 0xfffe) != 0xfffe
                   : c == '\t' || c == '\n' || c == '\r';
}

static bool is_hidden_break(uint32_t c) {
  return c == 0x85 || c == 0x2028 || c == 0x2029;
}

size_t sni_doc_find_bad_character(const char *text, size_t n, uint32_t *c) {
  for (size_t i = 0; i < n;) {
    const size_t length = decode((const unsigned char *)text + i, n - i, c);
    if (length == 0 || !is_text_character(*c) || is_hidden_break(*c)) {
      return i;
    }
    i += length;
  }
  return n;
}

/* ---- whole texts ----------------------------------------------------------------------------- */

bool sni_doc_is_line_end(const char *text, size_t n, size_t i) {
  return text[i] == '\n' || (text[i] == '\r' && !(i + 1 < n && text[i + 1] == '\n'));
}

size_t sni_doc_bom_length(const char *text, size_t n) {
  return n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

sn_status sni_doc_check_text(const char *text, size_t n, const char *name, sn_error *err) {
  size_t line = 1, column = 1;
  for (size_t i = sni_doc_bom_length(text, n); i < n;) {
    uint32_t c = 0;
    const size_t length = decode((const unsigned char *)text + i, n - i, &c);
    if (length == 0 || !is_text_character(c)) {
      return sni_doc_place(name, line, column, err,
                           sni_fail(err, SN_E_SYNTAX,
                                    "not a text file (byte 0x%02x at offset %zu), needs UTF-8",
                                    (unsigned char)text[i], i));
    }
    if (is_hidden_break(c)) {
      return sni_doc_place(name, line, column, err,
                           sni_fail(err, SN_E_SYNTAX,
                                    "the character U+%04X is a hidden line break: remove it",
                                    (unsigned)c));
    }
    const bool end = sni_doc_is_line_end(text, n, i);
    line += end;
    column = end ? 1 : column + 1;
    i += length;
  }
  return SN_OK;
}

/* ---- in messages ----------------------------------------------------------------------------- */

sni_doc_sample sni_doc_sample_n(const char *text, size_t n) {
  const size_t most = 48;
  sni_doc_sample s;
  size_t length = 0, i = 0;
  while (i < n) {
    uint32_t c = 0;
    const size_t bytes = decode((const unsigned char *)text + i, n - i, &c);
    const bool shown = bytes > 0 && c >= ' ' && is_text_character(c) && !is_hidden_break(c);
    const size_t width = shown ? bytes : 1;
    if (length + width > most) {
      break;
    }
    memcpy(s.text + length, shown ? text + i : c == '\n' ? " " : "?", width);
    length += width;
    i += bytes > 0 ? bytes : 1;
  }
  snprintf(s.text + length, sizeof s.text - length, "%s", i < n ? "..." : "");
  return s;
}

sni_doc_sample sni_doc_sample_of(const char *text) {
  return sni_doc_sample_n(text, strlen(text));
}
