/* define.c: from the files of a scene to the definitions of a model. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/scene.h"
#include "io/words.h"
#include "math/se3.h"
#include "model/builder.h"

#define SUGGESTIONS_MAX 10000 /* names among which the nearest is looked for */

typedef struct definer {
  sni_sources *s;
  sni_items *items;
  sn_builder *builder;
  sni_pool pool; /* for one thing at a time */
  bool failed;   /* the builder is out of memory */
} definer;

/* Definitions are kept also when something is wrong elsewhere: there will be no model, but the
 * builder finds what is wrong with them, in the same go. */
static bool keeps(const definer *f) {
  const bool worth_it = f->s->errors.count == 0 || f->items->body_count <= SNI_SCENE_LOOK_ON;
  return worth_it && !f->failed && !f->pool.out_of_memory;
}

static void keep(definer *f, sn_status status) {
  f->failed = f->failed || status != SN_OK;
}

/* ---- the top --------------------------------------------------------------------------------- */

static void fail_top_key(sni_decoder *d, const sni_node *entry) {
  sni_suggestion near = {.word = entry->key};
  char known[200] = "", guess[64] = "";
  const char *key;
  if (sni_decode_fail_unseen(d)) {
    return;
  }
  for (int k = 0; (key = sni_top_key(k)) != NULL; k++) {
    const size_t n = strlen(known);
    snprintf(known + n, sizeof known - n, "%s%s", k ? ", " : "", key);
    sni_suggest(&near, key);
  }
  if (near.best) {
    snprintf(guess, sizeof guess, " (did you mean '%s'?)", near.best);
  }
  sni_decode_fail_key(d, SN_E_SYNTAX, entry, "unknown key '%s'%s, known: %s",
                      sni_show(entry->key).text, guess, known);
}

static void check_top_keys(definer *f, sni_source *source) {
  sni_decoder d = sni_source_decoder(f->s, source, &f->pool);
  const sni_node *root = sni_doc_root(source->doc);
  for (size_t i = 0; i < sni_node_count(root); i++) {
    const sni_node *entry = sni_node_at(root, i);
    bool found = false;
    const char *key;
    for (int k = 0; (key = sni_top_key(k)) != NULL; k++) {
      found = found || strcmp(entry->key, key) == 0;
    }
    if (!found) {
      fail_top_key(&d, entry);
    }
  }
}

static void define_head(definer *f, sni_source *source, sni_scene_head *out) {
  sni_decoder d = sni_source_decoder(f->s, source, &f->pool);
  const sni_node *root = sni_doc_root(source->doc);
  sni_head_def head = sni_head_def_default("z");
  for (int i = 0; i < sni_head_table.count; i++) {
    const sni_field *field = &sni_head_table.field[i];
    const sni_node *node = sni_node_get(root, field->key);
    if (node) {
      const size_t before = sni_path_key(&d, field->key);
      sni_decode_value(&d, field, node, &head);
      sni_path_back(&d, before);
    }
    if (node && source->user) {
      sni_source_warn(f->s, source, node, field->key,
                      "not used: that of the scene that uses this file counts");
    }
  }
  if (source->user) {
    return;
  }
  if (!sni_node_get(root, "gravity")) {
    head.gravity = sni_head_def_default(head.up).gravity;
    if (head.units && strcmp(head.units, "m kg s") != 0) {
      sni_source_warn(f->s, source, sni_node_get(root, "units"), "units",
                      "gravity is not given, so it is %g against up, whatever the units",
                      sn_vec3_norm(head.gravity));
    }
  }
  *out = (sni_scene_head){.units = head.units, .up = head.up};
  if (keeps(f)) {
    sn_builder_set_gravity(f->builder, head.gravity);
    keep(f, sn_builder_set_units(f->builder, head.units, head.up));
  }
}

