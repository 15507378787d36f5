/* decode_value.c: values of fields that are more than a scalar, and which field is which. */
#include "io/decode.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/words.h"
#include "math/inertia.h"
#include "math/so3.h"

/* ---- poses ----------------------------------------------------------------------------------- */

#define POSE_WORDS "[x, y, z], {pos, rotvec} or {pos, quat_wxyz}"

static bool decode_vec3(sni_decoder *d, const sni_node *node, unsigned flags, sn_vec3 *out) {
  double v[3];
  if (!sni_decode_numbers(d, node, 3, flags, v)) {
    return false;
  }
  *out = (sn_vec3){v[0], v[1], v[2]};
  return true;
}

/* The numbers under a key of a pose, if it is there. */
static bool pose_part(sni_decoder *d, const sni_node *map, const char *key, size_t count,
                      double *out, bool *there) {
  const sni_node *node = sni_node_get(map, key);
  *there = node != NULL;
  if (!node) {
    return true;
  }
  const size_t before = sni_path_key(d, key);
  const bool good = sni_decode_numbers(d, node, count, 0, out);
  sni_path_back(d, before);
  return good;
}

static bool decode_pose_map(sni_decoder *d, const sni_node *map, sn_se3 *out) {
  double pos[3], rotvec[3], quat[4];
  bool has_pos, has_rotvec, has_quat;
  bool good = true;
  for (size_t i = 0; i < sni_node_count(map); i++) {
    const sni_node *entry = sni_node_at(map, i);
    if (strcmp(entry->key, "pos") != 0 && strcmp(entry->key, "rotvec") != 0 &&
        strcmp(entry->key, "quat_wxyz") != 0) {
      sni_decode_fail_key(d, SN_E_SYNTAX, entry, "unknown key '%s', a pose is " POSE_WORDS,
                          sni_show(entry->key).text);
      good = false;
    }
  }
  good = pose_part(d, map, "pos", 3, pos, &has_pos) && good;
  good = pose_part(d, map, "rotvec", 3, rotvec, &has_rotvec) && good;
  good = pose_part(d, map, "quat_wxyz", 4, quat, &has_quat) && good;
  if (!has_pos) {
    sni_decode_fail(d, SN_E_SYNTAX, map, "needs the key 'pos': a pose is " POSE_WORDS);
    good = false;
  }
  if (has_rotvec == has_quat) {
    sni_decode_fail(d, SN_E_SYNTAX, map, "has %s, needs one of them: a pose is " POSE_WORDS,
                    has_quat ? "rotvec and quat_wxyz" : "neither rotvec nor quat_wxyz");
    good = false;
  }
  if (!good) {
    return false;
  }
  out->p = (sn_vec3){pos[0], pos[1], pos[2]};
  if (has_rotvec) {
    out->R = sn_so3_exp((sn_vec3){rotvec[0], rotvec[1], rotvec[2]});
    return true;
  }
  const double length = hypot(hypot(quat[0], quat[1]), hypot(quat[2], quat[3]));
  if (!(length > 0) || !isfinite(length)) {
    const size_t before = sni_path_key(d, "quat_wxyz");
    sni_decode_fail(d, SN_E_VALUE, sni_node_get(map, "quat_wxyz"),
                    "has length %g, needs a finite length > 0", length);
    sni_path_back(d, before);
    return false;
  }
  out->R = sn_mat3_from_quat(
      (sn_quat){quat[0] / length, quat[1] / length, quat[2] / length, quat[3] / length});
  return true;
}

bool sni_decode_pose(sni_decoder *d, const sni_node *node, sn_se3 *out) {
  if (node->kind == SNI_NODE_MAPPING) {
    return decode_pose_map(d, node, out);
  }
  if (node->kind == SNI_NODE_SEQUENCE) {
    out->R = sn_mat3_identity();
    return decode_vec3(d, node, 0, &out->p);
  }
  sni_decode_fail_type(d, node, POSE_WORDS);
  return false;
}

/* ---- numbers for the coordinates of a joint -------------------------------------------------- */

