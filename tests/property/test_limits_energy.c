/* Limits bring no energy: closed chains that are let go, with limits in all joints and any
 * restitution, whatever solves, integrates, closes and activates. */
#include "stage.h"

enum { LINKS_MAX = 8, TEXT = 8000 };
#define LENGTH 0.3 /* m, of a link of 1 kg                                    */
#define G      9.81

/* Angles at which a chain is closed, and how far each may turn from there. */
typedef struct chain {
  int n;
  double q[LINKS_MAX], less[LINKS_MAX], more[LINKS_MAX];
} chain;

/* One in two hangs nearly stretched between its ends, where little way of a joint is much of
 * another. */
static chain draw(uint64_t *seed, bool stretched) {
  chain c = {.n = 3 + (int)(test_random_u64(seed) % (LINKS_MAX - 2))};
  const double bend = stretched ? 0.25 : 0.9;
  for (int i = 0; i < c.n; i++) {
    c.q[i] = test_random(seed, -bend, bend);
    c.less[i] = stretched ? 0.35 + c.q[i] : test_random(seed, 0.05, 0.4);
    c.more[i] = stretched ? 0.35 - c.q[i] : test_random(seed, 0.05, 0.4);
  }
  return c;
}

static void write(const chain *c, double restitution, char *text) {
  double turned = 0, x = 0, z = 0;
  size_t used = (size_t)snprintf(text, TEXT, "sinew: 1\nbodies:\n");
  for (int i = 0; i < c->n; i++) {
    char above[32] = "world";
    snprintf(above, i ? sizeof above : 0, "b%d", i - 1);
    used += (size_t)snprintf(
        text + used, TEXT - used,
        "  b%d: {parent: %s, joint: {type: revolute, axis: [0, 1, 0], at: [%g, 0, 0], limits: "
        "[%.17g, %.17g], stop: {restitution: %g}}, inertia: {mass: 1, at: [%g, 0, 0], xx: 0.001, "
        "yy: 0.01, zz: 0.01}}\n",
        i, above, i ? LENGTH : 0., c->q[i] - c->less[i], c->q[i] + c->more[i], restitution,
        LENGTH / 2);
    turned += c->q[i];
    x += LENGTH * cos(turned);
    z -= LENGTH * sin(turned);
  }
  used += (size_t)snprintf(text + used, TEXT - used,
                           "loops:\n  end: {type: revolute, axis: [0, 1, 0], a: {body: b%d, at: "
                           "[%g, 0, 0]}, b: {body: world, at: [%.17g, 0, %.17g]}}\ninitial:\n",
                           c->n - 1, LENGTH, x, z);
  for (int i = 0; i < c->n; i++) {
    used += (size_t)snprintf(text + used, TEXT - used, "  b%d: {q: %.17g}\n", i, c->q[i]);
  }
}

/* How far the energy rises above its start, by parts of what the integrator itself may make:
 *
 *   - what falls freely for one step has M (g h)^2/2;
 *   - what hits goes back from where it was when the step began, which is h v further than where it
 *     would be: up to h g sum(m |v|) <= h g sqrt(2 M T) for each blow.  Flight takes that away
 *     again, a few blows sooner or later.  Where little comes back there is none of it. */
static double rise(const chain *c, double restitution, sn_options o, double duration) {
  char text[TEXT];
  write(c, restitution, text);
  stage b = stage_set(text, o);
  const double start = stage_energy(&b), fall = 0.5 * c->n * (G * o.step) * (G * o.step);
  double most = 0, T = 0;
  for (int k = 0; k < (int)lround(duration / o.step); k++) {
    sn_energy e;
    stage_step(&b, 1);
    sn_sim_energy(b.sim, b.s, &e);
    T = fmax(T, e.kinetic);
    most = fmax(most, e.kinetic + e.potential - start);
  }
  stage_clear(&b);
  const bool thrown = restitution > 0.5 && o.redmax.integrator == SN_EULER;
  return most / (fall + (thrown ? 4 * o.step * G * sqrt(2 * c->n * T) : 0));
}

typedef struct way {
  const char *name;
  sn_implicit integrator;
  sn_inertia_term inertia;
  sn_closure closure;
} way;

static const double restitution[] = {0, 1e-6, 0.5, 1};
static const sn_activation activation[] = {SN_ACTIVATION_MARGIN, SN_ACTIVATION_PENETRATION};

/* With the paper's inertia, chains that rattle without loss still gain energy: docs/limits.md. */
static bool may_rattle(const way *w) {
  return w->inertia == SN_INERTIA_PROJECTED;
}

