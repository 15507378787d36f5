/* Where two axes of tubes are nearest, against closed forms, finite differences and a fine net. */
#include "contact/axis.h"

#include "test.h"

enum { BEADS = 24 };

typedef struct tube {
  sni_bead bead[BEADS];
  sni_stretch all;
} tube;

static sn_vec3 random_vec3(uint64_t *seed, double size) {
  const double x = test_random(seed, -size, size), y = test_random(seed, -size, size);
  return (sn_vec3){x, y, test_random(seed, -size, size)};
}

static sn_vec3 unit(sn_vec3 a) {
  return sn_vec3_scale(a, 1 / sn_vec3_norm(a));
}

static void set_stretch(tube *t) {
  t->all = (sni_stretch){t->bead, BEADS, 0, BEADS - 1};
}

/* Beads from `from` on, one every `step`; radii from r0 to r1. */
static void straight(tube *t, sn_vec3 from, sn_vec3 step, double r0, double r1) {
  for (int k = 0; k < BEADS; k++) {
    t->bead[k] = (sni_bead){sn_vec3_addscaled(from, k, step), r0 + (r1 - r0) * k / (BEADS - 1)};
  }
  set_stretch(t);
}

/* A walk that turns a little at every bead. */
static void winding(tube *t, uint64_t *seed) {
  sn_vec3 x = random_vec3(seed, 0.5), along = unit(random_vec3(seed, 1));
  for (int k = 0; k < BEADS; k++) {
    t->bead[k] = (sni_bead){x, test_random(seed, 0.02, 0.05)};
    x = sn_vec3_addscaled(x, 0.2, along);
    along = unit(sn_vec3_add(along, random_vec3(seed, 0.4)));
  }
  set_stretch(t);
}

static bool is_finite(const sni_axes_nearest *x) {
  bool good = isfinite(x->u[0]) && isfinite(x->u[1]) && isfinite(x->at.gap) &&
              isfinite(x->at.g[0]) && isfinite(x->at.g[1]);
  return good && sn_vec3_finite(x->at.n) && fabs(sn_vec3_norm(x->at.n) - 1) < 1e-12;
}

/* Beads in a row at equal distances are their own spline, whose parameter is the length. */
TEST(straight_beads_make_a_straight_axis) {
  tube t;
  straight(&t, (sn_vec3){1, 2, 3}, (sn_vec3){0.1, -0.2, 0.3}, 0.1, 0.56);
  for (int k = 0; k <= 230; k++) {
    const double u = 0.1 * k;
    const sni_axis_point p = sni_axis_at(t.bead, BEADS, u);
    const sn_vec3 x = {1 + 0.1 * u, 2 - 0.2 * u, 3 + 0.3 * u};
    CHECK(sn_vec3_norm(sn_vec3_sub(p.c[0], x)) < 1e-14 * 10, "u = %g", u);
    CHECK(fabs(p.r[0] - (0.1 + 0.02 * u)) < 1e-15 * 10, "u = %g: radius %g", u, p.r[0]);
    CHECK(sn_vec3_norm(p.c[2]) < 1e-14, "u = %g: it bends", u);
  }
}

/* Its ends are its first and last bead, and there it is straight. */
TEST(axis_ends_in_beads) {
  for (uint64_t seed = 1; seed < 100; seed++) {
    uint64_t s = seed;
    tube t;
    winding(&t, &s);
    for (int end = 0; end < 2; end++) {
      const sni_bead b = t.bead[end * (BEADS - 1)];
      const sni_axis_point p = sni_axis_at(t.bead, BEADS, end * (BEADS - 1));
      CHECK(sn_vec3_norm(sn_vec3_sub(p.c[0], b.x)) < 1e-14, "seed %d", (int)seed);
      CHECK(fabs(p.r[0] - b.r) < 1e-15, "seed %d: radius %g", (int)seed, p.r[0]);
      CHECK(sn_vec3_norm(p.c[2]) < 1e-14, "seed %d: it bends", (int)seed);
    }
  }
}

/* c', c'' and r', r'' are derivatives.  Central differences over 1e-5: 1e-10 from their own error
 * and rounding, two digits in hand. */
