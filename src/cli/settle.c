/* settle.c: `sinew settle`: the pose in which all forces balance. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/relax.h"
#include "methods/blame.h"
#include "methods/sim.h"
#include "model/model.h"

typedef struct settings {
  cli_scene_settings scene;
  const char *save;
  double tolerance, max_steps;
  bool yaml, quiet, json;
} settings;

static const cli_option options[] = {
    {"--save", "FILE", CLI_TEXT, offsetof(settings, save),
     "save the state, for 'sinew run --load FILE'"},
    {"--yaml", NULL, CLI_FLAG, offsetof(settings, yaml),
     "print the part 'initial' of a scene instead of a summary"},
    {"--tolerance", "X", CLI_NUMBER, offsetof(settings, tolerance),
     "what may remain of the forces, over the weight (without gravity, over those at the start); "
     "1e-9 if not given"},
    {"--max-steps", "N", CLI_NUMBER, offsetof(settings, max_steps),
     "give up after so many; 100000 if not given"},
    CLI_SCENE_OPTIONS(settings, scene),
    {"--quiet", NULL, CLI_FLAG, offsetof(settings, quiet), "no summary, no warnings"},
    {"--json", NULL, CLI_FLAG, offsetof(settings, json), "print the summary as JSON"}};

typedef struct job {
  const settings *s;
  const char *file;
  sn_scene *scene;
  sn_model *m;
  sn_sim *sim;
  sn_state *state;
  cli_relax relax;
  double V0, V1;  /* potential energy before and after */
  double V2;      /* and where it goes from beside that, if it is an unstable one; NAN: it is not */
  char held[300]; /* what moves at t = 0 and is held where it is then; empty: nothing */
  sn_error err;
} job;

static int fail(job *j) {
  cli_print_error(&j->err);
  return cli_code(j->err.code);
}

static double potential(job *j) {
  sn_energy e = {0};
  sn_sim_energy(j->sim, j->state, &e);
  return e.potential;
}

/* What rubs may rest anywhere, and what touches is not looked for here. */
static sn_status refuse(const sn_model *m, sn_error *err) {
  if (m->touching) {
    return sni_fail(
        err, SN_E_UNSUPPORTED,
        "settle knows no contact, and '%s' collides: let it come to rest by 'sinew run', "
        "or take the contact away",
        m->touching);
  }
  if (m->nslide > 0) {
    return sni_fail(err, SN_E_UNSUPPORTED,
                    "joints with friction may rest in many poses: take the friction away, and "
                    "settle finds where they rest without it");
  }
  return SN_OK;
}

static sn_status refuse_rates(job *j) {
  const int k = cli_relax_restless(j->sim, j->state);
  return k < 0 ? SN_OK
               : sni_fail(&j->err, SN_E_UNSUPPORTED,
                          "%s.%s: moves on at a rate, so nothing comes to rest: let it hold a "
                          "place, or take it away",
                          sni_sim_section(j->m, k), j->m->constraint_name[k]);
}

/* Functions of time that say where something is stay what they are at t = 0: one that moves then
 * does not rest, which is said. */
static void look_for_held(job *j) {
  const int function = sni_blame_moving(j->m, 0);
  if (function >= 0) {
    sni_blame_owner(j->m, function, j->held, sizeof j->held);
  }
}

static int prepare(job *j) {
  j->m = sn_scene_take_model(j->scene);
  look_for_held(j);
  sn_options o = sn_model_run(j->m)->options;
  o.method = "redmax"; /* whatever the scene is for: its steps are implicit */
  o.redmax.integrator = SN_EULER;
  o.redmax.closure = SN_CLOSURE_PROJECT;
  sn_status status = refuse(j->m, &j->err);
  status = status ? status : cli_relax_hold(j->m, &j->err);
  status = status ? status : sn_sim_create(j->m, &o, &j->sim, &j->err);
  status = status ? status : sn_state_create(j->m, &j->state, &j->err);
  status = status ? status : sn_sim_assemble(j->sim, j->state, &j->err);
  status = status ? status : refuse_rates(j);
  if (!status && j->s->save) {
    status = cli_try_write(j->s->save, &j->err);
  }
  return status ? fail(j) : CLI_DONE;
}

