/* drawing_marks.c: what a picture shows beside bodies and lines, as the page does: contacts and the
 * arrows of forces, which stand in the scene; axes of joints, loops and trails, which are seen
 * through everything. */
#include "cli/drawing_marks.h"

#include <math.h>
#include <stdlib.h>

#include "cli/triangles.h"

enum { SAMPLES = 24, TRAIL_POINTS = 120, TRAILS_MOST = 24 };
#define TRAIL_SECONDS 3.0

typedef struct colors {
  sn_vec3 axis, loop, force, torque, hand; /* sRGB */
} colors;

static const colors light = {{0.184, 0.231, 0.290},
                             {0.761, 0.220, 0.498},
                             {0.851, 0.188, 0.310},
                             {0.478, 0.310, 0.816},
                             {1.000, 0.478, 0.102}};
static const colors dark = {{0.843, 0.878, 0.925},
                            {1.000, 0.498, 0.749},
                            {1.000, 0.420, 0.506},
                            {0.718, 0.608, 1.000},
                            {1.000, 0.671, 0.322}};

static const colors *colors_of(const cli_drawing *d) {
  return d->dark ? &dark : &light;
}

/* Small where there are many. */
static double mark_size(const cli_drawing *d) {
  return d->size * fmin(1, 6 / sqrt(36 + d->g.nbody));
}

static const sni_node *joint_of(const cli_drawing *d, int body) {
  return sni_node_get(sni_node_at(d->g.r->bodies, (size_t)body), "joint");
}

/* ---- axes ---- */

/* Where links are short, so are the marks of their joints. */
static double shrink(const cli_drawing *d, int body, double most) {
  const sni_node *joint = joint_of(d, body);
  double parent = -1;
  sn_se3 at = sn_se3_identity();
  sni_node_number(sni_node_get(sni_node_at(d->g.r->bodies, (size_t)body), "parent"), &parent);
  sni_glb_read_pose(sni_node_get(joint, "at"), &at);
  const double length = sn_vec3_norm(at.p);
  return parent >= 0 && length > 0 ? fmin(1, 0.7 * length / most) : 1;
}

static bool add_axes_of(const cli_drawing *d, const sn_recorded *f, int body, cli_triangles *out) {
  const double half = 0.09 * mark_size(d), s = shrink(d, body, half), r = 0.006 * mark_size(d) * s;
  const sni_node *axes = sni_node_get(joint_of(d, body), "axes");
  const sn_se3 E = cli_drawing_pose(f, body);
  const sn_vec3 color = cli_linear(colors_of(d)->axis);
  double dofs = 0;
  bool good = true;
  for (size_t k = 0; good && k < sni_node_count(axes); k++) {
    const sni_node *axis = sni_node_at(axes, k);
    sn_vec3 along;
    if (sni_glb_read_vec3(sni_node_get(axis, "turn"), &along) ||
        sni_glb_read_vec3(sni_node_get(axis, "slide"), &along)) {
      const sn_vec3 a = sn_se3_point(E, sn_vec3_scale(along, -half * s));
      const sn_vec3 b = sn_se3_point(E, sn_vec3_scale(along, half * s));
      good = cli_add_bar(out, cli_drawing_turned(d, a), cli_drawing_turned(d, b), r, r, color);
    }
  }
  sni_node_number(sni_node_get(joint_of(d, body), "dofs"), &dofs);
  if (good && dofs > 0 && dofs < 6) {
    const double ball = (sni_node_count(axes) == 0 ? 3 : 2) * r;
    good = cli_add_ball(out, cli_drawing_turned(d, E.p), ball, color);
  }
  return good;
}

/* ---- loops and other constraints ---- */

static bool read_end(const cli_drawing *d, const sn_recorded *f, const sni_node *end,
                     sn_vec3 *out) {
  sn_se3 at;
  double body;
  if (!sni_glb_read_pose(sni_node_get(end, "at"), &at) ||
      !sni_node_number(sni_node_get(end, "body"), &body) || !(body >= -1 && body < d->g.nbody)) {
    return false;
  }
  *out = cli_drawing_turned(d, sn_se3_point(cli_drawing_pose(f, (int)body), at.p));
  return true;
}

static bool is_off(const sn_recorded *f, size_t link) {
  for (int k = 0; k < f->narrow; k++) {
    if (f->arrow[k].kind == SN_ARROW_OFF && f->arrow[k].body == link) {
      return true;
    }
  }
  return false;
}

/* A ball at each end; the bar between shows a loop that gapes, or a rod.  *link: number of the
 * first, then of the next after them. */
