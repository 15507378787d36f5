/* Mass properties: as 6x6 matrices, seen from other frames, stuck together, and their axes. */
#include "vectors.h"

#include "math/inertia.h"
#include "math/sym3.h"

#include <float.h>

static sn_vec3 random_vec3(uint64_t *seed, double lo, double hi) {
  const double x = test_random(seed, lo, hi), y = test_random(seed, lo, hi);
  return (sn_vec3){x, y, test_random(seed, lo, hi)};
}

static sn_vec6 random_vec6(uint64_t *seed) {
  const sn_vec3 w = random_vec3(seed, -2, 2);
  return (sn_vec6){w, random_vec3(seed, -2, 2)};
}

static sn_se3 random_pose(uint64_t *seed) {
  const sn_mat3 R = sn_so3_exp(random_vec3(seed, -2, 2));
  return (sn_se3){R, random_vec3(seed, -3, 3)};
}

/* R diag(value) R^T */
static sn_mat3 from_eigen(sn_mat3 R, const double value[3]) {
  sn_mat3 D = {{{0}}};
  for (int i = 0; i < 3; i++) {
    D.m[i][i] = value[i];
  }
  return sn_mat3_mul(R, sn_mat3_mul(D, sn_mat3_transpose(R)));
}

static sn_inertia random_inertia(uint64_t *seed) {
  const double mass = test_random(seed, 0.1, 5);
  const sn_vec3 d = random_vec3(seed, 0.1, 1); /* second moments along the axes */
  const double value[3] = {mass * (d.y + d.z), mass * (d.z + d.x), mass * (d.x + d.y)};
  const sn_mat3 R = sn_so3_exp(random_vec3(seed, -2, 2));
  return sn_inertia_make(mass, random_vec3(seed, -2, 2), from_eigen(R, value));
}

static double norm6(sn_vec6 a) {
  return sqrt(sn_vec6_dot(a, a));
}

static double mat3_distance(sn_mat3 A, sn_mat3 B) {
  double most = 0;
  for (int i = 0; i < 9; i++) {
    const double e = fabs(A.m[i / 3][i % 3] - B.m[i / 3][i % 3]);
    most = isnan(e) ? INFINITY : fmax(most, e);
  }
  return most;
}

TEST(inertia_keeps_what_it_is_made_of) {
  const sn_mat3 T = {{{1, 2, 3}, {2, 4, 5}, {3, 5, 6}}};
  const sn_inertia I = sn_inertia_make(7, (sn_vec3){8, 9, 10}, T);
  CHECK(I.mass == 7 && I.com.x == 8 && I.com.y == 9 && I.com.z == 10, "mass or centre");
  CHECK(I.xx == 1 && I.xy == 2 && I.xz == 3 && I.yy == 4 && I.yz == 5 && I.zz == 6, "moments");
  CHECK(mat3_distance(sn_inertia_tensor(I), T) == 0, "tensor");
  /* rounding leaves products unsymmetric: the mean is taken */
  const sn_mat3 skew = {{{1, 2, 3}, {4, 4, 5}, {5, 7, 6}}};
  const sn_inertia S = sn_inertia_make(7, (sn_vec3){0}, skew);
  CHECK(S.xy == 3 && S.xz == 4 && S.yz == 6, "%g %g %g", S.xy, S.xz, S.yz);
}

/* The body as a cloud of point masses: momenta are sums over the points.  Six points at the ends of
 * the principal axes carry mass/6 each. */
