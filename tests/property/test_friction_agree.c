/* Loads make friction and friction makes loads.  Whatever mechanism it is, a step finds what
 * agrees, or goes on with the best that there was and says so; friction never does work. */
#include "methods/redmax/rub.h"
#include "paper.h"
#include "stage.h"
#include "vectors.h"

/* ---- mechanisms at random ---- */

/* A chain with branches, above a floor if it touches that, with a loop from its end to the ground,
 * where it starts closed, and with a spring between two of its links. */
static void write_scene(paper *p, dice *d, bool touches, bool loops, bool springs) {
  const int n = 1 + one_of(d, 5);
  double at[5][3] = {{0}};
  p->used = 0;
  put(p, "sinew: 1\ncontacts: {slick: {friction: %g}}\nbodies:\n", roll(d));
  if (touches) {
    put(p, "  floor: {joint: {type: fixed, at: [0, 0, -0.4]}, shapes: [{type: plane, contact: "
           "slick}]}\n");
  }
  for (int k = 0; k < n; k++) {
    const int type = one_of(d, RUBBING_TYPES), parent = k == 0          ? -1
                                                        : roll(d) < 0.8 ? k - 1
                                                                        : one_of(d, k);
    const sn_vec3 axis = random_vec3(&d->seed, 1);
    put(p, "  b%d: {", k);
    if (parent >= 0) {
      put(p, "parent: b%d, ", parent);
    }
    put(p, "joint: {type: %s", rubbing_type[type]);
    if (type <= CYLINDRICAL) {
      put(p, ", axis: [%g, %g, %g]", axis.x, axis.y, axis.z + 0.1);
    }
    if (parent >= 0) {
      const double step[3] = {0.3, between(d, -0.05, 0.05), between(d, -0.1, 0.1)};
      put(p, ", at: [%.17g, %.17g, %.17g]", step[0], step[1], step[2]);
      for (int c = 0; c < 3; c++) {
        at[k][c] = at[parent][c] + step[c];
      }
    }
    put_friction(p, d, type);
    if (type <= PRISMATIC && roll(d) < 0.3) {
      const double hi = between(d, 0.05, 0.6), lo = -between(d, 0.05, 0.6);
      put(p, ", limits: [%g, %g]", lo, hi);
    }
    if (roll(d) < 0.3) {
      put(p, ", stiffness: %g, damping: 1", between(d, 1, 300));
    } else if (type <= PRISMATIC && roll(d) < 0.3) {
      put(p, ", drive: {target: %g, stiffness: 300, damping: 5, max_force: 20}", between(d, -1, 1));
    }
    put(p, "}, shapes: [{type: box, size: [0.3, 0.06, 0.08], at: [0.15, 0, 0], density: %g%s}]}\n",
        between(d, 200, 3000), touches ? ", contact: slick" : "");
  }
  if (springs && n > 1) {
    const double rest = between(d, 0.05, 0.5), damping = between(d, 0, 5);
    put(p,
        "forces: {pull: {type: spring, a: {body: b0, at: [0.2, 0.03, 0]}, b: {body: b%d, at: [0.1, "
        "0, 0.04]}, stiffness: %g, damping: %g, rest_length: %g}}\n",
        n - 1, between(d, 10, 2000), damping, rest);
  }
  if (loops) {
    put(p,
        "loops: {close: {type: spherical, a: {body: world, at: [%.17g, %.17g, %.17g]}, b: {body: "
        "b%d, at: [0.3, 0.05, 0]}",
        at[n - 1][0] + 0.3, at[n - 1][1] + 0.05, at[n - 1][2], n - 1);
    put_friction(p, d, SPHERICAL);
    put(p, "}}\n");
  }
}

/* Steps that did not agree, of all that were taken. */
typedef struct tally {
  int steps, unsettled;
  double iterations;
  int slow;         /* scenes with more than 10 iterations a step */
  double most;      /* load, N */
  int stuck, crept; /* coordinates that stuck in a step; that moved all the same */
} tally;

/* What sticks may be shared out where it goes with a billionth of the rates without friction
 * (rub_split.c), and each of the others in its loop with as much: so little work friction may do,
 * and a billionth of a watt. */
