/* bundle_files.c: copies a scene and all files that it names, so that it can be read elsewhere.
 *
 * Each file has a place relative to the folder of the scene: parts/arm.yaml, or ../meshes/hand.obj
 * where that was allowed.  Where places lead n folders up, the scene goes n folders down, into
 * folders called `down`, and all keep their places to one another.  What is named by an absolute
 * path is not copied. */
#define _POSIX_C_SOURCE 200809L
#include "cli/bundle_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "io/source.h"

/* A file to be copied. */
typedef struct entry {
  char *from;  /* NULL: the text of standard input */
  char *place; /* ups times "../", then a plain path */
  int ups;
} entry;

typedef struct list {
  entry *item;
  int count, capacity;
  bool out_of_memory;
} list;

static char *copy_part(const char *text, size_t n) {
  char *copy = malloc(n + 1);
  if (copy) {
    memcpy(copy, text, n);
    copy[n] = 0;
  }
  return copy;
}

/* folder (with its last slash, or empty) and name, without "." and with ".." only in front. */
static char *join_place(const char *folder, const char *name, int *ups) {
  sni_text joined = {0};
  sni_text_add(&joined, "%s%s", folder, name);
  char *in = sni_text_take(&joined), *out = in ? malloc(strlen(in) + 1) : NULL;
  size_t n = 0, floor = 0; /* what is before floor are ups */
  *ups = 0;
  for (const char *at = in; out && *at;) {
    const size_t m = strcspn(at, "/");
    if (m == 2 && strncmp(at, "..", 2) == 0 && n > floor) {
      for (n--; n > floor && out[n - 1] != '/'; n--) {
      }
    } else if (m > 0 && !(m == 1 && at[0] == '.')) {
      memcpy(out + n, at, m);
      n += m;
      out[n++] = '/';
      if (m == 2 && strncmp(at, "..", 2) == 0) {
        floor = n;
        ++*ups;
      }
    }
    at += m + (at[m] == '/');
  }
  free(in);
  if (out) {
    out[n > 0 ? n - 1 : 0] = 0;
  }
  return out;
}

static void list_add(list *l, char *from, char *place, int ups) {
  for (int k = 0; place && k < l->count; k++) {
    if (strcmp(l->item[k].place, place) == 0) { /* a mesh that many bodies have */
      free(from);
      free(place);
      return;
    }
  }
  if (l->count == l->capacity) {
    const int capacity = l->capacity ? 2 * l->capacity : 16;
    entry *grown = realloc(l->item, (size_t)capacity * sizeof *grown);
    l->item = grown ? grown : l->item;
    l->capacity = grown ? capacity : l->capacity;
  }
  if (!place || l->count == l->capacity) {
    l->out_of_memory = true;
    free(from);
    free(place);
    return;
  }
  l->item[l->count++] = (entry){from, place, ups};
}

/* ---- which files ---- */

typedef struct search {
  list *files;
  const char *real;   /* folder of the document that is being looked through */
  const char *folder; /* its place, with its last slash, or empty            */
} search;

static void add_named(const search *s, const char *name) {
  struct stat info;
  if (name[0] == '/' || !name[0]) {
    return;
  }
  sni_text from = {0};
  sni_text_add(&from, "%s/%s", s->real, name);
  char *path = sni_text_take(&from);
  int ups;
  if (path && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    char *place = join_place(s->folder, name, &ups);
    list_add(s->files, path, place, ups);
  } else {
    s->files->out_of_memory = s->files->out_of_memory || !path;
    free(path);
  }
}

/* Every file has one of two keys, whatever it belongs to. */
static void look_through(const search *s, const sni_node *node) {
  for (size_t k = 0; k < sni_node_count(node); k++) {
    const sni_node *child = sni_node_at(node, k);
    if (child->kind != SNI_NODE_SCALAR) {
      look_through(s, child);
    } else if (child->key && (!strcmp(child->key, "file") || !strcmp(child->key, "csv"))) {
      add_named(s, child->text);
    }
  }
}

/* Folder of the place of a document, with its last slash, or empty. */
static char *folder_of(const sni_source *source) {
  if (!source->user) {
    return copy_part("", 0);
  }
  char *user = folder_of(source->user);
  const sni_node *file = sni_node_get(source->entry, "file");
  int ups;
  char *place = user && file ? join_place(user, file->text, &ups) : NULL;
  char *slash = place ? strrchr(place, '/') : NULL;
  char *folder = place ? copy_part(place, slash ? (size_t)(slash + 1 - place) : 0) : NULL;
  free(user);
  free(place);
  return folder;
}

