/* scene.c: models from scene files: reading, checking, building, and one list of problems. */
#include "sinew/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene.h"

struct sn_scene {
  sni_error_list errors, warnings;
  sn_model *model;
  char *units, up[2];
  char **file;
  int nfile;
};

sn_scene_options sn_scene_options_default(void) {
  return (sn_scene_options){0};
}

/* ---- one list of problems, in the order of the lines ------------------------------------------
 */

/* Files in the order of reading; what does not come from a file is first. */
static int rank_of(const sni_sources *s, const sn_error *err) {
  int rank = 1;
  for (const sni_source *source = s->first; source; source = source->next, rank++) {
    if (strncmp(err->file, sni_doc_name(source->doc), sizeof err->file - 1) == 0) {
      return rank;
    }
  }
  return 0;
}

typedef struct ranked {
  sn_error err;
  int rank, number;
} ranked;

static int compare_ranked(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  const int order[][2] = {{x->rank, y->rank},
                          {x->err.line, y->err.line},
                          {x->err.column, y->err.column},
                          {x->number, y->number}};
  for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
    if (order[k][0] != order[k][1]) {
      return order[k][0] < order[k][1] ? -1 : 1;
    }
  }
  return 0;
}

static bool same_problem(const sn_error *a, const sn_error *b) {
  return a->line == b->line && a->column == b->column && strcmp(a->file, b->file) == 0 &&
         strcmp(a->path, b->path) == 0 && strcmp(a->text, b->text) == 0;
}

/* Moves a list, sorted; a file that is used twice says everything twice, once is enough. */
static bool move_sorted(const sni_sources *s, const sni_error_list *from, sni_error_list *to) {
  ranked *all = calloc((size_t)from->count + 1, sizeof *all);
  if (!all) {
    return false;
  }
  for (int k = 0; k < from->count; k++) {
    all[k] = (ranked){from->item[k], rank_of(s, &from->item[k]), k};
  }
  qsort(all, (size_t)from->count, sizeof *all, compare_ranked);
  for (int k = 0; k < from->count; k++) {
    if (k == 0 || !same_problem(&all[k].err, &all[k - 1].err)) {
      sni_error_list_add(to, &all[k].err);
    }
  }
  free(all);
  if (from->dropped > 0 && to->count > 0) {
    sn_error *last = &to->item[to->count - 1];
    const sn_status code = last->code;
    *last = (sn_error){.code = code};
    snprintf(last->text, sizeof last->text, "and %d more like these", from->dropped + 1);
  }
  return to->count > 0 || from->count == 0;
}

/* ---- building ---------------------------------------------------------------------------------
 */

/* A problem that the builder found, with its place in the files. */
static void add_from_builder(const sni_sources *s, const sni_items *items, const sn_error *found,
                             sni_error_list *list) {
  sn_error err = *found;
  if (strncmp(err.text, "two ", 4) == 0 && s->errors.count > 0) {
    return; /* a name that is there twice: the reader has said so, with both places */
  }
  if (!err.file[0] && s->first) {
    sni_items_locate(items, s, err.path, &err);
  }
  if (err.code == SN_E_SYNTAX) {
    err.code = SN_E_VALUE; /* of another file, such as a mesh: the scene itself was well formed */
  }
  sni_error_list_add(list, &err);
}

static sn_status build(sn_scene *scene, sni_sources *s, const sni_items *items,
                       sn_builder *builder) {
  sn_error err = {0};
  const sn_status status = sn_builder_finish(builder, &scene->model, &err);
  for (int k = 0; k < sn_builder_error_count(builder); k++) {
    add_from_builder(s, items, sn_builder_error(builder, k), &s->errors);
  }
  for (int k = 0; k < sn_builder_warning_count(builder); k++) {
    add_from_builder(s, items, sn_builder_warning(builder, k), &s->warnings);
  }
  if (status < 0 && status != SN_E_MEMORY && s->errors.count == 0) {
    add_from_builder(s, items, &err, &s->errors);
  }
  return status == SN_E_MEMORY ? status : SN_OK;
}