TEST(derivatives_of_the_axis) {
  for (uint64_t seed = 1; seed < 200; seed++) {
    uint64_t s = seed;
    tube t;
    winding(&t, &s);
    const double u = test_random(&s, 0.1, BEADS - 1.1), h = 1e-5;
    const sni_axis_point p = sni_axis_at(t.bead, BEADS, u);
    const sni_axis_point lo = sni_axis_at(t.bead, BEADS, u - h);
    const sni_axis_point hi = sni_axis_at(t.bead, BEADS, u + h);
    for (int k = 0; k < 2; k++) {
      const sn_vec3 d = sn_vec3_scale(sn_vec3_sub(hi.c[k], lo.c[k]), 0.5 / h);
      /* c'' has kinks at the beads */
      const double tight = k == 0 ? 1e-8 : 1e-4;
      CHECK(sn_vec3_norm(sn_vec3_sub(d, p.c[k + 1])) < tight, "seed %d, order %d", (int)seed, k);
      CHECK(fabs((hi.r[k] - lo.r[k]) / (2 * h) - p.r[k + 1]) < tight, "seed %d, radius, order %d",
            (int)seed, k);
    }
  }
}

/* The two conditions are the slopes of the gap, and Newton's matrix is that of their slopes. */
TEST(derivatives_of_the_gap) {
  for (uint64_t seed = 1; seed < 500; seed++) {
    uint64_t s = seed;
    tube a, b;
    winding(&a, &s);
    winding(&b, &s);
    const double u[2] = {test_random(&s, 0.1, BEADS - 1.1), test_random(&s, 0.1, BEADS - 1.1)};
    const sni_axes_gap at = sni_axes_gap_at(&a.all, &b.all, u[0], u[1]);
    const double h = 1e-6;
    for (int k = 0; k < 2; k++) {
      const double du = k == 0 ? h : 0, dv = k == 1 ? h : 0;
      const sni_axes_gap hi = sni_axes_gap_at(&a.all, &b.all, u[0] + du, u[1] + dv);
      const sni_axes_gap lo = sni_axes_gap_at(&a.all, &b.all, u[0] - du, u[1] - dv);
      const double g = (hi.gap - lo.gap) / (2 * h);
      CHECK(fabs(g - at.g[k]) < 1e-8, "seed %d, slope %d: %g, difference %g", (int)seed, k, at.g[k],
            g);
      for (int i = 0; i < 2; i++) {
        const double H = at.distance * (hi.g[i] - lo.g[i]) / (2 * h);
        CHECK(fabs(H - at.H[i][k]) < 1e-6, "seed %d, H[%d][%d]: %g, difference %g", (int)seed, i, k,
              at.H[i][k], H);
      }
    }
  }
}

/* Two lines that pass each other are | (b - a) . (s x t) | / | s x t | apart. */
TEST(skew_straight_tubes) {
  int inside = 0;
  for (uint64_t seed = 1; seed < 2000; seed++) {
    uint64_t s = seed;
    const sn_vec3 d = unit(random_vec3(&s, 1)), e = unit(random_vec3(&s, 1));
    const sn_vec3 x = random_vec3(&s, 1), normal = sn_vec3_cross(d, e);
    const sn_vec3 y = sn_vec3_addscaled(x, test_random(&s, -1, 1), normal);
    const double L = 0.25, ra = test_random(&s, 0, 0.2), rb = test_random(&s, 0, 0.2);
    const double ua = test_random(&s, 1, BEADS - 2), ub = test_random(&s, 1, BEADS - 2);
    tube a, b;
    straight(&a, sn_vec3_addscaled(x, -L * ua, d), sn_vec3_scale(d, L), ra, ra);
    straight(&b, sn_vec3_addscaled(y, -L * ub, e), sn_vec3_scale(e, L), rb, rb);
    const double size = sn_vec3_norm(normal);
    const double gap = fabs(sn_vec3_dot(sn_vec3_sub(x, y), normal)) / size - ra - rb;
    const sni_axes_nearest near = sni_axes_nearest_find(
        &a.all, &b.all, test_random(&s, 0, BEADS - 1), test_random(&s, 0, BEADS - 1));
    CHECK(is_finite(&near), "seed %d", (int)seed);
    CHECK(!near.held[0] && !near.held[1], "seed %d: at an end", (int)seed);
    CHECK(fabs(near.at.gap - gap) < 1e-12, "seed %d: %.15g, should be %.15g", (int)seed,
          near.at.gap, gap);
    if (size > 0.05) { /* where it is depends on the angle between them */
      inside++;
      CHECK(fabs(near.u[0] - ua) < 1e-7 && fabs(near.u[1] - ub) < 1e-7, "seed %d: at %g, %g",
            (int)seed, near.u[0] - ua, near.u[1] - ub);
    }
  }
  CHECK(inside > 1500, "%d", inside);
}

/* A bent tube is a circle but for the fourth power of the bead's distance: the gap to a line in its
 * plane is the distance of that from the centre, less the radius. */