static void check_work(const stage *b, const sn_info *info, int step, const char *text) {
  const sni_rubbing *r = sni_sim_rubbing(b->sim);
  double force = 0, rate = 0;
  for (int k = 0; k < r->m->nslide; k++) {
    force = fmax(force, fabs(r->force[k]));
    rate = fmax(rate, fabs(r->free[k]));
  }
  const double least = 1e-9 * (1 + r->m->nslide * force * rate);
  for (int k = 0; k < r->m->nrub; k++) {
    double power = 0;
    for (int i = r->m->rub[k].first; i < r->m->rub[k].first + r->m->rub[k].nslide; i++) {
      power += r->force[i] * r->rate[i];
    }
    CHECK(power >= -least, "step %d (%d iterations): friction works with %g\n%s", step,
          info->friction_iterations, power, text);
  }
}

/* Without drives energy is only lost, to a part of what there is to move, as the scheme is of first
 * order.  Of at most 22 kg, contact may lift what has met by a twentieth of what gravity moves in a
 * step (touch.c); and a gap of 1e-9 m, which loops may have, lets a linkage that is stretched out
 * straight give way sideways by the root of it. */
static void check_energy(double gain, double scale, double h, const char *text) {
  const double fall = 9.81 * h * h, weight = 22 * 9.81;
  const double lifts = (strstr(text, "floor") ? 0.05 * fall : 0) +
                       (strstr(text, "loops") ? sqrt(2e-9 * 0.3) : 0) + 1e-12;
  CHECK(gain <= 2e-3 * scale + weight * lifts, "it gains %g J of %g\n%s", gain, scale, text);
}

/* ---- what rests bears what is on it ---- */

/* The same without friction. */
static sn_sim *smooth_sim(const stage *b, sn_options o) {
  sn_sim *sim = test_sim(b->m, &o);
  const sni_rubbing *r = sni_sim_rubbing(sim);
  for (int k = 0; k < r->m->nrub; k++) {
    r->s->d->params.rub[k] = (sni_rub_numbers){0};
  }
  return sim;
}

static double largest_load(const sn_sim *sim) {
  const sni_rubbing *r = sni_sim_rubbing(sim);
  double most = 0;
  for (int k = 0; k < r->m->nrub; k++) {
    most = fmax(most, r->normal[k]);
  }
  return most;
}

static bool rested(const sn_sim *sim) {
  const sni_rubbing *r = sni_sim_rubbing(sim);
  double most = 0;
  for (int k = 0; k < r->m->nslide; k++) {
    most = fmax(most, fmax(fabs(r->start[k]), fabs(r->rate[k])));
  }
  return most < 1e-6;
}

/* Joints of a loop that stick could press each other as hard as they like, each held by the
 * friction that this gives; but they bear no more than what is on them, as far as levers make that:
 * on a pin of a hundredth of the length of its arm, a hundred times.  What is on them is what they
 * would bear without friction (in a linkage that is stretched out straight that is much), and a
 * weight, as what falls freely bears nothing.  Such loads feed on the ones before, so each step is
 * held to it. */
static void check_rest(const stage *b, sn_sim *smooth, sn_state *before, int step,
                       const char *text) {
  const double some = 100, levers = 100, load = largest_load(b->sim);
  if (load > levers * some && rested(b->sim)) {
    test_step(smooth, before, NULL);
    const double bears = largest_load(smooth);
    CHECK(load <= levers * (bears + some), "step %d: at rest it bears %g, without friction %g\n%s",
          step, load, bears, text);
  }
}

/* What sticks stays, coordinates of the tree and of loops: but for linkages that would go far for
 * it (stay.c). */
static void count_still(const stage *b, const sn_state *before, const sn_info *info, tally *all) {
  const sni_still *still = sni_sim_rubbing(b->sim)->s->still;
  const int nv = b->m->tree.nv;
  for (int k = 0; still && info->substeps == 1 && k < nv + b->m->nloop_q; k++) {
    const int at = k < nv ? k : nv + k; /* rates are in between */
    if (still->coord[k]) {
      all->stuck++;
      all->crept += fabs(b->s->data[at] - before->data[at]) > 1e-9;
    }
  }
}

