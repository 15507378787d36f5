/* Rows of constraints: their values along a motion against differences, for every kind of
 * constraint and every kind of joint that can close a loop. */
#include "trees.h"

#include "model/constraint.h"

enum { BODIES = 2 };
#define STEP 1e-3

typedef struct bench {
  sni_joint_builder builder;
  sni_joint joint[1 + 3 * SN_NV_MAX]; /* and its parts */
  sn_vec6 S0[SN_NV_MAX], basis[6];
  sn_se3 E[BODIES];
  sn_vec6 phi[BODIES], accel[BODIES];
  double q[SN_NV_MAX], qd[SN_NV_MAX];
  sni_function *function[SN_NV_MAX];
  sni_constraint c;
  bool one_place;
} bench;

static sn_se3 moved(sn_se3 E, sn_vec6 phi, sn_vec6 accel, double s) {
  const sn_vec3 turn = sn_vec3_addscaled(sn_vec3_scale(phi.w, s), 0.5 * s * s, accel.w);
  const sn_vec3 shift = sn_vec3_addscaled(sn_vec3_scale(phi.v, s), 0.5 * s * s, accel.v);
  return (sn_se3){sn_mat3_mul(sn_so3_exp(turn), E.R), sn_vec3_add(E.p, shift)};
}

/* The rows at time s of the motion. */
static int rows_at(const bench *b, double s, sni_row *row, double *q_out) {
  sn_se3 E[BODIES];
  double q[SN_NV_MAX], qd[SN_NV_MAX];
  memcpy(q, b->q, sizeof q);
  memset(qd, 0, sizeof qd);
  for (int i = 0; i < BODIES; i++) {
    E[i] = moved(b->E[i], b->phi[i], b->accel[i], s);
  }
  sn_vec6 phi[BODIES]; /* to first order in s, which is all that a derivative sees */
  for (int i = 0; i < BODIES; i++) {
    phi[i] = sn_vec6_addscaled(b->phi[i], s, b->accel[i]);
  }
  const sni_constraint_eval e = {.t = s,
                                 .t_ref = s,
                                 .one_place = b->one_place,
                                 .function = (const sni_function *const *)b->function,
                                 .E_wb = E,
                                 .phi = phi,
                                 .q = b->q,
                                 .qd = b->qd,
                                 .joints = {b->joint, b->builder.pool},
                                 .S0 = b->S0,
                                 .basis = b->basis,
                                 .loop_q = q,
                                 .loop_qd = qd};
  if (b->c.of_loop) { /* its coordinates are found with its own rows */
    sni_constraint_loop_rows(&e, &b->c, row);
  }
  const int n = sni_constraint_kind(b->c.kind)->rows(&e, &b->c, row);
  if (q_out) {
    memcpy(q_out, q, sizeof q);
    memcpy(q_out + SN_NV_MAX, qd, sizeof qd);
  }
  return n;
}

/* G x of a row, over the twists x of the bodies. */
static double row_dot(const sni_row *row, const sn_vec6 *x) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    sum += row->body[side] >= 0 ? sn_vec6_dot(row->p[side], x[row->body[side]]) : 0;
  }
  return sum;
}

static double first_difference(const double *f) {
  return (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * STEP);
}

/* Rates of rows that have no g: their own change is what the bias says. */
static void check_rates(const bench *b, const char *what, unsigned seed) {
  sni_row row[SNI_ROWS_MAX], at[5][SNI_ROWS_MAX];
  const int n = rows_at(b, 0, row, NULL);
  CHECK(n == b->c.nrow, "%s, seed %u: %d rows, not %d", what, seed, n, b->c.nrow);
  for (int k = 0; k < 5; k++) {
    rows_at(b, (k - 2) * STEP, at[k], NULL);
  }
  for (int i = 0; i < n; i++) {
    double rate[5];
    for (int k = 0; k < 5; k++) {
      sn_vec6 phi[BODIES];
      for (int j = 0; j < BODIES; j++) {
        phi[j] = sn_vec6_addscaled(b->phi[j], (k - 2) * STEP, b->accel[j]);
      }
      rate[k] = row_dot(&at[k][i], phi) + at[k][i].rate;
    }
    const double a = row_dot(&row[i], b->accel) + row[i].bias, change = first_difference(rate);
    CHECK(fabs(a - change) < 1e-8 * (1 + fabs(a)), "%s, seed %u, row %d: %g, not %g", what, seed, i,
          a, change);
  }
}

