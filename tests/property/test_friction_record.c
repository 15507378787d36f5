/* What is recorded of friction in joints: reactions that have no part along their joints but what
 * acts there, and the power of every law. */
#include "methods/redmax/rub.h"
#include "stage.h"
#include "vectors.h"

/* ---- reactions: J^T f_alpha = 0 ---- */

/* A tree of all kinds of joints, one of them with a spring. */
#define PINS "friction: {mu: 0.5, pin_radius: 0.05, pin_length: 0.2}"
static const char tree[] =
    "sinew: 1\n"
    "bodies:\n"
    "  one: {joint: {type: revolute, axis: [0, 1, 0.5], " PINS
    "}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 500}]}\n"
    "  two: {parent: one, joint: {type: universal, at: [1, 0, 0], " PINS
    "}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 500}]}\n"
    "  three: {parent: two, joint: {type: cylindrical, axis: [1, 0, 0], at: [1, 0, 0], stiffness: "
    "[0, 500], friction: {mu: 0.5, pin_radius: 0.05, pin_length: 1}}, shapes: [{type: box, size: "
    "[1, 0.1, 0.2], at: [0.5, 0.2, 0], density: 500}]}\n"
    "  four: {parent: three, joint: {type: spherical, at: [1, 0, 0], friction: {mu: 0.5, "
    "pin_radius: 0.05}}, shapes: [{type: box, size: [1, 0.1, 0.2], at: [0.5, 0.1, 0], density: "
    "500}]}\n";

/* A crank that a motor turns, a rod and a rocker that close a loop, and on the rod an arm with a
 * spring and a damper in its joint, a spring to the crank, and a drive in the slider at its end,
 * which falls on the floor. */
static const char everything[] =
    "sinew: 1\n"
    "contacts: {floor: {friction: 0.4}}\n"
    "bodies:\n"
    "  floor: {joint: {type: fixed, at: [0, 0, -0.75]}, shapes: [{type: plane, contact: floor}]}\n"
    "  crank: {joint: {type: revolute, axis: [0, 1, 0], " PINS
    "}, shapes: [{type: box, size: [0.1, 0.1, 0.3], at: [0, 0, 0.15], density: 1000}]}\n"
    "  rod: {parent: crank, joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, 0.3], " PINS
    "}, shapes: [{type: box, size: [1, 0.1, 0.1], at: [0.5, 0, 0], density: 1000}]}\n"
    "  rocker: {parent: rod, joint: {type: revolute, axis: [0, 1, 0], at: [1, 0, 0], " PINS
    "}, shapes: [{type: box, size: [0.1, 0.1, 0.8], at: [0, 0, -0.4], density: 1000}]}\n"
    "  arm: {parent: rod, joint: {type: revolute, axis: [0, 1, 0.1], at: [0.5, 0, 0], stiffness: "
    "2, "
    "damping: 0.3, " PINS
    "}, shapes: [{type: box, size: [0.8, 0.1, 0.1], at: [0.4, 0, 0], density: 500}]}\n"
    "  hand: {parent: arm, joint: {type: prismatic, axis: [1, 0, 0], at: [0.7, 0, 0], drive: "
    "{target: 0.1*sin(9*t), stiffness: 400, damping: 5}, friction: {mu: 0.2, size: [0.1, 0.1, "
    "0.4]}}, shapes: [{type: sphere, radius: 0.1, at: [0.2, 0.05, 0], density: 500, contact: "
    "floor}]}\n"
    "forces: {pull: {type: spring, a: {body: crank, at: [0.1, 0, 0.2]}, b: {body: arm, at: [0.3, "
    "0.1, 0]}, stiffness: 80, damping: 2, rest_length: 0.3}}\n"
    "loops: {pin: {type: spherical, a: {body: world, at: [1, 0, -0.5]}, b: {body: rocker, at: [0, "
    "0, -0.8]}, friction: {mu: 0.3, pin_radius: 0.05}}}\n"
    "motions: {motor: {joint: crank, q: 0.5*t}}\n";

/* What acts along the coordinate c, at the end of the step: friction, what rows over it bear
 * (motors and limits), springs, dampers, and a drive to the target with the rate of that. */