static void list_files(const cli_failure *f, list *files) {
  const bool from_stdin = strcmp(f->file, "-") == 0;
  const char *slash = strrchr(f->file, '/'), *base = slash ? slash + 1 : f->file;
  list_add(files, from_stdin ? NULL : copy_part(f->file, strlen(f->file)),
           from_stdin ? copy_part("stdin.yaml", 10) : copy_part(base, strlen(base)), 0);
  sn_scene_options options = sn_scene_options_default();
  options.set = f->settings->set.item;
  options.nset = f->settings->set.count;
  options.allow_outside = f->settings->allow_outside;
  sni_sources s = {0};
  if (from_stdin) {
    sni_sources_read_text(&s, f->text, f->text_size, "stdin", &options);
  } else {
    sni_sources_read_file(&s, f->file, &options);
  }
  for (const sni_source *source = s.first; source; source = source->next) {
    char *folder = folder_of(source);
    if (folder) {
      look_through(&(search){files, source->folder, folder}, sni_doc_root(source->doc));
    } else {
      files->out_of_memory = true;
    }
    free(folder);
  }
  sni_sources_free(&s);
}

/* ---- copying ---- */

/* All folders of a path but the last part. */
static bool make_folders(char *path, size_t from) {
  for (char *slash = path + from; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) {
      return false;
    }
  }
  return true;
}

static bool copy_bytes(FILE *from, FILE *to) {
  char block[65536];
  size_t n;
  while ((n = fread(block, 1, sizeof block, from)) > 0) {
    if (fwrite(block, 1, n, to) != n) {
      return false;
    }
  }
  return !ferror(from);
}

/* A scene that was edited while it ran would not fail in the same way. */
static bool has_changed(const cli_failure *f, const entry *e) {
  struct stat info;
  return e->from && stat(e->from, &info) == 0 &&
         (info.st_mtim.tv_sec > f->start.tv_sec ||
          (info.st_mtim.tv_sec == f->start.tv_sec && info.st_mtim.tv_nsec > f->start.tv_nsec));
}

static bool copy_file(const cli_failure *f, const entry *e, const char *path) {
  FILE *to = fopen(path, "wb"), *from = e->from ? fopen(e->from, "rb") : NULL;
  bool good = to && (e->from ? from && copy_bytes(from, to)
                             : fwrite(f->text, 1, f->text_size, to) == f->text_size);
  good = !(to && fclose(to) != 0) && good;
  if (from) {
    fclose(from);
  }
  return good;
}

/* folder/scene/down/down/place, where a place that leads up takes away a `down`. */
static char *path_of(const char *folder, const entry *e, int most_ups, size_t *fixed) {
  sni_text t = {0};
  sni_text_add(&t, "%s/", folder);
  *fixed = t.length;
  sni_text_add(&t, "scene/");
  for (int k = e->ups; k < most_ups; k++) {
    sni_text_add(&t, "down/");
  }
  sni_text_add(&t, "%s", e->place + 3 * e->ups);
  return sni_text_take(&t);
}

static sn_status copy_entry(const cli_failure *f, const char *folder, const entry *e, int most_ups,
                            char *scene, sn_error *err) {
  size_t fixed = 0;
  if (has_changed(f, e)) {
    return sni_fail(err, SN_E_MISMATCH, "'%s' has changed since the run began", e->from);
  }
  char *path = path_of(folder, e, most_ups, &fixed);
  if (!path) {
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  if (scene) {
    snprintf(scene, CLI_BUNDLE_PATH_MAX, "%s", path + fixed);
  }
  errno = 0;
  const bool good = make_folders(path, fixed) && copy_file(f, e, path);
  const sn_status status =
      good ? SN_OK
           : sni_fail(err, SN_E_FILE, "cannot copy '%s' to '%s': %s",
                      e->from ? e->from : "standard input", path, strerror(errno));
  free(path);
  return status;
}

sn_status cli_bundle_copy_files(const cli_failure *failure, const char *folder, char *scene,
                                sn_error *err) {
  list files = {0};
  list_files(failure, &files);
  int most_ups = 0;
  for (int k = 0; k < files.count; k++) {
    most_ups = files.item[k].ups > most_ups ? files.item[k].ups : most_ups;
  }
  sn_status status = files.out_of_memory ? sni_fail(err, SN_E_MEMORY, "out of memory") : SN_OK;
  for (int k = 0; k < files.count && !status; k++) {
    status = copy_entry(failure, folder, &files.item[k], most_ups, k == 0 ? scene : NULL, err);
  }
  for (int k = 0; k < files.count; k++) {
    free(files.item[k].from);
    free(files.item[k].place);
  }
  free(files.item);
  return status;
}
