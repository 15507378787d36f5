/* doc_set.c: changing what was read: patches by path, and one mapping laid over another. */
#include "io/doc_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- patching -------------------------------------------------------------------------------- */

/* One step of a path: a name, or an index. */
typedef struct step {
  const char *name; /* NULL: an index */
  size_t length, index;
} step;

/* Reads the step at *cursor, which stands in path and not at its end, and moves on. */
static sn_status next_step(const char *path, const char **cursor, step *out, sn_error *err) {
  const char *s = *cursor;
  if (*s == '[') {
    const char *end = s + 1 + strspn(s + 1, "0123456789");
    if (end == s + 1 || *end != ']' || end - s > 10) {
      return sni_fail(err, SN_E_ARGUMENT, "'%s' is no index, write a list entry as [0]",
                      sni_doc_sample_n(s, strcspn(s, ".")).text);
    }
    *out = (step){.index = strtoul(s + 1, NULL, 10)};
    *cursor = end + 1;
    return SN_OK;
  }
  if (s != path) {
    if (*s != '.') {
      return sni_fail(err, SN_E_ARGUMENT, "a '.' is missing before '%s'",
                      sni_doc_sample_of(s).text);
    }
    s++;
  }
  const size_t n = strcspn(s, ".[]");
  if (n == 0 && s == path) {
    return sni_fail(err, SN_E_ARGUMENT, "the path needs a name at its beginning");
  }
  if (n == 0) {
    return sni_fail(err, SN_E_ARGUMENT, "a name is missing after '%s'",
                    sni_doc_sample_n(path, (size_t)(s - path)).text);
  }
  *out = (step){.name = s, .length = n};
  *cursor = s + n;
  return SN_OK;
}

static sn_status count_steps(const char *path, size_t *count, sn_error *err) {
  const char *cursor = path;
  do {
    step ignored;
    const sn_status status = next_step(path, &cursor, &ignored, err);
    if (status != SN_OK) {
      return status;
    }
    ++*count;
  } while (*cursor);
  return SN_OK;
}

/* The node one step down from node, which `where` names; *out is NULL if it can be created. */
static sn_status walk(sni_node *node, step s, sni_doc_sample where, sni_node **out, sn_error *err) {
  if (!s.name && node->kind != SNI_NODE_SEQUENCE) {
    return sni_fail(err, SN_E_ARGUMENT, "%s is %s: [%zu] needs a list", where.text,
                    sni_node_kind_text(node), s.index);
  }
  if (!s.name && s.index >= node->count) {
    return sni_fail(err, SN_E_ARGUMENT, "index %zu is out of range: %s has %u %s", s.index,
                    where.text, node->count, node->count == 1 ? "entry" : "entries");
  }
  if (s.name && node->kind == SNI_NODE_SEQUENCE) {
    return sni_fail(err, SN_E_ARGUMENT, "%s is a list: choose an entry with [0] before '%s'",
                    where.text, sni_doc_sample_n(s.name, s.length).text);
  }
  if (s.name && node->kind == SNI_NODE_SCALAR && !sni_node_is_empty(node)) {
    return sni_fail(err, SN_E_ARGUMENT, "%s is the text '%s': '%s' needs a map", where.text,
                    sni_doc_sample_of(node->text).text, sni_doc_sample_n(s.name, s.length).text);
  }
  *out = !s.name                          ? node->child[s.index]
         : node->kind == SNI_NODE_MAPPING ? sni_doc_find(node, s.name, s.length)
                                          : NULL;
  return SN_OK;
}

static bool append(sni_doc *doc, sni_node *map, sni_node *entry) {
  if (map->count == map->capacity) {
    sni_node **child = map->child;
    if (!sni_doc_take_children(doc, map, map->capacity < 4 ? 4 : 2 * (size_t)map->capacity)) {
      return false;
    }
    if (map->count > 0) {
      memcpy(map->child, child, map->count * sizeof *child);
    }
  }
  map->child[map->count++] = entry;
  sni_doc_update_index(map);
  return true;
}

/* Puts value under the name s of node; a path that goes on puts maps in between.  Everything is
 * built apart and hung into the tree last, so that a failure leaves no trace. */
static sn_status create(sni_doc *doc, sni_node *node, const char *path, const char *cursor, step s,
                        sni_node *value, sn_error *err) {
  sni_node *head = NULL, *tail = NULL;
  for (;;) {
    sni_node *entry = value;
    sn_status status = SN_OK;
    if (*cursor) {
      const sni_node map = {.kind = SNI_NODE_MAPPING, .from_set = true};
      status = sni_doc_take_node(doc, map, &entry, err);
    }
    if (status != SN_OK) {
      return status;
    }
    entry->key = sni_doc_take_text(doc, s.name, s.length);
    if (!entry->key || (tail && !append(doc, tail, entry))) {
      return sni_doc_no_memory(doc, err);
    }
    head = head ? head : entry;
    tail = entry;
    if (!*cursor) {
      break;
    }
    const sni_doc_sample where = sni_doc_sample_n(path, (size_t)(cursor - path));
    status = next_step(path, &cursor, &s, err);
    if (status != SN_OK) {
      return status;
    }
    if (!s.name) {
      return sni_fail(err, SN_E_ARGUMENT, "index %zu is out of range: %s does not exist", s.index,
                      where.text);
    }
  }
  /* `joint:` with nothing behind it becomes the map that is needed */
  sni_node map = *node;
  if (map.kind == SNI_NODE_SCALAR) {
    map = (sni_node){.key = node->key,
                     .key_line = node->key_line,
                     .key_column = node->key_column,
                     .kind = SNI_NODE_MAPPING,
                     .from_set = true};
  }
  if (!append(doc, &map, head)) {
    return sni_doc_no_memory(doc, err);
  }
  *node = map;
  return SN_OK;
}

