/* doc_tree.h: what the files doc*.c share, and nobody else sees. */
#ifndef SNI_DOC_TREE_H
#define SNI_DOC_TREE_H

#include <limits.h>
#include <stdalign.h>

#include "io/doc.h"

#define SNI_DOC_MIB      ((size_t)1 << 20)
#define SNI_DOC_SET_NAME "--set" /* the file of an error in a patch */

struct sni_doc {
  struct sni_doc_chunk *chunks; /* newest first */
  size_t chunk_size;            /* of the next chunk */
  size_t held;                  /* bytes taken, <= limits.memory */
  size_t node_count;
  sni_doc_limits limits;
  const char *name;
  sni_node *root;
};

/* ---- doc.c: the tree ------------------------------------------------------------------------- */

static inline size_t sni_doc_clamp(size_t value) {
  return value < INT_MAX ? value : INT_MAX;
}

/* Adds the place to an error that sni_fail has just made, and returns status:
 * `return sni_doc_place(..., sni_fail(err, ...))`. */
sn_status sni_doc_place(const char *file, size_t line, size_t column, sn_error *err,
                        sn_status status);

/* "out of memory", placed in the document; returns SN_E_MEMORY. */
sn_status sni_doc_no_memory(const sni_doc *doc, sn_error *err);

/* An empty document.  limits may be NULL. */
sn_status sni_doc_new(const char *name, const sni_doc_limits *limits, sni_doc **out, sn_error *err);

/* Memory that lives as long as the document; NULL: there is none, or the limit is passed. */
void *sni_doc_take(sni_doc *doc, size_t count, size_t size, size_t align);
#define SNI_DOC_TAKE(doc, type, count)                                                             \
  ((type *)sni_doc_take(doc, count, sizeof(type), alignof(type)))

/* A copy of n bytes, with a 0 behind them. */
const char *sni_doc_take_text(sni_doc *doc, const char *text, size_t n);

/* A new node with the given content.  The caller says where it was needed. */
sn_status sni_doc_take_node(sni_doc *doc, sni_node content, sni_node **out, sn_error *err);

/* Gives a container its array.  A mapping that may become large has room for the index behind it.
 * False: out of memory, the node is unchanged. */
bool sni_doc_take_children(sni_doc *doc, sni_node *node, size_t capacity);

/* To be called when the entries of a mapping have changed, before anything is looked up in it. */
void sni_doc_update_index(sni_node *map);

/* The entry whose key is the n bytes at key; NULL: none. */
sni_node *sni_doc_find(const sni_node *map, const char *key, size_t n);

/* The entry nearest to the top of the file whose key was there before (NULL: none), and where. */
const sni_node *sni_doc_find_duplicate(const sni_node *map, const sni_node **first);

/* ---- doc_text.c: characters ------------------------------------------------------------------ */

/* Where the first character stands that a key or value may not hold, and which; n if none. */
size_t sni_doc_find_bad_character(const char *text, size_t n, uint32_t *c);

/* Does a line end with the character at i?  Of CR LF it is the LF. */
bool sni_doc_is_line_end(const char *text, size_t n, size_t i);

/* A byte order mark is no part of the text: its length, or 0. */
size_t sni_doc_bom_length(const char *text, size_t n);

/* Is it UTF-8 without control characters and hidden line breaks? */
sn_status sni_doc_check_text(const char *text, size_t n, const char *name, sn_error *err);

/* A key or value as it may stand in a message: short, on one line.  Unlike sni_show it takes any
 * bytes, because patches come from the command line, and a part of a path. */
typedef struct sni_doc_sample {
  char text[64];
} sni_doc_sample;

sni_doc_sample sni_doc_sample_n(const char *text, size_t n);
sni_doc_sample sni_doc_sample_of(const char *text);

/* ---- doc_read.c, doc_yaml_errors.c: reading -------------------------------------------------- */

/* Reads a text into nodes of doc, `depth` containers down.  *out: the outermost, NULL if none. */
sn_status sni_doc_parse(sni_doc *doc, const char *text, size_t n, size_t depth, bool from_set,
                        sni_node **out, sn_error *err);

/* Why libyaml's parser stopped in the n bytes of text, which have no byte order mark. */
struct yaml_parser_s;
sn_status sni_doc_yaml_error(const sni_doc *doc, const struct yaml_parser_s *p, const char *text,
                             size_t n, sn_error *err);

#endif
