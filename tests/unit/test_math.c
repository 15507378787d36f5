/* Rotations and poses against matrix exponentials in long double, and the laws of their groups. */
#include "poses.h"
#include "vectors.h"

#include <float.h>

/* The references need digits to spare: 64 bits and more where double has 53. */
_Static_assert(LDBL_MANT_DIG >= 64, "long double is no better than double");

#define PI_L 3.14159265358979323846264338327950288L

/* ---- Samples --------------------------------------------------------------------------------- */

/* Angles from 1e-12 to 2 pi, dense where the code changes its formula: at 0.5 (series), asin 0.1
 * and acos -0.9 (logarithm), and where something vanishes: at pi and 2 pi. */
#define ANGLES_MAX 10000

static int angles(double *th) {
  int n = 0;
  for (int k = 0; k <= 600; k++) {
    th[n++] = pow(10, -12 + 12.0 * k / 600);
  }
  for (int k = 1; k < 2000; k++) {
    th[n++] = 2 * SN_PI * k / 2000;
    th[n++] = 0.2 + 0.8 * k / 2000; /* where closed forms begin to cancel */
  }
  const double dense[] = {0.5, asin(0.1), acos(-0.9)};
  for (int i = 0; i < 3; i++) {
    for (int k = -500; k <= 500; k++) {
      th[n++] = dense[i] + 2e-6 * k;
    }
  }
  const double special[] = {0.5, SN_PI, 3.1415926, 1.5 * SN_PI, 2 * SN_PI};
  for (int i = 0; i < 5; i++) {
    double up = special[i], down = special[i];
    for (int k = 0; k < 20; k++) {
      th[n++] = up;
      th[n++] = down;
      up = nextafter(up, 10);
      down = nextafter(down, 0);
    }
    for (int k = 1; k <= 15; k++) {
      th[n++] = special[i] - pow(10, -k);
      th[n++] = special[i] < 6 ? special[i] + pow(10, -k) : special[i] - 3 * pow(10, -k);
    }
  }
  CHECK(n <= ANGLES_MAX, "%d angles", n);
  return n;
}

/* ---- Long double ----------------------------------------------------------------------------- */

typedef struct mat4l {
  long double m[4][4];
} mat4l;

static mat4l mul4(const mat4l *A, const mat4l *B) {
  mat4l C;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      C.m[i][j] = 0;
      for (int k = 0; k < 4; k++) {
        C.m[i][j] += A->m[i][k] * B->m[k][j];
      }
    }
  }
  return C;
}

typedef struct vec3l {
  long double x[3];
} vec3l;

/* a + s b */
static vec3l wide(sn_vec3 a, long double s, sn_vec3 b) {
  return (vec3l){{a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}};
}

/* exp of a twist, as a matrix exponential that knows nothing of rotations: the Taylor series of
 * X = [xi] / 2^m with |X| < 1/16, squared m times. */
static mat4l exp_reference(vec3l w, vec3l v) {
  long double f = 1;
  int halvings = 0;
  for (; (fabsl(w.x[0]) + fabsl(w.x[1]) + fabsl(w.x[2])) * f > 0.0625L; halvings++) {
    f /= 2;
  }
  for (int i = 0; i < 3; i++) {
    w.x[i] *= f;
    v.x[i] *= f;
  }
  const mat4l X = {{{0, -w.x[2], w.x[1], v.x[0]},
                    {w.x[2], 0, -w.x[0], v.x[1]},
                    {-w.x[1], w.x[0], 0, v.x[2]},
                    {0, 0, 0, 0}}};
  /* E - I is carried instead of E, so that tiny rotations keep their digits */
  mat4l D = X, term = X;
  for (int k = 2; k <= 13; k++) {
    term = mul4(&term, &X);
    for (int i = 0; i < 16; i++) {
      term.m[i / 4][i % 4] /= k;
      D.m[i / 4][i % 4] += term.m[i / 4][i % 4];
    }
  }
  for (int k = 0; k < halvings; k++) { /* (I + D)^2 = I + 2 D + D^2 */
    const mat4l DD = mul4(&D, &D);
    for (int i = 0; i < 16; i++) {
      D.m[i / 4][i % 4] = 2 * D.m[i / 4][i % 4] + DD.m[i / 4][i % 4];
    }
  }
  for (int i = 0; i < 4; i++) {
    D.m[i][i] += 1;
  }
  return D;
}

