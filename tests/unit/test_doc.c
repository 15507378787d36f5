/* test_doc.c: reading YAML and JSON into nodes: positions, refusals, limits, patches, overlays. */
#define _POSIX_C_SOURCE 200809L
#include "test.h"

#include <errno.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/doc.h"

static sni_doc *read_doc(const char *text) {
  sni_doc *doc = NULL;
  sn_error err = {0};
  const sn_status status = sni_doc_read_text(text, strlen(text), "a.yaml", NULL, &doc, &err);
  CHECK(status == SN_OK, "%s\nline %d, column %d: %s", text, err.line, err.column, err.text);
  return doc;
}

static void check_position(const sni_node *node, int line, int column) {
  CHECK(node && node->line == line && node->column == column, "is at %d:%d, not %d:%d",
        node ? node->line : -1, node ? node->column : -1, line, column);
}

static void check_text(const sni_node *node, const char *text) {
  const bool scalar = node && node->kind == SNI_NODE_SCALAR;
  CHECK(scalar && strcmp(node->text, text) == 0, "'%s', not '%s'", scalar ? node->text : "(none)",
        text);
  CHECK(scalar && node->count == strlen(text), "'%s': wrong length", text);
}

/* ---- what is read ---------------------------------------------------------------------------- */

TEST(nodes_know_their_place) {
  sni_doc *doc = read_doc("# a scene\n"
                          "sinew: 1\n"
                          "bodies:\n"
                          "  arm:\n"
                          "    parent: world\n"
                          "    at: [0, \"1\", -2.5]\n"
                          "    empty:\n"
                          "  list:\n"
                          "  - one\n"
                          "  - {größe: 2*pi, b: 'it''s'}\n");
  const sni_node *root = sni_doc_root(doc);
  assert_string_equal(sni_doc_name(doc), "a.yaml");
  assert_int_equal(root->kind, SNI_NODE_MAPPING);
  check_position(root, 2, 1);
  assert_null(root->key);
  assert_int_equal(sni_node_count(root), 2);

  const sni_node *arm = sni_node_get(sni_node_get(root, "bodies"), "arm");
  check_position(arm, 5, 5);
  assert_string_equal(arm->key, "arm");
  assert_int_equal(arm->key_line, 4);
  assert_int_equal(arm->key_column, 3);

  const sni_node *at = sni_node_get(arm, "at");
  check_position(at, 6, 9);
  assert_int_equal(at->kind, SNI_NODE_SEQUENCE);
  assert_int_equal(sni_node_count(at), 3);
  check_position(sni_node_at(at, 1), 6, 13);
  check_text(sni_node_at(at, 1), "1");
  assert_true(sni_node_at(at, 1)->quoted);
  assert_false(sni_node_at(at, 0)->quoted);
  check_text(sni_node_at(at, 2), "-2.5");
  assert_null(sni_node_at(at, 2)->key);
  assert_null(sni_node_at(at, 3));

  /* a missing value is where it would have begun */
  const sni_node *empty = sni_node_get(arm, "empty");
  assert_true(sni_node_is_empty(empty));
  check_position(empty, 7, 11);
  assert_int_equal(empty->key_line, 7);

  /* columns count characters, not bytes */
  const sni_node *entry = sni_node_at(sni_node_get(sni_node_get(root, "bodies"), "list"), 1);
  check_position(entry, 10, 5);
  check_text(sni_node_get(entry, "größe"), "2*pi");
  check_position(sni_node_get(entry, "größe"), 10, 13);
  check_position(sni_node_get(entry, "b"), 10, 22);
  assert_int_equal(sni_node_get(entry, "b")->key_column, 19);
  check_text(sni_node_get(entry, "b"), "it's");
  sni_doc_free(&doc);
  assert_null(doc);
}

TEST(nodes_fit_into_48_bytes) {
  assert_true(sizeof(sni_node) <= 48);
}

