/* Shapes, and the mass of bodies made of them, against integrals that do not know the formulas. */
#include "test.h"

#include "model/mass.h"

#include <float.h>

/* ---- Samples --------------------------------------------------------------------------------- */

static sn_shape_def shape(const char *type) {
  return (sn_shape_def){.type = type,
                        .at = sn_se3_identity(),
                        .scale = 1,
                        .extent = 10,
                        .density = -1,
                        .color = {-1, -1, -1}};
}

static sn_vec3 random_vec3(uint64_t *seed, double lo, double hi) {
  const double x = test_random(seed, lo, hi), y = test_random(seed, lo, hi);
  return (sn_vec3){x, y, test_random(seed, lo, hi)};
}

static sn_se3 random_pose(uint64_t *seed) {
  const sn_mat3 R = sn_so3_exp(random_vec3(seed, -2, 2));
  return (sn_se3){R, random_vec3(seed, -3, 3)};
}

/* A tetrahedron, for kinds that need a mesh: every face has the fourth corner behind it. */
static const char tetrahedron[] = "v 0.1 0.2 -0.3\nv 1.3 0.1 0.2\nv -0.2 1.1 0.4\nv 0.3 0.2 1.6\n"
                                  "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

static sni_mesh *load_tetrahedron(void) {
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  const sn_status status = sni_mesh_read("t.obj", tetrahedron, sizeof tetrahedron - 1, &mesh, &err);
  CHECK(status == SN_OK && !mesh->inside_out, "%s", err.text);
  return mesh;
}

/* Any shape of a kind, at its place: from, to run along z. */
static sn_shape_def random_shape(int kind, uint64_t *seed) {
  sn_shape_def def = shape(sni_shape_kind(kind)->kind.keyword);
  def.size = random_vec3(seed, 0.5, 2);
  def.radii = random_vec3(seed, 0.5, 1.5);
  def.radius = test_random(seed, 0.3, 1);
  def.to = (sn_vec3){0, 0, test_random(seed, 0.5, 2)};
  def.from = sn_vec3_neg(def.to);
  def.file = "t.obj";
  def.scale = test_random(seed, 0.5, 2);
  def.density = test_random(seed, 0.5, 3);
  return def;
}

/* The same shape with the body's frame moved: E = pose of the old frame in the new one. */
static sn_shape_def moved(sn_shape_def def, sn_se3 E) {
  if (sni_shape_kind(sni_shape_kind_find(def.type))->has_at) {
    def.at = sn_se3_mul(E, def.at);
  } else {
    def.from = sn_se3_point(E, def.from);
    def.to = sn_se3_point(E, def.to);
  }
  return def;
}

/* Largest difference of masses, first and second moments, relative to those of b. */
static double difference(sn_inertia a, sn_inertia b) {
  const double size = sqrt((b.xx + b.yy + b.zz) / b.mass);
  const sn_mat3 A = sn_inertia_tensor(a), B = sn_inertia_tensor(b);
  double most = fmax(fabs(a.mass / b.mass - 1), sn_vec3_norm(sn_vec3_sub(a.com, b.com)) / size);
  for (int i = 0; i < 9; i++) {
    const double e = fabs(A.m[i / 3][i % 3] - B.m[i / 3][i % 3]) / (b.mass * size * size);
    most = isnan(e) ? INFINITY : fmax(most, e);
  }
  return most;
}

/* ---- Quadrature ------------------------------------------------------------------------------ */

/* A slice across z of a shape that is symmetric about the three planes: x^2 <= a^2, y^2 <= b^2 as a
 * rectangle or an ellipse. */
typedef struct slice {
  bool round;
  double a, b;
} slice;

static slice slice_at(const sn_shape_def *def, double z) {
  if (strcmp(def->type, "box") == 0) {
    return (slice){false, def->size.x / 2, def->size.y / 2};
  }
  if (strcmp(def->type, "sphere") == 0) {
    const double r = sqrt(fmax(0, def->radius * def->radius - z * z));
    return (slice){true, r, r};
  }
  if (strcmp(def->type, "cylinder") == 0) {
    return (slice){true, def->radius, def->radius};
  }
  if (strcmp(def->type, "capsule") == 0) {
    const double over = fmax(0, fabs(z) - def->to.z);
    const double r = sqrt(fmax(0, def->radius * def->radius - over * over));
    return (slice){true, r, r};
  }
  const double u = z / def->radii.z, k = sqrt(fmax(0, 1 - u * u));
  return (slice){true, k * def->radii.x, k * def->radii.y};
}

