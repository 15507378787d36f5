/* glb_surface.c: the meshes of an animation: which bodies share one, and their triangles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/glb.h"
#include "model/model.h"

enum { BAR_SIDES = 8 };
#define BAR_RADIUS 0.004 /* of a line, as a part of the size of the scene */

/* ---- triangles ---- */

/* A mesh of the recording as the shapes know meshes. */
static sn_status load_mesh(sni_glb *g, int k, sni_mesh *out, sn_error *err) {
  sni_snr_mesh from;
  const sn_status status = sni_recording_mesh(g->r, k, &from, err);
  if (status) {
    return status;
  }
  *out = (sni_mesh){.nvertex = from.nvertex, .ntriangle = from.ntriangle};
  out->vertex = malloc(((size_t)from.nvertex + 1) * sizeof *out->vertex);
  out->triangle = malloc(((size_t)from.ntriangle + 1) * sizeof *out->triangle);
  if (!out->vertex || !out->triangle) {
    return sni_fail(err, SN_E_MEMORY, "no memory for a mesh");
  }
  for (int v = 0; v < from.nvertex; v++) {
    const float *x = from.vertex + 3 * (size_t)v;
    out->vertex[v] = (sn_vec3){(double)x[0], (double)x[1], (double)x[2]};
  }
  for (int t = 0; t < from.ntriangle; t++) {
    for (int c = 0; c < 3; c++) {
      out->triangle[t].v[c] = (int)from.triangle[3 * (size_t)t + (size_t)c];
    }
  }
  return SN_OK;
}

/* Extent of the first frame's bodies: what a thin bar is thin against. */
static double scene_size(sni_glb *g) {
  sn_recorded f;
  double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
  if (g->nframe == 0 || sn_recording_read(g->r, g->frame[0], &f, NULL)) {
    return 1;
  }
  for (int s = 0; s < g->nsegment; s++) {
    for (int end = 0; end < 2; end++) {
      const sni_glb_end *e = &g->segment[s].end[end];
      for (int c = 0; c < 3; c++) {
        const double x = e->body < 0 ? sn_vec3_get(e->at, c) : (double)f.pose[7 * e->body + c];
        least[c] = fmin(least[c], x);
        most[c] = fmax(most[c], x);
      }
    }
  }
  const double size = hypot(most[0] - least[0], hypot(most[1] - least[1], most[2] - least[2]));
  return size > 0 && isfinite(size) ? size : 1;
}

/* An open tube along y from -1/2 to 1/2. */
static void bar_surface(double radius, sni_surface *out) {
  out->smooth = true;
  for (int k = 0; k <= 2 * BAR_SIDES + 1; k++) {
    const double angle = 2 * SN_PI * (k / 2) / BAR_SIDES, c = cos(angle), s = sin(angle);
    sni_surface_vertex(out, (sn_vec3){radius * c, k % 2 ? 0.5 : -0.5, -radius * s},
                       (sn_vec3){c, 0, -s});
  }
  for (uint32_t k = 0; k < BAR_SIDES; k++) {
    sni_surface_triangle(out, 2 * k, 2 * k + 2, 2 * k + 3);
    sni_surface_triangle(out, 2 * k, 2 * k + 3, 2 * k + 1);
  }
}

sn_status sni_glb_surface(sni_glb *g, const sni_glb_mesh *m, int p, sni_surface *out,
                          sn_error *err) {
  sni_mesh mesh = {0};
  sn_status status = SN_OK;
  if (m->body < 0) {
    bar_surface(BAR_RADIUS * scene_size(g), out);
  } else {
    const sni_glb_shape *s = &g->shape[g->body[m->body].first + p];
    status = s->mesh >= 0 ? load_mesh(g, s->mesh, &mesh, err) : SN_OK;
    if (!status) {
      sni_shape_surface(&s->def, s->mesh >= 0 ? &mesh : NULL, out);
    }
    free(mesh.vertex);
    free(mesh.triangle);
  }
  if (!status && out->out_of_memory) {
    status = sni_fail(err, SN_E_MEMORY, "no memory for the surface of a shape");
  }
  return status;
}

