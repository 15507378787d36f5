/* raster.c: triangles into samples. */
#include "cli/raster.h"

#include <math.h>

typedef struct corner {
  double x, y, depth;
} corner;

void cli_samples_clear(cli_samples *s) {
  for (size_t k = 0, n = (size_t)s->width * (size_t)s->height; k < n; k++) {
    s->depth[k] = CLI_DEPTH_NOTHING;
    if (s->seen) {
      s->seen[k] = CLI_NOTHING;
    }
  }
}

/* x to the right, y up, z away from the eye. */
static sn_vec3 to_camera(const cli_lens *lens, sn_vec3 x) {
  const sn_vec3 d = sn_vec3_sub(x, lens->eye);
  return (sn_vec3){sn_vec3_dot(d, lens->right), sn_vec3_dot(d, lens->up),
                   -sn_vec3_dot(d, lens->back)};
}

static corner to_screen(const cli_lens *lens, sn_vec3 c) {
  const double scale = lens->parallel ? lens->focal : lens->focal / c.z;
  return (corner){lens->cx + scale * c.x, lens->cy - scale * c.y, lens->parallel ? -c.z : 1 / c.z};
}

sn_vec3 cli_lens_project(const cli_lens *lens, sn_vec3 x) {
  const corner c = to_screen(lens, to_camera(lens, x));
  return (sn_vec3){c.x, c.y, c.depth};
}

/* Twice the signed area, and how it changes by one sample to the right and down. */
typedef struct edge {
  double value, dx, dy;
} edge;

static edge make_edge(corner a, corner b, double x, double y) {
  return (edge){(b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x), a.y - b.y, b.x - a.x};
}

static int clamp(double x, int low, int high) {
  return x <= low ? low : x >= high ? high : (int)x;
}

/* Samples are at the middle of their cells.  Both sides are drawn: thin things may be open. */
static void fill(cli_samples *s, corner a, corner b, corner c, double nearer, uint32_t id) {
  const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  if (!(fabs(area) > 1e-12)) {
    return;
  }
  const int x0 = clamp(fmin(a.x, fmin(b.x, c.x)) - 0.5, 0, s->width);
  const int x1 = clamp(fmax(a.x, fmax(b.x, c.x)) + 0.5, 0, s->width);
  const int y0 = clamp(fmin(a.y, fmin(b.y, c.y)) - 0.5 - s->top, 0, s->height);
  const int y1 = clamp(fmax(a.y, fmax(b.y, c.y)) + 0.5 - s->top, 0, s->height);
  const double x = x0 + 0.5, sign = area > 0 ? 1 : -1, share = 1 / fabs(area);
  for (int row = y0; row < y1; row++) {
    const double y = row + s->top + 0.5;
    edge e[3] = {make_edge(b, c, x, y), make_edge(c, a, x, y), make_edge(a, b, x, y)};
    float *depth = s->depth + (size_t)row * (size_t)s->width;
    uint32_t *seen = s->seen ? s->seen + (size_t)row * (size_t)s->width : NULL;
    for (int k = x0; k < x1; k++) {
      const double w0 = sign * e[0].value, w1 = sign * e[1].value, w2 = sign * e[2].value;
      if (w0 >= 0 && w1 >= 0 && w2 >= 0) {
        const float z = (float)((w0 * a.depth + w1 * b.depth + w2 * c.depth) * share * nearer);
        if (z > depth[k]) {
          depth[k] = z;
          if (seen) {
            seen[k] = id;
          }
        }
      }
      for (int i = 0; i < 3; i++) {
        e[i].value += e[i].dx;
      }
    }
  }
}

/* What is left of a triangle in front of the plane z = near: none, three or four corners. */
static int cut(const sn_vec3 in[3], double near_, sn_vec3 out[4]) {
  int n = 0;
  for (int k = 0; k < 3; k++) {
    const sn_vec3 a = in[k], b = in[(k + 1) % 3];
    if (a.z >= near_) {
      out[n++] = a;
    }
    if ((a.z >= near_) != (b.z >= near_)) {
      const double share = (near_ - a.z) / (b.z - a.z);
      out[n++] = sn_vec3_addscaled(a, share, sn_vec3_sub(b, a));
    }
  }
  return n;
}

/* Of depths, 1/distance: a lens sees from its near plane to a few hundred times that. */
#define MARK_NEARER 1e4

void cli_raster(cli_samples *s, const cli_lens *lens, const cli_triangles *t) {
  const size_t count = lens->parallel ? t->solid : t->count; /* marks cast no shadow */
  for (size_t k = 0; k < count; k++) {
    const cli_triangle *triangle = &t->item[k];
    const double nearer = k < t->solid ? 1 : MARK_NEARER;
    sn_vec3 in[3], out[4];
    for (int i = 0; i < 3; i++) {
      const float *x = triangle->x[i];
      in[i] = to_camera(lens, (sn_vec3){(double)x[0], (double)x[1], (double)x[2]});
    }
    const int n = cut(in, lens->near_, out);
    for (int i = 2; i < n; i++) {
      fill(s, to_screen(lens, out[0]), to_screen(lens, out[i - 1]), to_screen(lens, out[i]), nearer,
           (uint32_t)k);
    }
  }
}