static double acts_along(const stage *b, int c, double target, double rate) {
  const sni_rubbing *r = sni_sim_rubbing(b->sim);
  const sni_params *p = &r->s->d->params;
  const double q = sn_state_q(b->s)[c], qd = sn_state_qd(b->s)[c];
  double sum = -p->stiffness[c] * q - p->damping[c] * qd;
  sum += p->drive_stiffness[c] * (target - q) - p->drive_damping[c] * (qd - rate);
  for (int s = 0; s < r->m->nslide; s++) {
    for (int j = 0; j < r->row[s].ncoord; j++) {
      sum -= r->row[s].coord[j] == c ? r->force[s] * r->row[s].coef[j] : 0;
    }
  }
  for (int i = 0; r->rows && i < r->rows->nrow; i++) {
    const sni_row *row = &r->rows->row[i];
    for (int j = 0; j < row->ncoord; j++) {
      sum -= row->coord[j] == c ? r->rows->lambda[i] * row->coef[j] / r->s->h : 0;
    }
  }
  return sum;
}

/* How far S^T F is from what acts along the joints, for the rates that the step solved for; and the
 * largest F. */
static double parts_along(const stage *b, const sn_vec6 *S, double *most) {
  const sni_rubbing *r = sni_sim_rubbing(b->sim);
  const sni_tree *t = r->s->t;
  const int hand = sn_model_body_find(b->m, "hand");
  const double phase = 9 * *sn_state_time(b->s);
  double off = 0;
  *most = 0;
  for (int i = 0; i < t->nbody; i++) {
    *most = fmax(*most, sqrt(sn_vec6_dot(r->F[i], r->F[i])));
    for (int c = t->vadr[i]; c < t->vadr[i + 1]; c++) {
      const double target = i == hand ? 0.1 * sin(phase) : 0,
                   rate = i == hand ? 0.9 * cos(phase) : 0;
      off = fmax(off, fabs(sn_vec6_dot(S[c], r->F[i]) - acts_along(b, c, target, rate)));
    }
  }
  return off;
}

static void check_parts(const char *text, int steps) {
  stage b = stage_set(text, redmax_paper_options(0.005));
  sn_vec6 S[16];
  int divided = 0, touched = 0;
  double worst = 0;
  const int nv = sn_model_dof_count(b.m);
  for (int k = 0; k < steps; k++) {
    double q[16], qd[16], most;
    memcpy(q, sn_state_q(b.s), (size_t)nv * sizeof *q);
    memcpy(qd, sn_state_qd(b.s), (size_t)nv * sizeof *qd);
    sni_dynamics_reparam(&b.sim->d, q, qd);
    sni_dynamics_kinematics(&b.sim->d, q, qd);
    for (int c = 0; c < nv; c++) {
      S[c] = sni_lane6_vec6(b.sim->d.w.S[c]);
    }
    if (redmax_step(b.sim, b.s, NULL).retries > 0) {
      divided++; /* and S is that of another pose */
      continue;
    }
    const double off = parts_along(&b, S, &most);
    CHECK(off <= tol(1e-12) * most, "step %d: %g of %g\n%s", k, off, most, text);
    worst = fmax(worst, off / most);
    touched += b.sim->ntouch > 0;
  }
  print_message("  off by %.2g of the largest in %d steps, %d in contact\n", worst, steps, touched);
  CHECK(divided < 5, "%d steps were divided", divided);
  CHECK(text != everything || touched > 20, "it touches in %d steps only", touched);
  stage_clear(&b);
}

TEST(reactions_have_no_part_along_their_joints) {
  check_parts(tree, 200);
}

TEST(nor_with_loops_contact_springs_and_motors) {
  check_parts(everything, 300);
}

/* ---- power ---- */

/* Four bars whose joints rub by a law each, damping among them. */
static const char bars[] =
    "sinew: 1\n"
    "bodies:\n"
    "  a: {joint: {type: revolute, axis: [0, 1, 0], damping: 0.01, friction: {law: viscous, "
    "damping: 0.03}}, shapes: [{type: box, size: [0.3, 0.06, 0.08], at: [0.15, 0, 0], density: "
    "1000}]}\n"
    "  b: {parent: a, joint: {type: revolute, axis: [0, 1, 0], at: [0.3, 0, 0], friction: {law: "
    "stribeck, force: 0.05, breakaway: 0.1, speed: 0.5, damping: 0.02}}, shapes: [{type: box, "
    "size: "
    "[0.3, 0.06, 0.08], at: [0.15, 0, 0], density: 1000}]}\n"
    "  c: {joint: {type: revolute, axis: [0, 1, 0], at: [0.6, 0, -0.3], friction: {law: dry, "
    "force: "
    "0.1}}, shapes: [{type: box, size: [0.06, 0.06, 0.3], at: [0, 0, 0.15], density: 1000}]}\n"
    "loops: {pin: {type: revolute, axis: [0, 1, 0], a: {body: b, at: [0.3, 0, 0]}, b: {body: c, "
    "at: "
    "[0, 0, 0.3]}, friction: {law: viscous, damping: 0.05}}}\n";

