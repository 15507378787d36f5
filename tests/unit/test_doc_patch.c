/* test_doc_patch.c: documents changed by --set, and laid over each other. */
#include "docs.h"

/* ---- patches --------------------------------------------------------------------------------- */

static const char scene[] = "run: {step: 0.01}\n"
                            "bodies:\n"
                            "  hammer:\n"
                            "    parent: world\n"
                            "    joint:\n"
                            "    shapes: [{radius: 1}, {radius: 2}]\n";

static const sni_node *find(const sni_doc *doc, const char *a, const char *b, const char *c) {
  const sni_node *node = sni_node_get(sni_doc_root(doc), a);
  node = b ? sni_node_get(node, b) : node;
  return c ? sni_node_get(node, c) : node;
}

static void set(sni_doc *doc, const char *path, const char *value) {
  sn_error err = {0};
  const sn_status status = sni_doc_set(doc, path, value, &err);
  CHECK(status == SN_OK, "%s = %s: %s", path, value, err.text);
}

TEST(set_overrides) {
  sni_doc *doc = read_doc(scene);
  const sni_node *step = find(doc, "run", "step", NULL);
  set(doc, "run.step", "0.3");
  check_text(step, "0.3"); /* nodes keep their address */
  assert_true(step->from_set);
  check_position(step, 0, 0);
  assert_string_equal(step->key, "step");
  assert_int_equal(step->key_line, 1);

  sn_error err = {.line = 9, .column = 9};
  sni_doc_locate(doc, step, &err);
  assert_string_equal(err.file, "--set");
  assert_int_equal(err.line, 0);
  assert_int_equal(err.column, 0);
  sni_doc_locate_key(doc, step, &err);
  assert_string_equal(err.file, "a.yaml");
  assert_int_equal(err.line, 1);
  assert_int_equal(err.column, 7);
  sni_doc_locate(doc, step, NULL);

  set(doc, "bodies.hammer.shapes[1].radius", "2*pi");
  check_text(sni_node_get(sni_node_at(find(doc, "bodies", "hammer", "shapes"), 1), "radius"),
             "2*pi");
  check_text(sni_node_get(sni_node_at(find(doc, "bodies", "hammer", "shapes"), 0), "radius"), "1");
  set(doc, "bodies.hammer.shapes[0]", "{type: box, size: [1, 2, 3]}");
  const sni_node *size =
      sni_node_get(sni_node_at(find(doc, "bodies", "hammer", "shapes"), 0), "size");
  check_text(sni_node_at(size, 2), "3");
  assert_true(sni_node_at(size, 2)->from_set);
  check_position(sni_node_at(size, 2), 0, 0);
  set(doc, "bodies.hammer.shapes", "[[1, 2], [3, 4]]");
  set(doc, "bodies.hammer.shapes[1][0]", "'#5'");
  check_text(sni_node_at(sni_node_at(find(doc, "bodies", "hammer", "shapes"), 1), 0), "#5");
  set(doc, "bodies", "none");
  check_text(find(doc, "bodies", NULL, NULL), "none");
  set(doc, "run", "\"\"");
  check_text(find(doc, "run", NULL, NULL), "");
  sni_doc_free(&doc);
}

TEST(set_creates) {
  sni_doc *doc = read_doc(scene);
  set(doc, "run.recursive.rel_tol", "1e-9");
  const sni_node *tol = find(doc, "run", "recursive", "rel_tol");
  check_text(tol, "1e-9");
  assert_true(find(doc, "run", "recursive", NULL)->from_set);
  assert_false(find(doc, "run", NULL, NULL)->from_set);
  check_position(find(doc, "run", NULL, NULL), 1, 6);
  sn_error err = {0};
  sni_doc_locate_key(doc, tol, &err);
  assert_string_equal(err.file, "--set");
  assert_int_equal(err.line, 0);

  /* nothing stands behind `joint:`, so it may become a map */
  set(doc, "bodies.hammer.joint.damping", "0.5");
  set(doc, "bodies.hammer.joint.axis", "[0, 0, -1]");
  const sni_node *joint = find(doc, "bodies", "hammer", "joint");
  assert_int_equal(joint->kind, SNI_NODE_MAPPING);
  assert_true(joint->from_set);
  assert_int_equal(joint->key_line, 5);
  assert_int_equal(sni_node_count(joint), 2);
  check_text(sni_node_at(sni_node_get(joint, "axis"), 2), "-1");

  /* a map grows over the size at which it gets an index */
  for (int i = 0; i < 100; i++) {
    char path[32], value[32];
    snprintf(path, sizeof path, "new.k%d", (37 * i) % 100);
    snprintf(value, sizeof value, "%d", i);
    set(doc, path, value);
    for (int k = 0; k <= i; k++) {
      snprintf(path, sizeof path, "k%d", (37 * k) % 100);
      snprintf(value, sizeof value, "%d", k);
      check_text(find(doc, "new", path, NULL), value);
    }
    assert_int_equal(sni_node_count(find(doc, "new", NULL, NULL)), i + 1);
  }
  sni_doc_free(&doc);
  doc = read_doc("- {a: 1}\n");
  set(doc, "[0].b.c", "2");
  check_text(sni_node_get(sni_node_get(sni_node_at(sni_doc_root(doc), 0), "b"), "c"), "2");
  sni_doc_free(&doc);
}