static double top_of(const sn_shape_def *def) {
  return strcmp(def->type, "box") == 0         ? def->size.z / 2
         : strcmp(def->type, "sphere") == 0    ? def->radius
         : strcmp(def->type, "cylinder") == 0  ? def->to.z
         : strcmp(def->type, "ellipsoid") == 0 ? def->radii.z
                                               : def->to.z + def->radius;
}

/* 4-point Gauss-Legendre, exact up to degree 7; slices are polynomials of degree 4 on each side of
 * the ends of a capsule's bar. */
static sn_inertia by_slices(const sn_shape_def *def) {
  static const double node[2] = {0.33998104358485626, 0.86113631159405258};
  static const double weight[2] = {0.65214515486254614, 0.34785484513745386};
  const double top = top_of(def);
  const double bar = strcmp(def->type, "capsule") == 0 ? def->to.z : top / 2;
  const double edge[5] = {-top, -bar, 0, bar, top};
  double m = 0, xx = 0, yy = 0, zz = 0; /* integrals of 1, x^2, y^2, z^2 */
  for (int piece = 0; piece < 4; piece++) {
    const double mid = (edge[piece] + edge[piece + 1]) / 2;
    const double half = (edge[piece + 1] - edge[piece]) / 2;
    for (int k = 0; k < 4; k++) {
      const double z = mid + (k % 2 ? 1 : -1) * half * node[k / 2];
      const slice s = slice_at(def, z);
      const double w = half * weight[k / 2] * s.a * s.b * (s.round ? SN_PI : 4);
      m += w;
      xx += w * s.a * s.a / (s.round ? 4 : 3);
      yy += w * s.b * s.b / (s.round ? 4 : 3);
      zz += w * z * z;
    }
  }
  const double d = def->density;
  return (sn_inertia){.mass = d * m, .xx = d * (yy + zz), .yy = d * (zz + xx), .zz = d * (xx + yy)};
}

/* Round-off of some tens of operations; 1e-13 keeps two digits in hand. */
TEST(mass_equals_quadrature) {
  for (int kind = 0; kind < sni_shape_kind_count(); kind++) {
    if (sni_shape_kind(kind)->needs_mesh || sni_shape_kind(kind)->weightless) {
      continue;
    }
    for (uint64_t seed = 0; seed < 50; seed++) {
      uint64_t s = seed;
      const sn_shape_def def = random_shape(kind, &s);
      const double e = difference(sni_shape_mass(&def, NULL), by_slices(&def));
      CHECK(e < 1e-13, "%s, seed %d: %g", def.type, (int)seed, e);
    }
  }
}

/* ---- Counting points ------------------------------------------------------------------------- */

static bool is_inside(const sn_shape_def *def, const sni_mesh *mesh, sn_vec3 x) {
  if (!sni_shape_kind(sni_shape_kind_find(def->type))->has_at) {
    const sn_vec3 d = sn_vec3_sub(def->to, def->from), v = sn_vec3_sub(x, def->from);
    const double t = sn_vec3_dot(v, d) / sn_vec3_dot(d, d);
    const bool capsule = strcmp(def->type, "capsule") == 0;
    const double u = capsule ? fmin(1, fmax(0, t)) : t;
    return sn_vec3_norm(sn_vec3_addscaled(v, -u, d)) <= def->radius &&
           (capsule || (t >= 0 && t <= 1));
  }
  const sn_vec3 y = sn_se3_point(sn_se3_inverse(def->at), x);
  if (strcmp(def->type, "box") == 0) {
    return fabs(y.x) <= def->size.x / 2 && fabs(y.y) <= def->size.y / 2 &&
           fabs(y.z) <= def->size.z / 2;
  }
  if (strcmp(def->type, "sphere") == 0) {
    return sn_vec3_norm(y) <= def->radius;
  }
  if (strcmp(def->type, "ellipsoid") == 0) {
    return sn_vec3_norm((sn_vec3){y.x / def->radii.x, y.y / def->radii.y, y.z / def->radii.z}) <= 1;
  }
  for (int k = 0; k < mesh->ntriangle; k++) { /* convex: behind all faces */
    const int *v = mesh->triangle[k].v;
    const sn_vec3 a = mesh->vertex[v[0]], b = mesh->vertex[v[1]], c = mesh->vertex[v[2]];
    const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(b, a), sn_vec3_sub(c, a));
    if (sn_vec3_dot(n, sn_vec3_sub(sn_vec3_scale(y, 1 / def->scale), a)) > 0) {
      return false;
    }
  }
  return true;
}

/* One random point in each cell of a grid over a box that is larger than the shape, so that wrong
 * bounds do not hide in it.  The error falls like 1 / n^2; at n = 128 it is below 5e-4. */