/* Energy lost that nobody recorded, in so long: a's own damping is not friction's. */
static double unaccounted(double step, double *lost) {
  stage s = stage_set(bars, redmax_options(step));
  const double start = stage_energy(&s);
  double taken = 0;
  for (int k = 0; k < (int)lround(0.3 / step); k++) {
    stage_step(&s, 1);
    const double a = stage_channel(&s, "a.qd"), b = stage_channel(&s, "b.qd");
    const double slow = b / 0.5, sticks = copysign(0.05 + 0.05 * exp(-slow * slow), b);
    CHECK(fabs(stage_channel(&s, "a.friction") + 0.03 * a) < 1e-12, "viscous");
    CHECK(fabs(stage_channel(&s, "a.dissipation") - 0.03 * a * a) < 1e-12, "its power");
    CHECK(fabs(b) < 0.1 || fabs(stage_channel(&s, "b.friction") + sticks + 0.02 * b) < 2e-3,
          "stribeck: %g with the rate %g", stage_channel(&s, "b.friction"), b);
    taken += step * (0.01 * a * a + stage_channel(&s, "a.dissipation") +
                     stage_channel(&s, "b.dissipation") + stage_channel(&s, "c.dissipation") +
                     stage_channel(&s, "loops.pin.dissipation"));
  }
  *lost = start - stage_energy(&s);
  stage_clear(&s);
  return *lost - taken;
}

/* What friction of all laws takes is what is lost; the rest is of the scheme, which is of first
 * order. */
TEST(damping_by_friction_is_recorded) {
  double lost, off[3];
  for (int k = 0; k < 3; k++) {
    off[k] = unaccounted(4e-4 * pow(0.5, k), &lost);
  }
  print_message("  of %g J, %.3g, %.3g and %.3g are not accounted for\n", lost, off[0], off[1],
                off[2]);
  CHECK(lost > 0.5 && fabs(off[2]) < 0.02 * lost, "%g of %g J", off[2], lost);
  for (int k = 1; k < 3; k++) {
    CHECK(fabs(off[k] / off[k - 1] - 0.5) < 0.05, "%g J, with half the step %g", off[k - 1],
          off[k]);
  }
}

/* Damping needs no method that knows friction. */
TEST(viscous_friction_is_recorded_by_all_methods) {
  static const char *const method[] = {"recursive", "redmax", "structured"};
  static const char text[] =
      "sinew: 1\n"
      "bodies: {rod: {joint: {type: revolute, axis: [0, 1, 0], friction: {law: viscous, damping: "
      "0.4}}, inertia: {mass: 1, at: [0.5, 0, 0], xx: 0.1, yy: 0.1, zz: 0.1}}}\n"
      "initial: {rod: {qd: 2}}\n";
  for (int k = 0; k < 3; k++) {
    sn_options o = redmax_options(0.01);
    o.method = method[k];
    stage b = stage_set(text, o);
    stage_step(&b, 5);
    const double qd = sn_state_qd(b.s)[0];
    CHECK(fabs(stage_channel(&b, "rod.friction") + 0.4 * qd) < 1e-14 &&
              fabs(stage_channel(&b, "rod.dissipation") - 0.4 * qd * qd) < 1e-14,
          "%s: %g with the rate %g", method[k], stage_channel(&b, "rod.friction"), qd);
    stage_clear(&b);
  }
}

/* A wheel on a pin that something accelerates with 20 m/s^2: what the pin bears is 2 kg times that,
 * whether a motion of a body, one of a joint or a curved map is the cause, and no more. */
