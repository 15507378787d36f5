/* glb_scene.c: the header of a recording as what an animation draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/colors.h"
#include "io/glb.h"

/* ---- values of the header: nothing in it is believed ---- */

static bool numbers(const sni_node *list, double *out, size_t n) {
  bool good = sni_node_count(list) == n;
  for (size_t k = 0; good && k < n; k++) {
    good = sni_node_number(sni_node_at(list, k), &out[k]);
  }
  return good;
}

bool sni_glb_read_pose(const sni_node *list, sn_se3 *out) {
  double x[7];
  if (!numbers(list, x, 7)) {
    return false;
  }
  const sn_quat q = {.w = x[6], .x = x[3], .y = x[4], .z = x[5]};
  const double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  *out = (sn_se3){sn_mat3_from_quat(q), {x[0], x[1], x[2]}};
  return fabs(n - 1) < 1e-3;
}

bool sni_glb_read_vec3(const sni_node *list, sn_vec3 *out) {
  double x[3];
  const bool good = numbers(list, x, 3);
  if (good) {
    *out = (sn_vec3){x[0], x[1], x[2]};
  }
  return good;
}

static bool read_index(const sni_node *node, int least, int count, int *out) {
  double x;
  if (!sni_node_number(node, &x) || !(x >= least && x < count) || x != floor(x)) {
    return false;
  }
  *out = (int)x;
  return true;
}

/* ---- colours ---- */

int sni_glb_find_color(sni_glb *g, sn_vec3 c) {
  for (int k = 0; k < g->ncolor; k++) {
    if (memcmp(&g->color[k], &c, sizeof c) == 0) {
      return k;
    }
  }
  g->color[g->ncolor] = c;
  return g->ncolor++;
}

/* For the colours of bodies that have none. */
typedef struct tree_of_bodies {
  int *parent, *dofs;
  sn_vec3 *color;
} tree_of_bodies;

/* ---- shapes ---- */

static bool read_field(const sni_field *f, const sni_node *node, sn_shape_def *def) {
  void *to = (char *)def + f->offset;
  switch (f->type) {
  case SNI_F_POSE:
    return sni_glb_read_pose(node, to);
  case SNI_F_VEC3:
    return sni_glb_read_vec3(node, to);
  case SNI_F_NUMBER:
    return sni_node_number(node, to);
  default: /* what is not in recordings */
    return true;
  }
}

static sn_status bad_shape(const sni_glb *g, int body, const char *what, sn_error *err) {
  return sni_fail(err, SN_E_VALUE, "'%s': a shape of body '%s' %s", g->r->path,
                  sn_recording_body_name(g->r, body), what);
}

static sn_status read_shape(sni_glb *g, int body, sn_vec3 own, const sni_node *node,
                            sn_error *err) {
  sni_glb_shape s = {.def = sn_shape_def_default(), .mesh = -1};
  const sni_node *type = sni_node_get(node, "type"), *color = sni_node_get(node, "color");
  const int kind = type && type->kind == SNI_NODE_SCALAR ? sni_shape_kind_find(type->text) : -1;
  if (kind < 0) {
    return bad_shape(g, body, "is of no known type", err);
  }
  const sni_shape_ops *ops = sni_shape_kind(kind);
  s.def.type = ops->kind.keyword;
  bool good = true;
  for (int k = 0; k < ops->kind.count; k++) {
    const sni_field *f = &ops->kind.field[k];
    good = good && read_field(f, sni_node_get(node, f->key), &s.def);
  }
  if (ops->needs_mesh) {
    s.def.file = "mesh"; /* its place in the scene is forgotten */
    good = good && read_index(sni_node_get(node, "mesh"), 0, g->r->nmesh, &s.mesh);
  }
  const bool plane = strcmp(s.def.type, "plane") == 0;
  s.def.color = plane ? SNI_GLB_FLOOR : own;
  good = good && (!color || sni_glb_read_vec3(color, &s.def.color));
  sn_error why = {0};
  if (!good || sni_shape_check(&s.def, &why)) {
    return bad_shape(g, body, "has numbers that cannot be", err);
  }
  s.color = sni_glb_find_color(g, s.def.color);
  g->shape[g->nshape++] = s;
  return SN_OK;
}

static sn_status read_tree(const sni_glb *g, tree_of_bodies *tree, sn_error *err) {
  for (int b = 0; b < g->nbody; b++) {
    const sni_node *node = sni_node_at(g->r->bodies, (size_t)b);
    const sni_node *joint = sni_node_get(node, "joint");
    if (!read_index(sni_node_get(node, "parent"), -1, b, &tree->parent[b])) {
      return sni_fail(err, SN_E_VALUE, "'%s': body '%s' has no parent before it", g->r->path,
                      sn_recording_body_name(g->r, b));
    }
    if (!read_index(sni_node_get(joint, "dofs"), 0, SN_NV_MAX + 1, &tree->dofs[b])) {
      tree->dofs[b] = SN_NV_MAX; /* of a later version: it moves */
    }
  }
  return sni_body_colors(tree->parent, tree->dofs, g->nbody, tree->color, err);
}

