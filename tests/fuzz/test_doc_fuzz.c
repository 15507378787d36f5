/* test_doc_fuzz.c: damaged texts, random patches and failing allocations against the document
 * reader.  Whatever comes, it returns a status and a message or a tree that holds together. */
#define _POSIX_C_SOURCE 200809L
#include "heap.h"
#include "test.h"

#include <unistd.h>

#include "io/doc.h"

static const char *const seeds[] = {
    "# comment\n"
    "sinew: 1\n"
    "units: m kg s\n"
    "gravity: [0, 0, -9.81]\n"
    "defaults:\n"
    "  shape: {density: 2700, contact: steel}\n"
    "bodies:\n"
    "  crank:\n"
    "    parent: world\n"
    "    joint: {type: revolute, at: [0, 0, 0.6], axis: [0, 1, 0]}\n"
    "    shapes: [{type: capsule, from: [0, 0, 0], to: [-0.1, 0, 0], radius: 0.01}]\n"
    "  rope:\n"
    "    parent: crank\n"
    "    joint: {type: revolute, axis: [0, 1, 0], limits: [-120*deg, 120*deg]}\n"
    "    repeat: {count: 5, joint: {at: [1, 0, 0], damping: 0.01}}\n"
    "    inertia: {mass: 1, xx: 1, yy: 1, zz: 1, xy: 0, xz: 0, yz: 0, at: [0, 0, 0], a: 1, b: 2}\n"
    "motions:\n"
    "  motor: {joint: crank, q: \"2*pi*t\"}\n",
    "{\"a\": [1, 2.5e-3, -0], \"b\": {\"c\": \"\\u00e4\\n\", \"d\": null, \"e\": [[], {}, [[]]]},\n"
    " \"k1\": 1, \"k2\": 2, \"k3\": 3, \"k4\": 4, \"k5\": 5, \"k6\": 6, \"k7\": 7, \"k8\": 8}\n",
    "%YAML 1.2\n---\n- one\n- two: 'it''s'\n  three: |\n    block\n     more\n  four: >-\n    "
    "folded\n"
    "- - nested\n  - [a, b: c]\n- ? key\n  : value\n- gr\xc3\xb6\xc3\x9f"
    "e: \xe2\x82\xac\n...\n",
};
enum { SEED_COUNT = sizeof seeds / sizeof *seeds, TEXT_MAX = 4096 };

/* What libyaml, UTF-8 and the reader react to. */
static const char *const tokens[] = {
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ": ",
    "- ",
    "? ",
    "\n",
    "\r",
    "\t",
    " ",
    "  ",
    "\n  ",
    "#",
    " # ",
    "&a ",
    "*a",
    "!t ",
    "!!int",
    "|\n",
    ">\n",
    "'",
    "\"",
    "\\",
    "\\0",
    "%",
    "@",
    "`",
    "---\n",
    "...\n",
    "<<: ",
    "~",
    "null",
    "1e999",
    "nan",
    "\xc3",
    "\xa4",
    "\xe2\x80\xa8",
    "\xef\xbb\xbf",
    "\xf4\x90\x80\x80",
    "\x7f",
    "\x01",
    "%TAG ! x\n",
    "%YAML 1.1\n",
    "a: 1\n",
    "k1: 1\n",
    "[[[[[[[[",
};

static size_t random_below(uint64_t *seed, size_t n) {
  return (size_t)(test_random_u64(seed) % n);
}

static size_t insert(char *text, size_t n, size_t where, const char *piece, size_t length) {
  if (n + length > TEXT_MAX) {
    return n;
  }
  memmove(text + where + length, text + where, n - where);
  memcpy(text + where, piece, length);
  return n + length;
}

static size_t erase(char *text, size_t n, size_t where, size_t length) {
  length = length < n - where ? length : n - where;
  memmove(text + where, text + where + length, n - where - length);
  return n - length;
}

static size_t mutate(char *text, size_t n, uint64_t *seed) {
  for (size_t rounds = random_below(seed, 3) + 1; rounds > 0; rounds--) {
    const size_t where = random_below(seed, n + 1), length = random_below(seed, 40) + 1;
    char piece[64];
    switch (random_below(seed, 6)) {
    case 0:
      if (where < n) {
        text[where] = (char)(text[where] ^ (1 << random_below(seed, 8)));
      }
      break;
    case 1:
      piece[0] = (char)random_below(seed, 256);
      n = insert(text, n, where, piece, 1);
      break;
    case 2:
      n = erase(text, n, where, length);
      break;
    case 3: /* a piece of the text, elsewhere */
      if (n > length) {
        memcpy(piece, text + random_below(seed, n - length), length);
        n = insert(text, n, where, piece, length);
      }
      break;
    case 4:
      if (random_below(seed, 8) == 0) {
        n = where;
      }
      break;
    default: {
      const char *token = tokens[random_below(seed, sizeof tokens / sizeof *tokens)];
      n = insert(text, n, where, token, strlen(token));
      break;
    }
    }
  }
  return n;
}

