/* force.h: what a kind of force must provide.  A new kind = one file in forces/ + one row in
 * force.c. */
#ifndef SNI_FORCE_H
#define SNI_FORCE_H

#include "base/error.h"
#include "math/se3.h"
#include "model/field.h"
#include "model/function.h"
#include "model/part.h"

/* A point that a cable passes. */
typedef struct sni_via {
  int member; /* place of its body among the force's members; -1: the world */
  sn_vec3 at; /* in the frame of the body                                   */
} sni_via;

/* The constant part of a force: indices only. */
typedef struct sni_force {
  int kind;            /* row in the table of force.c                                       */
  int param;           /* its first parameter                                               */
  int active;          /* function; -1: always                                              */
  bool implicit;       /* has a tangent, and may use it                                     */
  int nterm, npair;    /* of its tangent: at most so many terms, of so many pairs of bodies */
  int body[2];         /* -1: the world                                                     */
  sn_vec3 at[2];       /* points in the frames of the bodies                                */
  bool negative;       /* its first parameter may be below 0                                */
  bool pulls_only;     /* cable                                                             */
  int npoint, nmember; /* cable: its points, and the bodies that they are on                */
  const sni_via *via;  /* npoint                                                            */
  const int *member;   /* nmember  each body once                                           */
  int joint, nv, vadr; /* joint_torque                                                      */
  int nfunction, function[SN_NV_MAX];
  sn_frame frame;
} sni_force;

/* What an evaluation sees and adds to.  Plain arrays; world axes, at the origins of the bodies. */
typedef struct sni_force_eval {
  double t, t_ref;
  const sni_function *const *function;
  const sn_se3 *E_wb;   /* nbody */
  const sn_vec6 *phi;   /* nbody */
  sn_vec6 *wrench;      /* nbody: added to */
  double *tau;          /* nv: added to    */
  bool without_damping; /* damping is taken care of by D */
  double h;             /* to the end of an implicit step, 0: this is about now alone */
  int taut;  /* what a force that only pulls does in that step: 1 pulls, -1 nothing, 0: not known */
  bool rows; /* of tangents: what changes along one row over many bodies is to be that row      */
} sni_force_eval;

/* How the wrenches of a force change with the motion, linearised, as a sum of terms along single
 * directions of the two bodies' twists (world axes, at the origins):
 *
 *     -K = -df/dx = sum k p p^T     D = -df/dv = sum d p p^T     p = (p[0]; p[1])     [RM 2]
 *
 * Few springs need more than a handful of terms, and each costs a product and a sum. */
typedef struct sni_term {
  double k, d;
  sn_vec6 p[2];
  enum {
    SNI_PART_MATERIAL, /* the force changes                                                    */
    SNI_PART_ACROSS,   /* the force that there is turns with its line                          */
    SNI_PART_LEVER     /* the force that there is has an arm that turns: w of one body, alone  */
  } part;
  int body[2]; /* -1: the world, or none                                                      */
  int pair;    /* which of the force's pairs the two are                                      */
  bool more;   /* p goes on in the next term: it is over more bodies than two                  */
} sni_term;

/* clamped: what would destabilise is left out, across by the force, of the levers by the method,
 * which may sum them up before; material: along the spring only, the paper's choice; exact: the
 * symmetric part of the whole derivative. */
typedef enum sni_tangent {
  SNI_TANGENT_CLAMPED,
  SNI_TANGENT_MATERIAL,
  SNI_TANGENT_EXACT
} sni_tangent;

/* What a force along a line can be asked for. */
typedef struct sni_measure {
  double length, rate, tension;
} sni_measure;

/* A force or torque as an arrow, for those who look at it. */
typedef struct sni_force_arrow {
  int body;
  enum { SNI_ARROW_FORCE, SNI_ARROW_TORQUE, SNI_ARROW_HAND } kind;
  sn_vec3 point, vector; /* in the world */
} sni_force_arrow;

