/* export_html.c: a page with a recording in it, in base64 (RFC 4648).
 *
 * The page has one empty element for it; see docs/recording.md. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/export.h"
#include "io/snr_reader.h"

#define BEFORE "<script type=\"application/x-sinew-recording\" id=\"recording\">"
#define AFTER  "</script>"

enum { CHUNK = 3 * 16384 }; /* bytes, a multiple of 3: only the last piece is filled up */

size_t sni_base64(const unsigned char *from, size_t n, char *to) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t out = 0;
  for (size_t k = 0; k < n; k += 3) {
    const unsigned a = from[k], b = k + 1 < n ? from[k + 1] : 0, c = k + 2 < n ? from[k + 2] : 0;
    const unsigned bits = a << 16 | b << 8 | c;
    to[out++] = digit[bits >> 18];
    to[out++] = digit[bits >> 12 & 63];
    to[out++] = k + 1 < n ? digit[bits >> 6 & 63] : '=';
    to[out++] = k + 2 < n ? digit[bits & 63] : '=';
  }
  return out;
}

/* All bytes of the file. */
static bool write_recording(sn_recording *r, FILE *to) {
  unsigned char raw[CHUNK];
  char text[CHUNK / 3 * 4];
  bool good = fseeko(r->file, 0, SEEK_SET) == 0;
  for (size_t n = CHUNK; good && n == CHUNK;) {
    n = fread(raw, 1, CHUNK, r->file);
    const size_t m = sni_base64(raw, n, text);
    good = !ferror(r->file) && fwrite(text, 1, m, to) == m;
  }
  return good;
}

/* Where the element's content goes; n: there is none. */
static size_t find_place(const char *page, size_t n) {
  static const char element[] = BEFORE AFTER;
  const size_t m = sizeof element - 1;
  for (size_t k = 0; k + m <= n; k++) {
    if (memcmp(page + k, element, m) == 0) {
      return k + sizeof BEFORE - 1;
    }
  }
  return n;
}

sn_status sni_export_html(sn_recording *r, const char *page, size_t n, const char *path,
                          sn_error *err) {
  const size_t place = find_place(page, n);
  if (place == n) {
    return sni_fail(err, SN_E_UNSUPPORTED, "the page has no place for a recording");
  }
  errno = 0;
  FILE *to = fopen(path, "wb");
  bool good = to && fwrite(page, 1, place, to) == place && write_recording(r, to) &&
              fwrite(page + place, 1, n - place, to) == n - place;
  good = to && fclose(to) == 0 && good;
  if (!good) {
    const int reason = errno;
    if (to) {
      remove(path);
    }
    return sni_fail(err, SN_E_FILE, "cannot write '%s': %s", path, strerror(reason));
  }
  return SN_OK;
}
