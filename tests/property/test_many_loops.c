/* Many loops and long ones: gaps stay closed, all solvers agree, the cost grows with the number of
 * loops, and light bodies beside heavy ones do no harm.  SINEW_SOAK swings the ring for 100 s. */
#include "windows.h"

static sn_inertia rod(sn_vec3 along, double mass, double length) {
  const double I = mass * length * length / 12, thin = 1e-3 * I;
  return (sn_inertia){.mass = mass,
                      .com = sn_vec3_scale(along, 0.5 * length),
                      .xx = along.x != 0 ? thin : I,
                      .yy = along.y != 0 ? thin : I,
                      .zz = along.z != 0 ? thin : I};
}

static void add_rod(sn_builder *b, const char *name, const char *parent, const char *type,
                    sn_se3 at, sn_inertia I) {
  sn_body_def def = sn_body_def_default();
  def.name = name;
  def.parent = parent;
  def.joint.type = type;
  def.joint.axis = (sn_vec3){0, 1, 0};
  def.joint.at = at;
  def.has_inertia = true;
  def.inertia = I;
  CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
}

static void add_loop(sn_builder *b, const char *name, const char *type, sn_point_def a,
                     sn_point_def c) {
  sn_loop_def loop = sn_loop_def_default();
  loop.name = name;
  loop.joint.type = type;
  loop.joint.axis = (sn_vec3){0, 1, 0};
  loop.a = a;
  loop.b = c;
  CHECK(sn_builder_add_loop(b, &loop) == SN_OK, "out of memory");
}

/* Two ropes of links of 0.25 m and 1 kg, rungs of 0.5 m and `rung` kg between them, balls
 * everywhere; it starts level. */
static sn_model *ladder(int n, double rung) {
  sn_builder *b = sn_builder_create();
  CHECK(b != NULL, "out of memory");
  const sn_inertia link = rod((sn_vec3){1, 0, 0}, 1, 0.25),
                   bar = rod((sn_vec3){0, 1, 0}, rung, 0.5);
  char name[3][32], above[2][32] = {"world", "world"};
  for (int k = 0; k < n; k++) {
    for (int side = 0; side < 2; side++) {
      snprintf(name[side], sizeof name[side], "%s_%d", side ? "right" : "left", k);
      const sn_se3 at = k > 0 ? sn_pose(0.25, 0, 0) : sn_pose(0, 0.5 * side, 0);
      add_rod(b, name[side], above[side], "spherical", at, link);
      memcpy(above[side], name[side], sizeof above[side]);
    }
    snprintf(name[2], sizeof name[2], "rung_%d", k);
    add_rod(b, name[2], name[0], "spherical", sn_pose(0.25, 0, 0), bar);
    add_loop(b, name[2], "spherical", (sn_point_def){name[2], sn_pose(0, 0.5, 0)},
             (sn_point_def){name[1], sn_pose(0.25, 0, 0)});
  }
  return test_finish(b);
}

/* A closed polygon of n links, 10 m around, that hangs on the ground by one hinge. */
static sn_model *ring(int n) {
  sn_builder *b = sn_builder_create();
  CHECK(b != NULL, "out of memory");
  const double length = 10.0 / n, turn = 2 * acos(-1) / n;
  char name[32], above[32] = "world";
  for (int k = 0; k < n; k++) {
    snprintf(name, sizeof name, "link_%d", k);
    const sn_se3 at =
        k > 0 ? sn_pose_rotvec((sn_vec3){length, 0, 0}, (sn_vec3){0, turn, 0}) : sn_pose(0, 0, 0);
    add_rod(b, name, above, "revolute", at, rod((sn_vec3){1, 0, 0}, 0.01, length));
    memcpy(above, name, sizeof above);
  }
  add_loop(b, "closing", "revolute", (sn_point_def){name, sn_pose(length, 0, 0)},
           (sn_point_def){"world", sn_pose(0, 0, 0)});
  return test_finish(b);
}

/* The state after so many steps; its largest gap on the way. */
static sn_state *walk(const sn_model *m, const sn_options *o, int steps, double *gap) {
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  *gap = 0;
  for (int k = 0; k < steps; k++) {
    sn_error err = {0};
    CHECK(sn_sim_step(sim, s, NULL, NULL, &err) >= 0, "solver %d, step %d: %s",
          (int)o->redmax.solver, k, err.text);
    *gap = fmax(*gap, windows_gap(sim, s));
  }
  sn_sim_free(&sim);
  return s;
}

TEST(ladders_stay_closed) {
  sn_model *m = ladder(96, 1);
  const sn_options o = redmax_options(0.001);
  double gap;
  sn_state *s = walk(m, &o, getenv("SINEW_SOAK") ? 2000 : 30, &gap);
  CHECK(gap < 1e-9, "a gap of %g", gap);
  sn_state_free(&s);
  sn_model_free(&m);
}

/* All take the same step: A by recursion, conjugate gradients or Cholesky with the rows in their
 * dual, all at once in maximal or in reduced coordinates.  A rung weighs as much as a million
 * others do. */
