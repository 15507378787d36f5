/* friction.c: `sinew bench friction`: the two scenes of the paper with friction in joints [RM Fig
 * 5].
 *
 * chain: BISP, the reduced problem and the paper's, against Staggered Projections in maximal
 * coordinates, from the same start through the same time.  klann: the torque that its cranks need.
 */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/chain_sp.h"
#include "cli/make.h"
#include "sinew/scene.h"

enum { DONE = 0, BAD_INPUT = 2, WRONG = 3 };

/* ---- scenes ---- */

static sn_model *model_of(const char *generator, make_settings s, const char *const *set,
                          int nset) {
  const make_generator *g = make_find(generator);
  sn_error err = {0};
  sn_scene *scene = NULL;
  char *text = make_complete(g, &s, &err) == SN_OK ? make_scene(g, &s) : NULL;
  sn_scene_options o = sn_scene_options_default();
  o.set = set;
  o.nset = nset;
  if (!text || sn_scene_load_text(text, strlen(text), generator, &o, &scene, &err) != SN_OK) {
    fprintf(stderr, "sinew bench: %s: %s\n", generator, text ? err.text : "out of memory");
  }
  sn_model *m = scene ? sn_scene_take_model(scene) : NULL;
  sn_scene_free(&scene);
  free(text);
  return m;
}

typedef struct run {
  sn_model *m;
  sn_sim *sim;
  sn_state *state;
} run;

static bool run_begin(run *r, const sn_options *o) {
  sn_error err = {0};
  const bool good = r->m && sn_sim_create(r->m, o, &r->sim, &err) == SN_OK &&
                    sn_state_create(r->m, &r->state, &err) == SN_OK &&
                    sn_sim_assemble(r->sim, r->state, &err) == SN_OK;
  if (!good && r->m) {
    fprintf(stderr, "sinew bench: %s\n", err.text);
  }
  return good;
}

static void run_end(run *r) {
  sn_state_free(&r->state);
  sn_sim_free(&r->sim);
  sn_model_free(&r->m);
}

static bool run_step(run *r, int *iterations) {
  sn_info info;
  sn_error err = {0};
  if (sn_sim_step(r->sim, r->state, NULL, &info, &err) < 0) {
    fprintf(stderr, "sinew bench: %s\n", err.text);
    return false;
  }
  *iterations += info.friction_iterations;
  return true;
}

/* ---- chain ---- */

typedef struct chain_row {
  const char *solver;
  double seconds, iterations; /* a step */
  sn_vec3 tip;
} chain_row;

#define STEP 0.005

static bool time_bisp(int count, int steps, double mu, bool maximal, chain_row *out) {
  static const char *const set[] = {"bodies.link.joint.friction.points=4"};
  make_settings s = MAKE_USUAL;
  s.count = count;
  s.friction = mu;
  run r = {.m = model_of("chain", s, set, 1)};
  sn_options o = r.m ? sn_model_run(r.m)->options : sn_options_default();
  o.step = STEP;
  o.redmax.friction.problem = maximal ? SN_FRICTION_MAXIMAL : SN_FRICTION_REDUCED;
  o.redmax.friction.tolerance = maximal ? 1e-3 : o.redmax.friction.tolerance;
  o.redmax.on_unconverged = SN_ACCEPT;
  bool good = run_begin(&r, &o);
  int iterations = 0;
  const double start = bench_cpu_seconds();
  for (int k = 0; k < steps && good; k++) {
    good = run_step(&r, &iterations);
  }
  out->seconds = (bench_cpu_seconds() - start) / steps;
  out->iterations = (double)iterations / steps;
  if (good) {
    sn_se3 E[64];
    sn_sim_poses(r.sim, r.state, E, NULL);
    out->tip = sn_se3_point(E[count - 1], (sn_vec3){10, 0, 0});
  }
  run_end(&r);
  return good;
}

static bool time_sp(int count, int steps, double mu, chain_row *out, double *gap) {
  chain_sp *c = chain_sp_create(count, 0.5, mu);
  int iterations = 0;
  const double start = bench_cpu_seconds();
  for (int k = 0; k < steps && c; k++) {
    iterations += chain_sp_step(c, STEP);
  }
  out->seconds = (bench_cpu_seconds() - start) / steps;
  out->iterations = (double)iterations / steps;
  const bool good = c != NULL;
  if (good) {
    out->tip = chain_sp_tip(c);
    *gap = chain_sp_gap(c);
  }
  chain_sp_free(&c);
  return good;
}

