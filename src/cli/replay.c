/* replay.c: `sinew replay`: repeats the step at which a run failed, and shows what is wrong. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/bundle.h"
#include "cli/method.h"
#include "cli/replay_look.h"
#include "cli/replay_recording.h"
#include "methods/blame.h"
#include "methods/sim.h"

typedef struct settings {
  cli_scene_settings scene;
  const char *method, *integrator;
  double step, steps;
  bool earlier, trace, json;
} settings;

#define AT(member) offsetof(settings, member)
static const cli_option options[] = {
    {"--step", "H", CLI_NUMBER, AT(step), "another step"},
    {"--method", "M", CLI_TEXT, AT(method), "another method"},
    {"--integrator", "I", CLI_TEXT, AT(integrator), "another integrator"},
    CLI_SCENE_OPTIONS(settings, scene),
    {"--steps", "N", CLI_NUMBER, AT(steps),
     "how many steps to take; 1 if not given, with --earlier 250"},
    {"--earlier", NULL, CLI_FLAG, AT(earlier),
     "begin 100 to 200 steps before the bad one, or at the first"},
    {"--trace", NULL, CLI_FLAG, AT(trace), "print time, energy and the fastest body of every step"},
    {"--json", NULL, CLI_FLAG, AT(json), "print what was found as JSON"}};

typedef struct job {
  const cli_command *self;
  settings *s;
  cli_bundle bundle;
  cli_list set; /* the changes of the run, and over them those of now */
  sn_scene *scene;
  sn_sim *sim;
  sn_state *state;
  sn_run_def run;
  replay_look before, after;
  int64_t steps_done, unconverged; /* the latter: taken although a solve did not converge */
  sn_info info;
  sn_error err;                    /* of the repeated step */
  char now[2 * SN_ERROR_TEXT_MAX]; /* its text; "": none */
} job;

/* ---- opening ---- */

static int fail(const sn_error *err) {
  cli_print_error(err);
  return cli_code(err->code);
}

static int collect_changes(job *j) {
  const cli_list *own = &j->s->scene.set;
  j->set.item = calloc((size_t)(j->bundle.nset + own->count) + 1, sizeof *j->set.item);
  if (!j->set.item) {
    return cli_fail(j->self, "out of memory");
  }
  for (int k = 0; k < j->bundle.nset; k++) {
    j->set.item[j->set.count++] = j->bundle.set[k];
  }
  for (int k = 0; k < own->count; k++) {
    j->set.item[j->set.count++] = own->item[k];
  }
  return CLI_DONE;
}

/* Do the changes of now speak of this path? */
static bool is_set(const job *j, const char *path) {
  const size_t n = strlen(path);
  for (int k = 0; k < j->s->scene.set.count; k++) {
    const char *item = j->s->scene.set.item[k];
    if (strncmp(item, path, n) == 0 && (item[n] == '=' || item[n] == '.')) {
      return true;
    }
  }
  return false;
}

/* The options of the run, unless something else is asked for now. */
static int prepare_options(job *j) {
  const settings *s = j->s;
  const bool other_method = s->method || is_set(j, "run.method");
  char own[96];
  j->run = *sn_model_run(sn_scene_model(j->scene));
  sn_options *o = &j->run.options;
  o->method = s->method ? s->method : other_method ? o->method : j->bundle.method;
  o->step = !isnan(s->step) ? s->step : is_set(j, "run.step") ? o->step : j->bundle.step;
  snprintf(own, sizeof own, "run.%.60s.integrator", o->method);
  const char *integrator = s->integrator                    ? s->integrator
                           : other_method || is_set(j, own) ? NULL
                                                            : j->bundle.integrator;
  sn_error err = {0};
  return integrator && cli_method_integrator(&j->run, integrator, &err) ? fail(&err) : CLI_DONE;
}

static const char *first_state(const job *j) {
  return j->s->earlier ? j->bundle.earlier : j->bundle.before;
}

