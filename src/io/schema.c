/* schema.c: the JSON Schema of scene files.
 *
 * It refuses exactly what the reader calls structural.  Draft 7, which the YAML plugins of editors
 * know best.
 *
 * A body, joint, shape or force may get its required keys from `defaults`, so what is required is
 * kept apart (joint_required, ...) and applies when there are no such defaults.  A map without a
 * type takes the keys of all kinds (joint_any, ...). */
#include "io/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/describe.h"
#include "io/schema_value.h"

#define TABLES_MAX 64

typedef struct schema {
  sni_json json;
  sni_pool pool;
  const sni_table *table[TABLES_MAX]; /* have a definition already */
  int table_count;
} schema;

/* ---- maps ------------------------------------------------------------------------------------ */

static void put_required(sni_json *j, const sni_keys *keys, bool type) {
  bool any = type;
  for (int i = 0; i < keys->count; i++) {
    any = any || (keys->item[i].field->flags & SNI_REQUIRED);
  }
  if (!any) {
    return;
  }
  sni_json_open(j, "required", "[");
  if (type) {
    sni_json_text(j, NULL, "type");
  }
  for (int i = 0; i < keys->count; i++) {
    if (keys->item[i].field->flags & SNI_REQUIRED) {
      sni_json_text(j, NULL, keys->item[i].field->key);
    }
  }
  sni_json_close(j, "]");
}

/* A key that means different things in different kinds takes any of them. */
static void put_meanings(sni_json *j, const sni_keys *keys, const char *key) {
  sni_json_open(j, key, "{");
  sni_json_open(j, "anyOf", "[");
  for (int i = 0; i < keys->count; i++) {
    if (strcmp(keys->item[i].field->key, key) == 0) {
      sni_json_open(j, NULL, "{");
      sni_schema_value(j, keys->item[i].field);
      sni_json_close(j, "}");
    }
  }
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}

static void put_properties(sni_json *j, const sni_keys *keys, const void *def) {
  for (int i = 0; i < keys->count; i++) {
    const sni_key *key = &keys->item[i];
    int meanings = 0;
    for (int k = 0; k < keys->count; k++) {
      meanings += strcmp(keys->item[k].field->key, key->field->key) == 0;
    }
    if (meanings == 1) {
      sni_schema_field(j, key->field, def ? (const char *)def + key->base : NULL);
    } else if (sni_keys_find(keys, key->field->key) == key) {
      put_meanings(j, keys, key->field->key);
    }
  }
}

static void define_tables(schema *s, const sni_keys *keys, const void *def);

static void define_table(schema *s, const sni_table *table, const void *def) {
  for (int k = 0; k < s->table_count; k++) {
    if (s->table[k] == table) {
      return;
    }
  }
  if (s->table_count < TABLES_MAX) {
    s->table[s->table_count++] = table;
  }
  sni_json *j = &s->json;
  sni_keys keys;
  sni_keys_of_table(table, &keys);
  sni_json_open(j, table->name, "{");
  sni_json_text(j, "description", table->doc);
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  put_properties(j, &keys, def);
  sni_json_close(j, "}");
  put_required(j, &keys, false);
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
  define_tables(s, &keys, def);
}

/* Definitions of the maps inside a map. */
static void define_tables(schema *s, const sni_keys *keys, const void *def) {
  for (int i = 0; i < keys->count; i++) {
    const sni_field *field = keys->item[i].field;
    if (field->type == SNI_F_TABLE && field->table) {
      const char *base = def ? (const char *)def + keys->item[i].base : NULL;
      define_table(s, field->table, base ? base + field->offset : NULL);
    }
  }
}

/* ---- maps with a type ------------------------------------------------------------------------ */

static void put_type(sni_json *j, sni_role role) {
  const sni_family *family = sni_role_family(role);
  const sni_kind *kind;
  sni_json_open(j, "type", "{");
  sni_json_text(j, "description", family->common.doc);
  sni_json_open(j, "enum", "[");
  for (int k = 0; (kind = family->kind(k)) != NULL; k++) {
    sni_json_text(j, NULL, kind->keyword);
  }
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}