static void check_along(const bench *b, const char *what, unsigned seed) {
  sni_row row[SNI_ROWS_MAX], at[5][SNI_ROWS_MAX];
  const int n = rows_at(b, 0, row, NULL);
  for (int k = 0; k < 5; k++) {
    CHECK(rows_at(b, (k - 2) * STEP, at[k], NULL) == n, "%s, seed %u: rows change", what, seed);
  }
  for (int i = 0; i < n; i++) {
    const double first = (at[0][i].g - 8 * at[1][i].g + 8 * at[3][i].g - at[4][i].g) / (12 * STEP);
    const double second =
        (-at[0][i].g + 16 * at[1][i].g - 30 * at[2][i].g + 16 * at[3][i].g - at[4][i].g) /
        (12 * STEP * STEP);
    const double v = row_dot(&row[i], b->phi) + row[i].rate;
    const double a = row_dot(&row[i], b->accel) + row[i].bias;
    CHECK(fabs(v - first) < 1e-9, "%s, seed %u, row %d: rate %g, not %g", what, seed, i, v, first);
    CHECK(fabs(a - second) < 1e-6 * (1 + fabs(a)), "%s, seed %u, row %d: %g, not %g", what, seed, i,
          a, second);
  }
}

/* A closed loop that moves as its joint lets it. */
static bool make_loop(bench *b, const char *kind, unsigned seed, int ground) {
  random_tree tree;
  random_tree_make(&tree, seed, 36, 0);
  uint64_t random = 1000 + seed;
  const sn_joint_def *def = NULL;
  for (int i = 0; i < tree.n && !def; i++) {
    def = strcmp(tree.body[i].joint.type, kind) == 0 ? &tree.body[i].joint : NULL;
  }
  if (!def) {
    return false;
  }
  sn_joint_def own = *def;
  own.at = sn_se3_identity();
  sn_error err = {0};
  *b = (bench){.c = {.kind = SNI_LOOP, .active = -1, .body = {0, 1}}};
  CHECK(sni_joint_finish(&b->builder, &own, b->joint, b->S0, &err) == SN_OK, "%s", err.text);
  sni_constraint_loop_basis(b->S0, b->joint->nv, b->basis);
  for (int k = 0; k < b->builder.npart; k++) {
    b->joint[1 + k] = b->builder.part[k];
  }
  for (int k = 0; k <= b->builder.npart; k++) {
    b->joint[k].part_first += 1;
  }
  b->c.nv = b->joint[0].nv;
  for (int side = 0; side < 2; side++) {
    b->E[side] = random_pose(&random, 1, 2);
    b->phi[side] = (sn_vec6){random_vec3(&random, 1), random_vec3(&random, 1)};
    b->accel[side] = (sn_vec6){random_vec3(&random, 1), random_vec3(&random, 1)};
    b->c.at[side] = random_pose(&random, 0.5, 1);
  }
  if (ground >= 0) {
    b->c.body[ground] = -1;
    b->E[ground] = sn_se3_identity();
    b->phi[ground] = b->accel[ground] = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  }
  for (int k = 0; k < b->joint[0].nv; k++) {
    b->q[k] = test_random(&random, 0.1, 0.9);
    b->qd[k] = test_random(&random, -1, 1);
  }
  sn_se3 Q;
  sn_vec6 S[SN_NV_MAX], Sdot[SN_NV_MAX];
  memcpy(S, b->S0, sizeof S);
  const sni_joint_set set = {b->joint, b->builder.pool};
  sni_joint_ops_of(set, 0)->calc(set, 0, 1, b->q, b->qd, (sni_joint_out){&Q, S, Sdot});
  sn_vec6 nu = {{0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < b->joint[0].nv; k++) {
    nu = sn_vec6_addscaled(nu, b->qd[k], S[k]);
  }
  /* the body that is not on the ground goes where the other is, moved by the joint */
  const int free = ground == 1 ? 0 : 1;
  const sn_se3 given = sn_se3_mul(b->E[1 - free], b->c.at[1 - free]);
  const sn_se3 F = sn_se3_mul(given, free == 1 ? Q : sn_se3_inverse(Q));
  b->E[free] = sn_se3_mul(F, sn_se3_inverse(b->c.at[free]));
  const sn_se3 E_B = free == 1 ? F : given;
  const sn_vec6 rel = sn_vec6_rotate(E_B.R, nu); /* at the origin of B */
  sn_vec6 at_B = b->phi[1 - free];
  at_B.v = sn_vec3_add(at_B.v, sn_vec3_cross(at_B.w, sn_vec3_sub(E_B.p, b->E[1 - free].p)));
  at_B = sn_vec6_addscaled(at_B, free == 1 ? 1 : -1, rel);
  at_B.v = sn_vec3_add(at_B.v, sn_vec3_cross(at_B.w, sn_vec3_sub(b->E[free].p, E_B.p)));
  b->phi[free] = at_B;
  return true;
}

TEST(loops_of_every_kind) {
  int tried = 0;
  for (int k = 0; k < (int)(sizeof tree_kinds / sizeof tree_kinds[0]); k++) {
    for (unsigned seed = 0; seed < 12; seed++) {
      bench b;
      if (!make_loop(&b, tree_kinds[k], seed, (int)(seed % 3) - 1)) {
        continue;
      }
      sni_row row[SNI_ROWS_MAX];
      double q[2 * SN_NV_MAX];
      CHECK(rows_at(&b, 0, row, q) == 6 - b.joint[0].nv, "%s: rows", tree_kinds[k]);
      for (int i = 0; i < 6 - b.joint[0].nv; i++) {
        CHECK(fabs(row[i].g) < 1e-13, "%s, seed %u: open by %g", tree_kinds[k], seed, row[i].g);
      }
      for (int c = 0; c < b.joint[0].nv; c++) {
        CHECK(fabs(q[SN_NV_MAX + c] - b.qd[c]) < 1e-12, "%s, seed %u: qd%d is %g, not %g",
              tree_kinds[k], seed, c, q[SN_NV_MAX + c], b.qd[c]);
      }
      check_along(&b, tree_kinds[k], seed);
      tried++;
      free(b.builder.pool);
      free(b.builder.part);
    }
  }
  CHECK(tried >= 100, "only %d loops were tried", tried);
}

/* From another coordinate nearby it finds the one that fits. */
TEST(loops_find_their_coordinates) {
  for (int k = 0; k < (int)(sizeof tree_kinds / sizeof tree_kinds[0]); k++) {
    for (unsigned seed = 0; seed < 6; seed++) {
      bench b;
      if (!make_loop(&b, tree_kinds[k], seed, -1)) {
        continue;
      }
      double q[2 * SN_NV_MAX], right[SN_NV_MAX];
      memcpy(right, b.q, sizeof right);
      uint64_t random = seed;
      for (int c = 0; c < b.joint[0].nv; c++) {
        b.q[c] += test_random(&random, -0.1, 0.1);
      }
      sni_row row[SNI_ROWS_MAX];
      rows_at(&b, 0, row, q);
      for (int c = 0; c < b.joint[0].nv; c++) {
        CHECK(fabs(q[c] - right[c]) < 1e-10, "%s, seed %u: q%d is %g, not %g", tree_kinds[k], seed,
              c, q[c], right[c]);
      }
      free(b.builder.pool);
      free(b.builder.part);
    }
  }
}

/* Two bodies that move anyhow. */
static bench make_pair(int kind, int nrow, uint64_t *random) {
  bench b = {.c = {.kind = kind, .active = -1, .nrow = nrow, .body = {0, 1}}};
  for (int side = 0; side < 2; side++) {
    b.E[side] = random_pose(random, 1, 2);
    b.phi[side] = (sn_vec6){random_vec3(random, 1), random_vec3(random, 1)};
    b.accel[side] = (sn_vec6){random_vec3(random, 1), random_vec3(random, 1)};
    b.c.at[side] = random_pose(random, 0.5, 1);
  }
  return b;
}

/* Each coordinate of a loop, whatever its joint, between two numbers. */
TEST(limits_of_loops) {
  int seen = 0;
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const char *keyword = sni_joint_kind(kind)->kind.keyword;
    for (unsigned seed = 0; seed < 20; seed++) {
      bench b;
      if (!make_loop(&b, keyword, seed, (int)(seed % 3) - 1)) {
        continue;
      }
      for (int k = 0; k < b.c.nv; k++) {
        b.c.kind = SNI_LIMIT;
        b.c.of_loop = true;
        b.c.coord[0] = k;
        b.c.lower = -0.3;
        b.c.upper = seed % 2 ? 0.4 : INFINITY;
        b.c.nrow = seed % 2 ? 2 : 1;
        check_along(&b, keyword, seed);
        seen++;
      }
      free(b.builder.pool);
      free(b.builder.part);
    }
  }
  CHECK(seen > 100, "only %d", seen);
}

