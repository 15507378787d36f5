/* version.c: `sinew version`: what was built, from what and how. */
#include <stdio.h>

#include "cli/cli.h"
#include "sinew_version.h"

typedef struct settings {
  bool json;
} settings;

static const cli_option options[] = {
    {"--json", NULL, CLI_FLAG, offsetof(settings, json), "print it as JSON"}};

static int version(const cli_command *self, int argc, char **argv) {
  settings s = {0};
  cli_list plain = {0};
  const int code = cli_parse(self, argc, argv, &s, &plain);
  cli_list_free(&plain);
  if (code != CLI_GO) {
    return code;
  }
  const char *const fact[][2] = {{"version", sn_version()},    {"commit", SINEW_COMMIT},
                                 {"compiler", SINEW_COMPILER}, {"flags", SINEW_FLAGS},
                                 {"build", SINEW_BUILD_TYPE},  {"system", SINEW_SYSTEM}};
  enum { FACTS = sizeof fact / sizeof *fact, IN_THE_FIRST_LINE = 2 };
  if (s.json) {
    sni_json j = {0};
    sni_json_open(&j, NULL, "{");
    for (int k = 0; k < FACTS; k++) {
      sni_json_text(&j, fact[k][0], fact[k][1]);
    }
    sni_json_close(&j, "}");
    return cli_json_print(&j, stdout) ? CLI_DONE : CLI_BAD_INPUT;
  }
  printf("sinew %s (commit %s)\n", sn_version(), SINEW_COMMIT);
  for (int k = IN_THE_FIRST_LINE; k < FACTS; k++) {
    printf("  %-10s%s\n", fact[k][0], fact[k][1]);
  }
  return CLI_DONE;
}

const cli_command cli_version = {
    .name = "version",
    .arguments = "[--json]",
    .doc = "say what was built, from what and how",
    .about = "Prints version and commit, then the compiler, its flags and the kind of build.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew version\n  sinew version --json\n",
    .run = version};
