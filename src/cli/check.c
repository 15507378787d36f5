/* check.c: `sinew check`: is a scene valid, and what is in it. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/summary.h"

typedef struct settings {
  cli_scene_settings scene;
  bool quiet, json;
} settings;

static const cli_option options[] = {
    CLI_SCENE_OPTIONS(settings, scene),
    {"--quiet", NULL, CLI_FLAG, offsetof(settings, quiet), "print errors only"},
    {"--json", NULL, CLI_FLAG, offsetof(settings, json), "print everything as JSON"}};

static int print_json(const cli_command *self, const sn_scene *scene, bool valid) {
  sni_json j = {0};
  sni_json_open(&j, NULL, "{");
  cli_json_bool(&j, "valid", valid);
  cli_json_problems(&j, scene, NULL, 0);
  bool good = true;
  if (valid) {
    sni_json_open(&j, "summary", "{");
    good = cli_summary_json(scene, &j);
    sni_json_close(&j, "}");
  }
  sni_json_close(&j, "}");
  return cli_json_print(&j, stdout) && good ? CLI_DONE : cli_fail(self, "cannot print the result");
}

static void print_counts(const sn_scene *scene) {
  const int errors = sn_scene_error_count(scene), warnings = sn_scene_warning_count(scene);
  printf("not valid: %d error%s", errors, errors == 1 ? "" : "s");
  if (warnings > 0) {
    printf(", %d warning%s", warnings, warnings == 1 ? "" : "s");
  }
  putchar('\n');
}

static int report(const cli_command *self, const char *file, const settings *s,
                  const sn_scene *scene, int code) {
  const bool valid = code == CLI_DONE;
  if (s->json) {
    const int printed = print_json(self, scene, valid);
    return valid ? printed : code;
  }
  if (s->quiet) {
    return code;
  }
  printf("%s: ", file[0] ? file : "''");
  if (!valid) {
    print_counts(scene);
    return code;
  }
  puts("valid");
  return cli_summary_print(scene, stdout) ? CLI_DONE : CLI_STOPPED;
}

static int check(const cli_command *self, int argc, char **argv) {
  settings s = {0};
  cli_list plain = {0};
  sn_scene *scene = NULL;
  int code = cli_parse(self, argc, argv, &s, &plain);
  if (code == CLI_GO) {
    code = cli_load(plain.item[0], &s.scene, s.quiet, &scene);
    if (scene) {
      code = report(self, plain.item[0], &s, scene, code);
    }
  }
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
        "path and what would be right.  If there are none, it explains the scene: bodies, joints,\n"
        "degrees of freedom, mass, size, and which methods can simulate it.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew check scenes/humanoid.yaml\n"
                "  sinew check scenes/pendulum.yaml --set bodies.rod.joint.axis='[1, 0, 0]'\n"
                "  sinew check scenes/pendulum.yaml --json\n"
                "  sinew new | sinew check -\n",
    .run = check};