TEST(closed_chains_gain_nothing_by_limits) {
  static const way ways[] = {
      {"euler", SN_EULER, SN_INERTIA_PROJECTED, SN_CLOSURE_PROJECT},
      {"extrapolated", SN_EXTRAPOLATED, SN_INERTIA_PROJECTED, SN_CLOSURE_PROJECT},
      {"euler, paper", SN_EULER, SN_INERTIA_PAPER, SN_CLOSURE_PROJECT},
      {"euler, baumgarte", SN_EULER, SN_INERTIA_PROJECTED, SN_CLOSURE_BAUMGARTE}};
  uint64_t seed = 61;
  for (int k = 0; k < 12; k++) {
    const chain c = draw(&seed, k % 2);
    for (int e = 0; e < 4; e++) {
      for (int w = 0; w < 4; w++) {
        const bool known = restitution[e] < 1 || may_rattle(&ways[w]);
        for (int a = 0; a < 2 && known; a++) {
          sn_options o = redmax_options(k % 3 ? 0.01 : 0.004);
          o.redmax.integrator = ways[w].integrator;
          o.redmax.inertia = ways[w].inertia;
          o.redmax.closure = ways[w].closure;
          o.redmax.activation = activation[a];
          const double more = rise(&c, restitution[e], o, 1.5);
          CHECK(more <= 1, "chain %d of %d, restitution %g, %s, activation %d: %g times too much",
                k, c.n, restitution[e], ways[w].name, a, more);
        }
      }
    }
  }
}

TEST(every_solver_gains_nothing) {
  uint64_t seed = 5;
  for (int k = 0; k < 3 * REDMAX_SOLVERS; k++) {
    const chain c = draw(&seed, k % 2);
    for (int a = 0; a < 2; a++) {
      sn_options o = redmax_options(0.01);
      o.redmax.solver = redmax_solver[k % REDMAX_SOLVERS].option;
      o.redmax.tolerance = 1e-13;
      o.redmax.activation = activation[a];
      const double more = rise(&c, restitution[1 + k % 3], o, 1.5);
      CHECK(more <= 1, "chain %d of %d, %s, activation %d: %g times too much", k, c.n,
            redmax_solver[k % REDMAX_SOLVERS].name, a, more);
    }
  }
}

/* A rocker that falls onto its limit, alone or with a crank and a rod on it: what gets there in one
 * step stays there, wherever in the step that is, as gravity holds it. */
static const char rocker[] =
    "sinew: 1\n"
    "defaults: {joint: {type: revolute, axis: [0, 1, 0]}}\n"
    "bodies:\n"
    "  c: {parent: world, joint: {at: [1.5, 0, 0], limits: [-0.25, 0.25]}, inertia: {mass: 5, at: "
    "[0, 0, 0.6], xx: 0.6, yy: 0.6, zz: 0.01}}\n";
static const char on_it[] =
    "  a: {parent: world, joint: {}, inertia: {mass: 5, at: [0, 0, 0.5], xx: 0.4, yy: 0.4, zz: "
    "0.01}}\n"
    "  b: {parent: a, joint: {at: [0, 0, 1]}, inertia: {mass: 7, at: [0.75, 0, 0.1], xx: 0.01, yy: "
    "1.3, zz: 1.3}}\n"
    "loops:\n"
    "  pin: {type: revolute, axis: [0, 1, 0], a: {body: b, at: [1.5, 0, 0.2]}, b: {body: c, at: "
    "[0, "
    "0, 1.2]}}\n";

TEST(hard_stops_throw_nothing_back) {
  char text[TEXT];
  for (int k = 0; k < 40; k++) {
    const bool alone = k % 2;
    sn_options o = redmax_options(0.0005 + 0.00013 * k);
    o.redmax.integrator = SN_EXTRAPOLATED;
    snprintf(text, TEXT, "%s%sinitial: {%s: {qd: 1}}\n", rocker, alone ? "" : on_it,
             alone ? "c" : "a");
    stage b = stage_set(text, o);
    double back = 0;
    bool there = false;
    for (int n = 0; n * o.step < 0.8; n++) {
      stage_step(&b, 1);
      there = there || stage_channel(&b, "c.q") > 0.25 - 1e-6;
      back = there ? fmin(back, stage_channel(&b, "c.qd")) : 0;
    }
    CHECK(there && back > -1e-9, "%s, %g s: goes back with %g rad/s",
          alone ? "alone" : "with a loop", o.step, back);
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(closed_chains_gain_nothing_by_limits), T(every_solver_gains_nothing),
            T(hard_stops_throw_nothing_back));
}