/* What the residual is a part of (cli_relax_run). */
static const char *whole(const job *j) {
  const double *g = j->sim->d.params.gravity;
  return g[0] != 0 || g[1] != 0 || g[2] != 0 ? "weight" : "forces at the start";
}

/* Why it does not come to rest. */
static int restless(job *j) {
  const char *body = sn_model_body_name(j->m, j->relax.body);
  if (j->relax.falls) {
    sni_fail(&j->err, SN_E_UNCONVERGED,
             "%s: does not come to rest: body '%s' moves away faster and faster, nothing holds it",
             j->file, body);
  } else {
    sni_fail(&j->err, SN_E_UNCONVERGED,
             "%s: not at rest after %d steps: %.3g of the %s remains, most at body '%s': try "
             "more --max-steps or a larger --tolerance",
             j->file, j->relax.steps, j->relax.residual, whole(j), body);
  }
  cli_print_error(&j->err);
  return CLI_STOPPED;
}

/* From a pose that is ASIDE (rad or m) beside the one found, without pattern: where it comes back
 * to it, or creeps about near by, it is stable; where it falls far lower than the way aside was
 * high, it is not.  A few steps tell. */
#define ASIDE       1e-3
#define ASIDE_STEPS 400
#define FAR_LOWER   100

static sn_status look_beside(job *j) {
  sn_state *found = NULL;
  sn_error err;
  const sn_status status = sn_state_clone(j->state, &found);
  if (status) {
    return sni_fail(&j->err, status, "out of memory");
  }
  double *q = sn_state_q(j->state);
  uint64_t seed = 1;
  for (int k = 0; k < sn_model_dof_count(j->m); k++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    q[k] += ASIDE * (double)(int64_t)seed / 9223372036854775808.0;
  }
  if (sn_sim_assemble(j->sim, j->state, &err) == SN_OK) {
    const double up = fabs(potential(j) - j->V1);
    cli_relax beside = {.tolerance = j->s->tolerance, .max_steps = ASIDE_STEPS};
    cli_relax_run(&beside, j->sim, j->state, &err);
    const double V = potential(j);
    j->V2 = V < j->V1 - FAR_LOWER * up - 1e-9 * fabs(j->V1) ? V : NAN;
  }
  sn_state_copy(j->state, found);
  sn_state_free(&found);
  return SN_OK;
}

static int come_to_rest(job *j) {
  j->relax =
      (cli_relax){.tolerance = j->s->tolerance, .max_steps = (int)j->s->max_steps, .body = 0};
  j->V0 = potential(j);
  const sn_status status = cli_relax_run(&j->relax, j->sim, j->state, &j->err);
  j->V1 = potential(j);
  if (status < 0) {
    fail(j);
    return CLI_STOPPED;
  }
  if (status == SN_NOT_CONVERGED) {
    return restless(j);
  }
  if (look_beside(j)) {
    return fail(j);
  }
  return j->s->save && sn_state_save(j->state, j->s->save, &j->err) ? fail(j) : CLI_DONE;
}

/* ---- what it prints ---- */

static void print_yaml(const job *j) {
  const double *q = sn_state_q(j->state);
  printf("initial:\n");
  for (int i = 0; i < sn_model_body_count(j->m); i++) {
    const int first = sn_model_joint_first(j->m, i), n = sn_model_joint_dofs(j->m, i);
    for (int c = 0; c < n; c++) {
      if (c == 0) {
        printf("  %s: {q: [", sn_model_body_name(j->m, i));
      }
      printf("%.17g%s", q[first + c] + 0.0, c + 1 < n ? ", " : "]}\n");
    }
  }
}

