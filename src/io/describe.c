/* describe.c: what the field tables say, in words for people: for the schema and the manual. */
#include "io/describe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

const void *sni_default_of_role(sni_role role, sni_any_def *room) {
  switch (role) {
  case SNI_ROLE_JOINT:
    room->joint = sn_joint_def_default();
    return room;
  case SNI_ROLE_LOOP:
    room->loop = sn_loop_def_default();
    return room;
  case SNI_ROLE_SHAPE:
    room->shape = sn_shape_def_default();
    return room;
  case SNI_ROLE_FORCE:
    room->force = sn_force_def_default();
    return room;
  case SNI_ROLE_CONSTRAINT:
    room->constraint = sn_constraint_def_default();
    return room;
  default:
    return NULL;
  }
}

const void *sni_default_of_table(const sni_table *table, sni_any_def *room) {
  if (table == &sni_body_table) {
    room->body = sn_body_def_default();
  } else if (table == &sni_motion_table) {
    room->motion = sn_motion_def_default();
  } else if (table == &sni_contact_table) {
    room->contact = sn_contact_def_default();
  } else if (table == &sni_tube_table) {
    room->tube = sn_tube_def_default();
  } else if (table == &sni_run_table) {
    room->run = sn_run_def_default();
  } else {
    return NULL;
  }
  return room;
}

/* ---- defaults -------------------------------------------------------------------------------- */

static bool in_range(unsigned flags, double value) {
  return isfinite(value) && !((flags & SNI_POSITIVE) && value <= 0) &&
         !((flags & SNI_NOT_NEGATIVE) && value < 0);
}

/* The shortest of 15 or 17 digits that gives the number back. */
static bool number_text(unsigned flags, double value, char *out, size_t size) {
  double back = 0;
  snprintf(out, size, "%.15g", value);
  sni_number_read(out, &back);
  if (back != value) {
    snprintf(out, size, "%.17g", value);
  }
  return in_range(flags, value);
}

static bool vector_text(unsigned flags, sn_vec3 v, char *out, size_t size) {
  char x[32], y[32], z[32];
  const bool good = number_text(flags, v.x, x, sizeof x) && number_text(flags, v.y, y, sizeof y) &&
                    number_text(flags, v.z, z, sizeof z);
  snprintf(out, size, "[%s, %s, %s]", x, y, z);
  return good;
}

bool sni_describe_default(const sni_field *field, const void *def, char *out, size_t size) {
  const void *at = def ? (const char *)def + field->offset : NULL;
  sni_choice choice;
  out[0] = 0;
  if (!def || (field->flags & SNI_REQUIRED)) {
    return false;
  }
  switch (field->type) {
  case SNI_F_NUMBER:
    return number_text(field->flags, *(const double *)at, out, size);
  case SNI_F_INTEGER:
    return number_text(field->flags, *(const int *)at, out, size);
  case SNI_F_BOOL:
    snprintf(out, size, "%s", *(const bool *)at ? "true" : "false");
    return true;
  case SNI_F_CHOICE:
    if (!sni_choice_get(field->choices, *(const int *)at, &choice)) {
      return false;
    }
    snprintf(out, size, "%s", choice.word);
    return true;
  case SNI_F_WORD:
    snprintf(out, size, "%s", *(const char *const *)at ? *(const char *const *)at : "");
    return out[0] != 0;
  case SNI_F_VEC3:
    return vector_text(field->flags, *(const sn_vec3 *)at, out, size);
  case SNI_F_FUNCTION:
    return number_text(0, ((const sn_function_def *)at)->value, out, size);
  case SNI_F_DAMPING:
    return number_text(0, *(const double *)at, out, size);
  case SNI_F_PER_DOF:
    return ((const sn_per_dof *)at)->n > 0 &&
           number_text(field->flags, ((const sn_per_dof *)at)->v[0], out, size);
  default:
    return false;
  }
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *range_words(unsigned flags) {
  return flags & SNI_POSITIVE ? " > 0" : flags & SNI_NOT_NEGATIVE ? " >= 0" : "";
}

static void choice_words(const char *choices, char *out, size_t size) {
  sni_choice choice;
  size_t n = 0;
  for (int k = 0; n < size && sni_choice_get(choices, k, &choice); k++) {
    n += (size_t)snprintf(out + n, size - n, "%s`%s`", k ? ", " : "", choice.word);
  }
}

void sni_describe_value(const sni_field *field, char *out, size_t size) {
  static const char *const words[] = {
      [SNI_F_NUMBER] = "number%s",
      [SNI_F_INTEGER] = "whole number%s",
      [SNI_F_BOOL] = "`true` or `false`",
      [SNI_F_NAME] = "name",
      [SNI_F_TEXT] = "text",
      [SNI_F_FILE] = "file",
      [SNI_F_VEC3] = "3 numbers%s",
      [SNI_F_POSE] = "pose",
      [SNI_F_PER_DOF] = "number%s, or one for each coordinate",
      [SNI_F_LIMITS] = "`[lowest, highest]`, or a list of such pairs",
      [SNI_F_FUNCTION] = "time function",
      [SNI_F_FUNCTIONS] = "time function, or one for each coordinate",
      [SNI_F_FUNCTION3] = "3 time functions",
      [SNI_F_POINT] = "`{body, at}`",
      [SNI_F_POINTS] = "list of `{body, at}`",
      [SNI_F_BEADS] = "list of `{body, at, radius}`",
      [SNI_F_COORDINATES] = "list of `{name, q, qd, motion, force}`",
      [SNI_F_DRIVEN] = "list of `{joint, coordinate, value}`",
      [SNI_F_TERMS] = "list of `{joint, coordinate, factor}`",
      [SNI_F_TWIST] = "6 time functions, each may be `null`",
      [SNI_F_PARTS] = "list of joints",
      [SNI_F_FRAMES] = "list of poses",
      [SNI_F_GRID] = "rows of `[x, y, z, rx, ry, rz]`",
      [SNI_F_INERTIA] = "map, see inertia",
      [SNI_F_SHAPES] = "list of shapes",
      [SNI_F_DAMPING] = "number%s, or `{angular, linear}`",
      [SNI_F_PATTERNS] = "list of patterns",
      [SNI_F_NAMES] = "list of names",
      [SNI_F_JOINT] = "map, see joints"};
  if (field->type == SNI_F_CHOICE || field->type == SNI_F_WORD) {
    choice_words(field->choices, out, size);
  } else if (field->type == SNI_F_TABLE) {
    snprintf(out, size, field->table ? "map, see %s" : "map",
             field->table ? field->table->name : "");
  } else {
    const char *text = words[field->type], *gap = strstr(text, "%s");
    const int before = (int)(gap ? (size_t)(gap - text) : strlen(text));
    snprintf(out, size, "%.*s%s%s", before, text, gap ? range_words(field->flags) : "",
             gap ? gap + 2 : "");
  }
}
