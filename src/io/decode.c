/* decode.c: problems with their places, and scalars.
 *
 * A scalar is what its key says, so the spelling decides nothing, with one exception: words for
 * which JSON and YAML 1.2 have no quotes (null, true, false) are no numbers and no expressions. */
#include "io/decode.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "io/words.h"
#include "math/expr.h"

/* ---- problems -------------------------------------------------------------------------------- */

void sni_decode_locate(const sni_doc *doc, const sni_node *node, sn_error *err) {
  /* a block begins on the line below its key: people look for the key */
  if (node->kind != SNI_NODE_SCALAR && node->key_line > 0 && node->line > node->key_line) {
    sni_doc_locate_key(doc, node, err);
  } else {
    sni_doc_locate(doc, node, err);
  }
}

static void fail(sni_decoder *d, sn_status code, const char *format, va_list args, sn_error *err) {
  err->code = code == SN_E_SYNTAX && d->semantic ? SN_E_VALUE : code;
  snprintf(err->path, sizeof err->path, "%s", d->path);
  vsnprintf(err->text, sizeof err->text, format, args);
  sni_error_list_add(d->errors, err);
}

bool sni_decode_fail_unseen(sni_decoder *d) {
  const bool full = d->errors->count >= SNI_ERROR_LIST_MAX;
  d->errors->dropped += full;
  return full;
}

void sni_decode_fail(sni_decoder *d, sn_status code, const sni_node *node, const char *format,
                     ...) {
  sn_error err = {0};
  sni_decode_locate(d->doc, node, &err);
  va_list args;
  va_start(args, format);
  fail(d, code, format, args, &err);
  va_end(args);
}

void sni_decode_fail_key(sni_decoder *d, sn_status code, const sni_node *node, const char *format,
                         ...) {
  sn_error err = {0};
  sni_doc_locate_key(d->doc, node, &err);
  va_list args;
  va_start(args, format);
  fail(d, code, format, args, &err);
  va_end(args);
}

void sni_decode_fail_type(sni_decoder *d, const sni_node *node, const char *what) {
  if (node->kind != SNI_NODE_SCALAR) {
    sni_decode_fail(d, SN_E_SYNTAX, node, "is %s, needs %s", sni_node_kind_text(node), what);
  } else if (sni_node_is_null(node)) {
    sni_decode_fail_key(d, SN_E_SYNTAX, node, "has no value, needs %s", what);
  } else {
    const char *quote = sni_node_is_literal(node) || sni_node_is_bool(node) ? "" : "'";
    sni_decode_fail(d, SN_E_SYNTAX, node, "is %s%s%s, needs %s", quote, sni_show(node->text).text,
                    quote, what);
  }
}

/* ---- paths ----------------------------------------------------------------------------------- */

static size_t extend(sni_decoder *d, const char *separator, const char *step) {
  const size_t before = d->path_length, room = sizeof d->path - before;
  const int n = snprintf(d->path + before, room, "%s%s", separator, step);
  d->path_length += n > 0 && (size_t)n < room ? (size_t)n : room - 1;
  return before;
}

size_t sni_path_key(sni_decoder *d, const char *key) {
  return extend(d, d->path_length ? "." : "", key);
}

size_t sni_path_index(sni_decoder *d, size_t index) {
  char step[32];
  snprintf(step, sizeof step, "[%zu]", index);
  return extend(d, "", step);
}

void sni_path_back(sni_decoder *d, size_t before) {
  d->path[before] = 0;
  d->path_length = before;
}

/* ---- what YAML sees in a word ---------------------------------------------------------------- */

static bool is_plain_word(const sni_node *node, const char *const *word, size_t n) {
  if (node->kind != SNI_NODE_SCALAR || node->quoted) {
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    if (strcmp(node->text, word[i]) == 0) {
      return true;
    }
  }
  return false;
}

bool sni_node_is_null(const sni_node *node) {
  static const char *const word[] = {"", "~", "null", "Null", "NULL"};
  return is_plain_word(node, word, sizeof word / sizeof *word);
}

