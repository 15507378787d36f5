/* bearing.c: pins, sliders and balls. */
#include "model/bearing.h"

#include "math/dense.h"

#include <math.h>
#include <string.h>

/* ---- geometry ---- */

static sn_vec6 row_at(sn_vec3 x, sn_vec3 n) {
  return (sn_vec6){sn_vec3_cross(x, n), n};
}

/* The smallest turn that takes z to a. */
static sn_mat3 frame_of(sn_vec3 a) {
  const sn_vec3 c = sn_vec3_cross((sn_vec3){0, 0, 1}, a);
  const double s = sn_vec3_norm(c);
  if (s < 1e-12) {
    sn_mat3 R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (a.z < 0) {
      R.m[1][1] = R.m[2][2] = -1;
    }
    return R;
  }
  return sn_so3_exp(sn_vec3_scale(c, atan2(s, a.z) / s));
}

/* z along a, and x next to `across`. */
static sn_mat3 frame_across(sn_vec3 a, sn_vec3 across) {
  const sn_vec3 x = sn_vec3_addscaled(across, -sn_vec3_dot(across, a), a);
  const sn_vec3 ex = sn_vec3_scale(x, 1 / sn_vec3_norm(x)), ey = sn_vec3_cross(a, ex);
  return (sn_mat3){{{ex.x, ey.x, a.x}, {ex.y, ey.y, a.y}, {ex.z, ey.z, a.z}}};
}

static sni_bearing *next(sni_bearing_builder *b, int nnormal, int ntangent) {
  sni_bearing *out = &b->bearing[b->count];
  *out = (sni_bearing){.nnormal = nnormal, .ntangent = ntangent};
  out->N = b->take(b->user, (size_t)nnormal, sizeof *out->N);
  out->tangent = b->take(b->user, (size_t)ntangent, sizeof *out->tangent);
  if (!out->N || !out->tangent) {
    return NULL;
  }
  out->nnormal = out->ntangent = 0; /* they come one by one */
  b->count++;
  return out;
}

/* A contact at x: normals n, then tangents. */
static void add_normals(sni_bearing *b, sn_vec3 x, const sn_vec3 *n, int count) {
  for (int k = 0; k < count; k++) {
    b->N[b->nnormal++] = row_at(x, n[k]);
  }
}
static void add_tangent(sni_bearing *b, sn_vec3 x, sn_vec3 t, int direction, double arm, int first,
                        int normal) {
  b->tangent[b->ntangent++] = (sni_rub_tangent){
      .T = row_at(x, t), .direction = direction, .arm = arm, .first = first, .normal = normal};
}

static void get(sn_vec6 x, double out[6]) {
  for (int k = 0; k < 6; k++) {
    out[k] = sn_vec6_get(x, k);
  }
}

static void add_square(double *A, double c, sn_vec6 p) {
  double x[6];
  get(p, x);
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      A[6 * i + j] += c * x[i] * x[j];
    }
  }
}

/* (sum |alpha|)^2 / |alpha|^2 of loads across the bearing, in the mean over all of these, by that
 * of a pin with contacts all around: 4/pi times the load, of which each end has half. */
static double find_evenness(const sni_bearing *b) {
  enum { LOADS = 32 };
  const double of_pin = 16 / (SN_PI * SN_PI) * SNI_POINTS_AROUND;
  double sum = 0, square = 0, limit[2 * SNI_NORMALS_MAX * SNI_POINTS_MAX];
  double bound[SNI_DIRECTIONS_MAX];
  for (int k = 0; k < LOADS; k++) {
    const double angle = 2 * SN_PI * (k + 0.5) / LOADS;
    const sn_vec6 w = {.v = sn_mat3_mul_vec(b->frame, (sn_vec3){cos(angle), sin(angle), 0})};
    const sn_vec6 y = sni_bearing_press(b, NULL, w);
    sn_vec6 side;
    sum += b->kind == SNI_AT_POINTS ? sni_bearing_limits(b, 0, y, limit, bound)
                                    : sni_bearing_around(b, 0, y, bound, &side);
    square += sn_vec6_dot(w, y);
  }
  return sum * sum / (LOADS * square * of_pin);
}