/* A ball between two bodies: swing and twist about any axis. */
TEST(cones) {
  for (unsigned seed = 0; seed < 100; seed++) {
    bench b;
    if (!make_loop(&b, "spherical", seed, (int)(seed % 3) - 1)) {
      continue;
    }
    uint64_t random = seed;
    const sn_vec3 axis = random_vec3(&random, 1);
    b.c.kind = SNI_CONE;
    b.c.of_loop = true;
    b.c.axis = sn_vec3_scale(axis, 1 / sn_vec3_norm(axis));
    b.c.swing = 0.7;
    b.c.lower = -0.4;
    b.c.upper = 0.5;
    b.c.nrow = 3;
    check_along(&b, "cone", seed);
    /* turning about the axis is all twist; about one across it, all swing */
    const sn_vec3 across = sn_vec3_cross(b.c.axis, random_vec3(&random, 1));
    const double turn = test_random(&random, -0.9, 0.9), lean = test_random(&random, 0.1, 0.9);
    const sn_mat3 R =
        sn_mat3_mul(sn_mat3_axis_angle(sn_vec3_scale(across, 1 / sn_vec3_norm(across)), lean),
                    sn_mat3_axis_angle(b.c.axis, turn));
    const sn_vec3 r = sn_so3_log(R);
    double q[6] = {r.x, r.y, r.z}, qd[6] = {0};
    b.c.of_loop = false;
    b.c.coord[0] = 0;
    sni_row row[3];
    const sni_constraint_eval e = {.q = q, .qd = qd};
    sni_constraint_kind(SNI_CONE)->rows(&e, &b.c, row);
    CHECK(fabs(row[0].g - (0.7 - lean)) < 1e-12, "leans by %g, not %g", 0.7 - row[0].g, lean);
    CHECK(fabs(row[1].g - (turn + 0.4)) < 1e-12, "turns by %g, not %g", row[1].g - 0.4, turn);
    CHECK(fabs(row[2].g - (0.5 - turn)) < 1e-12, "turns by %g, not %g", 0.5 - row[2].g, turn);
    free(b.builder.pool);
    free(b.builder.part);
  }
}

