/* doc_read.c: from a file or a text to nodes.
 *
 * libyaml gives a stream of events; a stack of open containers turns it into nodes. */
#define _POSIX_C_SOURCE 200809L
#include "io/doc_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/error.h"

/* ---- from events to nodes -------------------------------------------------------------------- */

/* A list or map that is still open. */
typedef struct frame {
  struct frame *outer;
  sni_node *node;
  size_t first;    /* its children begin here in reader.pending */
  const char *key; /* map: read, waiting for its value; NULL: a key comes next */
  bool key_quoted;
  yaml_mark_t key_mark;
} frame;

typedef struct reader {
  sni_doc *doc;
  const char *text; /* without a byte order mark */
  size_t text_size;
  bool from_set;
  yaml_parser_t parser;
  int document_count;
  size_t depth;       /* open containers, those above a value of sni_doc_set included */
  frame *top;         /* innermost open container */
  frame *spare;       /* closed ones, to be used again */
  sni_node **pending; /* children of the open containers, outermost first */
  size_t pending_count, pending_capacity;
  sni_node *root;
} reader;

static sn_status refuse(const reader *r, yaml_mark_t mark, sn_error *err, sn_status status) {
  return sni_doc_place(r->doc->name, mark.line + 1, mark.column + 1, err, status);
}

#define REFUSE(r, mark, err, ...) refuse(r, mark, err, sni_fail(err, SN_E_SYNTAX, __VA_ARGS__))

static sn_status push_pending(reader *r, sni_node *node, sn_error *err) {
  if (r->pending_count == r->pending_capacity) {
    const size_t capacity = r->pending_capacity ? 2 * r->pending_capacity : 64;
    sni_node **pending = realloc(r->pending, capacity * sizeof *pending);
    if (!pending) {
      return sni_doc_no_memory(r->doc, err);
    }
    r->pending = pending;
    r->pending_capacity = capacity;
  }
  r->pending[r->pending_count++] = node;
  return SN_OK;
}

/* Escapes in double quotes can name any character; the rest of the file has been checked. */
static sn_status check_escapes(const reader *r, const yaml_event_t *event, sn_error *err) {
  const size_t n = event->data.scalar.length;
  uint32_t c = 0;
  if (sni_doc_find_bad_character((const char *)event->data.scalar.value, n, &c) < n) {
    return REFUSE(r, event->start_mark, err,
                  "the text holds the control character U+%04X: remove it", (unsigned)c);
  }
  return SN_OK;
}

static sn_status check_features(const reader *r, const yaml_event_t *event, sn_error *err) {
  const yaml_char_t *anchor = NULL, *tag = NULL;
  bool block = false;
  switch (event->type) {
  case YAML_SCALAR_EVENT:
    anchor = event->data.scalar.anchor;
    tag = event->data.scalar.tag;
    break;
  case YAML_SEQUENCE_START_EVENT:
    anchor = event->data.sequence_start.anchor;
    tag = event->data.sequence_start.tag;
    block = event->data.sequence_start.style == YAML_BLOCK_SEQUENCE_STYLE;
    break;
  default:
    anchor = event->data.mapping_start.anchor;
    tag = event->data.mapping_start.tag;
    block = event->data.mapping_start.style == YAML_BLOCK_MAPPING_STYLE;
    break;
  }
  if (anchor) {
    return REFUSE(r, event->start_mark, err,
                  "anchors are not supported: remove '&%s' and write the value where it is needed",
                  sni_doc_sample_of((const char *)anchor).text);
  }
  if (tag) {
    return REFUSE(r, event->start_mark, err,
                  "tags are not supported: remove the '!', types follow from the key");
  }
  if (block && r->from_set) {
    return REFUSE(r, event->start_mark, err, "write a list as [a, b] and a map as {key: value}");
  }
  return SN_OK;
}

static sn_status read_key(reader *r, const yaml_event_t *event, sn_error *err) {
  if (event->type != YAML_SCALAR_EVENT) {
    return REFUSE(r, event->start_mark, err, "a key must be a text, not a list or a map");
  }
  const char *key = (const char *)event->data.scalar.value;
  const size_t n = event->data.scalar.length;
  const bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  if (!quoted && n == 0) {
    return REFUSE(r, event->start_mark, err, "a key is missing here: write key: value");
  }
  if (!quoted && strcmp(key, "<<") == 0) {
    return REFUSE(r, event->start_mark, err,
                  "merge keys ('<<') are not supported: write the entries out");
  }
  r->top->key = sni_doc_take_text(r->doc, key, n);
  r->top->key_quoted = quoted;
  r->top->key_mark = event->start_mark;
  return r->top->key ? SN_OK : sni_doc_no_memory(r->doc, err);
}