/* Friction takes power in all steps, also where loads and friction did not agree. */
static void run(const char *text, sn_options o, int steps, tally *all) {
  stage b = stage_set(text, o);
  sn_error err = {0};
  double iterations = 0, scale = 0, energy = stage_energy(&b);
  const double start = energy;
  const bool driven = strstr(text, "drive") != NULL;
  sn_sim *smooth = smooth_sim(&b, o);
  sn_state *before = test_state(b.m);
  for (int k = 0; k < steps; k++) {
    sn_info info = {0};
    sn_state_copy(before, b.s);
    const sn_status status = sn_sim_step(b.sim, b.s, NULL, &info, &err);
    CHECK(status == SN_OK, "step %d: %s\n%s", k, err.text, text);
    count_still(&b, before, &info, all);
    check_rest(&b, smooth, before, k, text);
    check_work(&b, &info, k, text);
    all->steps++;
    all->unsettled += info.friction_unsettled > 0;
    iterations += info.friction_iterations;
    const double now = stage_energy(&b);
    scale = fmax(scale, fabs(now - start));
    if (!driven) {
      check_energy(now - energy, scale, o.step, text);
    }
    energy = now;
  }
  all->iterations += iterations;
  all->slow += iterations > 10 * steps;
  sn_state_free(&before);
  sn_sim_free(&smooth);
  stage_clear(&b);
}

/* SINEW_SOAK: a thousand of them. */
TEST(whatever_rubs_goes_on) {
  static const double step[] = {0.001, 0.003, 0.01, 0.02};
  const int scenes = getenv("SINEW_SOAK") ? 1000 : 60;
  tally all = {0};
  dice d = {.seed = 2019};
  for (int k = 0; k < scenes; k++) {
    paper p;
    write_scene(&p, &d, k % 4 == 1, k % 4 == 2, false);
    run(p.text, redmax_options(step[one_of(&d, 4)]), 60, &all);
  }
  print_message("  %d steps, %.3g iterations a step, %d did not agree\n", all.steps,
                all.iterations / all.steps, all.unsettled);
  CHECK(all.iterations <= 10 * all.steps, "%g iterations a step", all.iterations / all.steps);
  CHECK(all.unsettled <= 0.01 * all.steps, "%d of %d steps did not agree", all.unsettled,
        all.steps);
}

/* With contact, loops, springs, limits and drives, some of them or all; and seeds that were hard:
 * joints that hold each other in a loop and press themselves ever harder (100, 230), discs whose
 * programs went round in circles (288) or came too slowly (668), contacts and joints that passed a
 * load to and fro (133), ones at rest whose shares chased their bounds (106, 142, 202), a linkage
 * stretched out straight (162, 358), drives at their limits (249), loops that lock and pressed
 * themselves with up to 1e13 N (48, 260, 314, 990, 2076, 2278, 5350, 5678).  SINEW_SOAK: a
 * thousand. */
TEST(all_of_it_together_goes_on) {
  static const int hard[] = {48,  100, 106, 133, 142, 162,  202,  230,  249, 260,
                             288, 314, 358, 668, 990, 2076, 2278, 5350, 5678};
  static const double step[] = {0.001, 0.003, 0.01, 0.02};
  const int some = getenv("SINEW_SOAK") ? 1000 : 50,
            scenes = some + (int)(sizeof hard / sizeof *hard);
  tally all = {0};
  for (int i = 0; i < scenes; i++) {
    const int k = i < some ? i : hard[i - some];
    dice d = {.seed = (uint64_t)(1000 + 77 * k)};
    paper p;
    write_scene(&p, &d, k % 3 != 0, k % 2 == 0, k % 5 < 3);
    run(p.text, redmax_options(step[one_of(&d, 4)]), 100, &all);
  }
  print_message("  %d coordinates stuck, %d moved\n", all.stuck, all.crept);
  print_message("  %d steps, %.3g iterations a step, %d did not agree; %d of %d scenes are slow\n",
                all.steps, all.iterations / all.steps, all.unsettled, all.slow, scenes);
  CHECK(all.iterations <= 5 * all.steps, "%g iterations a step", all.iterations / all.steps);
  CHECK(all.unsettled <= 0.01 * all.steps, "%d of %d steps did not agree", all.unsettled,
        all.steps);
  CHECK(all.crept <= 1e-3 * all.stuck, "%d of %d moved", all.crept, all.stuck);
  CHECK(all.slow <= 0.05 * scenes, "%d of %d scenes take more than 10 iterations a step", all.slow,
        scenes);
}

/* The paper's problem, on the floor and in loops: where it finds nothing that agrees, the reduced
 * one does. */
