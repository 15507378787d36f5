/* Rows of constraints: their values along a motion against differences, for every kind of joint
 * that can close a loop. */
#include "trees.h"

#include "model/constraint.h"

enum { BODIES = 2 };
#define STEP 1e-3

typedef struct bench {
  sni_joint_builder builder;
  sni_joint joint[1 + 3 * SN_NV_MAX]; /* and its parts */
  sn_vec6 S0[SN_NV_MAX];
  sn_se3 E[BODIES];
  sn_vec6 phi[BODIES], accel[BODIES];
  double q[SN_NV_MAX], qd[SN_NV_MAX];
  sni_constraint c;
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
  const sni_constraint_eval e = {.E_wb = E,
                                 .phi = b->phi,
                                 .joints = {b->joint, b->builder.pool},
                                 .S0 = b->S0,
                                 .loop_q = q,
                                 .loop_qd = qd};
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

TEST(distances) {
  for (unsigned seed = 0; seed < 30; seed++) {
    uint64_t random = seed;
    bench b = {.c = {.kind = SNI_DISTANCE, .active = -1, .body = {0, 1}}};
    for (int side = 0; side < 2; side++) {
      b.E[side] = random_pose(&random, 1, 2);
      b.phi[side] = (sn_vec6){random_vec3(&random, 1), random_vec3(&random, 1)};
      b.accel[side] = (sn_vec6){random_vec3(&random, 1), random_vec3(&random, 1)};
      b.c.at[side] = random_pose(&random, 0.5, 1);
    }
    b.c.body[0] = seed % 2 ? -1 : 0;
    b.c.length = test_random(&random, 0.5, 2);
    check_along(&b, "distance", seed);
  }
}

int main(void) {
  RUN_TESTS(T(loops_of_every_kind), T(loops_find_their_coordinates), T(distances));
}