TEST(loads_of_what_is_moved_count_once) {
#define WHEEL                                                                                      \
  "  wheel: {parent: y, joint: {type: revolute, axis: [0, 1, 0], friction: {mu: 0.1, pin_radius: " \
  "0.02, pin_length: 0.05}}, inertia: {mass: 2, xx: 0.05, yy: 0.05, zz: 0.05}}\n"
#define CART                                                                                       \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, 0]\n"                                                                           \
  "bodies:\n"                                                                                      \
  "  y: {joint: {type: prismatic, axis: [0, 0, 1]}, inertia: {mass: 1, xx: 1, yy: 1, zz: "         \
  "1}}\n" WHEEL
  static const char *const way[] = {
      "motions: {m: {body: y, twist: [null, null, null, null, null, 20*t]}}\n"
      "initial: {wheel: {qd: 1}}\n",
      "motions: {m: {body: y, point: [0, 0, 10*t^2]}}\n"
      "initial: {wheel: {qd: 1}}\n",
      "motions: {m: {joint: y, q: 10*t^2}}\n"
      "initial: {wheel: {qd: 1}}\n",
      "motions: {m: {joint: y, rate: 20*t}}\n"
      "initial: {wheel: {qd: 1}}\n",
      "  x: {joint: {type: prismatic, axis: [1, 0, 0]}, inertia: {mass: 1e6, xx: 1, yy: 1, zz: "
      "1}}\n"
      "constraints: {c: {type: map, coordinates: [{name: z, qd: 1}], joints: [{joint: x, value: "
      "z}, "
      "{joint: y, value: 10*z^2}]}}\n"
      "initial: {wheel: {qd: 1}}\n"};
  for (int k = 0; k < 5; k++) {
    char text[2000];
    snprintf(text, sizeof text, CART "%s", way[k]);
    stage b = stage_set(text, redmax_options(1e-4));
    stage_step(&b, 100);
    const double load = 4 / SN_PI * 40, now = stage_channel(&b, "wheel.normal");
    CHECK(fabs(now - load) < 5e-3 * load, "way %d: the pin bears %g N, not %g", k, now, load);
    stage_clear(&b);
  }
#undef WHEEL
#undef CART
}

/* A block that slides and stops, and a four-bar: what is lost is what has been recorded, whatever a
 * step is made of, also where something stops within it. */
TEST(what_is_lost_is_recorded) {
  static const char *const scene[] = {
      "sinew: 1\nbodies: {b: {joint: {type: prismatic, axis: [1, 0, 0], friction: {mu: 0.9, size: "
      "[0.1, 0.1, 0.3], across: [0, 0, 1]}}, inertia: {mass: 2, xx: 0.1, yy: 0.1, zz: 0.1}}}\n"
      "initial: {b: {qd: 1}}\n",
      "sinew: 1\ngravity: [0, 0, 0]\ndefaults: {joint: {type: revolute, axis: [0, 1, 0], friction: "
      "{mu: 0.3, pin_radius: 0.05, pin_length: 0.1}}}\n"
      "bodies:\n"
      "  a: {joint: {}, inertia: {mass: 1, at: [0, 0, 0.5], xx: 0.1, yy: 0.1, zz: 0.01}}\n"
      "  b: {parent: a, joint: {at: [0, 0, 1]}, inertia: {mass: 1, at: [0.7, 0, 0.1], xx: 0.01, "
      "yy: "
      "0.2, zz: 0.2}}\n"
      "  c: {joint: {at: [1.4, 0, 0]}, inertia: {mass: 1, at: [0, 0, 0.6], xx: 0.1, yy: 0.1, zz: "
      "0.01}}\n"
      "loops: {l: {type: revolute, axis: [0, 1, 0], a: {body: b, at: [1.4, 0, 0.2]}, b: {body: c, "
      "at: [0, 0, 1.2]}, friction: {mu: 0.3, pin_radius: 0.05, pin_length: 0.1}}}\n"
      "initial: {a: {qd: 2}}\n"};
  static const char *const channel[2][5] = {
      {"b.dissipation"},
      {"a.dissipation", "b.dissipation", "c.dissipation", "loops.l.dissipation"}};
  for (int k = 0; k < 4; k++) {
    sn_options o = redmax_options(k / 2 ? 0.002 : 0.02);
    o.redmax.integrator = SN_EXTRAPOLATED;
    stage b = stage_set(scene[k % 2], o);
    const double start = stage_energy(&b);
    double taken = 0;
    for (int n = 0; n * o.step < 0.4; n++) {
      stage_step(&b, 1);
      for (int i = 0; channel[k % 2][i]; i++) {
        taken += o.step * stage_channel(&b, channel[k % 2][i]);
      }
    }
    const double lost = start - stage_energy(&b);
    CHECK(lost > 0.02 * start && fabs(taken - lost) < (k / 2 ? 0.005 : 0.05) * lost,
          "scene %d, %g s: %g J lost, %g recorded", k % 2, o.step, lost, taken);
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(reactions_have_no_part_along_their_joints),
            T(nor_with_loops_contact_springs_and_motors), T(damping_by_friction_is_recorded),
            T(viscous_friction_is_recorded_by_all_methods), T(loads_of_what_is_moved_count_once),
            T(what_is_lost_is_recorded));
}
