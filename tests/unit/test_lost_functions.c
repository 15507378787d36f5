/* A function of time that comes to its end (sqrt(0.495 - t)) in the midst of a run: every method
 * stops there, and says whose it is and when; nothing runs on without it. */
#include "structured.h"

/* Two rods, one of which closes a loop that has a drive; %s: what is lost. */
static const char rods[] =
    "sinew: 1\n"
    "defaults:\n"
    "  joint: {type: revolute, axis: [0, 1, 0]}\n"
    "  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.1, yy: 0.2, zz: 0.1}}\n"
    "bodies:\n"
    "  upper: {parent: world, joint: {}}\n"
    "  lower: {parent: upper, joint: {at: [1, 0, 0]}}\n"
    "  wheel: {parent: world, joint: {at: [2.5, 0, 0]}}\n"
    "%s\n";

static const struct {
  const char *scene, *who, *what;
  bool loops; /* with a constraint beside it, so that motions are rows in every method */
} lost[] = {
    {"motions: {turn: {joint: upper, q: sqrt(0.495 - t)}}", "motion 'turn': ", "q", false},
    {"motions: {turn: {joint: upper, q: sqrt(0.495 - t)}}", "motion 'turn': ", "q", true},
    {"motions: {turn: {joint: upper, rate: log(0.495 - t)}}", "motion 'turn': ", "rate", false},
    {"motions: {turn: {body: lower, at: [1, 0, 0], point: [1.5, 0, sqrt(0.495 - t)]}}",
     "motion 'turn': ", "point", false},
    {"motions: {turn: {body: lower, twist: [0, sqrt(0.495 - t), 0, 0, 0, 0]}}",
     "motion 'turn': ", "twist", false},
    {"motions: {turn: {joint: upper, q: t, active: sqrt(0.495 - t)}}", "motion 'turn': ", "active",
     false},
    {"motions: {turn: {joint: upper, q: t, active: sqrt(0.495 - t)}}", "motion 'turn': ", "active",
     true},
    {"constraints: {rod: {type: distance, a: {body: lower, at: [1, 0, 0]}, b: {body: world, at: "
     "[0, 0, 1]}, active: sqrt(0.495 - t)}}",
     "constraint 'rod': ", "active", false},
    {"constraints: {teeth: {type: couple, terms: [{joint: upper}, {joint: wheel}], offset: "
     "sqrt(0.495 - t)}}",
     "constraint 'teeth': ", "offset", false},
    {"loops: {pin: {type: revolute, axis: [0, 1, 0], a: {body: lower, at: [1, 0, 0]}, b: {body: "
     "wheel, at: [-1, 0, 0]}, active: sqrt(0.495 - t)}}",
     "loop 'pin': ", "active", false},
    {"loops: {pin: {type: revolute, axis: [0, 1, 0], a: {body: lower, at: [1, 0, 0]}, b: {body: "
     "wheel, at: [-1, 0, 0]}, drive: {stiffness: 10, target: sqrt(0.495 - t)}}}",
     "drive of loop 'pin': ", "target", false},
    {"forces: {push: {type: point_force, body: lower, force: [0, 0, sqrt(0.495 - t)]}}",
     "force 'push': ", "its function of time", false},
    {"forces: {push: {type: point_force, body: lower, force: [0, 0, 1], active: sqrt(0.495 - t)}}",
     "force 'push': ", "active", false},
};

static const struct {
  const char *method;
  int choice; /* solver of structured, integrator of others */
} way[] = {{"structured", SN_STRUCTURED},
           {"structured", SN_STRUCTURED_DENSE},
           {"structured", SN_FULL_DENSE},
           {"structured", SN_FULL_ITERATIVE},
           {"structured", SN_STRUCTURED_GRAPH},
           {"redmax", SN_EULER},
           {"redmax", SN_EXTRAPOLATED},
           {"recursive", SN_DOPRI5},
           {"recursive", SN_RK4}};

