/* glb.h: a recording on its way to glTF 2.0: what is drawn, and where its numbers lie in the file.
 *
 *     header -> scene (bodies, shapes, segments of lines) -> surfaces -> JSON -> bytes
 *
 * One node a body; bodies with the same shapes share a mesh, whose primitives are the shapes. Lines
 * are thin round bars, one for each straight segment, that a node stretches. */
#ifndef SNI_GLB_H
#define SNI_GLB_H

#include "io/snr_reader.h"
#include "model/shape.h"

typedef struct sni_glb_shape {
  sn_shape_def def; /* in the body's frame                                     */
  int mesh;         /* of the recording, -1: none                              */
  int color;        /* which material                                          */
} sni_glb_shape;

/* Planes without a colour of their own: where things stand. */
#define SNI_GLB_FLOOR ((sn_vec3){0.827, 0.855, 0.890})

typedef struct sni_glb_body {
  int first, nshape; /* among all shapes                                       */
  int mesh;          /* of the file, -1: none yet                              */
} sni_glb_body;

typedef struct sni_glb_end {
  int body; /* -1: the world */
  sn_vec3 at;
} sni_glb_end;

typedef struct sni_glb_segment {
  int line;
  sni_glb_end end[2];
} sni_glb_segment;

typedef struct sni_glb_primitive {
  int nvertex, nindex;
  bool smooth;
  float least[3], most[3];
  int color;
} sni_glb_primitive;

typedef struct sni_glb_mesh {
  int first, nprimitive; /* among all primitives                               */
  int body;              /* one that has it; -1: that of the segments          */
} sni_glb_mesh;

typedef struct sni_glb {
  sn_recording *r;
  double metres;
  bool y_up;
  int nbody, nshape, nsegment, nmesh, nprimitive, ncolor;
  sni_glb_body *body;
  sni_glb_shape *shape;
  sni_glb_segment *segment;
  sni_glb_mesh *mesh;
  sni_glb_primitive *primitive;
  sn_vec3 *color;
  int64_t *frame; /* nframe  those that are written                            */
  float *time;    /* nframe  from 0, increasing                                */
  int64_t nframe;
  uint64_t vertex_bytes, index_bytes, motion_bytes;
} sni_glb;

/* ---- glb_scene.c ---- */
sn_status sni_glb_read(sni_glb *g, sn_recording *r, sn_error *err);
void sni_glb_free(sni_glb *g);
/* Values of the header; false: it is not one. */
bool sni_glb_read_pose(const sni_node *list, sn_se3 *out);
bool sni_glb_read_vec3(const sni_node *list, sn_vec3 *out);
int sni_glb_find_color(sni_glb *g, sn_vec3 c);

/* ---- glb_dress.c ---- */
/* Shapes for bodies that have none; parent, color: by body. */
sn_status sni_glb_dress(sni_glb *g, const int *parent, const sn_vec3 *color, sn_error *err);

/* ---- glb_surface.c ---- */
/* Fills meshes and primitives. */
sn_status sni_glb_measure(sni_glb *g, sn_error *err);
/* The triangles of primitive p of a mesh; freed by the caller, also on failure. */
sn_status sni_glb_surface(sni_glb *g, const sni_glb_mesh *m, int p, sni_surface *out,
                          sn_error *err);

/* ---- glb_motion.c ---- */
enum { SNI_GLB_BODY_WIDTH = 7, SNI_GLB_SEGMENT_WIDTH = 10 }; /* floats in each frame */

/* Places, turns and stretches in all frames, track by track: of bodies, then of segments. */
sn_status sni_glb_write_motion(sni_glb *g, FILE *to, sn_error *err);

/* ---- glb_json.c ---- */
sn_status sni_glb_json(const sni_glb *g, sni_json *j, sn_error *err);

static inline int sni_glb_tracks(const sni_glb *g) {
  return g->nbody + g->nsegment;
}
static inline int sni_glb_width(const sni_glb *g, int track) {
  return track < g->nbody ? SNI_GLB_BODY_WIDTH : SNI_GLB_SEGMENT_WIDTH;
}

#endif
