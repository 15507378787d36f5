/* film.c: moving pictures, by the suffix of their file. */
#include "cli/film.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"

static const cli_film_ops *const kinds[] = {&cli_film_webp, &cli_film_mp4};

static const cli_film_ops *find(const char *path) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    if (cli_has_suffix(path, kinds[k]->suffix)) {
      return kinds[k];
    }
  }
  return NULL;
}

sn_status cli_film_possible(const char *path, sn_error *err) {
  const cli_film_ops *ops = find(path);
  return ops ? ops->possible(err)
             : sni_fail(err, SN_E_UNSUPPORTED, "'%s' is no picture, needs .png, .webp or .mp4",
                        path);
}

sn_status cli_film_begin(cli_film **film, const char *path, int width, int height, double fps,
                         sn_error *err) {
  const cli_film_ops *ops = find(path);
  cli_film *f = calloc(1, sizeof *f);
  *film = NULL;
  if (!f || !ops) {
    free(f);
    return sni_fail(err, SN_E_MEMORY, "no memory for a film");
  }
  *f = (cli_film){.ops = ops, .path = path, .width = width, .height = height, .fps = fps};
  const sn_status status = ops->begin(f, err);
  if (status) {
    free(f);
  } else {
    *film = f;
  }
  return status;
}

sn_status cli_film_add(cli_film *film, const cli_picture *p, sn_error *err) {
  const sn_status status = film->ops->add(film, p, err);
  film->failed = film->failed || status != SN_OK;
  film->count++;
  return status;
}

sn_status cli_film_end(cli_film **film, sn_error *err) {
  cli_film *f = *film;
  if (!f) {
    return SN_OK;
  }
  *film = NULL;
  const sn_status status = f->ops->end(f, err);
  if (status || f->failed) {
    remove(f->path);
  }
  free(f);
  return status;
}
