/* decode_map.c: maps: known and missing keys, keys that depend on a type, keys from other maps.
 *
 * A map may be completed by `defaults`, or lie over another map (`repeat`).  Whether such a map is
 * complete, and whether its keys fit the type that came from below, cannot be seen in the map
 * itself, so these problems are semantic.  Its own keys are still checked by themselves: each must
 * be right for at least one kind. */
#include "io/decode.h"

#include <stdio.h>
#include <string.h>

#include "io/words.h"

/* ---- unknown and missing keys ---------------------------------------------------------------- */

static void list_word(char *list, size_t size, const char *word) {
  const size_t n = strlen(list);
  snprintf(list + n, size - n, "%s%s", n ? ", " : "", word);
}

static void fail_unknown(sni_decoder *d, const sni_node *entry, const sni_keys *keys,
                         const char *also) {
  char known[400] = "", guess[64] = "";
  sni_suggestion near = {.word = entry->key};
  if (sni_decode_fail_unseen(d)) {
    return;
  }
  const bool first = also && strcmp(also, "type") == 0;
  if (also) {
    if (first) {
      list_word(known, sizeof known, also);
    }
    sni_suggest(&near, also);
  }
  for (int i = 0; i < keys->count; i++) {
    const char *key = keys->item[i].field->key;
    if (sni_keys_find(keys, key) == &keys->item[i]) { /* once only */
      list_word(known, sizeof known, key);
      sni_suggest(&near, key);
    }
  }
  if (also && !first) {
    list_word(known, sizeof known, also);
  }
  if (near.best) {
    snprintf(guess, sizeof guess, " (did you mean '%s'?)", near.best);
  }
  sni_decode_fail_key(d, SN_E_SYNTAX, entry, "unknown key '%s'%s, known: %s",
                      sni_show(entry->key).text, guess, known);
}

bool sni_decode_unknown(sni_decoder *d, const sni_node *map, const sni_keys *keys,
                        const char *also) {
  bool good = true;
  for (size_t i = 0; i < sni_node_count(map); i++) {
    const sni_node *entry = sni_node_at(map, i);
    if (!sni_keys_find(keys, entry->key) && !(also && strcmp(entry->key, also) == 0)) {
      fail_unknown(d, entry, keys, also);
      good = false;
    }
  }
  return good;
}

static void fail_missing(sni_decoder *d, const sni_layers *layers, const sni_field *field) {
  sni_decode_fail(d, layers->count > 1 ? SN_E_VALUE : SN_E_SYNTAX, layers->node[0],
                  "needs the key '%s': %s", field->key, field->doc);
}

/* ---- layers ---------------------------------------------------------------------------------- */

sni_layers sni_decode_layers(const sni_decoder *d, const sni_node *node, int default_id) {
  sni_layers layers = {.node = {node}, .count = 1};
  const sni_node *below = d->defaults ? d->defaults->node[default_id] : NULL;
  if (below && !d->relaxed) {
    layers.node[layers.count++] = below;
    layers.broken = d->defaults->broken[default_id];
  }
  return layers;
}

/* Remembers that an entry of `defaults` was of use. */
static void mark_used(sni_decoder *d, const sni_node *map, const sni_node *entry) {
  for (int id = 0; d->defaults && id < SNI_DEFAULT_COUNT; id++) {
    for (size_t i = 0; d->defaults->node[id] == map && i < sni_node_count(map); i++) {
      if (sni_node_at(map, i) == entry && d->defaults->used[id]) {
        d->defaults->used[id][i] = true;
      }
    }
  }
}

static const sni_node *find_in_layers(sni_decoder *d, const sni_layers *layers, const char *key,
                                      int *level) {
  for (int l = 0; l < layers->count && !(l > 0 && layers->broken); l++) {
    const sni_node *entry = sni_node_get(layers->node[l], key);
    if (entry) {
      mark_used(d, layers->node[l], entry);
      *level = l;
      return entry;
    }
  }
  return NULL;
}

/* Decodes all keys that are there, and misses those that are not.  fitted: the map's own keys were
 * checked before and are now made to fit a type that came from below. */
static bool decode_keys(sni_decoder *d, const sni_layers *layers, const sni_keys *keys, bool fitted,
                        bool may_lack, void *def) {
  bool good = true;
  for (int i = 0; i < keys->count; i++) {
    const sni_field *field = keys->item[i].field;
    int level = 0;
    const sni_node *entry = find_in_layers(d, layers, field->key, &level);
    if (!entry) {
      if ((field->flags & SNI_REQUIRED) && !layers->broken && !may_lack) {
        fail_missing(d, layers, field);
        good = false;
      }
      continue;
    }
    const bool semantic = d->semantic;
    const size_t before = sni_path_key(d, field->key);
    d->semantic = semantic || fitted || level > 0;
    good = sni_decode_value(d, field, entry, (char *)def + keys->item[i].base) && good;
    d->semantic = semantic;
    sni_path_back(d, before);
  }
  return good;
}