TEST(half_spaces) {
  for (unsigned seed = 0; seed < 60; seed++) {
    uint64_t random = seed;
    bench b = make_pair(SNI_HALF_SPACE, 1, &random);
    b.c.body[1] = seed % 3 ? 1 : -1;
    b.c.length = test_random(&random, 0, 1);
    check_along(&b, "half_space", seed);
  }
}

TEST(distances) {
  for (unsigned seed = 0; seed < 30; seed++) {
    uint64_t random = seed;
    bench b = make_pair(SNI_DISTANCE, 1, &random);
    b.c.body[0] = seed % 2 ? -1 : 0;
    b.c.length = test_random(&random, 0.5, 2);
    check_along(&b, "distance", seed);
    check_rates(&b, "distance", seed);
  }
}

TEST(points) {
  for (unsigned seed = 0; seed < 30; seed++) {
    uint64_t random = seed;
    bench b = make_pair(SNI_POINT, 3, &random);
    b.c.body[seed % 2] = seed % 3 ? (int)(seed % 2) : -1;
    check_along(&b, "point", seed);
    check_rates(&b, "point", seed);
  }
}

/* The same rows as those of a loop whose joint is fixed. */
TEST(welds) {
  int tried = 0;
  for (unsigned seed = 0; seed < 60; seed++) {
    bench b;
    if (make_loop(&b, "fixed", seed, (int)(seed % 3) - 1)) {
      sni_row loop[SNI_ROWS_MAX], weld[SNI_ROWS_MAX]; /* of coordinates only as many as there are */
      memset(loop, 0, sizeof loop);
      memset(weld, 0, sizeof weld);
      CHECK(rows_at(&b, 0.1, loop, NULL) == 6, "a fixed joint leaves something free");
      b.c.kind = SNI_WELD;
      b.c.joint = -1;
      CHECK(rows_at(&b, 0.1, weld, NULL) == 6, "a weld has not six rows");
      CHECK(memcmp(loop, weld, sizeof loop) == 0, "seed %u: not as a loop", seed);
      check_along(&b, "weld", seed);
      free(b.builder.pool);
      free(b.builder.part);
      tried++;
    }
  }
  CHECK(tried >= 10, "only %d welds were tried", tried);
}