/* A node that stands in the innermost open container, or is the root. */
static sn_status add_node(reader *r, const yaml_event_t *event, sni_node_kind kind, sni_node **out,
                          sn_error *err) {
  sni_node content = {.kind = (uint8_t)kind, .from_set = r->from_set};
  if (!r->from_set) {
    content.line = (int)event->start_mark.line + 1;
    content.column = (int)event->start_mark.column + 1;
  }
  if (r->top && r->top->key) {
    content.key = r->top->key;
    content.key_line = r->from_set ? 0 : (int)r->top->key_mark.line + 1;
    content.key_column = r->from_set ? 0 : (int)r->top->key_mark.column + 1;
    r->top->key = NULL;
  }
  const sn_status status = sni_doc_take_node(r->doc, content, out, err);
  if (status != SN_OK) {
    return refuse(r, event->start_mark, err, status);
  }
  if (!r->top) {
    r->root = *out;
    return SN_OK;
  }
  return push_pending(r, *out, err);
}

static sn_status read_scalar(reader *r, const yaml_event_t *event, sn_error *err) {
  const size_t n = event->data.scalar.length;
  const bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  const frame *top = r->top;
  if (n == 0 && !quoted && top && top->key && !top->key_quoted && strchr(top->key, ':')) {
    return REFUSE(r, top->key_mark, err, "key '%s' has no value: put a space after the ':'",
                  sni_doc_sample_of(top->key).text);
  }
  sni_node *node;
  const sn_status status = add_node(r, event, SNI_NODE_SCALAR, &node, err);
  if (status != SN_OK) {
    return status;
  }
  node->quoted = quoted;
  node->count = (uint32_t)n;
  node->text = sni_doc_take_text(r->doc, (const char *)event->data.scalar.value, n);
  return node->text ? SN_OK : sni_doc_no_memory(r->doc, err);
}

static sn_status open_container(reader *r, const yaml_event_t *event, sn_error *err) {
  if (r->depth >= r->doc->limits.depth) {
    return refuse(r, event->start_mark, err,
                  sni_fail(err, SN_E_LIMIT, "nesting deeper than %zu", r->doc->limits.depth));
  }
  sni_node *node;
  const sni_node_kind kind =
      event->type == YAML_MAPPING_START_EVENT ? SNI_NODE_MAPPING : SNI_NODE_SEQUENCE;
  const sn_status status = add_node(r, event, kind, &node, err);
  if (status != SN_OK) {
    return status;
  }
  frame *f = r->spare;
  if (f) {
    r->spare = f->outer;
  } else {
    f = SNI_DOC_TAKE(r->doc, frame, 1);
  }
  if (!f) {
    return sni_doc_no_memory(r->doc, err);
  }
  *f = (frame){.outer = r->top, .node = node, .first = r->pending_count};
  r->top = f;
  r->depth++;
  return SN_OK;
}

static sn_status close_container(reader *r, sn_error *err) {
  frame *f = r->top;
  sni_node *node = f->node;
  const size_t count = r->pending_count - f->first;
  if (!sni_doc_take_children(r->doc, node, count)) {
    return sni_doc_no_memory(r->doc, err);
  }
  if (count > 0) {
    memcpy(node->child, r->pending + f->first, count * sizeof *node->child);
  }
  node->count = (uint32_t)count;
  r->pending_count = f->first;
  r->top = f->outer;
  r->depth--;
  f->outer = r->spare;
  r->spare = f;
  if (node->kind == SNI_NODE_MAPPING) {
    sni_doc_update_index(node);
    const sni_node *first = NULL, *again = sni_doc_find_duplicate(node, &first);
    if (again && r->from_set) {
      return sni_fail(err, SN_E_SYNTAX, "duplicate key '%s': remove one",
                      sni_doc_sample_of(again->key).text);
    }
    if (again) {
      return sni_doc_place(
          r->doc->name, (size_t)again->key_line, (size_t)again->key_column, err,
          sni_fail(err, SN_E_SYNTAX, "duplicate key '%s', first at line %d, column %d: remove one",
                   sni_doc_sample_of(again->key).text, first->key_line, first->key_column));
    }
  }
  return SN_OK;
}

static sn_status read_event(reader *r, const yaml_event_t *event, sn_error *err) {
  sn_status status = SN_OK;
  switch (event->type) {
  case YAML_DOCUMENT_START_EVENT:
    if (r->document_count++ > 0) {
      return REFUSE(r, event->start_mark, err, "a second document begins here: a file holds one");
    }
    if (event->data.document_start.tag_directives.start !=
        event->data.document_start.tag_directives.end) {
      return REFUSE(r, event->start_mark, err, "%%TAG is not supported: remove the directive");
    }
    return SN_OK;
  case YAML_ALIAS_EVENT:
    return REFUSE(r, event->start_mark, err,
                  "aliases are not supported: write the value of '*%s' out",
                  sni_doc_sample_of((const char *)event->data.alias.anchor).text);
  case YAML_SCALAR_EVENT:
  case YAML_SEQUENCE_START_EVENT:
  case YAML_MAPPING_START_EVENT:
    status = check_features(r, event, err);
    if (status == SN_OK && event->type == YAML_SCALAR_EVENT &&
        event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE) {
      status = check_escapes(r, event, err);
    }
    if (status != SN_OK) {
      return status;
    }
    if (r->top && r->top->node->kind == SNI_NODE_MAPPING && !r->top->key) {
      return read_key(r, event, err);
    }
    return event->type == YAML_SCALAR_EVENT ? read_scalar(r, event, err)
                                            : open_container(r, event, err);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    return close_container(r, err);
  default: /* begin and end of the stream, end of a document */
    return SN_OK;
  }
}