/* Options that need another one. */
static void warn_idle(definer *f, sni_source *source, const sni_node *run, const sn_run_def *def) {
  const sni_node *redmax = sni_node_get(run, "redmax");
  const sni_node *friction = redmax ? sni_node_get(redmax, "friction") : NULL;
  const sni_node *absolute = friction ? sni_node_get(friction, "absolute") : NULL;
  const sn_options *o = &def->options;
  if (absolute && o->redmax.friction.absolute && o->redmax.friction.regularization == 0) {
    sni_source_warn(f->s, source, absolute, "run.redmax.friction.absolute",
                    "does nothing without regularization");
  }
}

static void define_run(definer *f, sni_source *source) {
  const sni_node *node = sni_node_get(sni_doc_root(source->doc), "run");
  if (!node) {
    return;
  }
  sni_decoder d = sni_source_decoder(f->s, source, &f->pool);
  sni_keys keys;
  sni_keys_of_run(&f->pool, &keys);
  sn_run_def run = sn_run_def_default();
  sni_path_key(&d, "run");
  const bool good = sni_decode_map(&d, &keys, node, &run);
  if (source->user) {
    sni_source_warn(f->s, source, node, "run",
                    "not used: that of the scene that uses this file counts");
    return;
  }
  for (int i = 0; i < keys.count; i++) {
    const sni_field *field = keys.item[i].field;
    const sni_node *block = sni_node_get(node, field->key);
    if (block && field->type == SNI_F_TABLE && !field->table) {
      char path[64];
      snprintf(path, sizeof path, "run.%s", field->key);
      sni_source_warn(f->s, source, block, path,
                      "not used and not checked: this version knows no options of the method '%s'",
                      field->key);
    }
  }
  if (good) {
    warn_idle(f, source, node, &run);
  }
  if (good && keeps(f)) {
    keep(f, sn_builder_set_run(f->builder, &run));
  }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* What shapes say that is not used. */
static void warn_density(definer *f, const sni_item *item, const sn_body_def *def) {
  const sni_node *shapes = sni_node_get(item->node, "shapes");
  for (int i = 0; i < def->nshape && def->has_inertia; i++) {
    const sni_node *density = sni_node_get(sni_node_at(shapes, (size_t)i), "density");
    if (density) {
      char path[SN_ERROR_WHERE_MAX];
      snprintf(path, sizeof path, "bodies.%s.shapes[%d].density", item->node->key, i);
      sni_source_warn(f->s, item->source, density, path,
                      "not used: the body has inertia, so its shapes carry no mass");
    }
  }
}

/* The body that things of a file hang on: the ground if that body is missing, which is said where
 * the file is used. */
static const char *ground_of(const definer *f, const sni_source *source) {
  int number;
  return sni_items_find(f->items, SNI_BODIES, source->ground, &number) ? source->ground : "world";
}

/* What could not be read: others may refer to it all the same. */
static void define_unknown(definer *f, const sni_item *item, const char *parent) {
  const size_t size = strlen(item->name) + 16;
  char *name = sni_pool_take(&f->pool, size, 1);
  for (int k = item->repeat > 0; k <= item->repeat && name && keeps(f); k++) {
    if (item->repeat > 0) {
      snprintf(name, size, "%s_%d", item->name, k);
    } else {
      snprintf(name, size, "%s", item->name);
    }
    keep(f, sni_builder_add_unknown_body(f->builder, name, parent));
  }
}

/* rope_1 by the joint as it stands, rope_2 and so on by `over`, each on the one before. */
static void define_chain(definer *f, const sni_item *item, sn_body_def *def,
                         const sn_joint_def *over) {
  const size_t size = strlen(item->name) + 16;
  char *name = sni_pool_take(&f->pool, size, 1), *before = sni_pool_take(&f->pool, size, 1);
  for (int k = 1; k <= item->repeat && name && before && keeps(f); k++) {
    snprintf(name, size, "%s_%d", item->name, k);
    def->name = name;
    if (k > 1) {
      snprintf(before, size, "%s_%d", item->name, k - 1);
      def->parent = before;
      def->joint = *over;
    }
    keep(f, sn_builder_add_body(f->builder, def));
  }
}

static void define_body(definer *f, sni_item *item, sni_decoder *d) {
  sni_source *source = item->source;
  sn_body_def def = sn_body_def_default();
  bool good = sni_decode_body(d, item->node, &def);
  sn_joint_def over = def.joint;
  if (item->repeat_joint) {
    const sni_node *joint = sni_node_get(item->node, "joint");
    if (!joint && source->defaults.node[SNI_DEFAULT_BODY]) {
      joint = sni_node_get(source->defaults.node[SNI_DEFAULT_BODY], "joint");
    }
    const size_t before = sni_path_key(d, "repeat");
    sni_path_key(d, "joint");
    over = sn_joint_def_default();
    good = sni_decode_joint_over(d, item->repeat_joint, joint, !good, &over) && good;
    sni_path_back(d, before);
  }
  if (!good) {
    const bool on_ground = !def.parent || strcmp(def.parent, "world") == 0;
    define_unknown(f, item, on_ground ? ground_of(f, source) : def.parent);
    return;
  }
  warn_density(f, item, &def);
  const bool hangs_by_loop = !def.parent && !def.joint.type && item->repeat == 0;
  if (!hangs_by_loop && (!def.parent || strcmp(def.parent, "world") == 0)) {
    def.parent = ground_of(f, source);
    def.joint.at = sn_se3_mul(source->E_ground, def.joint.at);
  }
  if (item->repeat > 0) {
    define_chain(f, item, &def, &over);
  } else if (keeps(f)) {
    def.name = item->name;
    keep(f, sn_builder_add_body(f->builder, &def));
  }
}

/* ---- everything else ------------------------------------------------------------------------- */

static void define_force(definer *f, const sni_item *item, sni_decoder *d) {
  sn_force_def def = sn_force_def_default();
  const sni_layers layers = sni_decode_layers(d, item->node, SNI_DEFAULT_FORCE);
  if (sni_decode_kind(d, SNI_ROLE_FORCE, &layers, &def) && keeps(f)) {
    def.name = item->name;
    keep(f, sn_builder_add_force(f->builder, &def));
  }
}

static void define_loop(definer *f, const sni_item *item, sni_decoder *d) {
  sn_loop_def def = sn_loop_def_default();
  const sni_layers layers = {.node = {item->node}, .count = 1};
  if (sni_decode_kind(d, SNI_ROLE_LOOP, &layers, &def) && keeps(f)) {
    def.name = item->name;
    keep(f, sn_builder_add_loop(f->builder, &def));
  }
}

static void define_constraint(definer *f, const sni_item *item, sni_decoder *d) {
  sn_constraint_def def = sn_constraint_def_default();
  def.on.body = d->ground;
  def.on.at = d->E_ground;
  const sni_layers layers = {.node = {item->node}, .count = 1};
  if (sni_decode_kind(d, SNI_ROLE_CONSTRAINT, &layers, &def) && keeps(f)) {
    def.name = item->name;
    keep(f, sn_builder_add_constraint(f->builder, &def));
  }
}

static void define_motion(definer *f, const sni_item *item, sni_decoder *d) {
  sn_motion_def def = sn_motion_def_default();
  if (sni_decode_table(d, &sni_motion_table, item->node, &def) && keeps(f)) {
    def.name = item->name;
    keep(f, sn_builder_add_motion(f->builder, &def));
  }
}

static void define_contact(definer *f, const sni_item *item, sni_decoder *d) {
  sn_contact_def def = sn_contact_def_default();
  if (!sni_decode_table(d, &sni_contact_table, item->node, &def)) {
    def = sn_contact_def_default(); /* shapes may name it */
  }
  if (keeps(f)) {
    def.name = item->name;
    keep(f, sn_builder_add_contact(f->builder, &def));
  }
}

static void define_tube(definer *f, const sni_item *item, sni_decoder *d) {
  sn_tube_def def = sn_tube_def_default();
  if (sni_decode_table(d, &sni_tube_table, item->node, &def) && keeps(f)) {
    def.name = item->name;
    keep(f, sn_builder_add_tube(f->builder, &def));
  }
}

static void define_initial(definer *f, const sni_item *item, sni_decoder *d) {
  sn_initial_def def = sn_initial_def_default();
  const bool good = sni_decode_table(d, &sni_initial_table, item->node, &def);
  int number; /* what the user of a file says about the start replaces what the file says */
  const bool first = sni_items_find(f->items, SNI_INITIAL, item->name, &number) == item;
  if (good && first && keeps(f)) {
    def.body = item->name;
    keep(f, sn_builder_set_initial(f->builder, &def));
  }
}

static void define_item(definer *f, sni_item *item) {
  sni_decoder d = sni_source_decoder(f->s, item->source, &f->pool);
  sni_path_key(&d, sni_section_get((int)item->section)->key);
  sni_path_key(&d, item->node->key);
  switch (item->section) {
  case SNI_BODIES:
    define_body(f, item, &d);
    break;
  case SNI_CONTACTS:
    define_contact(f, item, &d);
    break;
  case SNI_TUBES:
    define_tube(f, item, &d);
    break;
  case SNI_LOOPS:
    define_loop(f, item, &d);
    break;
  case SNI_CONSTRAINTS:
    define_constraint(f, item, &d);
    break;
  case SNI_FORCES:
    define_force(f, item, &d);
    break;
  case SNI_MOTIONS:
    define_motion(f, item, &d);
    break;
  default:
    define_initial(f, item, &d);
    break;
  }
}

/* ---- what was read and not used -------------------------------------------------------------- */

static void warn_unused(definer *f) {
  for (sni_source *source = f->s->first; source; source = source->next) {
    for (int id = 0; id < SNI_DEFAULT_COUNT; id++) {
      const sni_node *node = source->defaults.node[id];
      for (size_t i = 0; i < sni_node_count(node) && source->defaults.used[id]; i++) {
        if (!source->defaults.used[id][i]) {
          char path[SN_ERROR_WHERE_MAX];
          snprintf(path, sizeof path, "defaults.%s.%s", sni_default_key(id),
                   sni_node_at(node, i)->key);
          sni_source_warn(f->s, source, sni_node_at(node, i), path,
                          "not used: no %s of this file takes it", sni_default_key(id));
        }
      }
    }
  }
}

/* The body that a used file hangs on. */
static void check_ground(definer *f, sni_source *source) {
  int number;
  if (!source->user || strcmp(source->ground, "world") == 0 ||
      sni_items_find(f->items, SNI_BODIES, source->ground, &number)) {
    return;
  }
  const sni_node *parent = sni_node_get(source->entry, "parent");
  sni_decoder d = sni_source_decoder(f->s, source->user, &f->pool);
  if (!parent || sni_decode_fail_unseen(&d)) {
    return; /* no parent: it is said where the parent stands */
  }
  sni_suggestion near = {.word = source->ground};
  for (int k = 0; k < f->items->count && k < SUGGESTIONS_MAX; k++) {
    if (f->items->item[k].section == SNI_BODIES && f->items->item[k].repeat == 0) {
      sni_suggest(&near, f->items->item[k].name);
    }
  }
  sni_path_key(&d, "use");
  sni_path_index(&d, (size_t)source->index);
  sni_path_key(&d, "parent");
  sni_decode_fail(&d, SN_E_VALUE, parent, "no body is called '%s'%s%s%s",
                  sni_show(source->ground).text, near.best ? " (did you mean '" : "",
                  near.best ? sni_show(near.best).text : "", near.best ? "'?)" : "");
}

void sni_scene_define(sni_sources *s, sni_items *items, sn_builder *builder, sni_scene_head *head) {
  definer f = {.s = s, .items = items, .builder = builder};
  for (sni_source *source = s->first; source; source = source->next) {
    if (source->readable) {
      check_top_keys(&f, source);
      define_head(&f, source, head);
      define_run(&f, source);
      check_ground(&f, source);
    }
  }
  for (int k = 0; k < items->count && !f.pool.out_of_memory; k++) {
    define_item(&f, &items->item[k]);
    sni_pool_free(&f.pool);
  }
  if (s->errors.count == 0) {
    warn_unused(&f);
  }
  sni_pool_free(&f.pool);
  s->pool.out_of_memory = s->pool.out_of_memory || f.pool.out_of_memory || f.failed;
}
