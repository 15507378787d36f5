/* triangles.h: lists of triangles, and the simple things that are made of them. */
#ifndef CLI_TRIANGLES_H
#define CLI_TRIANGLES_H

#include "cli/raster.h"

/* A triangle; n: normals of its corners, NULL: it is flat.  One without an area is left out.  Here
 * and below false: out of memory. */
bool cli_add_triangle(cli_triangles *t, const sn_vec3 x[3], const sn_vec3 *n, sn_vec3 color);

/* A round bar from a to b, open at its ends, whose radius goes from ra to rb: 0 makes a cone. */
bool cli_add_bar(cli_triangles *t, sn_vec3 a, sn_vec3 b, double ra, double rb, sn_vec3 color);
/* A disc with two sides: a bar's end. */
bool cli_add_disc(cli_triangles *t, sn_vec3 centre, sn_vec3 normal, double radius, sn_vec3 color);
bool cli_add_ball(cli_triangles *t, sn_vec3 centre, double radius, sn_vec3 color);

/* sRGB to linear light. */
sn_vec3 cli_linear(sn_vec3 srgb);

#endif
