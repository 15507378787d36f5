/* main.c: the command `sinew`: finds the subcommand in a table. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "io/words.h"

static const cli_command *const commands[] = {&cli_new,    &cli_make,    &cli_check,   &cli_run,
                                              &cli_view,   &cli_convert, &cli_plot,    &cli_diff,
                                              &cli_render, &cli_replay,  &cli_inverse, &cli_settle,
                                              &cli_schema, &cli_bench,   &cli_version};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_commands(FILE *to) {
  fputs("usage: sinew COMMAND [ARGUMENT...]\n\nSimulates articulated mechanisms.\n\ncommands:\n",
        to);
  for (int k = 0; k < COMMANDS; k++) {
    fprintf(to, "  %-10s%s\n", commands[k]->name, commands[k]->doc);
  }
  fputs("  help      show this, or the help of a command\n\n"
        "'sinew COMMAND --help' has options and examples.  Exit status: 0 done, 2 bad input,\n"
        "3 the solver could not go on.\n",
        to);
}

static const cli_command *find_command(const char *name) {
  for (int k = 0; k < COMMANDS; k++) {
    if (strcmp(commands[k]->name, name) == 0) {
      return commands[k];
    }
  }
  return NULL;
}

static int fail_unknown(const char *name) {
  sni_suggestion s = {.word = name};
  sni_suggest(&s, "help");
  for (int k = 0; k < COMMANDS; k++) {
    sni_suggest(&s, commands[k]->name);
  }
  if (s.best) {
    fprintf(stderr, "sinew: there is no command '%s': did you mean '%s'?\n", sni_show(name).text,
            s.best);
  } else {
    fprintf(stderr, "sinew: there is no command '%s': see 'sinew help'\n", sni_show(name).text);
  }
  return CLI_BAD_INPUT;
}

static int help(int argc, char **argv) {
  if (argc == 0) {
    print_commands(stdout);
    return CLI_DONE;
  }
  const cli_command *command = find_command(argv[0]);
  if (!command) {
    return fail_unknown(argv[0]);
  }
  cli_help(command, stdout);
  return CLI_DONE;
}

static bool is_one_of(const char *text, const char *a, const char *b, const char *c) {
  return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    print_commands(stderr);
    return CLI_BAD_INPUT;
  }
  const char *name = argv[1];
  argc -= 2;
  argv += 2;
  if (is_one_of(name, "help", "--help", "-h")) {
    return help(argc, argv);
  }
  const cli_command *command = strcmp(name, "--version") == 0 ? &cli_version : find_command(name);
  return command ? command->run(command, argc, argv) : fail_unknown(name);
}
