/* run.c: `sinew run`: simulates a scene, records it, and says how it went. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/blowup.h"
#include "cli/bundle.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/method.h"
#include "cli/plan.h"
#include "bench/bench.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/sink.h"
#include "cli/start.h"

typedef struct settings {
  cli_scene_settings scene;
  const char *method, *integrator, *out, *save, *load, *bundle;
  double duration, step, every, rate;
  cli_list channels;
  bool quiet, json;
} settings;

#define AT(member) offsetof(settings, member)
static const cli_option options[] = {
    {"--method", "M", CLI_TEXT, AT(method), "method instead of the scene's run.method"},
    {"--integrator", "I", CLI_TEXT, AT(integrator),
     "of the method: dopri5 (steps of its own, to a tolerance) or rk4 (fixed); for redmax also the "
     "implicit euler and extrapolated"},
    {"--duration", "S", CLI_NUMBER, AT(duration), "how long to simulate, from the start or --load"},
    {"--step", "H", CLI_NUMBER, AT(step), "time from one state to the next"},
    CLI_SCENE_OPTIONS(settings, scene),
    {"--out", "FILE", CLI_TEXT, AT(out),
     "record into this file: .snr is a recording with all poses, .csv a table, others what 'sinew "
     "convert' makes; -: a table to standard output"},
    {"--channels", "PATTERNS", CLI_WORDS, AT(channels),
     "what to record, separated by commas, with * and ?: 'E,hip.*,*.pos.z'"},
    {"--every", "S", CLI_NUMBER, AT(every), "time between records; 0: every step"},
    {"--rate", "N", CLI_NUMBER, AT(rate),
     "records in a second, instead of --every; more where fixed steps do not allow just so many"},
    {"--save", "FILE", CLI_TEXT, AT(save), "save the last state, to go on from it later"},
    {"--load", "FILE", CLI_TEXT, AT(load), "start from a saved state"},
    {"--bundle", "FOLDER", CLI_TEXT, AT(bundle),
     "where a run that fails leaves its last step for 'sinew replay', instead of NAME.failed; "
     "none: nowhere"},
    {"--quiet", NULL, CLI_FLAG, AT(quiet), "no summary, no warnings, no progress"},
    {"--json", NULL, CLI_FLAG, AT(json), "print the summary as JSON"}};

/* Everything that a run holds, so that there is one place to give it back. */
typedef struct job {
  const cli_command *self;
  const settings *s;
  const char *file;
  sn_scene *scene;
  sn_sim *sim;
  sn_state *state;
  cli_sink sink;
  cli_plan plan;
  cli_report report;
  sn_error err;     /* the first that stopped it */
  sn_error warning; /* about how it ended; code SN_OK: none */
  char *text;       /* of the scene, if it came from standard input */
  size_t text_size;
  struct timespec start;
  bool bad_step;             /* a step failed, not the recording of one */
  sn_state *earlier[2];      /* the one in [0] is older, by EARLIER steps */
  char moved[CLI_MOVED_MAX]; /* "": the start is as it was written */
  char bundle[CLI_BUNDLE_PATH_MAX];
} job;

/* ---- before the first step ---- */

static int fail(job *j, const sn_error *err) {
  cli_print_error(err);
  if (j->err.code == SN_OK) {
    j->err = *err;
  }
  return cli_code(err->code);
}

static int check_number(const cli_command *self, const char *name, double value,
                        bool zero_allowed) {
  if (isnan(value) || value > 0 || (zero_allowed && value == 0)) {
    return CLI_GO;
  }
  return cli_fail(self, "%s: is %g, needs a number %s 0", name, value, zero_allowed ? ">=" : ">");
}

static int check_settings(const cli_command *self, const settings *s, const char *scene) {
  int code = check_number(self, "--duration", s->duration, true);
  code = code == CLI_GO ? check_number(self, "--step", s->step, false) : code;
  code = code == CLI_GO ? check_number(self, "--every", s->every, true) : code;
  code = code == CLI_GO ? check_number(self, "--rate", s->rate, false) : code;
  if (code == CLI_GO && !isnan(s->every) && !isnan(s->rate)) {
    code = cli_fail(self, "--every and --rate both say how often to record: give one");
  }
  if (code == CLI_GO && s->json && s->out && strcmp(s->out, "-") == 0) {
    code = cli_fail(self, "--json and --out - both want standard output");
  }
  if (code == CLI_GO && s->channels.count > 0 && !s->out) {
    code = cli_fail(self, "--channels needs --out FILE: without it nothing is recorded");
  }
  const char *const read_or_written[] = {scene, s->load, s->out};
  code = code == CLI_GO ? cli_check_output(self, "--out", s->out, read_or_written, 2) : code;
  /* a state may be saved over the one it was loaded from */
  const char *const not_over[] = {scene, s->out};
  return code == CLI_GO ? cli_check_output(self, "--save", s->save, not_over, 2) : code;
}