TEST(set_refuses) {
  static const struct {
    const char *path, *value;
    sn_status code;
    const char *message;
  } cases[] = {
      {"bodies.hammer.parent.x", "1", SN_E_ARGUMENT,
       "bodies.hammer.parent is the text 'world': 'x' needs a map"},
      {"bodies.hammer.parent[0]", "1", SN_E_ARGUMENT,
       "bodies.hammer.parent is a text: [0] needs a list"},
      {"bodies[0]", "1", SN_E_ARGUMENT, "bodies is a map: [0] needs a list"},
      {"[0]", "1", SN_E_ARGUMENT, "the document is a map: [0] needs a list"},
      {"bodies.hammer.shapes.radius", "1", SN_E_ARGUMENT,
       "bodies.hammer.shapes is a list: choose an entry with [0] before 'radius'"},
      {"bodies.hammer.shapes[2].radius", "1", SN_E_ARGUMENT,
       "index 2 is out of range: bodies.hammer.shapes has 2 entries"},
      {"bodies.hammer.shapes[999999999]", "1", SN_E_ARGUMENT,
       "index 999999999 is out of range: bodies.hammer.shapes has 2 entries"},
      {"bodies.nail.shapes[0].radius", "1", SN_E_ARGUMENT,
       "index 0 is out of range: bodies.nail.shapes does not exist"},
      {"", "1", SN_E_ARGUMENT, "the path needs a name at its beginning"},
      {".run", "1", SN_E_ARGUMENT, "the path needs a name at its beginning"},
      {"run.", "1", SN_E_ARGUMENT, "a name is missing after 'run.'"},
      {"run..step", "1", SN_E_ARGUMENT, "a name is missing after 'run.'"},
      {"run.[0]", "1", SN_E_ARGUMENT, "a name is missing after 'run.'"},
      {"bodies.hammer.shapes[0]radius", "1", SN_E_ARGUMENT, "a '.' is missing before 'radius'"},
      {"run]", "1", SN_E_ARGUMENT, "a '.' is missing before ']'"},
      {"bodies.hammer.shapes[x].radius", "1", SN_E_ARGUMENT,
       "'[x]' is no index, write a list entry as [0]"},
      {"bodies.hammer.shapes[-1]", "1", SN_E_ARGUMENT,
       "'[-1]' is no index, write a list entry as [0]"},
      {"bodies.hammer.shapes[]", "1", SN_E_ARGUMENT, "'[]' is no index, write a list entry as [0]"},
      {"bodies.hammer.shapes[0", "1", SN_E_ARGUMENT, "'[0' is no index, write a list entry as [0]"},
      {"bodies.hammer.shapes[9999999999]", "1", SN_E_ARGUMENT,
       "'[9999999999]' is no index, write a list entry as [0]"},
      {"run.step", "", SN_E_ARGUMENT, "the value is missing, write \"\" for an empty text"},
      {"run.step", "# 1", SN_E_ARGUMENT, "the value is missing, write \"\" for an empty text"},
      {"run.step", "[0, 1", SN_E_SYNTAX,
       "value '[0, 1', column 1: a ',' or ']' is missing before this (in the list that begins at "
       "line 1, column 1)"},
      {"run.step", "a: 1", SN_E_SYNTAX,
       "value 'a: 1', column 1: write a list as [a, b] and a map as {key: value}"},
      {"run.step", "- 1", SN_E_SYNTAX,
       "value '- 1', column 1: write a list as [a, b] and a map as {key: value}"},
      {"run.step", "{a: 1, a: 2}", SN_E_SYNTAX, "duplicate key 'a': remove one"},
      {"run.step", "[1, *a]", SN_E_SYNTAX,
       "value '[1, *a]', column 5: aliases are not supported: write the value of '*a' out"},
      {"run.step", "gr\xf6sse", SN_E_SYNTAX,
       "value 'gr?sse', column 3: not a text file (byte 0xf6 at offset 2), needs UTF-8"},
  };
  sni_doc *doc = read_doc(scene);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sn_error err = {0};
    const sn_status status = sni_doc_set(doc, cases[i].path, cases[i].value, &err);
    CHECK(status == cases[i].code && err.code == status, "%s = %s: %d", cases[i].path,
          cases[i].value, status);
    CHECK(strcmp(err.text, cases[i].message) == 0, "%s = %s\n  found:  %s\n  wanted: %s",
          cases[i].path, cases[i].value, err.text, cases[i].message);
    CHECK(strcmp(err.file, "--set") == 0 && strcmp(err.path, cases[i].path) == 0 && err.line == 0,
          "%s: %s: line %d", err.file, err.path, err.line);
    assert_int_equal(sni_doc_set(doc, cases[i].path, cases[i].value, NULL), status);
  }
  /* and nothing has changed */
  assert_int_equal(sni_node_count(sni_doc_root(doc)), 2);
  assert_int_equal(sni_node_count(find(doc, "bodies", NULL, NULL)), 1);
  check_text(find(doc, "run", "step", NULL), "0.01");
  check_position(find(doc, "run", "step", NULL), 1, 13);

  /* a path that is no text is shown in a form that can be */
  static const char *const paths[] = {"a\x1b[31m", "gr\xf6\xdf", "a\xe2\x80\xa8", "a\nb"};
  static const char *const shown[] = {"a?[31m", "gr??", "a?", "a b"};
  for (size_t i = 0; i < 4; i++) {
    sn_error err = {0};
    assert_int_equal(sni_doc_set(doc, paths[i], "1", &err), SN_E_ARGUMENT);
    assert_string_equal(err.text, "the path holds what is no text: remove it");
    assert_string_equal(err.path, shown[i]);
  }
  sni_doc_free(&doc);
}