static mat4l exp_twist(sn_vec6 xi) {
  const sn_vec3 zero = {0};
  return exp_reference(wide(xi.w, 0, zero), wide(xi.v, 0, zero));
}

static sn_se3 round_pose(const mat4l *E) {
  sn_se3 out;
  for (int i = 0; i < 9; i++) {
    out.R.m[i / 3][i % 3] = (double)E->m[i / 3][i % 3];
  }
  out.p = (sn_vec3){(double)E->m[0][3], (double)E->m[1][3], (double)E->m[2][3]};
  return out;
}

static double rotation_error(sn_mat3 R, const mat4l *E) {
  long double most = 0;
  for (int i = 0; i < 9; i++) {
    most = fmaxl(most, fabsl(R.m[i / 3][i % 3] - E->m[i / 3][i % 3]));
  }
  return (double)most;
}

static double translation_error(sn_vec3 p, const mat4l *E) {
  return (double)fmaxl(fabsl(p.x - E->m[0][3]),
                       fmaxl(fabsl(p.y - E->m[1][3]), fabsl(p.z - E->m[2][3])));
}

typedef struct coefs {
  long double c[5]; /* s, a, b, da, db */
} coefs;

static const char *const coef_name[5] = {"s", "a", "b", "da", "db"};

/* Below 1 the whole series, above the definitions.  The root keeps its rest e, without which even
 * long double has few digits left at the zeros of s, a and da. */
static coefs coefs_reference(long double x) {
  if (x < 1) {
    coefs k = {{0}};
    long double power = 1, factorial = 1; /* (-x)^i, (2i + 1)! */
    long double before = 0;               /* (-x)^(i-1) */
    for (int i = 0; i < 20; i++) {
      const long double even = factorial * (2 * i + 2), odd = even * (2 * i + 3);
      k.c[0] += power / factorial;
      k.c[1] += power / even;
      k.c[2] += power / odd;
      k.c[3] += -2 * i * before / even;
      k.c[4] += -2 * i * before / odd;
      before = power;
      power *= -x;
      factorial = odd;
    }
    return k;
  }
  const long double th = sqrtl(x), e = fmal(-th, th, x) / (2 * th);
  const long double sine = sinl(th) + e * cosl(th);
  const long double half = sinl(th / 2) + e / 2 * cosl(th / 2);
  const long double s = sine / th, a = 2 * half * half / x, b = (1 - s) / x;
  return (coefs){{s, a, b, (s - 2 * a) / x, (a - 3 * b) / x}};
}

typedef struct mat3l {
  long double m[3][3];
} mat3l;

/* I + x [r] + y [r]^2 */
static mat3l series_reference(vec3l v, long double x, long double y) {
  const long double *r = v.x, r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  mat3l A;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      A.m[i][j] = y * r[i] * r[j] + (i == j ? 1 - y * r2 : 0);
    }
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    A.m[k][j] += x * r[i];
    A.m[j][k] -= x * r[i];
  }
  return A;
}

static long double square(vec3l r) {
  return r.x[0] * r.x[0] + r.x[1] * r.x[1] + r.x[2] * r.x[2];
}

static mat3l jacobian_reference(vec3l r) {
  const coefs k = coefs_reference(square(r));
  return series_reference(r, -k.c[1], k.c[2]);
}

static double mat3_error(sn_mat3 A, const mat3l *B) {
  long double most = 0;
  for (int i = 0; i < 9; i++) {
    const long double e = fabsl(A.m[i / 3][i % 3] - B->m[i / 3][i % 3]);
    most = e > most || isnan(e) ? e : most;
  }
  return (double)most;
}

/* ---- Coefficients ---------------------------------------------------------------------------- */

