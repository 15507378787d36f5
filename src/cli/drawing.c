/* drawing.c: a recording as triangles. */
#include "cli/drawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/drawing_marks.h"
#include "cli/triangles.h"
#include "math/so3.h"

enum { SAMPLES = 24 };
#define BAR_RADIUS 0.0036 /* of springs and cables, in sizes of the mechanism */

/* ---- places ---- */

sn_vec3 cli_drawing_turned(const cli_drawing *d, sn_vec3 x) {
  return d->g.y_up ? x : (sn_vec3){x.x, x.z, -x.y};
}

sn_se3 cli_drawing_pose(const sn_recorded *f, int body) {
  if (body < 0) {
    return sn_se3_identity();
  }
  const float *p = f->pose + 7 * (size_t)body;
  const sn_quat q = {.w = (double)p[6], .x = (double)p[3], .y = (double)p[4], .z = (double)p[5]};
  return (sn_se3){sn_mat3_from_quat(q), {(double)p[0], (double)p[1], (double)p[2]}};
}

static void stretch(sn_vec3 *low, sn_vec3 *high, sn_vec3 x) {
  *low = (sn_vec3){fmin(low->x, x.x), fmin(low->y, x.y), fmin(low->z, x.z)};
  *high = (sn_vec3){fmax(high->x, x.x), fmax(high->y, x.y), fmax(high->z, x.z)};
}

/* ---- the box of the motion ---- */

static sn_status measure_frame(cli_drawing *d, int64_t k, sn_vec3 *low, sn_vec3 *high,
                               sn_error *err) {
  sn_recorded f;
  const sn_status status = sn_recording_read(d->g.r, k, &f, err);
  for (int b = 0; !status && b < d->g.nbody; b++) {
    const sn_se3 E = cli_drawing_pose(&f, b);
    const sni_glb_body *body = &d->g.body[b];
    for (int p = 0; p < body->nshape; p++) {
      const sni_surface *s = &d->surface[d->g.mesh[body->mesh].first + p];
      if (strcmp(d->g.shape[body->first + p].def.type, "plane") == 0) {
        continue; /* it has no end: what stands on it is what is looked at */
      }
      for (int v = 0; v < s->nvertex; v++) {
        const sn_vec3 x = cli_drawing_turned(d, sn_se3_point(E, s->vertex[v]));
        stretch(low, high, x);
        if (d->still[b]) {
          d->standing = fmin(d->standing, x.y);
        }
      }
    }
    if (body->nshape == 0) {
      stretch(low, high, cli_drawing_turned(d, E.p));
    }
  }
  for (int s = 0; !status && s < d->g.nsegment; s++) {
    for (int end = 0; end < 2; end++) {
      const sni_glb_end *e = &d->g.segment[s].end[end];
      stretch(low, high, cli_drawing_turned(d, sn_se3_point(cli_drawing_pose(&f, e->body), e->at)));
    }
  }
  return status;
}

static sn_vec3 middle(sn_vec3 a, sn_vec3 b) {
  return sn_vec3_scale(sn_vec3_add(a, b), 0.5);
}

/* What flies off far beyond its first size does not make the rest small. */
static sn_status measure(cli_drawing *d, sn_error *err) {
  const int64_t frames = d->g.r->nframe;
  const int n = frames < SAMPLES ? (int)frames : SAMPLES;
  d->low = (sn_vec3){INFINITY, INFINITY, INFINITY};
  d->high = sn_vec3_neg(d->low);
  d->standing = INFINITY;
  sn_status status = measure_frame(d, 0, &d->low, &d->high, err);
  if (!status && !(d->low.x <= d->high.x)) { /* there is nothing */
    d->low = (sn_vec3){-1, -1, -1};
    d->high = (sn_vec3){1, 1, 1};
  }
  const sn_vec3 centre = middle(d->low, d->high);
  const double first = fmax(sn_vec3_norm(sn_vec3_sub(d->high, d->low)), 1e-6);
  for (int k = 1; !status && k < n; k++) {
    status = measure_frame(d, k * (frames - 1) / (n - 1), &d->low, &d->high, err);
  }
  const sn_vec3 reach = {3 * first, 3 * first, 3 * first};
  const sn_vec3 least = sn_vec3_sub(centre, reach), most = sn_vec3_add(centre, reach);
  d->low = (sn_vec3){fmax(d->low.x, least.x), fmax(d->low.y, least.y), fmax(d->low.z, least.z)};
  d->high = (sn_vec3){fmin(d->high.x, most.x), fmin(d->high.y, most.y), fmin(d->high.z, most.z)};
  d->size = fmax(0.5 * sn_vec3_norm(sn_vec3_sub(d->high, d->low)), 1e-6);
  return status;
}

