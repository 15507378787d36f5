/* raster.h: triangles into samples: a z-buffer that remembers which triangle is seen.
 *
 * Depth is anything that is linear on the screen and larger where it is nearer: 1/distance behind a
 * lens, -distance for parallel light.  Samples keep the number of their triangle; colours and
 * normals are found from it later, once for each sample that is seen. */
#ifndef CLI_RASTER_H
#define CLI_RASTER_H

#include <stddef.h>
#include <stdint.h>

#include "math/vec3.h"

/* In the world of the picture, y up. */
typedef struct cli_triangle {
  float x[3][3], n[3][3]; /* corners and their normals */
  float color[3];         /* linear                    */
} cli_triangle;

typedef struct cli_triangles {
  cli_triangle *item;
  size_t count, capacity;
  size_t solid; /* those from here on are marks: seen through all others, without light or shadow */
} cli_triangles;

/* A camera: depth = 1/distance along -back; parallel: depth = -distance, focal = samples a unit. */
typedef struct cli_lens {
  sn_vec3 eye, right, up, back; /* unit vectors                                          */
  double focal;                 /* samples, of a unit at distance 1                      */
  double cx, cy;                /* sample that looks along -back; y goes down            */
  double near_;                 /* what is nearer is cut off                             */
  bool parallel;
} cli_lens;

typedef struct cli_samples {
  int width, height; /* of this piece                                                    */
  int top;           /* its first row in the whole picture                               */
  float *depth;      /* width * height                                                   */
  uint32_t *seen;    /* the triangle, CLI_NOTHING: none; NULL: only depth is wanted      */
} cli_samples;

#define CLI_NOTHING       UINT32_MAX
#define CLI_DEPTH_NOTHING (-1e30f)

void cli_samples_clear(cli_samples *s);
void cli_raster(cli_samples *s, const cli_lens *lens, const cli_triangles *t);

/* Where a point is seen, in samples of the whole picture; z: its depth. */
sn_vec3 cli_lens_project(const cli_lens *lens, sn_vec3 x);

#endif