/* {"if": {"properties": {"type": {"const": KIND}}}, "then": ... */
static void open_if_kind(sni_json *j, const sni_kind *kind) {
  sni_json_open(j, NULL, "{");
  sni_json_open(j, "if", "{");
  sni_json_open(j, "properties", "{");
  sni_json_raw(j, "type", "{\"const\": \"%s\"}", kind->keyword);
  sni_json_close(j, "}");
  sni_json_close(j, "}");
  sni_json_open(j, "then", "{");
}

static void close_if_kind(sni_json *j) {
  sni_json_close(j, "}");
  sni_json_close(j, "}");
}

/* Is nothing completed by defaults? */
static bool is_strict(sni_role role) {
  return role == SNI_ROLE_PART || role == SNI_ROLE_LOOP || role == SNI_ROLE_CONSTRAINT;
}

static void define_kind(schema *s, sni_role role, const sni_kind *kind, const void *def) {
  sni_json *j = &s->json;
  char name[64];
  sni_keys keys;
  snprintf(name, sizeof name, "%s_%s", sni_role_name(role), kind->keyword);
  sni_keys_of_kind(role, kind, &keys);
  sni_json_open(j, name, "{");
  sni_json_text(j, "description", kind->doc);
  sni_json_open(j, "properties", "{");
  sni_json_raw(j, "type", "{\"const\": \"%s\"}", kind->keyword);
  put_properties(j, &keys, def);
  sni_json_close(j, "}");
  if (is_strict(role)) {
    put_required(j, &keys, false);
  }
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
  define_tables(s, &keys, def);
}

/* NAME_any: the keys of all kinds. */
static void define_any(schema *s, sni_role role, const void *def) {
  sni_json *j = &s->json;
  char name[64];
  sni_keys keys;
  snprintf(name, sizeof name, "%s_any", sni_role_name(role));
  sni_keys_of_role(role, &keys);
  sni_json_open(j, name, "{");
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  put_type(j, role);
  put_properties(j, &keys, def);
  sni_json_close(j, "}");
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
}

/* NAME_required: what must be there. */
static void define_required(schema *s, sni_role role) {
  sni_json *j = &s->json;
  const sni_family *family = sni_role_family(role);
  const sni_kind *kind;
  char name[64];
  snprintf(name, sizeof name, "%s_required", sni_role_name(role));
  sni_json_open(j, name, "{");
  sni_json_raw(j, "required", "[\"type\"]");
  sni_json_open(j, "allOf", "[");
  for (int k = 0; (kind = family->kind(k)) != NULL; k++) {
    sni_keys keys;
    sni_keys_of_kind(role, kind, &keys);
    open_if_kind(j, kind);
    put_required(j, &keys, false);
    close_if_kind(j);
  }
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}