TEST(set_keeps_the_limits) {
  sni_doc_limits limits = sni_doc_limits_default();
  limits.depth = 3;
  limits.nodes = 6;
  limits.file_size = 12;
  sni_doc *doc = NULL;
  sn_error err = {0};
  assert_int_equal(sni_doc_read_text(TEXT("a: 1"), "a.yaml", &limits, &doc, &err), SN_OK);
  assert_int_equal(sni_doc_set(doc, "a", "1234567890123", &err), SN_E_LIMIT);
  assert_string_equal(err.text, "larger than 12 bytes");
  assert_int_equal(sni_doc_set(doc, "b.c.d.e", "1", &err), SN_E_LIMIT);
  assert_string_equal(err.text, "nesting deeper than 3");
  assert_int_equal(sni_doc_set(doc, "b.c", "[[1]]", &err), SN_E_LIMIT);
  assert_string_equal(err.text, "value '[[1]]', column 2: nesting deeper than 3");
  assert_int_equal(sni_doc_set(doc, "b", "[1, 2, 3, 4]", &err), SN_E_LIMIT);
  assert_string_equal(err.text, "value '[1, 2, 3, 4]', column 11: more than 6 values");
  assert_int_equal(sni_doc_set(doc, "a", "[[1]]", &err), SN_OK);
  assert_int_equal(sni_doc_set(doc, "b.c", "1", &err), SN_E_LIMIT);
  assert_string_equal(err.text, "more than 6 values");
  assert_int_equal(sni_node_count(sni_doc_root(doc)), 1);
  sni_doc_free(&doc);
}

/* ---- overlays -------------------------------------------------------------------------------- */

