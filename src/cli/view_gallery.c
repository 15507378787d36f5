/* view_gallery.c: finds the scenes that come with the program. */
#define _DEFAULT_SOURCE /* readlink */
#include "cli/view_gallery.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "io/export.h"

#define STILL_MAX (1u << 20) /* bytes of a picture */

#ifndef SINEW_SCENES_DIR
#define SINEW_SCENES_DIR ""
#endif

static bool is_folder(const char *path) {
  DIR *dir = opendir(path);
  if (dir) {
    closedir(dir);
  }
  return dir != NULL;
}

/* PREFIX/share/sinew/scenes for a program in PREFIX/bin. */
static bool beside_program(char *out, size_t size) {
  char program[900];
  const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  if (n <= 0) {
    return false;
  }
  program[n] = 0;
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(program, '/');
    if (!slash) {
      return false;
    }
    *slash = 0;
  }
  snprintf(out, size, "%s/share/sinew/scenes", program);
  return is_folder(out);
}

static bool find_folder(char *out, size_t size) {
  const char *asked = getenv("SINEW_SCENES");
  if (asked && asked[0]) {
    snprintf(out, size, "%s", asked);
    return is_folder(out);
  }
  if (beside_program(out, size)) {
    return true;
  }
  snprintf(out, size, "%s", SINEW_SCENES_DIR);
  return is_folder(out);
}

/* The text of a line of a comment; NULL: it is none.  The line loses its end. */
static const char *comment(char *line) {
  line[strcspn(line, "\r\n")] = 0;
  return line[0] == '#' ? line + 1 + strspn(line + 1, " ") : NULL;
}

/* Where the first sentence of a text ends: at a full stop that a capital follows ("et al. 2019"
 * goes on), or with the text. */
static size_t sentence(const char *text) {
  for (const char *stop = text; (stop = strstr(stop, ". ")); stop++) {
    if (stop[2] >= 'A' && stop[2] <= 'Z') {
      return (size_t)(stop - text);
    }
  }
  const size_t n = strlen(text);
  return n - (n > 0 && text[n - 1] == '.');
}

/* The first sentence of the comment that a scene begins with: "# Crank-rocker hammer.  ..."  The
 * line by which 'sinew make' says what made it is no title. */
static void read_title(view_exhibit *e) {
  char text[512] = "", line[256];
  FILE *file = fopen(e->path, "r");
  if (!file) {
    return;
  }
  for (const char *next; fgets(line, sizeof line, file) && (next = comment(line));) {
    const size_t n = strlen(text);
    if (n == 0 && strncmp(next, "Made by '", 9) == 0) {
      continue;
    }
    if (n > 0 && (next[0] == 0 || text[n - 1] == '.')) { /* the sentence ends with its line */
      break;
    }
    snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? " " : "", next);
  }
  fclose(file);
  snprintf(e->title, sizeof e->title, "%.*s", (int)sentence(text), text);
}

/* Pictures are beside the scenes, in gallery where both are installed, in docs/gallery where they
 * are made: redmax/net is redmax_net.png there. */
static void find_still(const char *scenes, view_exhibit *e) {
  static const char *const places[] = {"gallery", "docs/gallery"};
  char name[sizeof e->name];
  snprintf(name, sizeof name, "%s", e->name);
  for (char *slash = name; (slash = strchr(slash, '/'));) {
    *slash = '_';
  }
  for (int k = 0; k < 2 && !e->still[0]; k++) {
    const int n = snprintf(e->still, sizeof e->still, "%s/../%s/%s.png", scenes, places[k], name);
    if (n >= (int)sizeof e->still || access(e->still, R_OK) != 0) {
      e->still[0] = 0;
    }
  }
}

static bool add(view_gallery *g, const char *folder, const char *prefix, const char *file) {
  static const char ending[] = ".yaml";
  const size_t n = strlen(file), m = strlen(ending);
  if (n <= m || strcmp(file + n - m, ending) != 0 || file[0] == '.') {
    return true;
  }
  view_exhibit *grown = realloc(g->item, (size_t)(g->count + 1) * sizeof *grown);
  if (!grown) {
    return false;
  }
  g->item = grown;
  view_exhibit *e = &g->item[g->count];
  *e = (view_exhibit){0};
  const int named = snprintf(e->name, sizeof e->name, "%s%.*s", prefix, (int)(n - m), file);
  const int placed = snprintf(e->path, sizeof e->path, "%s/%s", folder, file);
  if (named < (int)sizeof e->name && placed < (int)sizeof e->path) {
    read_title(e);
    g->count++;
  }
  return true;
}

static bool look(view_gallery *g, const char *folder, const char *prefix) {
  DIR *dir = opendir(folder);
  bool good = true;
  for (const struct dirent *d; dir && good && (d = readdir(dir));) {
    good = g->count >= VIEW_GALLERY_MAX || add(g, folder, prefix, d->d_name);
  }
  if (dir) {
    closedir(dir);
  }
  return good;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const view_exhibit *)a)->name, ((const view_exhibit *)b)->name);
}

sn_status view_gallery_find(view_gallery *g, sn_error *err) {
  char folder[1000], below[1024];
  if (!find_folder(folder, sizeof folder)) {
    return sni_fail(err, SN_E_FILE,
                    "the scenes of the gallery are not there: set SINEW_SCENES to their folder, or "
                    "give a scene");
  }
  snprintf(below, sizeof below, "%s/redmax", folder);
  if (!look(g, folder, "") || !look(g, below, "redmax/")) {
    view_gallery_free(g);
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  for (int k = 0; k < g->count; k++) {
    find_still(folder, &g->item[k]);
  }
  if (g->count > 0) {
    qsort(g->item, (size_t)g->count, sizeof *g->item, by_name);
  }
  return SN_OK;
}

void view_gallery_free(view_gallery *g) {
  free(g->item);
  *g = (view_gallery){0};
}

const view_exhibit *view_gallery_get(const view_gallery *g, const char *name) {
  for (int k = 0; k < g->count; k++) {
    if (strcmp(g->item[k].name, name) == 0) {
      return &g->item[k];
    }
  }
  return NULL;
}

char *view_gallery_still(const view_exhibit *e) {
  FILE *file = e->still[0] ? fopen(e->still, "rb") : NULL;
  unsigned char *raw = file ? malloc(STILL_MAX) : NULL;
  const size_t n = raw ? fread(raw, 1, STILL_MAX, file) : 0;
  char *text = n > 0 && n < STILL_MAX ? malloc((n + 2) / 3 * 4 + 1) : NULL;
  if (text) {
    text[sni_base64(raw, n, text)] = 0;
  }
  if (file) {
    fclose(file);
  }
  free(raw);
  return text;
}

void view_gallery_json(const view_gallery *g, sni_json *j) {
  sni_json_open(j, "scenes", "[");
  for (int k = 0; k < g->count; k++) {
    const char *file = strrchr(g->item[k].path, '/');
    sni_json_open(j, NULL, "{");
    sni_json_text(j, "name", g->item[k].name);
    sni_json_text(j, "title", g->item[k].title);
    cli_json_bool(j, "still", g->item[k].still[0] != 0);
    sni_json_text(j, "file", file ? file + 1 : g->item[k].path);
    sni_json_close(j, "}");
  }
  sni_json_close(j, "]");
}