static bool check_map(sni_decoder *d, const sni_node *node, const char *what) {
  if (node->kind == SNI_NODE_MAPPING) {
    return true;
  }
  sni_decode_fail_type(d, node, what);
  return false;
}

bool sni_decode_map(sni_decoder *d, const sni_keys *keys, const sni_node *node, void *def) {
  char known[128] = "", what[160];
  for (int i = 0; i < keys->count; i++) {
    list_word(known, sizeof known, keys->item[i].field->key);
  }
  snprintf(what, sizeof what, "a map with the keys %s", known);
  if (!check_map(d, node, what)) {
    return false;
  }
  const bool all_known = sni_decode_unknown(d, node, keys, NULL);
  const sni_layers layers = {.node = {node}, .count = 1};
  return decode_keys(d, &layers, keys, false, false, def) && all_known;
}

bool sni_decode_table(sni_decoder *d, const sni_table *table, const sni_node *node, void *def) {
  if (!table) {
    return check_map(d, node, "a map"); /* open: nobody knows its keys yet */
  }
  if (table->enabled_offset > 0) {
    *(bool *)((char *)def + table->enabled_offset - 1) = true;
  }
  sni_keys keys;
  sni_keys_of_table(table, &keys);
  return sni_decode_map(d, &keys, node, def);
}

/* ---- maps with a type ------------------------------------------------------------------------ */

/* The kinds of a family, and the one that was probably meant. */
static void list_kinds(sni_role role, char *known, size_t size, sni_suggestion *near) {
  const sni_family *family = sni_role_family(role);
  const sni_kind *kind;
  for (int k = 0; (kind = family->kind(k)) != NULL; k++) {
    list_word(known, size, kind->keyword);
    sni_suggest(near, kind->keyword);
  }
}

static void fail_kind(sni_decoder *d, sni_role role, const sni_node *node) {
  char known[400] = "", guess[64] = "";
  sni_suggestion near = {.word = node->kind == SNI_NODE_SCALAR ? node->text : ""};
  const char *family = sni_role_family(role)->name;
  if (sni_decode_fail_unseen(d)) {
    return;
  }
  list_kinds(role, known, sizeof known, &near);
  if (near.best) {
    snprintf(guess, sizeof guess, " (did you mean '%s'?)", near.best);
  }
  if (node->kind != SNI_NODE_SCALAR || sni_node_is_null(node)) {
    char what[440];
    snprintf(what, sizeof what, "a kind of %s: %s", family, known);
    sni_decode_fail_type(d, node, what);
  } else {
    sni_decode_fail(d, SN_E_SYNTAX, node, "'%s' is no kind of %s%s, known: %s",
                    sni_show(node->text).text, family, guess, known);
  }
}

static void fail_no_kind(sni_decoder *d, sni_role role, const sni_layers *layers) {
  char known[400] = "";
  list_kinds(role, known, sizeof known, &(sni_suggestion){.word = ""});
  sni_decode_fail(d, layers->count > 1 ? SN_E_VALUE : SN_E_SYNTAX, layers->node[0],
                  "needs the key 'type', a kind of %s: %s", sni_role_family(role)->name, known);
}

/* The kind that a type names; NULL with a message if it names none. */
static const sni_kind *decode_type(sni_decoder *d, sni_role role, const sni_node *node) {
  const bool word = node->kind == SNI_NODE_SCALAR && !sni_node_is_null(node);
  const sni_kind *kind = word ? sni_role_kind(role, node->text) : NULL;
  if (!kind) {
    const size_t before = sni_path_key(d, "type");
    fail_kind(d, role, node);
    sni_path_back(d, before);
  }
  return kind;
}

/* Is the value right for one meaning of the key at least?  What is wrong in the end goes to the
 * errors: nothing structural if the answer is yes. */