static void check_coefs(double th2) {
  const coefs reference = coefs_reference(th2);
  const sni_exp_coefs k = sni_exp_coefs_calc(th2);
  const double value[5] = {k.s, k.a, k.b, k.da, k.db};
  for (int i = 0; i < 5; i++) {
    const double err = (double)fabsl((value[i] - reference.c[i]) / reference.c[i]);
    CHECK(err < tol(1e-12), "%s at %.17g: relative error %.2g", coef_name[i], sqrt(th2), err);
  }
}

/* What so3.h promises.  The worst place is just above the switch at 0.5: db loses 7.5e-13 there. */
TEST(exp_coefs_are_accurate_everywhere) {
  double th[ANGLES_MAX];
  const int n = angles(th);
  for (int i = 0; i < n; i++) {
    check_coefs(th[i] * th[i]);
  }
  double above = 0.25, below = 0.25;
  for (int k = 0; k < 100; k++) {
    check_coefs(above);
    check_coefs(below);
    above = nextafter(above, 1);
    below = nextafter(below, 0);
  }
}

TEST(exp_coefs_at_zero) {
  const sni_exp_coefs k = sni_exp_coefs_calc(0);
  CHECK(k.s == 1 && k.a == 0.5 && k.b == 1.0 / 6 && k.da == -1.0 / 12 && k.db == -1.0 / 60,
        "%g %g %g %g %g", k.s, k.a, k.b, k.da, k.db);
}

TEST(exp_coefs_equal_the_vectors) {
  sni_doc *doc = vectors_open("exp_coefs.json");
  const sni_node *table = sni_node_get(sni_doc_root(doc), "table");
  CHECK(sni_node_count(table) == 12, "%zu rows", sni_node_count(table));
  for (size_t i = 0; i < sni_node_count(table); i++) {
    const sni_node *row = sni_node_at(table, i);
    const double th = vectors_number(row, "theta");
    const sni_exp_coefs k = sni_exp_coefs_calc(th * th);
    const double value[5] = {k.s, k.a, k.b, k.da, k.db};
    for (int c = 0; c < 5; c++) {
      const double err = fabs(value[c] / vectors_number(row, coef_name[c]) - 1);
      CHECK(err < tol(1e-12), "%s at %g: relative error %.2g", coef_name[c], th, err);
    }
  }
  sni_doc_free(&doc);
}

/* ---- Exponential ----------------------------------------------------------------------------- */

/* |r|^2 is rounded a few times, which at 2 pi turns by 1e-15. */
TEST(exp_is_the_matrix_exponential) {
  uint64_t seed = 1;
  double th[ANGLES_MAX];
  const int n = angles(th);
  for (int i = 0; i < n; i++) {
    const sn_vec3 r = sn_vec3_scale(random_direction(&seed), th[i]);
    const sn_vec6 xi = {r, random_vec3(&seed, -1, 1)};
    const mat4l reference = exp_twist(xi);
    const sn_se3 E = sn_se3_exp(xi);
    const double turned = rotation_error(E.R, &reference);
    const double moved = translation_error(E.p, &reference);
    CHECK(turned < tol(2e-15), "angle %.17g: rotation off by %.2g", th[i], turned);
    CHECK(moved < tol(2e-15), "angle %.17g: translation off by %.2g", th[i], moved);

    /* what is antisymmetric keeps all its digits however small it is */
    if (th[i] < 3) {
      const sn_mat3 R = sn_so3_exp(r);
      long double err = 0;
      for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        err = fmaxl(err, fabsl((R.m[b][a] - R.m[a][b]) - (reference.m[b][a] - reference.m[a][b])));
      }
      err /= 2 * sinl(th[i]);
      CHECK(err < tol(1e-12), "angle %.17g: relative error %.2Lg", th[i], err);
    }
  }
}

TEST(axis_angle_is_the_matrix_exponential) {
  const sn_vec3 zero = {0};
  uint64_t seed = 2;
  double th[ANGLES_MAX];
  const int n = angles(th);
  for (int i = 0; i < n; i++) {
    const sn_vec3 a = random_direction(&seed);
    const double angle = i % 2 ? -th[i] : th[i];
    const mat4l reference = exp_reference(wide(zero, angle, a), (vec3l){{0}});
    const double err = rotation_error(sn_mat3_axis_angle(a, angle), &reference);
    CHECK(err < tol(2e-15), "angle %.17g: off by %.2g", angle, err);
  }
}

