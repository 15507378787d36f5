/* model.h: the compiled mechanism.  Immutable after sn_builder_finish, shared by sims and threads.
 */
#ifndef SNI_MODEL_H
#define SNI_MODEL_H

#include "base/arena.h"
#include "model/constraint.h"
#include "model/force.h"
#include "model/function.h"
#include "model/map.h"
#include "model/mass.h"
#include "model/material.h"
#include "model/tree.h"

/* Numbers of a joint that rubs: coulomb has mu, the others what they have for each coordinate. */
typedef struct sni_rub_numbers {
  double mu, force[SN_NV_MAX], breakaway[SN_NV_MAX], speed[SN_NV_MAX];
} sni_rub_numbers;

/* Numbers of what acts in the joint of a loop, along the loop's own coordinates. */
typedef struct sni_loop_numbers {
  double stiffness[SN_NV_MAX], damping[SN_NV_MAX], rest[SN_NV_MAX];
  double drive_stiffness[SN_NV_MAX], drive_damping[SN_NV_MAX], drive_max[SN_NV_MAX];
} sni_loop_numbers;

/* Every number that does not change the structure.  The model has one with the defaults, each sim
 * a copy of its own.  One block, so that a copy is a memcpy. */
typedef struct sni_params {
  int count;
  double *value;   /* the block; everything below points into it                            */
  double *gravity; /* 3                                                                      */
  double *step, *rel_tol, *abs_tol;
  double *stiffness, *damping, *rest, *armature;       /* nv each: joint springs          */
  double *drive_stiffness, *drive_damping, *drive_max; /* nv each                         */
  double *drag_angular, *drag_linear;                  /* nbody each                      */
  double *inertia; /* nbody x 10: mass, centre of mass, xx yy zz xy xz yz                    */
  double *force;   /* those of the forces, one after the other                               */
  double *contact; /* ncontact x SNI_MATERIAL_PARAMS                                         */
  sni_loop_numbers *loop; /* nloop_spring                                                      */
  sni_rub_numbers *rub;   /* nrub                                                              */
} sni_params;

typedef struct sni_drive {
  int body;
  int target[SN_NV_MAX], rate[SN_NV_MAX]; /* functions; -1: none                            */
} sni_drive;

/* What acts in the joint of a loop, along the loop's own coordinates. */
typedef struct sni_loop_spring {
  int loop;
  sni_loop_numbers number; /* at first: sims have their own in their parameters */
  bool driven;
  sni_drive drive; /* of no body */
} sni_loop_spring;

/* Coordinates that rub together where a law knows no surfaces: a ball about its axis of the moment,
 * a plane in the direction of the moment.  Others are alone. */
typedef struct sni_rub_group {
  int first, count;
  bool ball; /* a rotation vector: what rubs is the angular velocity, in axes that turn with it   */
} sni_rub_group;

/* A joint that rubs, of the tree or of a loop. */
typedef enum sni_law { SNI_COULOMB, SNI_DRY, SNI_STRIBECK, SNI_VISCOUS } sni_law;
typedef struct sni_rub {
  int body; /* whose joint; -1: a loop's                                                     */
  int loop; /* -1: none                                                                      */
  sni_law law;
  sni_bearing bearing[SNI_BEARINGS_MAX]; /* coulomb                                            */
  int nbearing;
  sni_rub_group group[SN_NV_MAX]; /* the others: all of its coordinates                         */
  int ngroup;
  bool at_points;    /* contacts are, as in the paper                                           */
  int first, nslide; /* the ways in which it slides, among those of all: directions of its
                        bearings, or of its groups                                            */
  int first_tangent; /* among those of all                                                    */
  double drag[SN_NV_MAX]; /* which part of the damping along its coordinates is of its friction  */
  sni_rub_numbers number; /* at first: sims have their own in their parameters             */
} sni_rub;

/* The group of its c-th way. */
static inline const sni_rub_group *sni_rub_group_of(const sni_rub *rub, int c) {
  const sni_rub_group *group = rub->group;
  while (c >= group->first + group->count) {
    group++;
  }
  return group;
}
/* How fast a joint whose law knows no surfaces goes in its c-th way: that rate, or which rates of
 * coordinates it is made of: so many from the first one on. */
int sni_rub_rate_parts(const sni_rub *rub, int c, const double *q, int *first, double *part);
double sni_rub_rate(const sni_rub *rub, int c, const double *q, const double *qd);

typedef struct sni_motion {
  int body;
  int q[SN_NV_MAX];
  int active; /* function; -1: always */
  double weight;
} sni_motion;

typedef struct sni_shape {
  sn_shape_def def;
  int body;
  int material;   /* -1: does not collide           */
  sni_mesh *mesh; /* owned; NULL: the kind has none */
} sni_shape;

/* Beads first to first + count - 1. */
typedef struct sni_tube {
  const char *name;
  int material, apart;
  int first, count;
} sni_tube;

typedef struct sni_tube_bead {
  int body; /* -1: the ground */
  sn_vec3 at;
  double radius;
} sni_tube_bead;

