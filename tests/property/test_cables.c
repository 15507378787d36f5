/* Cables that only pull, in the implicit steps of `redmax`: they converge to the motion that there
 * is, they do not chatter where they go slack, and they never push. */
#include "redmax.h"
#include "sinew/scene.h"

static void add_cable(sn_builder *b, const char *name, double stiffness, double damping,
                      double rest_length, const sn_point_def *via, int n) {
  sn_force_def def = sn_force_def_default();
  def.name = name;
  def.type = "cable";
  def.stiffness = stiffness;
  def.damping = damping;
  def.rest_length = rest_length;
  def.tension_only = true;
  def.via = via;
  def.nvia = n;
  CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
}

/* ---- converging ---- */

/* A weight that falls into its cable, and is thrown up again: slack and taut in turn. */
static sn_model *weight_model(void) {
  sn_body_def def = test_link("weight", "world", "prismatic");
  def.joint.axis = (sn_vec3){0, 0, 1};
  sn_builder *b = test_builder(&def);
  const sn_point_def via[] = {{NULL, sn_pose(0, 0, 1)}, {"weight", sn_pose(0, 0, 0)}};
  add_cable(b, "cable", 1000, 20, 1, via, 2);
  sn_initial_def initial = sn_initial_def_default();
  initial.body = "weight";
  initial.q = (sn_per_dof){1, {0.3}};
  CHECK(sn_builder_set_initial(b, &initial) == SN_OK, "out of memory");
  return test_finish(b);
}

/* Positions of all bodies every tenth of a second for 2 s, and the least tension of any cable. */
enum { TIMES = 20, BODIES = 8 };
typedef struct track {
  sn_vec3 x[TIMES][BODIES];
  double least;
} track;