/* ---- Logarithm ------------------------------------------------------------------------------- */

/* The rounded matrix is a rotation by an angle that differs by about 1e-16 (absolutely near pi,
 * relatively near 0); so does the result. */
TEST(log_inverts_the_matrix_exponential) {
  uint64_t seed = 3;
  double th[ANGLES_MAX];
  const int n = angles(th);
  for (int i = 0; i < n; i++) {
    if (th[i] > SN_PI) {
      continue;
    }
    const sn_vec6 xi = {sn_vec3_scale(random_direction(&seed), th[i]), random_vec3(&seed, -1, 1)};
    const mat4l exact = exp_twist(xi);
    sn_vec6 back = sn_se3_log(round_pose(&exact));
    if (SN_PI - th[i] < 1e-14 && sn_vec3_dot(back.w, xi.w) < 0) {
      continue; /* which way round is lost in the rounding: see log_at_pi */
    }
    const double turned = sn_vec3_norm(sn_vec3_sub(back.w, xi.w)) / th[i];
    const double moved = sn_vec3_norm(sn_vec3_sub(back.v, xi.v));
    CHECK(turned < tol(1e-12), "angle %.17g: relative error %.2g", th[i], turned);
    CHECK(moved < tol(1e-12), "angle %.17g: translation off by %.2g", th[i], moved);
  }
}

/* At pi both axes are right.  The largest component of the axis is any of the three, or two or
 * three of them are equal. */
TEST(log_at_pi) {
  uint64_t seed = 4;
  for (int k = 0; k < 1000; k++) {
    sn_vec3 a = random_direction(&seed);
    if (k < 26) { /* all directions of a cube's corners, edges and faces */
      const int c = k < 13 ? k : k + 1, layer = c / 9;
      a = sn_vec3_make(c % 3 - 1, c / 3 % 3 - 1, layer - 1);
      a = sn_vec3_scale(a, 1 / sn_vec3_norm(a));
    }
    sn_mat3 R = sn_mat3_scale(sn_mat3_cross2(a), 2); /* I + 2 [a]^2, exactly half a turn */
    for (int i = 0; i < 3; i++) {
      R.m[i][i] += 1;
    }
    const sn_vec3 r = sn_so3_log(R);
    const double err = fmin(sn_vec3_norm(sn_vec3_addscaled(r, -SN_PI, a)),
                            sn_vec3_norm(sn_vec3_addscaled(r, SN_PI, a)));
    CHECK(err < tol(4e-15), "axis %g %g %g: off by %.2g", a.x, a.y, a.z, err);
  }
}

TEST(log_of_the_identity_is_zero) {
  const sn_vec6 xi = sn_se3_log(sn_se3_identity());
  CHECK(sn_vec6_dot(xi, xi) == 0, "%g %g %g", xi.w.x, xi.w.y, xi.w.z);
}

/* Everything of order 1: a few roundings. */
TEST(exp_inverts_log) {
  uint64_t seed = 5;
  for (int k = 0; k < 20000; k++) {
    const sn_se3 E = random_pose(&seed), back = sn_se3_exp(sn_se3_log(E));
    double err = sn_vec3_norm(sn_vec3_sub(E.p, back.p));
    for (int i = 0; i < 9; i++) {
      err = fmax(err, fabs(E.R.m[i / 3][i % 3] - back.R.m[i / 3][i % 3]));
    }
    CHECK(err < tol(1e-14), "sample %d: %.2g", k, err);
  }
}

TEST(log_passes_on_nan) {
  for (int k = 0; k < 9; k++) {
    sn_mat3 R = sn_mat3_identity();
    R.m[k / 3][k % 3] = NAN;
    const sn_vec3 r = sn_so3_log(R);
    CHECK(isnan(r.x + r.y + r.z), "entry %d: %g %g %g", k, r.x, r.y, r.z);
  }
}

