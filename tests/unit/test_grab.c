/* A hand that holds a point of a body: sn_sim_grab and the force `grab` of scenes. */
#include "redmax.h"

enum { LINKS = 5 };

/* A chain that hangs from the world, of links of mass 1 and length 1/2, in joints with some
 * damping; force may be NULL. */
static sn_model *chain(const char *first, const sn_force_def *force) {
  sn_builder *b = sn_builder_create();
  CHECK(b != NULL, "out of memory");
  for (int k = 0; k < LINKS; k++) {
    char name[32], parent[32];
    snprintf(name, sizeof name, "l%d", k);
    snprintf(parent, sizeof parent, "l%d", k - 1);
    sn_body_def def = test_link(name, k ? parent : "world", k ? "spherical" : first);
    def.joint.at = k ? sn_pose(0, 0, -0.5) : sn_pose(0, 0, 0);
    def.inertia = (sn_inertia){.mass = 1, .com = {0, 0, -0.25}, .xx = 0.02, .yy = 0.02, .zz = 0.01};
    def.joint.damping = k ? sn_per_dof_all(0.05) : def.joint.damping;
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  }
  if (force) {
    CHECK(sn_builder_add_force(b, force) == SN_OK, "out of memory");
  }
  return test_finish(b);
}

static const sn_vec3 tip = {0, 0.1, -0.5};

static sn_vec3 point_of(sn_sim *sim, const sn_state *s, int body) {
  sn_se3 E[LINKS];
  CHECK(sn_sim_poses(sim, s, E, NULL) == SN_OK, "no poses");
  return sn_se3_point(E[body], tip);
}

static double distance(sn_vec3 a, sn_vec3 b) {
  return sn_vec3_norm(sn_vec3_sub(a, b));
}

static void grab(sn_sim *sim, const sn_state *s, int body, sn_vec3 target, double k, double d) {
  const sn_grab_def def = {
      .body = body, .point = tip, .target = target, .stiffness = k, .damping = d};
  sn_error err;
  CHECK(sn_sim_grab(sim, s, &def, &err) == SN_OK, "%s", err.text);
}

static sn_options options_of(int which, double step) {
  sn_options o = redmax_options(step);
  if (which < REDMAX_SOLVERS) {
    o.redmax.solver = redmax_solver[which].option;
  } else {
    o.method = "recursive";
    o.recursive.integrator = which == REDMAX_SOLVERS ? SN_DOPRI5 : SN_RK4;
  }
  return o;
}
enum { WAYS = 6 }; /* four solvers of redmax, two integrators of recursive */

static sn_force_def grab_def(sn_vec3 at, double k, double d) {
  sn_force_def def = sn_force_def_default();
  def.name = "hand";
  def.type = "grab";
  def.body = "l3";
  def.at = tip;
  def.vector[0] = sn_constant(at.x);
  def.vector[1] = sn_constant(at.y);
  def.vector[2] = sn_constant(at.z);
  def.stiffness = k;
  def.hand_damping = d;
  return def;
}

/* What a spring to the ground does in a scene, a hand does, and so does the force `grab`; only the
 * order of sums differs, which 40 steps magnify to 2e-12 or less. */
TEST(a_hand_is_a_spring_to_the_ground) {
  const sn_vec3 target = {0.7, -0.4, -1.1};
  const double k = 80, d = 6;
  const sn_force_def spring = spring_def("s", "l3", tip, NULL, target, k, d, 0);
  const sn_force_def held = grab_def(target, k, d);
  sn_model *model[] = {chain("spherical", NULL), chain("spherical", &spring),
                       chain("spherical", &held)};
  for (int way = 0; way < WAYS; way++) {
    const sn_options o = options_of(way, 0.01);
    sn_state *s[3];
    double energy[3];
    for (int which = 0; which < 3; which++) {
      sn_sim *sim = test_sim(model[which], &o);
      s[which] = test_state(model[which]);
      if (which == 0) {
        grab(sim, s[0], 3, target, k, d);
      }
      for (int n = 0; n < 40; n++) {
        test_step(sim, s[which], NULL);
      }
      energy[which] = redmax_energy(sim, s[which]);
      sn_sim_free(&sim);
    }
    for (int which = 1; which < 3; which++) {
      const int n = 2 * sn_model_dof_count(model[0]);
      const double off = largest_difference(sn_state_q(s[0]), sn_state_q(s[which]), n);
      CHECK(off < 1e-10, "way %d, model %d: %g", way, which, off);
      CHECK(fabs(energy[0] - energy[which]) < 1e-10, "way %d, model %d: energy %.17g, %.17g", way,
            which, energy[0], energy[which]);
    }
    for (int which = 0; which < 3; which++) {
      sn_state_free(&s[which]);
    }
  }
  for (int which = 0; which < 3; which++) {
    sn_model_free(&model[which]);
  }
}

