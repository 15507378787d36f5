/* inverse.c: `sinew inverse`: the joint torques behind a recorded motion. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/motion.h"
#include "cli/progress.h"
#include "io/csv_writer.h"
#include "model/model.h"

typedef struct settings {
  cli_scene_settings scene;
  const char *out;
  bool hold, quiet, json;
} settings;

static const cli_option options[] = {
    {"--out", "FILE.csv", CLI_TEXT, offsetof(settings, out),
     "write the torques here; default: standard output"},
    {"--hold", NULL, CLI_FLAG, offsetof(settings, hold),
     "joints that MOTION.csv does not have stay at their initial place"},
    CLI_SCENE_OPTIONS(settings, scene),
    {"--quiet", NULL, CLI_FLAG, offsetof(settings, quiet), "no summary, no warnings, no progress"},
    {"--json", NULL, CLI_FLAG, offsetof(settings, json),
     "print the summary as JSON (needs --out)"}};

typedef struct job {
  const settings *s;
  const char *scene_file, *motion_file;
  sn_scene *scene;
  const sn_model *m;
  sn_sim *sim;
  sn_state *state;
  cli_motion motion;
  sni_csv_writer csv;
  double *qdd, *row;       /* nv; 1 + nv: t and the torques  */
  double *most;            /* nv: largest torques            */
  sni_error_list problems; /* what stopped it          */
} job;

static int fail(job *j, const sn_error *err) {
  cli_print_error(err);
  sni_error_list_add(&j->problems, err);
  return cli_code(err->code);
}

/* ---- before ---- */

static void warn_strangers(const job *j) {
  const char *name;
  for (int column = 0; (name = cli_motion_stranger(&j->motion, j->m, &column));) {
    fprintf(stderr, "warning: %s: column '%s' is not used: the scene has no such joint\n",
            j->motion_file, name);
  }
}

static int read_motion(job *j) {
  cli_motion_read(j->motion_file, j->m, j->s->hold, &j->motion, &j->problems);
  for (int k = 0; k < j->problems.count; k++) {
    cli_print_error(&j->problems.item[k]);
  }
  if (j->problems.count > 0) {
    return cli_code(j->problems.item[0].code);
  }
  if (!j->s->quiet && j->m->nslide > 0) {
    fprintf(stderr, "warning: %s: friction in joints is left out: the torques do not overcome it\n",
            j->scene_file);
  }
  if (!j->s->quiet && j->m->touching) {
    fprintf(stderr, "warning: %s: contacts are left out: the torques bear all of the weight\n",
            j->scene_file);
  }
  if (!j->s->quiet) {
    warn_strangers(j);
  }
  return CLI_DONE;
}

static int prepare(job *j) {
  sn_error err = {0};
  j->m = sn_scene_model(j->scene);
  const int bonds = j->m->nconstraint - j->m->nlimit; /* limits do not act within their range */
  if (bonds > 0) {
    sni_fail(&err, SN_E_UNSUPPORTED,
             "%s: has loops or other constraints (%d): with these the motion alone does not "
             "determine the joint forces, only trees have an inverse",
             j->scene_file, bonds);
    return fail(j, &err);
  }
  const size_t nv = (size_t)sn_model_dof_count(j->m);
  if (sn_sim_create(j->m, NULL, &j->sim, &err) != SN_OK ||
      sn_state_create(j->m, &j->state, &err) != SN_OK) {
    return fail(j, &err);
  }
  j->qdd = calloc(3 * nv + 1, sizeof *j->qdd);
  if (!j->qdd) {
    return fail(j, &(sn_error){.code = SN_E_MEMORY, .text = "out of memory"});
  }
  j->most = j->qdd + nv;
  j->row = j->most + nv;
  memset(sn_state_qd(j->state), 0, nv * sizeof(double)); /* those that are held do not move */
  return read_motion(j);
}

/* ---- row by row ---- */

static int open_output(job *j) {
  sn_error err = {0};
  if (sni_csv_writer_open(&j->csv, j->s->out ? j->s->out : "-", &err) != SN_OK) {
    return fail(j, &err);
  }
  sni_csv_writer_name(&j->csv, "t");
  for (int i = 0; i < sn_model_body_count(j->m); i++) {
    for (int c = 0; c < sn_model_joint_dofs(j->m, i); c++) {
      char name[320];
      cli_coordinate_name(j->m, i, c, "tau", name, sizeof name);
      sni_csv_writer_name(&j->csv, name);
    }
  }
  return CLI_DONE;
}

static int one_row(job *j, int r) {
  const int nv = sn_model_dof_count(j->m);
  const cli_motion *motion = &j->motion;
  *sn_state_time(j->state) = j->row[0] = motion->t[r];
  for (int k = 0; k < nv; k++) {
    if (motion->q[k]) {
      sn_state_q(j->state)[k] = motion->q[k][r];
      sn_state_qd(j->state)[k] = motion->qd[k][r];
      j->qdd[k] = motion->qdd[k][r];
    }
  }
  sn_error err = {0};
  if (sn_sim_inverse(j->sim, j->state, NULL, j->qdd, j->row + 1, NULL, &err) != SN_OK) {
    return fail(j, &err);
  }
  for (int k = 0; k < nv; k++) {
    if (!isfinite(j->row[1 + k])) {
      sni_fail(&err, SN_E_DIVERGED, "%s line %d: the torques are not finite", motion->csv->path,
               motion->csv->line[r]);
      fail(j, &err);
      return CLI_STOPPED;
    }
    j->most[k] = fmax(j->most[k], fabs(j->row[1 + k]));
  }
  return sni_csv_writer_row(&j->csv, j->row, &err) == SN_OK ? CLI_DONE : fail(j, &err);
}