/* ---- Jacobian of the exponential ------------------------------------------------------------- */

/* [Jr e] = R^T dR/dr along e, by central differences of the matrix exponential.  h = 1e-3 and one
 * Richardson step leave h^4/480 = 2e-15 and the 1e-18 of the exponentials over h, 1e-15. */
TEST(jacobian_is_the_derivative_of_exp) {
  uint64_t seed = 6;
  double th[ANGLES_MAX];
  const int n = angles(th);
  for (int i = 0; i < n; i += 2) {
    const sn_vec3 r = sn_vec3_scale(random_direction(&seed), th[i]), e = random_direction(&seed);
    const mat4l R = exp_twist((sn_vec6){.w = r});
    mat4l Rt, D[2];
    for (int level = 0; level < 2; level++) {
      const long double h = level == 0 ? 1e-3L : 0.5e-3L;
      const mat4l after = exp_reference(wide(r, h, e), (vec3l){{0}});
      const mat4l before = exp_reference(wide(r, -h, e), (vec3l){{0}});
      for (int k = 0; k < 16; k++) {
        D[level].m[k / 4][k % 4] = (after.m[k / 4][k % 4] - before.m[k / 4][k % 4]) / (2 * h);
      }
    }
    for (int k = 0; k < 16; k++) {
      Rt.m[k / 4][k % 4] = R.m[k % 4][k / 4];
      D[0].m[k / 4][k % 4] = (4 * D[1].m[k / 4][k % 4] - D[0].m[k / 4][k % 4]) / 3;
    }
    const mat4l W = mul4(&Rt, &D[0]);
    const sn_vec3 want = {(double)(W.m[2][1] - W.m[1][2]) / 2, (double)(W.m[0][2] - W.m[2][0]) / 2,
                          (double)(W.m[1][0] - W.m[0][1]) / 2};
    const sn_vec3 got = sn_mat3_mul_vec(sn_so3_jacobian(r), e);
    const double err = sn_vec3_norm(sn_vec3_sub(got, want));
    CHECK(err < tol(1e-14), "angle %.17g: off by %.2g", th[i], err);
  }
}

/* The entries are of order 1, and a few roundings away from the same formula in long double. */
TEST(jacobian_is_accurate) {
  uint64_t seed = 7;
  double th[ANGLES_MAX];
  const int n = angles(th);
  for (int i = 0; i < n; i++) {
    const sn_vec3 r = sn_vec3_scale(random_direction(&seed), th[i]);
    const mat3l reference = jacobian_reference(wide(r, 0, r));
    const double err = mat3_error(sn_so3_jacobian(r), &reference);
    CHECK(err < tol(2e-15), "angle %.17g: off by %.2g", th[i], err);
  }
}

/* d/dt Jr(r + t rd), |rd| < 2, by central differences of the formula in long double: h = 1e-4
 * leaves 1e-16 and 1e-19/h = 1e-15. */
TEST(jacobian_dot_is_the_rate_of_the_jacobian) {
  uint64_t seed = 8;
  double th[ANGLES_MAX];
  const int n = angles(th);
  for (int i = 0; i < n; i++) {
    const sn_vec3 r = sn_vec3_scale(random_direction(&seed), th[i]);
    const sn_vec3 rd = random_vec3(&seed, -1, 1);
    mat3l D[2];
    for (int level = 0; level < 2; level++) {
      const long double h = level == 0 ? 1e-4L : 0.5e-4L;
      const mat3l after = jacobian_reference(wide(r, h, rd));
      const mat3l before = jacobian_reference(wide(r, -h, rd));
      for (int k = 0; k < 9; k++) {
        D[level].m[k / 3][k % 3] = (after.m[k / 3][k % 3] - before.m[k / 3][k % 3]) / (2 * h);
      }
    }
    for (int k = 0; k < 9; k++) {
      D[0].m[k / 3][k % 3] = (4 * D[1].m[k / 3][k % 3] - D[0].m[k / 3][k % 3]) / 3;
    }
    const double err = mat3_error(sn_so3_jacobian_dot(r, rd), &D[0]);
    CHECK(err < tol(1e-14), "angle %.17g: off by %.2g", th[i], err);
  }
}

