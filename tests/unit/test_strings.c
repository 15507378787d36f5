/* Strings of point masses: what they become, how they move, and what is refused. */
#include "redmax.h"

static sn_builder *hook(void) {
  sn_builder *b = sn_builder_create();
  CHECK(b != NULL, "out of memory");
  sn_body_def def = test_link("arm", "world", "revolute");
  def.joint.axis = (sn_vec3){0, 1, 0};
  CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  sn_initial_def initial = sn_initial_def_default();
  initial.body = "arm";
  initial.q = (sn_per_dof){1, {0.4}};
  CHECK(sn_builder_set_initial(b, &initial) == SN_OK, "out of memory");
  return b;
}

static sn_force_def string_def(int nodes, double mass, double stiffness, double damping,
                               double rest_length) {
  sn_force_def def = spring_def("rope", "arm", (sn_vec3){0.3, 0, -0.4}, "world",
                                (sn_vec3){2, 0.5, 0.2}, stiffness, damping, rest_length);
  def.type = "string";
  def.nodes = nodes;
  def.mass = mass;
  return def;
}

static sn_model *with_string(const sn_force_def *def) {
  sn_builder *b = hook();
  CHECK(sn_builder_add_force(b, def) == SN_OK, "out of memory");
  return test_finish(b);
}

/* Bodies and springs written out one by one make the same motion, to the bit. */
TEST(it_is_bodies_and_springs) {
  enum { NODES = 3 };
  const sn_force_def string = string_def(NODES, 0.6, 200, 0.5, 1.2);
  sn_builder *b = hook();
  const sn_vec3 start = {0.3 * cos(0.4) - 0.4 * sin(0.4), 0, -0.4 * cos(0.4) - 0.3 * sin(0.4)};
  for (int k = 1; k <= NODES + 1; k++) {
    char name[32], before[32];
    snprintf(name, sizeof name, "rope_%d", k);
    snprintf(before, sizeof before, "rope_%d", k - 1);
    if (k <= NODES) {
      sn_body_def node = sn_body_def_default();
      node.name = name;
      node.joint.type = "translation3";
      node.has_inertia = true;
      node.inertia.mass = 0.6 / NODES;
      CHECK(sn_builder_add_body(b, &node) == SN_OK, "out of memory");
    }
    sn_force_def spring =
        spring_def(name, before, (sn_vec3){0}, name, (sn_vec3){0}, 800, 2, 1.2 / 4);
    spring.a = k > 1 ? spring.a : string.a;
    spring.b = k <= NODES ? spring.b : string.b;
    CHECK(sn_builder_add_force(b, &spring) == SN_OK, "out of memory");
  }
  sn_model *m[2] = {with_string(&string), test_finish(b)};
  CHECK(sn_model_dof_count(m[0]) == 1 + 3 * NODES, "%d coordinates", sn_model_dof_count(m[0]));
  sn_state *s[2] = {test_state(m[0]), test_state(m[1])};
  const int first = sn_model_joint_first(m[0], sn_model_body_find(m[0], "rope_1"));
  for (int k = 0; k < NODES; k++) {
    const double f = (k + 1) / (NODES + 1.0);
    const double x[3] = {start.x + f * (2 - start.x), f * 0.5, start.z + f * (0.2 - start.z)};
    const double *q = sn_state_q(s[0]) + first + 3 * k;
    CHECK(largest_difference(q, x, 3) < 1e-14, "node %d is at %g %g %g", k, q[0], q[1], q[2]);
  }
  memcpy(sn_state_q(s[1]), sn_state_q(s[0]), (1 + 3 * NODES) * sizeof(double));
  sn_options o = redmax_options(0.01);
  o.redmax.solver = SN_SOLVER_GRAPH; /* `auto` looks at the initial pose, and these differ */
  sn_sim *sim[2] = {test_sim(m[0], &o), test_sim(m[1], &o)};
  for (int k = 0; k < 100; k++) {
    redmax_step(sim[0], s[0], NULL);
    redmax_step(sim[1], s[1], NULL);
  }
  CHECK(memcmp(sn_state_q(s[0]), sn_state_q(s[1]), (1 + 3 * NODES) * sizeof(double)) == 0,
        "they part by %g", largest_difference(sn_state_q(s[0]), sn_state_q(s[1]), 1 + 3 * NODES));
  for (int k = 0; k < 2; k++) {
    sn_state_free(&s[k]);
    sn_sim_free(&sim[k]);
    sn_model_free(&m[k]);
  }
}

/* A taut string between walls, plucked in its k-th mode, is back after a period: with n nodes of
 * mass m a length a apart under tension T, omega = 2 sqrt(T/(m a)) sin(k pi / (2 (n + 1))). */
