/* test_adjoints.c: Ad and ad against their matrices, the laws of the group and differences. */
#include "poses.h"
#include "vectors.h"

typedef struct mat6 {
  double m[6][6];
} mat6;

static sn_vec6 unit6(int k) {
  return (sn_vec6){{k == 0, k == 1, k == 2}, {k == 3, k == 4, k == 5}};
}

/* The definitions, written out: Ad = [R 0; [p]R R], ad = [[w] 0; [v] [w]]. */
static mat6 blocks(sn_mat3 A, sn_mat3 B, sn_mat3 C) {
  mat6 M = {{{0}}};
  for (int i = 0; i < 9; i++) {
    M.m[i / 3][i % 3] = A.m[i / 3][i % 3];
    M.m[3 + i / 3][i % 3] = B.m[i / 3][i % 3];
    M.m[3 + i / 3][3 + i % 3] = C.m[i / 3][i % 3];
  }
  return M;
}

static mat6 Ad_matrix(sn_se3 E) {
  return blocks(E.R, sn_mat3_mul(sn_mat3_cross(E.p), E.R), E.R);
}

static mat6 ad_matrix(sn_vec6 a) {
  return blocks(sn_mat3_cross(a.w), sn_mat3_cross(a.v), sn_mat3_cross(a.w));
}

/* Largest difference between M x and y, or M^T x and y. */
static double product_error(mat6 M, bool transposed, sn_vec6 x, sn_vec6 y) {
  double most = 0;
  for (int i = 0; i < 6; i++) {
    double sum = 0;
    for (int j = 0; j < 6; j++) {
      sum += (transposed ? M.m[j][i] : M.m[i][j]) * sn_vec6_get(x, j);
    }
    most = fmax(most, fabs(sum - sn_vec6_get(y, i)));
  }
  return most;
}

static double distance(sn_vec6 a, sn_vec6 b) {
  const sn_vec6 d = sn_vec6_sub(a, b);
  return sqrt(sn_vec6_dot(d, d));
}

/* Numbers up to 50, a few roundings. */
TEST(adjoints_are_their_matrices) {
  uint64_t seed = 15;
  for (int k = 0; k < 1000; k++) {
    const sn_se3 E = random_pose(&seed);
    const sn_vec6 a = random_vec6(&seed, -2, 2), x = random_vec6(&seed, -2, 2);
    const double err[] = {product_error(Ad_matrix(E), false, x, sn_Ad_mul(E, x)),
                          product_error(Ad_matrix(sn_se3_inverse(E)), false, x, sn_Adinv_mul(E, x)),
                          product_error(Ad_matrix(E), true, x, sn_AdT_mul(E, x)),
                          product_error(ad_matrix(a), false, x, sn_ad_mul(a, x)),
                          product_error(ad_matrix(a), true, x, sn_adT_mul(a, x))};
    for (int i = 0; i < 5; i++) {
      CHECK(err[i] < tol(1e-14), "sample %d, product %d: %.2g", k, i, err[i]);
    }
  }
}