/* The supplement has zero here. */
TEST(jacobian_dot_at_zero_is_half_the_rate) {
  uint64_t seed = 9;
  for (int k = 0; k < 100; k++) {
    const sn_vec3 rd = random_vec3(&seed, -2, 2);
    const sn_mat3 A = sn_so3_jacobian_dot((sn_vec3){0}, rd);
    const sn_mat3 B = sn_mat3_scale(sn_mat3_cross(rd), -0.5);
    for (int i = 0; i < 9; i++) {
      CHECK(A.m[i / 3][i % 3] == B.m[i / 3][i % 3], "entry %d: %g, not %g", i, A.m[i / 3][i % 3],
            B.m[i / 3][i % 3]);
    }
  }
}

TEST(motion_gives_the_same_as_its_parts) {
  uint64_t seed = 10;
  for (int k = 0; k < 2000; k++) {
    const sn_vec3 r = random_vec3(&seed, -3, 3), rd = random_vec3(&seed, -2, 2);
    sn_mat3 R, Jr, Jrdot;
    sn_so3_motion(r, rd, &R, &Jr, &Jrdot);
    const sn_mat3 R1 = sn_so3_exp(r), Jr1 = sn_so3_jacobian(r), Jrdot1 = sn_so3_jacobian_dot(r, rd);
    /* the same formulas, which the compiler may contract differently: entries are below 10 */
    for (int i = 0; i < 9; i++) {
      const int a = i / 3, b = i % 3;
      CHECK(fabs(R.m[a][b] - R1.m[a][b]) < tol(1e-14) &&
                fabs(Jr.m[a][b] - Jr1.m[a][b]) < tol(1e-14) &&
                fabs(Jrdot.m[a][b] - Jrdot1.m[a][b]) < tol(1e-14),
            "sample %d, entry %d", k, i);
    }
  }
}

/* Jr^-1 = I + [r]/2 + c [r]^2 has a pole at 2 pi, where the roundings of |r|^2 (three, 1e-15 in the
 * angle) are divided by the distance to it: 1e-12 relative down to 2 pi - 1e-3, and as much more as
 * that nearer.  The long double c is the quotient 1/th^2 - (1 + cos)/(2 th sin), or its series. */
TEST(jacobian_inverse_is_accurate) {
  uint64_t seed = 11;
  double th[ANGLES_MAX];
  const int n = angles(th);
  for (int i = 0; i < n; i++) {
    const sn_vec3 r = sn_vec3_scale(random_direction(&seed), th[i]);
    const vec3l rl = wide(r, 0, r);
    const coefs k = coefs_reference(square(rl));
    const long double gap = 2 * PI_L - sqrtl(square(rl));
    if (gap < 1e-14L) {
      continue; /* not defined */
    }
    /* (1 - s/(2a)) / th^2; where that cancels, 12 terms of the series by Bernoulli numbers */
    const long double x = square(rl);
    long double c = (1 - k.c[0] / (2 * k.c[1])) / x;
    if (x < 1) {
      static const long double B[] = {1.0L / 6,        1.0L / 30,       1.0L / 42,
                                      1.0L / 30,       5.0L / 66,       691.0L / 2730,
                                      7.0L / 6,        3617.0L / 510,   43867.0L / 798,
                                      174611.0L / 330, 854513.0L / 138, 236364091.0L / 2730};
      long double power = 1, factorial = 2;
      c = 0;
      for (int j = 1; j <= 12; j++) { /* |B_2j| x^(j-1) / (2j)! */
        c += B[j - 1] * power / factorial;
        power *= x;
        factorial *= (2 * j + 1) * (2 * j + 2);
      }
    }
    const mat3l reference = series_reference(rl, 0.5L, c);
    const double size = (double)fmaxl(1, c * x);
    const double err = mat3_error(sn_so3_jacobian_inverse(r), &reference) / size;
    const double most = 1e-12 * fmax(1, 1e-3 / (double)gap);
    CHECK(err < tol(most), "angle %.17g: relative error %.2g", th[i], err);
  }
}