static void define_role(schema *s, sni_role role) {
  sni_json *j = &s->json;
  const sni_family *family = sni_role_family(role);
  const sni_kind *kind;
  sni_any_def room;
  const void *def = sni_default_of_role(role, &room);
  char name[64];
  sni_json_open(j, sni_role_name(role), "{");
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  put_type(j, role);
  sni_json_close(j, "}");
  if (is_strict(role)) {
    sni_json_raw(j, "required", "[\"type\"]");
  }
  sni_json_raw(j, "if", "{\"required\": [\"type\"]}");
  sni_json_open(j, "then", "{");
  sni_json_open(j, "allOf", "[");
  for (int k = 0; (kind = family->kind(k)) != NULL; k++) {
    open_if_kind(j, kind);
    snprintf(name, sizeof name, "%s_%s", sni_role_name(role), kind->keyword);
    sni_schema_ref(j, name);
    close_if_kind(j);
  }
  sni_json_close(j, "]");
  sni_json_close(j, "}");
  if (!is_strict(role)) {
    snprintf(name, sizeof name, "%s_any", sni_role_name(role));
    sni_json_open(j, "else", "{");
    sni_schema_ref(j, name);
    sni_json_close(j, "}");
  }
  sni_json_close(j, "}");
  for (int k = 0; (kind = family->kind(k)) != NULL; k++) {
    define_kind(s, role, kind, def);
  }
  if (!is_strict(role)) {
    define_any(s, role, def);
    define_required(s, role);
  }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void put_repeat(sni_json *j) {
  sni_json_open(j, "repeat", "{");
  sni_json_text(j, "description", sni_repeat_table.doc);
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  sni_json_open(j, "count", "{");
  sni_json_text(j, "description", sni_repeat_table.field[0].doc);
  sni_schema_integer(j, SNI_POSITIVE, SNI_BODIES_MAX);
  sni_json_close(j, "}");
  sni_json_open(j, "joint", "{");
  sni_json_text(j, "description", SNI_REPEAT_JOINT_DOC);
  sni_schema_value(j, &(sni_field){.type = SNI_F_JOINT});
  sni_json_close(j, "}");
  sni_json_close(j, "}");
  sni_json_raw(j, "required", "[\"count\"]");
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
}

static void define_body(schema *s, const char *name, bool repeat) {
  sni_json *j = &s->json;
  sni_keys keys;
  sni_any_def room;
  sni_keys_of_table(&sni_body_table, &keys);
  sni_json_open(j, name, "{");
  sni_json_text(j, "description", sni_body_table.doc);
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  put_properties(j, &keys, sni_default_of_table(&sni_body_table, &room));
  if (repeat) {
    put_repeat(j);
  }
  sni_json_close(j, "}");
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
}

static void define_body_required(schema *s) {
  sni_keys keys;
  sni_keys_of_table(&sni_body_table, &keys);
  sni_json_open(&s->json, "body_required", "{");
  put_required(&s->json, &keys, false);
  sni_json_close(&s->json, "}");
}

/* ---- the top --------------------------------------------------------------------------------- */

static void put_section(sni_json *j, int id) {
  const sni_section *section = sni_section_get(id);
  sni_json_open(j, section->key, "{");
  sni_json_text(j, "description", section->doc);
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "propertyNames", "{");
  sni_json_text(j, "pattern", id == SNI_INITIAL ? SNI_REFERENCE_PATTERN : SNI_NAME_PATTERN);
  sni_json_close(j, "}");
  sni_json_open(j, "additionalProperties", "{");
  sni_schema_ref(j, section->table ? section->table->name : sni_role_name(section->role));
  sni_json_close(j, "}");
  sni_json_close(j, "}");
}

static void put_defaults(sni_json *j) {
  sni_json_open(j, "defaults", "{");
  sni_json_text(j, "description", "keys for all bodies, joints, shapes, forces of this file");
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  for (int id = 0; id < SNI_DEFAULT_COUNT; id++) {
    char name[64];
    snprintf(name, sizeof name, "%s_any", sni_default_key(id));
    sni_json_open(j, sni_default_key(id), "{");
    sni_schema_ref(j, name);
    sni_json_close(j, "}");
  }
  sni_json_close(j, "}");
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
}

static void put_use(sni_json *j) {
  sni_json_open(j, "use", "{");
  sni_json_text(j, "description", "other scene files as parts of this one");
  sni_json_raw(j, "type", "\"array\"");
  sni_json_open(j, "items", "{");
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  for (int i = 0; i < sni_use_table.count; i++) {
    const sni_field *field = &sni_use_table.field[i];
    if (strcmp(field->key, "prefix") == 0) {
      sni_json_open(j, field->key, "{");
      sni_json_text(j, "description", field->doc);
      sni_json_raw(j, "type", "\"string\"");
      sni_json_text(j, "pattern", SNI_PREFIX_PATTERN);
      sni_json_close(j, "}");
    } else {
      sni_schema_field(j, field, NULL);
    }
  }
  sni_json_close(j, "}");
  sni_json_raw(j, "required", "[\"file\"]");
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
  sni_json_close(j, "}");
}

static void put_run(schema *s) {
  sni_json *j = &s->json;
  sni_keys keys;
  sni_any_def room;
  sni_keys_of_run(&s->pool, &keys);
  sni_json_open(j, "run", "{");
  sni_json_text(j, "description", sni_run_table.doc);
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  put_properties(j, &keys, sni_default_of_table(&sni_run_table, &room));
  sni_json_close(j, "}");
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
}