static double circle_error(double apart) {
  sni_bead a[200], b[2];
  const double R = 1, start = 0.3, line = 1.4, towards = 1.234;
  const double swell = 3 / (2 + cos(apart)); /* beads are outside of their spline */
  const int n = (int)(2.0 / apart) + 2;
  for (int k = 0; k < n; k++) {
    const double angle = start + k * apart;
    a[k] = (sni_bead){{R * swell * cos(angle), R * swell * sin(angle), 0}, 0.05};
  }
  const sn_vec3 out = {cos(towards), sin(towards), 0}, along = {-sin(towards), cos(towards), 0};
  for (int k = 0; k < 2; k++) {
    b[k] = (sni_bead){sn_vec3_addscaled(sn_vec3_scale(out, line), 2.0 * k - 0.77, along), 0.1};
  }
  const sni_stretch circle = {a, n, 0, n - 1}, bar = {b, 2, 0, 1};
  const sni_axes_nearest near = sni_axes_nearest_find(&circle, &bar, 0.4 * n, 0.1);
  CHECK(is_finite(&near) && !near.held[0] && !near.held[1], "apart %g", apart);
  CHECK(fabs(sn_vec3_dot(near.at.n, out) + 1) < 1e-6, "apart %g: n", apart);
  return fabs(near.at.gap - (line - R - 0.15));
}

TEST(circle_and_line) {
  const double coarse = circle_error(0.2), fine = circle_error(0.02);
  CHECK(coarse < 1e-4, "%g", coarse);
  CHECK(fine < 1e-8 && fine < coarse / 1000, "%g, with beads ten times as near %g", coarse, fine);
}

/* A ball at the end of a line in front of a cone, r = r0 + k u: it is nearest where the slope of
 * the line to it is k, and D sqrt(1 - k^2) - r0 away. */
TEST(thicker_towards_one_end) {
  tube cone, line;
  const double D = 1.3, r0 = 0.2, k = 0.01, rho = 0.1;
  straight(&cone, (sn_vec3){-5, 0, 0}, (sn_vec3){1, 0, 0}, r0 - 5 * k, r0 + (BEADS - 6) * k);
  straight(&line, (sn_vec3){0, 0, D}, (sn_vec3){-0.1, 0, 0.5}, rho, rho);
  const sni_axes_nearest near = sni_axes_nearest_find(&cone.all, &line.all, 1, 1);
  CHECK(near.held[1] && !near.held[0], "the line's end");
  CHECK(fabs(near.at.gap - (D * sqrt(1 - k * k) - r0 - rho)) < 1e-14, "gap %g", near.at.gap);
  CHECK(fabs(near.u[0] - 5 - k * D / sqrt(1 - k * k)) < 1e-9, "at %g", near.u[0]);
}

/* Slopes are as exact as n, which is that of a difference.  At ends of stretches: what is nearest
 * of straight stretches is the only minimum there, and is told by the slopes. */
TEST(ends_hold) {
  int held = 0;
  for (uint64_t seed = 1; seed < 2000; seed++) {
    uint64_t s = seed;
    tube a, b;
    straight(&a, random_vec3(&s, 1), sn_vec3_scale(unit(random_vec3(&s, 1)), 0.05), 0.01, 0.01);
    straight(&b, random_vec3(&s, 1), sn_vec3_scale(unit(random_vec3(&s, 1)), 0.05), 0.01, 0.01);
    a.all.lo = 3.25;
    b.all.hi = 20.5;
    const sni_axes_nearest near = sni_axes_nearest_find(
        &a.all, &b.all, test_random(&s, 0, BEADS - 1), test_random(&s, 0, BEADS - 1));
    CHECK(is_finite(&near), "seed %d", (int)seed);
    const sni_stretch *stretch[2] = {&a.all, &b.all};
    for (int k = 0; k < 2; k++) {
      const double u = near.u[k], g = near.at.g[k];
      CHECK(u >= stretch[k]->lo && u <= stretch[k]->hi, "seed %d: %g is outside", (int)seed, u);
      const bool right = near.held[k]
                             ? (u == stretch[k]->lo && g > 0) || (u == stretch[k]->hi && g < 0)
                             : fabs(g) < 1e-12 + near.at.blur;
      CHECK(right, "seed %d: side %d at %g has slope %g", (int)seed, k, u, g);
      held += near.held[k];
    }
  }
  CHECK(held > 500, "%d", held);
}