/* A list with at least one entry and at most `most`; false with a message if it is not. */
static bool check_list(sni_decoder *d, const sni_node *node, size_t most, const char *what) {
  const size_t n = sni_node_count(node);
  if (node->kind != SNI_NODE_SEQUENCE) {
    sni_decode_fail_type(d, node, what);
    return false;
  }
  if (n == 0) {
    sni_decode_fail(d, SN_E_SYNTAX, node, "is an empty list, needs %s", what);
    return false;
  }
  if (n > most) {
    sni_decode_fail(d, SN_E_SYNTAX, node, "has %zu entries, needs at most %zu", n, most);
    return false;
  }
  return true;
}

static bool decode_per_dof(sni_decoder *d, const sni_node *node, unsigned flags, sn_per_dof *out) {
  sn_per_dof value = {.n = 1};
  if (node->kind == SNI_NODE_SCALAR) {
    if (!sni_decode_number(d, node, flags, &value.v[0])) {
      return false;
    }
  } else {
    if (!check_list(d, node, SN_NV_MAX, "a number, or a list with one for each coordinate")) {
      return false;
    }
    value.n = (int)sni_node_count(node);
    if (!sni_decode_numbers(d, node, sni_node_count(node), flags, value.v)) {
      return false;
    }
  }
  *out = value;
  return true;
}

/* [lowest, highest]; null instead of either, or of both together: there is none. */
static bool decode_range(sni_decoder *d, const sni_node *node, double out[2]) {
  double number[2] = {-INFINITY, INFINITY};
  const bool pair = node->kind == SNI_NODE_SEQUENCE && sni_node_count(node) == 2;
  if (!pair && !sni_node_is_null(node)) {
    return sni_decode_numbers(d, node, 2, 0, out); /* which says what is wrong */
  }
  bool good = true;
  for (size_t i = 0; pair && i < 2; i++) {
    const size_t before = sni_path_index(d, i);
    const sni_node *one = sni_node_at(node, i);
    good = (sni_node_is_null(one) || sni_decode_number(d, one, 0, &number[i])) && good;
    sni_path_back(d, before);
  }
  memcpy(out, number, sizeof number);
  return good;
}

static bool decode_limits(sni_decoder *d, const sni_node *node, sn_per_dof *lower,
                          sn_per_dof *upper) {
  if (!check_list(d, node, SN_NV_MAX, "[lowest, highest], or a pair for each coordinate")) {
    return false;
  }
  /* a list of lists is one of pairs, whatever else is wrong with it; so is one of nothing */
  const size_t n = sni_node_count(node);
  bool lists = false, nothing = true;
  for (size_t i = 0; i < n; i++) {
    lists = lists || sni_node_at(node, i)->kind == SNI_NODE_SEQUENCE;
    nothing = nothing && sni_node_is_null(sni_node_at(node, i));
  }
  const bool pairs = lists || (nothing && n != 2);
  double pair[SN_NV_MAX][2];
  bool good = true;
  if (!pairs) {
    good = decode_range(d, node, pair[0]);
  }
  for (size_t i = 0; pairs && i < n; i++) {
    const size_t before = sni_path_index(d, i);
    good = decode_range(d, sni_node_at(node, i), pair[i]) && good;
    sni_path_back(d, before);
  }
  if (!good) {
    return false;
  }
  lower->n = upper->n = pairs ? (int)n : 1;
  for (int i = 0; i < lower->n; i++) {
    lower->v[i] = pair[i][0];
    upper->v[i] = pair[i][1];
  }
  return true;
}

