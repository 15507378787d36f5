/* reference.c: the reference tables of the manual, in Markdown, from the same tables as the
 * reader. */
#include <stdio.h>
#include <string.h>

#include "io/describe.h"
#include "io/schema.h"
#include "io/text.h"

static void put_head(sni_text *t) {
  sni_text_add(t, "| key | value | default | meaning |\n|---|---|---|---|\n");
}

/* A `|` would end the cell. */
static void put_cell(sni_text *t, const char *text) {
  for (; *text; text++) {
    sni_text_add(t, *text == '|' ? "\\%c" : "%c", *text);
  }
}

static void put_row(sni_text *t, const sni_field *field, const void *def) {
  char value[256], usual[128];
  sni_describe_value(field, value, sizeof value);
  const bool has_default = sni_describe_default(field, def, usual, sizeof usual);
  sni_text_add(t, "| `%s` | ", field->key);
  put_cell(t, value);
  if (field->unit && field->unit[0]) {
    sni_text_add(t, " [%s]", field->unit);
  }
  if (field->flags & SNI_REQUIRED) {
    sni_text_add(t, " | required | ");
  } else {
    sni_text_add(t, has_default ? " | `%s` | " : " | %s | ", has_default ? usual : "");
  }
  put_cell(t, field->doc);
  sni_text_add(t, " |\n");
}

static void put_keys(sni_text *t, const sni_keys *keys, const void *def) {
  put_head(t);
  for (int i = 0; i < keys->count; i++) {
    put_row(t, keys->item[i].field, def ? (const char *)def + keys->item[i].base : NULL);
  }
}

/* The one line of documentation, as a sentence. */
static void put_sentence(sni_text *t, const char *doc, const char *end) {
  const char first = doc[0] >= 'a' && doc[0] <= 'z' ? (char)(doc[0] - 'a' + 'A') : doc[0];
  sni_text_add(t, "%c%s%s", first, doc + 1, end);
}

/* A map and the maps inside it. */
static void put_table(sni_text *t, const char *title, const sni_table *table, const void *def) {
  sni_keys keys;
  sni_keys_of_table(table, &keys);
  sni_text_add(t, "\n### %s\n\n", title);
  put_sentence(t, table->doc, ".\n\n");
  put_keys(t, &keys, def);
  for (int i = 0; i < keys.count; i++) {
    const sni_field *field = keys.item[i].field;
    if (field->type == SNI_F_TABLE && field->table) {
      put_table(t, field->table->name, field->table,
                def ? (const char *)def + field->offset : NULL);
    }
  }
}

static void put_role(sni_text *t, sni_role role, const char *title) {
  const sni_family *family = sni_role_family(role);
  const sni_kind *kind;
  sni_any_def room;
  const void *def = sni_default_of_role(role, &room);
  sni_keys common;
  sni_text_add(t, "\n### %s\n\n", title);
  put_sentence(t, family->common.doc, ". `type` is one of\n\n| type | meaning |\n|---|---|\n");
  for (int k = 0; (kind = family->kind(k)) != NULL; k++) {
    sni_text_add(t, "| `%s` | ", kind->keyword);
    put_cell(t, kind->doc);
    sni_text_add(t, " |\n");
  }
  sni_text_add(t, "\nKeys of every %s:\n\n", family->name);
  sni_keys_of_table(&family->common, &common);
  put_keys(t, &common, def);
  for (int k = 0; (kind = family->kind(k)) != NULL; k++) {
    if (kind->count > 0) {
      sni_keys keys;
      sni_keys_of_table(&(sni_table){.field = kind->field, .count = kind->count}, &keys);
      sni_text_add(t, "\nKeys of `%s` beside these:\n\n", kind->keyword);
      put_keys(t, &keys, def);
    }
  }
  for (int i = 0; i < common.count; i++) {
    const sni_field *field = common.item[i].field;
    if (field->type == SNI_F_TABLE) {
      put_table(t, field->table->name, field->table, (const char *)def + field->offset);
    }
  }
}

static void put_loops(sni_text *t) {
  sni_keys keys = {.count = 0};
  for (int i = 0; i < sni_loop_table.count; i++) {
    if (sni_loop_table.field[i].type != SNI_F_JOINT) {
      keys.item[keys.count++] = (sni_key){&sni_loop_table.field[i], 0};
    }
  }
  sni_text_add(t, "\n### loops\n\n");
  put_sentence(t, sni_loop_table.doc, ": the keys of a joint but for `at`, and\n\n");
  put_keys(t, &keys, NULL);
}

char *sni_schema_markdown(void) {
  sni_text t = {0};
  sni_any_def room;
  sni_text_add(&t, "### The top of a file\n\n");
  sni_text_add(&t, "`sinew: 1` is required: the version of the format.\n\n");
  sni_keys keys;
  const sni_head_def head = sni_head_def_default("z");
  sni_keys_of_table(&sni_head_table, &keys);
  put_keys(&t, &keys, &head);
  put_table(&t, "bodies", &sni_body_table, sni_default_of_table(&sni_body_table, &room));
  put_table(&t, "inertia", &sni_inertia_table, &(sni_inertia_def){0});
  put_table(&t, "repeat", &sni_repeat_table, NULL);
  put_row(&t, &(sni_field){.key = "joint", .type = SNI_F_JOINT, .doc = SNI_REPEAT_JOINT_DOC}, NULL);
  put_role(&t, SNI_ROLE_JOINT, "joints");
  put_role(&t, SNI_ROLE_SHAPE, "shapes");
  put_table(&t, "contacts", &sni_contact_table, sni_default_of_table(&sni_contact_table, &room));
  put_table(&t, "tubes", &sni_tube_table, sni_default_of_table(&sni_tube_table, &room));
  put_table(&t, "a bead of a tube", &sni_bead_table, NULL);
  put_loops(&t);
  put_table(&t, "a side of a loop, an end of a spring", &sni_point_table, NULL);
  put_role(&t, SNI_ROLE_CONSTRAINT, "constraints");
  put_table(&t, "a term of a couple", &sni_term_table, &(sn_term_def){.factor = 1});
  put_table(&t, "a coordinate of a map", &sni_coordinate_table, NULL);
  put_table(&t, "a joint of a map", &sni_driven_table, NULL);
  put_role(&t, SNI_ROLE_FORCE, "forces");
  put_table(&t, "motions", &sni_motion_table, sni_default_of_table(&sni_motion_table, &room));
  put_table(&t, "initial", &sni_initial_table, NULL);
  put_table(&t, "run", &sni_run_table, sni_default_of_table(&sni_run_table, &room));
  put_table(&t, "use", &sni_use_table, NULL);
  return sni_text_take(&t);
}