/* Near a minimum few steps are enough, and around it nothing is nearer. */
TEST(newton_is_quick_and_right) {
  int most = 0;
  for (uint64_t seed = 1; seed < 500; seed++) {
    uint64_t s = seed;
    tube a, b;
    winding(&a, &s);
    winding(&b, &s);
    double best = INFINITY, u[2] = {0, 0};
    for (int i = 0; i < 2 * BEADS - 1; i++) { /* the net that a search would start from */
      for (int j = 0; j < 2 * BEADS - 1; j++) {
        const double gap = sni_axes_gap_at(&a.all, &b.all, 0.5 * i, 0.5 * j).gap;
        u[0] = gap < best ? 0.5 * i : u[0];
        u[1] = gap < best ? 0.5 * j : u[1];
        best = fmin(best, gap);
      }
    }
    const sni_axes_nearest near = sni_axes_nearest_find(&a.all, &b.all, u[0], u[1]);
    CHECK(is_finite(&near) && near.at.gap <= best, "seed %d: %g from %g", (int)seed, near.at.gap,
          best);
    most = near.iterations > most ? near.iterations : most;
    for (int k = 0; k < 400; k++) {
      const double du = 0.05 * (k % 20 - 9.5), dv = 0.05 * (k / 20 - 9.5); /* NOLINT */
      const double v[2] = {fmin(fmax(near.u[0] + du, 0), BEADS - 1),
                           fmin(fmax(near.u[1] + dv, 0), BEADS - 1)};
      const double gap = sni_axes_gap_at(&a.all, &b.all, v[0], v[1]).gap;
      CHECK(gap > near.at.gap - 1e-12, "seed %d: %g at %g, %g; found %g at %g, %g", (int)seed, gap,
            v[0], v[1], near.at.gap, near.u[0], near.u[1]);
    }
  }
  CHECK(most <= 12, "%d steps", most);
}

/* Whatever they are, there is an answer. */
TEST(degenerate_axes) {
  tube a, b;
  uint64_t s = 7;
  straight(&a, (sn_vec3){0, 0, 0}, (sn_vec3){0.1, 0, 0}, 0.1, 0.1);
  straight(&b, (sn_vec3){0.3, 0.5, 0}, (sn_vec3){0.1, 0, 0}, 0.1, 0.1);
  for (int k = 0; k < 20; k++) {
    const double u = test_random(&s, 0, 23), v = test_random(&s, 0, 23);
    const sni_axes_nearest beside = sni_axes_nearest_find(&a.all, &b.all, u, v);
    CHECK(is_finite(&beside) && fabs(beside.at.gap - 0.3) < 1e-9, "parallel: %g from %g, %g",
          beside.at.gap, u, v);
    const sni_axes_nearest same = sni_axes_nearest_find(&a.all, &a.all, u, v);
    CHECK(is_finite(&same) && fabs(same.at.gap + 0.2) < 1e-6, "one in the other: %g", same.at.gap);
    CHECK(fabs(same.at.n.x) < 1e-9 || same.at.distance > 1e-9, "n is along the axes");
  }
  straight(&b, (sn_vec3){1, -1, 0}, (sn_vec3){0, 0.1, 0}, 0.1, 0.1);
  const sni_axes_nearest cross = sni_axes_nearest_find(&a.all, &b.all, 3, 2);
  CHECK(is_finite(&cross) && fabs(cross.at.gap + 0.2) < 1e-9, "they cross: %g", cross.at.gap);
  straight(&b, (sn_vec3){1, 1, 0}, (sn_vec3){0, 0, 0}, 0.1, 0.1);
  const sni_axes_nearest point = sni_axes_nearest_find(&a.all, &b.all, 3, 2);
  CHECK(is_finite(&point) && fabs(point.at.gap - 0.8) < 1e-9, "a point: %g", point.at.gap);
  straight(&b, (sn_vec3){1, 1, 0}, (sn_vec3){0, 0, 0}, 0.1, 0.3);
  CHECK(is_finite(&(sni_axes_nearest){0}) == false, "the check itself");
  const sni_axes_nearest swelling = sni_axes_nearest_find(&a.all, &b.all, 3, 2);
  CHECK(is_finite(&swelling) && fabs(swelling.at.gap - 0.6) < 1e-9, "a point that swells: %g",
        swelling.at.gap);
  straight(&a, (sn_vec3){1, 1, 0}, (sn_vec3){0, 0, 0}, 0.1, 0.1);
  straight(&b, (sn_vec3){1, 1, 0}, (sn_vec3){0, 0, 0}, 0.1, 0.1);
  const sni_axes_nearest points = sni_axes_nearest_find(&a.all, &b.all, 3, 2);
  CHECK(is_finite(&points) && fabs(points.at.gap + 0.2) < 1e-9, "two points: %g", points.at.gap);
}

int main(void) {
  RUN_TESTS(T(straight_beads_make_a_straight_axis), T(axis_ends_in_beads),
            T(derivatives_of_the_axis), T(derivatives_of_the_gap), T(skew_straight_tubes),
            T(circle_and_line), T(thicker_towards_one_end), T(ends_hold),
            T(newton_is_quick_and_right), T(degenerate_axes));
}
