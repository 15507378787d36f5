/* decode.h: from the nodes of a document to the definitions of the model, by the field tables.
 *
 * Problems are collected, never the end of decoding.  There are two sorts.  A structural one can be
 * seen in the one map where it stands: an unknown key, a missing one, a wrong type, length, word or
 * sign.  The schema knows these too: code SN_E_SYNTAX.  A semantic one needs more than that: an
 * expression, a file, another map.  Those have other codes, mostly SN_E_VALUE. */
#ifndef SNI_DECODE_H
#define SNI_DECODE_H

#include "base/error.h"
#include "io/doc.h"
#include "io/folder.h"
#include "io/keys.h"
#include "io/pool.h"

/* `defaults` of a file. */
typedef struct sni_defaults {
  const sni_node *node[SNI_DEFAULT_COUNT]; /* NULL: not there                              */
  bool broken[SNI_DEFAULT_COUNT];          /* has errors: is not used, nor missed          */
  bool *used[SNI_DEFAULT_COUNT];           /* for each entry of the node: some map took it */
} sni_defaults;

typedef struct sni_decoder {
  const sni_doc *doc;
  sni_pool *pool; /* for texts and arrays of the definitions */
  sni_error_list *errors;
  sni_defaults *defaults;
  const sni_folder *root; /* the folder that files must not leave               */
  const char *folder;     /* of this file, without links                        */

  /* Of a used file: what stands before its names, and what its ground is. */
  const char *prefix;
  const char *ground; /* a body of the whole scene, or "world" */
  sn_se3 E_ground;    /* pose of the file's ground in that body's frame */

  bool semantic; /* what is wrong now is semantic: it comes from joining maps */
  bool relaxed;  /* bodies, joints, shapes and forces may be incomplete       */

  char path[SN_ERROR_WHERE_MAX]; /* of the node at hand */
  size_t path_length;
} sni_decoder;

/* ---- Problems and paths ---- */

/* Counts a problem whose words nobody will see, because there are too many already; false: they
 * are wanted.  For messages that take time to make. */
bool sni_decode_fail_unseen(sni_decoder *d);

/* Adds a problem at d->path.  Its place is that of a node, or of the key of a node. */
void sni_decode_fail(sni_decoder *d, sn_status code, const sni_node *node, const char *format, ...)
    SN_PRINTF(4, 5);
void sni_decode_fail_key(sni_decoder *d, sn_status code, const sni_node *node, const char *format,
                         ...) SN_PRINTF(4, 5);

/* A mistake in the expression that a scalar is; inner->column counts in the expression. */
void sni_decode_fail_expression(sni_decoder *d, const sni_node *node, const sn_error *inner);

/* "is a list, needs WHAT": always structural. */
void sni_decode_fail_type(sni_decoder *d, const sni_node *node, const char *what);

/* One step down, and back to where the path was before. */
size_t sni_path_key(sni_decoder *d, const char *key);
size_t sni_path_index(sni_decoder *d, size_t index);
void sni_path_back(sni_decoder *d, size_t before);

/* File, line and column of a node, in the way that suits a reader best. */
void sni_decode_locate(const sni_doc *doc, const sni_node *node, sn_error *err);

/* ---- Scalars: false if there was a problem ---- */

bool sni_decode_number(sni_decoder *d, const sni_node *node, unsigned flags, double *out);
bool sni_decode_integer(sni_decoder *d, const sni_node *node, unsigned flags, int most, int *out);
bool sni_decode_bool(sni_decoder *d, const sni_node *node, bool *out);
/* what: "a name", for messages. */
bool sni_decode_text(sni_decoder *d, const sni_node *node, const char *what, const char **out);
/* With the prefix of the file, but for the ground, which stays "world". */
bool sni_decode_name(sni_decoder *d, const sni_node *node, const char **out);
bool sni_decode_choice(sni_decoder *d, const sni_node *node, const char *choices, int *out);
bool sni_decode_file(sni_decoder *d, const sni_node *node, const char **out);