static bool check_any(sni_decoder *d, const sni_node *entry, const sni_keys *all, size_t size) {
  sni_error_list *errors = d->errors, first = {0};
  const bool semantic = d->semantic;
  bool right = false;
  int tried = 0;
  for (int i = 0; i < all->count && !right; i++) {
    if (strcmp(all->item[i].field->key, entry->key) != 0) {
      continue;
    }
    sni_error_list trial = {0};
    void *scratch = sni_pool_take(d->pool, 1, size);
    if (!scratch) {
      break;
    }
    d->errors = &trial;
    d->semantic = false;
    const size_t before = sni_path_key(d, entry->key);
    sni_decode_value(d, all->item[i].field, entry, (char *)scratch + all->item[i].base);
    sni_path_back(d, before);
    right = true;
    for (int k = 0; k < trial.count; k++) {
      right = right && trial.item[k].code != SN_E_SYNTAX;
    }
    if (right || tried++ == 0) {
      sni_error_list_free(&first);
      first = trial;
    } else {
      sni_error_list_free(&trial);
    }
  }
  d->errors = errors;
  d->semantic = semantic;
  for (int k = 0; k < first.count; k++) {
    if (semantic && first.item[k].code == SN_E_SYNTAX) {
      first.item[k].code = SN_E_VALUE;
    }
    sni_error_list_add(errors, &first.item[k]);
  }
  sni_error_list_free(&first);
  return right;
}

/* Own keys of a map whose type is elsewhere (kind), or nowhere at all (NULL). */
static bool check_untyped(sni_decoder *d, sni_role role, const sni_node *map,
                          const sni_kind *kind) {
  sni_keys all, fit;
  sni_keys_of_role(role, &all);
  bool good = sni_decode_unknown(d, map, &all, "type");
  if (kind) {
    sni_keys_of_kind(role, kind, &fit);
  }
  for (size_t i = 0; i < sni_node_count(map); i++) {
    const sni_node *entry = sni_node_at(map, i);
    if (strcmp(entry->key, "type") == 0 || !sni_keys_find(&all, entry->key)) {
      continue;
    }
    const int count = d->errors->count + d->errors->dropped;
    if (!check_any(d, entry, &all, sni_role_size(role))) {
      good = false;
    } else if (kind && !sni_keys_find(&fit, entry->key)) {
      sni_decode_fail_key(d, SN_E_VALUE, entry, "a %s %s has no key '%s'", kind->keyword,
                          sni_role_family(role)->name, entry->key);
    }
    good = good && d->errors->count + d->errors->dropped == count;
  }
  return good;
}

