/* builder.c: takes definitions and keeps copies of them; the checks are in compile.c. */
#include "model/builder.h"

#include <stdlib.h>
#include <string.h>

sn_builder *sn_builder_create(void) {
  sn_builder *b = calloc(1, sizeof *b);
  if (b) {
    b->gravity = (sn_vec3){0, 0, -9.81};
    b->run = sn_run_def_default();
    b->units = "m kg s";
    b->up = "z";
  }
  return b;
}

void sn_builder_free(sn_builder **builder) {
  sn_builder *b = *builder;
  if (b) {
    sni_arena_free(&b->arena);
    sni_list *const list[] = {&b->body,    &b->force, &b->motion,  &b->loop,   &b->constraint,
                              &b->contact, &b->tube,  &b->initial, &b->unknown};
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
      free(list[k]->item);
    }
    sni_error_list_free(&b->errors);
    sni_error_list_free(&b->warnings);
    free(b);
  }
  *builder = NULL;
}

static void *push(sni_list *list, const void *item, size_t size) {
  if (list->count == list->capacity) {
    const int capacity = list->capacity ? 2 * list->capacity : 16;
    void *grown = realloc(list->item, (size_t)capacity * size);
    if (!grown) {
      return NULL;
    }
    list->item = grown;
    list->capacity = capacity;
  }
  void *at = (char *)list->item + (size_t)list->count * size;
  memcpy(at, item, size);
  list->count++;
  return at;
}

/* ---- deep copies; false: out of memory ---- */

static bool own_text(sni_arena *a, const char **text) {
  const char *copy = sni_arena_text(a, *text);
  const bool ok = copy || !*text;
  *text = copy;
  return ok;
}

/* A copy of size bytes; NULL for nothing.  Clears *ok when out of memory. */
static const void *owned(sni_arena *a, const void *from, size_t size, bool *ok) {
  const void *copy = size > 0 && from ? sni_arena_copy(a, from, size) : NULL;
  *ok = *ok && (copy || size == 0 || !from);
  return copy;
}

static bool own_function(sni_arena *a, sn_function_def *f) {
  const size_t n = f->nkey > 0 ? (size_t)f->nkey * sizeof(double) : 0;
  bool ok = own_text(a, &f->expression) && own_text(a, &f->csv_file) && own_text(a, &f->csv_column);
  f->key_time = owned(a, f->key_time, n, &ok);
  f->key_value = owned(a, f->key_value, n, &ok);
  return ok;
}

static bool own_functions(sni_arena *a, sn_function_def *f, int n) {
  bool ok = true;
  for (int k = 0; k < n; k++) {
    ok = ok && own_function(a, &f[k]);
  }
  return ok;
}

/* Counts without anything behind them, or below 0, become 0: the checks then say what is missing.
 */
static void no_empty_counts(sn_joint_def *j) {
  j->nframe = j->frames && j->nframe > 0 ? j->nframe : 0;
  j->npart = j->parts && j->npart > 0 ? j->npart : 0;
  if (!j->grid || j->grid_rows < 0 || j->grid_columns < 0) {
    j->grid_rows = j->grid_columns = 0;
  }
}

static bool own_joint(sni_arena *a, sn_joint_def *j, int depth) {
  no_empty_counts(j);
  const size_t nframe = (size_t)j->nframe;
  const size_t ngrid = (size_t)j->grid_rows * (size_t)j->grid_columns;
  bool ok = own_text(a, &j->type) && own_text(a, &j->friction.law) &&
            own_functions(a, j->drive.target, SN_NV_MAX) &&
            own_functions(a, j->drive.rate, SN_NV_MAX);
  j->frames = owned(a, j->frames, nframe * sizeof *j->frames, &ok);
  j->grid = owned(a, j->grid, ngrid * 6 * sizeof *j->grid, &ok);
  if (j->npart > 0) {
    sn_joint_def *parts = sni_arena_copy(a, j->parts, (size_t)j->npart * sizeof *parts);
    ok = ok && parts;
    for (int p = 0; ok && p < j->npart; p++) {
      /* what is nested deeper than any check allows is cut off here, and refused there */
      if (depth > 16) {
        parts[p].npart = 0;
      }
      ok = own_joint(a, &parts[p], depth + 1);
    }
    j->parts = parts;
  }
  return ok;
}