/* N^T N, its inverse across the directions, and what is known of loads by these. */
static void finish(sni_bearing *b) {
  double L[36];
  for (int k = 0; k < b->nnormal; k++) {
    add_square(b->square, 1, b->N[k]);
  }
  memcpy(L, b->square, sizeof L);
  for (int k = 0; k < b->ntangent; k++) {
    const sni_rub_tangent *t = &b->tangent[k];
    add_square(L, t->arm * t->arm, b->direction[t->direction]);
  }
  sni_cholesky(6, L, 0, NULL);
  sni_cholesky_add_inverse(6, L, 1, b->inverse);
  b->evenness = find_evenness(b);
}

void sni_bearing_pin(sni_bearing_builder *builder, const sn_joint_friction_def *def, sn_vec3 along,
                     bool slides) {
  const sn_vec3 axis = sn_vec3_scale(along, 1 / sn_vec3_norm(along));
  const int points = def->points > 0 ? def->points : SNI_POINTS_AROUND, normals = slides ? 1 : 2;
  sni_bearing *b = next(builder, 2 * normals * points, 2 * (slides ? 2 : 1) * points);
  if (!b) {
    return;
  }
  const sn_mat3 R = frame_of(axis);
  b->kind = def->points > 0 ? SNI_AT_POINTS : slides ? SNI_AROUND_SLEEVE : SNI_AROUND_PIN;
  b->frame = R;
  b->radius = b->arm[0] = def->pin_radius;
  b->half_length = 0.5 * def->pin_length;
  b->points = points;
  b->arm[1] = 1;
  b->direction[b->ndirection++] = (sn_vec6){.w = axis};
  if (slides) {
    b->direction[b->ndirection++] = (sn_vec6){.v = axis};
  }
  for (int k = 0; k < points; k++) {
    const double angle = 2 * SN_PI * k / points, c = cos(angle), s = sin(angle);
    for (int end = -1; end <= 1; end += 2) {
      const sn_vec3 x = sn_mat3_mul_vec(
          R, (sn_vec3){def->pin_radius * c, def->pin_radius * s, 0.5 * end * def->pin_length});
      const sn_vec3 inward = sn_mat3_mul_vec(R, (sn_vec3){-c, -s, 0});
      const sn_vec3 n[] = {inward, sn_vec3_scale(axis, -end)};
      const int first = b->nnormal;
      add_normals(b, x, n, normals);
      const sn_vec3 round = sn_mat3_mul_vec(R, (sn_vec3){-s, c, 0});
      add_tangent(b, x, round, 0, def->pin_radius, first, normals);
      if (slides) {
        add_tangent(b, x, axis, 1, 1, first, normals);
      }
    }
  }
  finish(b);
}

void sni_bearing_slider(sni_bearing_builder *builder, const sn_joint_friction_def *def,
                        sn_vec3 along) {
  const sn_vec3 axis = sn_vec3_scale(along, 1 / sn_vec3_norm(along));
  sni_bearing *b = next(builder, 16, 8);
  if (!b) {
    return;
  }
  const bool turned = sn_vec3_norm(def->across) > 0;
  const sn_mat3 R = turned ? frame_across(axis, def->across) : frame_of(axis);
  b->kind = turned ? SNI_AT_POINTS : SNI_AROUND_SLIDER;
  b->frame = R;
  b->radius = 0.5 * def->size.x;
  b->half_length = 0.5 * def->size.z;
  b->arm[0] = 1;
  b->direction[b->ndirection++] = (sn_vec6){.v = axis};
  for (int corner = 0; corner < 8; corner++) {
    const double sx = corner & 1 ? 1 : -1, sy = corner & 2 ? 1 : -1, sz = corner & 4 ? 1 : -1;
    const sn_vec3 half = {0.5 * sx * def->size.x, 0.5 * sy * def->size.y, 0.5 * sz * def->size.z};
    const sn_vec3 x = sn_mat3_mul_vec(R, half);
    const sn_vec3 n[] = {sn_mat3_mul_vec(R, (sn_vec3){-sx, 0, 0}),
                         sn_mat3_mul_vec(R, (sn_vec3){0, -sy, 0})};
    const int first = b->nnormal;
    add_normals(b, x, n, 2);
    add_tangent(b, x, axis, 0, 1, first, 2);
  }
  finish(b);
}