TEST(inertia_mul_is_the_momentum_of_points) {
  uint64_t seed = 1;
  for (int k = 0; k < 1000; k++) {
    const double mass = test_random(&seed, 0.1, 5);
    const sn_vec3 com = random_vec3(&seed, -2, 2), d = random_vec3(&seed, 0.1, 1);
    const sn_mat3 R = sn_so3_exp(random_vec3(&seed, -2, 2));
    const double value[3] = {mass / 3 * (d.y * d.y + d.z * d.z), mass / 3 * (d.z * d.z + d.x * d.x),
                             mass / 3 * (d.x * d.x + d.y * d.y)};
    const sn_inertia I = sn_inertia_make(mass, com, from_eigen(R, value));
    const sn_vec6 phi = random_vec6(&seed);
    sn_vec6 sum = {0};
    for (int i = 0; i < 6; i++) {
      const double reach = (i % 2 ? -1 : 1) * sn_vec3_get(d, i / 2);
      const sn_vec3 x = sn_vec3_addscaled(com, reach, sn_mat3_col(R, i / 2));
      const sn_vec3 p =
          sn_vec3_scale(sn_vec3_add(phi.v, sn_vec3_cross(phi.w, x)), mass / 6); /* momentum */
      sum = sn_vec6_add(sum, (sn_vec6){sn_vec3_cross(x, p), p});
    }
    const sn_vec6 got = sn_inertia_mul(I, phi);
    const double err = norm6(sn_vec6_sub(got, sum)) / (mass * 20);
    CHECK(err < tol(1e-14), "sample %d: %.2g", k, err);
  }
}

/* Momentum is a wrench: M' Ad phi = Ad^-T M phi. */
TEST(inertia_seen_from_another_frame) {
  uint64_t seed = 2;
  for (int k = 0; k < 1000; k++) {
    const sn_inertia I = random_inertia(&seed);
    const sn_se3 E = random_pose(&seed);
    const sn_vec6 phi = random_vec6(&seed), seen = sn_Ad_mul(E, phi);
    const sn_inertia moved = sn_inertia_transform(E, I);
    const sn_vec6 back = sn_AdT_mul(E, sn_inertia_mul(moved, seen));
    const double err = norm6(sn_vec6_sub(back, sn_inertia_mul(I, phi))) / I.mass;
    CHECK(err < tol(1e-12), "sample %d: %.2g", k, err); /* levers and speeds up to 10 */
    CHECK(moved.mass == I.mass, "sample %d: the mass changed", k);
    const sn_inertia same = sn_inertia_transform(sn_se3_inverse(E), moved);
    const double there_and_back =
        fmax(sn_vec3_norm(sn_vec3_sub(same.com, I.com)),
             mat3_distance(sn_inertia_tensor(same), sn_inertia_tensor(I)) / I.mass);
    CHECK(there_and_back < tol(1e-14), "sample %d: %.2g", k, there_and_back);
  }
}

TEST(inertias_add_up) {
  uint64_t seed = 3;
  for (int k = 0; k < 1000; k++) {
    sn_inertia a = random_inertia(&seed);
    const sn_inertia b = random_inertia(&seed);
    if (k % 3 == 0) { /* a speck of dust on a body */
      a.mass *= 1e-12;
    }
    const sn_vec6 phi = random_vec6(&seed);
    const sn_inertia both = sn_inertia_add(a, b), other = sn_inertia_add(b, a);
    const sn_vec6 want = sn_vec6_add(sn_inertia_mul(a, phi), sn_inertia_mul(b, phi));
    const double size = 100 * both.mass;
    CHECK(norm6(sn_vec6_sub(sn_inertia_mul(both, phi), want)) < tol(1e-15 * size), "sample %d", k);
    CHECK(norm6(sn_vec6_sub(sn_inertia_mul(other, phi), want)) < tol(1e-15 * size), "sample %d", k);
  }
}

TEST(inertias_without_mass) {
  uint64_t seed = 4;
  const sn_inertia nothing = {0}, a = random_inertia(&seed);
  const sn_inertia same[2] = {sn_inertia_add(a, nothing), sn_inertia_add(nothing, a)};
  for (int k = 0; k < 2; k++) {
    CHECK(same[k].mass == a.mass, "mass");
    CHECK(sn_vec3_norm(sn_vec3_sub(same[k].com, a.com)) == 0, "centre");
    CHECK(mat3_distance(sn_inertia_tensor(same[k]), sn_inertia_tensor(a)) == 0, "tensor");
  }
  const sn_inertia none = sn_inertia_add(nothing, nothing);
  CHECK(none.mass == 0 && none.xx == 0 && none.com.x == 0, "nothing and nothing");
  /* a flywheel of which only the spin counts */
  const sn_inertia wheel = {.xx = 1, .yy = 2, .zz = 2.5};
  const sn_inertia two = sn_inertia_add(wheel, wheel);
  CHECK(two.mass == 0 && two.xx == 2 && two.yy == 4 && two.zz == 5, "two wheels");
}

