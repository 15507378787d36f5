/* json.h: numbers out of the data files of the tests. */
#ifndef SINEW_TEST_JSON_H
#define SINEW_TEST_JSON_H

#include "io/doc.h"
#include "math/se3.h"
#include "test.h"

/* A file below tests/data. */
static inline sni_doc *json_read(const char *file) {
  char path[512];
  snprintf(path, sizeof path, "%s/tests/data/%s", SINEW_SOURCE_DIR, file);
  sni_doc *doc = NULL;
  sn_error err = {0};
  CHECK(sni_doc_read_file(path, NULL, &doc, &err) == SN_OK, "%s: line %d: %s", path, err.line,
        err.text);
  return doc;
}

static inline const sni_node *json_get(const sni_node *map, const char *key) {
  const sni_node *node = sni_node_get(map, key);
  CHECK(node, "there is no '%s' in the data", key);
  return node;
}

static inline double json_number(const sni_node *node) {
  double x = NAN;
  CHECK(node && sni_node_number(node, &x), "line %d: not a number", node ? node->line : 0);
  return x;
}
static inline double json_get_number(const sni_node *map, const char *key) {
  return json_number(json_get(map, key));
}
static inline const char *json_text(const sni_node *map, const char *key) {
  const sni_node *node = json_get(map, key);
  CHECK(node->kind == SNI_NODE_SCALAR, "'%s' is not a text", key);
  return node->text;
}

/* All numbers of a list of lists of ..., one after the other; returns how many. */
static inline int json_flatten(const sni_node *node, double *out, int room) {
  if (node->kind == SNI_NODE_SCALAR) {
    CHECK(room > 0, "line %d: more numbers than there is room for", node->line);
    *out = json_number(node);
    return 1;
  }
  int n = 0;
  for (size_t k = 0; k < sni_node_count(node); k++) {
    n += json_flatten(sni_node_at(node, k), out + n, room - n);
  }
  return n;
}
static inline int json_numbers(const sni_node *map, const char *key, double *out, int room) {
  return json_flatten(json_get(map, key), out, room);
}

static inline sn_vec3 json_vec3(const sni_node *map, const char *key) {
  double x[3];
  CHECK(json_numbers(map, key, x, 3) == 3, "'%s' needs three numbers", key);
  return (sn_vec3){x[0], x[1], x[2]};
}

/* A 4 x 4 matrix, by rows. */
static inline sn_se3 json_pose(const sni_node *node) {
  double x[16];
  CHECK(json_flatten(node, x, 16) == 16, "line %d: not a 4 x 4 matrix", node->line);
  return (sn_se3){{{{x[0], x[1], x[2]}, {x[4], x[5], x[6]}, {x[8], x[9], x[10]}}},
                  {x[3], x[7], x[11]}};
}

#endif