bool sni_decode_numbers(sni_decoder *d, const sni_node *node, size_t count, unsigned flags,
                        double *out);

/* A plain number, not an expression and not in quotes: here the schema sees the value. */
bool sni_node_is_literal(const sni_node *node);
/* A word that YAML takes for something else than a text: null, true, .inf and their kin. */
bool sni_node_is_null(const sni_node *node); /* or nothing at all */
bool sni_node_is_bool(const sni_node *node);

/* ---- Values and maps ---- */

/* In the order of sn_interpolation. */
#define SNI_INTERPOLATION_CHOICES "linear|step|cubic"

/* Decodes the value of a field into the struct that def points to. */
bool sni_decode_value(sni_decoder *d, const sni_field *field, const sni_node *node, void *def);
bool sni_decode_pose(sni_decoder *d, const sni_node *node, sn_se3 *out);
bool sni_decode_function(sni_decoder *d, const sni_node *node, sn_function_def *out);
/* A function, or a list of 1 to `most`; *count: how many. */
bool sni_decode_functions(sni_decoder *d, const sni_node *node, int most, sn_function_def *out,
                          int *count);
/* A list of six; null: none given. */
bool sni_decode_twist(sni_decoder *d, const sni_node *node, sn_function_def *out, bool *given);
bool sni_decode_function3(sni_decoder *d, const sni_node *node, sn_function_def *out);

/* A map with fixed keys; no table: any map. */
bool sni_decode_map(sni_decoder *d, const sni_keys *keys, const sni_node *node, void *def);
bool sni_decode_table(sni_decoder *d, const sni_table *table, const sni_node *node, void *def);

/* A map, and maps that lie under it: what the first has not is taken from the next ones, key by key
 * and whole: a pose is never made of two halves. */
typedef struct sni_layers {
  const sni_node *node[3];
  int count;
  bool broken; /* those below have errors: they give nothing, and nothing is missing */
} sni_layers;

/* The map with the defaults of its file below it. */
sni_layers sni_decode_layers(const sni_decoder *d, const sni_node *node, int default_id);

/* A map whose keys depend on its type. */
bool sni_decode_kind(sni_decoder *d, sni_role role, const sni_layers *layers, void *def);

/* A body; its key `repeat` is known and left alone. */
bool sni_decode_body(sni_decoder *d, const sni_node *node, sn_body_def *def);

/* `repeat` of a body.  *joint: its key joint, or NULL. */
bool sni_decode_repeat(sni_decoder *d, const sni_node *node, sni_repeat_def *def,
                       const sni_node **joint);
/* The joint with other keys laid over it.  broken: the joint has errors itself. */
bool sni_decode_joint_over(sni_decoder *d, const sni_node *over, const sni_node *joint, bool broken,
                           sn_joint_def *def);

/* Friction that a joint which does not move has from the defaults alone is none.  over: what lies
 * over the joint, or NULL. */
void sni_decode_spare_fixed(const sni_node *joint, const sni_node *over, sn_joint_def *def);

/* A list of maps; *array and *count stay as they are when there is a problem. */
bool sni_decode_parts(sni_decoder *d, const sni_node *node, const sn_joint_def **array, int *count);
bool sni_decode_shapes(sni_decoder *d, const sni_node *node, const sn_shape_def **array,
                       int *count);

/* Checks a map of `defaults`, which may have any keys of any kind.  Those of joints, shapes and
 * forces come before those of bodies. */
bool sni_decode_default(sni_decoder *d, int default_id, const sni_node *node);

/* Complains about keys of map that are not known; `also`: one more known key, or NULL, which
 * stands first in the list if it is the type. */
bool sni_decode_unknown(sni_decoder *d, const sni_node *map, const sni_keys *keys,
                        const char *also);

#endif