static sn_inertia by_counting(const sn_shape_def *def, const sni_mesh *mesh, uint64_t *seed) {
  const int n = 128;
  const sni_aabb tight = sni_shape_bounds(def, mesh, sn_se3_identity());
  const sn_vec3 more = {0.05, 0.05, 0.05};
  const sn_vec3 lo = sn_vec3_sub(tight.lo, more), hi = sn_vec3_add(tight.hi, more);
  const sn_vec3 cell = sn_vec3_scale(sn_vec3_sub(hi, lo), 1.0 / n);
  double sum[10] = {0};
  for (int k = 0; k < n * n * n; k++) {
    const int i = k % n, j = k / n % n, l = k / n / n;
    const sn_vec3 u = random_vec3(seed, 0, 1);
    const sn_vec3 x = {lo.x + cell.x * (i + u.x), lo.y + cell.y * (j + u.y),
                       lo.z + cell.z * (l + u.z)};
    if (is_inside(def, mesh, x)) {
      const double add[10] = {1,         x.x,       x.y,       x.z,       x.x * x.x,
                              x.y * x.y, x.z * x.z, x.x * x.y, x.x * x.z, x.y * x.z};
      for (int a = 0; a < 10; a++) {
        sum[a] += def->density * cell.x * cell.y * cell.z * add[a];
      }
    }
  }
  const double m = sum[0];
  const sn_vec3 c = {sum[1] / m, sum[2] / m, sum[3] / m};
  const double xx = sum[4] - m * c.x * c.x, yy = sum[5] - m * c.y * c.y,
               zz = sum[6] - m * c.z * c.z;
  return (sn_inertia){.mass = m,
                      .com = c,
                      .xx = yy + zz,
                      .yy = xx + zz,
                      .zz = xx + yy,
                      .xy = -(sum[7] - m * c.x * c.y),
                      .xz = -(sum[8] - m * c.x * c.z),
                      .yz = -(sum[9] - m * c.y * c.z)};
}

TEST(mass_equals_counted_points) {
  sni_mesh *mesh = load_tetrahedron();
  for (int kind = 0; kind < sni_shape_kind_count(); kind++) {
    if (sni_shape_kind(kind)->weightless) {
      continue;
    }
    uint64_t s = 100;
    sn_shape_def def = random_shape(kind, &s);
    def = moved(def, random_pose(&s));
    const double e = difference(by_counting(&def, mesh, &s), sni_shape_mass(&def, mesh));
    CHECK(e < 1e-3, "%s: %g", def.type, e);
  }
  sni_mesh_free(&mesh);
}

/* ---- Laws ------------------------------------------------------------------------------------ */

/* A turned and shifted shape has the turned and shifted inertia.  The origin is a few sizes away,
 * so that the centre of mass loses a digit: 1e-13 keeps one in hand. */
TEST(mass_moves_with_the_shape) {
  sni_mesh *mesh = load_tetrahedron();
  for (int kind = 0; kind < sni_shape_kind_count(); kind++) {
    if (sni_shape_kind(kind)->weightless) {
      continue;
    }
    for (uint64_t seed = 0; seed < 100; seed++) {
      uint64_t s = 200 + seed;
      const sn_shape_def def = moved(random_shape(kind, &s), random_pose(&s));
      const sn_se3 E = random_pose(&s);
      const sn_shape_def other = moved(def, E);
      const double e = difference(sni_shape_mass(&other, mesh),
                                  sn_inertia_transform(E, sni_shape_mass(&def, mesh)));
      CHECK(e < 1e-13, "%s, seed %d: %g", def.type, (int)seed, e);
    }
  }
  sni_mesh_free(&mesh);
}

TEST(a_plane_weighs_nothing) {
  uint64_t s = 250;
  const sn_shape_def def = random_shape(sni_shape_kind_find("plane"), &s);
  CHECK(def.density > 0 && sni_shape_mass(&def, NULL).mass == 0, "it does");
}

/* Steiner, written out: about the origin xx is that at the centre plus m (y^2 + z^2). */
TEST(parallel_axis) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    uint64_t s = 300 + seed;
    sn_shape_def def = random_shape(sni_shape_kind_find("ellipsoid"), &s);
    const sn_inertia I0 = sni_shape_mass(&def, NULL);
    const sn_vec3 p = def.at.p = random_vec3(&s, -3, 3);
    const sn_mat3 T = sn_inertia_tensor_at_origin(sni_shape_mass(&def, NULL));
    const double e = fmax(fabs(T.m[0][0] - I0.xx - I0.mass * (p.y * p.y + p.z * p.z)),
                          fabs(T.m[1][2] + I0.mass * p.y * p.z));
    CHECK(e < 1e-13 * I0.mass * 30, "seed %d: %g", (int)seed, e);
  }
}