TEST(all_solvers_agree_whatever_the_masses) {
  static const double rung[] = {1, 1e6, 1e-6}, length[] = {0.002, 0.01};
  for (int k = 0; k < 6; k++) {
    sn_model *m = ladder(6, rung[k % 3]);
    const int nv = sn_model_dof_count(m);
    sn_state *first = NULL;
    for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
      sn_options o = redmax_options(length[k / 3]);
      const char *name = redmax_solver[solver].name;
      double gap;
      o.redmax.solver = redmax_solver[solver].option;
      sn_state *s = walk(m, &o, 50, &gap);
      CHECK(gap < 1e-9, "rungs of %g kg, %s: a gap of %g", rung[k % 3], name, gap);
      for (int j = 0; first && j < nv; j++) {
        const double off = fabs(sn_state_q(s)[j] - sn_state_q(first)[j]);
        CHECK(off < 1e-6, "rungs of %g kg, steps of %g s: %s is off by %g", rung[k % 3],
              length[k / 3], name, off);
      }
      if (first) {
        sn_state_free(&s);
      } else {
        first = s;
      }
    }
    sn_state_free(&first);
    sn_model_free(&m);
  }
}

/* Balls that get a spring or armature while a run goes on: rates that were nobody's unknowns
 * are then. */
TEST(joints_may_get_springs_later) {
  static const char *const path[] = {"bodies.left_2.joint.stiffness", "bodies.rung_4.joint.damping",
                                     "bodies.right_3.joint.armature"};
  static const double value[] = {30, 2, 0.1};
  sn_model *m = ladder(6, 1);
  const int nv = sn_model_dof_count(m);
  sn_state *first = NULL, *without = test_state(m);
  for (int solver = -1; solver < REDMAX_SOLVERS; solver++) {
    sn_options o = redmax_options(0.005);
    o.redmax.solver = solver < 0 ? SN_SOLVER_GRAPH : redmax_solver[solver].option;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    double off = 0, gap = 0;
    for (int k = 0; k < 30; k++) {
      sn_error err = {0};
      for (int n = 0; solver >= 0 && k == 5 + 2 * n && n < 3; n++) {
        CHECK(sn_sim_set(sim, path[n], value[n], &err) == SN_OK, "%s", err.text);
      }
      CHECK(sn_sim_step(sim, s, NULL, NULL, &err) >= 0, "step %d: %s", k, err.text);
      gap = fmax(gap, windows_gap(sim, s));
    }
    const sn_state *other = solver < 0 ? s : first ? first : without;
    for (int j = 0; j < nv; j++) {
      off = fmax(off, fabs(sn_state_q(s)[j] - sn_state_q((sn_state *)other)[j]));
    }
    CHECK(gap < 1e-9, "a gap of %g", gap);
    if (solver < 0) {
      sn_state_copy(without, s);
    } else if (!first) {
      CHECK(off > 1e-3, "springs change nothing: %g", off);
    } else {
      CHECK(off < 1e-6, "%s is off by %g", redmax_solver[solver].name, off);
    }
    if (solver >= 0 && !first) {
      first = s;
    } else {
      sn_state_free(&s);
    }
    sn_sim_free(&sim);
  }
  sn_state_free(&first);
  sn_state_free(&without);
  sn_model_free(&m);
}

/* Counted, not timed: ten times the rungs, ten times the operations. */
TEST(ladders_cost_what_their_length_is) {
  double cost[2];
  for (int k = 0; k < 2; k++) {
    sn_model *m = ladder(k ? 10000 : 1000, 1);
    const sn_options o = redmax_options(0.001);
    sn_sim *sim = test_sim(m, &o);
    CHECK(sim->rows.way == SNI_BY_GRAPH, "%d", sim->rows.way);
    cost[k] = sni_kkt_cost(sim->rows.kkt);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
  CHECK(cost[1] < 10.5 * cost[0], "1000 rungs cost %g, 10000 cost %g", cost[0], cost[1]);
}

/* What is rounding next to the loads and the size of a long ladder is not solved for once more: one
 * factorisation with what tension braces, one with the masses at the end. */
TEST(long_ladders_take_no_more_solves_a_step_than_short_ones) {
  for (int n = 30; n <= 3000; n *= 10) {
    sn_model *m = ladder(n, 1);
    const sn_options o = redmax_options(0.001);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    unsigned before = 0;
    for (int k = 0; k < 14; k++) {
      sn_error err = {0};
      before = k == 4 ? sni_kkt_count(sim->rows.kkt) : before; /* in motion */
      CHECK(sn_sim_step(sim, s, NULL, NULL, &err) >= 0, "%d rungs, step %d: %s", n, k, err.text);
    }
    const unsigned count = sni_kkt_count(sim->rows.kkt) - before;
    CHECK(count <= 20, "%d rungs: %u factorisations in 10 steps", n, count);
    CHECK(windows_gap(sim, s) < 1e-11, "%d rungs: a gap of %g", n, windows_gap(sim, s));
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

TEST(a_ring_swings_and_stays_closed) {
  sn_model *m = ring(1000);
  const sn_options o = redmax_options(0.001);
  double gap;
  sn_state *s = walk(m, &o, getenv("SINEW_SOAK") ? 100000 : 40, &gap);
  CHECK(gap < 1e-9, "a gap of %g", gap);
  sn_state_free(&s);
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(ladders_stay_closed), T(all_solvers_agree_whatever_the_masses),
            T(joints_may_get_springs_later), T(ladders_cost_what_their_length_is),
            T(long_ladders_take_no_more_solves_a_step_than_short_ones),
            T(a_ring_swings_and_stays_closed));
}