/* ---- what must hold -------------------------------------------------------------------------- */

static bool is_clean(const char *text) {
  for (; *text; text++) {
    if ((unsigned char)*text < ' ' || *text == 0x7f) {
      return false;
    }
  }
  return true;
}

static void check_error(sn_status status, const sn_error *err, uint64_t seed) {
  CHECK(status < 0 && err->code == status, "seed %llu: %d, %d", (unsigned long long)seed, status,
        err->code);
  CHECK(err->text[0] && memchr(err->text, 0, sizeof err->text), "seed %llu: no text",
        (unsigned long long)seed);
  CHECK(err->line >= 0 && err->column >= 0 && err->file[0], "seed %llu: %s: %d:%d",
        (unsigned long long)seed, err->file, err->line, err->column);
  CHECK(is_clean(err->text) && is_clean(err->path), "seed %llu: control character in '%s', '%s'",
        (unsigned long long)seed, err->path, err->text);
}

static void check_node(const sni_node *node, const sni_node *parent, int line_count,
                       uint64_t seed) {
  CHECK(node->from_set ? node->line == 0 : node->line > 0 && node->column > 0, "seed %llu: %d:%d",
        (unsigned long long)seed, node->line, node->column);
  CHECK(node->line <= line_count, "seed %llu: line %d", (unsigned long long)seed, node->line);
  CHECK(!node->key == !(parent && parent->kind == SNI_NODE_MAPPING), "seed %llu: key %s",
        (unsigned long long)seed, node->key ? node->key : "missing");
  if (node->key) {
    CHECK(sni_node_get(parent, node->key) == node, "seed %llu: key '%s' is not found",
          (unsigned long long)seed, node->key);
  }
  double x;
  sni_node_number(node, &x);
  if (node->kind == SNI_NODE_SCALAR) {
    CHECK(strlen(node->text) == node->count, "seed %llu: '%s'", (unsigned long long)seed,
          node->text);
  }
}

/* Visits every node, with a stack of its own. */
static void check_tree(const sni_node *root, int line_count, uint64_t seed) {
  static const sni_node *stack[100000];
  size_t count = 0;
  check_node(root, NULL, line_count, seed);
  for (stack[count++] = root; count > 0;) {
    const sni_node *node = stack[--count];
    for (size_t i = 0; i < sni_node_count(node); i++) {
      check_node(sni_node_at(node, i), node, line_count, seed);
      assert_true(count < sizeof stack / sizeof *stack);
      stack[count++] = sni_node_at(node, i);
    }
  }
}

static void patch(sni_doc *doc, uint64_t *seed, uint64_t name) {
  static const char *const steps[] = {"bodies", ".rope", ".joint", ".k3", ".new", "[0]",  "[1]",
                                      "a",      ".b",    ".e",     "..",  "[",    ".\x01"};
  char path[64] = "";
  for (size_t i = random_below(seed, 5); i > 0; i--) {
    strncat(path, steps[random_below(seed, sizeof steps / sizeof *steps)],
            sizeof path - strlen(path) - 1);
  }
  char value[TEXT_MAX + 1] = "{a: [1, 2], b: 'x'}";
  value[mutate(value, strlen(value), seed)] = 0;
  sn_error err = {0};
  const sn_status status = sni_doc_set(doc, path, value, &err);
  if (status != SN_OK) {
    check_error(status, &err, name);
  }
}

static void overlay(sni_doc *doc, uint64_t *seed, int line_count, uint64_t name) {
  const sni_node *root = sni_doc_root(doc), *both = NULL;
  const size_t n = sni_node_count(root) + 1;
  const sni_node *a = sni_node_at(root, random_below(seed, n));
  const sni_node *b = sni_node_at(root, random_below(seed, n));
  sn_error err = {0};
  const sn_status status = sni_doc_overlay(doc, a ? a : root, b ? b : root, &both, &err);
  if (status != SN_OK) {
    check_error(status, &err, name);
  } else if (!both->key) {
    check_tree(both, line_count, name);
  }
}