static int prepare(job *j, const char *folder) {
  sn_error err = {0};
  if (cli_bundle_read(folder, &j->bundle, &err)) {
    return fail(&err);
  }
  int code = collect_changes(j);
  const cli_scene_settings load = {
      .set = j->set, .allow_outside = j->bundle.allow_outside || j->s->scene.allow_outside};
  code = code ? code : cli_load(j->bundle.scene, &load, true, &j->scene);
  code = code ? code : prepare_options(j);
  if (code) {
    return code;
  }
  const sn_model *m = sn_scene_model(j->scene);
  if (sn_sim_create(m, &j->run.options, &j->sim, &err) ||
      sn_state_load(m, first_state(j), &j->state, &err)) {
    return fail(&err);
  }
  return CLI_DONE;
}

/* ---- repeating ---- */

/* The energy is too large for a number before the state is: said as recordings say it. */
static bool check_energy(sn_sim *sim, const sn_state *state, sn_error *err) {
  sn_energy e = {0};
  sn_sim_energy(sim, state, &e);
  if (isfinite(e.kinetic) && isfinite(e.potential)) {
    return true;
  }
  sni_blame_channel(sim, state, isfinite(e.kinetic) ? "V" : "T", err);
  return false;
}

static void trace(job *j) {
  replay_look now;
  if (replay_look_at(j->sim, j->state, -1, &now) && now.nvelocity > 0) {
    const replay_entry *e = &now.velocity[0];
    printf("t %-12.6g E %-14.6g '%s' %.4g m/s, %.4g rad/s\n", now.t, now.T + now.V,
           sn_model_body_name(sn_scene_model(j->scene), e->index), e->first, e->second);
  }
}

/* The steps; j->now says what stopped them. */
static void repeat(job *j) {
  const bool energy = j->bundle.in_recording;
  bool good = !energy || check_energy(j->sim, j->state, &j->err);
  const int64_t n = !isnan(j->s->steps) ? (int64_t)j->s->steps : j->s->earlier ? 250 : 1;
  while (good && j->steps_done < n) {
    const sn_status status = sn_sim_step(j->sim, j->state, NULL, &j->info, &j->err);
    good = status >= 0;
    j->steps_done += good;
    j->unconverged += status > 0;
    if (good && j->s->trace && !j->s->json) {
      trace(j);
    }
    good = good && (!energy || check_energy(j->sim, j->state, &j->err));
  }
  if (!good) {
    sn_error_format(&j->err, j->now, sizeof j->now);
  }
}

/* Before and after, at the body that the error names. */
static bool look(job *j) {
  const sn_model *m = sn_scene_model(j->scene);
  const bool named = strncmp(j->err.path, "bodies.", 7) == 0;
  const int body = named ? sn_model_body_find(m, j->err.path + 7) : -1;
  sn_state *before = NULL;
  bool good = sn_state_load(m, first_state(j), &before, NULL) == SN_OK;
  good = good && replay_look_at(j->sim, before, body, &j->before);
  sn_state_free(&before);
  return good && replay_look_at(j->sim, j->state, body, &j->after);
}

/* ---- saying ---- */

static const char *verdict(const job *j) {
  return !j->now[0]                             ? "does not come again"
         : strcmp(j->now, j->bundle.error) == 0 ? "comes again"
                                                : "is another one now";
}

static void print_text(const job *j) {
  printf("%s: kept by sinew %s\n  scene       %s", j->bundle.folder, j->bundle.version,
         j->bundle.scene);
  for (int k = 0; k < j->set.count; k++) {
    printf(" --set '%s'", j->set.item[k]);
  }
  printf("\n  method      ");
  cli_method_print(&j->run, stdout);
  printf("\n  error then  %s\n  error now   %s\n              the error %s\n", j->bundle.error,
         j->now[0] ? j->now : "none", verdict(j));
  printf("  steps       %lld of %.10g done from t = %.10g\n", (long long)j->steps_done,
         j->run.options.step, j->before.t);
  if (j->steps_done > 0 || j->info.substeps > 0 || j->info.iterations > 0) {
    printf("  last step   %d iterations, residual %.3g, divided %d times\n", j->info.iterations,
           j->info.residual, j->info.retries);
  }
  if (j->unconverged > 0) {
    printf("  unconverged %lld accepted\n", (long long)j->unconverged);
  }
  puts("\nbefore:");
  replay_look_print(&j->before, j->sim, stdout);
  if (j->steps_done > 0) {
    puts("\nafter:");
    replay_look_print(&j->after, j->sim, stdout);
  }
}

