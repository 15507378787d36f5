/* docs.h: documents from texts, and checks of what they hold, for the tests of io/doc. */
#ifndef TESTS_DOCS_H
#define TESTS_DOCS_H

#include "test.h"

#include "io/doc.h"

static inline sni_doc *read_doc(const char *text) {
  sni_doc *doc = NULL;
  sn_error err = {0};
  const sn_status status = sni_doc_read_text(text, strlen(text), "a.yaml", NULL, &doc, &err);
  CHECK(status == SN_OK, "%s\nline %d, column %d: %s", text, err.line, err.column, err.text);
  return doc;
}

static inline void check_position(const sni_node *node, int line, int column) {
  CHECK(node && node->line == line && node->column == column, "is at %d:%d, not %d:%d",
        node ? node->line : -1, node ? node->column : -1, line, column);
}

static inline void check_text(const sni_node *node, const char *text) {
  const bool scalar = node && node->kind == SNI_NODE_SCALAR;
  CHECK(scalar && strcmp(node->text, text) == 0, "'%s', not '%s'", scalar ? node->text : "(none)",
        text);
  CHECK(scalar && node->count == strlen(text), "'%s': wrong length", text);
}

/* A text, and what is said of it. */
typedef struct refusal {
  const char *text;
  size_t n;
  sn_status code;
  int line, column;
  const char *message;
} refusal;

#define TEXT(s) s, sizeof s - 1

static inline void check_refusal(const refusal *c, const sni_doc_limits *limits) {
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

#endif