TEST(damaged_texts) {
  size_t good = 0;
  for (uint64_t name = 0; name < 20000; name++) {
    uint64_t seed = name;
    char text[TEXT_MAX];
    const char *start = seeds[random_below(&seed, SEED_COUNT)];
    const size_t n = mutate(text, insert(text, 0, 0, start, strlen(start)), &seed);
    sni_doc_limits limits = sni_doc_limits_default();
    if (random_below(&seed, 4) == 0) {
      limits.depth = random_below(&seed, 8);
      limits.nodes = random_below(&seed, 200);
      limits.memory = random_below(&seed, 10000);
    }
    /* a copy of its exact size, so that reading one byte too many is noticed */
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, text, n);
    sni_doc *doc = NULL;
    sn_error err = {0};
    const sn_status status = sni_doc_read_text(copy, n, "fuzz.yaml", &limits, &doc, &err);
    free(copy);
    if (status != SN_OK) {
      check_error(status, &err, name);
      CHECK(!doc, "seed %llu", (unsigned long long)name);
      continue;
    }
    good++;
    check_tree(sni_doc_root(doc), (int)n + 1, name);
    for (size_t i = random_below(&seed, 4); i > 0; i--) {
      patch(doc, &seed, name);
      check_tree(sni_doc_root(doc), (int)n + 1, name);
    }
    overlay(doc, &seed, (int)n + 1, name);
    sni_doc_free(&doc);
  }
  /* 3479 of them are still good (libyaml 0.2.5): enough of both kinds */
  CHECK(good > 3000, "%zu", good);
}

/* ---- memory that runs out -------------------------------------------------------------------- */

/* Everything that takes memory.  The tree must be whole after a failure, too. */
static sn_status use_everything(const char *text, const sni_doc_limits *limits, sn_error *err) {
  sni_doc *doc = NULL;
  sn_status status = sni_doc_read_text(text, strlen(text), "a.yaml", limits, &doc, err);
  const int line_count = (int)strlen(text);
  if (status == SN_OK) {
    const size_t count = sni_node_count(sni_doc_root(doc));
    status = sni_doc_set(doc, "new.map.with", "{a: [1, 2, 3], b: {c: d}}", err);
    check_tree(sni_doc_root(doc), line_count, 0);
    assert_int_equal(sni_node_count(sni_doc_root(doc)), count + (status == SN_OK));
  }
  if (status == SN_OK) {
    const sni_node *both = NULL;
    status = sni_doc_overlay(doc, sni_node_get(sni_doc_root(doc), "bodies"), sni_doc_root(doc),
                             &both, err);
    assert_int_equal(status == SN_OK, both != NULL);
    check_tree(sni_doc_root(doc), line_count, 0);
  }
  sni_doc_free(&doc);
  return status;
}

TEST(every_limit_of_memory) {
  sni_doc_limits limits = sni_doc_limits_default();
  sn_status status = SN_E_MEMORY;
  for (limits.memory = 0; status == SN_E_MEMORY; limits.memory += 4) {
    sn_error err = {0};
    status = use_everything(seeds[0], &limits, &err);
    CHECK(status == SN_OK || (status == SN_E_MEMORY && err.code == status), "%zu bytes: %d, %s",
          limits.memory, status, err.text);
    assert_true(limits.memory < 100000);
  }
}

/* A text that needs several chunks, a large index and a growing list of pending nodes. */
static char *large_text(void) {
  char *text = malloc(100000);
  assert_non_null(text);
  size_t n = (size_t)sprintf(text, "%s", seeds[0]);
  for (int i = 0; i < 1000; i++) {
    n += (size_t)sprintf(text + n, "key%d: [%d, \"quoted\", {a: 1}]\n", i, i);
  }
  return text;
}

TEST(every_allocation_fails) {
  if (!HEAP_REFUSES) {
    return;
  }
  char *text = large_text();
  char name[] = "test_doc_fuzz_XXXXXX";
  const int fd = mkstemp(name);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  for (int way = 0; way < 2; way++) {
    int failures = 0;
    for (long fail_at = 1; fail_at == 1 || heap.has_failed; fail_at += fail_at < 500 ? 1 : 97) {
      sn_error err = {0};
      sni_doc *doc = NULL;
      heap_watch(fail_at);
      const sn_status status =
          way == 0 ? use_everything(text, NULL, &err) : sni_doc_read_file(name, NULL, &doc, &err);
      sni_doc_free(&doc);
      heap_stop();
      CHECK(status == SN_OK || (status == SN_E_MEMORY && err.code == status && err.text[0]),
            "allocation %ld: %d, %s", fail_at, status, err.text);
      CHECK(heap.alive == 0, "allocation %ld: %ld blocks are left", fail_at, heap.alive);
      failures += status == SN_E_MEMORY;
    }
    CHECK(failures > 500, "%d", failures);
  }
  remove(name);
  free(text);
}

int main(void) {
  heap_ready();
  RUN_TESTS(T(damaged_texts), T(every_limit_of_memory), T(every_allocation_fails));
}