TEST(the_maximal_problem_agrees_in_contact) {
  int unsettled = 0, steps = 0;
  double worst = 0;
  for (int k = 1; k <= 20; k++) {
    dice d = {.seed = (uint64_t)(1000 + 77 * k)};
    stage s[2];
    paper p;
    write_scene(&p, &d, true, k % 2 == 0, false);
    for (int way = 0; way < 2; way++) {
      sn_options o = redmax_options(0.003);
      o.redmax.friction.problem = way ? SN_FRICTION_MAXIMAL : SN_FRICTION_REDUCED;
      s[way] = stage_set(p.text, o);
      for (int i = 0; i < 60; i++) {
        unsettled += redmax_step(s[way].sim, s[way].s, NULL).friction_unsettled > 0;
        steps++;
      }
    }
    for (int c = 0; c < s[0].m->tree.nv; c++) {
      worst = fmax(worst, fabs(sn_state_q(s[1].s)[c] - sn_state_q(s[0].s)[c]));
    }
    CHECK(worst < 1e-3, "they end apart by %g\n%s", worst, p.text);
    stage_clear(&s[0]);
    stage_clear(&s[1]);
  }
  print_message("  off by %.1e; %d of %d steps did not agree\n", worst, unsettled, steps);
  CHECK(unsettled <= 0.01 * steps, "%d of %d steps did not agree", unsettled, steps);
}

/* ---- where friction makes the load that makes it ---- */

/* A bracket on a short guide, pressed against it by a small force and with its weight far out: the
 * friction that slows it down tilts it, which makes more friction.  With a long arm it jams and
 * stops at once, whatever its speed; with a short one it slides on. */
static double slide_down(double arm, double mu, double speed, tally *all, double *normal) {
  char text[1000];
  snprintf(text, sizeof text,
           "sinew: 1\n"
           "gravity: [2, 0, -9.81]\n"
           "bodies: {bracket: {joint: {type: prismatic, axis: [0, 0, 1], friction: {mu: %g, size: "
           "[0.1, 0.1, 0.1]}}, inertia: {mass: 2, at: [%g, 0, 0], xx: 0.1, yy: 0.1, zz: 0.1}}}\n"
           "initial: {bracket: {qd: %g}}\n",
           mu, arm, speed);
  stage b = stage_set(text, redmax_options(0.001));
  sn_error err = {0};
  for (int k = 0; k < 20; k++) {
    sn_info info = {0};
    const sn_status status = sn_sim_step(b.sim, b.s, NULL, &info, &err);
    CHECK(status == SN_OK, "%s", err.text);
    check_work(&b, &info, k, text);
    all->steps++;
    all->unsettled += info.friction_unsettled > 0;
    all->iterations += info.friction_iterations;
  }
  const double end = sn_state_qd(b.s)[0];
  *normal = sni_sim_rubbing(b.sim)->normal[0];
  stage_clear(&b);
  return end;
}

TEST(brackets_jam_or_slide) {
  tally all = {0};
  double normal;
  const double free = slide_down(0.5, 0, -2, &all, &normal);
  CHECK(fabs(free + 2 + 9.81 * 0.02) < 1e-9, "without friction it falls with %g", free);
  const double slides = slide_down(0.02, 0.2, -2, &all, &normal);
  CHECK(slides < free + 0.5 && slides > free, "a short arm slides with %g", slides);
  const double jams = slide_down(0.5, 0.5, -2, &all, &normal);
  CHECK(fabs(jams) < 1e-12, "a long arm goes on with %g", jams);
  CHECK(0.5 * normal > 2 * 9.81, "it rests, and bears %g", normal);
  CHECK(all.unsettled == 0, "%d of %d steps did not agree", all.unsettled, all.steps);
  CHECK(all.iterations <= 10 * all.steps, "%g iterations a step", all.iterations / all.steps);
}

/* A bracket on a guide that is exactly upright, its weight off the axis by a: while it falls freely
 * the guide bears nothing, while it rests all of the weight's moment, W a, by 2 W a / length on its
 * contacts.  So it stays where it is put if mu 2 a / length > 1, and falls otherwise. */