struct sn_model {
  sni_arena arena;
  sni_tree tree;
  const char **name;    /* nbody, in the order of the tree                                     */
  const char **hung_by; /* nbody: loops that became joints, as bodies were given; NULL: none */
  int *given;           /* nbody: k-th body as it was given -> index in the tree               */
  int *by_name;         /* nbody: sorted by name                                               */
  sni_params params;    /* defaults                                                            */
  sni_shape *shape;
  int nshape;
  const char **contact_name; /* ncontact  materials */
  sn_self *contact_self;     /* ncontact            */
  int *contact_apart;        /* ncontact            */
  int (*ignore)[2];          /* nignore  pairs of bodies that do not touch; -1: the ground */
  int nignore;
  int ncontact;
  sni_tube *tube;
  int ntube;
  sni_tube_bead *bead; /* nbead  of all tubes, one after the other */
  int nbead;
  sni_function **function;
  int nfunction;
  sni_force *force;
  int *line; /* nline  forces that have a length: springs and cables */
  int nline;
  const char **force_name;
  int nforce, nforce_param;
  sni_drive *drive;
  int ndrive;
  sni_motion *motion;
  const char **motion_name;
  int nmotion;
  int nloop, nbond, nguide;     /* loops, constraints of the scene, motions of bodies and points */
  sni_constraint *constraint;   /* these three, then a row for each coordinate of joints' motions */
  const char **constraint_name; /* of all of them: the name in the scene                        */
  int nconstraint, nmotion_row;
  int *constraint_channel; /* nconstraint + 1  the first number that can be recorded of each    */
  int nrow;                /* at most, of all of these                                     */
  int nsided;              /* of these, one-sided                                          */
  int nlimit; /* constraints that are limits of joints and loops: the last before those of motions
               */
  bool soft;  /* some of them are soft stops                                                  */
  sni_joint_set loop_joints;    /* of loops                                                     */
  sn_vec6 *loop_S0;             /* SN_NV_MAX a loop: constant columns                           */
  sn_vec6 *loop_basis;          /* 6 a loop: along and across them, where they are constant     */
  sni_loop_spring *loop_spring; /* nloop_spring                                                */
  int nloop_spring;
  int nloop_drive;             /* of them are driven                                           */
  int nloop_q;                 /* coordinates of all loops and maps                            */
  double *loop_q0;             /* nloop_q  where they are looked for first                     */
  const sni_map **map;         /* nmap                                                         */
  const char **map_name;       /* nmap                                                         */
  int nmap, nmap_z, nmap_part; /* maps, their coordinates, their constraints beside the first */
  sni_rub *rub; /* nrub                                                               */
  int nrub, nslide, ntangent; /* of all                                                       */
  int ndrag, ndragged; /* viscous ones, and their coordinates: behind the others, to be recorded  */
  const char *rubbing; /* name of a joint with friction                                    */
  const char *touching; /* name of a body that collides                                     */
  double *q0, *qd0;
  sn_run_def run;
  const char *units, *up;
  double mass;
  uint64_t hash;
};

/* ---- params.c ---- */
/* Of a model, whose counts are known: those of loops and of friction come last. */
size_t sni_params_size(const sn_model *m);
void sni_params_place(sni_params *p, const sn_model *m, double *memory);
void sni_params_copy(sni_params *to, const sni_params *from);
static inline sn_inertia sni_params_inertia(const sni_params *p, int body) {
  const double *v = p->inertia + 10 * body;
  return (sn_inertia){v[0], {v[1], v[2], v[3]}, v[4], v[5], v[6], v[7], v[8], v[9]};
}
void sni_params_set_inertia(sni_params *p, int body, sn_inertia I);

typedef struct sni_param_ref {
  int index, count; /* entries of value                                                    */
  int stride;       /* from one to the next                                                */
  unsigned flags;   /* SNI_POSITIVE, SNI_NOT_NEGATIVE, SNI_AT_MOST_ONE                     */
  int inertia_of;   /* body whose inertia it belongs to; -1: none                          */
} sni_param_ref;

/* "bodies.hip.joint.stiffness", "bodies.wrist.joint.rest[1]", "gravity[2]", "forces.f.stiffness",
 * "run.step".  Without an index it means all coordinates; ".1" is as good as "[1]". */
sn_status sni_param_find(const sn_model *m, const char *path, sni_param_ref *ref, sn_error *err);

typedef struct sni_param_item {
  char path[320]; /* that finds it                          */
  sni_param_ref ref;
  const char *unit, *doc; /* "": nothing to say             */
} sni_param_item;

/* False: that is enough. */
typedef bool (*sni_param_visit)(void *user, const sni_param_item *item);

/* Every parameter: those of the run, of forces, contacts, loops, friction and bodies.  A joint with
 * several coordinates has its arrays twice, as a whole and by their entries. */
void sni_params_visit(const sn_model *m, sni_param_visit visit, void *user);

/* The body of a shape, or of a bead: these are numbered after the shapes where points touch. */
static inline int sni_model_shape_body(const sn_model *m, int shape) {
  return shape < m->nshape ? m->shape[shape].body : m->bead[shape - m->nshape].body;
}

/* ---- pose.c: positions without the work memory of a sim ---- */
void sni_model_poses(const sn_model *m, const double *q, sn_se3 *E_wb);

uint64_t sni_hash(uint64_t seed, const void *data, size_t size); /* FNV-1a */
#define SNI_HASH_SEED 0xcbf29ce484222325u

#endif
