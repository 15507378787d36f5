/* keys.c: the outline of a scene file: which maps there are and which keys each of them has. */
#include "io/keys.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* ---- lists of keys --------------------------------------------------------------------------- */

static void add_key(sni_keys *keys, const sni_field *field, size_t base) {
  SN_ASSERT(keys->count < SNI_KEYS_MAX);
  if (keys->count < SNI_KEYS_MAX) {
    keys->item[keys->count++] = (sni_key){field, base};
  }
}

static void add_fields(sni_keys *keys, const sni_field *field, int count, size_t base) {
  for (int i = 0; i < count; i++) {
    add_key(keys, &field[i], base);
  }
}

void sni_keys_of_table(const sni_table *table, sni_keys *out) {
  out->count = 0;
  add_fields(out, table->field, table->count, 0);
}

const sni_key *sni_keys_find(const sni_keys *keys, const char *key) {
  for (int i = 0; i < keys->count; i++) {
    if (strcmp(keys->item[i].field->key, key) == 0) {
      return &keys->item[i];
    }
  }
  return NULL;
}

/* ---- maps with a type ------------------------------------------------------------------------ */

static const struct {
  const char *name;
  size_t size, type_offset;
} role_info[SNI_ROLE_COUNT] = {
    [SNI_ROLE_JOINT] = {"joint", sizeof(sn_joint_def), offsetof(sn_joint_def, type)},
    [SNI_ROLE_PART] = {"part", sizeof(sn_joint_def), offsetof(sn_joint_def, type)},
    [SNI_ROLE_LOOP] = {"loop", sizeof(sn_loop_def), offsetof(sn_loop_def, joint.type)},
    [SNI_ROLE_SHAPE] = {"shape", sizeof(sn_shape_def), offsetof(sn_shape_def, type)},
    [SNI_ROLE_FORCE] = {"force", sizeof(sn_force_def), offsetof(sn_force_def, type)},
    [SNI_ROLE_CONSTRAINT] = {"constraint", sizeof(sn_constraint_def),
                             offsetof(sn_constraint_def, type)}};

const sni_family *sni_role_family(sni_role role) {
  return role == SNI_ROLE_SHAPE        ? sni_shape_family()
         : role == SNI_ROLE_FORCE      ? sni_force_family()
         : role == SNI_ROLE_CONSTRAINT ? sni_constraint_family()
                                       : sni_joint_family();
}

const char *sni_role_name(sni_role role) {
  return role_info[role].name;
}

size_t sni_role_size(sni_role role) {
  return role_info[role].size;
}

size_t sni_role_type_offset(sni_role role) {
  return role_info[role].type_offset;
}

const sni_kind *sni_role_kind(sni_role role, const char *keyword) {
  const sni_family *family = sni_role_family(role);
  const sni_kind *kind;
  for (int k = 0; (kind = family->kind(k)) != NULL; k++) {
    if (strcmp(kind->keyword, keyword) == 0) {
      return kind;
    }
  }
  return NULL;
}

