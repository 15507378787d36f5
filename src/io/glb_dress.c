/* glb_dress.c: bodies that are given by their mass alone have no shape.  They get a small one, as
 * in the page: a ball at the centre of mass, and bones from the joint to it and to the joints of
 * what hangs on them. */
#include <math.h>
#include <stdlib.h>

#include "io/glb.h"

enum { SAMPLES = 24 };
#define BALL 0.03 /* radius, by half the diagonal of what is shown */
#define BONE 0.35 /* by the ball's                                 */

typedef struct box {
  sn_vec3 low, high;
} box;

static void stretch(box *b, sn_vec3 x) {
  b->low = (sn_vec3){fmin(b->low.x, x.x), fmin(b->low.y, x.y), fmin(b->low.z, x.z)};
  b->high = (sn_vec3){fmax(b->high.x, x.x), fmax(b->high.y, x.y), fmax(b->high.z, x.z)};
}

/* Half the diagonal of where bodies and ends of lines are, in some frames. */
static sn_status measure_motion(sni_glb *g, double *out, sn_error *err) {
  const int64_t frames = g->r->nframe;
  const int n = frames < SAMPLES ? (int)frames : SAMPLES;
  box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int k = 0; k < n; k++) {
    sn_recorded f;
    const sn_status status =
        sn_recording_read(g->r, n > 1 ? k * (frames - 1) / (n - 1) : 0, &f, err);
    if (status) {
      return status;
    }
    for (int body = 0; body < g->nbody; body++) {
      const float *x = f.pose + 7 * (size_t)body;
      stretch(&b, (sn_vec3){(double)x[0], (double)x[1], (double)x[2]});
    }
  }
  for (int s = 0; s < 2 * g->nsegment; s++) {
    const sni_glb_end *e = &g->segment[s / 2].end[s % 2];
    if (e->body < 0) {
      stretch(&b, e->at);
    }
  }
  const double half = 0.5 * sn_vec3_norm(sn_vec3_sub(b.high, b.low));
  *out = isfinite(half) ? half : 0;
  return SN_OK;
}

static void add(sni_glb *g, sni_glb_body *body, sn_shape_def def, sn_vec3 color) {
  def.color = color;
  g->shape[g->nshape++] =
      (sni_glb_shape){.def = def, .mesh = -1, .color = sni_glb_find_color(g, color)};
  body->nshape++;
}

static void add_bone(sni_glb *g, sni_glb_body *body, sn_vec3 to, double radius, sn_vec3 color) {
  if (sn_vec3_norm(to) > radius) {
    sn_shape_def def = sn_shape_def_default();
    def.type = "capsule";
    def.to = to;
    def.radius = BONE * radius;
    add(g, body, def, color);
  }
}

/* Where the joint of a body is in its parent's frame. */
static sn_vec3 joint_at(const sni_glb *g, int body) {
  const sni_node *joint = sni_node_get(sni_node_at(g->r->bodies, (size_t)body), "joint");
  sn_se3 E = sn_se3_identity();
  sni_glb_read_pose(sni_node_get(joint, "at"), &E);
  return E.p;
}

static sn_vec3 centre_of(const sni_glb *g, int body) {
  sn_vec3 com = {0, 0, 0};
  sni_glb_read_vec3(sni_node_get(sni_node_at(g->r->bodies, (size_t)body), "com"), &com);
  return com;
}

/* first, next: children of each body, as lists. */
static void dress_body(sni_glb *g, int b, const int *first, const int *next, double radius,
                       sn_vec3 color) {
  sni_glb_body *body = &g->body[b];
  const sn_vec3 com = centre_of(g, b);
  sn_shape_def ball = sn_shape_def_default();
  body->first = g->nshape;
  ball.type = "sphere";
  ball.at = (sn_se3){sn_mat3_identity(), com};
  ball.radius = radius;
  add(g, body, ball, color);
  add_bone(g, body, com, radius, color);
  for (int child = first[b]; child >= 0; child = next[child]) {
    add_bone(g, body, joint_at(g, child), radius, color);
  }
}

/* The farthest that a bone reaches from its joint. */
static double longest_bone(const sni_glb *g, const int *parent) {
  double most = 0;
  for (int b = 0; b < g->nbody; b++) {
    most = fmax(most, g->body[b].nshape == 0 ? sn_vec3_norm(centre_of(g, b)) : 0);
    if (parent[b] >= 0 && g->body[parent[b]].nshape == 0) {
      most = fmax(most, sn_vec3_norm(joint_at(g, b)));
    }
  }
  return most;
}

sn_status sni_glb_dress(sni_glb *g, const int *parent, const sn_vec3 *color, sn_error *err) {
  int bare = 0;
  for (int b = 0; b < g->nbody; b++) {
    bare += g->body[b].nshape == 0;
  }
  if (bare == 0) {
    return SN_OK;
  }
  double size = 0;
  const sn_status status = measure_motion(g, &size, err);
  int *first = malloc(2 * ((size_t)g->nbody + 1) * sizeof *first);
  if (status || !first) {
    free(first);
    return status ? status : sni_fail(err, SN_E_MEMORY, "no memory for shapes");
  }
  int *next = first + g->nbody;
  for (int b = 0; b < g->nbody; b++) {
    first[b] = -1;
  }
  for (int b = g->nbody - 1; b >= 0; b--) {
    next[b] = parent[b] >= 0 ? first[parent[b]] : -1;
    if (parent[b] >= 0) {
      first[parent[b]] = b;
    }
  }
  const double reach = fmax(size, longest_bone(g, parent));
  for (int b = 0; b < g->nbody; b++) {
    if (g->body[b].nshape == 0) {
      dress_body(g, b, first, next, BALL * (reach > 0 ? reach : 1), color[b]);
    }
  }
  free(first);
  return SN_OK;
}
