/* bundle.c: what a failed run leaves behind: writing and reading it. */
#define _POSIX_C_SOURCE 200809L
#include "cli/bundle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "cli/bundle_files.h"
#include "cli/method.h"
#include "io/doc.h"
#include "sinew_version.h"

#define FORMAT      1
#define NUMBERS_MAX 10000 /* of bundles with one name */

/* ---- its name ---- */

/* Length without a suffix that files of this kind have. */
static size_t stem_length(const char *name) {
  static const char *const suffix[] = {".csv", ".snr",  ".glb", ".html",
                                       ".h5",  ".yaml", ".yml", ".json"};
  const size_t n = strlen(name);
  for (size_t k = 0; k < sizeof suffix / sizeof *suffix; k++) {
    const size_t m = strlen(suffix[k]);
    if (n > m && strcmp(name + n - m, suffix[k]) == 0) {
      return n - m;
    }
  }
  return n;
}

/* Beside the recording, or here under the name of the scene. */
static bool choose_name(const cli_failure *f, char *out, size_t size) {
  if (f->name) {
    return snprintf(out, size, "%s", f->name) < (int)size;
  }
  const bool beside = f->out && strcmp(f->out, "-") != 0 && strncmp(f->out, "/dev/", 5) != 0;
  const char *base = beside ? f->out : strcmp(f->file, "-") == 0 ? "stdin" : f->file;
  const char *slash = beside ? NULL : strrchr(base, '/');
  base = slash ? slash + 1 : base;
  return snprintf(out, size, "%.*s.failed", (int)stem_length(base), base) < (int)size;
}

/* Makes the folder, under the first name that is free. */
static sn_status make_folder(const cli_failure *f, char *path, sn_error *err) {
  char name[CLI_BUNDLE_PATH_MAX - 16];
  if (!choose_name(f, name, sizeof name)) {
    return sni_fail(err, SN_E_LIMIT, "the name of the folder is too long");
  }
  for (int k = 1; k <= NUMBERS_MAX; k++) {
    if (k == 1) {
      snprintf(path, CLI_BUNDLE_PATH_MAX, "%s", name);
    } else {
      snprintf(path, CLI_BUNDLE_PATH_MAX, "%s-%d", name, k);
    }
    if (mkdir(path, 0777) == 0) {
      return SN_OK;
    }
    if (errno != EEXIST) {
      return sni_fail(err, SN_E_FILE, "cannot make the folder '%s': %s", path, strerror(errno));
    }
  }
  return sni_fail(err, SN_E_LIMIT, "'%s' and %d more are there already", name, NUMBERS_MAX - 1);
}

/* ---- writing ---- */

static char *join(const char *folder, const char *name) {
  sni_text t = {0};
  sni_text_add(&t, "%s/%s", folder, name);
  return sni_text_take(&t);
}

static void json_facts(const cli_failure *f, const char *scene, sni_json *j) {
  char integrator[64], error[2 * SN_ERROR_TEXT_MAX];
  sn_error_format(f->err, error, sizeof error);
  sni_json_open(j, NULL, "{");
  sni_json_raw(j, "sinew_bundle", "%d", FORMAT);
  sni_json_text(j, "version", SINEW_VERSION " (commit " SINEW_COMMIT ")");
  sni_json_text(j, "error", error);
  sni_json_text(j, "scene", scene);
  sni_json_text(j, "file", f->file);
  sni_json_open(j, "set", "[");
  for (int k = 0; k < f->settings->set.count; k++) {
    sni_json_text(j, NULL, f->settings->set.item[k]);
  }
  sni_json_close(j, "]");
  cli_json_bool(j, "allow_outside", f->settings->allow_outside);
  cli_json_bool(j, "in_recording", f->in_recording);
  sni_json_text(j, "method", f->run->options.method);
  if (cli_method_get_integrator(f->run, integrator, sizeof integrator)) {
    sni_json_text(j, "integrator", integrator);
  }
  sni_json_raw(j, "step", "%.17g", f->step);
  sni_json_close(j, "}");
}

static sn_status write_facts(const cli_failure *f, const char *folder, const char *scene,
                             sn_error *err) {
  sni_json j = {0};
  json_facts(f, scene, &j);
  char *path = join(folder, "bundle.json");
  errno = 0;
  FILE *to = path ? fopen(path, "w") : NULL;
  bool good = to && cli_json_print(&j, to);
  good = to && fclose(to) == 0 && good;
  if (!to) {
    free(j.out.text);
  }
  free(path);
  return good ? SN_OK
              : sni_fail(err, SN_E_FILE, "cannot write '%s/bundle.json': %s", folder,
                         errno ? strerror(errno) : "out of memory");
}