void sni_keys_of_kind(sni_role role, const sni_kind *kind, sni_keys *out) {
  const sni_table *common = &sni_role_family(role)->common;
  out->count = 0;
  switch (role) {
  case SNI_ROLE_PART:
    add_fields(out, kind->field, kind->count, 0);
    for (int i = 0; i < common->count; i++) {
      if (strcmp(kind->keyword, "fixed") == 0 && strcmp(common->field[i].key, "at") == 0) {
        add_key(out, &common->field[i], 0); /* fixed parts place the others */
      }
    }
    break;
  case SNI_ROLE_LOOP:
    for (int i = 0; i < sni_loop_table.count; i++) {
      if (sni_loop_table.field[i].type != SNI_F_JOINT) {
        add_key(out, &sni_loop_table.field[i], 0);
      }
    }
    add_fields(out, kind->field, kind->count, offsetof(sn_loop_def, joint));
    for (int i = 0; i < common->count; i++) {
      if (strcmp(common->field[i].key, "at") != 0) { /* each side has its own */
        add_key(out, &common->field[i], offsetof(sn_loop_def, joint));
      }
    }
    break;
  default:
    add_fields(out, kind->field, kind->count, 0);
    add_fields(out, common->field, common->count, 0);
    break;
  }
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

bool sni_keys_equal(const sni_key *a, const sni_key *b) {
  const sni_field *x = a->field, *y = b->field;
  const unsigned range = SNI_POSITIVE | SNI_NOT_NEGATIVE;
  return strcmp(x->key, y->key) == 0 && x->type == y->type && x->table == y->table &&
         (x->flags & range) == (y->flags & range) && same_text(x->choices, y->choices);
}

void sni_keys_of_role(sni_role role, sni_keys *out) {
  const sni_family *family = sni_role_family(role);
  const sni_kind *kind;
  out->count = 0;
  for (int k = 0; (kind = family->kind(k)) != NULL; k++) {
    sni_keys keys;
    sni_keys_of_kind(role, kind, &keys);
    for (int i = 0; i < keys.count; i++) {
      bool known = false;
      for (int j = 0; j < out->count && !known; j++) {
        known = sni_keys_equal(&keys.item[i], &out->item[j]);
      }
      if (!known) {
        add_key(out, keys.item[i].field, keys.item[i].base);
      }
    }
  }
}

/* ---- the top, sections and defaults
 * ------------------------------------------------------------------- */

sni_head_def sni_head_def_default(const char *up) {
  const double g = 9.81; /* m/s^2 */
  const bool y = strcmp(up, "y") == 0;
  return (sni_head_def){.up = up, .gravity = y ? (sn_vec3){0, -g, 0} : (sn_vec3){0, 0, -g}};
}

const sni_section *sni_section_get(int id) {
  static const sni_section section[SNI_SECTION_COUNT] = {
      [SNI_BODIES] = {"bodies", "body", &sni_body_table, SNI_ROLE_COUNT,
                      "rigid bodies by name, in any order; world is the ground"},
      [SNI_CONTACTS] = {"contacts", "contact", &sni_contact_table, SNI_ROLE_COUNT,
                        "contact materials by name; only shapes that name one collide"},
      [SNI_TUBES] = {"tubes", "tube", &sni_tube_table, SNI_ROLE_COUNT,
                     "tubes along bodies that touch themselves and each other, by name"},
      [SNI_LOOPS] = {"loops", "loop", NULL, SNI_ROLE_LOOP,
                     "joints that close loops, by name: the keys of a joint and two sides"},
      [SNI_CONSTRAINTS] = {"constraints", "constraint", NULL, SNI_ROLE_CONSTRAINT,
                           "distances, welds, gears, rolling and the like, by name"},
      [SNI_FORCES] = {"forces", "force", NULL, SNI_ROLE_FORCE, "springs, forces, torques by name"},
      [SNI_MOTIONS] = {"motions", "motion", &sni_motion_table, SNI_ROLE_COUNT,
                       "joints, bodies and points that follow functions of time, by name"},
      [SNI_INITIAL] = {"initial", "initial", &sni_initial_table, SNI_ROLE_COUNT,
                       "where bodies start, by the body's name; the rest starts at 0"}};
  return id >= 0 && id < SNI_SECTION_COUNT ? &section[id] : NULL;
}

const char *sni_default_key(int id) {
  static const char *const key[SNI_DEFAULT_COUNT] = {[SNI_DEFAULT_BODY] = "body",
                                                     [SNI_DEFAULT_JOINT] = "joint",
                                                     [SNI_DEFAULT_SHAPE] = "shape",
                                                     [SNI_DEFAULT_FORCE] = "force"};
  return id >= 0 && id < SNI_DEFAULT_COUNT ? key[id] : NULL;
}

sni_role sni_default_role(int id) {
  return id == SNI_DEFAULT_JOINT   ? SNI_ROLE_JOINT
         : id == SNI_DEFAULT_SHAPE ? SNI_ROLE_SHAPE
         : id == SNI_DEFAULT_FORCE ? SNI_ROLE_FORCE
                                   : SNI_ROLE_COUNT;
}

/* ---- choices --------------------------------------------------------------------------------- */

bool sni_choice_get(const char *choices, int k, sni_choice *out) {
  for (; k > 0; k--) {
    choices = strchr(choices, '|');
    if (!choices) {
      return false;
    }
    choices++;
  }
  snprintf(out->word, sizeof out->word, "%.*s", (int)strcspn(choices, "|"), choices);
  return true;
}

void sni_keys_of_run(sni_pool *pool, sni_keys *out) {
  sni_keys_of_table(&sni_run_table, out);
  const sni_key *method = sni_keys_find(out, "method");
  sni_choice choice;
  for (int k = 0; method && sni_choice_get(method->field->choices, k, &choice); k++) {
    if (!sni_keys_find(out, choice.word)) {
      sni_field *field = sni_pool_take(pool, 1, sizeof *field);
      const char *key = sni_pool_text(pool, choice.word);
      if (field && key) {
        *field = (sni_field){.key = key,
                             .type = SNI_F_TABLE,
                             .doc = "options of the method, not checked by this version"};
        add_key(out, field, 0);
      }
    }
  }
}

const char *sni_top_key(int k) {
  static const char *const key[] = {"sinew",       "units",  "up",       "gravity", "defaults",
                                    "use",         "bodies", "contacts", "tubes",   "loops",
                                    "constraints", "forces", "motions",  "initial", "run"};
  return k >= 0 && k < SNI_COUNT(key) ? key[k] : NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The length of the plain name at the beginning of text. */
static size_t name_length(const char *text) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                                "0123456789-";
  const char first = text[0];
  return (first >= '0' && first <= '9') || first == '-' ? 0 : strspn(text, letters);
}

bool sni_name_is_plain(const char *text) {
  const size_t n = name_length(text);
  return n > 0 && text[n] == 0;
}

bool sni_name_is_reference(const char *text) {
  size_t n = name_length(text);
  while (n > 0 && text[n] == '/') {
    text += n + 1;
    n = name_length(text);
  }
  return n > 0 && text[n] == 0;
}

bool sni_name_is_prefix(const char *text) {
  size_t n = name_length(text);
  while (n > 0 && text[n] == '/' && text[n + 1]) {
    text += n + 1;
    n = name_length(text);
  }
  return n > 0 && text[n] == '/';
}
