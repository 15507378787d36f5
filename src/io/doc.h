/* doc.h: a YAML 1.2 or JSON text as a tree of nodes that know where they came from.
 *
 * Nothing is typed here: `no`, `1` and `"1"` are scalars with a text, and what they mean follows
 * from the key under which they stand.  Of YAML, the parts that surprise people are refused:
 * anchors, aliases, tags, merge keys, several documents, keys that are not texts, duplicate keys.
 *
 * A document owns its nodes.  A node keeps its address until the document is freed. */
#ifndef SNI_DOC_H
#define SNI_DOC_H

#include "sinew/types.h"

/* What may be asked of one document, patches and overlays included.  Beyond INT_MAX counts as
 * INT_MAX for all but memory. */
typedef struct sni_doc_limits {
  size_t file_size; /* bytes of the file or text                               */
  size_t depth;     /* lists and maps inside one another                       */
  size_t nodes;     /* values: scalars, lists, maps                            */
  size_t memory;    /* bytes of nodes and texts; passing it is "out of memory" */
} sni_doc_limits;

sni_doc_limits sni_doc_limits_default(void);

typedef struct sni_doc sni_doc;

typedef enum sni_node_kind { SNI_NODE_SCALAR, SNI_NODE_SEQUENCE, SNI_NODE_MAPPING } sni_node_kind;

typedef struct sni_node sni_node;
struct sni_node {
  const char *key; /* of an entry of a mapping; NULL for other nodes              */
  union {
    const char *text; /* scalar: UTF-8, no control characters but \t \n \r, ends in 0 */
    sni_node **child; /* else: capacity entries, count used, in the order of the file */
  };
  uint32_t count;           /* scalar: bytes of text; else: children                  */
  uint32_t capacity;        /* of child; a large mapping has its sorted index behind  */
  int line, column;         /* of the value, from 1, in characters; 0: not from a file */
  int key_line, key_column; /* of the key; 0: no key, or not from a file              */
  uint8_t kind;             /* sni_node_kind                                          */
  bool quoted;              /* scalar: in quotes or a block (|, >), so never a number */
  bool from_set;            /* made by sni_doc_set                                    */
};

/* Read a document.  limits may be NULL: the defaults.  The name goes into error messages; it is
 * the path for a file.  On failure *out is untouched and err has file, line and column. */
sn_status sni_doc_read_file(const char *path, const sni_doc_limits *limits, sni_doc **out,
                            sn_error *err);
sn_status sni_doc_read_text(const char *text, size_t n, const char *name,
                            const sni_doc_limits *limits, sni_doc **out, sn_error *err);
void sni_doc_free(sni_doc **doc);

const sni_node *sni_doc_root(const sni_doc *doc);
const char *sni_doc_name(const sni_doc *doc);

/* All take NULL for a node, so that questions can be chained:  count is 0 for scalars; at and get
 * give NULL where there is nothing, or no sequence or mapping (at: either).  get takes O(log n). */
size_t sni_node_count(const sni_node *node);
const sni_node *sni_node_at(const sni_node *node, size_t i);
const sni_node *sni_node_get(const sni_node *map, const char *key);

/* Nothing stands behind the key: `joint:` alone.  False for "" and for null. */
bool sni_node_is_empty(const sni_node *node);

/* The number, if the whole unquoted text is one decimal finite number, whatever the locale. */
bool sni_node_number(const sni_node *node, double *out);

/* "a text", "a list" or "a map". */
const char *sni_node_kind_text(const sni_node *node);

/* Override or create the value at a path such as bodies.hammer.shapes[0].radius.  The value is
 * YAML on one line: 0.3, [0, 0, -1], {type: box}.  Missing maps are created; list entries are not.
 * On failure the tree is unchanged, err->file is "--set" and err->path the path. */
sn_status sni_doc_set(sni_doc *doc, const char *path, const char *value, sn_error *err);

/* A mapping with the entries of over, then those of base that over has not; where both have a
 * mapping under one key, likewise inside.  Entries keep their positions, and their nodes are
 * shared: call sni_doc_set before, not after.  Where base or over is NULL or no mapping, the result
 * is over, or base if over is NULL.  base and over are unchanged. */
sn_status sni_doc_overlay(sni_doc *doc, const sni_node *base, const sni_node *over,
                          const sni_node **out, sn_error *err);

/* Fill file, line and column of err (which may be NULL) from the value or the key of a node. */
void sni_doc_locate(const sni_doc *doc, const sni_node *node, sn_error *err);
void sni_doc_locate_key(const sni_doc *doc, const sni_node *node, sn_error *err);

#endif