/* The hand goes round in a circle that the chain can reach, then stops.  At any stiffness, up to
 * k h^2/m = 1e8, nothing blows up (speeds stay below 10, where the hand has 2.5) and the tip
 * is where the hand is: by the weight of all over k, three times that where it still swings, and by
 * what the arc of a step differs from its tangent, (h w)^2 l/2 with w of about 1. */
TEST(stable_at_any_stiffness) {
  sn_model *m = chain("spherical", NULL);
  const double h = 0.01, stiff[] = {1e2, 1e4, 1e6, 1e8};
  for (int way = 0; way < REDMAX_SOLVERS; way++) {
    for (int which = 0; which < 4; which++) {
      const double k = stiff[which] / (h * h);
      const sn_options o = options_of(way, h);
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      for (int i = 0; i < LINKS; i++) { /* bent: a straight chain cannot be shortened at once */
        sn_state_q(s)[3 * i] = i % 2 ? -0.6 : 0.3;
        sn_state_q(s)[3 * i + 1] = 0.1;
      }
      const sn_vec3 start = point_of(sim, s, LINKS - 1);
      grab(sim, s, LINKS - 1, start, k, -1);
      for (int n = 0; n < 500; n++) {
        const double a = fmin(n * h, 3) * 5;
        const sn_vec3 at = {start.x + 0.5 * sin(a), start.y + 0.5 * (1 - cos(a)),
                            start.z + 0.2 * fmin(a, 1)};
        CHECK(sn_sim_drag(sim, at, NULL) == SN_OK, "not held");
        test_step(sim, s, NULL);
        sn_energy e;
        sn_sim_energy(sim, s, &e);
        CHECK(e.kinetic < 0.5 * LINKS * 10 * 10, "way %d, k %g, step %d: T = %g", way, k, n,
              e.kinetic);
        if (n > 450) {
          const double off = distance(point_of(sim, s, LINKS - 1), at);
          CHECK(off < 3 * LINKS * 9.81 / k + 5e-5, "way %d, k %g: %g away", way, k, off);
        }
      }
      sn_state_free(&s);
      sn_sim_free(&sim);
    }
  }
  sn_model_free(&m);
}

/* Somebody pulls at what cannot come: a chain of 2.5 to a point 20 away. */
TEST(stable_where_it_cannot_reach) {
  sn_model *m = chain("spherical", NULL);
  const double h = 0.01;
  const sn_vec3 far = {20, 0, 0};
  for (int way = 0; way < REDMAX_SOLVERS; way++) {
    for (double k = 1e2; k < 1e13; k *= 1e5) {
      const sn_options o = options_of(way, h);
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      grab(sim, s, LINKS - 1, far, k, -1);
      for (int n = 0; n < 500; n++) {
        test_step(sim, s, NULL);
        const double reach = sn_vec3_norm(point_of(sim, s, LINKS - 1));
        CHECK(reach < 0.5 * LINKS + 0.1, "way %d, k %g, step %d: %g", way, k, n, reach);
      }
      const sn_vec3 x = point_of(sim, s, LINKS - 1);
      CHECK(x.x > 0.98 * 0.5 * LINKS, "way %d, k %g: (%g, %g, %g)", way, k, x.x, x.y, x.z);
      sn_state_free(&s);
      sn_sim_free(&sim);
    }
  }
  sn_model_free(&m);
}

/* With what the library chooses: the usual stiffness bears all the weight within g / 20^2, or where
 * an explicit step bears less, within what its stiffness says.  Time to come there: 3 s are 30 of
 * the hand's own; explicit damping below the critical lets the chain swing on for a while. */
