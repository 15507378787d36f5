/* check.c: `sinew check`: is a scene valid, and what is in it. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/start.h"
#include "cli/summary.h"

typedef struct settings {
  cli_scene_settings scene;
  bool quiet, json;
} settings;

static const cli_option options[] = {
    CLI_SCENE_OPTIONS(settings, scene),
    {"--quiet", NULL, CLI_FLAG, offsetof(settings, quiet), "print errors only"},
    {"--json", NULL, CLI_FLAG, offsetof(settings, json), "print everything as JSON"}};

static int print_json(const cli_command *self, const sn_scene *scene, const cli_start *start,
                      bool valid) {
  sni_json j = {0};
  sni_json_open(&j, NULL, "{");
  cli_json_bool(&j, "valid", valid);
  cli_json_problems(&j, scene, &start->errors, &start->warnings);
  bool good = true;
  if (valid) {
    sni_json_open(&j, "summary", "{");
    good = cli_summary_json(scene, start, &j);
    if (start->moved[0]) {
      sni_json_text(&j, "start", start->moved);
    }
    sni_json_close(&j, "}");
  }
  sni_json_close(&j, "}");
  return cli_json_print(&j, stdout) && good ? CLI_DONE : cli_fail(self, "cannot print the result");
}

static void print_counts(const sn_scene *scene, const cli_start *start) {
  const int errors = sn_scene_error_count(scene) + start->errors.count;
  const int warnings = sn_scene_warning_count(scene) + start->warnings.count;
  printf("not valid: %d error%s", errors, errors == 1 ? "" : "s");
  if (warnings > 0) {
    printf(", %d warning%s", warnings, warnings == 1 ? "" : "s");
  }
  putchar('\n');
}

static int report(const cli_command *self, const char *file, const settings *s,
                  const sn_scene *scene, const cli_start *start, int code) {
  const bool valid = code == CLI_DONE;
  if (s->json) {
    const int printed = print_json(self, scene, start, valid);
    return valid ? printed : code;
  }
  if (s->quiet) {
    return code;
  }
  printf("%s: ", file[0] ? file : "''");
  if (!valid) {
    print_counts(scene, start);
    return code;
  }
  puts("valid");
  if (start->moved[0]) {
    printf("  start               %s\n", start->moved);
  }
  return cli_summary_print(scene, start, stdout) ? CLI_DONE : CLI_STOPPED;
}

/* A scene that can be read, but cannot start, is not valid either. */
static int try_start(const sn_scene *scene, const char *file, bool quiet, cli_start *start) {
  cli_start_try(scene, strcmp(file, "-") == 0 ? "stdin" : file, start);
  for (int k = 0; k < start->errors.count; k++) {
    cli_print_error(&start->errors.item[k]);
  }
  for (int k = 0; !quiet && k < start->warnings.count; k++) {
    cli_print_warning(&start->warnings.item[k]);
  }
  for (int k = 0; k < start->errors.count; k++) {
    if (start->errors.item[k].code == SN_E_MEMORY) {
      return CLI_STOPPED;
    }
  }
  return start->errors.count > 0 ? CLI_BAD_INPUT : CLI_DONE;
}

static int check(const cli_command *self, int argc, char **argv) {
  settings s = {0};
  cli_list plain = {0};
  sn_scene *scene = NULL;
  cli_start start = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  if (code == CLI_GO) {
    code = cli_load(plain.item[0], &s.scene, s.quiet, &scene);
    if (code == CLI_DONE) {
      code = try_start(scene, plain.item[0], s.quiet, &start);
    }
    if (scene) {
      code = report(self, plain.item[0], &s, scene, &start, code);
    }
  }
  cli_start_free(&start);
  sn_scene_free(&scene);
  cli_list_free(&plain);
  cli_list_free(&s.scene.set);
  return code;
}

const cli_command cli_check = {
    .name = "check",
    .arguments = "FILE [--set PATH=VALUE] [--json]",
    .least = 1,
    .most = 1,
    .doc = "say whether a scene is valid, and what is in it",
    .about =
        "Reads a scene (-: from standard input) and lists all its problems, each with file, line,\n"
        "path and what would be right.  Then it tries what a run begins with: loops must close,\n"
        "accelerations must be determined, channels to record must be there.  If all is well, it\n"
        "explains the scene: bodies, joints, degrees of freedom, mass, size, and which methods "
        "can\n"
        "simulate it.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew check scenes/humanoid.yaml\n"
                "  sinew check scenes/pendulum.yaml --set bodies.rod.joint.axis='[1, 0, 0]'\n"
                "  sinew check scenes/pendulum.yaml --json\n"
                "  sinew new | sinew check -\n",
    .run = check};