static void print_summary(const job *j) {
  printf("%s: at rest after %d step%s\n", j->file, j->relax.steps, j->relax.steps == 1 ? "" : "s");
  printf("  residual    %.1e of the %s\n", j->relax.residual, whole(j));
  printf("  energy      V = %.9g at the start, %.9g at rest\n", j->V0, j->V1);
  if (!isnan(j->V2)) {
    printf("  unstable    from %g (rad or m) beside it goes on down to V = %.9g: start it there\n",
           ASIDE, j->V2);
  }
  if (j->held[0]) {
    printf("  held        %s, where it is at t = 0, though it moves then\n", j->held);
  }
  if (j->s->save) {
    printf("  saved       %s\n", j->s->save);
  }
}

static bool print_json(const job *j, int code) {
  sni_json json = {0};
  sni_json_open(&json, NULL, "{");
  sni_json_text(&json, "scene", j->file);
  sni_json_text(&json, "status",
                code == CLI_DONE      ? "at rest"
                : code == CLI_STOPPED ? "not at rest"
                                      : "refused");
  if (code == CLI_DONE || code == CLI_STOPPED) {
    sni_json_raw(&json, "steps", "%d", j->relax.steps);
    cli_json_number(&json, "residual", j->relax.residual);
    sni_json_open(&json, "potential", "{");
    cli_json_number(&json, "start", j->V0);
    cli_json_number(&json, "end", j->V1);
    sni_json_close(&json, "}");
    sni_json_raw(&json, "stable", "%s", isnan(j->V2) ? "true" : "false");
    if (j->held[0]) {
      sni_json_text(&json, "held", j->held);
    }
  }
  const sni_error_list errors = {.item = (sn_error *)&j->err, .count = j->err.code != SN_OK};
  cli_json_problems(&json, j->scene, &errors, NULL);
  sni_json_close(&json, "}");
  return cli_json_print(&json, stdout);
}

static int work(job *j) {
  int code = cli_load(j->file, &j->s->scene, j->s->quiet, &j->scene);
  code = code ? code : prepare(j);
  code = code ? code : come_to_rest(j);
  if (j->s->json) {
    return print_json(j, code) ? code : CLI_BAD_INPUT;
  }
  if (code == CLI_DONE && j->s->yaml) {
    print_yaml(j);
  } else if (code == CLI_DONE && !j->s->quiet) {
    print_summary(j);
  }
  return code;
}

static int check_settings(const cli_command *self, settings *s, const char *scene) {
  s->tolerance = isnan(s->tolerance) ? 1e-9 : s->tolerance;
  s->max_steps = isnan(s->max_steps) ? 100000 : s->max_steps;
  if (!(s->tolerance > 0)) {
    return cli_fail(self, "--tolerance: is %g, needs a number > 0", s->tolerance);
  }
  if (!(s->max_steps >= 1 && s->max_steps <= 1e9)) {
    return cli_fail(self, "--max-steps: is %g, needs a number from 1 to 1e9", s->max_steps);
  }
  if (s->json && s->yaml) {
    return cli_fail(self, "--json and --yaml both want standard output");
  }
  return cli_check_output(self, "--save", s->save, &scene, 1);
}

static int settle(const cli_command *self, int argc, char **argv) {
  settings s = {.tolerance = NAN, .max_steps = NAN};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  code = code == CLI_GO ? check_settings(self, &s, plain.item[0]) : code;
  if (code == CLI_GO) {
    job j = {.s = &s, .file = plain.item[0], .V2 = NAN};
    code = work(&j);
    sn_state_free(&j.state);
    sn_sim_free(&j.sim);
    sn_model_free(&j.m);
    sn_scene_free(&j.scene);
  }
  cli_list_free(&plain);
  cli_list_free(&s.scene.set);
  return code;
}

const cli_command cli_settle = {
    .name = "settle",
    .arguments = "SCENE [--save FILE] [--yaml]",
    .least = 1,
    .most = 1,
    .doc = "find the pose in which all forces balance",
    .about =
        "Looks for a static equilibrium near the start of a scene (-: from standard input): with\n"
        "its loops, constraints, springs and drives, and with functions of time as they are at\n"
        "t = 0.  Exit status 3, and no file, if it does not come to rest.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew settle scenes/rope.yaml --save rest.state\n"
                "  sinew settle scenes/double_pendulum.yaml --yaml\n",
    .run = settle};
