/* options.c: reading the command line by a table, and the help that follows from it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "io/words.h"
#include "math/expr.h"

#define HELP_COLUMN 24
#define HELP_WIDTH  96

/* ---- help ---- */

/* Words of text from a column on, in lines of limited width. */
static void print_wrapped(FILE *to, const char *text, int column) {
  int at = column;
  while (*text) {
    const int n = (int)strcspn(text, " ");
    if (at > column && at + n > HELP_WIDTH) {
      fprintf(to, "\n%*s", column, "");
      at = column;
    }
    fprintf(to, "%s%.*s", at > column ? " " : "", n, text);
    at += n + 1;
    text += n + (text[n] == ' ');
  }
  fputc('\n', to);
}

static void print_option(FILE *to, const char *name, const char *value, const char *doc) {
  char head[64];
  snprintf(head, sizeof head, "  %s%s%s", name, value ? " " : "", value ? value : "");
  fprintf(to, "%-*s", HELP_COLUMN, head);
  if ((int)strlen(head) >= HELP_COLUMN) {
    fprintf(to, "\n%*s", HELP_COLUMN, "");
  }
  print_wrapped(to, doc, HELP_COLUMN);
}

void cli_help(const cli_command *command, FILE *to) {
  fprintf(to, "usage: sinew %s%s%s\n\n%s\n\noptions:\n", command->name,
          command->arguments[0] ? " " : "", command->arguments, command->about);
  for (int k = 0; k < command->noption; k++) {
    const cli_option *o = &command->option[k];
    print_option(to, o->name, o->value, o->doc);
  }
  print_option(to, "--help", NULL, "show this");
  fprintf(to, "\nexamples:\n%s", command->examples);
}

/* ---- reading ---- */

int cli_fail(const cli_command *command, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "sinew %s: ", command->name);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return CLI_BAD_INPUT;
}

static bool list_add(cli_list *list, const char *item) {
  const char **grown = realloc(list->item, (size_t)(list->count + 1) * sizeof *grown);
  if (!grown) {
    return false;
  }
  list->item = grown;
  list->item[list->count++] = item;
  return true;
}

void cli_list_free(cli_list *list) {
  free(list->item);
  *list = (cli_list){0};
}

static int fail_unknown(const cli_command *command, const char *name) {
  sni_suggestion s = {.word = name};
  sni_suggest(&s, "--help");
  for (int k = 0; k < command->noption; k++) {
    sni_suggest(&s, command->option[k].name);
  }
  if (s.best) {
    return cli_fail(command, "there is no option %s: did you mean %s?", sni_show(name).text,
                    s.best);
  }
  return cli_fail(command, "there is no option %s: see 'sinew %s --help'", sni_show(name).text,
                  command->name);
}

static const cli_option *find_option(const cli_command *command, const char *name) {
  for (int k = 0; k < command->noption; k++) {
    if (strcmp(command->option[k].name, name) == 0) {
      return &command->option[k];
    }
  }
  return NULL;
}

/* Cuts the text at its commas. */
static int words_add(const cli_command *command, const cli_option *o, cli_list *list, char *text) {
  for (char *comma; text; text = comma) {
    comma = strchr(text, ',');
    if (comma) {
      *comma++ = 0;
    }
    if (!text[0]) {
      return cli_fail(command, "%s: has an empty word, needs %s separated by commas", o->name,
                      o->value);
    }
    if (!list_add(list, text)) {
      return cli_fail(command, "out of memory");
    }
  }
  return CLI_GO;
}

static int store(const cli_command *command, const cli_option *o, char *value, void *settings) {
  void *at = (char *)settings + o->offset;
  sn_error err;
  switch (o->kind) {
  case CLI_FLAG:
    *(bool *)at = true;
    return CLI_GO;
  case CLI_TEXT:
    *(const char **)at = value;
    return CLI_GO;
  case CLI_NUMBER:
    if (sni_expr_constant(value, at, &err) != SN_OK) {
      return cli_fail(command, "%s: '%s' is no number: %s", o->name, sni_show(value).text,
                      err.text);
    }
    return CLI_GO;
  case CLI_LIST:
    return list_add(at, value) ? CLI_GO : cli_fail(command, "out of memory");
  case CLI_WORDS:
    return words_add(command, o, at, value);
  }
  return CLI_GO;
}

/* An option at argv[*k], with its value there or behind it. */
static int read_option(const cli_command *command, int argc, char **argv, int *k, void *settings) {
  char name[64];
  char *text = argv[*k], *equal = strchr(text, '=');
  const size_t n = equal ? (size_t)(equal - text) : strlen(text);
  if (n >= sizeof name) {
    return fail_unknown(command, text);
  }
  memcpy(name, text, n);
  name[n] = 0;
  const cli_option *o = find_option(command, name);
  if (!o) {
    return fail_unknown(command, name);
  }
  if (o->kind == CLI_FLAG) {
    return equal ? cli_fail(command, "%s takes no value", name) : store(command, o, NULL, settings);
  }
  if (!equal && *k + 1 >= argc) {
    return cli_fail(command, "%s needs a value: %s %s", name, name, o->value);
  }
  return store(command, o, equal ? equal + 1 : argv[++*k], settings);
}

static int check_count(const cli_command *command, const cli_list *plain) {
  if (plain->count < command->least) {
    return cli_fail(command, "something is missing: sinew %s %s", command->name,
                    command->arguments);
  }
  if (plain->count > command->most) {
    return cli_fail(command, "'%s' is one too many: sinew %s%s%s",
                    sni_show(plain->item[command->most]).text, command->name,
                    command->arguments[0] ? " " : "", command->arguments);
  }
  return CLI_GO;
}

int cli_parse(const cli_command *command, int argc, char **argv, void *settings, cli_list *plain) {
  bool only_plain = false;
  for (int k = 0; k < argc; k++) {
    const char *text = argv[k];
    if (!only_plain && strcmp(text, "--") == 0) {
      only_plain = true;
    } else if (!only_plain && (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0)) {
      cli_help(command, stdout);
      return CLI_DONE;
    } else if (!only_plain && text[0] == '-' && text[1]) {
      const int code = read_option(command, argc, argv, &k, settings);
      if (code != CLI_GO) {
        return code;
      }
    } else if (!list_add(plain, text)) {
      return cli_fail(command, "out of memory");
    }
  }
  return check_count(command, plain);
}