/* Open by s, it pushes both bodies at one place: bodies that move as one feel nothing of it. */
static void check_balance(bench *b, const char *what, unsigned seed) {
  const double s = 0.1;
  sni_row row[SNI_ROWS_MAX];
  b->one_place = true;
  const int n = rows_at(b, s, row, NULL);
  for (int i = 0; i < n; i++) {
    sn_vec6 sum = {{0, 0, 0}, {0, 0, 0}}; /* about the origin of the world */
    for (int side = 0; side < 2; side++) {
      const sn_vec6 p = row[i].p[side];
      const sn_vec3 o = moved(b->E[side], b->phi[side], b->accel[side], s).p;
      sum.w = sn_vec3_add(sum.w, sn_vec3_add(p.w, sn_vec3_cross(o, p.v)));
      sum.v = sn_vec3_add(sum.v, p.v);
    }
    const double most = fmax(sn_vec3_norm(sum.w), sn_vec3_norm(sum.v));
    CHECK(most < 1e-14, "%s, seed %u, row %d: both are pushed by %g", what, seed, i, most);
  }
}

TEST(what_is_open_pushes_at_one_place) {
  for (unsigned seed = 0; seed < 12; seed++) {
    for (int k = 0; k < (int)(sizeof tree_kinds / sizeof tree_kinds[0]); k++) {
      bench b;
      if (make_loop(&b, tree_kinds[k], seed, -1)) {
        b.phi[0] = b.accel[1]; /* other than the joint lets it */
        check_balance(&b, tree_kinds[k], seed);
        free(b.builder.pool);
        free(b.builder.part);
      }
    }
    uint64_t random = seed;
    bench b = make_pair(SNI_POINT, 3, &random);
    check_balance(&b, "point", seed);
  }
}

TEST(rolling) {
  for (unsigned seed = 0; seed < 60; seed++) {
    uint64_t random = seed;
    bench b = make_pair(SNI_ROLL, 3, &random);
    b.c.body[1] = seed % 3 ? 1 : -1;
    b.c.length = test_random(&random, 0.5, 2);
    const sn_vec3 axis = random_vec3(&random, 1);
    b.c.axis = sn_vec3_scale(axis, seed % 2 ? 1 / sn_vec3_norm(axis) : 0);
    const char *what = seed % 2 ? "disc" : "sphere";
    check_rates(&b, what, seed);

    /* the third row is the rate of the height of the lowest point */
    sni_row row[SNI_ROWS_MAX], at[5][SNI_ROWS_MAX];
    double height[5];
    rows_at(&b, 0, row, NULL);
    for (int k = 0; k < 5; k++) {
      rows_at(&b, (k - 2) * STEP, at[k], NULL);
      height[k] = at[k][2].g;
      CHECK(at[k][0].g == 0 && at[k][1].g == 0, "seed %u: slip has a place", seed);
    }
    const double rate = row_dot(&row[2], b.phi);
    CHECK(fabs(rate - first_difference(height)) < 1e-9, "%s, seed %u: height changes by %g, not %g",
          what, seed, first_difference(height), rate);
  }
}

/* The lowest point of a disc, found by going round it. */
TEST(discs_touch_at_their_lowest_point) {
  for (unsigned seed = 0; seed < 20; seed++) {
    uint64_t random = seed;
    bench b = make_pair(SNI_ROLL, 3, &random);
    b.c.length = test_random(&random, 0.5, 2);
    b.c.axis = (sn_vec3){0, 0, 1};
    const sn_se3 disc = sn_se3_mul(b.E[0], (sn_se3){sn_mat3_identity(), b.c.at[0].p});
    const sn_se3 plane = sn_se3_inverse(sn_se3_mul(b.E[1], b.c.at[1]));
    double lowest = INFINITY;
    for (int k = 0; k < 36000; k++) {
      const double angle = 2 * SN_PI * k / 36000;
      const sn_vec3 edge = {b.c.length * cos(angle), b.c.length * sin(angle), 0};
      lowest = fmin(lowest, sn_se3_point(plane, sn_se3_point(disc, edge)).z);
    }
    sni_row row[SNI_ROWS_MAX];
    rows_at(&b, 0, row, NULL);
    /* 36000 places: the nearest is 1e-4 off, its height 1e-8 */
    CHECK(fabs(row[2].g - lowest) < 1e-7, "seed %u: at %g, not %g", seed, row[2].g, lowest);
  }
}

