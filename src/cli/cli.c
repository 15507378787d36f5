/* cli.c: messages, scenes and JSON, as every subcommand prints and reads them. */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STDIN_MAX (64u << 20) /* the reader's own limit for a file */

static bool is_file(const char *path) {
  return path && strcmp(path, "-") != 0;
}

/* The same name, or two names of one file that is there. */
static bool same_file(const char *a, const char *b) {
  struct stat x, y;
  return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
                               x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

int cli_check_output(const cli_command *command, const char *option, const char *file,
                     const char *const *others, int n) {
  for (int k = 0; k < n && is_file(file); k++) {
    if (is_file(others[k]) && same_file(file, others[k])) {
      return cli_fail(command, "%s %s would be written over %s: give it another name", option, file,
                      others[k]);
    }
  }
  return CLI_GO;
}

sn_status cli_try_write(const char *path, sn_error *err) {
  struct stat info;
  const bool there = stat(path, &info) == 0;
  if (there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return SN_OK; /* whoever reads from a pipe must not see it open and close */
  }
  FILE *file = fopen(path, "ab");
  if (!file) {
    return sni_fail(err, SN_E_FILE, "cannot write '%s': %s", path, strerror(errno));
  }
  fclose(file);
  if (!there) {
    remove(path);
  }
  return SN_OK;
}

/* ---- messages ---- */

void cli_print_error(const sn_error *err) {
  char text[SN_ERROR_TEXT_MAX + 2 * SN_ERROR_WHERE_MAX + 64];
  sn_error_format(err, text, sizeof text);
  fprintf(stderr, "%s\n", text);
}

void cli_print_warning(const sn_error *err) {
  fputs("warning: ", stderr);
  cli_print_error(err);
}

int cli_code(sn_status status) {
  switch (status) {
  case SN_OK:
    return CLI_DONE;
  case SN_E_MEMORY:
  case SN_E_SINGULAR:
  case SN_E_DIVERGED:
  case SN_NOT_CONVERGED:
    return CLI_STOPPED;
  default:
    return CLI_BAD_INPUT;
  }
}

/* ---- scenes ---- */

/* All of standard input; NULL: *err says why. */
static char *read_stdin(size_t *size, sn_error *err) {
  char *text = NULL;
  size_t n = 0, capacity = 0;
  for (;;) {
    if (n == capacity) {
      capacity = capacity ? 2 * capacity : 65536;
      char *grown = realloc(text, capacity);
      if (!grown) {
        free(text);
        *err = (sn_error){.code = SN_E_MEMORY, .file = "stdin", .text = "out of memory"};
        return NULL;
      }
      text = grown;
    }
    const size_t got = fread(text + n, 1, capacity - n, stdin);
    n += got;
    if (got == 0 || n > STDIN_MAX) {
      break;
    }
  }
  if (ferror(stdin)) {
    free(text);
    *err = (sn_error){.code = SN_E_FILE, .file = "stdin"};
    snprintf(err->text, sizeof err->text, "%s", strerror(errno));
    return NULL;
  }
  *size = n;
  return text;
}

static sn_status load_stdin(const sn_scene_options *options, const cli_scene_settings *settings,
                            sn_scene **scene, sn_error *err) {
  size_t n = 0;
  char *text = read_stdin(&n, err);
  if (!text) {
    return err->code;
  }
  const sn_status status = sn_scene_load_text(text, n, "stdin", options, scene, err);
  if (settings->stdin_text) {
    *settings->stdin_text = text;
    *settings->stdin_size = n;
  } else {
    free(text);
  }
  return status;
}

/* One mistake in a scene of a thousand bodies is a thousand errors: the first ones say it. */
enum { PRINTED_MAX = 40 };

static void print_some(const sn_scene *scene, int count, const char *what, const char *file,
                       const sn_error *(*get)(const sn_scene *, int),
                       void (*print)(const sn_error *)) {
  for (int k = 0; k < count && k < PRINTED_MAX; k++) {
    print(get(scene, k));
  }
  if (count > PRINTED_MAX) {
    fprintf(stderr, "and %d more %ss: 'sinew check %s --json' lists all\n", count - PRINTED_MAX,
            what, file);
  }
}

int cli_load(const char *file, const cli_scene_settings *settings, bool quiet, sn_scene **scene) {
  sn_error err = {0};
  sn_scene_options options = sn_scene_options_default();
  options.set = settings->set.item;
  options.nset = settings->set.count;
  options.allow_outside = settings->allow_outside;
  *scene = NULL;
  const sn_status status = strcmp(file, "-") == 0 ? load_stdin(&options, settings, scene, &err)
                                                  : sn_scene_load(file, &options, scene, &err);
  if (!*scene) {
    cli_print_error(&err);
    return cli_code(status);
  }
  print_some(*scene, sn_scene_error_count(*scene), "error", file, sn_scene_error, cli_print_error);
  if (!quiet) {
    print_some(*scene, sn_scene_warning_count(*scene), "warning", file, sn_scene_warning,
               cli_print_warning);
  }
  return status == SN_OK ? CLI_DONE : CLI_BAD_INPUT;
}

/* ---- JSON ---- */

void cli_json_number(sni_json *j, const char *key, double value) {
  if (isfinite(value)) {
    sni_json_raw(j, key, "%.17g", value);
  } else {
    sni_json_raw(j, key, "null");
  }
}

void cli_json_bool(sni_json *j, const char *key, bool value) {
  sni_json_raw(j, key, value ? "true" : "false");
}

static void json_problem(sni_json *j, const sn_error *err) {
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "kind", err->code == SN_E_SYNTAX ? "structural" : "semantic");
  sni_json_text(j, "file", err->file);
  sni_json_raw(j, "line", "%d", err->line);
  sni_json_raw(j, "column", "%d", err->column);
  sni_json_text(j, "path", err->path);
  sni_json_text(j, "text", err->text);
  sni_json_close(j, "}");
}

void cli_json_problems(sni_json *j, const sn_scene *scene, const sni_error_list *errors,
                       const sni_error_list *warnings) {
  sni_json_open(j, "errors", "[");
  for (int k = 0; scene && k < sn_scene_error_count(scene); k++) {
    json_problem(j, sn_scene_error(scene, k));
  }
  for (int k = 0; errors && k < errors->count; k++) {
    json_problem(j, &errors->item[k]);
  }
  sni_json_close(j, "]");
  sni_json_open(j, "warnings", "[");
  for (int k = 0; scene && k < sn_scene_warning_count(scene); k++) {
    json_problem(j, sn_scene_warning(scene, k));
  }
  for (int k = 0; warnings && k < warnings->count; k++) {
    json_problem(j, &warnings->item[k]);
  }
  sni_json_close(j, "]");
}

bool cli_json_print(sni_json *j, FILE *to) {
  char *text = sni_text_take(&j->out);
  const bool good = text && fprintf(to, "%s\n", text) >= 0 && fflush(to) == 0;
  free(text);
  return good;
}