static int bench_chain(const bench_settings *settings, sni_json *json) {
  const int count = settings->quick ? 4 : 10, steps = settings->quick ? 20 : 100;
  chain_row row[] = {{.solver = "bisp"}, {.solver = "bisp, maximal problem"}, {.solver = "sp"}};
  double gap = 0;
  /* without friction both fall in the same way; with it contacts that push share their load in
   * another way than contacts that also pull */
  chain_row plain[2];
  if (!time_bisp(count, steps, 0, false, &plain[0]) || !time_sp(count, steps, 0, &plain[1], &gap)) {
    return WRONG;
  }
  const double off = sn_vec3_norm(sn_vec3_sub(plain[0].tip, plain[1].tip)) / (10 * count);
  if (!(off < 0.05) || !(gap < 0.5)) {
    fprintf(stderr,
            "sinew bench: without friction sp is off by %.2g of the chain, gaps of %.2g cm\n", off,
            gap);
    return WRONG;
  }
  const double mu = 0.4; /* about that of `sinew make chain` */
  if (!time_bisp(count, steps, mu, false, &row[0]) || !time_bisp(count, steps, mu, true, &row[1]) ||
      !time_sp(count, steps, mu, &row[2], &gap)) {
    return WRONG;
  }
  if (!settings->quiet) {
    printf("chain of %d links, the first %g s of its fall\n", count, steps * STEP);
    printf("  %-24s%12s%14s%12s\n", "", "us a step", "iterations", "slower by");
  }
  int code = DONE;
  for (int k = 0; k < 3; k++) {
    if (!settings->quiet) {
      printf("  %-24s%12.1f%14.1f%12.1f\n", row[k].solver, 1e6 * row[k].seconds, row[k].iterations,
             row[k].seconds / row[0].seconds);
    }
    if (json) {
      sni_json_open(json, NULL, "{");
      sni_json_text(json, "scene", "chain");
      sni_json_raw(json, "size", "%d", count);
      sni_json_text(json, "solver", row[k].solver);
      sni_json_raw(json, "seconds", "%.17g", row[k].seconds);
      sni_json_raw(json, "iterations", "%.17g", row[k].iterations);
      sni_json_close(json, "}");
    }
  }
  const double apart = sn_vec3_norm(sn_vec3_sub(row[1].tip, row[0].tip)) / (10 * count);
  if (!(apart < 0.05) || !(gap < 0.5)) {
    fprintf(stderr, "sinew bench: both problems end apart by %.2g of the chain; gaps of %.2g cm\n",
            apart, gap);
    code = WRONG;
  }
  return code;
}

/* ---- klann ---- */

static const double mus[] = {0, 0.2, 0.4, 0.6, 0.8};
enum { MUS = sizeof mus / sizeof *mus };

typedef struct torque {
  double mean, least, taken; /* of |tau|; of tau; work that goes back to the motors, J a turn */
  double way, iterations;
} torque;

/* What is shown close by: the rest are feet that come down. */
#define CLOSE_BY 4
enum { PANELS = 2 };

/* The second turn, or the first in the air; series k of both panels. */
static bool walk(const bench_settings *settings, double mu, svg_panel *panel, int of, torque *out) {
  make_settings s = MAKE_USUAL;
  s.friction = mu;
  s.stand = settings->quick ? "air" : "floor";
  run r = {.m = model_of("klann", s, NULL, 0)};
  bool good = run_begin(&r, NULL);
  const int turn = 500, begin = settings->quick ? 0 : turn,
            end = begin + (settings->quick ? 50 : turn);
  const int tau[] = {good ? sn_sim_channel_find(r.sim, "motor_left.tau") : -1,
                     good ? sn_sim_channel_find(r.sim, "motor_right.tau") : -1};
  const int frame = good && !settings->quick ? sn_sim_channel_find(r.sim, "frame.pos.x") : -1;
  double x[2] = {0, 0};
  int iterations = 0;
  *out = (torque){.least = INFINITY};
  for (int k = 1; k <= end && good; k++) {
    double value[2] = {0, 0};
    sn_error err = {0};
    good = run_step(&r, &iterations) &&
           sn_sim_channels(r.sim, r.state, NULL, tau, 2, value, &err) == SN_OK;
    if (frame >= 0 && (k == begin || k == end)) {
      sn_sim_channels(r.sim, r.state, NULL, &frame, 1, &x[k == end], &err);
    }
    for (int side = 0; side < 2 && k > begin; side++) {
      out->mean += fabs(value[side]) / (2 * (end - begin));
      out->least = fmin(out->least, value[side]);
      out->taken += fmax(-value[side], 0) * 2 * SN_PI * 0.002;
    }
    const double at = (k - begin) / (double)turn;
    good = good && (k <= begin || (svg_add(&panel[0].series[of], at, value[0]) &&
                                   svg_add(&panel[1].series[of], at, fmin(value[0], CLOSE_BY))));
  }
  out->way = x[1] - x[0];
  out->iterations = (double)iterations / end;
  run_end(&r);
  return good;
}

