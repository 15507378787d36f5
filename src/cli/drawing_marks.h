/* drawing_marks.h: what a picture shows beside bodies and lines. */
#ifndef CLI_DRAWING_MARKS_H
#define CLI_DRAWING_MARKS_H

#include "cli/drawing.h"

/* d->most_force, from some frames. */
sn_status cli_marks_measure(cli_drawing *d, sn_error *err);

/* The box with the tips of the arrows, as long as they are drawn at the size of d. */
void cli_marks_stretch(const cli_drawing *d, const sn_recorded *f,
                       void (*stretch)(sn_vec3 *low, sn_vec3 *high, sn_vec3 x), sn_vec3 *low,
                       sn_vec3 *high);

/* By the layers of d; false: out of memory.  Contacts and forces: solid, with light and shadow. */
bool cli_marks_add_solid(const cli_drawing *d, const sn_recorded *f, cli_triangles *out);
/* Axes and loops: seen through everything. */
bool cli_marks_add_over(const cli_drawing *d, const sn_recorded *f, cli_triangles *out);
/* Where bodies have been in the last seconds before t, up to a frame.  Reads other frames. */
sn_status cli_marks_add_trails(cli_drawing *d, int64_t frame, double t, cli_triangles *out,
                               sn_error *err);

/* ---- drawing.c ---- */
/* The picture's y is up. */
sn_vec3 cli_drawing_turned(const cli_drawing *d, sn_vec3 x);
sn_se3 cli_drawing_pose(const sn_recorded *f, int body); /* -1: the world */

#endif