TEST(brackets_lock_themselves) {
  for (int locks = 0; locks < 2; locks++) {
    for (int k = 0; k < 4; k++) { /* with a link on it that rests as well; by the paper's problem */
      const bool beam = k % 2 > 0, maximal = k >= 2;
      char text[1000];
      const double arm = 0.4, length = 0.1, critical = length / (2 * arm);
      snprintf(
          text, sizeof text,
          "sinew: 1\n"
          "bodies:\n"
          "  bracket: {joint: {type: prismatic, axis: [0, 0, 1], friction: {mu: %g, size: [0.1, "
          "0.1, %g], across: [1, 0, 0]}}, inertia: {mass: 2, at: [%g, 0, 0], xx: 0.1, yy: 0.1, zz: "
          "0.1}}\n%s",
          (locks ? 1.02 : 0.98) * critical, length, arm,
          beam ? "  link: {parent: bracket, joint: {type: revolute, axis: [0, 1, 0], at: [0.4, "
                 "0, 0], friction: {mu: 0.3, pin_radius: 0.05, pin_length: 0.1}}, inertia: "
                 "{mass: 1, at: [0, 0, -0.1], xx: 0.1, yy: 0.1, zz: 0.1}}\n"
               : "");
      sn_options o = redmax_options(0.001);
      o.redmax.friction.problem = maximal ? SN_FRICTION_MAXIMAL : SN_FRICTION_REDUCED;
      stage b = stage_set(text, o);
      stage_step(&b, 100);
      const double q = sn_state_q(b.s)[0], free = -0.5 * 9.81 * 0.01;
      CHECK(locks ? fabs(q) <= (maximal ? 1e-12 : 0) : fabs(q - free) < 0.02 * fabs(free),
            "%s, it is at %g", locks ? "beyond the critical mu" : "below it", q);
      stage_clear(&b);
    }
  }
}

/* A motor that drives a guide which jams wins, and no friction agrees with that: the larger it is,
 * the larger it gets.  The step goes on, and says so; with `stop` it stops. */
TEST(what_cannot_agree_is_said) {
  static const char text[] =
      "sinew: 1\n"
      "bodies: {post: {joint: {type: prismatic, axis: [0, 0, 1], friction: {mu: 0.8, size: [0.05, "
      "0.05, 0.05]}}, inertia: {mass: 1, xx: 0.1, yy: 0.1, zz: 0.1}}}\n"
      "motions: {lift: {body: post, at: [0.5, 0, 0], frame: world, twist: [null, null, null, null, "
      "null, 0.5]}}\n";
  sn_options o = redmax_options(0.01);
  stage b = stage_set(text, o);
  sn_error err = {0};
  for (int k = 0; k < 20; k++) {
    sn_info info = {0};
    CHECK(sn_sim_step(b.sim, b.s, NULL, &info, &err) == SN_OK, "%s", err.text);
    CHECK(info.friction_unsettled == 1 && info.friction_disagreement > 0.1 && info.retries == 0,
          "step %d: %d unsettled, off by %g, %d divided", k, info.friction_unsettled,
          info.friction_disagreement, info.retries);
    check_work(&b, &info, k, text);
    CHECK(isfinite(sni_sim_rubbing(b.sim)->force[0]), "friction without end");
  }
  CHECK(fabs(sn_state_q(b.s)[0] - 0.1) < 1e-9, "it is at %g", sn_state_q(b.s)[0]);
  stage_clear(&b);
  o.redmax.on_unconverged = SN_STOP;
  b = stage_set(text, o);
  CHECK(sn_sim_step(b.sim, b.s, NULL, NULL, &err) == SN_E_UNCONVERGED, "it does not stop");
  CHECK(strstr(err.text, "loads and friction in joints do not agree"), "it says: %s", err.text);
  stage_clear(&b);
}

/* ---- straight linkages ---- */

/* Bars between two walls, stretched out straight: what holds them is their sag, which is anything
 * below the root of the gap that loops may have, so rigid bars would press with any load.  They
 * bear no more than what the sag that they may have makes of their weight, loads and friction agree
 * but for a few steps, and no joint gives power. */
static void stretch_out(int bars, double mu, const char *type, double h, tally *all) {
  paper p = {0};
  const double length = 0.3, weight = bars * length * 0.05 * 0.07 * 2000 * 9.81;
  put(&p, "sinew: 1\nbodies:\n");
  for (int k = 0; k < bars; k++) {
    put(&p, "  b%d: {", k);
    if (k > 0) {
      put(&p, "parent: b%d, ", k - 1);
    }
    put(&p,
        "joint: {type: %s, at: [%g, 0, 0], friction: {mu: %g, pin_radius: 0.02%s}}, shapes: "
        "[{type: box, size: [0.3, 0.05, 0.07], at: [0.15, 0, 0], density: 2000}]}\n",
        type, k > 0 ? length : 0.0, mu, strstr(type, "spherical") ? "" : ", pin_length: 0.1");
  }
  put(&p,
      "loops: {c: {type: %s, a: {body: world, at: [%.17g, 0, 0]}, b: {body: b%d, at: [0.3, 0, 0]}, "
      "friction: {mu: %g, pin_radius: 0.02%s}}}\n",
      type, bars * length, bars - 1, mu, strstr(type, "spherical") ? "" : ", pin_length: 0.1");
  stage b = stage_set(p.text, redmax_options(h));
  const sni_rubbing *r = sni_sim_rubbing(b.sim);
  double most = 0;
  int turns = 0;
  const int steps = 50;
  for (int i = 0; i < steps; i++) {
    const sn_info info = redmax_step(b.sim, b.s, NULL);
    check_work(&b, &info, i, p.text);
    turns += info.friction_iterations;
    all->steps++;
    all->unsettled += info.friction_unsettled > 0;
    for (int k = 0; k < r->m->nrub; k++) {
      most = fmax(most, r->normal[k]);
    }
  }
  all->most = fmax(all->most, most);
  CHECK(most < 1e6 * weight, "they weigh %g N and bear %g N\n%s", weight, most, p.text);
  CHECK(turns <= 10 * steps, "%g turns a step\n%s", (double)turns / steps, p.text);
  stage_clear(&b);
}