TEST(what_is_held_follows) {
  sn_model *m = chain("free", NULL);
  for (int way = 0; way < WAYS; way++) {
    const sn_options o = options_of(way, 0.005);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    const sn_vec3 target = {0.3, 0.4, 0.5};
    grab(sim, s, 0, target, -1, -1);
    sn_grab_def held;
    CHECK(sn_sim_held(sim, &held) && held.body == 0, "not held");
    for (int n = 0; n < 600; n++) {
      test_step(sim, s, NULL);
    }
    const double sag = LINKS * 9.81 / held.stiffness, off = distance(point_of(sim, s, 0), target);
    CHECK(off < 2 * sag + 0.01, "way %d: %g away, sag %g", way, off, sag);
    if (way < REDMAX_SOLVERS) {
      CHECK(held.stiffness == LINKS * 400.0, "way %d: stiffness %g", way, held.stiffness);
      CHECK(fabs(held.damping - 2 * LINKS * 20) < 1e-12, "way %d: damping %g", way, held.damping);
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  sn_model_free(&m);
}

/* An explicit step bears little: what is chosen keeps to it, and a large step makes no energy out
 * of nothing (1 J of some hundred for its errors). */
TEST(explicit_steps_get_a_softer_hand) {
  sn_model *m = chain("spherical", NULL);
  for (double h = 0.001; h < 0.05; h *= 2) {
    const sn_options o = options_of(WAYS - 1, h);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    grab(sim, s, LINKS - 1, (sn_vec3){0.5, 0, -1.5}, -1, -1);
    sn_grab_def held;
    CHECK(sn_sim_held(sim, &held), "not held");
    CHECK(held.stiffness * h * h < 0.25 && held.damping * h < 1, "h %g: k %g, d %g", h,
          held.stiffness, held.damping); /* the lightest inertia is below that of a link, 1 */
    const double most = redmax_energy(sim, s) + 1;
    for (double t = 0; t < 2; t += h) {
      test_step(sim, s, NULL);
      const double E = redmax_energy(sim, s);
      CHECK(E < most, "h %g, t %g: E = %g, at the start %g", h, t, E, most);
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  sn_model_free(&m);
}

/* One motion, by both methods: a soft hand that is dragged on and lets go.  The extrapolated step
 * is of second order: what is left falls by 4 with half the step (3 leaves room for third order).
 */
TEST(methods_agree) {
  sn_model *m = chain("spherical", NULL);
  sn_se3 end[3][LINKS];
  for (int which = 0; which < 3; which++) {
    sn_options o = options_of(which ? 0 : REDMAX_SOLVERS, which == 2 ? 0.0005 : 0.001);
    o.redmax.integrator = SN_EXTRAPOLATED;
    o.recursive.rel_tol = o.recursive.abs_tol = 1e-11;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    const int tenth = (int)lround(0.1 / o.step);
    grab(sim, s, 3, (sn_vec3){0.3, 0.1, -1.8}, 100, 8);
    for (int k = 0; k < 4 * tenth; k++) {
      if (k == tenth) {
        CHECK(sn_sim_drag(sim, (sn_vec3){0.2, -0.3, -1.7}, NULL) == SN_OK, "not held");
      }
      if (k == 3 * tenth) {
        sn_sim_release(sim);
      }
      test_step(sim, s, NULL);
    }
    CHECK(sn_sim_poses(sim, s, end[which], NULL) == SN_OK, "no poses");
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  double coarse = 0, fine = 0;
  for (int i = 0; i < LINKS; i++) {
    coarse = fmax(coarse, distance(sn_se3_point(end[0][i], tip), sn_se3_point(end[1][i], tip)));
    fine = fmax(fine, distance(sn_se3_point(end[0][i], tip), sn_se3_point(end[2][i], tip)));
  }
  CHECK(fine < 1e-3 && fine < coarse / 3, "%g, %g", coarse, fine);
  sn_model_free(&m);
}

/* A state that was saved while something was held goes on bit for bit once it is grabbed again; and
 * what is dragged elsewhere goes elsewhere at once, also where a method had walked ahead. */
TEST(resumes_exactly_when_grabbed_again) {
  sn_model *m = chain("spherical", NULL);
  for (int way = 0; way < WAYS; way++) {
    const sn_options o = options_of(way, 0.01);
    sn_sim *sim = test_sim(m, &o), *other = test_sim(m, &o);
    sn_state *s = test_state(m), *saved = NULL, *dragged = NULL;
    const sn_vec3 target = {0.4, 0.2, -2};
    grab(sim, s, 4, target, 200, 10);
    for (int k = 0; k < 10; k++) {
      test_step(sim, s, NULL);
    }
    CHECK(sn_state_clone(s, &saved) == SN_OK && sn_state_clone(s, &dragged) == SN_OK, "no memory");
    grab(other, saved, 4, target, 200, 10);
    for (int k = 0; k < 10; k++) {
      test_step(sim, s, NULL);
      test_step(other, saved, NULL);
    }
    CHECK(sn_state_equal(s, saved), "way %d: not the same", way);
    CHECK(sn_sim_drag(other, (sn_vec3){-1, 0, -2}, NULL) == SN_OK, "not held");
    sn_sim_free(&sim);
    sim = test_sim(m, &o);
    grab(sim, dragged, 4, target, 200, 10);
    for (int k = 0; k < 10; k++) {
      test_step(sim, dragged, NULL);
    }
    test_step(sim, dragged, NULL);
    test_step(other, saved, NULL);
    CHECK(!sn_state_equal(dragged, saved), "way %d: the drag did nothing", way);
    sn_state_free(&s);
    sn_state_free(&saved);
    sn_state_free(&dragged);
    sn_sim_free(&sim);
    sn_sim_free(&other);
  }
  sn_model_free(&m);
}

/* A hand that moves on steadily with what it holds exerts nothing: its own rate counts. */
TEST(a_moving_hand_has_a_rate) {
  sn_force_def hand = grab_def((sn_vec3){0}, 300, 40);
  hand.body = "stone";
  hand.at = (sn_vec3){0};
  hand.vector[0] = (sn_function_def){.expression = "3*t"};
  sn_body_def stone = test_link("stone", NULL, "free");
  stone.inertia.com = (sn_vec3){0};
  for (int way = 0; way < WAYS; way++) {
    sn_builder *b = test_builder(&stone);
    CHECK(sn_builder_add_force(b, &hand) == SN_OK, "out of memory");
    sn_builder_set_gravity(b, (sn_vec3){0});
    sn_model *m = test_finish(b);
    const sn_options o = options_of(way, 0.01);
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    sn_state_qd(s)[0] = 3;
    for (int k = 0; k < 100; k++) {
      test_step(sim, s, NULL);
      CHECK(fabs(sn_state_q(s)[0] - 3 * *sn_state_time(s)) < 1e-12, "way %d, t = %g: %g", way,
            *sn_state_time(s), sn_state_q(s)[0]);
    }
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

/* Left out, the damping of the force `grab` is critical for the mass of all. */
TEST(usual_damping_of_a_scripted_hand) {
  const sn_force_def hand = grab_def((sn_vec3){0}, 500, -1);
  sn_model *m = chain("spherical", &hand);
  sn_sim *sim = test_sim(m, NULL);
  double damping = 0;
  CHECK(sn_sim_get(sim, "forces.hand.damping", &damping, NULL) == SN_OK, "no such parameter");
  CHECK(fabs(damping - 2 * sqrt(500.0 * LINKS)) < 1e-12, "%g", damping);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

TEST(refusals) {
  sn_model *m = chain("spherical", NULL);
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(m);
  const sn_vec3 x = {0, 0, 0}, bad = {0, NAN, 0};
  const struct {
    sn_grab_def def;
    const char *text;
  } list[] = {{{-1, x, x, 1, 1}, "grab: there is no body -1, the model has 0 to 4"},
              {{LINKS, x, x, 1, 1}, "grab: there is no body 5, the model has 0 to 4"},
              {{2, bad, x, 1, 1}, "grab 'l2': the point is not finite"},
              {{2, x, bad, 1, 1}, "grab 'l2': the target is not finite"},
              {{2, x, x, INFINITY, 1}, "grab 'l2': the stiffness is not finite"},
              {{2, x, x, 1, NAN}, "grab 'l2': the damping is not finite"}};
  sn_error err = {0};
  CHECK(sn_sim_drag(sim, x, &err) == SN_E_ARGUMENT, "nothing is held");
  CHECK(strcmp(err.text, "drag: nothing is held, grab something before") == 0, "%s", err.text);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    CHECK(sn_sim_grab(sim, s, &list[k].def, &err) < 0, "case %zu was taken", k);
    CHECK(strcmp(err.text, list[k].text) == 0, "case %zu: %s", k, err.text);
    CHECK(!sn_sim_held(sim, NULL), "case %zu: held", k);
  }
  grab(sim, s, 1, x, 1, 1);
  CHECK(sn_sim_drag(sim, bad, &err) == SN_E_VALUE, "taken");
  sn_grab_def held;
  CHECK(sn_sim_held(sim, &held) && held.target.y == 0, "the target has changed");
  sn_sim_release(sim);
  CHECK(!sn_sim_held(sim, &held), "still held");
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(a_hand_is_a_spring_to_the_ground), T(stable_at_any_stiffness),
            T(stable_where_it_cannot_reach), T(what_is_held_follows),
            T(explicit_steps_get_a_softer_hand), T(methods_agree),
            T(resumes_exactly_when_grabbed_again), T(a_moving_hand_has_a_rate),
            T(usual_damping_of_a_scripted_hand), T(refusals));
}