/* Twice the size at the same density: 8 times the mass, 32 times the inertia.  Powers of two: no
 * rounding at all, but for shapes that sum two products. */
TEST(mass_scales) {
  sni_mesh *mesh = load_tetrahedron();
  for (int kind = 0; kind < sni_shape_kind_count(); kind++) {
    if (sni_shape_kind(kind)->weightless) {
      continue;
    }
    uint64_t s = 400;
    sn_shape_def def = random_shape(kind, &s);
    const sn_inertia I = sni_shape_mass(&def, mesh);
    def.size = sn_vec3_scale(def.size, 2);
    def.radii = sn_vec3_scale(def.radii, 2);
    def.radius *= 2;
    def.from = sn_vec3_scale(def.from, 2);
    def.to = sn_vec3_scale(def.to, 2);
    def.scale *= 2;
    sn_inertia twice = sni_shape_mass(&def, mesh);
    twice.mass /= 8;
    twice.com = sn_vec3_scale(twice.com, 0.5);
    twice =
        sn_inertia_make(twice.mass, twice.com, sn_mat3_scale(sn_inertia_tensor(twice), 1.0 / 32));
    CHECK(difference(twice, I) < 1e-15, "%s: %g", def.type, difference(twice, I));
    def.density = -1;
    CHECK(sni_shape_mass(&def, mesh).mass == 0, "%s weighs without density", def.type);
  }
  sni_mesh_free(&mesh);
}

/* The halves of a box and of a cylinder make the whole. */
TEST(mass_is_additive) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    uint64_t s = 500 + seed;
    const sn_shape_def box = random_shape(sni_shape_kind_find("box"), &s);
    const sn_shape_def bar = random_shape(sni_shape_kind_find("cylinder"), &s);
    const double t = test_random(&s, 0.1, 0.9);
    sn_shape_def part[4] = {box, box, bar, bar};
    part[0].size.x = t * box.size.x;
    part[0].at.p.x = -(1 - t) * box.size.x / 2;
    part[1].size.x = (1 - t) * box.size.x;
    part[1].at.p.x = t * box.size.x / 2;
    part[2].to = part[3].from = sn_vec3_addscaled(sn_vec3_scale(bar.from, 1 - t), t, bar.to);
    const sn_se3 E = random_pose(&s);
    for (int k = 0; k < 4; k++) {
      part[k] = moved(part[k], E);
    }
    const sn_shape_def whole[2] = {moved(box, E), moved(bar, E)};
    for (int k = 0; k < 2; k++) {
      const sn_body_def two = {.shapes = part + 2 * k, .nshape = 2};
      const sn_body_def one = {.shapes = whole + k, .nshape = 1};
      sn_inertia a, b;
      sn_error err = {0};
      CHECK(sni_body_inertia(&two, NULL, &a, &err) == SN_OK, "%s", err.text);
      CHECK(sni_body_inertia(&one, NULL, &b, &err) == SN_OK, "%s", err.text);
      CHECK(difference(a, b) < 1e-13, "%s, seed %d: %g", whole[k].type, (int)seed,
            difference(a, b));
    }
  }
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The point of a shape that is farthest along direction n, found by asking who is there. */
static double reach(const sn_shape_def *def, const sni_mesh *mesh, sn_vec3 n) {
  if (!sni_shape_kind(sni_shape_kind_find(def->type))->has_at) {
    const sn_vec3 d = sn_vec3_sub(def->to, def->from);
    const sn_vec3 across = sn_vec3_sub(n, sn_vec3_scale(d, sn_vec3_dot(n, d) / sn_vec3_dot(d, d)));
    const bool capsule = strcmp(def->type, "capsule") == 0;
    return fmax(sn_vec3_dot(n, def->from), sn_vec3_dot(n, def->to)) +
           def->radius * (capsule ? sn_vec3_norm(n) : sn_vec3_norm(across));
  }
  const sn_vec3 m = sn_mat3_tmul_vec(def->at.R, n); /* the direction in the shape's frame */
  double most = -DBL_MAX;
  if (strcmp(def->type, "box") == 0) {
    for (int k = 0; k < 8; k++) {
      const sn_vec3 x = {(k & 1 ? 0.5 : -0.5) * def->size.x, (k & 2 ? 0.5 : -0.5) * def->size.y,
                         (k & 4 ? 0.5 : -0.5) * def->size.z};
      most = fmax(most, sn_vec3_dot(m, x));
    }
  } else if (sni_shape_kind(sni_shape_kind_find(def->type))->needs_mesh) {
    for (int k = 0; k < mesh->nvertex; k++) {
      most = fmax(most, def->scale * sn_vec3_dot(m, mesh->vertex[k]));
    }
  } else if (strcmp(def->type, "plane") == 0) { /* what is drawn of it */
    most = 0.5 * def->extent * (fabs(m.x) + fabs(m.y));
  } else { /* where the normal of sum (x_i / r_i)^2 = 1 is m */
    const sn_vec3 r = strcmp(def->type, "sphere") == 0
                          ? (sn_vec3){def->radius, def->radius, def->radius}
                          : def->radii;
    const sn_vec3 x = {r.x * r.x * m.x, r.y * r.y * m.y, r.z * r.z * m.z};
    most = sn_vec3_dot(m, x) / sn_vec3_norm((sn_vec3){x.x / r.x, x.y / r.y, x.z / r.z});
  }
  return most + sn_vec3_dot(n, def->at.p);
}