/* The condition of Jr grows towards 2 pi as 1/gap: 20 at 6 rad. */
TEST(jacobian_inverse_inverts) {
  uint64_t seed = 12;
  double th[ANGLES_MAX];
  const int n = angles(th);
  for (int i = 0; i < n; i++) {
    if (th[i] < 6) {
      const sn_vec3 r = sn_vec3_scale(random_direction(&seed), th[i]);
      const sn_mat3 I = sn_mat3_mul(sn_so3_jacobian_inverse(r), sn_so3_jacobian(r));
      for (int k = 0; k < 9; k++) {
        const double err = fabs(I.m[k / 3][k % 3] - (k % 4 == 0));
        CHECK(err < tol(1e-14), "angle %.17g: off by %.2g", th[i], err);
      }
    }
  }
}

/* ---- Reparameterisation ---------------------------------------------------------------------- */

/* Rotation and angular velocity stay.  Rounding r turns by eps |r|; 1e-14 up to two turns. */
TEST(reparam_keeps_rotation_and_angular_velocity) {
  uint64_t seed = 13;
  for (int k = 0; k < 20000; k++) {
    const double length =
        k < 10000 ? test_random(&seed, 0, 4 * SN_PI) : pow(10, test_random(&seed, -1, 3));
    const sn_vec3 r = sn_vec3_scale(random_direction(&seed), length);
    const sn_vec3 rd = random_vec3(&seed, -1, 1);
    sn_vec3 r1 = r, rd1 = rd;
    const bool changed = sn_so3_reparam(&r1, &rd1);
    const double n = sn_vec3_norm(r), n1 = sn_vec3_norm(r1);
    CHECK(changed == (n > 1.5 * SN_PI), "%.17g: changed %d", n, changed);
    if (!changed) {
      CHECK(same_bits(&r, &r1, sizeof r) && same_bits(&rd, &rd1, sizeof rd), "%g", n);
      continue;
    }
    CHECK(n1 <= SN_PI * (1 + 4 * DBL_EPSILON), "%.17g became %.17g", n, n1);
    const double most = 1e-14 * fmax(1, n / (4 * SN_PI));
    const sn_vec3 w = sn_mat3_mul_vec(sn_so3_jacobian(r), rd);
    const sn_vec3 w1 = sn_mat3_mul_vec(sn_so3_jacobian(r1), rd1);
    const double spin = sn_vec3_norm(sn_vec3_sub(w, w1));
    CHECK(spin < tol(most), "%.17g: angular velocity changed by %.2g", n, spin);
    const sn_mat3 R = sn_so3_exp(r), R1 = sn_so3_exp(r1);
    for (int i = 0; i < 9; i++) {
      const double err = fabs(R.m[i / 3][i % 3] - R1.m[i / 3][i % 3]);
      CHECK(err < tol(most), "%.17g: rotation changed by %.2g", n, err);
    }
    sn_vec3 r2 = r1, rd2 = rd1;
    CHECK(!sn_so3_reparam(&r2, &rd2), "%.17g: changed twice", n);
  }
}

TEST(reparam_equals_the_vectors) {
  sni_doc *doc = vectors_open("joints.json");
  const sni_node *list = sni_node_get(sni_doc_root(doc), "spherical_reparam");
  CHECK(sni_node_count(list) == 3, "%zu samples", sni_node_count(list));
  for (size_t i = 0; i < 3; i++) {
    const sni_node *s = sni_node_at(list, i);
    sn_vec3 r = vectors_vec3(s, "q"), rd = vectors_vec3(s, "qdot");
    const bool changed = sn_so3_reparam(&r, &rd);
    CHECK(changed == (strcmp(vectors_text(s, "flag"), "true") == 0), "sample %zu", i);
    const double err = fmax(sn_vec3_norm(sn_vec3_sub(r, vectors_vec3(s, "q_new"))),
                            sn_vec3_norm(sn_vec3_sub(rd, vectors_vec3(s, "qdot_new"))));
    CHECK(err < tol(1e-12), "sample %zu: off by %.2g", i, err);
  }
  sni_doc_free(&doc);
}

