/* vectors.h: the numbers under tests/data/vectors, and how near to them one must come.
 *
 *     sni_doc *doc = vectors_open("joints.json");
 *     const sni_node *joint = sni_node_at(sni_node_get(sni_doc_root(doc), "joints"), 0);
 *     vectors_read(sni_node_get(joint, "q"), 1, q);
 *     sni_doc_free(&doc);
 */
#ifndef SINEW_TEST_VECTORS_H
#define SINEW_TEST_VECTORS_H

#include "test.h"

#include "io/doc.h"
#include "sinew/types.h"

/* A tolerance as the test uses it.  SN_TOL_SCALE=0 in the environment lets every comparison fail,
 * which prints the true residuals. */
static inline double tol(double tolerance) {
  const char *scale = getenv("SN_TOL_SCALE");
  return scale ? strtod(scale, NULL) * tolerance : tolerance;
}

static inline bool same_bits(const void *a, const void *b, size_t size) {
  return memcmp(a, b, size) == 0;
}

static inline sni_doc *vectors_open(const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/data/vectors/%s", SINEW_SOURCE_DIR, name);
  sni_doc *doc = NULL;
  sn_error err = {0};
  const sn_status status = sni_doc_read_file(path, NULL, &doc, &err);
  CHECK(status == SN_OK, "%s: %s", path, err.text);
  return doc;
}

static inline int vectors_fill(const sni_node *node, int n, int at, double *out) {
  if (node && node->kind == SNI_NODE_SCALAR) {
    CHECK(at < n, "line %d: more than %d numbers", node->line, n);
    CHECK(sni_node_number(node, &out[at]), "line %d: '%s' is no number", node->line, node->text);
    return at + 1;
  }
  for (size_t i = 0; i < sni_node_count(node); i++) {
    at = vectors_fill(sni_node_at(node, i), n, at, out);
  }
  return at;
}

/* All n numbers of a list, or of lists in lists from left to right. */
static inline void vectors_read(const sni_node *node, int n, double *out) {
  const int found = vectors_fill(node, n, 0, out), line = node ? node->line : 0;
  CHECK(node && found == n, "line %d: %d numbers instead of %d", line, found, n);
}

static inline double vectors_number(const sni_node *map, const char *key) {
  double value = 0;
  vectors_read(sni_node_get(map, key), 1, &value);
  return value;
}

static inline const char *vectors_text(const sni_node *map, const char *key) {
  const sni_node *node = sni_node_get(map, key);
  CHECK(node && node->kind == SNI_NODE_SCALAR, "there is no text '%s'", key);
  return node->text;
}

static inline sn_vec3 vectors_vec3(const sni_node *map, const char *key) {
  double x[3];
  vectors_read(sni_node_get(map, key), 3, x);
  return (sn_vec3){x[0], x[1], x[2]};
}

/* A pose written as a 4x4 matrix. */
static inline sn_se3 vectors_pose(const sni_node *node) {
  double x[16];
  vectors_read(node, 16, x);
  return (sn_se3){{{{x[0], x[1], x[2]}, {x[4], x[5], x[6]}, {x[8], x[9], x[10]}}},
                  {x[3], x[7], x[11]}};
}

#endif