void sni_bearing_ball(sni_bearing_builder *builder, const sn_joint_friction_def *def) {
  static const sn_vec3 e[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  sni_bearing *b = next(builder, 6, 12);
  if (!b) {
    return;
  }
  b->kind = def->points > 0 ? SNI_AT_POINTS : SNI_AROUND_BALL;
  b->frame = sn_mat3_identity();
  b->points = SNI_POLES;
  for (int k = 0; k < 3; k++) {
    b->arm[k] = def->pin_radius;
    b->direction[b->ndirection++] = (sn_vec6){.w = e[k]};
  }
  for (int pole = 0; pole < 6; pole++) {
    const int k = pole / 2;
    const double r = (pole % 2 ? -1 : 1) * def->pin_radius;
    const sn_vec3 x = sn_vec3_scale(e[k], r);
    const sn_vec3 n = sn_vec3_scale(e[k], pole % 2 ? 1 : -1);
    const int first = b->nnormal;
    add_normals(b, x, &n, 1);
    /* e_k x e_(k+1) = e_(k+2), e_k x e_(k+2) = -e_(k+1) */
    add_tangent(b, x, e[(k + 1) % 3], (k + 2) % 3, r, first, 1);
    add_tangent(b, x, e[(k + 2) % 3], (k + 1) % 3, -r, first, 1);
  }
  finish(b);
}

/* ---- loads ---- */

static sn_vec6 from(const double x[6]) {
  return (sn_vec6){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

sn_vec6 sni_bearing_press(const sni_bearing *b, const double *K, sn_vec6 w) {
  double x[6], y[6];
  get(w, x);
  if (K) {
    sni_cholesky_solve(6, K, x);
    return from(x);
  }
  for (int i = 0; i < 6; i++) {
    y[i] = 0;
    for (int j = 0; j < 6; j++) {
      y[i] += b->inverse[6 * i + j] * x[j];
    }
  }
  return from(y);
}

double sni_bearing_limits(const sni_bearing *b, double mu, sn_vec6 y, double *limit,
                          double *bound) {
  double all = 0, alpha[2 * SNI_NORMALS_MAX * SNI_POINTS_MAX];
  for (int i = 0; i < b->nnormal; i++) {
    alpha[i] = fabs(sn_vec6_dot(b->N[i], y));
    all += alpha[i];
  }
  for (int k = 0; k < b->ndirection; k++) {
    bound[k] = 0;
  }
  for (int k = 0; k < b->ntangent; k++) {
    const sni_rub_tangent *t = &b->tangent[k];
    limit[k] = 0;
    for (int i = t->first; i < t->first + t->normal; i++) {
      limit[k] += mu * alpha[i];
    }
    bound[t->direction] += limit[k] * fabs(t->arm);
  }
  return all;
}

/* Means over all angles of |a + b cos|, and of that times cos; b >= 0. */
static void means_around(double a, double b, double *plain, double *cosine) {
  if (fabs(a) >= b) {
    *plain = fabs(a);
    *cosine = copysign(0.5 * b, a);
    return;
  }
  const double zero = acos(-a / b), s = sin(zero); /* positive up to there */
  *plain = (2 * (a * zero + b * s) - a * SN_PI) / SN_PI;
  *cosine = (2 * a * s + b * (zero - a / b * s) - 0.5 * SN_PI * b) / SN_PI;
}

/* g: what y does across the axis at an end of a pin or slider. */
static sn_vec3 across_at(const sni_bearing *b, sn_vec6 y, int end) {
  const double z = end * b->half_length;
  return (sn_vec3){y.v.x + y.w.y * z, y.v.y - y.w.x * z, 0};
}

/* At the corners of an end there are four pairs of normals, with |g cos + a| and |g cos - a| if the
 * slider is turned by the angle, a being what twists it; those of a pair rub along the axis on both
 * sides of it, which tilts it. */
static double around_slider(const sni_bearing *b, double mu, sn_vec6 y, sn_vec6 *side) {
  const double normals = 8;
  double all = 0;
  for (int end = -1; end <= 1; end += 2) {
    const sn_vec3 g = across_at(b, y, end);
    const double size = sn_vec3_norm(g);
    double plain, cosine;
    means_around(b->radius * y.w.z, size, &plain, &cosine);
    all += normals * plain;
    if (size > 0) {
      side->w = sn_vec3_addscaled(side->w, mu * normals * b->radius * cosine / size, g);
    }
  }
  side->w = sn_mat3_mul_vec(b->frame, side->w);
  return all;
}

/* Around an end of a pin the normals that point inwards have |g cos|, and those along the axis, at
 * both ends alike, |a + b cos|. */
double sni_bearing_around(const sni_bearing *b, double mu, sn_vec6 y, double *bound,
                          sn_vec6 *side) {
  const sn_vec6 own = sn_vec6_unrotate(b->frame, y);
  double all = 0;
  *side = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  if (b->kind == SNI_AROUND_BALL) {
    /* with a load F the pressure is F cos, on both sides; about an axis across F all of it together
     * rubs by 4/pi mu r F, as that of a pin does */
    all = 4 / SN_PI * 2 * sn_vec3_norm(y.v);
  } else if (b->kind == SNI_AROUND_SLIDER) {
    all = around_slider(b, mu, own, side);
  } else {
    for (int end = -1; end <= 1; end += 2) {
      all += 2 / SN_PI * b->points * sn_vec3_norm(across_at(b, own, end));
    }
  }
  if (b->kind == SNI_AROUND_PIN) {
    const double tilt = hypot(own.w.x, own.w.y);
    double plain, cosine;
    means_around(own.v.z, b->radius * tilt, &plain, &cosine);
    all += 2 * b->points * plain;
    if (tilt > 0) {
      const double push = mu * 2 * b->points * cosine / tilt;
      side->v = sn_mat3_mul_vec(b->frame, (sn_vec3){push * own.w.x, push * own.w.y, 0});
    }
  }
  for (int k = 0; k < b->ndirection; k++) {
    bound[k] = mu * b->arm[k] * all;
  }
  return all;
}

sn_vec6 sni_bearing_rub(const sni_bearing *b, const double *limit, const double *rho) {
  sn_vec6 sum = {{0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < b->ntangent; k++) {
    const sni_rub_tangent *t = &b->tangent[k];
    const double beta = copysign(limit[k], t->arm) * rho[t->direction];
    sum = sn_vec6_addscaled(sum, -beta, t->T);
  }
  return sum;
}

void sni_bearing_soften(const sni_bearing *b, double eps, bool relative, const double *mobility,
                        double *K) {
  /* tr(N W N^T) = tr(W N^T N) */
  double trace = 0, L[36];
  for (int k = 0; k < 36; k++) {
    trace += mobility[k] * b->square[k];
  }
  eps *= relative ? trace / b->nnormal : 1;
  memcpy(L, mobility, sizeof L);
  memcpy(K, b->square, sizeof L);
  sni_cholesky(6, L, 0, NULL);
  sni_cholesky_add_inverse(6, L, eps, K);
  sni_cholesky(6, K, 0, NULL);
}