static char *copy_text(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

static bool keep_files(sn_scene *scene, const sni_sources *s) {
  scene->file = calloc((size_t)s->count + 1, sizeof *scene->file);
  bool good = scene->file != NULL;
  for (const sni_source *source = s->first; source && good; source = source->next) {
    if (source->real) {
      scene->file[scene->nfile] = copy_text(source->real);
      good = scene->file[scene->nfile] != NULL;
      scene->nfile += good;
    }
  }
  return good;
}

/* Fills the scene from what was read; only lack of memory fails. */
static sn_status fill(sn_scene *scene, sni_sources *s) {
  sni_items items = {0};
  sni_scene_head head = {.up = "z"};
  sn_status status = SN_OK;
  sn_builder *builder = sn_builder_create();
  if (!builder) {
    return SN_E_MEMORY;
  }
  if (s->first && s->first->readable) {
    sni_items_list(s, &items);
    sni_scene_define(s, &items, builder, &head);
    const bool good = s->errors.count == 0 && s->errors.dropped == 0;
    const bool look_on = items.body_count > 0 && items.body_count <= SNI_SCENE_LOOK_ON;
    if ((good || look_on) && !s->pool.out_of_memory) {
      status = build(scene, s, &items, builder);
    }
    if (!good) {
      sn_model_free(&scene->model); /* what could not be read is not in it */
    }
  }
  sn_builder_free(&builder);
  const char *units = head.units ? head.units : "";
  scene->units = copy_text(units);
  snprintf(scene->up, sizeof scene->up, "%s", head.up);
  const bool moved =
      move_sorted(s, &s->errors, &scene->errors) && move_sorted(s, &s->warnings, &scene->warnings);
  const bool lost = s->errors.count == 0 && s->errors.dropped > 0;
  if (!scene->units || !moved || lost || s->pool.out_of_memory || !keep_files(scene, s)) {
    return SN_E_MEMORY;
  }
  return status;
}

static sn_status finish(sni_sources *s, sn_scene **out, sn_error *err) {
  sn_scene *scene = calloc(1, sizeof *scene);
  const sn_status status = scene ? fill(scene, s) : SN_E_MEMORY;
  sni_sources_free(s);
  if (status != SN_OK) {
    sn_scene_free(&scene);
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  *out = scene;
  if (scene->errors.count == 0) {
    return SN_OK;
  }
  if (err) {
    *err = scene->errors.item[0];
  }
  return scene->errors.item[0].code;
}

sn_status sn_scene_load(const char *path, const sn_scene_options *options, sn_scene **scene,
                        sn_error *err) {
  const sn_scene_options usual = sn_scene_options_default();
  sni_sources s = {0};
  sni_sources_read_file(&s, path ? path : "", options ? options : &usual);
  return finish(&s, scene, err);
}

sn_status sn_scene_load_text(const char *text, size_t n, const char *name,
                             const sn_scene_options *options, sn_scene **scene, sn_error *err) {
  const sn_scene_options usual = sn_scene_options_default();
  sni_sources s = {0};
  sni_sources_read_text(&s, text, n, name ? name : "text", options ? options : &usual);
  return finish(&s, scene, err);
}

void sn_scene_free(sn_scene **scene) {
  if (*scene) {
    sni_error_list_free(&(*scene)->errors);
    sni_error_list_free(&(*scene)->warnings);
    sn_model_free(&(*scene)->model);
    free((*scene)->units);
    for (int k = 0; k < (*scene)->nfile; k++) {
      free((*scene)->file[k]);
    }
    free((*scene)->file);
    free(*scene);
    *scene = NULL;
  }
}

sn_status sn_model_load(const char *path, sn_model **model, sn_error *err) {
  sn_scene *scene = NULL;
  const sn_status status = sn_scene_load(path, NULL, &scene, err);
  if (!scene) {
    return status;
  }
  if (status == SN_OK) {
    *model = sn_scene_take_model(scene);
  }
  sn_scene_free(&scene);
  return status;
}

/* ---- asking -----------------------------------------------------------------------------------
 */

int sn_scene_error_count(const sn_scene *scene) {
  return scene->errors.count;
}

const sn_error *sn_scene_error(const sn_scene *scene, int k) {
  return k >= 0 && k < scene->errors.count ? &scene->errors.item[k] : NULL;
}

int sn_scene_warning_count(const sn_scene *scene) {
  return scene->warnings.count;
}

const sn_error *sn_scene_warning(const sn_scene *scene, int k) {
  return k >= 0 && k < scene->warnings.count ? &scene->warnings.item[k] : NULL;
}

const sn_model *sn_scene_model(const sn_scene *scene) {
  return scene->model;
}

sn_model *sn_scene_take_model(sn_scene *scene) {
  sn_model *model = scene->model;
  scene->model = NULL;
  return model;
}

const char *sn_scene_units(const sn_scene *scene) {
  return scene->units;
}

int sn_scene_file_count(const sn_scene *scene) {
  return scene->nfile;
}

const char *sn_scene_file(const sn_scene *scene, int k) {
  return k >= 0 && k < scene->nfile ? scene->file[k] : NULL;
}

const char *sn_scene_up(const sn_scene *scene) {
  return scene->up;
}