static int bench_klann(const bench_settings *settings, sni_json *json) {
  static const char *const name[MUS] = {"mu 0", "mu 0.2", "mu 0.4", "mu 0.6", "mu 0.8"};
  svg_panel panel[PANELS] = {{.title = "all of it", .count = MUS},
                             {.title = "up to 4 N m", .count = MUS}};
  int code = DONE;
  double before = -1;
  if (!settings->quiet) {
    printf("klann, %s\n", settings->quick ? "a tenth of a turn in the air" : "a turn on the floor");
    printf("  %4s%16s%16s%14s%12s%14s\n", "mu", "mean |tau| N m", "least tau N m", "back J/turn",
           "way m", "iterations");
  }
  for (int k = 0; k < MUS && code == DONE; k++) {
    torque t;
    for (int p = 0; p < PANELS; p++) {
      panel[p].series[k].name = name[k];
      panel[p].series[k].color = k;
    }
    if (!walk(settings, mus[k], panel, k, &t)) {
      code = WRONG;
      break;
    }
    if (!settings->quiet) {
      printf("  %4g%16.4f%16.4f%14.5f%12.4f%14.1f\n", mus[k], t.mean, t.least, t.taken, t.way,
             t.iterations);
    }
    if (json) {
      sni_json_open(json, NULL, "{");
      sni_json_text(json, "scene", "klann");
      sni_json_raw(json, "mu", "%g", mus[k]);
      sni_json_raw(json, "mean_torque", "%.17g", t.mean);
      sni_json_raw(json, "least_torque", "%.17g", t.least);
      sni_json_raw(json, "work_back", "%.17g", t.taken);
      sni_json_raw(json, "way", "%.17g", t.way);
      sni_json_raw(json, "iterations", "%.17g", t.iterations);
      sni_json_close(json, "}");
    }
    if (!settings->quick && (!(t.mean > before) || !(t.way > 0.1))) {
      fprintf(stderr, "sinew bench: with mu = %g it needs %g N m after %g, and walks %g m\n",
              mus[k], t.mean, before, t.way);
      code = WRONG;
    }
    before = t.mean;
  }
  if (code == DONE && settings->svg) {
    const svg_style style = {.title = "Torque of a crank of the walker",
                             .x_label = "turns",
                             .y_label = "N m",
                             .width = 520,
                             .height = 360,
                             .beside = true};
    code = bench_plot(settings->svg, panel, PANELS, &style) ? DONE : BAD_INPUT;
  }
  for (int p = 0; p < PANELS; p++) {
    svg_panel_free(&panel[p]);
  }
  return code;
}

static int run_bench(const bench_settings *settings, const bench_output *out) {
  const bool all = !settings->only;
  const bool chain = all || strcmp(settings->only, "chain") == 0;
  const bool klann = all || strcmp(settings->only, "klann") == 0;
  if (!chain && !klann) {
    fprintf(stderr, "sinew bench: --only: there is no '%s' here: chain or klann\n", settings->only);
    return BAD_INPUT;
  }
  if (out->json) {
    sni_json_open(out->json, "rows", "[");
  }
  int code = chain ? bench_chain(settings, out->json) : DONE;
  code = code == DONE && klann ? bench_klann(settings, out->json) : code;
  if (out->json) {
    sni_json_close(out->json, "]");
    sni_json_open(out->json, "fits", "[");
    sni_json_close(out->json, "]");
  }
  return code;
}

const bench_entry bench_friction = {
    .name = "friction",
    .doc = "friction in joints: a chain against Staggered Projections, the torque of a walker",
    .draws = true,
    .run = run_bench};
