/* doc_yaml_errors.c: what libyaml complains about, in words that help. */
#include "io/doc_tree.h"

#include <string.h>
#include <yaml.h>

#include "base/error.h"

static const char *translate(const char *const table[][2], size_t n, const char *text) {
  for (size_t i = 0; i < n; i++) {
    if (strcmp(table[i][0], text) == 0) {
      return table[i][1];
    }
  }
  return NULL;
}

static const char *const problems[][2] = {
    {"could not find expected ':'", "no ': ' follows this key: write key: value"},
    {"did not find expected ',' or ']'", "a ',' or ']' is missing before this"},
    {"did not find expected ',' or '}'", "a ',' or '}' is missing before this"},
    {"did not find expected key",
     "a key is expected here: check indentation, brackets and quotes of this line and the last"},
    {"did not find expected '-' indicator", "a '- ' is expected here: check the indentation"},
    {"did not find expected node content", "a value is missing before this"},
    {"did not find expected <document start>",
     "the document ended before this: check indentation and brackets"},
    {"did not find expected alphabetic or numeric character",
     "'*' and '&' mean aliases and anchors, which are not supported: put the text in quotes"},
    {"mapping values are not allowed in this context",
     "a ': ' cannot stand here: check the indentation, or put the text in quotes"},
    {"block sequence entries are not allowed in this context",
     "a '- ' cannot stand here: begin the list on a line of its own, or put the text in quotes"},
    {"found unexpected end of stream", "the closing quote is missing"},
    {"found unexpected document indicator", "the closing quote is missing"},
    {"found character that cannot start any token",
     "a text cannot begin with this character: put it in quotes"},
    {"found unknown escape character",
     "unknown escape: write \\\\ for a backslash, or use single quotes"},
    {"found invalid Unicode character escape code",
     "this escape is no character: write the character itself"},
    {"found undefined tag handle",
     "tags are not supported: remove the '!', types follow from the key"},
    {"found incompatible YAML document", "this version of YAML cannot be read: write %YAML 1.2"},
    {"found unknown directive name", "unknown directive: remove the line"},
};

static const char *const contexts[][2] = {
    {"while parsing a flow sequence", "list"},       {"while parsing a block collection", "list"},
    {"while parsing a flow mapping", "map"},         {"while parsing a block mapping", "map"},
    {"while scanning a quoted scalar", "text"},      {"while parsing a quoted scalar", "text"},
    {"while scanning a block scalar", "text block"},
};

#define TRANSLATE(table, text) translate(table, sizeof table / sizeof *table, text)

/* Is it about a tab: in the indentation of the line, or where the parser stopped? */
static bool tab_is_to_blame(const yaml_parser_t *p, const char *text, size_t n) {
  size_t i = 0;
  for (size_t line = 0; i < n && line < p->problem_mark.line; i++) {
    line += sni_doc_is_line_end(text, n, i);
  }
  bool indents = p->flow_level == 0; /* inside brackets indentation means nothing */
  for (size_t column = 0; i < n && column <= p->problem_mark.column; i++) {
    if (text[i] == '\t' && (indents || column == p->problem_mark.column)) {
      return true;
    }
    indents = indents && text[i] == ' ';
    column += i + 1 < n && ((unsigned char)text[i + 1] & 0xc0) != 0x80; /* a character ends */
  }
  return false;
}

sn_status sni_doc_yaml_error(const sni_doc *doc, const yaml_parser_t *p, const char *text, size_t n,
                             sn_error *err) {
  if (p->error == YAML_MEMORY_ERROR) {
    return sni_doc_no_memory(doc, err);
  }
  const char *problem = p->problem ? p->problem : "cannot be read";
  const char *translated = TRANSLATE(problems, problem);
  const char *help = translated ? translated : problem;
  const char *context = p->context ? TRANSLATE(contexts, p->context) : NULL;
  const bool elsewhere = p->context_mark.index != p->problem_mark.index;
  yaml_mark_t mark = p->problem_mark;
  if (tab_is_to_blame(p, text, n)) {
    sni_fail(err, SN_E_SYNTAX, "a tab stands here: indent with spaces");
  } else if (p->context && strcmp(p->context, "while scanning a simple key") == 0) {
    /* libyaml notices on a later line; the key is the place to look at */
    mark = p->context_mark;
    sni_fail(err, SN_E_SYNTAX, "%s", help);
  } else if (context && elsewhere) {
    sni_fail(err, SN_E_SYNTAX, "%s (in the %s that begins at line %zu, column %zu)", help, context,
             p->context_mark.line + 1, p->context_mark.column + 1);
  } else {
    sni_fail(err, SN_E_SYNTAX, "%s", help);
  }
  return sni_doc_place(doc->name, mark.line + 1, mark.column + 1, err, SN_E_SYNTAX);
}