sn_status sn_builder_add_body(sn_builder *b, const sn_body_def *def) {
  sn_body_def d = *def;
  bool ok = own_text(&b->arena, &d.name) && own_text(&b->arena, &d.parent) &&
            own_joint(&b->arena, &d.joint, 0);
  d.nshape = d.shapes && d.nshape > 0 ? d.nshape : 0;
  if (d.nshape > 0) {
    sn_shape_def *shapes = sni_arena_copy(&b->arena, d.shapes, (size_t)d.nshape * sizeof *shapes);
    ok = ok && shapes;
    for (int s = 0; ok && s < d.nshape; s++) {
      ok = own_text(&b->arena, &shapes[s].type) && own_text(&b->arena, &shapes[s].file) &&
           own_text(&b->arena, &shapes[s].contact);
    }
    d.shapes = shapes;
  }
  d.nignore = d.ignore && d.nignore > 0 ? d.nignore : 0;
  const char **ignore = sni_arena_take(&b->arena, (size_t)d.nignore * sizeof *ignore);
  ok = ok && ignore;
  for (int k = 0; ok && k < d.nignore; k++) {
    ignore[k] = d.ignore[k];
    ok = own_text(&b->arena, &ignore[k]);
  }
  d.ignore = ignore;
  return ok && push(&b->body, &d, sizeof d) ? SN_OK : SN_E_MEMORY;
}

sn_status sni_builder_add_unknown_body(sn_builder *b, const char *name, const char *parent) {
  sn_body_def def = sn_body_def_default();
  def.name = name;
  def.parent = parent;
  const sn_status status = sn_builder_add_body(b, &def);
  const int index = b->body.count - 1;
  return status ? status : push(&b->unknown, &index, sizeof index) ? SN_OK : SN_E_MEMORY;
}

sn_status sn_builder_add_force(sn_builder *b, const sn_force_def *def) {
  sn_force_def d = *def;
  sni_arena *a = &b->arena;
  d.nvia = d.via && d.nvia > 0 ? d.nvia : 0;
  sn_point_def *via = sni_arena_copy(a, d.via, (size_t)d.nvia * sizeof *via);
  bool ok = via != NULL;
  for (int k = 0; ok && k < d.nvia; k++) {
    ok = own_text(a, &via[k].body);
  }
  d.via = via;
  ok = ok && own_text(a, &d.name) && own_text(a, &d.type) && own_function(a, &d.active) &&
       own_text(a, &d.a.body) && own_text(a, &d.b.body) && own_text(a, &d.body) &&
       own_text(a, &d.joint) && own_functions(a, d.vector, 3) &&
       own_functions(a, d.torque, SN_NV_MAX);
  return ok && push(&b->force, &d, sizeof d) ? SN_OK : SN_E_MEMORY;
}

sn_status sn_builder_add_motion(sn_builder *b, const sn_motion_def *def) {
  sn_motion_def d = *def;
  sni_arena *a = &b->arena;
  const bool ok = own_text(a, &d.name) && own_text(a, &d.joint) &&
                  own_functions(a, d.q, SN_NV_MAX) && own_functions(a, d.rate, SN_NV_MAX) &&
                  own_text(a, &d.body) && own_functions(a, d.twist, 6) &&
                  own_functions(a, d.point, 3) && own_function(a, &d.active);
  return ok && push(&b->motion, &d, sizeof d) ? SN_OK : SN_E_MEMORY;
}

sn_status sn_builder_add_loop(sn_builder *b, const sn_loop_def *def) {
  sn_loop_def d = *def;
  sni_arena *a = &b->arena;
  const bool ok = own_text(a, &d.name) && own_joint(a, &d.joint, 0) && own_text(a, &d.a.body) &&
                  own_text(a, &d.b.body) && own_function(a, &d.active);
  return ok && push(&b->loop, &d, sizeof d) ? SN_OK : SN_E_MEMORY;
}

static bool own_map(sni_arena *a, sn_constraint_def *d) {
  d->ncoordinate = d->coordinates && d->ncoordinate > 0 ? d->ncoordinate : 0;
  d->ndriven = d->driven && d->ndriven > 0 ? d->ndriven : 0;
  sn_coordinate_def *own = sni_arena_copy(a, d->coordinates, (size_t)d->ncoordinate * sizeof *own);
  sn_driven_def *driven = sni_arena_copy(a, d->driven, (size_t)d->ndriven * sizeof *driven);
  bool ok = own && driven;
  for (int k = 0; ok && k < d->ncoordinate; k++) {
    ok = own_text(a, &own[k].name) && own_functions(a, own[k].motion, SN_NV_MAX) &&
         own_functions(a, own[k].force, SN_NV_MAX);
  }
  for (int k = 0; ok && k < d->ndriven; k++) {
    ok = own_text(a, &driven[k].joint) && own_text(a, &driven[k].value);
  }
  d->coordinates = own;
  d->driven = driven;
  return ok;
}