bool sni_decode_kind(sni_decoder *d, sni_role role, const sni_layers *layers, void *def) {
  const sni_node *own = layers->node[0];
  char what[64];
  snprintf(what, sizeof what, "a map with the keys of a %s", sni_role_name(role));
  if (!check_map(d, own, what)) {
    return false;
  }
  int level = 0;
  const sni_node *type = find_in_layers(d, layers, "type", &level);
  const sni_kind *kind = type ? decode_type(d, role, type) : NULL;
  if (type && !kind) {
    return false; /* which keys are right depends on it */
  }
  bool good = true;
  if (!type && !d->relaxed && !layers->broken) {
    fail_no_kind(d, role, layers);
    good = false;
  }
  const bool untyped = !type || level > 0;
  if (untyped && !check_untyped(d, role, own, kind)) {
    good = false;
  }
  if (!kind) {
    return good && d->relaxed;
  }
  sni_keys keys;
  sni_keys_of_kind(role, kind, &keys);
  if (!untyped && !sni_decode_unknown(d, own, &keys, "type")) {
    good = false;
  }
  *(const char **)((char *)def + sni_role_type_offset(role)) = kind->keyword;
  if (untyped && !good) {
    return false; /* said already */
  }
  return decode_keys(d, layers, &keys, untyped, d->relaxed, def) && good;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

bool sni_decode_body(sni_decoder *d, const sni_node *node, sn_body_def *def) {
  if (!check_map(d, node, "a map with the keys of a body")) {
    return false;
  }
  const sni_layers layers = sni_decode_layers(d, node, SNI_DEFAULT_BODY);
  sni_keys keys;
  sni_keys_of_table(&sni_body_table, &keys);
  const bool known = sni_decode_unknown(d, node, &keys, "repeat");
  def->joint.type = NULL;
  const bool good = decode_keys(d, &layers, &keys, false, d->relaxed, def) && known;
  /* only what has no parent either can hang by a loop */
  const bool needs_joint = def->parent || sni_node_get(node, "repeat");
  int level = 0;
  if (needs_joint && !find_in_layers(d, &layers, "joint", &level) && !d->relaxed &&
      !layers.broken) {
    sni_decode_fail(d, SN_E_VALUE, node,
                    "needs the key 'joint': how it moves relative to its parent");
    return false;
  }
  return good;
}

bool sni_decode_repeat(sni_decoder *d, const sni_node *node, sni_repeat_def *def,
                       const sni_node **joint) {
  if (!check_map(d, node, "a map with the keys count, joint")) {
    return false;
  }
  sni_keys keys;
  sni_keys_of_table(&sni_repeat_table, &keys);
  const bool known = sni_decode_unknown(d, node, &keys, "joint");
  const sni_layers layers = {.node = {node}, .count = 1};
  const sni_node *count = sni_node_get(node, "count");
  *joint = sni_node_get(node, "joint");
  if (!count) {
    fail_missing(d, &layers, keys.item[0].field);
    return false;
  }
  const size_t before = sni_path_key(d, "count");
  const bool good = sni_decode_integer(d, count, SNI_POSITIVE, SNI_BODIES_MAX, &def->count);
  sni_path_back(d, before);
  return good && known;
}

void sni_decode_spare_fixed(const sni_node *joint, const sni_node *over, sn_joint_def *def) {
  const bool own = sni_node_get(joint, "friction") || sni_node_get(over, "friction");
  if (!own && def->type && strcmp(def->type, "fixed") == 0) {
    def->friction = sn_joint_def_default().friction;
  }
}

bool sni_decode_joint_over(sni_decoder *d, const sni_node *over, const sni_node *joint, bool broken,
                           sn_joint_def *def) {
  sni_layers layers = sni_decode_layers(d, over, SNI_DEFAULT_JOINT);
  if (joint) {
    layers.node[2] = layers.node[1];
    layers.node[1] = joint;
    layers.count++;
  }
  layers.broken = layers.broken || broken || !joint;
  const bool good = sni_decode_kind(d, SNI_ROLE_JOINT, &layers, def);
  sni_decode_spare_fixed(joint, over, def);
  return good;
}

/* ---- lists of maps --------------------------------------------------------------------------- */

static bool check_list(sni_decoder *d, const sni_node *node, size_t least, const char *what) {
  if (node->kind != SNI_NODE_SEQUENCE) {
    sni_decode_fail_type(d, node, what);
    return false;
  }
  if (sni_node_count(node) < least) {
    sni_decode_fail(d, SN_E_SYNTAX, node, "is an empty list, needs %s", what);
    return false;
  }
  return true;
}

bool sni_decode_parts(sni_decoder *d, const sni_node *node, const sn_joint_def **array,
                      int *count) {
  if (!check_list(d, node, 1, "a list of joints")) {
    return false;
  }
  const size_t n = sni_node_count(node);
  sn_joint_def *part = sni_pool_take(d->pool, n, sizeof *part);
  const bool relaxed = d->relaxed;
  bool good = part != NULL;
  d->relaxed = false; /* parts are always complete: nothing lies below them */
  for (size_t i = 0; part && i < n; i++) {
    part[i] = sn_joint_def_default();
    const size_t before = sni_path_index(d, i);
    const sni_layers layers = {.node = {sni_node_at(node, i)}, .count = 1};
    good = sni_decode_kind(d, SNI_ROLE_PART, &layers, &part[i]) && good;
    sni_path_back(d, before);
  }
  d->relaxed = relaxed;
  if (good) {
    *array = part;
    *count = (int)n;
  }
  return good;
}

bool sni_decode_shapes(sni_decoder *d, const sni_node *node, const sn_shape_def **array,
                       int *count) {
  if (!check_list(d, node, 0, "a list of shapes")) {
    return false;
  }
  const size_t n = sni_node_count(node);
  sn_shape_def *shape = sni_pool_take(d->pool, n, sizeof *shape);
  bool good = shape != NULL;
  for (size_t i = 0; shape && i < n; i++) {
    shape[i] = sn_shape_def_default();
    const size_t before = sni_path_index(d, i);
    const sni_layers layers = sni_decode_layers(d, sni_node_at(node, i), SNI_DEFAULT_SHAPE);
    good = sni_decode_kind(d, SNI_ROLE_SHAPE, &layers, &shape[i]) && good;
    sni_path_back(d, before);
  }
  if (good) {
    *array = shape;
    *count = (int)n;
  }
  return good;
}

/* ---- defaults -------------------------------------------------------------------------------- */

bool sni_decode_default(sni_decoder *d, int default_id, const sni_node *node) {
  if (!check_map(d, node, "a map")) {
    return false;
  }
  const bool relaxed = d->relaxed;
  bool good;
  d->relaxed = true;
  if (default_id == SNI_DEFAULT_BODY) {
    sn_body_def scratch = sn_body_def_default();
    sni_keys keys;
    sni_keys_of_table(&sni_body_table, &keys);
    const sni_layers layers = {.node = {node}, .count = 1};
    good = sni_decode_unknown(d, node, &keys, NULL);
    good = decode_keys(d, &layers, &keys, false, true, &scratch) && good;
  } else {
    const sni_role role = sni_default_role(default_id);
    const sni_node *type = sni_node_get(node, "type");
    good = !type || decode_type(d, role, type);
    good = check_untyped(d, role, node, NULL) && good;
  }
  d->relaxed = relaxed;
  return good;
}