TEST(inertia_about_the_origin) {
  uint64_t seed = 5;
  for (int k = 0; k < 1000; k++) {
    const sn_inertia I = random_inertia(&seed);
    const sn_mat3 T = sn_inertia_tensor_at_origin(I);
    const sn_vec3 w = random_vec3(&seed, -1, 1);
    const sn_vec3 got = sn_mat3_mul_vec(T, w), want = sn_inertia_mul(I, (sn_vec6){.w = w}).w;
    const double err = sn_vec3_norm(sn_vec3_sub(got, want)) / (20 * I.mass);
    CHECK(err < tol(1e-15), "sample %d: %.2g", k, err);
  }
}

/* ---- Eigenvalues ----------------------------------------------------------------------------- */

/* A = V diag V^T, V a rotation, ascending; to a few roundings of the largest. */
static void check_eigen(sn_mat3 A, const char *what, int k) {
  double value[3], scale = DBL_MIN;
  sn_mat3 V;
  sn_sym3_eigen(A, value, &V);
  for (int i = 0; i < 9; i++) {
    scale = fmax(scale, fabs(A.m[i / 3][i % 3]));
  }
  CHECK(value[0] <= value[1] && value[1] <= value[2], "%s %d: not in order", what, k);
  const double err = mat3_distance(from_eigen(V, value), A) / scale;
  CHECK(err < tol(4e-15), "%s %d: off by %.2g", what, k, err);
  const double turned = mat3_distance(sn_mat3_tmul(V, V), sn_mat3_identity());
  CHECK(turned < tol(4e-15), "%s %d: not orthogonal by %.2g", what, k, turned);
  CHECK(sn_mat3_det(V) > 0, "%s %d: mirrored", what, k);
  double again[3];
  sn_sym3_eigen(A, again, NULL);
  CHECK(same_bits(value, again, sizeof value), "%s %d: differ without vectors", what, k);
}

TEST(eigenvalues_of_random_matrices) {
  uint64_t seed = 6;
  for (int k = 0; k < 3000; k++) {
    const sn_vec3 d = random_vec3(&seed, -1, 1), o = random_vec3(&seed, -1, 1);
    const double scale = pow(10, test_random(&seed, -150, 150));
    const sn_mat3 A = {{{d.x, o.x, o.y}, {o.x, d.y, o.z}, {o.y, o.z, d.z}}};
    check_eigen(sn_mat3_scale(A, scale), "random", k);
  }
}

/* Known values, among them double, triple, zero and far apart. */
TEST(eigenvalues_are_found) {
  uint64_t seed = 7;
  const double given[][3] = {{1, 2, 3},   {1, 1, 2},         {1, 2, 2},          {2, 2, 2},
                             {0, 0, 1},   {0, 0, 0},         {-1, 0, 1},         {1e-8, 1, 1e8},
                             {1, 1, 1e6}, {1, 1 + 1e-15, 2}, {-3, -2, 1 - 1e-12}};
  for (int k = 0; k < 1100; k++) {
    const double *want = given[k % 11];
    const sn_mat3 R = k < 11 ? sn_mat3_identity() : sn_so3_exp(random_vec3(&seed, -2, 2));
    sn_mat3 A = from_eigen(R, want);
    for (int i = 0; i < 9; i++) { /* exactly symmetric */
      A.m[i / 3][i % 3] = i / 3 > i % 3 ? A.m[i % 3][i / 3] : A.m[i / 3][i % 3];
    }
    check_eigen(A, "known", k);
    double value[3];
    sn_sym3_eigen(A, value, NULL);
    const double scale = fmax(fabs(want[0]), fabs(want[2])) + DBL_MIN;
    for (int i = 0; i < 3; i++) {
      const double err = fabs(value[i] - want[i]) / scale;
      CHECK(err < tol(4e-15), "sample %d, value %d: off by %.2g", k, i, err);
    }
  }
}

