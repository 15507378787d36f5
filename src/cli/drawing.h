/* drawing.h: a recording as triangles, frame by frame, and where to look at it from. */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include "cli/shade.h"
#include "io/glb.h"

/* What is drawn. */
enum {
  CLI_LAYER_BODIES = 1,
  CLI_LAYER_LINES = 2,
  CLI_LAYER_LOOPS = 4,
  CLI_LAYER_CONTACTS = 8,
  CLI_LAYER_FORCES = 16,
  CLI_LAYER_AXES = 32,
  CLI_LAYER_TRAILS = 64,
  CLI_LAYERS_USUAL = 31 /* as in the page */
};

typedef struct cli_drawing {
  sni_glb g;
  sni_surface *surface; /* g.nprimitive */
  bool *still;          /* g.nbody  fixed to the ground                          */
  double level;         /* of the ground                                         */
  double most_tension;  /* nearly the largest of the motion: the strongest colour */
  sn_vec3 low, high;    /* box of the whole motion, y up                         */
  double standing;      /* lowest point of what is fixed; INFINITY: nothing is   */
  double size;          /* half the diagonal of that box                         */
  double most_force;    /* of the arrows, in some frames                         */
  unsigned layers;      /* CLI_LAYER_...                                         */
  bool dark;            /* the ground                                            */
} cli_drawing;

/* From where; NaN: chosen so that the mechanism shows most of itself. */
typedef struct cli_look {
  double azimuth,
      elevation; /* degrees: 0 from the front (along y, or -z if y is up), 90 from the right */
  double zoom;   /* 1: all of the motion fills the picture */
  bool dark;
} cli_look;

/* Looks at some frames of r to find the box.  r must have frames. */
sn_status cli_drawing_open(cli_drawing *d, sn_recording *r, sn_error *err);
void cli_drawing_free(cli_drawing *d);

/* From now on the picture is fitted to frame k, not to the whole motion. */
sn_status cli_drawing_focus(cli_drawing *d, int64_t k, sn_error *err);

void cli_drawing_stage(const cli_drawing *d, const cli_look *look, int width, int height,
                       cli_stage *out);

/* Frame k. */
sn_status cli_drawing_frame(cli_drawing *d, int64_t k, cli_triangles *out, sn_error *err);

#endif
