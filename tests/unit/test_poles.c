/* Functions of time with poles: steps of a given size do not jump over them and say nothing. */
#include "stage.h"

static sni_function *function(const char *expression) {
  const sn_function_def def = {.expression = expression};
  sni_function *f = NULL;
  sn_error err = {0};
  CHECK(sni_function_build(&def, &f, &err) == SN_OK, "%s: %s", expression, err.text);
  return f;
}

/* Between 0.4937 and 0.5037, wherever in this. */
static const char *const pole[] = {"1/(t - 0.5)",        "1/(t - 0.5)^2",
                                   "-3/(t - 0.50369)^3", "1e-6/(0.4938 - t)",
                                   "tan(pi*t)",          "t > 0.2 ? 1/(2*t - 1) : t",
                                   "cos(t)/sin(2*pi*t)", "(t - 0.1)/(t*t - 0.25)",
                                   "1e8/(t - 0.5)",      "(t - 0.5)^(-1)"};

static const char *const none[] = {"sin(t - 0.5)/(t - 0.5)",
                                   "(1 - cos(t - 0.5))/(t - 0.5)^2",
                                   "(t*t - 0.25)/(t - 0.5)",
                                   "1/(1e-9 + (t - 0.5)^2)",
                                   "1/(1e-9 + (t - 0.5)*(t - 0.5))",
                                   "t > 0.5 ? 1/(t - 0.4) : 1/(t - 0.6)",
                                   "1/(t > 0.5 ? 1 : -1)",
                                   "1e6*exp(-((t - 0.5)/1e-6)^2)",
                                   "log(abs(t - 0.5))",
                                   "sqrt(abs(t - 0.5))",
                                   "tan(t)",
                                   "1/t",
                                   "floor(t*1000)",
                                   "1e300*t",
                                   "0",
                                   "t - t"};

TEST(poles_are_seen) {
  double at = 0;
  for (size_t k = 0; k < sizeof pole / sizeof *pole; k++) {
    sni_function *f = function(pole[k]);
    CHECK(sni_function_pole(f, 0.4937, 0.5037, &at), "%s", pole[k]);
    CHECK(at > 0.4937 && at < 0.5037, "%s: at %g", pole[k], at);
    CHECK(!sni_function_pole(f, 0.51, 0.52, &at), "%s: where it has none", pole[k]);
    sni_function_free(&f);
  }
  for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
    sni_function *f = function(none[k]);
    CHECK(!sni_function_pole(f, 0.4937, 0.5037, &at), "%s: at %g", none[k], at);
    sni_function_free(&f);
  }
}

#define RODS                                                                                       \
  "sinew: 1\n"                                                                                     \
  "defaults:\n"                                                                                    \
  "  joint: {type: revolute, axis: [0, 1, 0]}\n"                                                   \
  "  body: {inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.1, yy: 0.2, zz: 0.1}}\n"                     \
  "bodies:\n"                                                                                      \
  "  upper: {parent: world, joint: {}}\n"                                                          \
  "  lower: {parent: upper, joint: {at: [1, 0, 0]}}\n"

static const struct {
  const char *scene, *says; /* NULL: nothing, it runs */
} runs[] = {
    {RODS "motions: {turn: {joint: upper, q: 0.001/(t - 0.0555)}}\n",
     "motion 'turn': its function of time has a pole at t = 0.0555"},
    {RODS "motions: {turn: {joint: upper, rate: 0.001/(t - 0.0555)^2}}\n",
     "motion 'turn': its function of time has a pole at t = 0.0555"},
    {RODS "forces: {push: {type: joint_torque, joint: lower, torque: 0.001/(t - 0.0555)}}\n",
     "force 'push': its function of time has a pole at t = 0.0555"},
    {RODS "forces: {push: {type: joint_torque, joint: lower, torque: 0.001/(t - 0.0555), active: "
          "\"t > 0.06\"}}\n",
     NULL},
    {RODS "forces: {push: {type: joint_torque, joint: lower, torque: 1, active: 1/(t - 0.0555)}}\n",
     NULL}};

static sn_options option_of(int k) {
  sn_options o = sn_options_default();
  o.step = 0.01;
  o.method = k == 0 ? "recursive" : k == 3 ? "structured" : "redmax";
  o.recursive.integrator = SN_RK4;
  o.redmax.integrator = k == 1 ? SN_EULER : SN_EXTRAPOLATED;
  return o;
}

TEST(steps_do_not_jump_over_poles) {
  for (int k = 0; k < 4; k++) {
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
      stage b = stage_set(runs[i].scene, option_of(k));
      sn_error err = {0};
      sn_status status = SN_OK;
      int n = 0;
      for (; n < 10 && !status; n++) {
        status = sn_sim_step(b.sim, b.s, NULL, NULL, &err);
      }
      if (runs[i].says) {
        CHECK(status == SN_E_DIVERGED && strstr(err.text, runs[i].says), "%d: %s", k, err.text);
        CHECK(n == 6 && fabs(*sn_state_time(b.s) - 0.05) < 1e-12, "%d: after %d", k, n);
      } else {
        CHECK(status == SN_OK, "%d: %s", k, err.text);
      }
      stage_clear(&b);
    }
  }
}

int main(void) {
  RUN_TESTS(T(poles_are_seen), T(steps_do_not_jump_over_poles));
}