static sn_status read_body(sni_glb *g, int body, sn_vec3 color, sn_error *err) {
  const sni_node *shapes = sni_node_get(sni_node_at(g->r->bodies, (size_t)body), "shapes");
  g->body[body] = (sni_glb_body){.first = g->nshape, .mesh = -1};
  sn_status status = SN_OK;
  for (size_t k = 0; !status && k < sni_node_count(shapes); k++) {
    status = read_shape(g, body, color, sni_node_at(shapes, k), err);
  }
  g->body[body].nshape = g->nshape - g->body[body].first;
  return status;
}

/* ---- lines ---- */

static bool read_end(const sni_glb *g, const sni_node *node, sni_glb_end *out) {
  return read_index(sni_node_get(node, "body"), -1, g->nbody, &out->body) &&
         sni_glb_read_vec3(sni_node_get(node, "at"), &out->at);
}

static sn_status read_line(sni_glb *g, int line, sn_error *err) {
  const sni_node *points = sni_node_get(sni_node_at(g->r->lines, (size_t)line), "points");
  for (size_t k = 0; k + 1 < sni_node_count(points); k++) {
    sni_glb_segment *s = &g->segment[g->nsegment];
    s->line = line;
    for (size_t end = 0; end < 2; end++) {
      if (!read_end(g, sni_node_at(points, k + end), &s->end[end])) {
        return sni_fail(err, SN_E_VALUE, "'%s': line '%s' has a point that is none", g->r->path,
                        sn_recording_line_name(g->r, line));
      }
    }
    g->nsegment++;
  }
  return SN_OK;
}

/* ---- frames ---- */

/* Times are float32 there and must increase: frames that come too close together are left out. */
static sn_status choose_frames(sni_glb *g, sn_error *err) {
  double start = 0;
  for (int64_t k = 0; k < g->r->nframe; k++) {
    sn_recorded f;
    const sn_status status = sn_recording_read(g->r, k, &f, err);
    if (status) {
      return status;
    }
    start = k == 0 ? f.t : start;
    const float t = (float)(f.t - start);
    if (k == 0 || t > g->time[g->nframe - 1]) {
      g->time[g->nframe] = t;
      g->frame[g->nframe++] = k;
    }
  }
  return SN_OK;
}

/* ---- the whole ---- */

static size_t count_inside(const sni_node *list, const char *key) {
  size_t n = 0;
  for (size_t k = 0; k < sni_node_count(list); k++) {
    n += sni_node_count(sni_node_get(sni_node_at(list, k), key));
  }
  return n;
}

static sn_status take_memory(sni_glb *g, tree_of_bodies *tree, sn_error *err) {
  const size_t nbody = (size_t)g->nbody, nframe = (size_t)g->r->nframe;
  /* and for bodies without any: a ball, a bone to it, and one to each of their children */
  const size_t nshape = count_inside(g->r->bodies, "shapes") + 3 * nbody;
  g->body = calloc(nbody + 1, sizeof *g->body);
  g->shape = calloc(nshape + 1, sizeof *g->shape);
  g->color = calloc(nshape + 1, sizeof *g->color); /* one more: that of lines */
  g->segment = calloc(count_inside(g->r->lines, "points") + 1, sizeof *g->segment);
  g->mesh = calloc(nbody + 1, sizeof *g->mesh); /* likewise */
  g->primitive = calloc(nshape + 1, sizeof *g->primitive);
  g->frame = malloc((nframe + 1) * sizeof *g->frame);
  g->time = malloc((nframe + 1) * sizeof *g->time);
  tree->parent = malloc((nbody + 1) * sizeof *tree->parent);
  tree->dofs = malloc((nbody + 1) * sizeof *tree->dofs);
  tree->color = malloc((nbody + 1) * sizeof *tree->color);
  return g->body && g->shape && g->color && g->segment && g->mesh && g->primitive && g->frame &&
                 g->time && tree->parent && tree->dofs && tree->color
             ? SN_OK
             : sni_fail(err, SN_E_MEMORY, "no memory for an animation of '%s'", g->r->path);
}

sn_status sni_glb_read(sni_glb *g, sn_recording *r, sn_error *err) {
  const sni_node *root = sni_doc_root(r->doc), *up = sni_node_get(root, "up");
  tree_of_bodies tree = {0};
  *g = (sni_glb){.r = r, .nbody = r->nbody, .metres = 1};
  if (!sni_node_number(sni_node_get(root, "metres"), &g->metres) || !(g->metres > 0)) {
    g->metres = 1;
  }
  g->y_up = up && up->kind == SNI_NODE_SCALAR && strcmp(up->text, "y") == 0;
  sn_status status = take_memory(g, &tree, err);
  status = status ? status : read_tree(g, &tree, err);
  for (int b = 0; !status && b < g->nbody; b++) {
    status = read_body(g, b, tree.color[b], err);
  }
  for (int k = 0; !status && k < r->nline; k++) {
    status = read_line(g, k, err);
  }
  status = status ? status : sni_glb_dress(g, tree.parent, tree.color, err);
  free(tree.parent);
  free(tree.dofs);
  free(tree.color);
  return status ? status : choose_frames(g, err);
}

void sni_glb_free(sni_glb *g) {
  free(g->body);
  free(g->shape);
  free(g->color);
  free(g->segment);
  free(g->mesh);
  free(g->primitive);
  free(g->frame);
  free(g->time);
  *g = (sni_glb){0};
}
