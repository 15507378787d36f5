/* test_doc.c: reading YAML and JSON into nodes: positions, refusals, limits.
 * Patches and overlays: test_doc_patch.c. */
#define _POSIX_C_SOURCE 200809L
#include "docs.h"

#include <errno.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

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
int main(void) {
  RUN_TESTS(T(nodes_know_their_place), T(nodes_fit_into_48_bytes), T(texts_are_texts),
            T(json_is_read), T(roots_of_every_kind), T(directives_marks_and_line_ends),
            T(questions_to_nothing), T(numbers), T(numbers_where_the_point_is_a_comma),
            T(yaml_that_surprises_is_refused), T(syntax_errors_help), T(what_is_no_text_is_refused),
            T(long_names_are_cut_in_messages), T(duplicates_in_large_maps),
            T(large_maps_find_every_key), T(default_limits), T(depth_is_limited),
            T(deep_trees_do_not_need_the_stack), T(sizes_are_limited), T(files),
            T(endless_files_end));
}