static sn_status put(sni_doc *doc, const char *path, sni_node *value, sn_error *err) {
  sni_node *node = doc->root;
  const char *cursor = path;
  do {
    const sni_doc_sample where = cursor == path ? sni_doc_sample_of("the document")
                                                : sni_doc_sample_n(path, (size_t)(cursor - path));
    step s;
    sni_node *next = NULL;
    sn_status status = next_step(path, &cursor, &s, err);
    if (status == SN_OK) {
      status = walk(node, s, where, &next, err);
    }
    if (status != SN_OK) {
      return status;
    }
    if (!next) {
      return create(doc, node, path, cursor, s, value, err);
    }
    node = next;
  } while (*cursor);
  value->key = node->key;
  value->key_line = node->key_line;
  value->key_column = node->key_column;
  *node = *value;
  return SN_OK;
}

/* The value as nodes that hang nowhere yet, to be put `steps` containers down. */
static sn_status parse_value(sni_doc *doc, const char *text, size_t steps, sni_node **out,
                             sn_error *err) {
  if (steps > doc->limits.depth) {
    sni_fail(err, SN_E_LIMIT, "nesting deeper than %zu", doc->limits.depth);
    return SN_E_LIMIT;
  }
  sn_error inner = {0};
  const sn_status status = sni_doc_parse(doc, text, strlen(text), steps, true, out, &inner);
  if (status != SN_OK) {
    if (inner.line > 0) {
      sni_fail(err, status, "value '%s', column %d: %s", sni_doc_sample_of(text).text, inner.column,
               inner.text);
    } else {
      sni_fail(err, status, "%s", inner.text);
    }
    return status;
  }
  if (!*out) {
    sni_fail(err, SN_E_ARGUMENT, "the value is missing, write \"\" for an empty text");
    return SN_E_ARGUMENT;
  }
  return SN_OK;
}

sn_status sni_doc_set(sni_doc *doc, const char *path, const char *value, sn_error *err) {
  const size_t node_count = doc->node_count, length = strlen(path);
  size_t steps = 0;
  sni_node *node = NULL;
  uint32_t c = 0;
  const bool path_is_text =
      sni_doc_find_bad_character(path, length, &c) == length && !strpbrk(path, "\t\n\r");
  sn_status status =
      path_is_text ? count_steps(path, &steps, err)
                   : sni_fail(err, SN_E_ARGUMENT, "the path holds what is no text: remove it");
  if (status == SN_OK) {
    status = parse_value(doc, value, steps, &node, err);
  }
  if (status == SN_OK) {
    status = put(doc, path, node, err);
  }
  if (status != SN_OK) {
    doc->node_count = node_count;
    sni_doc_place(SNI_DOC_SET_NAME, 0, 0, err, status);
    if (err) {
      snprintf(err->path, sizeof err->path, "%s",
               path_is_text ? path : sni_doc_sample_of(path).text);
    }
  }
  return status;
}

/* ---- laying one mapping over another --------------------------------------------------------- */

/* A pair of mappings that still has to be merged, into a copy of over. */
typedef struct merge {
  struct merge *next;
  sni_node *into;
  const sni_node *base, *over;
} merge;

static bool are_mappings(const sni_node *a, const sni_node *b) {
  return a && b && a->kind == SNI_NODE_MAPPING && b->kind == SNI_NODE_MAPPING;
}

static sn_status push_merge(sni_doc *doc, merge **todo, const sni_node *base, const sni_node *over,
                            sni_node **into, sn_error *err) {
  const sn_status status = sni_doc_take_node(doc, *over, into, err);
  if (status != SN_OK) {
    sni_doc_locate(doc, over, err);
    return status;
  }
  merge *m = SNI_DOC_TAKE(doc, merge, 1);
  if (!m) {
    return sni_doc_no_memory(doc, err);
  }
  *m = (merge){.next = *todo, .into = *into, .base = base, .over = over};
  *todo = m;
  return SN_OK;
}

static sn_status do_merge(sni_doc *doc, const merge *m, merge **todo, sn_error *err) {
  const sni_node *base = m->base, *over = m->over;
  sni_node *into = m->into;
  size_t extra = 0;
  for (uint32_t i = 0; i < base->count; i++) {
    extra += !sni_node_get(over, base->child[i]->key);
  }
  if (!sni_doc_take_children(doc, into, over->count + extra)) {
    return sni_doc_no_memory(doc, err);
  }
  for (uint32_t i = 0; i < over->count; i++) {
    sni_node *entry = over->child[i];
    const sni_node *under = sni_node_get(base, entry->key);
    into->child[i] = entry;
    if (are_mappings(under, entry)) {
      const sn_status status = push_merge(doc, todo, under, entry, &into->child[i], err);
      if (status != SN_OK) {
        return status;
      }
    }
  }
  for (uint32_t i = 0; i < base->count; i++) {
    if (!sni_node_get(over, base->child[i]->key)) {
      into->child[into->count++] = base->child[i];
    }
  }
  sni_doc_update_index(into);
  return SN_OK;
}

sn_status sni_doc_overlay(sni_doc *doc, const sni_node *base, const sni_node *over,
                          const sni_node **out, sn_error *err) {
  if (!are_mappings(base, over)) {
    *out = over ? over : base;
    return SN_OK;
  }
  merge *todo = NULL;
  sni_node *result = NULL;
  sn_status status = push_merge(doc, &todo, base, over, &result, err);
  while (status == SN_OK && todo) {
    const merge *m = todo;
    todo = m->next;
    status = do_merge(doc, m, &todo, err);
  }
  if (status == SN_OK) {
    *out = result;
  }
  return status;
}