TEST(reparam_leaves_what_is_not_finite) {
  const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
  for (int k = 0; k < 12; k++) {
    sn_vec3 r = {1, 2, 3}, rd = {1, 1, 1};
    *(k % 3 == 0 ? &r.x : k % 3 == 1 ? &r.y : &r.z) = bad[k / 3];
    const sn_vec3 before = r;
    CHECK(!sn_so3_reparam(&r, &rd), "%g", bad[k / 3]);
    CHECK(same_bits(&r, &before, sizeof r), "%g", bad[k / 3]);
  }
}

/* ---- Quaternions ----------------------------------------------------------------------------- */

/* Half turns about x, y, z and the identity lead into the four branches; all around them too. */
TEST(quaternions_and_matrices) {
  uint64_t seed = 14;
  int branch[4] = {0};
  for (int k = 0; k < 20000; k++) {
    const sn_vec3 r = k < 4
                          ? sn_vec3_make(k == 1 ? SN_PI : 0, k == 2 ? SN_PI : 0, k == 3 ? SN_PI : 0)
                          : sn_vec3_scale(random_direction(&seed), test_random(&seed, 0, SN_PI));
    const double th = sn_vec3_norm(r), f = th > 0 ? sin(th / 2) / th : 0.5;
    const sn_quat want = {cos(th / 2), f * r.x, f * r.y, f * r.z};
    const sn_mat3 R = sn_so3_exp(r);
    const sn_quat q = sn_quat_from_mat3(R);
    const double part[4] = {fabs(q.w), fabs(q.x), fabs(q.y), fabs(q.z)};
    int largest = 0;
    for (int i = 1; i < 4; i++) {
      largest = part[i] > part[largest] ? i : largest;
    }
    branch[largest]++;
    CHECK(q.w >= 0, "sample %d: w = %g", k, q.w);
    /* q and -q are the same rotation; w >= 0 does not decide at half a turn */
    const double same = q.w * want.w + q.x * want.x + q.y * want.y + q.z * want.z < 0 ? -1 : 1;
    const double err = fmax(fmax(fabs(q.w - same * want.w), fabs(q.x - same * want.x)),
                            fmax(fabs(q.y - same * want.y), fabs(q.z - same * want.z)));
    CHECK(err < tol(2e-15), "sample %d: off by %.2g", k, err);
    /* any length means the same */
    const double scale = k < 4 ? 1 : (k % 2 ? -1 : 1) * pow(10, test_random(&seed, -300, 300));
    const sn_mat3 back =
        sn_mat3_from_quat((sn_quat){scale * q.w, scale * q.x, scale * q.y, scale * q.z});
    for (int i = 0; i < 9; i++) {
      const double off = fabs(R.m[i / 3][i % 3] - back.m[i / 3][i % 3]);
      CHECK(off < tol(2e-15), "sample %d, scale %g: off by %.2g", k, scale, off);
    }
  }
  for (int i = 0; i < 4; i++) {
    CHECK(branch[i] > 100, "branch %d was taken %d times", i, branch[i]);
  }
}
int main(void) {
  RUN_TESTS(T(exp_coefs_are_accurate_everywhere), T(exp_coefs_at_zero),
            T(exp_coefs_equal_the_vectors), T(exp_is_the_matrix_exponential),
            T(axis_angle_is_the_matrix_exponential), T(log_inverts_the_matrix_exponential),
            T(log_at_pi), T(log_of_the_identity_is_zero), T(exp_inverts_log), T(log_passes_on_nan),
            T(jacobian_is_the_derivative_of_exp), T(jacobian_is_accurate),
            T(jacobian_dot_is_the_rate_of_the_jacobian), T(jacobian_dot_at_zero_is_half_the_rate),
            T(motion_gives_the_same_as_its_parts), T(jacobian_inverse_is_accurate),
            T(jacobian_inverse_inverts), T(reparam_keeps_rotation_and_angular_velocity),
            T(reparam_equals_the_vectors), T(reparam_leaves_what_is_not_finite),
            T(quaternions_and_matrices));
}