TEST(texts_are_texts) {
  sni_doc *doc = read_doc("a: no\nb: ~\nc: \"\"\nd: |\n  two\n  lines\ne: >\n  folded\n  text\n"
                          "f: \"tab\\t\\u00e4\"\ng: -120*deg\nh: a:b\ni: multi\n   line\n");
  const sni_node *root = sni_doc_root(doc);
  check_text(sni_node_get(root, "a"), "no");
  check_text(sni_node_get(root, "b"), "~");
  check_text(sni_node_get(root, "c"), "");
  assert_false(sni_node_is_empty(sni_node_get(root, "b")));
  assert_false(sni_node_is_empty(sni_node_get(root, "c")));
  assert_true(sni_node_get(root, "c")->quoted);
  check_text(sni_node_get(root, "d"), "two\nlines\n");
  assert_true(sni_node_get(root, "d")->quoted);
  check_text(sni_node_get(root, "e"), "folded text\n");
  check_text(sni_node_get(root, "f"), "tab\t\xc3\xa4");
  check_text(sni_node_get(root, "g"), "-120*deg");
  check_text(sni_node_get(root, "h"), "a:b");
  check_text(sni_node_get(root, "i"), "multi line");
  sni_doc_free(&doc);
}

TEST(json_is_read) {
  sni_doc *doc = read_doc("{\n\t\"a\":1,\"b\":[true,null,{}],\n"
                          "\t\"c\": {\"x/y\": \"\\/\\n\\\"\", \"<<\": []}, \"\": -1.5e-3\n}\n");
  const sni_node *root = sni_doc_root(doc);
  double x = 0;
  check_position(root, 1, 1);
  assert_true(sni_node_number(sni_node_get(root, "a"), &x));
  assert_true(x == 1);
  check_position(sni_node_get(root, "a"), 2, 6);
  check_text(sni_node_at(sni_node_get(root, "b"), 0), "true");
  check_text(sni_node_at(sni_node_get(root, "b"), 1), "null");
  assert_int_equal(sni_node_at(sni_node_get(root, "b"), 2)->kind, SNI_NODE_MAPPING);
  assert_int_equal(sni_node_count(sni_node_at(sni_node_get(root, "b"), 2)), 0);
  check_text(sni_node_get(sni_node_get(root, "c"), "x/y"), "/\n\"");
  assert_int_equal(sni_node_count(sni_node_get(sni_node_get(root, "c"), "<<")), 0);
  assert_true(sni_node_number(sni_node_get(root, ""), &x));
  assert_true(x == -1.5e-3);
  sni_doc_free(&doc);
}

TEST(roots_of_every_kind) {
  sni_doc *doc = read_doc("[1, 2]");
  assert_int_equal(sni_node_count(sni_doc_root(doc)), 2);
  sni_doc_free(&doc);
  doc = read_doc("42");
  check_text(sni_doc_root(doc), "42");
  sni_doc_free(&doc);
  doc = read_doc("\"\"");
  check_text(sni_doc_root(doc), "");
  sni_doc_free(&doc);
  sni_doc_free(&doc);
  sni_doc_free(NULL);
}

TEST(directives_marks_and_line_ends) {
  static const char *const same[] = {
      "a: 1\nb: 2\n",
      "a: 1\r\nb: 2\r\n",
      "a: 1\rb: 2",
      "\357\273\277a: 1\nb: 2",
  };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    sni_doc *doc = read_doc(same[i]);
    check_position(sni_node_get(sni_doc_root(doc), "a"), 1, 4);
    check_position(sni_node_get(sni_doc_root(doc), "b"), 2, 4);
    sni_doc_free(&doc);
  }
  static const char *const marked[] = {"%YAML 1.2\n---\na: 1\n...\n", "%YAML 1.1\n---\na: 1\n"};
  for (size_t i = 0; i < sizeof marked / sizeof *marked; i++) {
    sni_doc *doc = read_doc(marked[i]);
    check_position(sni_node_get(sni_doc_root(doc), "a"), 3, 4);
    sni_doc_free(&doc);
  }
}

