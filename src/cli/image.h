/* image.h: pictures into files, one file a format. */
#ifndef CLI_IMAGE_H
#define CLI_IMAGE_H

#include "cli/shade.h"

/* PNG, 8 bits a colour (W3C PNG 2003). */
sn_status cli_write_png(const cli_picture *p, const char *path, sn_error *err);

/* Moving pictures: begun, one picture after the other, ended.  All of one size. */
typedef struct cli_film cli_film;

/* The suffix decides: .webp is written here, .mp4 by the program ffmpeg.  SN_E_UNSUPPORTED: cannot
 * be done on this machine; what to do is said. */
sn_status cli_film_begin(cli_film **film, const char *path, int width, int height, double fps,
                         sn_error *err);
sn_status cli_film_add(cli_film *film, const cli_picture *p, sn_error *err);
/* Also after a failure; without success there is no file. */
sn_status cli_film_end(cli_film **film, sn_error *err);

/* SN_OK, or SN_E_UNSUPPORTED: why this command cannot write such a film. */
sn_status cli_film_possible(const char *path, sn_error *err);

#endif
