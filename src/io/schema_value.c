/* schema_value.c: the parts of the JSON Schema that describe one value each.
 *
 * A number is a JSON number or a text (an expression): ranges bind numbers only. */
#include "io/schema_value.h"

#include <limits.h>
#include <stdio.h>

#include "io/decode.h"
#include "io/describe.h"

void sni_schema_ref(sni_json *j, const char *name) {
  sni_json_raw(j, "$ref", "\"#/definitions/%s\"", name);
}

/* In draft 7 nothing may stand beside a $ref, but beside an allOf. */
static void put_reference(sni_json *j, const char *name) {
  sni_json_open(j, "allOf", "[");
  sni_json_open(j, NULL, "{");
  sni_schema_ref(j, name);
  sni_json_close(j, "}");
  sni_json_close(j, "]");
}

static void put_number(sni_json *j, unsigned flags) {
  sni_json_raw(j, "type", "[\"number\", \"string\"]");
  if (flags & SNI_POSITIVE) {
    sni_json_raw(j, "exclusiveMinimum", "0");
  } else if (flags & SNI_NOT_NEGATIVE) {
    sni_json_raw(j, "minimum", "0");
  }
}

void sni_schema_integer(sni_json *j, unsigned flags, int most) {
  const int least = flags & SNI_POSITIVE ? 1 : flags & SNI_NOT_NEGATIVE ? 0 : INT_MIN;
  sni_json_raw(j, "type", "[\"integer\", \"string\"]");
  sni_json_raw(j, "minimum", "%d", least);
  sni_json_raw(j, "maximum", "%d", most);
}

static void put_text(sni_json *j) {
  sni_json_raw(j, "type", "[\"string\", \"number\", \"boolean\"]");
  sni_json_raw(j, "minLength", "1");
}

/* most 0: any number of them. */
static void put_counts(sni_json *j, int least, int most) {
  if (least > 0) {
    sni_json_raw(j, "minItems", "%d", least);
  }
  if (most > 0) {
    sni_json_raw(j, "maxItems", "%d", most);
  }
}

static void put_numbers(sni_json *j, unsigned flags, int least, int most) {
  sni_json_raw(j, "type", "\"array\"");
  sni_json_open(j, "items", "{");
  put_number(j, flags);
  sni_json_close(j, "}");
  put_counts(j, least, most);
}

/* A list of things that have a definition. */
static void put_list(sni_json *j, const char *name, int least, int most) {
  sni_json_raw(j, "type", "\"array\"");
  sni_json_open(j, "items", "{");
  sni_schema_ref(j, name);
  sni_json_close(j, "}");
  put_counts(j, least, most);
}

static void put_choices(sni_json *j, const char *choices) {
  sni_choice choice;
  sni_json_open(j, "enum", "[");
  for (int k = 0; sni_choice_get(choices, k, &choice); k++) {
    sni_json_text(j, NULL, choice.word);
  }
  sni_json_close(j, "]");
}

static void put_per_dof(sni_json *j, unsigned flags) {
  sni_json_open(j, "anyOf", "[");
  sni_json_open(j, NULL, "{");
  put_number(j, flags);
  sni_json_close(j, "}");
  sni_json_open(j, NULL, "{");
  put_numbers(j, flags, 1, SN_NV_MAX);
  sni_json_close(j, "}");
  sni_json_close(j, "]");
}