/* ---- which there are ---- */

static uint64_t hash_shapes(const sni_glb *g, const sni_glb_body *b) {
  return sni_hash(SNI_HASH_SEED, &g->shape[b->first], (size_t)b->nshape * sizeof *g->shape);
}

/* A shape has no padding between its members: bytes can be compared. */
_Static_assert(sizeof(sni_glb_shape) == sizeof(sn_shape_def) + 2 * sizeof(int), "no padding");
static bool same_shapes(const sni_glb *g, const sni_glb_body *a, const sni_glb_body *b) {
  return a->nshape == b->nshape && memcmp(&g->shape[a->first], &g->shape[b->first],
                                          (size_t)a->nshape * sizeof *g->shape) == 0;
}

/* Bodies with the same shapes get the same mesh. */
static sn_status share_meshes(sni_glb *g, sn_error *err) {
  size_t size = 16;
  while (size < 2 * (size_t)g->nbody) {
    size *= 2;
  }
  int *slot = malloc(size * sizeof *slot); /* a mesh, -1: free */
  if (!slot) {
    return sni_fail(err, SN_E_MEMORY, "no memory for meshes");
  }
  memset(slot, 0xff, size * sizeof *slot);
  for (int b = 0; b < g->nbody; b++) {
    sni_glb_body *body = &g->body[b];
    if (body->nshape == 0) {
      continue;
    }
    size_t k = hash_shapes(g, body) & (size - 1);
    while (slot[k] >= 0 && !same_shapes(g, &g->body[g->mesh[slot[k]].body], body)) {
      k = (k + 1) & (size - 1);
    }
    if (slot[k] < 0) {
      g->mesh[g->nmesh] = (sni_glb_mesh){g->nprimitive, body->nshape, b};
      g->nprimitive += body->nshape;
      slot[k] = g->nmesh++;
    }
    body->mesh = slot[k];
  }
  free(slot);
  return SN_OK;
}

static void measure_surface(const sni_surface *s, sni_glb_primitive *p) {
  p->nvertex = s->nvertex;
  p->nindex = s->nindex;
  p->smooth = s->smooth;
  for (int c = 0; c < 3; c++) {
    p->least[c] = INFINITY;
    p->most[c] = -INFINITY;
    for (int v = 0; v < s->nvertex; v++) {
      const float x = (float)sn_vec3_get(s->vertex[v], c);
      p->least[c] = fminf(p->least[c], x);
      p->most[c] = fmaxf(p->most[c], x);
    }
  }
}

static sn_status measure_mesh(sni_glb *g, int k, sn_error *err) {
  const sni_glb_mesh *m = &g->mesh[k];
  sn_status status = SN_OK;
  for (int p = 0; !status && p < m->nprimitive; p++) {
    sni_glb_primitive *primitive = &g->primitive[m->first + p];
    sni_surface s = {0};
    status = sni_glb_surface(g, m, p, &s, err);
    if (!status) {
      measure_surface(&s, primitive);
      primitive->color = m->body < 0 ? g->ncolor - 1 : g->shape[g->body[m->body].first + p].color;
      g->vertex_bytes += 12u * (uint64_t)s.nvertex * (s.smooth ? 2 : 1);
      g->index_bytes += 4u * (uint64_t)s.nindex;
    }
    sni_surface_free(&s);
  }
  return status;
}

sn_status sni_glb_measure(sni_glb *g, sn_error *err) {
  sn_status status = share_meshes(g, err);
  if (!status && g->nsegment > 0) { /* one bar for all */
    g->color[g->ncolor++] = (sn_vec3){0.22, 0.24, 0.27};
    g->mesh[g->nmesh++] = (sni_glb_mesh){g->nprimitive++, 1, -1};
  }
  for (int k = 0; !status && k < g->nmesh; k++) {
    status = measure_mesh(g, k, err);
  }
  return status;
}