TEST(modes_of_a_taut_string) {
  enum { NODES = 9 };
  const double length = 2, mass = 0.09, T = 50, stiffness = 5000;
  const double a = length / (NODES + 1), rest = length - T / stiffness;
  for (int mode = 1; mode <= 3; mode += 2) {
    sn_builder *b = sn_builder_create();
    sn_force_def def = spring_def("rope", "world", (sn_vec3){0}, "world", (sn_vec3){length, 0, 0},
                                  stiffness, 0, rest);
    def.type = "string";
    def.nodes = NODES;
    def.mass = mass;
    CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
    sn_builder_set_gravity(b, (sn_vec3){0});
    sn_model *m = test_finish(b);
    const double omega =
        2 * sqrt(T / (mass / NODES * a)) * sin(0.5 * mode * acos(-1) / (NODES + 1));
    sn_options o = sn_options_default();
    o.step = 2 * acos(-1) / omega;
    o.recursive.rel_tol = o.recursive.abs_tol = 1e-14;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    double start[3 * NODES];
    const double small = 1e-6; /* its tension changes by the square of this */
    for (int k = 0; k < NODES; k++) {
      const int adr = 3 * k;
      sn_state_q(s)[adr + 2] += small * sin((k + 1.0) * mode * acos(-1) / (NODES + 1));
    }
    memcpy(start, sn_state_q(s), sizeof start);
    test_step(sim, s, NULL);
    const double error = largest_difference(sn_state_q(s), start, 3 * NODES) / small;
    CHECK(error < 1e-6, "mode %d: off by %g of its amplitude", mode, error);
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* It comes to rest with its weight on its ends, at any stiffness, with large steps. */
TEST(hanging_strings_settle) {
  enum { NODES = 20 };
  for (int power = 3; power <= 7; power += 2) {
    sn_builder *b = sn_builder_create();
    sn_force_def def = spring_def("rope", "world", (sn_vec3){0}, "world", (sn_vec3){1, 0, 0},
                                  pow(10, power), 1, 1.3);
    def.type = "string";
    def.nodes = NODES;
    def.mass = 2;
    CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
    sn_model *m = test_finish(b);
    const sn_options o = redmax_options(0.02);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    for (int k = 0; k < 3000; k++) {
      redmax_step(sim, s, NULL);
    }
    const int channel[4] = {
        sn_sim_channel_find(sim, "rope_1.tension"), sn_sim_channel_find(sim, "rope_21.tension"),
        sn_sim_channel_find(sim, "rope_1.pos.x"), sn_sim_channel_find(sim, "rope_1.pos.z")};
    double x[4];
    sn_error err;
    CHECK(sn_sim_channels(sim, s, NULL, channel, 4, x, &err) == SN_OK, "%s", err.text);
    const double lift = -2 * x[0] * x[3] / sqrt(x[2] * x[2] + x[3] * x[3]);
    CHECK(fabs(lift - 2 * 9.81) < 1e-3, "1e%d: its ends bear %g of %g", power, lift, 2 * 9.81);
    CHECK(fabs(x[0] - x[1]) < 1e-3 * x[0], "1e%d: %g at one end, %g at the other", power, x[0],
          x[1]);
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

TEST(solvers_agree) {
  const sn_force_def def = string_def(12, 0.5, 1e5, 3, 1);
  sn_model *m = with_string(&def);
  const int nv = sn_model_dof_count(m);
  double first[64];
  for (int k = 0; k < 3; k++) {
    const sn_solver solver[] = {SN_SOLVER_REDUCED, SN_SOLVER_GRAPH, SN_SOLVER_PCG};
    sn_options o = redmax_options(0.01);
    o.redmax.solver = solver[k];
    o.redmax.tolerance = 1e-12;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    redmax_step(sim, s, NULL);
    if (k == 0) {
      memcpy(first, sn_state_qd(s), (size_t)nv * sizeof *first);
    }
    const double error = largest_difference(sn_state_qd(s), first, nv) / largest(first, nv);
    CHECK(error < 1e-9, "solver %d is off by %g", (int)solver[k], error);
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  sn_model_free(&m);
}

static void refused(const sn_force_def *def, const char *path, const char *text) {
  sn_builder *b = hook();
  sn_model *m = NULL;
  sn_error err = {0};
  CHECK(sn_builder_add_force(b, def) == SN_OK, "out of memory");
  CHECK(sn_builder_finish(b, &m, &err) == SN_E_VALUE, "taken: %s", text);
  CHECK(strcmp(err.path, path) == 0 && strstr(err.text, text), "%s: %s", err.path, err.text);
  CHECK(sn_builder_error_count(b) == 1, "%d errors", sn_builder_error_count(b));
  sn_builder_free(&b);
}

TEST(bad_strings) {
  sn_force_def def = string_def(0, 1, 1, 0, 1);
  refused(&def, "forces.rope.nodes", "is 0, needs 1");
  def = string_def(3, 0, 1, 0, 1);
  refused(&def, "forces.rope.mass", "is 0, needs a number > 0");
  def = string_def(3, 1, -1, 0, 1);
  refused(&def, "forces.rope.stiffness", "is -1, needs a number >= 0");
  def = string_def(3, 1, 1, -1, 1);
  refused(&def, "forces.rope.damping", "is -1, needs a number >= 0");
  def = string_def(3, 1, 1, 1, 1);
  def.b.body = "nobody";
  refused(&def, "forces.rope.b.body", "no body 'nobody'");
  def = string_def(3, 1, 1, 1, 1);
  def.name = "3 ropes";
  refused(&def, "forces.3 ropes", "is not a name");
}

int main(void) {
  RUN_TESTS(T(it_is_bodies_and_springs), T(modes_of_a_taut_string), T(hanging_strings_settle),
            T(solvers_agree), T(bad_strings));
}