bool sni_node_is_bool(const sni_node *node) {
  static const char *const word[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
  return is_plain_word(node, word, sizeof word / sizeof *word);
}

/* .inf and .nan are numbers to YAML. */
static bool read_special(const sni_node *node, double *out) {
  static const char *const nan_word[] = {".nan", ".NaN", ".NAN"};
  static const char *const inf_word[] = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                         "+.INF", "-.inf", "-.Inf", "-.INF"};
  if (is_plain_word(node, nan_word, sizeof nan_word / sizeof *nan_word)) {
    *out = NAN;
    return true;
  }
  if (is_plain_word(node, inf_word, sizeof inf_word / sizeof *inf_word)) {
    *out = node->text[0] == '-' ? -INFINITY : INFINITY;
    return true;
  }
  return false;
}

static bool read_literal(const sni_node *node, double *out) {
  if (node->kind != SNI_NODE_SCALAR || node->quoted) {
    return false;
  }
  if (read_special(node, out)) {
    return true;
  }
  const char *end = sni_number_read(node->text, out);
  return end != node->text && *end == 0;
}

bool sni_node_is_literal(const sni_node *node) {
  double ignored;
  return read_literal(node, &ignored);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A mistake in an expression: the column counts in the file where the text stands as it is. */
void sni_decode_fail_expression(sni_decoder *d, const sni_node *node, const sn_error *inner) {
  sn_error err = {.code = inner->code == SN_E_MEMORY ? SN_E_MEMORY : SN_E_VALUE};
  sni_doc_locate(d->doc, node, &err);
  if (inner->column > 0 && err.line > 0 && !strchr(node->text, '\n')) {
    err.column += inner->column - 1 + node->quoted;
  }
  snprintf(err.path, sizeof err.path, "%s", d->path);
  snprintf(err.text, sizeof err.text, "expression '%s', character %d: %.300s",
           sni_show(node->text).text, inner->column, inner->text);
  sni_error_list_add(d->errors, &err);
}

/* A number of any size, or NaN, with a remark whether it stands there as such. */
static bool read_number(sni_decoder *d, const sni_node *node, const char *what, double *out,
                        bool *literal) {
  if (node->kind != SNI_NODE_SCALAR || sni_node_is_null(node) || sni_node_is_bool(node)) {
    sni_decode_fail_type(d, node, what);
    return false;
  }
  *literal = read_literal(node, out);
  if (*literal) {
    return true;
  }
  sn_error err = {0};
  if (sni_expr_constant(node->text, out, &err) != SN_OK) {
    sni_decode_fail_expression(d, node, &err);
    return false;
  }
  return true;
}

static void fail_range(sni_decoder *d, const sni_node *node, double value, bool literal,
                       const char *what) {
  if (literal) {
    sni_decode_fail(d, SN_E_SYNTAX, node, "is %s, needs %s", sni_show(node->text).text, what);
  } else {
    sni_decode_fail(d, SN_E_VALUE, node, "is %s = %.10g, needs %s", sni_show(node->text).text,
                    value, what);
  }
}

bool sni_decode_number(sni_decoder *d, const sni_node *node, unsigned flags, double *out) {
  double value;
  bool literal;
  if (!read_number(d, node, "a number", &value, &literal)) {
    return false;
  }
  if ((flags & SNI_POSITIVE) && value <= 0) {
    fail_range(d, node, value, literal, "> 0");
    return false;
  }
  if ((flags & SNI_NOT_NEGATIVE) && value < 0) {
    fail_range(d, node, value, literal, ">= 0");
    return false;
  }
  if (!isfinite(value)) {
    sni_decode_fail(d, SN_E_VALUE, node, "is %s, needs a finite number", sni_show(node->text).text);
    return false;
  }
  *out = value;
  return true;
}

bool sni_decode_integer(sni_decoder *d, const sni_node *node, unsigned flags, int most, int *out) {
  double value;
  bool literal;
  if (!read_number(d, node, "a whole number", &value, &literal)) {
    return false;
  }
  const double least = flags & SNI_POSITIVE ? 1 : flags & SNI_NOT_NEGATIVE ? 0 : INT_MIN;
  if (!(floor(value) == value) || value < least || value > most) {
    char what[64] = "a whole number";
    if (floor(value) == value) {
      snprintf(what, sizeof what, "a whole number from %.0f to %d", least, most);
    }
    fail_range(d, node, value, literal, what);
    return false;
  }
  *out = (int)value;
  return true;
}

bool sni_decode_numbers(sni_decoder *d, const sni_node *node, size_t count, unsigned flags,
                        double *out) {
  if (node->kind != SNI_NODE_SEQUENCE) {
    char what[64];
    snprintf(what, sizeof what, "a list of %zu numbers", count);
    sni_decode_fail_type(d, node, what);
    return false;
  }
  const size_t n = sni_node_count(node);
  if (n != count) {
    sni_decode_fail(d, SN_E_SYNTAX, node, "has %zu %s, needs %zu", n, n == 1 ? "number" : "numbers",
                    count);
  }
  bool good = n == count;
  for (size_t i = 0; i < n; i++) {
    double value;
    const size_t before = sni_path_index(d, i);
    if (!sni_decode_number(d, sni_node_at(node, i), flags, i < count ? &out[i] : &value)) {
      good = false;
    }
    sni_path_back(d, before);
  }
  return good;
}

/* ---- words ----------------------------------------------------------------------------------- */

bool sni_decode_bool(sni_decoder *d, const sni_node *node, bool *out) {
  if (!sni_node_is_bool(node)) {
    sni_decode_fail_type(d, node, "true or false");
    return false;
  }
  *out = strcmp(node->text, "true") == 0;
  if (!*out && strcmp(node->text, "false") != 0) {
    sni_decode_fail(d, SN_E_VALUE, node, "is %s, write true or false in small letters", node->text);
    return false;
  }
  return true;
}

bool sni_decode_text(sni_decoder *d, const sni_node *node, const char *what, const char **out) {
  if (node->kind != SNI_NODE_SCALAR || sni_node_is_null(node) || node->count == 0) {
    sni_decode_fail_type(d, node, what);
    return false;
  }
  *out = node->text;
  return true;
}

bool sni_decode_name(sni_decoder *d, const sni_node *node, const char **out) {
  const char *name;
  if (!sni_decode_text(d, node, "a name", &name)) {
    return false;
  }
  if (!sni_name_is_reference(name)) {
    sni_decode_fail(d, SN_E_SYNTAX, node,
                    "'%s' is no name: letters, digits, _ and -, a letter or _ first",
                    sni_show(name).text);
    return false;
  }
  *out = strcmp(name, "world") == 0 ? name : sni_pool_join(d->pool, d->prefix, name);
  return *out != NULL;
}

static void fail_choice(sni_decoder *d, const sni_node *node, const char *choices) {
  char known[256] = "one of ";
  sni_choice word[16];
  const bool scalar = node->kind == SNI_NODE_SCALAR && !sni_node_is_null(node);
  sni_suggestion near = {.word = scalar ? node->text : ""};
  if (sni_decode_fail_unseen(d)) {
    return;
  }
  for (int k = 0; k < SNI_COUNT(word) && sni_choice_get(choices, k, &word[k]); k++) {
    sni_suggest(&near, word[k].word);
    const size_t n = strlen(known);
    snprintf(known + n, sizeof known - n, "%s%s", k ? ", " : "", word[k].word);
  }
  const char *what = strchr(choices, '|') ? known : choices;
  if (near.best && strchr(choices, '|')) {
    sni_decode_fail(d, SN_E_SYNTAX, node, "is '%s' (did you mean '%s'?), needs %s",
                    sni_show(node->text).text, near.best, what);
  } else {
    sni_decode_fail_type(d, node, what);
  }
}

bool sni_decode_choice(sni_decoder *d, const sni_node *node, const char *choices, int *out) {
  sni_choice c;
  for (int k = 0; node->kind == SNI_NODE_SCALAR && sni_choice_get(choices, k, &c); k++) {
    if (strcmp(node->text, c.word) == 0) {
      *out = k;
      return true;
    }
  }
  fail_choice(d, node, choices);
  return false;
}

bool sni_decode_file(sni_decoder *d, const sni_node *node, const char **out) {
  const char *name;
  if (!sni_decode_text(d, node, "the name of a file", &name)) {
    return false;
  }
  sn_error err = {0};
  const sn_status status = sni_folder_find(d->pool, d->root, d->folder, name, out, NULL, &err);
  if (status != SN_OK) {
    sni_decode_fail(d, status, node, "%s", err.text);
  }
  return status == SN_OK;
}