static bool add_links(const cli_drawing *d, const sn_recorded *f, const char *key, size_t *link,
                      cli_triangles *out) {
  const sni_node *list = sni_node_get(sni_doc_root(d->g.r->doc), key);
  const double r = 0.014 * mark_size(d);
  const sn_vec3 color = cli_linear(colors_of(d)->loop);
  bool good = true;
  for (size_t k = 0; good && k < sni_node_count(list); k++, ++*link) {
    const sni_node *ends = sni_node_at(list, k);
    sn_vec3 a, b;
    if (!is_off(f, *link) && read_end(d, f, sni_node_get(ends, "a"), &a) &&
        read_end(d, f, sni_node_get(ends, "b"), &b)) {
      good = cli_add_ball(out, a, r, color) && cli_add_ball(out, b, r, color) &&
             cli_add_bar(out, a, b, 0.35 * r, 0.35 * r, color);
    }
  }
  return good;
}

/* ---- contacts and forces ---- */

static sn_vec3 wide(const float x[3]) {
  return (sn_vec3){(double)x[0], (double)x[1], (double)x[2]};
}

/* The strongest arrow of the motion is half the size of the mechanism long. */
/* Thinner where there are many. */
static double crowd(int count) {
  return fmin(1, 5 / sqrt(16 + count));
}

static double arrow_length(const cli_drawing *d, double strength) {
  const double share = fmin(1, strength / (d->most_force > 0 ? d->most_force : strength));
  return 0.5 * d->size * fmax(share, 0.04);
}

/* given: its length; < 0: by the strength.  thick: 1 where there are few. */
static bool add_arrow(const cli_drawing *d, sn_vec3 at, sn_vec3 vector, double given, double thick,
                      sn_vec3 srgb, cli_triangles *out) {
  const double strength = sn_vec3_norm(vector), size = d->size * thick;
  if (!(strength > 0)) {
    return true;
  }
  const double length = given < 0 ? arrow_length(d, strength) : given;
  const double head = fmin(0.5 * length, 0.06 * size);
  const sn_vec3 along = cli_drawing_turned(d, sn_vec3_scale(vector, 1 / strength));
  const sn_vec3 from = cli_drawing_turned(d, at), color = cli_linear(srgb);
  const sn_vec3 neck = sn_vec3_addscaled(from, length - head, along);
  const sn_vec3 tip = sn_vec3_addscaled(from, length, along);
  return cli_add_bar(out, from, neck, 0.006 * size, 0.006 * size, color) &&
         cli_add_bar(out, neck, tip, 0.018 * size, 0, color) &&
         cli_add_disc(out, neck, along, 0.018 * size, color);
}

void cli_marks_stretch(const cli_drawing *d, const sn_recorded *f,
                       void (*stretch)(sn_vec3 *low, sn_vec3 *high, sn_vec3 x), sn_vec3 *low,
                       sn_vec3 *high) {
  for (int k = 0; (d->layers & CLI_LAYER_FORCES) && k < f->narrow; k++) {
    const sn_vec3 v = wide(f->arrow[k].vector);
    const double strength = sn_vec3_norm(v);
    if (strength > 0 && f->arrow[k].kind != SN_ARROW_HAND) {
      const double share = arrow_length(d, strength) / strength;
      stretch(low, high,
              cli_drawing_turned(d, sn_vec3_addscaled(wide(f->arrow[k].point), share, v)));
    }
  }
}

static bool add_contacts(const cli_drawing *d, const sn_recorded *f, cli_triangles *out) {
  const sn_vec3 color = colors_of(d)->force;
  const double thick = crowd(f->ncontact), r = 0.016 * d->size * thick, half = 0.002 * d->size;
  bool good = true;
  for (int k = 0; good && k < f->ncontact; k++) {
    const sn_contact_point *c = &f->contact[k];
    const sn_vec3 x = cli_drawing_turned(d, wide(c->point));
    sn_vec3 n = cli_drawing_turned(d, wide(c->normal));
    const double length = sn_vec3_norm(n);
    n = length > 0 ? sn_vec3_scale(n, 1 / length) : (sn_vec3){0, 1, 0};
    const sn_vec3 a = sn_vec3_addscaled(x, -half, n), b = sn_vec3_addscaled(x, half, n);
    good = cli_add_bar(out, a, b, r, r, cli_linear(color)) &&
           cli_add_disc(out, a, n, r, cli_linear(color)) &&
           cli_add_disc(out, b, n, r, cli_linear(color)) &&
           add_arrow(d, wide(c->point), wide(c->force),
                     0.5 * arrow_length(d, sn_vec3_norm(wide(c->force))), thick, color, out);
  }
  return good;
}

static bool add_forces(const cli_drawing *d, const sn_recorded *f, cli_triangles *out) {
  const colors *c = colors_of(d);
  bool good = true;
  for (int k = 0; good && k < f->narrow; k++) {
    const sn_arrow *a = &f->arrow[k];
    const sn_vec3 color = a->kind == SN_ARROW_TORQUE ? c->torque
                          : a->kind == SN_ARROW_HAND ? c->hand
                                                     : c->force;
    /* that of the hand is the way to it */
    const double length = a->kind == SN_ARROW_HAND ? sn_vec3_norm(wide(a->vector)) : -1;
    good = add_arrow(d, wide(a->point), wide(a->vector), length, crowd(f->narrow), color, out);
  }
  return good;
}