static bool decode_damping(sni_decoder *d, const sni_node *node, double *angular, double *linear) {
  sni_damping_def def = {0};
  if (node->kind == SNI_NODE_MAPPING) {
    if (!sni_decode_table(d, &sni_damping_table, node, &def)) {
      return false;
    }
  } else if (node->kind == SNI_NODE_SCALAR && !sni_node_is_null(node)) {
    if (!sni_decode_number(d, node, SNI_NOT_NEGATIVE, &def.angular)) {
      return false;
    }
    def.linear = def.angular;
  } else {
    sni_decode_fail_type(d, node, "a number or {angular, linear}");
    return false;
  }
  *angular = def.angular;
  *linear = def.linear;
  return true;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* In a used file the ground is a frame on some body. */
static void ground_point(const sni_decoder *d, sn_point_def *point) {
  if (strcmp(point->body, "world") == 0) {
    point->body = d->ground;
    point->at = sn_se3_mul(d->E_ground, point->at);
  }
}

static bool decode_point(sni_decoder *d, const sni_node *node, sn_point_def *out) {
  sn_point_def point = {.at = sn_se3_identity()};
  if (!sni_decode_table(d, &sni_point_table, node, &point)) {
    return false;
  }
  ground_point(d, &point);
  *out = point;
  return true;
}

static bool decode_inertia(sni_decoder *d, const sni_node *node, sn_inertia *out, bool *given) {
  sni_inertia_def def = {.at = sn_se3_identity()};
  *given = true;
  if (!sni_decode_table(d, &sni_inertia_table, node, &def)) {
    return false;
  }
  const sn_inertia at_com = {.mass = def.mass,
                             .xx = def.xx,
                             .yy = def.yy,
                             .zz = def.zz,
                             .xy = def.xy,
                             .xz = def.xz,
                             .yz = def.yz};
  *out = sn_inertia_transform(def.at, at_com);
  return true;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bool decode_points(sni_decoder *d, const sni_node *node, const sn_point_def **array,
                          int *count) {
  if (!check_list(d, node, SIZE_MAX, "a list of points {body, at}")) {
    return false;
  }
  const size_t n = sni_node_count(node);
  sn_point_def *point = sni_pool_take(d->pool, n, sizeof *point);
  bool good = point != NULL;
  for (size_t i = 0; point && i < n; i++) {
    const size_t before = sni_path_index(d, i);
    good = decode_point(d, sni_node_at(node, i), &point[i]) && good;
    sni_path_back(d, before);
  }
  if (good) {
    *array = point;
    *count = (int)n;
  }
  return good;
}

/* A list of maps, one `size` bytes after the other; first: their defaults. */
static bool decode_list(sni_decoder *d, const sni_node *node, const sni_table *table,
                        const char *what, size_t most, const void *first, size_t size,
                        const void **array, int *count) {
  if (!check_list(d, node, most, what)) {
    return false;
  }
  const size_t n = sni_node_count(node);
  char *item = sni_pool_take(d->pool, n, size);
  bool good = item != NULL;
  for (size_t i = 0; item && i < n; i++) {
    const size_t before = sni_path_index(d, i);
    memcpy(item + i * size, first, size);
    good = sni_decode_table(d, table, sni_node_at(node, i), item + i * size) && good;
    sni_path_back(d, before);
  }
  if (good) {
    *array = item;
    *count = (int)n;
  }
  return good;
}

static bool decode_beads(sni_decoder *d, const sni_node *node, const sn_bead_def **array,
                         int *count) {
  const sn_bead_def usual = {.point = {.at = sn_se3_identity()}};
  const char *what = "a list of beads {body, at, radius}";
  const void *item = NULL;
  if (!decode_list(d, node, &sni_bead_table, what, SIZE_MAX, &usual, sizeof usual, &item, count)) {
    return false;
  }
  sn_bead_def *bead = (sn_bead_def *)item;
  for (int k = 0; k < *count; k++) {
    ground_point(d, &bead[k].point);
  }
  *array = bead;
  return true;
}

static bool decode_terms(sni_decoder *d, const sni_node *node, const sn_term_def **array,
                         int *count) {
  const sn_term_def usual = {.factor = 1};
  const void *item = NULL;
  const bool good =
      decode_list(d, node, &sni_term_table, "a list of terms {joint, coordinate, factor}",
                  SN_NV_MAX, &usual, sizeof usual, &item, count);
  *array = good ? item : *array;
  return good;
}

static bool decode_coordinates(sni_decoder *d, const sni_node *node,
                               const sn_coordinate_def **array, int *count) {
  const sn_coordinate_def usual = {0};
  const void *item = NULL;
  const bool good = decode_list(d, node, &sni_coordinate_table,
                                "a list of coordinates {name, q, qd, motion, force}", SIZE_MAX,
                                &usual, sizeof usual, &item, count);
  *array = good ? item : *array;
  return good;
}

static bool decode_driven(sni_decoder *d, const sni_node *node, const sn_driven_def **array,
                          int *count) {
  const sn_driven_def usual = {0};
  const void *item = NULL;
  const bool good =
      decode_list(d, node, &sni_driven_table, "a list of joints {joint, coordinate, value}",
                  SIZE_MAX, &usual, sizeof usual, &item, count);
  *array = good ? item : *array;
  return good;
}

static bool decode_frames(sni_decoder *d, const sni_node *node, const sn_se3 **array, int *count) {
  if (!check_list(d, node, SIZE_MAX, "a list of poses")) {
    return false;
  }
  const size_t n = sni_node_count(node);
  sn_se3 *frame = sni_pool_take(d->pool, n, sizeof *frame);
  bool good = frame != NULL;
  for (size_t i = 0; frame && i < n; i++) {
    const size_t before = sni_path_index(d, i);
    good = sni_decode_pose(d, sni_node_at(node, i), &frame[i]) && good;
    sni_path_back(d, before);
  }
  if (good) {
    *array = frame;
    *count = (int)n;
  }
  return good;
}

#define GRID_WORDS "rows of [x, y, z, rx, ry, rz]"

static bool decode_grid(sni_decoder *d, const sni_node *node, const double **array, int size[2]) {
  if (!check_list(d, node, SIZE_MAX, GRID_WORDS)) {
    return false;
  }
  const size_t rows = sni_node_count(node), columns = sni_node_count(sni_node_at(node, 0));
  bool good = true;
  for (size_t i = 0; i < rows; i++) {
    const sni_node *row = sni_node_at(node, i);
    const size_t before = sni_path_index(d, i), n = sni_node_count(row);
    if (!check_list(d, row, SIZE_MAX, "a list of [x, y, z, rx, ry, rz]")) {
      good = false;
    } else if (n != columns) { /* no schema can compare rows */
      sni_decode_fail(d, SN_E_VALUE, row, "has %zu %s, needs %zu as the first row", n,
                      n == 1 ? "point" : "points", columns);
      good = false;
    }
    sni_path_back(d, before);
  }
  /* room for all only now that the rows are as long as they claim */
  double *grid = good ? sni_pool_take(d->pool, rows * columns, 6 * sizeof *grid) : NULL;
  good = grid != NULL;
  for (size_t i = 0; i < rows; i++) {
    const sni_node *row = sni_node_at(node, i);
    for (size_t j = 0; j < sni_node_count(row); j++) {
      const size_t before = sni_path_index(d, i);
      sni_path_index(d, j);
      double spare[6];
      double *point = grid ? grid + 6 * (i * columns + j) : spare;
      good = sni_decode_numbers(d, sni_node_at(row, j), 6, 0, point) && good;
      sni_path_back(d, before);
    }
  }
  if (good) {
    *array = grid;
    size[0] = (int)rows;
    size[1] = (int)columns;
  }
  return good;
}

/* Patterns, or names. */
static bool decode_texts(sni_decoder *d, const sni_node *node, bool names,
                         const char *const **array, int *count) {
  if (!check_list(d, node, SIZE_MAX, names ? "a list of names" : "a list of patterns")) {
    return false;
  }
  const size_t n = sni_node_count(node);
  const char **text = sni_pool_take(d->pool, n, sizeof *text);
  bool good = text != NULL;
  for (size_t i = 0; text && i < n; i++) {
    const size_t before = sni_path_index(d, i);
    const sni_node *item = sni_node_at(node, i);
    good = (names ? sni_decode_name(d, item, &text[i])
                  : sni_decode_text(d, item, "a pattern", &text[i])) &&
           good;
    sni_path_back(d, before);
  }
  if (good) {
    *array = text;
    *count = (int)n;
  }
  return good;
}

/* ---- all fields ------------------------------------------------------------------------------ */

static void *member(void *def, size_t offset) {
  return (char *)def + offset;
}

#define MEMBER(type)  ((type *)member(def, field->offset))
#define MEMBER2(type) ((type *)member(def, field->offset2))

static bool decode_word(sni_decoder *d, const sni_field *field, const sni_node *node, void *def) {
  int k;
  const bool good = sni_decode_choice(d, node, field->choices, &k);
  if (good) {
    *MEMBER(const char *) = node->text;
  }
  return good;
}

static bool decode_given_pose(sni_decoder *d, const sni_field *field, const sni_node *node,
                              void *def) {
  if (field->offset2 > 0) {
    *MEMBER2(bool) = true;
  }
  return sni_decode_pose(d, node, MEMBER(sn_se3));
}

static bool decode_function3(sni_decoder *d, const sni_field *field, const sni_node *node,
                             void *def) {
  if (field->offset2 > 0) {
    *MEMBER2(bool) = true;
  }
  return sni_decode_function3(d, node, MEMBER(sn_function_def));
}

static bool decode_joint(sni_decoder *d, const sni_node *node, sn_joint_def *def) {
  const sni_layers layers = sni_decode_layers(d, node, SNI_DEFAULT_JOINT);
  const bool good = sni_decode_kind(d, SNI_ROLE_JOINT, &layers, def);
  sni_decode_spare_fixed(node, NULL, def);
  return good;
}

bool sni_decode_value(sni_decoder *d, const sni_field *field, const sni_node *node, void *def) {
  switch (field->type) {
  case SNI_F_NUMBER:
    return sni_decode_number(d, node, field->flags, MEMBER(double));
  case SNI_F_INTEGER:
    return sni_decode_integer(d, node, field->flags, INT_MAX, MEMBER(int));
  case SNI_F_BOOL:
    return sni_decode_bool(d, node, MEMBER(bool));
  case SNI_F_NAME:
    return sni_decode_name(d, node, MEMBER(const char *));
  case SNI_F_TEXT:
    return sni_decode_text(d, node, "a text", MEMBER(const char *));
  case SNI_F_FILE:
    return sni_decode_file(d, node, MEMBER(const char *));
  case SNI_F_CHOICE:
    return sni_decode_choice(d, node, field->choices, MEMBER(int));
  case SNI_F_WORD:
    return decode_word(d, field, node, def);
  case SNI_F_VEC3:
    return decode_vec3(d, node, field->flags, MEMBER(sn_vec3));
  case SNI_F_POSE:
    return decode_given_pose(d, field, node, def);
  case SNI_F_PER_DOF:
    return decode_per_dof(d, node, field->flags, MEMBER(sn_per_dof));
  case SNI_F_LIMITS:
    return decode_limits(d, node, MEMBER(sn_per_dof), MEMBER2(sn_per_dof));
  case SNI_F_FUNCTION:
    return sni_decode_function(d, node, MEMBER(sn_function_def));
  case SNI_F_FUNCTIONS:
    return sni_decode_functions(d, node, SN_NV_MAX, MEMBER(sn_function_def), MEMBER2(int));
  case SNI_F_FUNCTION3:
    return decode_function3(d, field, node, def);
  case SNI_F_TABLE:
    return sni_decode_table(d, field->table, node, MEMBER(char));
  case SNI_F_POINT:
    return decode_point(d, node, MEMBER(sn_point_def));
  case SNI_F_POINTS:
    return decode_points(d, node, MEMBER(const sn_point_def *), MEMBER2(int));
  case SNI_F_BEADS:
    return decode_beads(d, node, MEMBER(const sn_bead_def *), MEMBER2(int));
  case SNI_F_TERMS:
    return decode_terms(d, node, MEMBER(const sn_term_def *), MEMBER2(int));
  case SNI_F_COORDINATES:
    return decode_coordinates(d, node, MEMBER(const sn_coordinate_def *), MEMBER2(int));
  case SNI_F_DRIVEN:
    return decode_driven(d, node, MEMBER(const sn_driven_def *), MEMBER2(int));
  case SNI_F_TWIST:
    return sni_decode_twist(d, node, MEMBER(sn_function_def), MEMBER2(bool));
  case SNI_F_PARTS:
    return sni_decode_parts(d, node, MEMBER(const sn_joint_def *), MEMBER2(int));
  case SNI_F_FRAMES:
    return decode_frames(d, node, MEMBER(const sn_se3 *), MEMBER2(int));
  case SNI_F_GRID:
    return decode_grid(d, node, MEMBER(const double *), MEMBER2(int));
  case SNI_F_INERTIA:
    return decode_inertia(d, node, MEMBER(sn_inertia), MEMBER2(bool));
  case SNI_F_SHAPES:
    return sni_decode_shapes(d, node, MEMBER(const sn_shape_def *), MEMBER2(int));
  case SNI_F_DAMPING:
    return decode_damping(d, node, MEMBER(double), MEMBER2(double));
  case SNI_F_PATTERNS:
  case SNI_F_NAMES:
    return decode_texts(d, node, field->type == SNI_F_NAMES, MEMBER(const char *const *),
                        MEMBER2(int));
  case SNI_F_JOINT:
    return decode_joint(d, node, MEMBER(sn_joint_def));
  }
  return false;
}