void sni_schema_value(sni_json *j, const sni_field *field) {
  switch (field->type) {
  case SNI_F_NUMBER:
    put_number(j, field->flags);
    break;
  case SNI_F_INTEGER:
    sni_schema_integer(j, field->flags, INT_MAX);
    break;
  case SNI_F_BOOL:
    sni_json_raw(j, "type", "\"boolean\"");
    break;
  case SNI_F_NAME: /* true is a name where a name is expected */
    sni_json_raw(j, "type", "[\"string\", \"boolean\"]");
    sni_json_text(j, "pattern", SNI_REFERENCE_PATTERN);
    break;
  case SNI_F_TEXT:
  case SNI_F_FILE:
    put_text(j);
    break;
  case SNI_F_CHOICE:
  case SNI_F_WORD:
    put_choices(j, field->choices);
    break;
  case SNI_F_VEC3:
    put_numbers(j, field->flags, 3, 3);
    break;
  case SNI_F_POSE:
    put_reference(j, "pose");
    break;
  case SNI_F_PER_DOF:
    put_per_dof(j, field->flags);
    break;
  case SNI_F_LIMITS:
    put_reference(j, "limits");
    break;
  case SNI_F_FUNCTION:
    put_reference(j, "function");
    break;
  case SNI_F_FUNCTIONS:
    put_reference(j, "functions");
    break;
  case SNI_F_FUNCTION3:
    put_list(j, "function", 3, 3);
    break;
  case SNI_F_TABLE:
    if (field->table) {
      put_reference(j, field->table->name);
    } else {
      sni_json_raw(j, "type", "\"object\"");
    }
    break;
  case SNI_F_POINT:
    put_reference(j, sni_point_table.name);
    break;
  case SNI_F_POINTS:
    put_list(j, sni_point_table.name, 1, 0);
    break;
  case SNI_F_BEADS:
    put_list(j, sni_bead_table.name, 1, 0);
    break;
  case SNI_F_TERMS:
    put_list(j, sni_term_table.name, 1, SN_NV_MAX);
    break;
  case SNI_F_COORDINATES:
    put_list(j, sni_coordinate_table.name, 1, 0);
    break;
  case SNI_F_DRIVEN:
    put_list(j, sni_driven_table.name, 1, 0);
    break;
  case SNI_F_TWIST:
    put_list(j, "function_or_null", 6, 6);
    break;
  case SNI_F_PARTS:
    put_list(j, sni_role_name(SNI_ROLE_PART), 1, 0);
    break;
  case SNI_F_FRAMES:
    put_list(j, "pose", 1, 0);
    break;
  case SNI_F_GRID:
    put_list(j, "grid_row", 1, 0);
    break;
  case SNI_F_INERTIA:
    put_reference(j, sni_inertia_table.name);
    break;
  case SNI_F_SHAPES:
    put_list(j, sni_role_name(SNI_ROLE_SHAPE), 0, 0);
    break;
  case SNI_F_DAMPING:
    put_reference(j, "body_damping");
    break;
  case SNI_F_PATTERNS:
  case SNI_F_NAMES:
    sni_json_raw(j, "type", "\"array\"");
    sni_json_open(j, "items", "{");
    if (field->type == SNI_F_NAMES) {
      sni_json_raw(j, "type", "[\"string\", \"boolean\"]");
      sni_json_text(j, "pattern", SNI_REFERENCE_PATTERN);
    } else {
      put_text(j);
    }
    sni_json_close(j, "}");
    put_counts(j, 1, 0);
    break;
  case SNI_F_JOINT:
    put_reference(j, sni_role_name(SNI_ROLE_JOINT));
    break;
  }
}