/* ---- reading --------------------------------------------------------------------------------- */

static sn_status read_events(reader *r, sn_error *err) {
  for (bool more = true; more;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&r->parser, &event)) {
      return sni_doc_yaml_error(r->doc, &r->parser, r->text, r->text_size, err);
    }
    const sn_status status = read_event(r, &event, err);
    more = event.type != YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
    if (status != SN_OK) {
      return status;
    }
  }
  return SN_OK;
}

static sn_status too_large(size_t limit, const char *name, sn_error *err) {
  const bool whole = limit >= SNI_DOC_MIB && limit % SNI_DOC_MIB == 0;
  return sni_doc_place(name, 0, 0, err,
                       sni_fail(err, SN_E_LIMIT, "larger than %zu %s",
                                whole ? limit / SNI_DOC_MIB : limit, whole ? "MiB" : "bytes"));
}

sn_status sni_doc_parse(sni_doc *doc, const char *text, size_t n, size_t depth, bool from_set,
                        sni_node **out, sn_error *err) {
  if (n > doc->limits.file_size) {
    return too_large(doc->limits.file_size, doc->name, err);
  }
  sn_status status = sni_doc_check_text(text, n, doc->name, err);
  if (status != SN_OK) {
    return status;
  }
  const size_t skip = sni_doc_bom_length(text, n);
  reader r = {
      .doc = doc, .text = text + skip, .text_size = n - skip, .from_set = from_set, .depth = depth};
  if (!yaml_parser_initialize(&r.parser)) {
    return sni_doc_no_memory(doc, err);
  }
  yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&r.parser, (const unsigned char *)r.text, r.text_size);
  status = read_events(&r, err);
  yaml_parser_delete(&r.parser);
  free(r.pending);
  if (status == SN_OK) {
    *out = r.root && !sni_node_is_empty(r.root) ? r.root : NULL;
  }
  return status;
}

sn_status sni_doc_read_text(const char *text, size_t n, const char *name,
                            const sni_doc_limits *limits, sni_doc **out, sn_error *err) {
  sni_doc *doc = NULL;
  sn_status status = sni_doc_new(name, limits, &doc, err);
  if (status == SN_OK) {
    status = sni_doc_parse(doc, text ? text : "", n, 0, false, &doc->root, err);
  }
  if (status == SN_OK && !doc->root) {
    status = sni_doc_place(name, 0, 0, err, sni_fail(err, SN_E_SYNTAX, "the file is empty"));
  }
  if (status == SN_OK) {
    *out = doc;
  } else {
    sni_doc_free(&doc);
  }
  return status;
}

/* Reads to the end, or until there is more than limit: the size of a pipe is not known before. */
static sn_status read_stream(FILE *file, const char *name, size_t limit, char **text, size_t *n,
                             sn_error *err) {
  size_t capacity = 0;
  do {
    if (*n == capacity) {
      capacity = capacity ? 2 * capacity : 65536;
      char *grown = realloc(*text, capacity);
      if (!grown) {
        return sni_doc_place(name, 0, 0, err, sni_fail(err, SN_E_MEMORY, "out of memory"));
      }
      *text = grown;
    }
    *n += fread(*text + *n, 1, capacity - *n, file);
    if (ferror(file)) {
      return sni_doc_place(name, 0, 0, err, sni_fail(err, SN_E_FILE, "%s", strerror(errno)));
    }
  } while (!feof(file) && *n <= limit);
  return SN_OK;
}

sn_status sni_doc_read_file(const char *path, const sni_doc_limits *limits, sni_doc **out,
                            sn_error *err) {
  const sni_doc_limits l = limits ? *limits : sni_doc_limits_default();
  if (path[0] == 0) {
    return sni_fail(err, SN_E_FILE, "the name of the scene file is empty");
  }
  FILE *file = fopen(path, "rb");
  if (!file) {
    const int error = errno;
    return sni_doc_place(
        path, 0, 0, err,
        sni_fail(err, error == ENOMEM ? SN_E_MEMORY : SN_E_FILE, "%s", strerror(error)));
  }
  struct stat info;
  if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode)) {
    fclose(file);
    return sni_doc_place(path, 0, 0, err, sni_fail(err, SN_E_FILE, "is a directory"));
  }
  char *text = NULL;
  size_t n = 0;
  sn_status status = read_stream(file, path, sni_doc_clamp(l.file_size), &text, &n, err);
  fclose(file);
  if (status == SN_OK) {
    status = sni_doc_read_text(text, n, path, &l, out, err);
  }
  free(text);
  return status;
}
