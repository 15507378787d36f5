/* field.h: tables that describe what can be written in a scene file.
 *
 * A kind (of joint, shape, force, ...) lists its keys here: name, type, place in the definition
 * struct, range, unit and one line of documentation.  The scene reader, `sinew schema` and the
 * reference pages all follow from these tables, so they cannot disagree.  Defaults are not
 * repeated: they are what the definition's default initialiser holds. */
#ifndef SNI_FIELD_H
#define SNI_FIELD_H

#include "sinew/sinew.h"

typedef enum sni_field_type {
  SNI_F_NUMBER,      /* double; a number or a constant expression                              */
  SNI_F_INTEGER,     /* int                                                                    */
  SNI_F_BOOL,        /* bool                                                                   */
  SNI_F_NAME,        /* const char *: a name that something else bears                         */
  SNI_F_TEXT,        /* const char *: free text                                                */
  SNI_F_FILE,        /* const char *: a path inside the scene's folder                         */
  SNI_F_CHOICE,      /* int (an enum): place of the word in `choices` ("world|body")           */
  SNI_F_WORD,        /* const char *: one of `choices`                                         */
  SNI_F_VEC3,        /* sn_vec3                                                                */
  SNI_F_POSE,        /* sn_se3: [x, y, z], {pos, rotvec} or {pos, quat_wxyz}                   */
  SNI_F_PER_DOF,     /* sn_per_dof: a number, or a list with one for each coordinate           */
  SNI_F_LIMITS,      /* sn_per_dof at offset (lower) and at offset2 (upper): [lo, hi] or pairs */
  SNI_F_FUNCTION,    /* sn_function_def: time function                                         */
  SNI_F_FUNCTIONS,   /* int at offset2 (count), sn_function_def[SN_NV_MAX] at offset           */
  SNI_F_FUNCTION3,   /* sn_function_def[3]: a list of three time functions; bool at offset2 > 0 */
  SNI_F_TABLE,       /* a nested map, described by `table`, stored in place at offset          */
  SNI_F_POINT,       /* sn_point_def: {body, at}                                               */
  SNI_F_POINTS,      /* const sn_point_def * at offset, int count at offset2: a list of these  */
  SNI_F_BEADS,       /* const sn_bead_def * at offset, int count at offset2: a list of these   */
  SNI_F_TERMS,       /* const sn_term_def * at offset, int count at offset2: a list of these   */
  SNI_F_COORDINATES, /* const sn_coordinate_def *, int at offset2: a list of these           */
  SNI_F_DRIVEN,      /* const sn_driven_def *, int at offset2: a list of these               */
  SNI_F_TWIST,       /* sn_function_def[6] at offset, bool[6] at offset2: null is none given   */
  SNI_F_PARTS,       /* composite: const sn_joint_def * at offset, int count at offset2        */
  SNI_F_FRAMES,      /* const sn_se3 * at offset, int count at offset2: a list of poses        */
  SNI_F_GRID,        /* const double * at offset, two ints (rows, columns) at offset2          */
  SNI_F_INERTIA,     /* sn_inertia at offset, bool at offset2: {mass, at, xx, yy, zz, ...}     */
  SNI_F_SHAPES,      /* const sn_shape_def * at offset, int count at offset2                   */
  SNI_F_DAMPING,     /* double at offset (angular), double at offset2 (linear)                 */
  SNI_F_PATTERNS,    /* const char *const * at offset, int count at offset2: list of texts     */
  SNI_F_NAMES,       /* likewise: names that other things bear                                 */
  SNI_F_JOINT        /* sn_joint_def at offset: keys depend on `type`                          */
} sni_field_type;

enum {
  SNI_REQUIRED = 1, /* the key must be there                                          */
  SNI_POSITIVE = 2, /* > 0                                                            */
  SNI_NOT_NEGATIVE = 4,
  SNI_TUNABLE = 8,     /* may be changed during a run: a parameter (sn_sim_set)         */
  SNI_AT_MOST_ONE = 16 /* of parameters: a part of something                           */
};

typedef struct sni_table sni_table;

typedef struct sni_field {
  const char *key;
  sni_field_type type;
  unsigned flags;
  size_t offset, offset2;
  const char *unit;    /* "m", "N/m", "" ...                          */
  const char *choices; /* for SNI_F_CHOICE and SNI_F_WORD             */
  const sni_table *table;
  const char *doc;
} sni_field;

/* A map with fixed keys.  Where a bool at enabled_offset (> 0) exists, it is set to true when the
 * map is there at all. */
struct sni_table {
  const char *name; /* such as "drive"; for schema definitions */
  const char *doc;
  const sni_field *field;
  int count;
  size_t enabled_offset; /* within the nested struct, plus 1; 0: none */
};

#define SNI_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A family of kinds: joints, shapes, forces.  A map of this family has `type` and the common keys
 * and those of its kind. */
typedef struct sni_kind {
  const char *keyword;
  const char *doc; /* one line */
  const sni_field *field;
  int count;
} sni_kind;

typedef struct sni_family {
  const char *name;               /* "joint"                                                   */
  sni_table common;               /* keys that every kind has                                  */
  const sni_kind *(*kind)(int k); /* the k-th kind; NULL past the end                    */
} sni_family;

/* The families and maps of a scene file. */
const sni_family *sni_joint_family(void);
const sni_family *sni_shape_family(void);
const sni_family *sni_force_family(void);
const sni_family *sni_constraint_family(void);
extern const sni_table sni_body_table, sni_motion_table, sni_loop_table, sni_contact_table,
    sni_tube_table, sni_initial_table, sni_run_table;

#endif