TEST(adjoints_obey_the_laws_of_the_group) {
  uint64_t seed = 16;
  for (int k = 0; k < 1000; k++) {
    const sn_se3 A = random_pose(&seed), B = random_pose(&seed);
    const sn_vec6 x = random_vec6(&seed, -2, 2), y = random_vec6(&seed, -2, 2);
    const sn_vec6 z = random_vec6(&seed, -2, 2);
    const double err[] = {
        /* Ad(A B) = Ad(A) Ad(B), Ad(A^-1) = Ad(A)^-1 */
        distance(sn_Ad_mul(sn_se3_mul(A, B), x), sn_Ad_mul(A, sn_Ad_mul(B, x))),
        distance(sn_Adinv_mul(A, sn_Ad_mul(A, x)), x),
        distance(sn_Ad_mul(sn_se3_inverse(A), x), sn_Adinv_mul(A, x)),
        /* power does not depend on the frame */
        fabs(sn_vec6_dot(sn_AdT_mul(A, y), x) - sn_vec6_dot(y, sn_Ad_mul(A, x))),
        fabs(sn_vec6_dot(sn_adT_mul(z, y), x) - sn_vec6_dot(y, sn_ad_mul(z, x))),
        /* ad(a) b = -ad(b) a, ad(Ad x) Ad = Ad ad(x), Jacobi's identity */
        distance(sn_ad_mul(x, y), sn_vec6_scale(sn_ad_mul(y, x), -1)),
        distance(sn_ad_mul(sn_Ad_mul(A, x), sn_Ad_mul(A, y)), sn_Ad_mul(A, sn_ad_mul(x, y))),
        distance(sn_ad_mul(sn_ad_mul(x, y), z),
                 sn_vec6_sub(sn_ad_mul(x, sn_ad_mul(y, z)), sn_ad_mul(y, sn_ad_mul(x, z)))),
        /* A A^-1 = I as poses, and on points */
        sn_vec3_norm(sn_se3_mul(A, sn_se3_inverse(A)).p),
        sn_vec3_norm(sn_vec3_sub(sn_se3_point(sn_se3_inverse(A), sn_se3_point(A, x.v)), x.v)),
        /* turning both parts is Ad without translation */
        distance(sn_vec6_rotate(A.R, x), sn_Ad_mul((sn_se3){.R = A.R}, x)),
        distance(sn_vec6_unrotate(A.R, sn_vec6_rotate(A.R, x)), x)};
    for (int i = 0; i < (int)(sizeof err / sizeof err[0]); i++) {
      CHECK(err[i] < tol(1e-12), "sample %d, law %d: %.2g", k, i, err[i]);
    }
  }
}

/* With E' = E [phi]: d/dt Ad(E) = Ad(E) ad(phi) and d/dt Ad(E^-1) = -ad(phi) Ad(E^-1).  Central
 * differences at h = 1e-3 with one Richardson step: 1e-12 of h^4, 1e-13 / h of numbers below 50. */
TEST(adjoints_have_their_derivatives) {
  uint64_t seed = 17;
  for (int k = 0; k < 200; k++) {
    const sn_se3 E = random_pose(&seed);
    const sn_vec6 phi = random_vec6(&seed, -1, 1);
    for (int c = 0; c < 6; c++) {
      sn_vec6 D[2][2];
      for (int level = 0; level < 2; level++) {
        const double h = level == 0 ? 1e-3 : 0.5e-3;
        const sn_se3 after = sn_se3_mul(E, sn_se3_exp(sn_vec6_scale(phi, h)));
        const sn_se3 before = sn_se3_mul(E, sn_se3_exp(sn_vec6_scale(phi, -h)));
        D[0][level] = sn_vec6_sub(sn_Ad_mul(after, unit6(c)), sn_Ad_mul(before, unit6(c)));
        D[1][level] = sn_vec6_sub(sn_Adinv_mul(after, unit6(c)), sn_Adinv_mul(before, unit6(c)));
        D[0][level] = sn_vec6_scale(D[0][level], 1 / (2 * h));
        D[1][level] = sn_vec6_scale(D[1][level], 1 / (2 * h));
      }
      const sn_vec6 want[2] = {sn_Ad_mul(E, sn_ad_mul(phi, unit6(c))),
                               sn_vec6_scale(sn_ad_mul(phi, sn_Adinv_mul(E, unit6(c))), -1)};
      for (int i = 0; i < 2; i++) {
        const sn_vec6 fd = sn_vec6_addscaled(sn_vec6_scale(D[i][1], 4.0 / 3), -1.0 / 3, D[i][0]);
        const double err = distance(fd, want[i]);
        CHECK(err < tol(1e-10), "sample %d, column %d, %s: %.2g", k, c, i ? "inverse" : "Ad", err);
      }
    }
  }
}
int main(void) {
  RUN_TESTS(T(adjoints_are_their_matrices), T(adjoints_obey_the_laws_of_the_group),
            T(adjoints_have_their_derivatives));
}