TEST(knife_edges) {
  for (unsigned seed = 0; seed < 30; seed++) {
    uint64_t random = seed;
    bench b = make_pair(SNI_KNIFE_EDGE, 1, &random);
    const sn_vec3 direction = random_vec3(&random, 1);
    b.c.axis = sn_vec3_scale(direction, 1 / sn_vec3_norm(direction));
    check_rates(&b, "knife edge", seed);
    sni_row row[SNI_ROWS_MAX];
    rows_at(&b, 0, row, NULL);
    CHECK(row[0].g == 0, "seed %u: sliding has a place", seed);
  }
}

static void give_functions(bench *b, int n) {
  static const char *const text[] = {"sin(2*t)", "0.3 + t", "cos(t)", "t^2", "exp(t)", "-t"};
  for (int k = 0; k < SN_NV_MAX; k++) {
    b->c.function[k] = k < n ? k : -1;
    const sn_function_def def = {.expression = text[k]};
    CHECK(sni_function_build(&def, &b->function[k], NULL) == SN_OK, "no function");
  }
}

static void drop_functions(bench *b) {
  for (int k = 0; k < SN_NV_MAX; k++) {
    sni_function_free(&b->function[k]);
  }
}

TEST(twists) {
  for (unsigned seed = 0; seed < 40; seed++) {
    uint64_t random = seed;
    bench b = make_pair(SNI_TWIST, 6, &random);
    b.c.frame = seed % 2 ? SN_FRAME_BODY : SN_FRAME_WORLD;
    give_functions(&b, 6);
    for (int k = 0; k < 6 && seed % 4 > 1; k += 2) {
      b.c.function[k] = -1;
      b.c.nrow--;
    }
    check_rates(&b, "twist", seed);

    /* at rest in time, the rows are the components themselves */
    sni_row row[SNI_ROWS_MAX];
    const int n = rows_at(&b, 0, row, NULL);
    const sn_mat3 R = seed % 2 ? b.E[0].R : sn_mat3_identity();
    sn_vec6 phi = b.phi[0];
    const sn_vec3 arm = sn_mat3_mul_vec(b.E[0].R, b.c.at[0].p);
    phi.v = sn_vec3_add(phi.v, sn_vec3_cross(phi.w, arm));
    phi = sn_vec6_unrotate(R, phi);
    const double component[6] = {phi.w.x, phi.w.y, phi.w.z, phi.v.x, phi.v.y, phi.v.z};
    for (int k = 0, i = 0; k < 6 && i < n; k++) {
      if (b.c.function[k] >= 0) {
        CHECK(fabs(row_dot(&row[i], b.phi) - component[k]) < 1e-14, "seed %u, component %d", seed,
              k);
        i++;
      }
    }
    drop_functions(&b);
  }
}

TEST(paths) {
  for (unsigned seed = 0; seed < 30; seed++) {
    uint64_t random = seed;
    bench b = make_pair(SNI_PATH, 3, &random);
    give_functions(&b, 3);
    check_along(&b, "path", seed);
    check_rates(&b, "path", seed);
    drop_functions(&b);
  }
}

/* The vector next to q, whole turns away from what the functions say. */
TEST(turns) {
  for (unsigned seed = 0; seed < 40; seed++) {
    uint64_t random = seed;
    bench b = {.c = {.kind = SNI_TURN, .nrow = 3, .ncoord = 3, .coord = {0, 1, 2}}};
    give_functions(&b, 3);
    double f[3][3], length = 0, turns = (double)(int)(seed % 5) - 2;
    for (int k = 0; k < 3; k++) {
      sni_function_eval(b.function[k], 0, 0, f[k]);
      length += f[k][0] * f[k][0];
    }
    for (int k = 0; k < 3; k++) {
      b.q[k] = f[k][0] * (1 + 2 * SN_PI * turns / sqrt(length)) + test_random(&random, -0.2, 0.2);
    }
    check_along(&b, "turn", seed);
    check_rates(&b, "turn", seed);
    sni_row row[SNI_ROWS_MAX];
    rows_at(&b, 0, row, NULL);
    for (int k = 0; k < 3; k++) {
      CHECK(fabs(row[k].g) < 0.25, "seed %u: a gap of %g", seed, row[k].g);
    }
    drop_functions(&b);
  }
}

int main(void) {
  RUN_TESTS(T(loops_of_every_kind), T(loops_find_their_coordinates), T(limits_of_loops), T(cones),
            T(half_spaces), T(distances), T(points), T(what_is_open_pushes_at_one_place), T(welds),
            T(rolling), T(discs_touch_at_their_lowest_point), T(knife_edges), T(twists), T(paths),
            T(turns));
}