TEST(bounds_touch_the_shape) {
  sni_mesh *mesh = load_tetrahedron();
  for (int kind = 0; kind < sni_shape_kind_count(); kind++) {
    for (uint64_t seed = 0; seed < 200; seed++) {
      uint64_t s = 600 + seed;
      const sn_shape_def def = moved(random_shape(kind, &s), random_pose(&s));
      const sn_se3 E = seed % 2 ? random_pose(&s) : sn_se3_identity();
      const sn_shape_def seen = moved(def, E);
      const sni_aabb box = sni_shape_bounds(&def, mesh, E);
      for (int i = 0; i < 3; i++) {
        const sn_vec3 n = {i == 0, i == 1, i == 2};
        const double above = sn_vec3_get(box.hi, i) - reach(&seen, mesh, n);
        const double below = sn_vec3_get(box.lo, i) + reach(&seen, mesh, sn_vec3_neg(n));
        CHECK(fmax(fabs(above), fabs(below)) < 1e-14 * 30,
              "%s, seed %d, axis %d: %g above, %g below", def.type, (int)seed, i, above, below);
      }
    }
  }
  sni_mesh_free(&mesh);
}

/* A thin bar along an axis: 1 - a^2 would leave nothing of its radius. */
TEST(bounds_of_a_bar_that_is_almost_along_an_axis) {
  sn_shape_def def = shape("cylinder");
  def.to = (sn_vec3){1e-9, 0, 1};
  def.radius = 1;
  const sni_aabb box = sni_shape_bounds(&def, NULL, sn_se3_identity());
  CHECK(fabs(box.hi.z - 1 - 1e-9) < 1e-16 * 4, "%.17g", box.hi.z);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void check_refused(const sn_shape_def *def, const char *path, const char *text) {
  sn_error err = {0};
  const sn_status status = sni_shape_check(def, &err);
  CHECK(status == SN_E_VALUE && err.code == status, "%s: status %d", text, status);
  CHECK(strcmp(err.path, path) == 0, "path '%s', expected '%s'", err.path, path);
  CHECK(strcmp(err.text, text) == 0, "text '%s', expected '%s'", err.text, text);
  CHECK(sni_shape_check(def, NULL) == status, "without err");
}

TEST(good_shapes_pass) {
  for (int kind = 0; kind < sni_shape_kind_count(); kind++) {
    uint64_t s = 700;
    sn_shape_def def = moved(random_shape(kind, &s), random_pose(&s));
    sn_error err = {0};
    CHECK(sni_shape_check(&def, &err) == SN_OK, "%s: %s %s", def.type, err.path, err.text);
    def.color = (sn_vec3){0, 1, 0.5};
    def.density = -1;
    CHECK(sni_shape_check(&def, &err) == SN_OK, "%s: %s %s", def.type, err.path, err.text);
  }
}

TEST(refused_sizes) {
  sn_shape_def def = shape("box");
  check_refused(&def, "size", "is [0, 0, 0], needs > 0 everywhere");
  def.size = (sn_vec3){1, -2, 3};
  check_refused(&def, "size", "is [1, -2, 3], needs > 0 everywhere");
  def.size = (sn_vec3){1, 2, NAN};
  check_refused(&def, "size", "is [1, 2, nan], needs > 0 everywhere");
  def.size = (sn_vec3){INFINITY, 2, 3};
  check_refused(&def, "size", "is [inf, 2, 3], needs finite numbers");

  def = shape("sphere");
  check_refused(&def, "radius", "is 0, needs > 0");
  def.radius = -1;
  check_refused(&def, "radius", "is -1, needs > 0");
  def.radius = NAN;
  check_refused(&def, "radius", "is nan, needs > 0");
  def.radius = INFINITY;
  check_refused(&def, "radius", "is inf, needs a finite number");

  def = shape("ellipsoid");
  def.radii = (sn_vec3){1, 0, 1};
  check_refused(&def, "radii", "is [1, 0, 1], needs > 0 everywhere");
}

TEST(refused_segments) {
  static const char *const types[] = {"cylinder", "capsule"};
  for (int k = 0; k < 2; k++) {
    sn_shape_def def = shape(types[k]);
    def.radius = 1;
    def.from = def.to = (sn_vec3){1, 2, 3};
    check_refused(&def, "to", "is [1, 2, 3], the same point as from");
    def.from.x = NAN;
    check_refused(&def, "from", "is [nan, 2, 3], needs finite numbers");
    def.from.x = 0;
    def.to.z = -INFINITY;
    check_refused(&def, "to", "is [1, 2, -inf], needs finite numbers");
    def.from.z = -1e308;
    def.to.z = 1e308;
    check_refused(&def, "to", "is too far from from");
    def.from = (sn_vec3){0};
    def.to = (sn_vec3){1e-200, 0, 0};
    sn_error err = {0};
    CHECK(sni_shape_check(&def, &err) == SN_OK, "short: %s", err.text);
    def.radius = 0;
    check_refused(&def, "radius", "is 0, needs > 0");
  }
  sn_shape_def def = shape("capsule");
  def.radius = def.to.x = 1;
  def.at.p.z = 2;
  check_refused(&def, "at", "a capsule is placed by from and to, not by a pose");
}

TEST(refused_meshes) {
  sn_shape_def def = shape("mesh");
  check_refused(&def, "file", "is missing, needs the path of an OBJ or STL file");
  def.file = "";
  check_refused(&def, "file", "is missing, needs the path of an OBJ or STL file");
  def.file = "gear.obj";
  def.scale = -1;
  check_refused(&def, "scale", "is -1, needs > 0");
}

TEST(refused_common_keys) {
  sn_shape_def def = shape("sphere");
  def.radius = 1;
  def.density = 0;
  check_refused(&def, "density", "is 0, needs > 0");
  def.density = NAN;
  check_refused(&def, "density", "is nan, needs > 0");
  def.density = INFINITY;
  check_refused(&def, "density", "is inf, needs a finite number");
  def.density = 1;
  def.color = (sn_vec3){0.5, 2, 0};
  check_refused(&def, "color", "is [0.5, 2, 0], needs numbers from 0 to 1");
  def.color = (sn_vec3){0.5, -1, 0};
  check_refused(&def, "color", "is [0.5, -1, 0], needs numbers from 0 to 1");
  def.color = (sn_vec3){0};
  def.at.p.y = INFINITY;
  check_refused(&def, "at", "is [0, inf, 0], needs finite numbers");
  def.at.p.y = 0;
  def.at.R.m[0][0] = -1;
  check_refused(&def, "at", "has a matrix that is no rotation (off by 2)");
  def.at.R.m[0][0] = 2;
  check_refused(&def, "at", "has a matrix that is no rotation (off by 3)");
  def.at.R.m[0][0] = NAN;
  check_refused(&def, "at", "has a matrix that is no rotation (off by nan)");

  def = shape("torus");
  check_refused(&def, "type",
                "'torus' is not a kind of shape; known: box, sphere, cylinder, capsule, ellipsoid, "
                "mesh, plane, convex, height_field");
  def.type = NULL;
  check_refused(&def, "type",
                "'' is not a kind of shape; known: box, sphere, cylinder, capsule, ellipsoid, "
                "mesh, plane, convex, height_field");
}

/* ---- The tables ------------------------------------------------------------------------------ */

static bool has_key(const sni_field *field, int count, const char *key) {
  int found = 0;
  for (int k = 0; k < count; k++) {
    found += strcmp(field[k].key, key) == 0;
  }
  CHECK(found <= 1, "%s twice", key);
  return found == 1;
}

TEST(field_tables_are_complete) {
  const sni_family *family = sni_shape_family();
  CHECK(strcmp(family->name, "shape") == 0, "%s", family->name);
  int count = 0;
  for (const sni_kind *kind; (kind = family->kind(count)); count++) {
    CHECK(kind == &sni_shape_kind(sni_shape_kind_find(kind->keyword))->kind, "%s", kind->keyword);
    CHECK(kind->doc[0], "%s has no doc", kind->keyword);
    CHECK(has_key(kind->field, kind->count, "at") == sni_shape_kind(count)->has_at, "%s",
          kind->keyword);
    for (int k = 0; k < kind->count; k++) {
      const sni_field *f = &kind->field[k];
      CHECK(f->doc && f->doc[0], "%s.%s has no doc", kind->keyword, f->key);
      CHECK(f->unit || f->type == SNI_F_FILE, "%s.%s has no unit", kind->keyword, f->key);
      CHECK(f->offset < sizeof(sn_shape_def), "%s.%s", kind->keyword, f->key);
      CHECK(has_key(kind->field, kind->count, f->key), "%s.%s", kind->keyword, f->key);
      CHECK(!has_key(family->common.field, family->common.count, f->key), "%s is common", f->key);
    }
  }
  CHECK(count == sni_shape_kind_count() && count == 9, "%d kinds", count);
  static const char *const common[] = {"density", "contact", "color"};
  for (int k = 0; k < 3; k++) {
    CHECK(has_key(family->common.field, family->common.count, common[k]), "%s", common[k]);
  }
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

TEST(body_sums_its_shapes) {
  sn_shape_def part[3] = {shape("box"), shape("box"), shape("sphere")};
  part[0].size = part[1].size = (sn_vec3){1, 1, 1};
  part[0].density = part[1].density = 2;
  part[2].radius = 1; /* no density: no mass */
  sn_body_def body = {.shapes = part, .nshape = 3};
  sn_inertia I = {.mass = -7};
  sn_error err = {0};
  CHECK(sni_body_inertia(&body, NULL, &I, &err) == SN_OK, "%s", err.text);
  CHECK(I.mass == 4, "what overlaps counts twice: %g", I.mass);

  body.has_inertia = true;
  body.inertia = (sn_inertia){.mass = 3, .xx = 1, .yy = 1, .zz = 1};
  CHECK(sni_body_inertia(&body, NULL, &I, &err) == SN_OK && I.mass == 3, "given: %g", I.mass);

  body.has_inertia = false;
  part[0].density = part[1].density = -1;
  CHECK(sni_body_inertia(&body, NULL, &I, &err) == SN_OK && I.mass == 0 && I.xx == 0,
        "no density: %g", I.mass);
  body.nshape = 0;
  CHECK(sni_body_inertia(&body, NULL, &I, &err) == SN_OK && I.mass == 0, "nothing: %g", I.mass);
}

TEST(body_with_a_bad_shape) {
  sn_shape_def part[2] = {shape("sphere"), shape("sphere")};
  part[0].radius = 1;
  const sn_body_def body = {.shapes = part, .nshape = 2};
  sn_inertia I = {.mass = -7};
  sn_error err = {0};
  CHECK(sni_body_inertia(&body, NULL, &I, &err) == SN_E_VALUE, "accepted");
  CHECK(strcmp(err.path, "shapes[1].radius") == 0, "%s", err.path);
  CHECK(strcmp(err.text, "is 0, needs > 0") == 0, "%s", err.text);
  CHECK(I.mass == -7, "output touched");

  part[1] = shape("mesh");
  part[1].file = "gear.obj";
  CHECK(sni_body_inertia(&body, NULL, &I, &err) == SN_OK, "a mesh without density: %s", err.text);
  part[1].density = 1;
  sn_body_def given = body;
  given.has_inertia = true;
  CHECK(sni_body_inertia(&given, NULL, &I, &err) == SN_OK, "a mesh that is not asked: %s",
        err.text);
  CHECK(sni_body_inertia(&body, NULL, &I, NULL) == SN_E_VALUE, "accepted");
  CHECK(sni_body_inertia(&body, NULL, &I, &err) == SN_E_VALUE, "accepted");
  CHECK(strcmp(err.path, "shapes[1].file") == 0 && strcmp(err.text, "is not loaded") == 0, "%s %s",
        err.path, err.text);
}

TEST(body_with_a_mesh) {
  sni_mesh *mesh = load_tetrahedron();
  sn_shape_def part[2] = {shape("sphere"), shape("mesh")};
  part[0].radius = 1;
  part[1].file = "t.obj";
  part[1].density = 2;
  const sni_mesh *const loaded[2] = {NULL, mesh};
  const sn_body_def body = {.shapes = part, .nshape = 2};
  sn_inertia I = {0};
  sn_error err = {0};
  CHECK(sni_body_inertia(&body, loaded, &I, &err) == SN_OK, "%s", err.text);
  CHECK(fabs(I.mass - 2 * mesh->solid.mass) < 1e-15, "%g", I.mass);
  sni_mesh_free(&mesh);
}

static void check_inertia(sn_inertia I, bool may_be_massless, const char *text) {
  sn_error err = {0};
  const sn_status status = sni_inertia_check(&I, may_be_massless, &err);
  CHECK(status == (text ? SN_E_VALUE : SN_OK), "%s: status %d, %s", text ? text : "good", status,
        err.text);
  CHECK(!text || strcmp(err.text, text) == 0, "'%s', expected '%s'", err.text, text);
  CHECK(sni_inertia_check(&I, may_be_massless, NULL) == status, "without err");
}

TEST(possible_inertias) {
  check_inertia((sn_inertia){.mass = 1, .xx = 1, .yy = 1, .zz = 2}, false, NULL); /* a lamina */
  check_inertia((sn_inertia){.mass = 1, .xx = 1, .yy = 1}, false, NULL);          /* a needle */
  check_inertia((sn_inertia){.mass = 1}, false, NULL);                            /* a point  */
  check_inertia((sn_inertia){0}, true, NULL);
  /* laminae typed with ten and with six digits */
  check_inertia(
      (sn_inertia){.mass = 1, .xx = 0.3333333333, .yy = 0.08333333333, .zz = 0.4166666667}, false,
      NULL);
  check_inertia((sn_inertia){.mass = 1, .xx = 0.333333, .yy = 0.333333, .zz = 0.666667}, false,
                NULL);
  /* any body that exists, in any frame */
  for (int kind = 0; kind < sni_shape_kind_count(); kind++) {
    for (uint64_t seed = 0; seed < 20 && !sni_shape_kind(kind)->needs_mesh; seed++) {
      uint64_t s = 800 + seed;
      sn_shape_def def = moved(random_shape(kind, &s), random_pose(&s));
      check_inertia(sni_shape_mass(&def, NULL), sni_shape_kind(kind)->weightless, NULL);
    }
  }
}

TEST(impossible_inertias) {
  check_inertia((sn_inertia){.mass = 0}, false, "mass is 0, needs > 0");
  check_inertia((sn_inertia){.mass = -1, .xx = 1, .yy = 1, .zz = 1}, true, "mass is -1, needs > 0");
  check_inertia((sn_inertia){.mass = NAN}, false, "mass is nan, needs a finite number");
  check_inertia((sn_inertia){.mass = 1, .xz = INFINITY}, false, "xz is inf, needs a finite number");
  check_inertia((sn_inertia){.mass = 1, .com = {0, NAN, 0}}, false,
                "centre of mass is [0, nan, 0], needs finite numbers");
  check_inertia((sn_inertia){.mass = 1, .xx = 1, .yy = 1, .zz = -1}, false,
                "principal moments -1, 1, 1: none may be negative");
  check_inertia((sn_inertia){.mass = 1, .xx = 1, .yy = 1, .zz = 1, .xy = 2}, false,
                "principal moments -1, 1, 3: none may be negative");
  check_inertia((sn_inertia){.mass = 0, .xx = 1, .yy = 1, .zz = 1}, true,
                "principal moments 1, 1, 1 without mass: needs mass > 0, or moments 0");
  check_inertia(
      (sn_inertia){.mass = 1, .xx = 1, .yy = 3, .zz = 1}, false,
      "principal moments 1, 1, 3 break the triangle inequality (largest must be <= sum of "
      "the others 2): no body has such an inertia");
  check_inertia((sn_inertia){.mass = 1, .xx = 1, .yy = 2.0001, .zz = 1}, false,
                "principal moments 1, 1, 2.0001 break the triangle inequality (largest must be "
                "<= sum of the others 2): no body has such an inertia");
}

/* The verdict does not depend on the frame. */
TEST(impossible_in_any_frame) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    uint64_t s = 900 + seed;
    const sn_se3 E = random_pose(&s);
    const sn_inertia bad =
        sn_inertia_transform(E, (sn_inertia){.mass = 1, .xx = 1, .yy = 1, .zz = 2.0001});
    const sn_inertia good =
        sn_inertia_transform(E, (sn_inertia){.mass = 1, .xx = 1, .yy = 1, .zz = 2});
    CHECK(sni_inertia_check(&bad, false, NULL) == SN_E_VALUE, "seed %d", (int)seed);
    CHECK(sni_inertia_check(&good, false, NULL) == SN_OK, "seed %d", (int)seed);
  }
}

int main(void) {
  RUN_TESTS(T(mass_equals_quadrature), T(mass_equals_counted_points), T(mass_moves_with_the_shape),
            T(a_plane_weighs_nothing), T(parallel_axis), T(mass_scales), T(mass_is_additive),
            T(bounds_touch_the_shape), T(bounds_of_a_bar_that_is_almost_along_an_axis),
            T(good_shapes_pass), T(refused_sizes), T(refused_segments), T(refused_meshes),
            T(refused_common_keys), T(field_tables_are_complete), T(body_sums_its_shapes),
            T(body_with_a_bad_shape), T(body_with_a_mesh), T(possible_inertias),
            T(impossible_inertias), T(impossible_in_any_frame));
}
