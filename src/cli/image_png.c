/* image_png.c: PNG.  Each row is filtered by the difference from the one above, which suits smooth
 * shading, and all are compressed as one stream. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/image.h"

static void put32(unsigned char *to, uint32_t x) {
  to[0] = (unsigned char)(x >> 24);
  to[1] = (unsigned char)(x >> 16);
  to[2] = (unsigned char)(x >> 8);
  to[3] = (unsigned char)x;
}

/* Length, kind, data, check sum of the last two. */
static bool write_chunk(FILE *f, const char *kind, const unsigned char *data, size_t n) {
  unsigned char head[8], sum[4];
  put32(head, (uint32_t)n);
  memcpy(head + 4, kind, 4);
  uLong crc = crc32(0, head + 4, 4);
  crc = n > 0 ? crc32(crc, data, (uInt)n) : crc;
  put32(sum, (uint32_t)crc);
  return fwrite(head, 1, 8, f) == 8 && (n == 0 || fwrite(data, 1, n, f) == n) &&
         fwrite(sum, 1, 4, f) == 4;
}

enum { FILTER_UP = 2 };

static unsigned char *filter_rows(const cli_picture *p) {
  const size_t row = 3 * (size_t)p->width;
  unsigned char *out = malloc((row + 1) * (size_t)p->height);
  for (size_t y = 0; out && y < (size_t)p->height; y++) {
    const unsigned char *now = p->rgb + y * row;
    unsigned char *to = out + y * (row + 1);
    *to++ = FILTER_UP;
    for (size_t k = 0; k < row; k++) {
      to[k] = (unsigned char)(now[k] - (y > 0 ? now[k - row] : 0));
    }
  }
  return out;
}

static bool write_file(FILE *f, const cli_picture *p, const unsigned char *data, size_t n) {
  static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  unsigned char head[13] = {[8] = 8, [9] = 2}; /* 8 bits, red, green and blue */
  put32(head, (uint32_t)p->width);
  put32(head + 4, (uint32_t)p->height);
  return fwrite(signature, 1, 8, f) == 8 && write_chunk(f, "IHDR", head, sizeof head) &&
         write_chunk(f, "IDAT", data, n) && write_chunk(f, "IEND", NULL, 0);
}

sn_status cli_write_png(const cli_picture *p, const char *path, sn_error *err) {
  const size_t size = (3 * (size_t)p->width + 1) * (size_t)p->height;
  uLongf n = compressBound((uLong)size);
  unsigned char *rows = filter_rows(p), *data = malloc(n);
  const bool good = rows && data && compress2(data, &n, rows, (uLong)size, 9) == Z_OK;
  free(rows);
  if (!good) {
    free(data);
    return sni_fail(err, SN_E_MEMORY, "no memory for a picture");
  }
  FILE *f = fopen(path, "wb");
  bool written = f && write_file(f, p, data, n);
  written = f && fclose(f) == 0 && written;
  const int reason = errno;
  free(data);
  if (f && !written) {
    remove(path);
  }
  return written ? SN_OK
                 : sni_fail(err, SN_E_FILE, "cannot write '%s': %s", path, strerror(reason));
}
