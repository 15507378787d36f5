/* film.h: what a kind of moving picture must provide.  A new kind = one file + one row in film.c.
 */
#ifndef CLI_FILM_H
#define CLI_FILM_H

#include "cli/image.h"

struct cli_film {
  const struct cli_film_ops *ops;
  const char *path;
  int width, height;
  double fps;
  int64_t count; /* pictures so far */
  bool failed;
  void *own; /* of the kind */
};

typedef struct cli_film_ops {
  const char *suffix;
  sn_status (*possible)(sn_error *err);
  sn_status (*begin)(cli_film *f, sn_error *err);
  sn_status (*add)(cli_film *f, const cli_picture *p, sn_error *err);
  sn_status (*end)(cli_film *f, sn_error *err); /* frees own; writes nothing more if failed */
} cli_film_ops;

extern const cli_film_ops cli_film_webp, cli_film_mp4;

#endif