static track follow(const sn_model *m, sn_implicit integrator, double step) {
  track out = {.least = 0};
  sn_options o = redmax_options(step);
  o.redmax.integrator = integrator;
  o.recursive.rel_tol = o.recursive.abs_tol = 1e-10;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  const int each = (int)lround(0.1 / step), nchannel = sn_sim_channel_count(sim);
  for (int k = 0; k < TIMES * each; k++) {
    redmax_step(sim, s, NULL);
    for (int c = 0; c < nchannel; c++) {
      char name[64];
      sn_sim_channel_name(sim, c, name, sizeof name);
      if (strlen(name) > 8 && strcmp(name + strlen(name) - 8, ".tension") == 0) {
        double tension;
        sn_error err;
        CHECK(sn_sim_channels(sim, s, NULL, &c, 1, &tension, &err) == SN_OK, "%s", err.text);
        out.least = fmin(out.least, tension);
      }
    }
    if ((k + 1) % each == 0) {
      sn_se3 E[BODIES];
      CHECK(sn_model_body_count(m) <= BODIES, "too many bodies");
      sn_sim_poses(sim, s, E, NULL);
      for (int i = 0; i < sn_model_body_count(m); i++) {
        out.x[(k + 1) / each - 1][i] = E[i].p;
      }
    }
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  return out;
}

/* Each time that a cable becomes taut or slack somewhere in a step costs an error of first order
 * whose size depends on where, so errors fall with the step, but not evenly. */
static void check_converges(const sn_model *m, const char *what, double euler,
                            double extrapolated) {
  static const double steps[] = {0.01, 0.002, 0.0004};
  const track exact = follow(m, SN_IMPLICIT_DOPRI5, 0.01);
  for (int way = 0; way < 2; way++) {
    double error[3] = {0};
    for (int level = 0; level < 3; level++) {
      const track t = follow(m, way ? SN_EXTRAPOLATED : SN_EULER, steps[level]);
      for (int k = 0; k < TIMES; k++) {
        for (int i = 0; i < sn_model_body_count(m); i++) {
          error[level] = fmax(error[level], sn_vec3_norm(sn_vec3_sub(t.x[k][i], exact.x[k][i])));
        }
      }
      CHECK(t.least >= 0, "%s pushes with %g", what, t.least);
    }
    print_message("  %s, %-12s %.1e %.1e %.1e\n", what, way ? "extrapolated" : "euler", error[0],
                  error[1], error[2]);
    CHECK(error[2] < (way ? extrapolated : euler), "%s: off by %g", what, error[2]);
    CHECK(error[2] < 0.4 * error[0], "%s: off by %g at 10 ms, %g at 0.4 ms", what, error[0],
          error[2]);
  }
}

TEST(a_weight_in_its_cable) {
  sn_model *m = weight_model();
  check_converges(m, "weight", 5e-3, 5e-4);
  sn_model_free(&m);
}

TEST(an_arm) {
  sn_scene *scene = NULL;
  sn_error err;
  CHECK(sn_scene_load(SINEW_SOURCE_DIR "/scenes/redmax/arm.yaml", NULL, &scene, &err) == SN_OK,
        "%s", err.text);
  check_converges(sn_scene_model(scene), "arm", 3e-3, 1e-4);
  sn_scene_free(&scene);
}

/* ---- chattering ---- */

/* Two rods that hang side by side, and cables between them, one of them over three points, all
 * stretched by a little: by h^2 k/m more than they bear. */
static sn_model *hanging_model(double k) {
  sn_builder *b = sn_builder_create();
  static const char *const name[] = {"a", "b"};
  for (int i = 0; i < 2; i++) {
    sn_body_def def = test_link(name[i], "world", "spherical");
    def.joint.at = sn_pose(0.5 * i, 0, 0);
    def.inertia =
        (sn_inertia){.mass = 1.5, .com = {0, 0, -0.3}, .xx = 0.0453, .yy = 0.0453, .zz = 6.25e-4};
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  }
  const sn_point_def u[] = {{"a", sn_pose(0, 0, -0.2)}, {"b", sn_pose(0, 0, -0.2)}};
  const sn_point_def v[] = {{"a", sn_pose(0, 0, -0.5)}, {"b", sn_pose(0, 0, -0.5)}};
  const sn_point_def w[] = {
      {"a", sn_pose(0, 0, -0.6)}, {"b", sn_pose(0, 0, -0.4)}, {"a", sn_pose(0, 0.05, -0.2)}};
  add_cable(b, "u", k, 0, 0.49999, u, 2);
  add_cable(b, "v", k, 0, 0.499999, v, 2);
  add_cable(b, "w", k, 0, 1.07, w, 3);
  return test_finish(b);
}

/* What the cables held at the start may swing on for a while; after a second, less than a twentieth
 * of m g L is above the rods hanging still, and nothing comes back.  The second-order step damps
 * less, and may have a twentieth of what was there as well. */
TEST(stiff_cables_near_rest) {
  const double weight = 3 * 9.81 * 0.6, rest = -3 * 9.81 * 0.3;
  static const double steps[] = {0.05, 0.01, 0.002};
  print_message("  energy above rest after 1 s, of m g L\n");
  for (int power = 3; power <= 9; power += 2) {
    sn_model *m = hanging_model(pow(10, power));
    print_message("  k = 1e%d", power);
    for (int way = 0; way < 2; way++) {
      for (int n = 0; n < 3; n++) {
        sn_options o = redmax_options(steps[n]);
        o.redmax.integrator = way ? SN_EXTRAPOLATED : SN_EULER;
        sn_sim *sim = test_sim(m, &o);
        sn_state *s = test_state(m);
        const double start = redmax_energy(sim, s);
        double most = 0;
        for (int k = 1; k <= (int)lround(10 / o.step); k++) {
          redmax_step(sim, s, NULL);
          const double above = redmax_energy(sim, s) - rest;
          CHECK(above + rest < start + 1e-3 * weight, "k = 1e%d, %s, h = %g: energy %g above start",
                power, way ? "extrapolated" : "euler", o.step, above + rest - start);
          if (k * o.step > 1) {
            most = fmax(most, above / weight);
          }
        }
        print_message("  %.1e", most);
        const double allowed = way ? 0.05 * (1 + (start - rest) / weight) : 0.05;
        CHECK(most < allowed, "k = 1e%d, %s, h = %g: %g of m g L", power,
              way ? "extrapolated" : "euler", o.step, most);
        sn_state_free(&s);
        sn_sim_free(&sim);
      }
    }
    print_message("\n");
    sn_model_free(&m);
  }
}

/* ---- strings ---- */

/* The exact tangent of stretched strings couples moving and turning of their nodes, which only
 * move. */
TEST(strings_with_the_exact_tangent) {
  sn_body_def arm = test_link("arm", "world", "spherical");
  sn_builder *b = test_builder(&arm);
  sn_force_def def = spring_def("rope", "arm", (sn_vec3){0.3, 0, -0.4}, "world",
                                (sn_vec3){1, 0.5, 0.2}, 2000, 1, 0.5);
  def.type = "string";
  def.nodes = 6;
  def.mass = 0.3;
  CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
  sn_model *m = test_finish(b);
  const int n = sn_model_dof_count(m);
  double *y[REDMAX_SOLVERS] = {NULL};
  for (int k = REDMAX_SOLVERS - 1; k >= 0; k--) {
    sn_options o = redmax_options(0.002);
    o.redmax.tangent = SN_TANGENT_EXACT;
    o.redmax.tolerance = 1e-13;
    if (!redmax_takes(m, k, &o)) {
      continue;
    }
    o.redmax.solver = redmax_solver[k].option;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    for (int i = 0; i < 250; i++) {
      redmax_step(sim, s, NULL);
    }
    y[k] = malloc((size_t)n * sizeof(double));
    memcpy(y[k], sn_state_q(s), (size_t)n * sizeof(double));
    const double off = largest_difference(y[k], y[REDMAX_SOLVERS - 1], n);
    print_message("  %s: %.1e\n", redmax_solver[k].name, off);
    CHECK(off < 1e-9, "%s differs by %g", redmax_solver[k].name, off);
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  for (int k = 0; k < REDMAX_SOLVERS; k++) {
    free(y[k]);
  }
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(a_weight_in_its_cable), T(an_arm), T(stiff_cables_near_rest),
            T(strings_with_the_exact_tangent));
}