TEST(questions_to_nothing) {
  double x = 7;
  assert_null(sni_node_get(NULL, "a"));
  assert_null(sni_node_at(NULL, 0));
  assert_int_equal(sni_node_count(NULL), 0);
  assert_false(sni_node_number(NULL, &x));
  assert_false(sni_node_is_empty(NULL));
  sni_doc *doc = read_doc("a: [1]\nb: text\n");
  const sni_node *root = sni_doc_root(doc);
  assert_null(sni_node_get(sni_node_get(root, "a"), "a"));
  assert_null(sni_node_get(sni_node_get(root, "b"), "a"));
  assert_null(sni_node_at(sni_node_get(root, "b"), 0));
  assert_null(sni_node_get(root, ""));
  assert_null(sni_node_get(root, "aa"));
  assert_int_equal(sni_node_count(sni_node_get(root, "b")), 0);
  assert_false(sni_node_number(root, &x));
  assert_string_equal(sni_node_kind_text(root), "a map");
  assert_string_equal(sni_node_kind_text(sni_node_get(root, "a")), "a list");
  assert_string_equal(sni_node_kind_text(sni_node_get(root, "b")), "a text");
  assert_true(x == 7);
  sni_doc_free(&doc);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void check_numbers(void) {
  static const struct {
    const char *text;
    bool ok;
    double value;
  } cases[] = {
      {"0", true, 0},
      {"-0.0", true, -0.0},
      {"+1", true, 1},
      {"007", true, 7},
      {".5", true, 0.5},
      {"5.", true, 5},
      {"-1.5e+3", true, -1500},
      {"1E-2", true, 0.01},
      {"0.1", true, 0.1},
      {"1.7976931348623157e308", true, 1.7976931348623157e308},
      {"4.9406564584124654e-324", true, 4.9406564584124654e-324},
      {"1e-400", true, 0},
      {"1e999", false, 0},
      {"nan", false, 0},
      {".nan", false, 0},
      {"inf", false, 0},
      {"-.inf", false, 0},
      {"infinity", false, 0},
      {"0x10", false, 0},
      {"1_000", false, 0},
      {"1,5", false, 0},
      {"1e", false, 0},
      {"1e+", false, 0},
      {".", false, 0},
      {"+", false, 0},
      {"--1", false, 0},
      {"1 2", false, 0},
      {"1.2.3", false, 0},
      {"2*pi", false, 0},
      {"1f", false, 0},
      {"\"1\"", false, 0},
      {"'1'", false, 0},
      {"[1]", false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sni_doc *doc = read_doc(cases[i].text);
    double value = 77;
    const bool ok = sni_node_number(sni_doc_root(doc), &value);
    CHECK(ok == cases[i].ok, "%s: %d", cases[i].text, ok);
    if (ok) {
      CHECK(value == cases[i].value && signbit(value) == signbit(cases[i].value), "%s: %g",
            cases[i].text, value);
    } else {
      CHECK(value == 77, "%s: %g", cases[i].text, value);
    }
    sni_doc_free(&doc);
  }
}

TEST(numbers) {
  check_numbers();
}

/* A locale that writes 0,5.  Few machines have one installed, so the test makes its own: the
 * compiled form that glibc reads is a header of offsets, then the decimal point, the thousands
 * separator, the grouping, the first two as wide characters, and the name of the character set. */
static void write_comma_locale(const char *path) {
  const uint32_t header[] = {0x20031115 ^ LC_NUMERIC, 6, 32, 34, 35, 36, 40, 44};
  const uint32_t wide[] = {',', 0};
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fwrite(header, sizeof header, 1, file);
  fwrite(",\0\0\0", 4, 1, file);
  fwrite(wide, sizeof wide, 1, file);
  fwrite("ANSI_X3.4-1968", 15, 1, file);
  assert_int_equal(fclose(file), 0);
}

TEST(numbers_where_the_point_is_a_comma) {
  char dir[] = "test_doc_XXXXXX", sub[64], path[80];
  assert_non_null(mkdtemp(dir));
  snprintf(sub, sizeof sub, "%s/comma", dir);
  snprintf(path, sizeof path, "%s/LC_NUMERIC", sub);
  assert_int_equal(mkdir(sub, 0700), 0);
  write_comma_locale(path);
  setenv("LOCPATH", dir, 1);
  const bool there = setlocale(LC_NUMERIC, "comma");
  unsetenv("LOCPATH");
  remove(path);
  remove(sub);
  remove(dir);
#ifdef __GLIBC__
  assert_true(there);
  assert_true(strtod("0.5", NULL) == 0); /* so the locale does what it should */
#endif
  check_numbers();
  if (there) {
    assert_string_equal(localeconv()->decimal_point, ","); /* and is left as it was */
  }
  setlocale(LC_NUMERIC, "C");
}

/* ---- what is refused ------------------------------------------------------------------------- */

typedef struct refusal {
  const char *text;
  size_t n;
  sn_status code;
  int line, column;
  const char *message;
} refusal;

#define TEXT(s) s, sizeof s - 1

static void check_refusal(const refusal *c, const sni_doc_limits *limits) {
  sni_doc *doc = NULL;
  sn_error err = {0};
  const sn_status status = sni_doc_read_text(c->text, c->n, "a.yaml", limits, &doc, &err);
  CHECK(status == c->code && err.code == c->code, "%s: status %d, %d", c->text, status, err.code);
  CHECK(strcmp(err.text, c->message) == 0, "%s\n  found:  %s\n  wanted: %s", c->text, err.text,
        c->message);
  CHECK(err.line == c->line && err.column == c->column, "%s: at %d:%d, not %d:%d", c->text,
        err.line, err.column, c->line, c->column);
  CHECK(strcmp(err.file, "a.yaml") == 0, "%s: file '%s'", c->text, err.file);
  CHECK(!doc, "%s: the output was touched", c->text);
  CHECK(sni_doc_read_text(c->text, c->n, "a.yaml", limits, &doc, NULL) == c->code,
        "%s: without err", c->text);
}

TEST(yaml_that_surprises_is_refused) {
  static const refusal cases[] = {
      {TEXT("a: &x 1\n"), SN_E_SYNTAX, 1, 4,
       "anchors are not supported: remove '&x' and write the value where it is needed"},
      {TEXT("a: &x [1]\n"), SN_E_SYNTAX, 1, 4,
       "anchors are not supported: remove '&x' and write the value where it is needed"},
      {TEXT("a: &x\n  b: 1\n"), SN_E_SYNTAX, 1, 4,
       "anchors are not supported: remove '&x' and write the value where it is needed"},
      {TEXT("&k a: 1\n"), SN_E_SYNTAX, 1, 1,
       "anchors are not supported: remove '&k' and write the value where it is needed"},
      {TEXT("b: 1\na: *x\n"), SN_E_SYNTAX, 2, 4,
       "aliases are not supported: write the value of '*x' out"},
      {TEXT("*x : 1\n"), SN_E_SYNTAX, 1, 1,
       "aliases are not supported: write the value of '*x' out"},
      {TEXT("a: !!int 3\n"), SN_E_SYNTAX, 1, 4,
       "tags are not supported: remove the '!', types follow from the key"},
      {TEXT("a: ! 3\n"), SN_E_SYNTAX, 1, 4,
       "tags are not supported: remove the '!', types follow from the key"},
      {TEXT("a: !e!x 3\n"), SN_E_SYNTAX, 1, 4,
       "tags are not supported: remove the '!', types follow from the key"},
      {TEXT("a: !t [3]\n"), SN_E_SYNTAX, 1, 4,
       "tags are not supported: remove the '!', types follow from the key"},
      {TEXT("%TAG ! tag:x,2000:\n---\na: 1\n"), SN_E_SYNTAX, 1, 1,
       "%TAG is not supported: remove the directive"},
      {TEXT("%YAML 1.3\n---\na: 1\n"), SN_E_SYNTAX, 1, 1,
       "this version of YAML cannot be read: write %YAML 1.2"},
      {TEXT("%FOO\n---\na: 1\n"), SN_E_SYNTAX, 1, 5, "unknown directive: remove the line"},
      {TEXT("a: 1\n---\nb: 1\n"), SN_E_SYNTAX, 2, 1,
       "a second document begins here: a file holds one"},
      {TEXT("---\n---\n"), SN_E_SYNTAX, 2, 1, "a second document begins here: a file holds one"},
      {TEXT("a: 1\nb:\n  <<: {c: 1}\n"), SN_E_SYNTAX, 3, 3,
       "merge keys ('<<') are not supported: write the entries out"},
      {TEXT("a: 1\nb: 2\na: 3\n"), SN_E_SYNTAX, 3, 1,
       "duplicate key 'a', first at line 1, column 1: remove one"},
      {TEXT("{\"a\": 1, 'a': 3}"), SN_E_SYNTAX, 1, 10,
       "duplicate key 'a', first at line 1, column 2: remove one"},
      {TEXT("? [a]\n: 1\n"), SN_E_SYNTAX, 1, 3, "a key must be a text, not a list or a map"},
      {TEXT("{{a: 1}: 1}\n"), SN_E_SYNTAX, 1, 2, "a key must be a text, not a list or a map"},
      {TEXT("?\n: 1\n"), SN_E_SYNTAX, 1, 2, "a key is missing here: write key: value"},
      {TEXT("{radius:0.1}\n"), SN_E_SYNTAX, 1, 2,
       "key 'radius:0.1' has no value: put a space after the ':'"},
      {TEXT("a: \"x\\0y\"\n"), SN_E_SYNTAX, 1, 4,
       "the text holds the control character U+0000: remove it"},
      {TEXT("\"x\\0\": 1\n"), SN_E_SYNTAX, 1, 1,
       "the text holds the control character U+0000: remove it"},
      {TEXT("a: \"\\e[31m\"\n"), SN_E_SYNTAX, 1, 4,
       "the text holds the control character U+001B: remove it"},
      {TEXT("a: \"\\x9b\"\n"), SN_E_SYNTAX, 1, 4,
       "the text holds the control character U+009B: remove it"},
      {TEXT("a: \"\\N\"\n"), SN_E_SYNTAX, 1, 4,
       "the text holds the control character U+0085: remove it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_refusal(&cases[i], NULL);
  }
}

TEST(syntax_errors_help) {
  static const refusal cases[] = {
      {TEXT("a:\n\tb: 1\n"), SN_E_SYNTAX, 2, 1, "a tab stands here: indent with spaces"},
      {TEXT("a:\n  b: 1\n\tc: 2\n"), SN_E_SYNTAX, 3, 1, "a tab stands here: indent with spaces"},
      {TEXT("a: |\n  x\n\ty\n"), SN_E_SYNTAX, 3, 1, "a tab stands here: indent with spaces"},
      {TEXT("-\t- a\n-\tb: 1\n"), SN_E_SYNTAX, 1, 2, "a tab stands here: indent with spaces"},
      {TEXT("\t[1\n\t2 }"), SN_E_SYNTAX, 1, 1, "a tab stands here: indent with spaces"},
      {TEXT("{\n\t\"a\": 1\n\t\"b\": 2\n}\n"), SN_E_SYNTAX, 3, 5,
       "a ',' or '}' is missing before this (in the map that begins at line 1, column 1)"},
      {TEXT("a: 1\nradius:0.1\nb: 2\n"), SN_E_SYNTAX, 2, 1,
       "no ': ' follows this key: write key: value"},
      {TEXT("a: [1, 2\nb: 3\n"), SN_E_SYNTAX, 2, 2,
       "a ',' or ']' is missing before this (in the list that begins at line 1, column 4)"},
      {TEXT("a: {b: 1\n"), SN_E_SYNTAX, 2, 1,
       "a ',' or '}' is missing before this (in the map that begins at line 1, column 4)"},
      {TEXT("a: 1\n  b: 2\n"), SN_E_SYNTAX, 2, 4,
       "a ': ' cannot stand here: check the indentation, or put the text in quotes"},
      {TEXT("a: b: c\n"), SN_E_SYNTAX, 1, 5,
       "a ': ' cannot stand here: check the indentation, or put the text in quotes"},
      {TEXT("a: - b\n"), SN_E_SYNTAX, 1, 4,
       "a '- ' cannot stand here: begin the list on a line of its own, or put the text in quotes"},
      {TEXT("  a: 1\nb: 2\n"), SN_E_SYNTAX, 2, 1,
       "the document ended before this: check indentation and brackets"},
      {TEXT("{} {}"), SN_E_SYNTAX, 1, 4,
       "the document ended before this: check indentation and brackets"},
      {TEXT("a: 1\n}\n"), SN_E_SYNTAX, 2, 1,
       "a key is expected here: check indentation, brackets and quotes of this line and the last "
       "(in the map that begins at line 1, column 1)"},
      {TEXT("- a\nb: 1\n"), SN_E_SYNTAX, 2, 1,
       "a '- ' is expected here: check the indentation (in the list that begins at line 1, column "
       "1)"},
      {TEXT("a: ]\n"), SN_E_SYNTAX, 1, 4, "a value is missing before this"},
      {TEXT("a: \"x\nb: 1\n"), SN_E_SYNTAX, 3, 1,
       "the closing quote is missing (in the text that begins at line 1, column 4)"},
      {TEXT("a: 'x\n---\n"), SN_E_SYNTAX, 2, 1,
       "the closing quote is missing (in the text that begins at line 1, column 4)"},
      {TEXT("a: @x\n"), SN_E_SYNTAX, 1, 4,
       "a text cannot begin with this character: put it in quotes"},
      {TEXT("a: \"C:\\qq\"\n"), SN_E_SYNTAX, 1, 7,
       "unknown escape: write \\\\ for a backslash, or use single quotes (in the text that begins "
       "at line 1, column 4)"},
      {TEXT("a: \"\\ud83d\\ude00\"\n"), SN_E_SYNTAX, 1, 7,
       "this escape is no character: write the character itself (in the text that begins at line "
       "1, column 4)"},
      {TEXT("a: * 2\n"), SN_E_SYNTAX, 1, 5,
       "'*' and '&' mean aliases and anchors, which are not supported: put the text in quotes"},
      {TEXT("a: |x\n  b\n"), SN_E_SYNTAX, 1, 5,
       "did not find expected comment or line break (in the text block that begins at line 1, "
       "column 4)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_refusal(&cases[i], NULL);
  }
}

TEST(what_is_no_text_is_refused) {
  static const refusal cases[] = {
      {NULL, 0, SN_E_SYNTAX, 0, 0, "the file is empty"},
      {TEXT(""), SN_E_SYNTAX, 0, 0, "the file is empty"},
      {TEXT(" \n\n"), SN_E_SYNTAX, 0, 0, "the file is empty"},
      {TEXT("# only\n# comments\n"), SN_E_SYNTAX, 0, 0, "the file is empty"},
      {TEXT("---\n...\n"), SN_E_SYNTAX, 0, 0, "the file is empty"},
      {TEXT("\xef\xbb\xbf"), SN_E_SYNTAX, 0, 0, "the file is empty"},
      {TEXT("a: 1\nb\0: 2"), SN_E_SYNTAX, 2, 2,
       "not a text file (byte 0x00 at offset 6), needs UTF-8"},
      {TEXT("\177ELF"), SN_E_SYNTAX, 1, 1, "not a text file (byte 0x7f at offset 0), needs UTF-8"},
      {TEXT("\377\376a\0"), SN_E_SYNTAX, 1, 1,
       "not a text file (byte 0xff at offset 0), needs UTF-8"},
      {TEXT("\303\244: gr\366\337e\n"), SN_E_SYNTAX, 1, 6,
       "not a text file (byte 0xf6 at offset 6), needs UTF-8"},
      {TEXT("a: \xc0\x80"), SN_E_SYNTAX, 1, 4,
       "not a text file (byte 0xc0 at offset 3), needs UTF-8"},
      {TEXT("a: \xc1\xa1"), SN_E_SYNTAX, 1, 4,
       "not a text file (byte 0xc1 at offset 3), needs UTF-8"},
      {TEXT("a: \xe0\x80\xaf"), SN_E_SYNTAX, 1, 4,
       "not a text file (byte 0xe0 at offset 3), needs UTF-8"},
      {TEXT("a: \xed\xa0\x80"), SN_E_SYNTAX, 1, 4,
       "not a text file (byte 0xed at offset 3), needs UTF-8"},
      {TEXT("a: \xf4\x90\x80\x80"), SN_E_SYNTAX, 1, 4,
       "not a text file (byte 0xf4 at offset 3), needs UTF-8"},
      {TEXT("a: \xe2\x82"), SN_E_SYNTAX, 1, 4,
       "not a text file (byte 0xe2 at offset 3), needs UTF-8"},
      {TEXT("a: \xef\xbb\xbf"), SN_E_SYNTAX, 1, 4,
       "not a text file (byte 0xef at offset 3), needs UTF-8"},
      {TEXT("a: \xef\xbf\xbf"), SN_E_SYNTAX, 1, 4,
       "not a text file (byte 0xef at offset 3), needs UTF-8"},
      {TEXT("a: 1\r\n\x1b[31m"), SN_E_SYNTAX, 2, 1,
       "not a text file (byte 0x1b at offset 6), needs UTF-8"},
      {TEXT("# a\342\200\250b: 1\n"), SN_E_SYNTAX, 1, 4,
       "the character U+2028 is a hidden line break: remove it"},
      {TEXT("# a\302\205b: 1\n"), SN_E_SYNTAX, 1, 4,
       "the character U+0085 is a hidden line break: remove it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_refusal(&cases[i], NULL);
  }
}

TEST(long_names_are_cut_in_messages) {
  char text[1000], message[200];
  int n = 0;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 100; i++) {
      n += snprintf(text + n, sizeof text - (size_t)n, "\xc3\xa4");
    }
    n += snprintf(text + n, sizeof text - (size_t)n, ": 1\n");
  }
  int m = snprintf(message, sizeof message, "duplicate key '");
  for (int i = 0; i < 24; i++) {
    m += snprintf(message + m, sizeof message - (size_t)m, "\xc3\xa4");
  }
  snprintf(message + m, sizeof message - (size_t)m, "...', first at line 1, column 1: remove one");
  const refusal c = {text, (size_t)n, SN_E_SYNTAX, 2, 1, message};
  check_refusal(&c, NULL);
}

/* The one nearest to the top is reported, in small maps and in those with an index. */
TEST(duplicates_in_large_maps) {
  char text[2000];
  for (int count = 2; count < 40; count++) {
    const int last = (7 * (count - 1)) % 41;
    int n = snprintf(text, sizeof text, "z: 1\n");
    for (int i = 0; i < count; i++) {
      n += snprintf(text + n, sizeof text - (size_t)n, "k%d: 1\n", (7 * i) % 41);
    }
    snprintf(text + n, sizeof text - (size_t)n, "k%d: 1\nk0: 1\nz: 1\n", last);
    char message[100];
    snprintf(message, sizeof message, "duplicate key 'k%d', first at line %d, column 1: remove one",
             last, count + 1);
    const refusal c = {text, strlen(text), SN_E_SYNTAX, count + 2, 1, message};
    check_refusal(&c, NULL);
  }
}

TEST(large_maps_find_every_key) {
  enum { COUNT = 100000 };
  char *text = malloc((size_t)COUNT * 16);
  assert_non_null(text);
  size_t n = 0;
  for (int i = 0; i < COUNT; i++) {
    n += (size_t)sprintf(text + n, "b%d: %d\n", i, i);
  }
  sni_doc *doc = NULL;
  sn_error err = {0};
  assert_int_equal(sni_doc_read_text(text, n, "a.yaml", NULL, &doc, &err), SN_OK);
  free(text);
  const sni_node *root = sni_doc_root(doc);
  assert_int_equal(sni_node_count(root), COUNT);
  for (int i = 0; i < COUNT; i++) {
    char key[32];
    snprintf(key, sizeof key, "b%d", i);
    const sni_node *node = sni_node_get(root, key);
    CHECK(node && node == sni_node_at(root, (size_t)i) && node->line == i + 1, "%s", key);
  }
  assert_null(sni_node_get(root, "b100000"));
  assert_null(sni_node_get(root, "a"));
  assert_null(sni_node_get(root, "c"));
  sni_doc_free(&doc);
}

/* ---- limits ---------------------------------------------------------------------------------- */

TEST(default_limits) {
  const sni_doc_limits l = sni_doc_limits_default();
  assert_int_equal(l.file_size, 64 << 20);
  assert_int_equal(l.depth, 64);
  assert_int_equal(l.nodes, 5000000);
  assert_int_equal(l.memory, 1 << 30);
}

static void nest(char *text, size_t depth) {
  memset(text, '[', depth);
  memset(text + depth, ']', depth);
  text[2 * depth] = 0;
}

TEST(depth_is_limited) {
  char text[400];
  nest(text, 64);
  sni_doc *doc = read_doc(text);
  sni_doc_free(&doc);
  nest(text, 65);
  const refusal c = {text, strlen(text), SN_E_LIMIT, 1, 65, "nesting deeper than 64"};
  check_refusal(&c, NULL);
  memset(text, '{', 199);
  const refusal maps = {text, 199, SN_E_SYNTAX, 1, 2, "a key must be a text, not a list or a map"};
  check_refusal(&maps, NULL);
}

/* Deep trees are read and freed without recursion.  (Not deeper, because the time that libyaml
 * takes grows with the square of the depth: it looks at every open bracket for every token.) */
TEST(deep_trees_do_not_need_the_stack) {
  enum { DEPTH = 20000 };
  sni_doc_limits limits = sni_doc_limits_default();
  limits.depth = DEPTH;
  char *text = malloc(2 * DEPTH + 1);
  assert_non_null(text);
  nest(text, DEPTH);
  sni_doc *doc = NULL;
  sn_error err = {0};
  assert_int_equal(sni_doc_read_text(text, 2 * DEPTH, "a.yaml", &limits, &doc, &err), SN_OK);
  size_t depth = 0;
  for (const sni_node *node = sni_doc_root(doc); node; node = sni_node_at(node, 0)) {
    depth++;
  }
  assert_int_equal(depth, DEPTH);
  sni_doc_free(&doc);
  free(text);
}

TEST(sizes_are_limited) {
  sni_doc_limits limits = sni_doc_limits_default();
  limits.nodes = 3;
  const refusal nodes = {TEXT("[1, 2, 3]"), SN_E_LIMIT, 1, 8, "more than 3 values"};
  check_refusal(&nodes, &limits);
  limits.nodes = 4;
  limits.file_size = 8;
  const refusal size = {TEXT("[1, 2, 3]"), SN_E_LIMIT, 0, 0, "larger than 8 bytes"};
  check_refusal(&size, &limits);
  limits.file_size = 9;
  sni_doc *doc = NULL;
  assert_int_equal(sni_doc_read_text(TEXT("[1, 2, 3]"), "a.yaml", &limits, &doc, NULL), SN_OK);
  sni_doc_free(&doc);
  limits.memory = 100;
  sn_error err = {0};
  assert_int_equal(sni_doc_read_text(TEXT("[1, 2, 3]"), "a.yaml", &limits, &doc, &err),
                   SN_E_MEMORY);
  assert_true(strncmp(err.text, TEXT("out of memory (")) == 0);
  assert_string_equal(err.file, "a.yaml");
  assert_null(doc);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void check_file(const char *path, const sni_doc_limits *limits, sn_status code,
                       const char *message) {
  sni_doc *doc = NULL;
  sn_error err = {0};
  const sn_status status = sni_doc_read_file(path, limits, &doc, &err);
  CHECK(status == code && strcmp(err.text, message) == 0, "%s: %d, '%s'", path, status, err.text);
  CHECK(strncmp(err.file, path, sizeof err.file - 1) == 0, "'%s', not '%s'", err.file, path);
  CHECK(!doc && err.line == 0, "%s: line %d", path, err.line);
}

TEST(files) {
  check_file("/", NULL, SN_E_FILE, "is a directory");
  check_file("no/such/file.yaml", NULL, SN_E_FILE, strerror(ENOENT));
  char name[] = "test_doc_XXXXXX";
  const int fd = mkstemp(name);
  assert_true(fd >= 0);
  FILE *file = fdopen(fd, "wb");
  assert_non_null(file);
  check_file(name, NULL, SN_E_SYNTAX, "the file is empty");
  /* more than one block of the reader */
  enum { COUNT = 50000 };
  fputs("a:\n", file);
  for (int i = 0; i < COUNT; i++) {
    fprintf(file, "- %d\n", i);
  }
  fflush(file);
  sni_doc *doc = NULL;
  sn_error err = {0};
  assert_int_equal(sni_doc_read_file(name, NULL, &doc, &err), SN_OK);
  assert_string_equal(sni_doc_name(doc), name);
  const sni_node *list = sni_node_get(sni_doc_root(doc), "a");
  assert_int_equal(sni_node_count(list), COUNT);
  check_text(sni_node_at(list, COUNT - 1), "49999");
  check_position(sni_node_at(list, COUNT - 1), COUNT + 1, 3);
  sni_doc_locate(doc, sni_node_at(list, 4), &err);
  assert_string_equal(err.file, name);
  assert_int_equal(err.line, 6);
  assert_int_equal(err.column, 3);
  sni_doc_free(&doc);
  sni_doc_limits limits = sni_doc_limits_default();
  limits.file_size = 1000;
  check_file(name, &limits, SN_E_LIMIT, "larger than 1000 bytes");
  assert_int_equal(fclose(file), 0);
  assert_int_equal(remove(name), 0);
}

TEST(endless_files_end) {
  sni_doc_limits limits = sni_doc_limits_default();
  limits.file_size = 1 << 20;
  check_file("/dev/zero", &limits, SN_E_LIMIT, "larger than 1 MiB");
}

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
  RUN_TESTS(T(nodes_know_their_place), T(nodes_fit_into_48_bytes), T(texts_are_texts),
            T(json_is_read), T(roots_of_every_kind), T(directives_marks_and_line_ends),
            T(questions_to_nothing), T(numbers), T(numbers_where_the_point_is_a_comma),
            T(yaml_that_surprises_is_refused), T(syntax_errors_help), T(what_is_no_text_is_refused),
            T(long_names_are_cut_in_messages), T(duplicates_in_large_maps),
            T(large_maps_find_every_key), T(default_limits), T(depth_is_limited),
            T(deep_trees_do_not_need_the_stack), T(sizes_are_limited), T(files),
            T(endless_files_end), T(set_overrides), T(set_creates), T(set_refuses),
            T(set_keeps_the_limits), T(overlay_merges), T(overlay_of_large_maps),
            T(overlay_keeps_the_limits));
}