static sn_options options_of(int k) {
  sn_options o = sn_options_default();
  o.method = way[k].method;
  o.step = 0.01;
  o.structured.solver = (sn_structured_solver)way[k].choice;
  if (strcmp(o.method, "redmax") == 0) {
    o.redmax.integrator = (sn_implicit)way[k].choice;
  } else if (strcmp(o.method, "recursive") == 0) {
    o.recursive.integrator = (sn_integrator)way[k].choice;
  }
  return o;
}

static void expect(int k, int which) {
  char text[2000], more[1000];
  snprintf(more, sizeof more, "%s\n%s", lost[k].scene,
           lost[k].loops ? "constraints: {thread: {type: distance, a: {body: wheel, at: [1, 0, "
                           "0]}, b: {body: world, at: [4, 1, 0]}}}"
                         : "");
  snprintf(text, sizeof text, rods, more);
  sn_model *m = stage_model(text);
  const sn_options o = options_of(which);
  sn_sim *sim = NULL;
  sn_error err = {0};
  sn_status status = sn_sim_create(m, &o, &sim, &err);
  const bool full = strcmp(o.method, "structured") == 0 &&
                    (way[which].choice == SN_FULL_DENSE || way[which].choice == SN_FULL_ITERATIVE);
  if (full && status == SN_E_UNSUPPORTED) { /* a constraint over several joints */
    sn_model_free(&m);
    return;
  }
  CHECK(status == SN_OK, "case %d, %s %d: %s", k, o.method, way[which].choice, err.text);
  sn_state *s = test_state(m);
  CHECK(sn_sim_assemble(sim, s, &err) == SN_OK, "case %d: %s", k, err.text);
  int steps = 0;
  for (status = SN_OK; status >= 0 && steps < 100; steps++) {
    status = sn_sim_step(sim, s, NULL, NULL, &err);
  }
  const double t = *sn_state_time(s);
  CHECK(status == SN_E_DIVERGED && t > 0.2 && t < 0.495, "case %d, %s %d: %s at t = %g: %s", k,
        o.method, way[which].choice, sn_status_text(status), t, err.text);
  const char *at = strstr(err.text, "is not finite at t = ");
  CHECK(strncmp(err.text, lost[k].who, strlen(lost[k].who)) == 0 &&
            strstr(err.text, lost[k].what) && at,
        "case %d, %s %d: '%s'", k, o.method, way[which].choice, err.text);
  const double when = at ? strtod(at + strlen("is not finite at t = "), NULL) : 0;
  CHECK(when > 0.4949 && when < 0.52, "case %d, %s %d: '%s'", k, o.method, way[which].choice,
        err.text);
  for (int i = 0; i < sn_model_dof_count(m); i++) {
    CHECK(isfinite(sn_state_q(s)[i]) && isfinite(sn_state_qd(s)[i]), "the state is lost");
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

TEST(what_is_lost_is_named) {
  for (int k = 0; k < (int)(sizeof lost / sizeof lost[0]); k++) {
    for (int which = 0; which < (int)(sizeof way / sizeof way[0]); which++) {
      expect(k, which);
    }
  }
}

/* What nobody asks for may be anything. */
TEST(what_is_not_active_may_be_lost) {
  for (int which = 0; which < (int)(sizeof way / sizeof way[0]); which++) {
    char text[2000];
    snprintf(
        text, sizeof text, rods,
        "motions: {turn: {body: lower, at: [1, 0, 0], point: [1.5, 0, sqrt(0.2 - t)], active: "
        "t < 0.1}}\n"
        "forces: {push: {type: point_force, body: lower, force: [0, 0, sqrt(0.2 - t)], active: "
        "t < 0.1}}");
    stage g = stage_set(text, options_of(which));
    for (int k = 0; k < 50; k++) {
      sn_error err = {0};
      CHECK(sn_sim_step(g.sim, g.s, NULL, NULL, &err) >= 0, "%s: %s", way[which].method, err.text);
    }
    stage_clear(&g);
  }
}

int main(void) {
  RUN_TESTS(T(what_is_lost_is_named), T(what_is_not_active_may_be_lost));
}