sn_status sn_builder_add_constraint(sn_builder *b, const sn_constraint_def *def) {
  sn_constraint_def d = *def;
  sni_arena *a = &b->arena;
  d.nterm = d.terms && d.nterm > 0 ? d.nterm : 0;
  sn_term_def *terms = sni_arena_copy(a, d.terms, (size_t)d.nterm * sizeof *terms);
  bool ok = terms != NULL;
  for (int k = 0; ok && k < d.nterm; k++) {
    ok = own_text(a, &terms[k].joint);
  }
  d.terms = terms;
  ok = ok && own_map(a, &d) && own_text(a, &d.name) && own_text(a, &d.type) &&
       own_function(a, &d.active) && own_text(a, &d.a.body) && own_text(a, &d.b.body) &&
       own_function(a, &d.offset) && own_text(a, &d.body) && own_text(a, &d.on.body);
  return ok && push(&b->constraint, &d, sizeof d) ? SN_OK : SN_E_MEMORY;
}

sn_status sn_builder_add_contact(sn_builder *b, const sn_contact_def *def) {
  sn_contact_def d = *def;
  return own_text(&b->arena, &d.name) && push(&b->contact, &d, sizeof d) ? SN_OK : SN_E_MEMORY;
}

sn_status sn_builder_add_tube(sn_builder *b, const sn_tube_def *def) {
  sn_tube_def d = *def;
  sni_arena *a = &b->arena;
  d.nbead = d.beads && d.nbead > 0 ? d.nbead : 0;
  sn_bead_def *beads = sni_arena_copy(a, d.beads, (size_t)d.nbead * sizeof *beads);
  bool ok = beads != NULL;
  for (int k = 0; ok && k < d.nbead; k++) {
    ok = own_text(a, &beads[k].point.body);
  }
  d.beads = beads;
  ok = ok && own_text(a, &d.name) && own_text(a, &d.contact);
  return ok && push(&b->tube, &d, sizeof d) ? SN_OK : SN_E_MEMORY;
}

sn_status sn_builder_set_initial(sn_builder *b, const sn_initial_def *def) {
  sn_initial_def d = *def;
  return own_text(&b->arena, &d.body) && push(&b->initial, &d, sizeof d) ? SN_OK : SN_E_MEMORY;
}

void sn_builder_set_gravity(sn_builder *b, sn_vec3 gravity) {
  b->gravity = gravity;
}

sn_status sn_builder_set_run(sn_builder *b, const sn_run_def *def) {
  sn_run_def d = *def;
  const size_t n = d.nrecord_channel > 0 && d.record_channels ? (size_t)d.nrecord_channel : 0;
  const char **pattern = sni_arena_take(&b->arena, n * sizeof *pattern);
  bool ok = pattern && own_text(&b->arena, &d.options.method);
  for (size_t k = 0; ok && k < n; k++) {
    pattern[k] = d.record_channels[k];
    ok = own_text(&b->arena, &pattern[k]);
  }
  d.record_channels = pattern;
  d.nrecord_channel = (int)n;
  if (ok) {
    b->run = d;
  }
  return ok ? SN_OK : SN_E_MEMORY;
}

sn_status sn_builder_set_units(sn_builder *b, const char *units, const char *up) {
  b->units = sni_arena_text(&b->arena, units ? units : b->units);
  b->up = sni_arena_text(&b->arena, up ? up : b->up);
  return b->units && b->up ? SN_OK : SN_E_MEMORY;
}

int sn_builder_error_count(const sn_builder *b) {
  return b->errors.count;
}
const sn_error *sn_builder_error(const sn_builder *b, int k) {
  return k >= 0 && k < b->errors.count ? &b->errors.item[k] : NULL;
}
int sn_builder_warning_count(const sn_builder *b) {
  return b->warnings.count;
}
const sn_error *sn_builder_warning(const sn_builder *b, int k) {
  return k >= 0 && k < b->warnings.count ? &b->warnings.item[k] : NULL;
}
