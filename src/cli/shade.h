/* shade.h: a picture of triangles: sun and sky, a soft shadow, a ground with a grid.
 *
 * No part of it needs a screen or a graphics card.  Memory does not grow with the height of the
 * picture: it is made in bands. */
#ifndef CLI_SHADE_H
#define CLI_SHADE_H

#include "base/error.h"
#include "cli/raster.h"

typedef struct cli_picture {
  int width, height;
  unsigned char *rgb; /* 3 width height, from the top */
} cli_picture;

typedef struct cli_stage {
  cli_lens lens; /* for pixels: focal, cx and cy are scaled for the samples            */
  sn_vec3 centre;
  double size;  /* half the diagonal of the mechanism                                  */
  double level; /* of the ground                                                       */
  double cell;  /* of its grid                                                         */
  bool dark;
} cli_stage;

/* Fills the picture, whose size is given. */
sn_status cli_shade(const cli_stage *stage, const cli_triangles *t, cli_picture *out,
                    sn_error *err);

/* sRGB, 0 to 1, to linear light and back. */
double cli_to_linear(double s);
double cli_to_srgb(double l);

#endif
