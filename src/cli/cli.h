/* cli.h: what the subcommands share: options, messages, exit codes.
 *
 * A subcommand = one file with a cli_command + one row in the table of main.c.  Results go to
 * standard output; errors, warnings and progress to standard error, one line each. */
#ifndef CLI_H
#define CLI_H

#include <stdio.h>

#include "base/error.h"
#include "io/json.h"
#include "sinew/scene.h"

enum {
  CLI_DONE = 0,
  CLI_DIFFERENT = 1, /* `diff`: what was compared is not the same                          */
  CLI_BAD_INPUT = 2, /* what was asked for cannot be done: options, scenes, files          */
  CLI_STOPPED = 3,   /* the solver could not go on                                         */
  CLI_SIGNALLED = 128
};

/* ---- options ---- */

typedef struct cli_list {
  const char **item;
  int count;
} cli_list;

typedef enum cli_kind {
  CLI_FLAG,   /* bool                                                                        */
  CLI_TEXT,   /* const char *, NULL: not given                                               */
  CLI_NUMBER, /* double: a number or a constant expression; put NAN there first              */
  CLI_LIST,   /* cli_list: may be given many times                                           */
  CLI_WORDS   /* cli_list: separated by commas, and many times                               */
} cli_kind;

typedef struct cli_option {
  const char *name;  /* "--out"                                                            */
  const char *value; /* what stands behind it in the help, NULL: a flag                    */
  cli_kind kind;
  size_t offset; /* of the result in the command's struct of settings                      */
  const char *doc;
} cli_option;

typedef struct cli_command {
  const char *name;
  const char *arguments; /* in the help: "SCENE [--out FILE]"                              */
  int least, most;       /* how many arguments that are no options                         */
  const char *doc;       /* one line                                                       */
  const char *about;     /* some more                                                      */
  const cli_option *option;
  int noption;
  const char *examples; /* lines                                                           */
  int (*run)(const struct cli_command *self, int argc, char **argv);
} cli_command;

#define CLI_GO (-1) /* cli_parse: go on */

/* Reads the arguments behind the name of the command.  Those that are no options go to plain.
 * Returns CLI_GO, or the exit code if there is nothing more to do. */
int cli_parse(const cli_command *command, int argc, char **argv, void *settings, cli_list *plain);
void cli_list_free(cli_list *list);

void cli_help(const cli_command *command, FILE *to);

/* "sinew run: --every: ..." to standard error; returns CLI_BAD_INPUT. */
int cli_fail(const cli_command *command, const char *format, ...) SN_PRINTF(2, 3);

/* ---- messages ---- */

void cli_print_error(const sn_error *err);
void cli_print_warning(const sn_error *err);

int cli_code(sn_status status);

/* CLI_GO, or a complaint: `option` would write its file over one of the inputs or other outputs.
 * NULL and "-" are no files. */
int cli_check_output(const cli_command *command, const char *option, const char *file,
                     const char *const *others, int n);

/* SN_OK, or SN_E_FILE: the file could not be written.  It stays as it is, or is not there. */
sn_status cli_try_write(const char *path, sn_error *err);

/* ---- scenes ---- */

typedef struct cli_scene_settings {
  cli_list set;
  bool allow_outside;
  char **stdin_text; /* gets what was read from standard input, to be freed; NULL: not wanted */
  size_t *stdin_size;
} cli_scene_settings;

#define CLI_SCENE_OPTIONS(type, member)                                                            \
  {"--set", "PATH=VALUE", CLI_LIST, offsetof(type, member.set),                                    \
   "change a value of the scene before it is checked; may be given many times"},                   \
  {                                                                                                \
    "--allow-outside", NULL, CLI_FLAG, offsetof(type, member.allow_outside),                       \
        "the scene may name files outside its own folder"                                          \
  }

/* Reads a file, or standard input for "-".  Errors and warnings are printed (warnings unless
 * quiet).  *scene may hold a list of errors even then; NULL: not even that. */
int cli_load(const char *file, const cli_scene_settings *settings, bool quiet, sn_scene **scene);

/* ---- JSON ---- */

void cli_json_number(sni_json *j, const char *key, double value); /* null if not finite */
void cli_json_bool(sni_json *j, const char *key, bool value);
/* "errors" and "warnings" of a scene (may be NULL), and more of them (lists may be NULL). */
void cli_json_problems(sni_json *j, const sn_scene *scene, const sni_error_list *errors,
                       const sni_error_list *warnings);
/* Prints and frees; false: out of memory, or cannot be written. */
bool cli_json_print(sni_json *j, FILE *to);

/* ---- the subcommands ---- */

extern const cli_command cli_new, cli_check, cli_run, cli_settle, cli_inverse, cli_schema,
    cli_bench, cli_version, cli_make, cli_replay, cli_convert, cli_diff, cli_plot, cli_render,
    cli_view;

#endif