/* The scene's settings, and over them those of the command line. */
static int prepare_sim(job *j) {
  const settings *s = j->s;
  sn_run_def run = *sn_model_run(sn_scene_model(j->scene));
  run.options.method = s->method ? s->method : run.options.method;
  run.options.step = isnan(s->step) ? run.options.step : s->step;
  run.duration = isnan(s->duration) ? run.duration : s->duration;
  run.record_every = isnan(s->every) ? run.record_every : s->every;
  sn_error err = {0};
  if (s->integrator && cli_method_integrator(&run, s->integrator, &err) != SN_OK) {
    return fail(j, &err);
  }
  run.record_every = isnan(s->rate) ? run.record_every : cli_plan_every(&run, s->rate);
  if (cli_plan_make(&run, s->out != NULL, &j->plan, &err) != SN_OK ||
      sn_sim_create(sn_scene_model(j->scene), &j->plan.run.options, &j->sim, &err) != SN_OK) {
    return fail(j, &err);
  }
  sn_sim_describe(j->sim, j->report.chosen, sizeof j->report.chosen);
  return CLI_DONE;
}

/* Where constraints want the start elsewhere, and that can be seen, it is said; where they cannot
 * all have it, a warning says more. */
static sn_status assemble(job *j, sn_error *err) {
  sn_state *as_given = NULL;
  sn_status status = sn_state_clone(j->state, &as_given);
  status = status ? status : sn_sim_assemble(j->sim, j->state, err);
  const int moved =
      status >= 0 ? cli_start_moved(j->sim, as_given, j->state, j->moved, sizeof j->moved) : 0;
  if (moved > 1 && status == SN_OK && !j->s->quiet && !j->s->json) {
    fprintf(stderr, "start: %s\n", j->moved);
  }
  sn_state_free(&as_given);
  return status;
}

static int prepare_state(job *j) {
  sn_error err = {0};
  const sn_model *m = sn_scene_model(j->scene);
  sn_status status = j->s->load ? sn_state_load(m, j->s->load, &j->state, &err)
                                : sn_state_create(m, &j->state, &err);
  if (status == SN_OK && !j->s->load) {
    status = assemble(j, &err);
  }
  if (status > 0) { /* not all can be had, and the method goes on */
    j->warning = err;
    if (!j->s->quiet) {
      cli_print_warning(&err);
    }
  }
  return status >= 0 ? CLI_DONE : fail(j, &err);
}

/* A long run that ends without its state would have to be repeated. */
static int prepare_save(job *j) {
  sn_error err = {0};
  return !j->s->save || cli_try_write(j->s->save, &err) == SN_OK ? CLI_DONE : fail(j, &err);
}

static int prepare_recorder(job *j) {
  if (!j->s->out) {
    return CLI_DONE;
  }
  const sn_run_def *run = sn_model_run(sn_scene_model(j->scene));
  const bool own = j->s->channels.count > 0;
  sn_error err = {0};
  sn_recorder_options o = sn_recorder_options_default();
  o.scene = strcmp(j->file, "-") == 0 ? NULL : j->file;
  o.channels = own ? j->s->channels.item : run->record_channels;
  o.nchannel = own ? j->s->channels.count : run->nrecord_channel;
  o.every = (double)j->plan.stride * j->plan.run.options.step;
  o.duration = j->plan.run.duration;
  const sn_status status = cli_sink_open(&j->sink, j->sim, j->state, j->s->out, &o, &err);
  if (status == SN_E_VALUE) {
    snprintf(err.path, sizeof err.path, "%s", own ? "--channels" : "run.record.channels");
  }
  return status == SN_OK ? CLI_DONE : fail(j, &err);
}

/* ---- the run ---- */

#define ENERGIES_MAX 10000 /* without a recording, the energy is looked at this often */

static int record(job *j) {
  sn_error err = {0};
  return cli_sink_add(&j->sink, j->state, &err) == SN_OK ? CLI_DONE : fail(j, &err);
}

static void look_around(job *j) {
  sn_energy e;
  double gap;
  sn_sim_energy(j->sim, j->state, &e);
  cli_report_energy(&j->report, *sn_state_time(j->state), e.kinetic, e.potential);
  sn_sim_gap(j->sim, j->state, &gap);
  j->report.gap = fmax(j->report.gap, gap);
}

/* Records and looks at energy and gaps where step k is one of those. */
static int observe(job *j, int64_t k, int64_t last) {
  const int64_t stride =
      j->sink.open || last <= ENERGIES_MAX ? j->plan.stride : last / ENERGIES_MAX;
  if (k % stride != 0 && k != last) {
    return CLI_DONE;
  }
  look_around(j);
  return j->sink.open ? record(j) : CLI_DONE;
}