sn_status cli_drawing_focus(cli_drawing *d, int64_t k, sn_error *err) {
  sn_vec3 low = {INFINITY, INFINITY, INFINITY}, high = sn_vec3_neg(low);
  sn_status status = measure_frame(d, k, &low, &high, err);
  sn_recorded f;
  status = status ? status : sn_recording_read(d->g.r, k, &f, err);
  if (!status && low.x <= high.x) {
    d->size = fmax(0.5 * sn_vec3_norm(sn_vec3_sub(high, low)), 1e-6);
    cli_marks_stretch(d, &f, stretch, &low, &high);
    d->low = low;
    d->high = high;
  }
  return status;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Nearly the largest, for one frame may be an outlier. */
static sn_status measure_tension(cli_drawing *d, sn_error *err) {
  const int64_t frames = d->g.r->nframe;
  const int n = frames < SAMPLES ? (int)frames : SAMPLES;
  double seen[SAMPLES] = {0};
  for (int k = 0; k < n; k++) {
    sn_recorded f;
    const sn_status status =
        sn_recording_read(d->g.r, n > 1 ? k * (frames - 1) / (n - 1) : 0, &f, err);
    if (status) {
      return status;
    }
    for (int line = 0; line < d->g.r->nline; line++) {
      seen[k] = fmax(seen[k], fabs((double)f.tension[line])); /* fmax leaves NaN out */
    }
  }
  qsort(seen, (size_t)n, sizeof *seen, compare);
  d->most_tension = seen[(int)(0.9 * (n - 1))];
  return SN_OK;
}

/* ---- opening ---- */

/* The ground is where something stands, or at 0 if the motion stays above it, or else below all. */
static double ground_level(const cli_drawing *d) {
  const bool above = d->low.y >= -0.02 * d->size && d->low.y < 3 * d->size;
  const bool stands = fabs(d->standing) < 0.02 * d->size;
  return above || stands ? 0 : d->low.y - 0.03 * d->size;
}

static void find_still(cli_drawing *d) {
  for (int b = 0; b < d->g.nbody; b++) {
    const sni_node *node = sni_node_at(d->g.r->bodies, (size_t)b);
    double parent = -1, dofs = 0;
    sni_node_number(sni_node_get(node, "parent"), &parent);
    sni_node_number(sni_node_get(sni_node_get(node, "joint"), "dofs"), &dofs);
    const bool ground = !(parent >= 0 && parent < b) || d->still[(int)parent];
    d->still[b] = dofs == 0 && ground;
  }
}

static sn_status make_surfaces(cli_drawing *d, sn_error *err) {
  sn_status status = SN_OK;
  for (int m = 0; !status && m < d->g.nmesh; m++) {
    for (int p = 0; !status && p < d->g.mesh[m].nprimitive; p++) {
      status = sni_glb_surface(&d->g, &d->g.mesh[m], p, &d->surface[d->g.mesh[m].first + p], err);
    }
  }
  return status;
}

sn_status cli_drawing_open(cli_drawing *d, sn_recording *r, sn_error *err) {
  *d = (cli_drawing){0};
  if (sn_recording_frame_count(r) == 0) {
    return sni_fail(err, SN_E_VALUE, "the recording has no frames, so there is nothing to draw");
  }
  sn_status status = sni_glb_read(&d->g, r, err);
  status = status ? status : sni_glb_measure(&d->g, err);
  if (!status) {
    d->surface = calloc((size_t)d->g.nprimitive + 1, sizeof *d->surface);
    d->still = calloc((size_t)d->g.nbody + 1, sizeof *d->still);
    status = d->surface && d->still ? SN_OK : sni_fail(err, SN_E_MEMORY, "no memory for a picture");
  }
  status = status ? status : make_surfaces(d, err);
  if (!status) {
    find_still(d);
    status = measure(d, err);
  }
  d->level = ground_level(d);
  d->layers = CLI_LAYERS_USUAL;
  status = status ? status : measure_tension(d, err);
  return status ? status : cli_marks_measure(d, err);
}

void cli_drawing_free(cli_drawing *d) {
  for (int k = 0; d->surface && k < d->g.nprimitive; k++) {
    sni_surface_free(&d->surface[k]);
  }
  free(d->surface);
  free(d->still);
  sni_glb_free(&d->g);
  *d = (cli_drawing){0};
}

/* ---- where to look from ---- */

#define FIELD_OF_VIEW (35 * SN_PI / 180) /* from top to bottom */
#define MARGIN        1.1

/* So far away that all corners of the box are in the picture. */
static double fit(const cli_drawing *d, const cli_lens *lens, double aspect) {
  const sn_vec3 centre = middle(d->low, d->high);
  const double tangent = tan(FIELD_OF_VIEW / 2);
  double distance = 0.5 * d->size;
  for (int k = 0; k < 8; k++) {
    const sn_vec3 corner = {k & 1 ? d->high.x : d->low.x, k & 2 ? d->high.y : d->low.y,
                            k & 4 ? d->high.z : d->low.z};
    const sn_vec3 p = sn_vec3_sub(corner, centre);
    const double across = fabs(sn_vec3_dot(p, lens->right)) / (tangent * aspect);
    const double down = fabs(sn_vec3_dot(p, lens->up)) / tangent;
    distance = fmax(distance, MARGIN * fmax(across, down) + sn_vec3_dot(p, lens->back));
  }
  return distance;
}

void cli_drawing_stage(const cli_drawing *d, const cli_look *look, int width, int height,
                       cli_stage *out) {
  const sn_vec3 extent = sn_vec3_sub(d->high, d->low);
  const double a = isnan(look->azimuth) ? (extent.x >= extent.z ? 23 : 67) : look->azimuth;
  const double e = isnan(look->elevation) ? 19 : look->elevation;
  const double az = a * SN_PI / 180, el = e * SN_PI / 180;
  cli_lens lens = {.back = {sin(az) * cos(el), sin(el), cos(az) * cos(el)},
                   .right = {cos(az), 0, -sin(az)},
                   .focal = 0.5 * height / tan(FIELD_OF_VIEW / 2),
                   .cx = 0.5 * width,
                   .cy = 0.5 * height,
                   .near_ = 0.01 * d->size};
  lens.up = sn_vec3_cross(lens.back, lens.right);
  const sn_vec3 centre = middle(d->low, d->high);
  const double zoom = isnan(look->zoom) ? 1 : look->zoom;
  lens.eye = sn_vec3_addscaled(centre, fit(d, &lens, width / (double)height) / zoom, lens.back);
  *out = (cli_stage){.lens = lens,
                     .centre = centre,
                     .size = d->size,
                     .level = d->level,
                     .cell = pow(10, floor(log10(0.7 * d->size))),
                     .dark = look->dark};
}

/* ---- triangles ---- */

static bool add_surface(const cli_drawing *d, const sni_surface *s, sn_se3 E, sn_vec3 color,
                        cli_triangles *out) {
  bool good = true;
  for (int k = 0; good && k + 2 < s->nindex; k += 3) {
    sn_vec3 x[3], n[3];
    for (int i = 0; i < 3; i++) {
      const uint32_t v = s->index[k + i];
      x[i] = cli_drawing_turned(d, sn_se3_point(E, s->vertex[v]));
      if (s->smooth) {
        n[i] = cli_drawing_turned(d, sn_mat3_mul_vec(E.R, s->normal[v]));
      }
    }
    good = cli_add_triangle(out, x, s->smooth ? n : NULL, color);
  }
  return good;
}

static bool add_bodies(const cli_drawing *d, const sn_recorded *f, cli_triangles *out) {
  bool good = true;
  for (int b = 0; good && b < d->g.nbody; b++) {
    const sni_glb_body *body = &d->g.body[b];
    const sn_se3 E = cli_drawing_pose(f, b);
    for (int p = 0; good && p < body->nshape; p++) {
      const sn_vec3 given = d->g.color[d->g.shape[body->first + p].color], floor = SNI_GLB_FLOOR;
      const bool night = d->dark && memcmp(&given, &floor, sizeof given) == 0;
      const sn_vec3 color = cli_linear(night ? (sn_vec3){0.149, 0.176, 0.216} : given);
      good = add_surface(d, &d->surface[d->g.mesh[body->mesh].first + p], E, color, out);
    }
  }
  return good;
}

/* As in the page: grey while slack, then yellow, orange, red; blue where it pushes. */
static sn_vec3 tension_color(double share) {
  static const sn_vec3 slack = {0.66, 0.71, 0.76}, push = {0.18, 0.44, 0.84};
  static const sn_vec3 pull[] = {{0.91, 0.73, 0.29}, {0.93, 0.49, 0.20}, {0.82, 0.18, 0.25}};
  const double x = 2 * fmin(1, share);
  const int k = x < 1 ? 0 : 1;
  const sn_vec3 a = share < 0 || share < 0.02 ? slack : pull[k];
  const sn_vec3 b = share < 0 ? push : share < 0.02 ? pull[0] : pull[k + 1];
  const double s = share < 0 ? fmin(1, 0.25 - share) : share < 0.02 ? share / 0.02 : x - k;
  return cli_linear(sn_vec3_addscaled(a, s, sn_vec3_sub(b, a)));
}

static bool add_lines(const cli_drawing *d, const sn_recorded *f, cli_triangles *out) {
  bool good = true;
  for (int k = 0; good && k < d->g.nsegment; k++) {
    const sni_glb_segment *s = &d->g.segment[k];
    const double tension = (double)f->tension[s->line];
    if (isnan(tension)) { /* it does not act now */
      continue;
    }
    sn_vec3 x[2];
    for (int end = 0; end < 2; end++) {
      x[end] = cli_drawing_turned(
          d, sn_se3_point(cli_drawing_pose(f, s->end[end].body), s->end[end].at));
    }
    const double share = d->most_tension > 0 ? tension / d->most_tension : 0;
    good = cli_add_bar(out, x[0], x[1], BAR_RADIUS * d->size, BAR_RADIUS * d->size,
                       tension_color(share));
  }
  return good;
}

sn_status cli_drawing_frame(cli_drawing *d, int64_t k, cli_triangles *out, sn_error *err) {
  sn_recorded f;
  sn_status status = sn_recording_read(d->g.r, k, &f, err);
  if (status) {
    return status;
  }
  const double t = f.t;
  out->count = 0;
  bool good = !(d->layers & CLI_LAYER_BODIES) || add_bodies(d, &f, out);
  good = good && (!(d->layers & CLI_LAYER_LINES) || add_lines(d, &f, out));
  good = good && cli_marks_add_solid(d, &f, out);
  out->solid = out->count;
  good = good && cli_marks_add_over(d, &f, out);
  return good ? cli_marks_add_trails(d, k, t, out, err)
              : sni_fail(err, SN_E_MEMORY, "no memory for a picture");
}