sn_status cli_marks_measure(cli_drawing *d, sn_error *err) {
  const int64_t frames = d->g.r->nframe;
  const int n = frames < SAMPLES ? (int)frames : SAMPLES;
  for (int k = 0; k < n; k++) {
    sn_recorded f;
    const sn_status status =
        sn_recording_read(d->g.r, n > 1 ? k * (frames - 1) / (n - 1) : 0, &f, err);
    if (status) {
      return status;
    }
    for (int i = 0; i < f.ncontact; i++) {
      d->most_force = fmax(d->most_force, sn_vec3_norm(wide(f.contact[i].force)));
    }
    for (int i = 0; i < f.narrow; i++) {
      if (f.arrow[i].kind != SN_ARROW_HAND) {
        d->most_force = fmax(d->most_force, sn_vec3_norm(wide(f.arrow[i].vector)));
      }
    }
  }
  return SN_OK;
}

bool cli_marks_add_solid(const cli_drawing *d, const sn_recorded *f, cli_triangles *out) {
  return (!(d->layers & CLI_LAYER_CONTACTS) || add_contacts(d, f, out)) &&
         (!(d->layers & CLI_LAYER_FORCES) || add_forces(d, f, out));
}

bool cli_marks_add_over(const cli_drawing *d, const sn_recorded *f, cli_triangles *out) {
  bool good = true;
  if (d->layers & CLI_LAYER_LOOPS) {
    size_t link = 0;
    good = add_links(d, f, "loops", &link, out) && add_links(d, f, "constraints", &link, out);
  }
  for (int b = 0; good && (d->layers & CLI_LAYER_AXES) && b < d->g.nbody; b++) {
    good = add_axes_of(d, f, b, out);
  }
  return good;
}

/* ---- trails ---- */

/* Bodies on which nothing hangs, at most some; how many, -1: out of memory. */
static int find_tips(const cli_drawing *d, int *tip) {
  bool *has = calloc((size_t)d->g.nbody + 1, sizeof *has);
  int count = 0, kept = 0;
  if (!has) {
    return -1;
  }
  for (int b = d->g.nbody - 1; b >= 0; b--) {
    double parent = -1;
    sni_node_number(sni_node_get(sni_node_at(d->g.r->bodies, (size_t)b), "parent"), &parent);
    if (parent >= 0 && parent < b) {
      has[(int)parent] = true;
    }
    count += !has[b] && !d->still[b];
  }
  const int stride = count > TRAILS_MOST ? (count + TRAILS_MOST - 1) / TRAILS_MOST : 1;
  for (int b = 0, k = 0; b < d->g.nbody && kept < TRAILS_MOST; b++) {
    if (!has[b] && !d->still[b] && k++ % stride == 0) {
      tip[kept++] = b;
    }
  }
  free(has);
  return kept;
}

/* The point of a body that leaves the trail: the far end of its shapes. */
static sn_vec3 tip_of(const cli_drawing *d, int body) {
  const sni_glb_body *b = &d->g.body[body];
  sn_vec3 best = {0, 0, 0};
  for (int s = b->first; s < b->first + b->nshape; s++) {
    const sn_shape_def *def = &d->g.shape[s].def;
    const sn_vec3 ends[] = {def->from, def->to, def->at.p};
    for (int k = 0; k < 3; k++) {
      best = sn_vec3_norm(ends[k]) > sn_vec3_norm(best) ? ends[k] : best;
    }
  }
  return best;
}

sn_status cli_marks_add_trails(cli_drawing *d, int64_t frame, double t, cli_triangles *out,
                               sn_error *err) {
  int tip[TRAILS_MOST];
  sn_vec3 last[TRAILS_MOST] = {{0}};
  const int n = d->layers & CLI_LAYER_TRAILS ? find_tips(d, tip) : 0;
  bool good = n >= 0;
  const int64_t stride = frame > TRAIL_POINTS ? frame / TRAIL_POINTS : 1;
  for (int64_t k = frame % stride, met = 0; good && n > 0 && k <= frame; k += stride) {
    sn_recorded f;
    const sn_status status = sn_recording_read(d->g.r, k, &f, err);
    if (status) {
      return status;
    }
    if (f.t < t - TRAIL_SECONDS) {
      continue;
    }
    const double age = fmin(1, (t - f.t) / TRAIL_SECONDS), r = 0.004 * d->size * (1 - 0.85 * age);
    for (int i = 0; good && i < n; i++) {
      const sn_vec3 at = sn_se3_point(cli_drawing_pose(&f, tip[i]), tip_of(d, tip[i]));
      const sn_vec3 x = cli_drawing_turned(d, at);
      const sni_glb_body *b = &d->g.body[tip[i]];
      good = met == 0 ||
             cli_add_bar(out, last[i], x, r, r, cli_linear(d->g.color[d->g.shape[b->first].color]));
      last[i] = x;
    }
    met++;
  }
  return good ? SN_OK : sni_fail(err, SN_E_MEMORY, "no memory for a picture");
}