/* Without defaults of this sort: NAME_required holds, at the end of a path of properties. */
static void put_condition(sni_json *j, int id) {
  sni_json_open(j, NULL, "{");
  sni_json_raw(j, "if",
               "{\"not\": {\"required\": [\"defaults\"], \"properties\": {\"defaults\": "
               "{\"required\": [\"%s\"]}}}}",
               sni_default_key(id));
  sni_json_open(j, "then", "{");
  sni_json_open(j, "properties", "{");
  const char *ref = "{\"$ref\": \"#/definitions/%s_required\"}";
  char text[64];
  snprintf(text, sizeof text, ref, sni_default_key(id));
  if (id == SNI_DEFAULT_FORCE) {
    sni_json_raw(j, "forces", "{\"additionalProperties\": %s}", text);
  } else if (id == SNI_DEFAULT_BODY) {
    sni_json_raw(j, "bodies", "{\"additionalProperties\": %s}", text);
  } else if (id == SNI_DEFAULT_JOINT) {
    sni_json_raw(j, "bodies", "{\"additionalProperties\": {\"properties\": {\"joint\": %s}}}",
                 text);
  } else {
    sni_json_raw(j, "bodies",
                 "{\"additionalProperties\": {\"properties\": {\"shapes\": {\"items\": %s}}}}",
                 text);
  }
  sni_json_close(j, "}");
  sni_json_close(j, "}");
  sni_json_close(j, "}");
}

static void put_top(schema *s) {
  sni_json *j = &s->json;
  const char *key;
  const sni_head_def head = sni_head_def_default("z");
  sni_json_open(j, "properties", "{");
  for (int k = 0; (key = sni_top_key(k)) != NULL; k++) {
    for (int i = 0; i < sni_head_table.count; i++) {
      if (strcmp(sni_head_table.field[i].key, key) == 0) {
        sni_schema_field(j, &sni_head_table.field[i], &head);
      }
    }
    for (int id = 0; id < SNI_SECTION_COUNT; id++) {
      if (strcmp(sni_section_get(id)->key, key) == 0) {
        put_section(j, id);
      }
    }
    if (strcmp(key, "sinew") == 0) {
      sni_json_open(j, key, "{");
      sni_json_text(j, "description", "version of the format");
      sni_json_raw(j, "const", "1");
      sni_json_close(j, "}");
    } else if (strcmp(key, "defaults") == 0) {
      put_defaults(j);
    } else if (strcmp(key, "use") == 0) {
      put_use(j);
    } else if (strcmp(key, "run") == 0) {
      put_run(s);
    }
  }
  sni_json_close(j, "}");
}

static void put_definitions(schema *s) {
  sni_json *j = &s->json;
  sni_any_def room;
  sni_keys keys;
  sni_json_open(j, "definitions", "{");
  sni_schema_value_definitions(j);
  define_table(s, &sni_damping_table, NULL);
  define_table(s, &sni_point_table, NULL);
  define_table(s, &sni_bead_table, NULL);
  define_table(s, &sni_term_table, &(sn_term_def){.factor = 1});
  define_table(s, &sni_coordinate_table, NULL);
  define_table(s, &sni_driven_table, NULL);
  define_table(s, &sni_inertia_table, NULL);
  define_body(s, "body", true);
  define_body(s, "body_any", false);
  define_body_required(s);
  for (int role = 0; role < SNI_ROLE_COUNT; role++) {
    define_role(s, (sni_role)role);
  }
  for (int id = 0; id < SNI_SECTION_COUNT; id++) {
    const sni_table *table = sni_section_get(id)->table;
    if (table && table != &sni_body_table) {
      define_table(s, table, sni_default_of_table(table, &room));
    }
  }
  sni_keys_of_table(&sni_run_table, &keys);
  define_tables(s, &keys, sni_default_of_table(&sni_run_table, &room));
  sni_json_close(j, "}");
}

char *sni_schema_json(void) {
  schema s = {0};
  sni_json *j = &s.json;
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "$schema", "http://json-schema.org/draft-07/schema#");
  sni_json_text(j, "title", "Sinew scene, version 1");
  sni_json_raw(j, "type", "\"object\"");
  put_top(&s);
  sni_json_raw(j, "required", "[\"sinew\"]");
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_open(j, "allOf", "[");
  for (int id = 0; id < SNI_DEFAULT_COUNT; id++) {
    put_condition(j, id);
  }
  sni_json_close(j, "]");
  put_definitions(&s);
  sni_json_close(j, "}");
  sni_text_add(&j->out, "\n");
  char *text = sni_text_take(&j->out);
  if (s.pool.out_of_memory) {
    free(text);
    text = NULL;
  }
  sni_pool_free(&s.pool);
  return text;
}