static sn_status write_state(const sn_state *state, const char *folder, const char *name,
                             sn_error *err) {
  char *path = join(folder, name);
  const sn_status status =
      path ? sn_state_save(state, path, err) : sni_fail(err, SN_E_MEMORY, "out of memory");
  free(path);
  return status;
}

sn_status cli_bundle_write(const cli_failure *failure, char *path, sn_error *err) {
  char scene[CLI_BUNDLE_PATH_MAX];
  sn_status status = make_folder(failure, path, err);
  status = status ? status : write_state(failure->before, path, "before.state", err);
  if (!status && failure->earlier) {
    status = write_state(failure->earlier, path, "earlier.state", err);
  }
  status = status ? status : cli_bundle_copy_files(failure, path, scene, err);
  return status ? status : write_facts(failure, path, scene, err); /* last: now it is complete */
}

/* ---- reading ---- */

static char *copy_text(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

/* The text behind a key, as a copy; NULL and *good = false if it must be there and is not. */
static char *get_text(const sni_node *root, const char *key, bool needed, bool *good) {
  const sni_node *node = sni_node_get(root, key);
  const bool there = node && node->kind == SNI_NODE_SCALAR;
  char *copy = there ? copy_text(node->text) : NULL;
  *good = *good && (copy || (!needed && !there));
  return copy;
}

static bool read_changes(const sni_node *list, cli_bundle *b) {
  const size_t n = sni_node_count(list);
  b->set = calloc(n + 1, sizeof *b->set);
  for (size_t k = 0; b->set && k < n; k++) {
    const sni_node *item = sni_node_at(list, k);
    if (item->kind != SNI_NODE_SCALAR || !(b->set[k] = copy_text(item->text))) {
      return false;
    }
    b->nset++;
  }
  return b->set != NULL;
}

/* Names of files come from outside: they stay in the bundle. */
static bool is_inside(const char *path) {
  return path[0] != '/' && strcmp(path, "..") != 0 && strncmp(path, "../", 3) != 0 &&
         !strstr(path, "/../");
}

static bool is_true(const sni_node *node) {
  return node && node->kind == SNI_NODE_SCALAR && strcmp(node->text, "true") == 0;
}

static sn_status read_facts(const sni_node *root, const char *folder, cli_bundle *b,
                            sn_error *err) {
  double format = 0;
  bool good = true;
  if (!sni_node_number(sni_node_get(root, "sinew_bundle"), &format) || format != FORMAT) {
    return sni_fail(err, SN_E_VALUE, "'%s' is no bundle that this version knows", folder);
  }
  char *scene = get_text(root, "scene", true, &good);
  b->folder = copy_text(folder);
  b->scene = good && is_inside(scene) ? join(folder, scene) : NULL;
  b->before = join(folder, "before.state");
  b->earlier = join(folder, "earlier.state");
  b->method = get_text(root, "method", true, &good);
  b->integrator = get_text(root, "integrator", false, &good);
  b->version = get_text(root, "version", true, &good);
  b->error = get_text(root, "error", true, &good);
  b->allow_outside = is_true(sni_node_get(root, "allow_outside"));
  b->in_recording = is_true(sni_node_get(root, "in_recording"));
  good = read_changes(sni_node_get(root, "set"), b) && good;
  good = sni_node_number(sni_node_get(root, "step"), &b->step) && good;
  free(scene);
  return good && b->folder && b->scene && b->before && b->earlier
             ? SN_OK
             : sni_fail(err, SN_E_VALUE, "'%s/bundle.json' is damaged", folder);
}

sn_status cli_bundle_read(const char *folder, cli_bundle *b, sn_error *err) {
  char *path = join(folder, "bundle.json");
  sni_doc *doc = NULL;
  sn_status status =
      path ? sni_doc_read_file(path, NULL, &doc, err) : sni_fail(err, SN_E_MEMORY, "out of memory");
  if (!status) {
    status = read_facts(sni_doc_root(doc), folder, b, err);
  }
  sni_doc_free(&doc);
  free(path);
  return status;
}

void cli_bundle_free(cli_bundle *b) {
  char *const text[] = {b->earlier, b->folder,     b->scene,   b->before,
                        b->method,  b->integrator, b->version, b->error};
  for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
    free(text[k]);
  }
  for (int k = 0; k < b->nset; k++) {
    free(b->set[k]);
  }
  free(b->set);
  *b = (cli_bundle){0};
}