typedef struct sni_force_ops {
  sni_kind kind;
  int nparam; /* numbers that may be changed during a run; their keys in order in param_key */
  const char *const *param_key;
  /* Checks and stores; param: nparam numbers to fill. */
  void (*finish)(sni_part_builder *b, const sn_force_def *def, sni_force *force, double *param);
  /* In the initial pose, for what depends on it (a rest length).  NULL: nothing does. */
  void (*settle)(const sni_force *force, const sn_se3 *E_wb, double *param);
  /* There, when it is settled: it should push, and has no direction.  NULL: that cannot be. */
  bool (*squeezed)(const sni_force *force, const sn_se3 *E_wb, const double *param);
  void (*apply)(const sni_force_eval *e, const sni_force *force, const double *param);
  /* At most force->nterm terms; returns their number.  NULL: does not depend on the motion, or is
   * always explicit. */
  int (*tangent)(const sni_force_eval *e, const sni_force *force, const double *param,
                 sni_tangent tangent, sni_term *term);
  /* NULL: it has no potential. */
  double (*potential)(const sni_force_eval *e, const sni_force *force, const double *param);
  /* Of a force that only pulls: will it, at the end of a step of e->h, with the rates e->phi? NULL:
   * it is always there. */
  bool (*pulls)(const sni_force_eval *e, const sni_force *force, const double *param);
  /* NULL: it has none.  recorded: unless asked otherwise */
  bool recorded;
  sni_measure (*measure)(const sni_force_eval *e, const sni_force *force, const double *param);
  /* NULL: it is no arrow */
  sni_force_arrow (*arrow)(const sni_force_eval *e, const sni_force *force, const double *param);
} sni_force_ops;

int sni_force_kind_find(const char *keyword); /* -1: none */
int sni_force_kind_count(void);
const sni_force_ops *sni_force_kind(int kind);

/* The bodies of the k-th pair that a force couples: two members i < j at k = j (j - 1)/2 + i. */
void sni_force_pair(const sni_force *force, int k, int body[2]);

/* ---- Shared by the files in forces/ ---- */

static inline double sni_force_value(const sni_force_eval *e, int function) {
  double out[3];
  sni_function_eval(e->function[function], e->t, e->t_ref, out);
  return out[0];
}

static inline bool sni_force_is_active(const sni_force_eval *e, const sni_force *f) {
  return f->active < 0 || sni_force_value(e, f->active) > 0;
}

/* A point fixed to a body (-1: the world): where it is and how it moves. */
static inline sn_vec3 sni_force_point(const sn_se3 *E_wb, int body, sn_vec3 at) {
  return body < 0 ? at : sn_se3_point(E_wb[body], at);
}
static inline sn_vec3 sni_force_velocity(const sni_force_eval *e, int body, sn_vec3 x) {
  if (body < 0) {
    return (sn_vec3){0};
  }
  const sn_vec3 arm = sn_vec3_sub(x, e->E_wb[body].p);
  return sn_vec3_add(e->phi[body].v, sn_vec3_cross(e->phi[body].w, arm));
}
/* A force f in world axes at the world point x of a body. */
static inline void sni_force_push(const sni_force_eval *e, int body, sn_vec3 x, sn_vec3 f) {
  if (body >= 0) {
    sn_vec6 *wrench = &e->wrench[body];
    wrench->v = sn_vec3_add(wrench->v, f);
    wrench->w = sn_vec3_add(wrench->w, sn_vec3_cross(sn_vec3_sub(x, e->E_wb[body].p), f));
  }
}

/* Three functions of a vector, compiled into force->function. */
void sni_force_vector(sni_part_builder *b, const char *key, const sn_function_def *def,
                      sni_force *force);
/* Their value in world axes. */
static inline sn_vec3 sni_force_vector_value(const sni_force_eval *e, const sni_force *f) {
  const sn_vec3 a = {sni_force_value(e, f->function[0]), sni_force_value(e, f->function[1]),
                     sni_force_value(e, f->function[2])};
  return f->frame == SN_FRAME_BODY ? sn_mat3_mul_vec(e->E_wb[f->body[0]].R, a) : a;
}

#endif