static void show_progress(const job *j, cli_progress *p, int64_t k, int64_t last) {
  char what[96];
  const double t = *sn_state_time(j->state) - j->report.t_start;
  snprintf(what, sizeof what, "%.4g of %g s  %.3g x real time", t, j->plan.run.duration,
           t / (cli_wall_seconds() - p->start));
  cli_progress_show(p, (double)k / (double)last, what);
}

static int one_step(job *j, bool shorter) {
  sn_info info;
  sn_error err = {0};
  sn_status status = shorter ? sn_sim_set(j->sim, "run.step", j->plan.rest, &err) : SN_OK;
  status = status == SN_OK ? sn_sim_step(j->sim, j->state, NULL, &info, &err) : status;
  if (status < 0) {
    j->bad_step = true;
    fail(j, &err);
    return CLI_STOPPED;
  }
  cli_report_step(&j->report, status, &info);
  return CLI_DONE;
}

#define EARLIER 100 /* steps from one remembered state to the next */

/* A motion that grows beyond all bounds went wrong long before it fails. */
static void remember(job *j, int64_t k) {
  if ((k - 1) % EARLIER == 0) {
    sn_state *oldest = j->earlier[0];
    j->earlier[0] = j->earlier[1];
    j->earlier[1] = oldest;
    if (oldest) {
      sn_state_copy(oldest, j->state);
    } else { /* no memory: then none is kept */
      sn_state_clone(j->state, &j->earlier[1]);
    }
  }
}

static int simulate(job *j) {
  const int64_t last = j->plan.steps + (j->plan.rest > 0);
  const double cpu = bench_cpu_seconds();
  cli_progress p = cli_progress_begin(j->s->quiet);
  j->report.t_start = *sn_state_time(j->state);
  int code = observe(j, 0, last);
  for (int64_t k = 1; k <= last && code == CLI_DONE; k++) {
    remember(j, k);
    code = one_step(j, k > j->plan.steps);
    const int interrupt = cli_interrupt_seen();
    if (code == CLI_DONE) {
      code = observe(j, k, interrupt ? k : last);
    }
    if (interrupt && code == CLI_DONE && k < last) {
      code = CLI_SIGNALLED + interrupt;
    }
    if (cli_progress_due(&p)) {
      show_progress(j, &p, k, last);
    }
  }
  cli_progress_end(&p);
  j->report.status = code == CLI_DONE ? "done" : code > CLI_SIGNALLED ? "interrupted" : "stopped";
  j->report.wall = cli_wall_seconds() - p.start;
  j->report.cpu = bench_cpu_seconds() - cpu;
  j->report.t_end = *sn_state_time(j->state);
  j->report.hash = sn_state_hash(j->state);
  return code;
}

/* ---- after the last step ---- */

/* What is needed to repeat the step that failed. */
static void keep_failed_step(job *j) {
  sn_error err = {0};
  cli_failure f = {.file = j->file,
                   .text = j->text,
                   .text_size = j->text_size,
                   .settings = &j->s->scene,
                   .run = &j->plan.run,
                   .before = j->state,
                   .earlier = j->earlier[0] ? j->earlier[0] : j->earlier[1],
                   .in_recording = !j->bad_step,
                   .err = &j->err,
                   .name = j->s->bundle,
                   .out = j->s->out,
                   .start = j->start};
  if (j->s->bundle && strcmp(j->s->bundle, "none") == 0) {
    return;
  }
  if (sn_sim_get(j->sim, "run.step", &f.step, &err) || cli_bundle_write(&f, j->bundle, &err)) {
    fputs("warning: cannot keep the step that failed: ", stderr);
    cli_print_error(&err);
    return;
  }
  fprintf(stderr, "the step that failed is kept: sinew replay %s\n", j->bundle);
  j->report.bundle = j->bundle;
}

/* Also after a failure: what was recorded stays, and the last good state is saved. */
static int finish_files(job *j, int code) {
  sn_error err = {0};
  const bool was_written = code != CLI_BAD_INPUT; /* else it has been said already */
  const sn_ending ending = code == CLI_DONE       ? SN_ENDED
                           : code > CLI_SIGNALLED ? SN_INTERRUPTED
                                                  : SN_FAILED;
  const sn_error *what = j->err.code ? &j->err : NULL;
  if (cli_sink_close(&j->sink, ending, j->report.t_end, what, &err) != SN_OK && was_written) {
    code = fail(j, &err);
  }
  if (j->s->out) {
    j->report.out = j->s->out;
    j->report.frames = j->sink.frames;
    j->report.rows = j->sink.rows;
    j->report.columns = j->sink.columns;
  }
  if (j->s->save) {
    if (sn_state_save(j->state, j->s->save, &err) != SN_OK) {
      return fail(j, &err);
    }
    j->report.save = j->s->save;
  }
  return code;
}