TEST(overlay_merges) {
  sni_doc *doc = read_doc("base: {density: 1, contact: {mu: 2, e: 3, deep: {x: 1}}, at: [1, 2],\n"
                          "       only: {a: 1}}\n"
                          "over: {at: [5], contact: {mu: 7, deep: {y: 2}}, type: box}\n"
                          "text: hello\n");
  const sni_node *base = find(doc, "base", NULL, NULL), *over = find(doc, "over", NULL, NULL);
  const sni_node *text = find(doc, "text", NULL, NULL), *both = NULL;
  sn_error err = {0};
  assert_int_equal(sni_doc_overlay(doc, base, over, &both, &err), SN_OK);
  static const char *const keys[] = {"at", "contact", "type", "density", "only"};
  assert_int_equal(sni_node_count(both), 5);
  for (size_t i = 0; i < 5; i++) {
    assert_string_equal(sni_node_at(both, i)->key, keys[i]);
  }
  check_position(both, 3, 7);
  assert_string_equal(both->key, "over");
  /* lists are replaced, maps are merged, and everything remembers its place */
  assert_int_equal(sni_node_count(sni_node_get(both, "at")), 1);
  check_position(sni_node_get(both, "at"), 3, 12);
  check_position(sni_node_get(both, "density"), 1, 17);
  assert_ptr_equal(sni_node_get(both, "only"), sni_node_get(base, "only"));
  const sni_node *contact = sni_node_get(both, "contact");
  assert_int_equal(sni_node_count(contact), 3);
  check_text(sni_node_get(contact, "mu"), "7");
  check_text(sni_node_get(contact, "e"), "3");
  check_text(sni_node_get(sni_node_get(contact, "deep"), "x"), "1");
  check_text(sni_node_get(sni_node_get(contact, "deep"), "y"), "2");
  check_position(sni_node_get(contact, "e"), 1, 40);
  /* the parts are as before */
  assert_int_equal(sni_node_count(over), 3);
  assert_int_equal(sni_node_count(base), 4);
  assert_int_equal(sni_node_count(sni_node_get(over, "contact")), 2);
  check_text(sni_node_get(sni_node_get(base, "contact"), "mu"), "2");

  assert_int_equal(sni_doc_overlay(doc, NULL, over, &both, &err), SN_OK);
  assert_ptr_equal(both, over);
  assert_int_equal(sni_doc_overlay(doc, base, NULL, &both, &err), SN_OK);
  assert_ptr_equal(both, base);
  assert_int_equal(sni_doc_overlay(doc, base, text, &both, &err), SN_OK);
  assert_ptr_equal(both, text);
  assert_int_equal(sni_doc_overlay(doc, text, over, &both, &err), SN_OK);
  assert_ptr_equal(both, over);
  assert_int_equal(sni_doc_overlay(doc, NULL, NULL, &both, &err), SN_OK);
  assert_null(both);
  sni_doc_free(&doc);
}

TEST(overlay_of_large_maps) {
  enum { COUNT = 60 };
  char text[4000];
  int n = 0;
  for (int side = 0; side < 2; side++) {
    n += snprintf(text + n, sizeof text - (size_t)n, "%s:\n", side ? "over" : "base");
    for (int i = 0; i < COUNT; i++) {
      n += snprintf(text + n, sizeof text - (size_t)n, "  k%d: {v: %d, s%d: 0}\n",
                    i * (side ? 3 : 2), i, side);
    }
  }
  sni_doc *doc = read_doc(text);
  const sni_node *both = NULL;
  sn_error err = {0};
  assert_int_equal(sni_doc_overlay(doc, find(doc, "base", NULL, NULL),
                                   find(doc, "over", NULL, NULL), &both, &err),
                   SN_OK);
  assert_int_equal(sni_node_count(both), 2 * COUNT - 20); /* common: multiples of 6 below 120 */
  for (int i = 0; i < 3 * COUNT; i++) {
    const bool in_base = i % 2 == 0 && i < 2 * COUNT, in_over = i % 3 == 0;
    char key[32], value[32];
    snprintf(key, sizeof key, "k%d", i);
    const sni_node *node = sni_node_get(both, key);
    CHECK(!node == !(in_base || in_over), "%s", key);
    if (node) {
      snprintf(value, sizeof value, "%d", in_over ? i / 3 : i / 2);
      check_text(sni_node_get(node, "v"), value);
      CHECK(!sni_node_get(node, "s0") == !in_base, "%s: base", key);
      CHECK(!sni_node_get(node, "s1") == !in_over, "%s: over", key);
    }
  }
  sni_doc_free(&doc);
}

TEST(overlay_keeps_the_limits) {
  sni_doc_limits limits = sni_doc_limits_default();
  limits.nodes = 6;
  sni_doc *doc = NULL;
  sn_error err = {0};
  const sni_node *both = NULL;
  assert_int_equal(sni_doc_read_text(TEXT("a: {x: {}}\nb: {x: {}}"), "a.yaml", &limits, &doc, &err),
                   SN_OK);
  assert_int_equal(
      sni_doc_overlay(doc, find(doc, "a", NULL, NULL), find(doc, "b", NULL, NULL), &both, &err),
      SN_E_LIMIT);
  assert_string_equal(err.text, "more than 6 values");
  assert_string_equal(err.file, "a.yaml");
  assert_int_equal(err.line, 2);
  assert_null(both);
  sni_doc_free(&doc);
}
int main(void) {
  RUN_TESTS(T(set_overrides), T(set_creates), T(set_refuses), T(set_keeps_the_limits),
            T(overlay_merges), T(overlay_of_large_maps), T(overlay_keeps_the_limits));
}