static int print_json(const job *j, int code) {
  sni_json out = {0};
  sni_json_open(&out, NULL, "{");
  sni_json_text(&out, "bundle", j->bundle.folder);
  sni_json_text(&out, "scene", j->bundle.scene);
  sni_json_text(&out, "error_then", j->bundle.error);
  if (j->now[0]) {
    sni_json_text(&out, "error_now", j->now);
  }
  cli_json_bool(&out, "same", strcmp(j->now, j->bundle.error) == 0);
  cli_method_json(&j->run, &out);
  cli_json_number(&out, "step", j->run.options.step);
  sni_json_raw(&out, "steps", "%lld", (long long)j->steps_done);
  sni_json_raw(&out, "iterations", "%d", j->info.iterations);
  cli_json_number(&out, "residual", j->info.residual);
  sni_json_raw(&out, "retries", "%d", j->info.retries);
  sni_json_raw(&out, "unconverged", "%lld", (long long)j->unconverged);
  replay_look_json(&j->before, j->sim, "before", &out);
  if (j->steps_done > 0) {
    replay_look_json(&j->after, j->sim, "after", &out);
  }
  sni_json_close(&out, "}");
  return cli_json_print(&out, stdout) ? code : cli_fail(j->self, "cannot print the result");
}

static int work(job *j, const char *folder) {
  int code = prepare(j, folder);
  if (code) {
    return code;
  }
  repeat(j);
  if (!look(j)) {
    return cli_fail(j->self, "cannot look at the state again: was it taken away, or no memory?");
  }
  code = j->now[0] ? CLI_STOPPED : CLI_DONE;
  if (j->s->json) {
    return print_json(j, code);
  }
  print_text(j);
  return fflush(stdout) == 0 ? code : cli_fail(j->self, "cannot print the result");
}

/* What was recorded cannot be tried otherwise. */
static int tell_recording(const cli_command *self, const settings *s, const char *path) {
  if (s->method || s->integrator || s->earlier || s->json || s->scene.set.count > 0 ||
      s->scene.allow_outside || !isnan(s->step) || !isnan(s->steps)) {
    return cli_fail(self, "a recording is only told: of the options, --trace alone is for it");
  }
  return cli_replay_recording(path, s->trace);
}

static int replay(const cli_command *self, int argc, char **argv) {
  settings s = {.step = NAN, .steps = NAN};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  if (code == CLI_GO && !plain.item[0][0]) {
    code =
        cli_fail(self, "the name of the bundle is empty: needs the folder that a failed run left");
  }
  if (code == CLI_GO && cli_is_recording(plain.item[0])) {
    code = tell_recording(self, &s, plain.item[0]);
  }
  if (code == CLI_GO && s.step <= 0) {
    code = cli_fail(self, "--step: is %g, needs a number > 0", s.step);
  }
  if (code == CLI_GO && (s.steps < 1 || s.steps > 1e9 || floor(s.steps) < s.steps)) {
    code = cli_fail(self, "--steps: is %g, needs a whole number from 1 to 1e9", s.steps);
  }
  if (code == CLI_GO) {
    job j = {.self = self, .s = &s};
    code = work(&j, plain.item[0]);
    sn_state_free(&j.state);
    sn_sim_free(&j.sim);
    sn_scene_free(&j.scene);
    cli_bundle_free(&j.bundle);
    cli_list_free(&j.set);
  }
  cli_list_free(&plain);
  cli_list_free(&s.scene.set);
  return code;
}

const cli_command cli_replay = {
    .name = "replay",
    .arguments = "BUNDLE|RECORDING.snr [OPTION...]",
    .least = 1,
    .most = 1,
    .doc = "repeat the step at which a run failed, and show what is wrong",
    .about =
        "Opens the folder that a failed run left (NAME.failed), repeats the bad step and shows\n"
        "the energies, the fastest bodies, the largest accelerations and what pulls at the\n"
        "body in question.  Options try it otherwise.  Exit status 3 if it fails again, 0 if\n"
        "not.  A recording (.snr) is told instead: its frames with --trace, how it ended, and\n"
        "what was wrong.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew new | sinew run - --quiet --set run.recursive.max_steps=1 --step 1 "
                "--bundle bad || true\n"
                "  sinew replay bad || true\n"
                "  sinew replay bad --earlier --trace || true\n"
                "  sinew replay bad --step 0.01 --steps 10 --set run.recursive.max_steps=1000\n",
    .run = replay};