static int all_rows(job *j) {
  cli_progress p = cli_progress_begin(j->s->quiet);
  int code = CLI_DONE;
  for (int r = 0; r < j->motion.nrow && code == CLI_DONE; r++) {
    code = one_row(j, r);
    if (cli_progress_due(&p)) {
      char what[64];
      snprintf(what, sizeof what, "row %d of %d", r + 1, j->motion.nrow);
      cli_progress_show(&p, (double)(r + 1) / j->motion.nrow, what);
    }
  }
  cli_progress_end(&p);
  return code;
}

/* ---- after ---- */

static void print_summary(const job *j) {
  printf("%s: %d row%s, t = %g to %g\n", j->s->out, j->motion.nrow, j->motion.nrow == 1 ? "" : "s",
         j->motion.t[0], j->motion.t[j->motion.nrow - 1]);
  for (int i = 0; i < sn_model_body_count(j->m); i++) {
    for (int c = 0; c < sn_model_joint_dofs(j->m, i); c++) {
      char name[320];
      cli_coordinate_name(j->m, i, c, "tau", name, sizeof name);
      printf("  %-20s at most %.6g\n", name, j->most[sn_model_joint_first(j->m, i) + c]);
    }
  }
}

static bool print_json(const job *j, bool done) {
  sni_json json = {0};
  sni_json_open(&json, NULL, "{");
  sni_json_text(&json, "scene", j->scene_file);
  sni_json_text(&json, "motion", j->motion_file);
  sni_json_text(&json, "status", done ? "done" : "refused");
  if (done) {
    sni_json_text(&json, "file", j->s->out);
    sni_json_raw(&json, "rows", "%d", j->motion.nrow);
    sni_json_open(&json, "largest", "{");
    for (int i = 0; i < sn_model_body_count(j->m); i++) {
      for (int c = 0; c < sn_model_joint_dofs(j->m, i); c++) {
        char name[320];
        cli_coordinate_name(j->m, i, c, "tau", name, sizeof name);
        cli_json_number(&json, name, j->most[sn_model_joint_first(j->m, i) + c]);
      }
    }
    sni_json_close(&json, "}");
  }
  cli_json_problems(&json, j->scene, &j->problems, NULL);
  sni_json_close(&json, "}");
  return cli_json_print(&json, stdout);
}

static int work(job *j) {
  int code = cli_load(j->scene_file, &j->s->scene, j->s->quiet, &j->scene);
  code = code ? code : prepare(j);
  code = code ? code : open_output(j);
  if (code == CLI_DONE) {
    code = all_rows(j);
    sn_error err = {0};
    if (sni_csv_writer_close(&j->csv, &err) != SN_OK && code == CLI_DONE) {
      code = fail(j, &err);
    }
  }
  if (j->s->json) {
    return print_json(j, code == CLI_DONE) ? code : CLI_BAD_INPUT;
  }
  if (code == CLI_DONE && j->s->out && !j->s->quiet) {
    print_summary(j);
  }
  return code;
}

static int inverse(const cli_command *self, int argc, char **argv) {
  settings s = {0};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  if (code == CLI_GO && s.out && strcmp(s.out, "-") == 0) {
    s.out = NULL;
  }
  if (code == CLI_GO && s.json && !s.out) {
    code = cli_fail(self, "--json needs --out FILE: the torques go to standard output otherwise");
  }
  if (code == CLI_GO) {
    const char *const read[] = {plain.item[0], plain.item[1]};
    code = cli_check_output(self, "--out", s.out, read, 2);
  }
  if (code == CLI_GO) {
    job j = {.s = &s, .scene_file = plain.item[0], .motion_file = plain.item[1]};
    code = work(&j);
    free(j.qdd);
    sni_error_list_free(&j.problems);
    cli_motion_free(&j.motion);
    sn_state_free(&j.state);
    sn_sim_free(&j.sim);
    sn_scene_free(&j.scene);
  }
  cli_list_free(&plain);
  cli_list_free(&s.scene.set);
  return code;
}

const cli_command cli_inverse = {
    .name = "inverse",
    .arguments = "SCENE MOTION.csv [--out TORQUES.csv]",
    .least = 2,
    .most = 2,
    .doc = "the joint torques behind a recorded motion",
    .about =
        "Computes what the actuators of the joints must add to everything that acts already\n"
        "(gravity, springs, drives, forces of the scene), so that the mechanism moves as "
        "recorded.\n"
        "MOTION.csv has the columns t and NAME.q (NAME.q0, NAME.q1, ... for joints with several\n"
        "coordinates), as `sinew run --out` writes them.  Rates NAME.qd and accelerations "
        "NAME.qdd\n"
        "that it does not have come from cubic splines.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew run scenes/robot_arm.yaml --out motion.csv --channels '*.q,*.qd,*.qdd'\n"
                "  sinew inverse scenes/robot_arm.yaml motion.csv --out torques.csv\n"
                "  sinew inverse scenes/robot_arm.yaml motion.csv --hold --quiet > torques.csv\n",
    .run = inverse};