void sni_schema_field(sni_json *j, const sni_field *field, const void *def) {
  char text[256];
  const bool unit = field->unit && field->unit[0];
  sni_json_open(j, field->key, "{");
  snprintf(text, sizeof text, "%s%s%s%s", field->doc, unit ? " [" : "", unit ? field->unit : "",
           unit ? "]" : "");
  sni_json_text(j, "description", text);
  if (sni_describe_default(field, def, text, sizeof text)) {
    if (field->type == SNI_F_WORD || field->type == SNI_F_CHOICE) {
      sni_json_text(j, "default", text);
    } else {
      sni_json_raw(j, "default", "%s", text);
    }
  }
  sni_schema_value(j, field);
  sni_json_close(j, "}");
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void put_property(sni_json *j, const char *key, int numbers) {
  sni_json_open(j, key, "{");
  put_numbers(j, 0, numbers, numbers);
  sni_json_close(j, "}");
}

/* {pos: 3 numbers, KEY: numbers} */
static void put_pose_map(sni_json *j, const char *key, int numbers) {
  sni_json_open(j, NULL, "{");
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  put_property(j, "pos", 3);
  put_property(j, key, numbers);
  sni_json_close(j, "}");
  sni_json_raw(j, "required", "[\"pos\", \"%s\"]", key);
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
}

static void define_pose(sni_json *j) {
  sni_json_open(j, "pose", "{");
  sni_json_text(j, "description", "[x, y, z], {pos, rotvec} or {pos, quat_wxyz}");
  sni_json_open(j, "anyOf", "[");
  sni_json_open(j, NULL, "{");
  put_numbers(j, 0, 3, 3);
  sni_json_close(j, "}");
  put_pose_map(j, "rotvec", 3);
  put_pose_map(j, "quat_wxyz", 4);
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}

/* Two numbers, each of which may be null. */
static void put_range(sni_json *j) {
  sni_json_raw(j, "type", "\"array\"");
  sni_json_open(j, "items", "{");
  sni_json_open(j, "anyOf", "[");
  sni_json_open(j, NULL, "{");
  put_number(j, 0);
  sni_json_close(j, "}");
  sni_json_raw(j, NULL, "{\"type\": \"null\"}");
  sni_json_close(j, "]");
  sni_json_close(j, "}");
  put_counts(j, 2, 2);
}

static void define_limits(sni_json *j) {
  sni_json_open(j, "limits", "{");
  sni_json_text(j, "description", "[lowest, highest], or a list of such pairs; null: no limit");
  sni_json_open(j, "anyOf", "[");
  sni_json_open(j, NULL, "{");
  put_range(j);
  sni_json_close(j, "}");
  sni_json_open(j, NULL, "{");
  sni_json_raw(j, "type", "\"array\"");
  sni_json_open(j, "items", "{");
  sni_json_open(j, "anyOf", "[");
  sni_json_open(j, NULL, "{");
  put_range(j);
  sni_json_close(j, "}");
  sni_json_raw(j, NULL, "{\"type\": \"null\"}");
  sni_json_close(j, "]");
  sni_json_close(j, "}");
  put_counts(j, 1, SN_NV_MAX);
  sni_json_close(j, "}");
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}

/* {keyframes} and {csv, column} */
static void put_function_map(sni_json *j, bool csv) {
  sni_json_open(j, NULL, "{");
  sni_json_raw(j, "type", "\"object\"");
  sni_json_open(j, "properties", "{");
  sni_json_open(j, csv ? "csv" : "keyframes", "{");
  sni_json_text(j, "description",
                csv ? "a CSV file whose first column is the time t" : "pairs [t, value]");
  if (csv) {
    put_text(j);
  } else {
    sni_json_raw(j, "type", "\"array\"");
    put_property(j, "items", 2);
    put_counts(j, 1, 0);
  }
  sni_json_close(j, "}");
  if (csv) {
    sni_json_open(j, "column", "{");
    sni_json_text(j, "description", "the name of a column of the file");
    put_text(j);
    sni_json_close(j, "}");
  }
  sni_json_open(j, "interpolation", "{");
  sni_json_text(j, "description", "between the values");
  sni_json_text(j, "default", "linear");
  put_choices(j, SNI_INTERPOLATION_CHOICES);
  sni_json_close(j, "}");
  sni_json_close(j, "}");
  sni_json_raw(j, "required", csv ? "[\"csv\", \"column\"]" : "[\"keyframes\"]");
  sni_json_raw(j, "additionalProperties", "false");
  sni_json_close(j, "}");
}

static void define_functions(sni_json *j) {
  sni_json_open(j, "function", "{");
  sni_json_text(j, "description",
                "a time function: a number, an expression of t, {keyframes, interpolation} or "
                "{csv, column}");
  sni_json_open(j, "anyOf", "[");
  sni_json_open(j, NULL, "{");
  put_number(j, 0);
  sni_json_close(j, "}");
  put_function_map(j, false);
  put_function_map(j, true);
  sni_json_close(j, "]");
  sni_json_close(j, "}");

  sni_json_open(j, "function_or_null", "{");
  sni_json_open(j, "anyOf", "[");
  sni_json_open(j, NULL, "{");
  sni_schema_ref(j, "function");
  sni_json_close(j, "}");
  sni_json_raw(j, NULL, "{\"type\": \"null\"}");
  sni_json_close(j, "]");
  sni_json_close(j, "}");

  sni_json_open(j, "functions", "{");
  sni_json_text(j, "description", "a time function, or one for each coordinate");
  sni_json_open(j, "anyOf", "[");
  sni_json_open(j, NULL, "{");
  sni_schema_ref(j, "function");
  sni_json_close(j, "}");
  sni_json_open(j, NULL, "{");
  put_list(j, "function", 1, SN_NV_MAX);
  sni_json_close(j, "}");
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}

void sni_schema_value_definitions(sni_json *j) {
  define_pose(j);
  define_limits(j);
  define_functions(j);

  sni_json_open(j, "grid_row", "{");
  sni_json_text(j, "description", "points [x, y, z, rx, ry, rz]");
  sni_json_raw(j, "type", "\"array\"");
  put_property(j, "items", 6);
  put_counts(j, 1, 0);
  sni_json_close(j, "}");

  sni_json_open(j, "body_damping", "{");
  sni_json_text(j, "description", "a number, or {angular, linear}");
  sni_json_open(j, "anyOf", "[");
  sni_json_open(j, NULL, "{");
  put_number(j, SNI_NOT_NEGATIVE);
  sni_json_close(j, "}");
  sni_json_open(j, NULL, "{");
  sni_schema_ref(j, sni_damping_table.name);
  sni_json_close(j, "}");
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}
