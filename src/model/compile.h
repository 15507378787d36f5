/* compile.h: from definitions to a model: what the stages of sn_builder_finish share.
 *
 * Every stage reports all that it finds and goes on; a later stage that stands on a broken part
 * leaves that part out.  The model is given out only if nothing was reported. */
#ifndef SNI_COMPILE_H
#define SNI_COMPILE_H

#include "model/builder.h"
#include "model/model.h"

typedef struct sni_compile {
  sn_builder *b;
  sn_model *m;
  const sn_body_def **def; /* nbody: definition of each body, in the order of the tree       */
  bool *broken; /* nbody: its joint could not be made; nothing that stands on it is checked  */
  sni_joint_builder joints, loops;
  sn_force_def *string; /* strings that became bodies and springs                             */
  int nstring;
  int *claimed; /* nv: 1 + the map that drives a coordinate; 0: none                   */
  bool out_of_memory;
  int function_capacity;
  char path[160]; /* of the thing at hand, such as forces.return               */
} sni_compile;

/* A problem at c->path + "." + key (key may be NULL). */
void sni_compile_fail(sni_compile *c, const char *key, const char *format, ...) SN_PRINTF(3, 4);
void sni_compile_warn(sni_compile *c, const char *key, const char *format, ...) SN_PRINTF(3, 4);
/* The same from an error that a part has filled. */
void sni_compile_pass_on(sni_compile *c, const char *key, const sn_error *err);
void sni_compile_at(sni_compile *c, const char *kind, const char *name);

/* From the model's arena.  A text may be NULL, and stays so. */
void *sni_compile_take(sni_compile *c, size_t count, size_t size);
const char *sni_compile_text(sni_compile *c, const char *text);

/* Names: -1: the world; -2: unknown, and reported under key. */
int sni_compile_body(sni_compile *c, const char *key, const char *name);
/* A contact material; -1: there is none, and it is reported. */
int sni_compile_contact(sni_compile *c, const char *key, const char *name);
int sni_compile_function(sni_compile *c, const char *key, const sn_function_def *def);
/* A switch: above 0 or not, with a break at every change.  -1: always on. */
double sni_compile_weight(sni_compile *c, double weight); /* checked */
int sni_compile_active(sni_compile *c, const sn_function_def *def);

/* Reports a pose that is none, a point that is none, a name that breaks the rules. */
bool sni_compile_pose(sni_compile *c, const char *key, sn_se3 E);
bool sni_compile_point(sni_compile *c, const char *key, sn_vec3 x);
bool sni_compile_name(sni_compile *c, const char *name, const char *what);

/* Spreads a per-coordinate value; reports a wrong count or value. */
/* A drive of nv coordinates under `key`; false: there is nothing to drive. */
bool sni_compile_drive(sni_compile *c, const char *key, const sn_drive_def *def, int nv,
                       sni_drive *drive, double *stiffness, double *damping, double *most);
void sni_compile_spread(sni_compile *c, const char *key, const sn_per_dof *from, int nv,
                        double missing, bool not_negative, double *out);

/* The help that kinds of forces and constraints get. */
sni_part_builder sni_compile_builder(sni_compile *c);
/* Names of one kind of definitions: sound, and none twice. */
void sni_compile_names(sni_compile *c, const char *kind, const char *what, const void *item,
                       size_t size, size_t name_offset, int n);

/* ---- stages ---- */
void sni_compile_strings(sni_compile *c);     /* strings: bodies and springs instead */
void sni_compile_hang(sni_compile *c);        /* bodies without a joint: by loops */
void sni_compile_tree(sni_compile *c);        /* names, parents, order              */
void sni_compile_joints(sni_compile *c);      /* joints, springs, drives, limits    */
void sni_compile_bodies(sni_compile *c);      /* shapes, meshes, masses             */
void sni_compile_parts(sni_compile *c);       /* contacts, forces, motions, loops   */
void sni_compile_constraints(sni_compile *c); /* loops, constraints, motions, as rows; by parts */
void sni_compile_numbers(sni_compile *c);     /* parameters of loops and friction   */
void sni_compile_start(sni_compile *c);       /* initial pose, run                  */

/* Where maps start, and where their joints do: given (nbody): those whose start is given. */
void sni_compile_start_maps(sni_compile *c, const bool *q_given, const bool *qd_given);
/* Friction in the joints of bodies, then in those of loops, which must be there; and the damping
 * that is part of a law, which goes with that of the joint (nv numbers). */
void sni_compile_tubes(sni_compile *c);
void sni_compile_friction(sni_compile *c);
void sni_compile_friction_damping(sni_compile *c, const char *key, const sn_joint_friction_def *def,
                                  int nv, double *damping);
/* What a definition means by backlash: limits with soft stops; of a rotation vector, which begins
 * at coordinate `ball` (-1: none), a cone. */
sn_joint_def sni_compile_backlash(sni_compile *c, const char *prefix, const sn_joint_def *def,
                                  int nv, int ball);
/* Limits of joints and loops, behind the other constraints; and how many there are at most. */
void sni_compile_limits(sni_compile *c);
size_t sni_compile_limit_count(const sni_compile *c);

/* What constraints take from the initial pose. */
void sni_compile_settle_constraints(sni_compile *c, const sn_se3 *E_wb);

/* Nodes of strings in line, in the initial pose E_wb of the others, where no start is given. */
void sni_compile_place_strings(sni_compile *c, const bool *given, const sn_se3 *E_wb);
int sni_compile_string_springs(const sni_compile *c); /* how many: they are the last forces */
/* The warning about a force that is squeezed to a point. */
void sni_compile_warn_squeezed(sni_compile *c, const char *force, double rest_length);

#endif
