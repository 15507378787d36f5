/* film_webp.c: animated WebP, by libwebp where the command was built with it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/film.h"

#ifdef SINEW_WEBP
#include <webp/encode.h>
#include <webp/mux.h>

#define QUALITY 88

typedef struct state {
  WebPAnimEncoder *encoder;
  WebPConfig config;
} state;

static sn_status possible(sn_error *err) {
  (void)err;
  return SN_OK;
}

static sn_status begin(cli_film *f, sn_error *err) {
  WebPAnimEncoderOptions options;
  state *s = calloc(1, sizeof *s);
  if (s && WebPAnimEncoderOptionsInit(&options) && WebPConfigInit(&s->config)) {
    options.minimize_size = 0;
    options.allow_mixed = 0;
    options.kmin = 5; /* whole pictures now and then: differences leave traces */
    options.kmax = 10;
    s->config.quality = QUALITY;
    s->config.method = 4;
    s->encoder = WebPAnimEncoderNew(f->width, f->height, &options);
  }
  f->own = s;
  if (!s || !s->encoder) {
    free(s);
    return sni_fail(err, SN_E_MEMORY, "no memory for a film");
  }
  return SN_OK;
}

static int milliseconds(const cli_film *f) {
  return (int)lround(1000.0 * (double)f->count / f->fps);
}

static sn_status add(cli_film *f, const cli_picture *p, sn_error *err) {
  state *s = f->own;
  WebPPicture picture;
  bool good = WebPPictureInit(&picture);
  picture.width = p->width;
  picture.height = p->height;
  picture.use_argb = 1;
  good = good && WebPPictureImportRGB(&picture, p->rgb, 3 * p->width) &&
         WebPAnimEncoderAdd(s->encoder, &picture, milliseconds(f), &s->config);
  WebPPictureFree(&picture);
  return good ? SN_OK
              : sni_fail(err, SN_E_MEMORY, "libwebp cannot take picture %lld", (long long)f->count);
}

static bool write_all(const char *path, const WebPData *data) {
  FILE *to = fopen(path, "wb");
  const bool good = to && fwrite(data->bytes, 1, data->size, to) == data->size;
  return to && fclose(to) == 0 && good;
}

static sn_status end(cli_film *f, sn_error *err) {
  state *s = f->own;
  WebPData data;
  sn_status status = SN_OK;
  WebPDataInit(&data);
  if (!f->failed) {
    if (!WebPAnimEncoderAdd(s->encoder, NULL, milliseconds(f), NULL) ||
        !WebPAnimEncoderAssemble(s->encoder, &data)) {
      status = sni_fail(err, SN_E_MEMORY, "libwebp cannot put the film together");
    } else if (!write_all(f->path, &data)) {
      status = sni_fail(err, SN_E_FILE, "cannot write '%s': %s", f->path, strerror(errno));
    }
  }
  WebPDataClear(&data);
  WebPAnimEncoderDelete(s->encoder);
  free(s);
  return status;
}

#else

static sn_status possible(sn_error *err) {
  return sni_fail(err, SN_E_UNSUPPORTED,
                  "this command was built without libwebp: install libwebp-dev and build again, or "
                  "write .mp4");
}

static sn_status begin(cli_film *f, sn_error *err) {
  (void)f;
  return possible(err);
}

static sn_status add(cli_film *f, const cli_picture *p, sn_error *err) {
  (void)p;
  return begin(f, err);
}

static sn_status end(cli_film *f, sn_error *err) {
  return begin(f, err);
}

#endif

const cli_film_ops cli_film_webp = {".webp", possible, begin, add, end};
