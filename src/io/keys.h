/* keys.h: the outline of a scene file: which maps there are and which keys each of them has.
 *
 * The keys themselves are described by the field tables of the model.  What is here joins them as
 * they stand in a file: a loop has the keys of a joint in its own map, a part of a composite joint
 * has only those of its kind.  The reader, the schema and the reference pages all ask here. */
#ifndef SNI_KEYS_H
#define SNI_KEYS_H

#include "io/pool.h"
#include "model/field.h"

/* A key of a map, and where the struct of its field begins in the struct of the map. */
typedef struct sni_key {
  const sni_field *field;
  size_t base;
} sni_key;

#define SNI_KEYS_MAX 64 /* a test counts */

typedef struct sni_keys {
  sni_key item[SNI_KEYS_MAX];
  int count;
} sni_keys;

void sni_keys_of_table(const sni_table *table, sni_keys *out);
const sni_key *sni_keys_find(const sni_keys *keys, const char *key); /* NULL: none */

/* ---- Maps whose keys depend on their `type` ---- */

typedef enum sni_role {
  SNI_ROLE_JOINT,      /* of a body          sn_joint_def */
  SNI_ROLE_PART,       /* of a composite     sn_joint_def */
  SNI_ROLE_LOOP,       /*                    sn_loop_def  */
  SNI_ROLE_SHAPE,      /*                    sn_shape_def */
  SNI_ROLE_FORCE,      /*                    sn_force_def */
  SNI_ROLE_CONSTRAINT, /* sn_constraint_def */
  SNI_ROLE_COUNT
} sni_role;

const sni_family *sni_role_family(sni_role role);
const char *sni_role_name(sni_role role);
size_t sni_role_size(sni_role role);        /* of the struct                                */
size_t sni_role_type_offset(sni_role role); /* of the const char * that takes the type      */
const sni_kind *sni_role_kind(sni_role role, const char *keyword); /* NULL: none */

/* The keys of one kind, `type` not among them. */
void sni_keys_of_kind(sni_role role, const sni_kind *kind, sni_keys *out);
/* The keys of all kinds.  A key that means different things in different kinds is there once for
 * each meaning. */
void sni_keys_of_role(sni_role role, sni_keys *out);
/* Do two keys take the same values? */
bool sni_keys_equal(const sni_key *a, const sni_key *b);

/* ---- What the file has beside the model's definitions ---- */

/* Plain keys at the top. */
typedef struct sni_head_def {
  const char *units, *up;
  sn_vec3 gravity;
} sni_head_def;
extern const sni_table sni_head_table;
sni_head_def sni_head_def_default(const char *up);

/* An entry of `use`.  `prefix` is checked by sni_name_is_prefix. */
typedef struct sni_use_def {
  const char *file, *prefix, *parent;
  sn_se3 at;
} sni_use_def;
extern const sni_table sni_use_table;

/* `repeat` of a body, but for its key `joint`: keys laid over those of the body's joint. */
typedef struct sni_repeat_def {
  int count;
} sni_repeat_def;
extern const sni_table sni_repeat_table;
#define SNI_REPEAT_JOINT_DOC "keys laid over those of the joint, from the second body on"

#define SNI_BODIES_MAX 1000000 /* of a scene, and of one repeat */

/* `inertia` of a body, before it is moved into the body's frame. */
typedef struct sni_inertia_def {
  double mass;
  sn_se3 at;
  double xx, yy, zz, xy, xz, yz;
} sni_inertia_def;
extern const sni_table sni_inertia_table;

/* {body, at}: sn_point_def; {body, at, radius}: sn_bead_def; {joint, coordinate, factor}:
 * sn_term_def; {angular, linear}: sni_damping_def. */
typedef struct sni_damping_def {
  double angular, linear;
} sni_damping_def;
extern const sni_table sni_point_table, sni_bead_table, sni_term_table, sni_damping_table,
    sni_coordinate_table, sni_driven_table;

/* Sections: maps from names to things. */
typedef enum sni_section_id {
  SNI_BODIES,
  SNI_CONTACTS,
  SNI_TUBES,
  SNI_LOOPS,
  SNI_CONSTRAINTS,
  SNI_FORCES,
  SNI_MOTIONS,
  SNI_INITIAL,
  SNI_SECTION_COUNT
} sni_section_id;

typedef struct sni_section {
  const char *key;
  const char *thing;      /* "body"                                                       */
  const sni_table *table; /* the keys of each entry; NULL: they depend on the type        */
  sni_role role;          /* if there is no table                                         */
  const char *doc;
} sni_section;

const sni_section *sni_section_get(int id);

/* Maps that `defaults` may hold. */
typedef enum sni_default_id {
  SNI_DEFAULT_BODY,
  SNI_DEFAULT_JOINT,
  SNI_DEFAULT_SHAPE,
  SNI_DEFAULT_FORCE,
  SNI_DEFAULT_COUNT
} sni_default_id;

const char *sni_default_key(int id);
sni_role sni_default_role(int id); /* of all but SNI_DEFAULT_BODY */

/* The words of a list such as "dopri5|rk4": the k-th, and false past the end. */
typedef struct sni_choice {
  char word[32];
} sni_choice;
bool sni_choice_get(const char *choices, int k, sni_choice *out);

/* The keys of `run`.  Methods that are known by name only have open blocks: SNI_F_TABLE without a
 * table, with memory from pool. */
void sni_keys_of_run(sni_pool *pool, sni_keys *out);

/* The keys at the top of a file, in their usual order; NULL past the end. */
const char *sni_top_key(int k);

/* ---- Names ---- */

#define SNI_NAME_PATTERN      "^[A-Za-z_][A-Za-z0-9_-]*$"
#define SNI_REFERENCE_PATTERN "^[A-Za-z_][A-Za-z0-9_-]*(/[A-Za-z_][A-Za-z0-9_-]*)*$"
#define SNI_PREFIX_PATTERN    "^([A-Za-z_][A-Za-z0-9_-]*/)+$"

bool sni_name_is_plain(const char *text);     /* arm        */
bool sni_name_is_reference(const char *text); /* left/arm   */
bool sni_name_is_prefix(const char *text);    /* left/      */

#endif
