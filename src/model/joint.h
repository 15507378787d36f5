/* joint.h: what a kind of joint must provide.  A new kind = one file in joints/ + one row in
 * joint.c.
 *
 *     E_pb(q) = E_pb0 Q(q)        phi_b relative to the parent = S(q) qd, in frame b   [RMS 16]
 *
 * Evaluators take a run of consecutive joints of one kind, so that dispatch happens once per run
 * and sines and cosines are computed together. */
#ifndef SNI_JOINT_H
#define SNI_JOINT_H

#include "base/error.h"
#include "math/se3.h"
#include "model/bearing.h"
#include "model/field.h"

/* The constant part of a joint: indices only. */
typedef struct sni_joint {
  int kind;              /* row in the table of joint.c                                         */
  int nv;                /* coordinates                                                         */
  int data;              /* first entry in the pool of numbers                                  */
  int part_first, npart; /* composite: its parts, as joints of their own                       */
} sni_joint;

/* Where joints find their constants. */
typedef struct sni_joint_set {
  const sni_joint *joint;
  const double *pool;
} sni_joint_set;

/* One evaluation of a run of joints; entry k belongs to joint first + k. */
typedef struct sni_joint_out {
  sn_se3 *E_pb;  /* pose of b in the parent's frame                                     */
  sn_vec6 *S;    /* nv columns a joint; untouched by kinds with a constant S            */
  sn_vec6 *Sdot; /* dS/dt; likewise                                          [RMS 19]   */
} sni_joint_out;

#define SNI_RUN_MAX 32 /* longest run given to calc at once */

/* Room for the constants of joints while a model is built. */
typedef struct sni_joint_builder {
  double *pool;
  int npool, pool_capacity;
  sni_joint *part;
  int npart, part_capacity;
  bool out_of_memory;
  char warning[SN_ERROR_TEXT_MAX]; /* "": none; begins with the key */
} sni_joint_builder;

/* n new numbers in the pool; NULL when out of memory.  Pointers into the pool move at each call. */
double *sni_joint_pool(sni_joint_builder *b, int n, int *index);

/* A spring and damper in a joint: pointers to nv numbers each. */
typedef struct sni_spring {
  const double *q, *qd;       /* where the joint is                                 */
  const double *q_to, *qd_to; /* where it should be                                 */
  const double *stiffness, *damping;
  const double *max_force; /* NULL: no limit.  For rotations without an axis, on
                              the length of the torque (from the first entry)    */
} sni_spring;

/* Of one coordinate. */
typedef struct sni_range {
  double lo, hi;
  double stride; /* the longest step worth taking at once                                       */
  double pitch;  /* of a thread: along its axis for one radian; 0: a whole turn changes nothing */
} sni_range;