TEST(eigenvalues_of_special_matrices) {
  const sn_mat3 sample[] = {
      {{{3, 0, 0}, {0, 2, 0}, {0, 0, 1}}},           /* in the wrong order            */
      {{{1, 1e-300, 0}, {1e-300, 2, 0}, {0, 0, 3}}}, /* hardly off the diagonal       */
      {{{1, 1e-16, 1e-16}, {1e-16, 1, 1e-16}, {1e-16, 1e-16, 1}}},
      {{{0, 1, 0}, {1, 0, 0}, {0, 0, 0}}}, /* nothing on the diagonal       */
      {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
      {{{0, 5e-324, 0}, {5e-324, 0, 0}, {0, 0, 0}}}}; /* the smallest number           */
  for (size_t k = 0; k < sizeof sample / sizeof sample[0]; k++) {
    check_eigen(sample[k], "special", (int)k);
  }
  double value[3];
  const sn_mat3 bad = {{{1, NAN, 0}, {NAN, 1, 0}, {0, 0, INFINITY}}};
  sn_sym3_eigen(bad, value, NULL); /* comes back */
}

/* What a matrix lacks to be positive is what its eigenvectors say; where two eigenvalues meet at
 * zero, to the root of a rounding. */
static void check_missing(sn_mat3 A, double most, const char *what, int k) {
  double value[3];
  sn_mat3 V;
  sn_sym3_eigen(A, value, &V);
  const double size = fmax(fabs(value[0]), fabs(value[2])) + DBL_MIN;
  for (int i = 0; i < 3; i++) {
    value[i] = value[i] < 0 ? -value[i] : 0;
  }
  const sni_sym3 a = {A.m[0][0], A.m[1][1], A.m[2][2], A.m[0][1], A.m[0][2], A.m[1][2]};
  const sn_mat3 got = sni_sym3_mat3(sni_sym3_missing(a));
  const double err = mat3_distance(got, from_eigen(V, value)) / size;
  CHECK(err < most, "%s %d: off by %.2g", what, k, err);
}

TEST(what_is_missing_to_be_positive) {
  uint64_t seed = 8;
  const double given[][3] = {{-1, 2, 3}, {-2, -1, 3}, {-3, -2, -1}, {1, 2, 3},
                             {-1, 1, 1}, {-1, -1, 1}, {-1, -1, -1}, {-1e-9, 1, 1}};
  for (int k = 0; k < 4000; k++) {
    const sn_mat3 R = sn_so3_exp(random_vec3(&seed, -2, 2));
    check_missing(from_eigen(R, given[k % 8]), 1e-13, "known", k % 8);
    const double near[3] = {-1e-9 * test_random(&seed, 0, 1), 1e-9 * test_random(&seed, 0, 1), 1};
    check_missing(from_eigen(R, near), 1e-7, "near zero", k);
    const sn_vec3 d = random_vec3(&seed, -1, 1), o = random_vec3(&seed, -1, 1);
    const double scale = pow(10, test_random(&seed, -60, 60));
    const sn_mat3 A = {{{d.x, o.x, o.y}, {o.x, d.y, o.z}, {o.y, o.z, d.z}}};
    check_missing(sn_mat3_scale(A, scale), 1e-12, "random", k);
  }
  check_missing(sn_mat3_scale(sn_mat3_identity(), 0), 1e-300, "nothing", 0);
}

int main(void) {
  RUN_TESTS(T(inertia_keeps_what_it_is_made_of), T(inertia_mul_is_the_momentum_of_points),
            T(inertia_seen_from_another_frame), T(inertias_add_up), T(inertias_without_mass),
            T(inertia_about_the_origin), T(eigenvalues_of_random_matrices),
            T(eigenvalues_are_found), T(eigenvalues_of_special_matrices),
            T(what_is_missing_to_be_positive));
}
