/* Joints along curves and over surfaces: smooth across knots, closed, in the right directions. */
#include "joint_samples.h"

/* Q, S and dS/dq are continuous across knots, from the last double before to the first after; so is
 * the step from the last segment to the first of a closed curve, any number of times round.  The
 * third derivative, up to 100, jumps. */
TEST(spline_curves_are_smooth_across_knots) {
  for (unsigned n = 0; n < 200; n++) {
    uint64_t seed = n;
    storage m;
    sample s;
    random_def("spline_curve", &seed, &m);
    build_one(&m.def, &s);
    const double qd = 1;
    const int last = m.def.cyclic ? 3 * m.def.nframe : m.def.nframe - 3;
    for (int knot = m.def.cyclic ? -2 * m.def.nframe : 0; knot <= last; knot++) {
      const double q = knot, below = nextafter(q, -100);
      const kin a = calc(&s, 0, &below, &qd), b = calc(&s, 0, &q, &qd);
      const double err = kin_distance(&a, &b, 1);
      CHECK(err < tol(1e-13), "seed %u, knot %d: jumps by %.2g", n, knot, err);
    }
    drop(&s);
  }
}

TEST(closed_spline_curves_are_periodic) {
  for (unsigned n = 0; n < 200; n++) {
    uint64_t seed = n;
    storage m;
    sample s;
    random_def("spline_curve", &seed, &m);
    m.def.cyclic = true;
    build_one(&m.def, &s);
    const double qd = 1;
    for (int k = 0; k < 20; k++) {
      const double q = rint(test_random(&seed, -20, 20) * 1024) / 1024; /* turns are exact */
      const double turns[] = {-1, 1, -7, 1000, -1e6, 1e9};
      const kin a = calc(&s, 0, &q, &qd);
      for (int t = 0; t < SNI_COUNT(turns); t++) {
        const double q1 = q + turns[t] * m.def.nframe;
        const kin b = calc(&s, 0, &q1, &qd);
        CHECK(same_bits(&a, &b, sizeof a), "seed %u: %g and %g differ", n, q, q1);
      }
    }
    drop(&s);
  }
}

/* With frames that only move it is the plain B-spline: at knot k, (p_k + 4 p_k+1 + p_k+2) / 6. */
TEST(spline_curves_of_positions) {
  uint64_t seed = 9;
  for (int cyclic = 0; cyclic < 2; cyclic++) {
    storage m;
    random_def("spline_curve", &seed, &m);
    m.def.at = sn_se3_identity();
    m.def.cyclic = cyclic;
    m.def.nframe = 7;
    for (int i = 0; i < 7; i++) {
      m.frame[i].R = sn_mat3_identity();
    }
    sample s;
    build_one(&m.def, &s);
    for (int k = 0; k <= (cyclic ? 7 : 4); k++) {
      const double q = k, qd = 1;
      const sn_vec3 p0 = m.frame[k % 7].p, p1 = m.frame[(k + 1) % 7].p, p2 = m.frame[(k + 2) % 7].p;
      const kin got = calc(&s, 0, &q, &qd);
      const sn_se3 want = {sn_mat3_identity(),
                           sn_vec3_scale(sn_vec3_add(sn_vec3_addscaled(p0, 4, p1), p2), 1.0 / 6)};
      const double err = pose_distance(got.E, want);
      CHECK(err < tol(4e-15), "knot %d: off by %.2g", k, err); /* values of 1 */
    }
    drop(&s);
  }
}

/* Along both coordinates, the edges of the grid included: beyond them the last cubic goes on. */
TEST(spline_surfaces_are_smooth_across_knots) {
  for (unsigned n = 0; n < 200; n++) {
    uint64_t seed = n;
    storage m;
    sample s;
    random_def("spline_surface", &seed, &m);
    build_one(&m.def, &s);
    const double qd[2] = {test_random(&seed, -1, 1), test_random(&seed, -1, 1)};
    for (int i = 0; i < 2; i++) {
      for (int knot = 0; knot <= (i == 0 ? m.def.grid_rows : m.def.grid_columns) - 3; knot++) {
        double q[2] = {test_random(&seed, -0.5, m.def.grid_rows - 2.5),
                       test_random(&seed, -0.5, m.def.grid_columns - 2.5)};
        q[i] = knot;
        const kin b = calc(&s, 0, q, qd);
        q[i] = nextafter(q[i], -100);
        const kin a = calc(&s, 0, q, qd);
        const double err = kin_distance(&a, &b, 2);
        CHECK(err < tol(1e-13), "seed %u, q%d = %d: jumps by %.2g", n, i, knot, err);
      }
    }
    drop(&s);
  }
}

/* A grid whose values grow linearly with row and column gives them back: x = i + 1, y = j + 1 at
 * q = (0, 0), and one more for one step of q. */
TEST(spline_surfaces_run_with_rows_and_columns) {
  storage m;
  m.def = part("spline_surface", 0, 0, 0);
  m.def.grid = m.grid;
  m.def.grid_rows = 5;
  m.def.grid_columns = 6;
  memset(m.grid, 0, sizeof m.grid);
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 6; j++) {
      m.grid[(i * 6 + j) * 6] = i;
      m.grid[(i * 6 + j) * 6 + 1] = 10 * j;
    }
  }
  sample s;
  build_one(&m.def, &s);
  const double zero[2] = {0};
  for (int i = -4; i <= 12; i++) {
    for (int j = -4; j <= 16; j++) {
      const double a = 0.25 * i, b = 0.25 * j, q[2] = {a, b};
      const double err = pose_distance(calc(&s, 0, q, zero).E, sn_pose(a + 1, 10 * b + 10, 0));
      CHECK(err < tol(1e-13), "%g, %g: off by %.2g", a, b, err); /* values up to 60 */
    }
  }
  drop(&s);
}

TEST(spline_surfaces_warn_of_gimbal_lock) {
  for (int k = 0; k < 6; k++) {
    uint64_t seed = 10;
    storage m;
    sample s;
    random_def("spline_surface", &seed, &m);
    build_one(&m.def, &s);
    CHECK(s.b.warning[0] == 0, "small angles: %s", s.b.warning);
    drop(&s);
    m.grid[k] = -SN_PI / 4; /* still fine */
    build_one(&m.def, &s);
    CHECK(s.b.warning[0] == 0, "pi/4: %s", s.b.warning);
    drop(&s);
    m.grid[k] = -0.8;
    build_one(&m.def, &s);
    const char *const want =
        "grid: an angle of 0.8 rad is beyond pi/4: the Euler angles come near gimbal lock";
    CHECK(strcmp(s.b.warning, k < 3 ? "" : want) == 0, "value %d: %s", k, s.b.warning);
    drop(&s);
  }
}

int main(void) {
  RUN_TESTS(T(spline_curves_are_smooth_across_knots), T(closed_spline_curves_are_periodic),
            T(spline_curves_of_positions), T(spline_surfaces_are_smooth_across_knots),
            T(spline_surfaces_run_with_rows_and_columns), T(spline_surfaces_warn_of_gimbal_lock));
}