TEST(straight_linkages_bear_no_more_than_they_must) {
  static const double mu[] = {0.1, 0.5, 1};
  tally all = {0};
  for (int bars = 2; bars <= 6; bars++) {
    for (int k = 0; k < SNI_COUNT(mu); k++) {
      stretch_out(bars, mu[k], "spherical", 0.01, &all);
      stretch_out(bars, mu[k], "revolute, axis: [0, 1, 0]", 0.01, &all);
      stretch_out(bars, mu[k], "spherical", 0.002, &all);
    }
  }
  print_message("  %d of %d steps did not agree, loads of up to %.2g N\n", all.unsettled, all.steps,
                all.most);
  CHECK(all.unsettled <= 0.01 * all.steps, "%d of %d steps did not agree", all.unsettled,
        all.steps);
}

/* A toggle: two bars at an angle to the line between their ends, pushed by F where they meet, bear
 * F/(2 sin angle) each, of which contacts around a pin have 4/pi.  Very near to its dead point that
 * would be without end. */
TEST(a_toggle_bears_what_its_angle_says) {
  static const double angle[] = {0.1, 0.03, 0.01, 0.003, 1e-5};
  for (int i = 0; i < SNI_COUNT(angle); i++) {
#define TOGGLE_PIN "friction: {mu: 0.1, pin_radius: 0.005, pin_length: 0.05}"
#define TOGGLE_BAR "inertia: {mass: 1, at: [0.15, 0, 0], xx: 0.01, yy: 0.01, zz: 0.01}"
    char text[2000];
    snprintf(
        text, sizeof text,
        "sinew: 1\n"
        "gravity: [0, 0, 0]\n"
        "bodies:\n"
        "  a: {joint: {type: revolute, axis: [0, 1, 0], " TOGGLE_PIN "}, " TOGGLE_BAR "}\n"
        "  b: {parent: a, joint: {type: revolute, at: [0.3, 0, 0], axis: [0, 1, 0], " TOGGLE_PIN
        "}, " TOGGLE_BAR "}\n"
        "loops: {c: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [%.17g, 0, 0]}, b: "
        "{body: b, at: [0.3, 0, 0]}, " TOGGLE_PIN "}}\n"
        "forces: {push: {type: point_force, body: a, at: [0.3, 0, 0], frame: world, force: [0, "
        "0, -100]}}\n"
        "initial: {a: {q: %.17g}, b: {q: %.17g}}\n",
        0.6 * cos(angle[i]), angle[i], -2 * angle[i]);
    stage b = stage_set(text, redmax_options(0.001));
    stage_step(&b, 20);
    const double want = 100 / (2 * sin(angle[i])) * 4 / SN_PI;
    const sni_rubbing *r = sni_sim_rubbing(b.sim);
    for (int k = 0; k < r->m->nrub; k++) {
      CHECK(angle[i] < 1e-3 ? r->normal[k] < 1e6 : fabs(r->normal[k] - want) < 0.005 * want,
            "angle %g, pin %d bears %g, by hand %g", angle[i], k, r->normal[k], want);
    }
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(whatever_rubs_goes_on), T(all_of_it_together_goes_on),
            T(the_maximal_problem_agrees_in_contact), T(brackets_jam_or_slide),
            T(brackets_lock_themselves), T(what_cannot_agree_is_said),
            T(straight_linkages_bear_no_more_than_they_must),
            T(a_toggle_bears_what_its_angle_says));
}
