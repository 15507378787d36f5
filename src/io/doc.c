/* doc.c: the tree of nodes behind a document: its memory, its mappings, and questions to it.
 *
 * Nodes, child arrays and texts lie in chunks that only grow, so freeing is one loop whatever the
 * tree looks like.  Nothing in doc*.c recurses: depth costs memory, never stack. */
#include "io/doc_tree.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

#define CHUNK_MIN ((size_t)4096)
#define CHUNK_MAX SNI_DOC_MIB

/* Mappings up to this size are searched entry by entry, larger ones have a sorted index. */
#define SMALL_MAPPING 8

typedef struct sni_doc_chunk {
  struct sni_doc_chunk *next;
  size_t used, size; /* bytes of data */
  max_align_t data[];
} chunk;

sni_doc_limits sni_doc_limits_default(void) {
  return (sni_doc_limits){
      .file_size = 64 * SNI_DOC_MIB, .depth = 64, .nodes = 5000000, .memory = 1024 * SNI_DOC_MIB};
}

sn_status sni_doc_place(const char *file, size_t line, size_t column, sn_error *err,
                        sn_status status) {
  if (err) {
    snprintf(err->file, sizeof err->file, "%s", file);
    err->line = (int)sni_doc_clamp(line);
    err->column = (int)sni_doc_clamp(column);
  }
  return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *sni_doc_take(sni_doc *doc, size_t count, size_t size, size_t align) {
  if (count > (doc->limits.memory - doc->held) / size) {
    return NULL;
  }
  const size_t bytes = count * size;
  chunk *c = doc->chunks;
  size_t start = c ? (c->used + align - 1) & ~(align - 1) : 0;
  if (!c || start > c->size || bytes > c->size - start) {
    const size_t data_size = bytes > doc->chunk_size ? bytes : doc->chunk_size;
    c = malloc(sizeof *c + data_size);
    if (!c) {
      return NULL;
    }
    *c = (chunk){.next = doc->chunks, .size = data_size};
    doc->chunks = c;
    doc->chunk_size = doc->chunk_size < CHUNK_MAX ? 2 * doc->chunk_size : CHUNK_MAX;
    start = 0;
  }
  c->used = start + bytes;
  doc->held += bytes;
  return (char *)c->data + start;
}

const char *sni_doc_take_text(sni_doc *doc, const char *text, size_t n) {
  char *copy = SNI_DOC_TAKE(doc, char, n + 1);
  if (copy) {
    memcpy(copy, text, n);
    copy[n] = 0;
  }
  return copy;
}

sn_status sni_doc_no_memory(const sni_doc *doc, sn_error *err) {
  sni_fail(err, SN_E_MEMORY, "out of memory (%zu bytes in use, limit %zu)", doc->held,
           doc->limits.memory);
  sni_doc_place(doc->name, 0, 0, err, SN_E_MEMORY);
  return SN_E_MEMORY;
}

sn_status sni_doc_take_node(sni_doc *doc, sni_node content, sni_node **out, sn_error *err) {
  if (doc->node_count >= doc->limits.nodes) {
    sni_fail(err, SN_E_LIMIT, "more than %zu values", doc->limits.nodes);
    return SN_E_LIMIT;
  }
  sni_node *node = SNI_DOC_TAKE(doc, sni_node, 1);
  if (!node) {
    return sni_doc_no_memory(doc, err);
  }
  *node = content;
  doc->node_count++;
  *out = node;
  return SN_OK;
}

sn_status sni_doc_new(const char *name, const sni_doc_limits *limits, sni_doc **out,
                      sn_error *err) {
  sni_doc *doc = malloc(sizeof *doc);
  if (doc) {
    *doc =
        (sni_doc){.chunk_size = CHUNK_MIN, .limits = limits ? *limits : sni_doc_limits_default()};
    doc->limits.file_size = sni_doc_clamp(doc->limits.file_size);
    doc->limits.depth = sni_doc_clamp(doc->limits.depth);
    doc->limits.nodes = sni_doc_clamp(doc->limits.nodes);
    doc->name = sni_doc_take_text(doc, name, strlen(name));
  }
  if (!doc || !doc->name) {
    sni_doc_free(&doc);
    sni_fail(err, SN_E_MEMORY, "out of memory");
    sni_doc_place(name, 0, 0, err, SN_E_MEMORY);
    return SN_E_MEMORY;
  }
  *out = doc;
  return SN_OK;
}

void sni_doc_free(sni_doc **doc) {
  if (!doc || !*doc) {
    return;
  }
  for (chunk *c = (*doc)->chunks; c;) {
    chunk *next = c->next;
    free(c);
    c = next;
  }
  free(*doc);
  *doc = NULL;
}

/* ---- mappings -------------------------------------------------------------------------------- */

static int compare_key(const sni_node *entry, const char *key, size_t n) {
  const int order = strncmp(entry->key, key, n);
  return order ? order : entry->key[n] != 0;
}

static bool stands_before(const sni_node *a, const sni_node *b) {
  return a->key_line != b->key_line ? a->key_line < b->key_line : a->key_column < b->key_column;
}

/* By key, equal keys by position: then duplicates are neighbours, the first one first. */
static int compare_entries(const void *a, const void *b) {
  const sni_node *x = *(const sni_node *const *)a, *y = *(const sni_node *const *)b;
  const int order = strcmp(x->key, y->key);
  return order ? order : stands_before(y, x) - stands_before(x, y);
}

static sni_node **sorted_of(const sni_node *map) {
  return map->child + map->capacity;
}

bool sni_doc_take_children(sni_doc *doc, sni_node *node, size_t capacity) {
  const bool indexed = node->kind == SNI_NODE_MAPPING && capacity > SMALL_MAPPING;
  sni_node **child = SNI_DOC_TAKE(doc, sni_node *, indexed ? 2 * capacity : capacity);
  if (!child) {
    return false;
  }
  node->child = child;
  node->capacity = (uint32_t)capacity;
  return true;
}

void sni_doc_update_index(sni_node *map) {
  if (map->count > SMALL_MAPPING) {
    memcpy(sorted_of(map), map->child, map->count * sizeof *map->child);
    qsort(sorted_of(map), map->count, sizeof *map->child, compare_entries);
  }
}

sni_node *sni_doc_find(const sni_node *map, const char *key, size_t n) {
  if (map->count <= SMALL_MAPPING) {
    for (uint32_t i = 0; i < map->count; i++) {
      if (compare_key(map->child[i], key, n) == 0) {
        return map->child[i];
      }
    }
    return NULL;
  }
  sni_node **sorted = sorted_of(map);
  uint32_t low = 0, high = map->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (compare_key(sorted[middle], key, n) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < map->count && compare_key(sorted[low], key, n) == 0 ? sorted[low] : NULL;
}

const sni_node *sni_doc_find_duplicate(const sni_node *map, const sni_node **first) {
  const sni_node *found = NULL;
  for (uint32_t i = 1; i < map->count; i++) {
    if (map->count <= SMALL_MAPPING) {
      for (uint32_t k = 0; k < i; k++) {
        if (strcmp(map->child[k]->key, map->child[i]->key) == 0) {
          *first = map->child[k];
          return map->child[i];
        }
      }
    } else {
      sni_node **sorted = sorted_of(map);
      if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0 &&
          (!found || stands_before(sorted[i], found))) {
        *first = sorted[i - 1];
        found = sorted[i];
      }
    }
  }
  return found;
}

/* ---- asking ---------------------------------------------------------------------------------- */

const sni_node *sni_doc_root(const sni_doc *doc) {
  return doc->root;
}

const char *sni_doc_name(const sni_doc *doc) {
  return doc->name;
}

size_t sni_node_count(const sni_node *node) {
  return node && node->kind != SNI_NODE_SCALAR ? node->count : 0;
}

const sni_node *sni_node_at(const sni_node *node, size_t i) {
  return i < sni_node_count(node) ? node->child[i] : NULL;
}

const sni_node *sni_node_get(const sni_node *map, const char *key) {
  return map && map->kind == SNI_NODE_MAPPING ? sni_doc_find(map, key, strlen(key)) : NULL;
}

bool sni_node_is_empty(const sni_node *node) {
  return node && node->kind == SNI_NODE_SCALAR && !node->quoted && node->count == 0;
}

bool sni_node_number(const sni_node *node, double *out) {
  if (!node || node->kind != SNI_NODE_SCALAR || node->quoted) {
    return false;
  }
  double value = 0;
  const char *end = sni_number_read(node->text, &value);
  if (end == node->text || *end || !isfinite(value)) {
    return false;
  }
  *out = value;
  return true;
}

const char *sni_node_kind_text(const sni_node *node) {
  static const char *const text[] = {"a text", "a list", "a map"};
  return text[node->kind];
}

/* ---- locating -------------------------------------------------------------------------------- */

void sni_doc_locate(const sni_doc *doc, const sni_node *node, sn_error *err) {
  sni_doc_place(node->from_set ? SNI_DOC_SET_NAME : doc->name, (size_t)node->line,
                (size_t)node->column, err, SN_OK);
}

void sni_doc_locate_key(const sni_doc *doc, const sni_node *node, sn_error *err) {
  if (node->key_line > 0) {
    sni_doc_place(doc->name, (size_t)node->key_line, (size_t)node->key_column, err, SN_OK);
  } else {
    sni_doc_locate(doc, node, err);
  }
}