typedef struct sni_joint_ops {
  sni_kind kind;
  int nv;             /* coordinates, and as many rates; -1: depends on the definition            */
  bool constant_S;    /* S does not depend on q: finish fills S0, calc leaves S and Sdot alone    */
  bool constant_span; /* what S spans does not, though S does: finish fills S0 with such columns  */
  bool axis_free;     /* may start from a pose                                                    */
  int slides, slides_from; /* so many coordinates, from that one on, are one translation with no
                              rails of its own: those of a plane, or of space                     */
  /* Checks and stores what calc needs.  Problems go to err, with the key that is wrong in
   * err->path (relative to the joint).  S0: nv columns of a constant S, or with its span. */
  sn_status (*finish)(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint, sn_vec6 *S0,
                      sn_error *err);
  /* q and qd: those of the first joint of the run; consecutive. */
  void (*calc)(sni_joint_set set, int first, int count, const double *q, const double *qd,
               sni_joint_out out);
  /* Away from singular coordinates; returns true if q changed.  NULL: never needed. */
  bool (*reparam)(sni_joint_set set, int j, double *q, double *qd);
  /* tau += spring and damper from (q, qd) towards (q_to, qd_to); returns the spring's energy.
   * Rotations without an axis do it on the group, so that nothing jumps when coordinates wrap.
   * NULL: plain, coordinate by coordinate. */
  double (*spring)(sni_joint_set set, int j, const sni_spring *spring, double *tau);
  /* out += (h damping + h^2 stiffness) as a matrix that acts on qd: how the force of the spring
   * changes with the rate over a step of h.  ld: row length of out.  NULL: plain, diagonal. */
  void (*spring_matrix)(sni_joint_set set, int j, const sni_spring *spring, double h, double *out,
                        int ld);
  /* Both or neither, where no series is needed.  Moves q to where Q is next to X, but for rounding;
   * one that is there stays; and that Q alone, found from X alone. */
  void (*approach)(sni_joint_set set, int j, const sn_se3 *X, double *q);
  void (*nearest)(sni_joint_set set, int j, const sn_se3 *X, sn_se3 *Q);
  /* Where those look for its coordinates who do not know them; bodies are `far` from each other.
   * NULL: half a turn both ways, and slides by as much as that. */
  void (*range)(sni_joint_set set, int j, double far, sni_range *out);
  /* q from a pose of b relative to the joint frame; false if the joint cannot take it. */
  bool (*from_pose)(sni_joint_set set, int j, sn_se3 Q, double *q);
  /* Its bearings, from a definition that finish has taken and that has what rub_needs says
   * (SNI_NEEDS_...).  NULL: nobody knows where its surfaces rub. */
  void (*bear)(sni_bearing_builder *b, const sn_joint_def *def);
  unsigned rub_needs;
  /* Axes of its bearings in the body's frame.  NULL: those of the body. */
  sn_mat3 (*bearing_axes)(const double *q);
} sni_joint_ops;

int sni_joint_kind_find(const char *keyword); /* -1: none */
int sni_joint_kind_count(void);
const sni_joint_ops *sni_joint_kind(int kind);

static inline const sni_joint_ops *sni_joint_ops_of(sni_joint_set set, int j) {
  return sni_joint_kind(set.joint[j].kind);
}

/* Does a rotation vector begin at coordinate `first` of joint j? */
bool sni_joint_is_ball(sni_joint_set set, int j, int first);

/* And how many of a translation: see sni_joint_ops.slides. */
int sni_joint_slides(sni_joint_set set, int j, int first);

/* The same for any joint: see sni_joint_ops.range. */
void sni_joint_range(sni_joint_set set, int j, double far, sni_range *out);

/* Builds one joint from its definition. */
sn_status sni_joint_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                           sn_vec6 *S0, sn_error *err);

/* The same for any joint: see sni_joint_ops.spring. */
double sni_joint_spring(sni_joint_set set, int j, const sni_spring *spring, double *tau);

void sni_joint_spring_matrix(sni_joint_set set, int j, const sni_spring *spring, double h,
                             double *out, int ld);

/* ---- Shared by the files in joints/ ---- */

/* The numbers of E_pb0 in the pool. */
double *sni_joint_store_pose(sni_joint_builder *b, sn_se3 E, int *index);
sn_se3 sni_joint_load_pose(const double *at);

/* Checks and normalises def->axis. */
sn_status sni_joint_axis(const sn_joint_def *def, sn_vec3 *axis, sn_error *err);

/* The two ways of sni_joint_ops.spring, for n plain coordinates and for one rotation vector, from
 * coordinate `first` of the joint on. */
double sni_spring_plain(const sni_spring *spring, int first, int n, double *tau);
double sni_spring_rotation(const sni_spring *spring, int first, double *tau);
void sni_spring_plain_matrix(const sni_spring *spring, int first, int n, double h, double *out,
                             int ld);
void sni_spring_rotation_matrix(const sni_spring *spring, int first, double h, double *out, int ld);

/* For sni_joint_ops.range: what slides, by as much as `far`. */
sni_range sni_range_of_slide(double far);

/* A rotation vector among the coordinates: reparameterise it. */
bool sni_joint_reparam_rotation(double *q, double *qd);

#define SNI_FIELD_AXIS                                                                             \
  {                                                                                                \
    .key = "axis", .type = SNI_F_VEC3, .flags = SNI_REQUIRED,                                      \
    .offset = offsetof(sn_joint_def, axis), .unit = "",                                            \
    .doc = "direction of the axis, in the body's frame; any length"                                \
  }

#endif
