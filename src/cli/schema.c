/* schema.c: `sinew schema`: the scene format for editors and for people. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "io/schema.h"

typedef struct settings {
  bool markdown;
} settings;

static const cli_option options[] = {{"--markdown", NULL, CLI_FLAG, offsetof(settings, markdown),
                                      "print the tables of the manual instead"}};

static int schema(const cli_command *self, int argc, char **argv) {
  settings s = {0};
  cli_list plain = {0};
  const int code = cli_parse(self, argc, argv, &s, &plain);
  cli_list_free(&plain);
  if (code != CLI_GO) {
    return code;
  }
  char *text = s.markdown ? sni_schema_markdown() : sni_schema_json();
  if (!text) {
    cli_fail(self, "out of memory");
    return CLI_STOPPED;
  }
  fputs(text, stdout);
  free(text);
  return fflush(stdout) == 0 ? CLI_DONE : cli_fail(self, "cannot write to standard output");
}

const cli_command cli_schema = {
    .name = "schema",
    .arguments = "[--markdown]",
    .doc = "print the JSON Schema of scene files",
    .about = "Prints the JSON Schema (draft 7) of the scene format, from the same tables as the\n"
             "reader.  Editors complete and check YAML with it; for VS Code's YAML extension put\n"
             "`# yaml-language-server: $schema=scene.schema.json` into the first line of a scene.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew schema > scene.schema.json\n  sinew schema --markdown\n",
    .run = schema};