/* A motion may end well and yet be nonsense, and one that could not go on may have been
 * before. */
static void look_back(job *j, bool unmet) {
  const cli_energies e = {
      .T0 = j->report.T0, .V0 = j->report.V0, .rise = j->report.rise, .stopped = unmet};
  if (cli_blowup(j->sim, j->plan.run.options.step, &e, &j->warning) && !j->s->quiet) {
    cli_print_warning(&j->warning);
  }
}

static int print_json(job *j, int code) {
  sni_json json = {0};
  sni_json_open(&json, NULL, "{");
  sni_json_text(&json, "scene", j->file);
  sni_json_text(&json, "status", j->report.status ? j->report.status : "refused");
  if (j->moved[0]) {
    sni_json_text(&json, "start_moved", j->moved);
  }
  if (j->report.status) {
    cli_report_json(&j->report, &j->plan, &json);
  }
  const sni_error_list errors = {.item = &j->err, .count = j->err.code != SN_OK};
  const sni_error_list warnings = {.item = &j->warning, .count = j->warning.code != SN_OK};
  cli_json_problems(&json, j->scene, &errors, &warnings);
  sni_json_close(&json, "}");
  return cli_json_print(&json, stdout) ? code : cli_fail(j->self, "cannot print the summary");
}

static int work(job *j) {
  cli_scene_settings load = j->s->scene;
  load.stdin_text = &j->text;
  load.stdin_size = &j->text_size;
  timespec_get(&j->start, TIME_UTC);
  int code = cli_load(j->file, &load, j->s->quiet, &j->scene);
  code = code ? code : prepare_sim(j);
  code = code ? code : prepare_state(j);
  code = code ? code : prepare_save(j);
  code = code ? code : prepare_recorder(j);
  if (code == CLI_DONE) {
    cli_interrupt_watch();
    code = simulate(j);
    const bool unmet = code == CLI_STOPPED && j->err.code == SN_E_UNCONVERGED;
    if (code != CLI_STOPPED || unmet) { /* other errors say by themselves what may help */
      look_back(j, unmet);
    }
    if (code == CLI_STOPPED) {
      keep_failed_step(j);
    }
    code = finish_files(j, code);
    if (!j->s->quiet && !j->s->json) {
      const bool csv_there = j->s->out && strcmp(j->s->out, "-") == 0;
      cli_report_print(&j->report, &j->plan, csv_there ? stderr : stdout);
    }
  }
  return j->s->json ? print_json(j, code) : code;
}

static int run(const cli_command *self, int argc, char **argv) {
  settings s = {.duration = NAN, .step = NAN, .every = NAN, .rate = NAN};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  code = code == CLI_GO ? check_settings(self, &s, plain.item[0]) : code;
  if (code == CLI_GO) {
    job j = {.self = self, .s = &s, .file = plain.item[0], .report = {.scene = plain.item[0]}};
    code = work(&j);
    cli_sink_close(&j.sink, SN_FAILED, 0, NULL, NULL);
    sn_state_free(&j.state);
    sn_state_free(&j.earlier[0]);
    sn_state_free(&j.earlier[1]);
    sn_sim_free(&j.sim);
    sn_scene_free(&j.scene);
    free(j.text);
  }
  cli_list_free(&plain);
  cli_list_free(&s.scene.set);
  cli_list_free(&s.channels);
  return code;
}

const cli_command cli_run = {
    .name = "run",
    .arguments = "FILE [OPTION...]",
    .least = 1,
    .most = 1,
    .doc = "simulate a scene",
    .about =
        "Simulates a scene (-: from standard input) and prints how it went.  --out records it: as\n"
        "a table (.csv: the first row is the start, numbers have all their digits), as a "
        "recording\n"
        "with the poses of all bodies (.snr), or as what can be made of one (.glb, .html).  A run\n"
        "of 2N steps equals one of N steps with --save and another with --load, bit for bit.\n\n"
        "Ctrl-C ends a run cleanly: files are complete up to there, exit status 130.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples =
        "  sinew run scenes/pendulum.yaml\n"
        "  sinew run scenes/pendulum.yaml --out pendulum.csv --every 0.05\n"
        "  sinew run scenes/pendulum.yaml --out pendulum.snr\n"
        "  sinew run scenes/pendulum.yaml --integrator rk4 --step 1/240 --duration 2\n"
        "  sinew run scenes/pendulum.yaml --set initial.rod.q=30*deg --set run.step=0.005\n"
        "  sinew run scenes/demo.yaml --duration 1 --out trail.csv --channels 'wheel.pos.*,E'\n"
        "  sinew run scenes/pendulum.yaml --duration 1 --save half.state\n"
        "  sinew run scenes/pendulum.yaml --duration 1 --load half.state --json\n",
    .run = run};
