/* constraint.h: what a kind of constraint must provide.  A new kind = one file in constraints/ +
 * one row in constraint.c.
 *
 * A constraint gives rows:  g(q, t) = 0 in position, where there is such a thing, and
 *
 *     G v + rate = 0     G vdot + bias = 0                                             [RM 4, 7]
 *
 * in velocity and acceleration.  A row stands over the twists of up to two bodies (world axes, at
 * their origins) and over coordinates of joints, whichever is convenient. */
#ifndef SNI_CONSTRAINT_H
#define SNI_CONSTRAINT_H

#include <stddef.h>

#include "model/function.h"
#include "model/joint.h"
#include "model/part.h"

#define SNI_ROWS_MAX  6  /* of one constraint                 */
#define SNI_COORD_MAX 16 /* coordinates of joints in one row */

/* In whole lines of a cache, of which the first two are all that most passes want of a loop. */
typedef struct sni_row {
  double g;    /* how far it is from being met; 0 where only rates are constrained */
  double rate; /* dg/dt at rest                                                    */
  sn_vec6 p[2];
  int body[2];    /* -1: none                                                            */
  int ncoord;     /* coordinates of joints                                               */
  bool one_sided; /* g >= 0 instead of g = 0: it pushes, lambda <= 0, and does not pull  */
  double bias;    /* what G vdot must cancel; not of poses alone                         */
  int coord[SNI_COORD_MAX];
  double coef[SNI_COORD_MAX];
  sn_stop_def stop;
  double timed; /* of bias: what functions of time ask for                             */
  double room[3];
} sni_row;
_Static_assert(offsetof(sni_row, bias) == 128 && sizeof(sni_row) % 64 == 0, "lines of a cache");

/* The constant part of a constraint. */
typedef struct sni_constraint {
  int kind;      /* row in the table of constraint.c            */
  int active;    /* function; -1: always                        */
  double weight; /* > 0                                       */
  int nrow;      /* at most                                     */
  int nsided;    /* of these, at most so many are one-sided     */
  int body[2];   /* -1: the world                               */
  sn_se3 at[2];
  int joint, nv, first; /* loop: its joint, and its coordinates among those of all loops; the same
                           for limits of these, whose coord then counts from the first of them   */
  bool of_loop;         /* limit, cone: of coordinates of a loop                         */
  double length;        /* distance; radius of what rolls                                */
  sn_vec3 axis; /* of body[0]: a disc's, 0: a sphere; knife_edge: where nothing slides           */
  int ncoord, coord[SNI_COORD_MAX]; /* couple: sum coef q = function[0]; map: of its row         */
  double coef[SNI_COORD_MAX];
  double lower, upper; /* limit: of coordinate coord[0]; cone: of twist                          */
  double swing;        /* cone                                                                   */
  sn_stop_def stop;    /* of what is one-sided                                             */
  sn_frame frame;      /* twist: the axes of its components                                  */
  int function[SN_NV_MAX]; /* -1: none                                                           */
  const struct sni_map *map; /* map: itself, in `parts` constraints of one row, and which it is   */
  int parts, part;
} sni_constraint;

/* What an evaluation sees.  World axes, at the origins of the bodies. */
typedef struct sni_constraint_eval {
  double t, t_ref;
  bool poses_only; /* nobody asks for bias                                              */
  bool gaps_only;  /* nobody asks for more than g: the rest of a loop's rows stays      */
  bool one_place;  /* gaps stay open by some precision: sni_constraint_places           */
  bool steep;      /* rows are the slopes of g, however wide gaps are                     */
  const sni_function *const *function;
  const sn_se3 *E_wb;
  const sn_vec6 *phi;
  const double *q, *qd;
  sni_joint_set joints; /* of loops                                                     */
  const sn_vec6 *S0;    /* their constant columns, 6 a loop                             */
  const sn_vec6 *basis; /* 6 a loop, where S or its span is constant: sni_constraint_loop_basis */
  double *loop_q;       /* coordinates of loops: near where they were, then where they are */
  double *loop_qd;
} sni_constraint_eval;

typedef struct sni_constraint_ops {
  sni_kind kind;
  /* Checks and stores; NULL: no scene can ask for this kind by name. */
  void (*finish)(sni_part_builder *b, const sn_constraint_def *def, sni_constraint *c);
  /* Of a kind that needs several constraints, `parts`: makes number `part` of them from a copy of
   * the finished one.  NULL: it is one. */
  void (*part)(sni_constraint *c);
  /* In the initial pose, for what depends on it.  NULL: nothing does. */
  void (*settle)(sni_part_builder *b, const sn_se3 *E_wb, sni_constraint *c);
  int rates; /* of its rows, so many at first say how fast things are and nothing of where: g = 0 */
  /* Returns the number of rows. */
  int (*rows)(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row);
} sni_constraint_ops;

/* Those before SNI_LOOP are kinds of the scene's constraints. */
enum {
  SNI_DISTANCE,
  SNI_WELD,
  SNI_POINT,
  SNI_COUPLE,
  SNI_ROLL,
  SNI_KNIFE_EDGE,
  SNI_MAP,
  SNI_HALF_SPACE,
  SNI_LOOP,
  SNI_TWIST, /* motion of a body */
  SNI_PATH,  /* of a point of it */
  SNI_RATE,  /* of a joint       */
  SNI_TURN,  /* of its rotation vector */
  SNI_LIMIT, /* of a coordinate  */
  SNI_CONE,  /* of a rotation vector */
  SNI_CONSTRAINT_KINDS
};
const sni_constraint_ops *sni_constraint_kind(int kind);
/* How many numbers can be recorded of one (methods/channels_constraints.c). */
int sni_constraint_channels(const sni_constraint *c);
int sni_constraint_kind_find(const char *keyword); /* -1: none */

/* How far a row with g is open, as somebody would measure it: of a distance its error, where g is
 * half that of its square over the length. */
static inline double sni_constraint_open(const sni_constraint *c, double g) {
  if (c->kind != SNI_DISTANCE) {
    return g;
  }
  const double L = c->length, d = sqrt(fmax(L * L + 2 * L * g, 0));
  return 2 * L * g / (d + L);
}

/* ---- Shared by the files in constraints/ ---- */

/* A point fixed to a body (the world: it rests). */
typedef struct sni_constraint_point {
  sn_vec3 x, v, arm; /* arm: from the body's origin                             */
  sn_vec3 own;       /* its acceleration when the body has none                 */
} sni_constraint_point;

static inline sni_constraint_point sni_constraint_at(const sni_constraint_eval *e, int body,
                                                     sn_vec3 at) {
  if (body < 0) {
    return (sni_constraint_point){.x = at};
  }
  sni_constraint_point p = {.x = sn_se3_point(e->E_wb[body], at)};
  p.arm = sn_vec3_sub(p.x, e->E_wb[body].p);
  const sn_vec3 w = e->phi[body].w, turning = sn_vec3_cross(w, p.arm);
  p.v = sn_vec3_add(e->phi[body].v, turning);
  p.own = sn_vec3_cross(w, turning);
  return p;
}

/* x[0], x[1]: where two bodies push each other whose points a and b belong together.  These points
 * themselves: the rate of the gap in the axes of the world, for those who close it to the last
 * digit.  Where it stays open by some precision, that is no good: bodies that move as one would see
 * the gap turn with them, and rows that say what others say would brake the motion of both.  So
 * both at one place then, on the body that moves or half-way: the rate in axes that turn with them.
 */
static inline void sni_constraint_places(const sni_constraint_eval *e, const sni_constraint *c,
                                         sn_vec3 a, sn_vec3 b, sn_vec3 x[2]) {
  const double part = c->body[0] < 0 ? 1 : c->body[1] < 0 ? 0 : 0.5;
  const sn_vec3 between = sn_vec3_addscaled(a, part, sn_vec3_sub(b, a));
  x[0] = e->one_place ? between : a;
  x[1] = e->one_place ? between : b;
}

/* What a velocity along n at the end of an arm is, over the twist of the body. */
static inline sn_vec6 sni_constraint_row(sn_vec3 arm, sn_vec3 n) {
  return (sn_vec6){sn_vec3_cross(arm, n), n};
}

/* How far from the origin of body[side] its rows push.  What they turn it with is what is left of a
 * push times that, and rounded to it. */
double sni_constraint_reach(const sni_constraint *c, const sn_se3 *E_wb, int side);

/* a and b of a definition: two bodies, and where on them. */
void sni_constraint_sides(sni_part_builder *b, const sn_constraint_def *def, sni_constraint *c);
/* The body that a constraint is about: body[0]. */
void sni_constraint_body(sni_part_builder *b, const char *name, sni_constraint *c);
/* A unit vector. */
void sni_constraint_direction(sni_part_builder *b, const char *key, sn_vec3 direction,
                              sni_constraint *c);

/* The rates of a loop's coordinates over the twists of its bodies, and what is in their
 * accelerations beside those of the bodies:  qd_k = sum over sides p . phi,  qdd_k likewise + bias.
 * After the rows of the loop. */
typedef struct sni_loop_map {
  sn_vec6 p[2][SN_NV_MAX];
  double bias[SN_NV_MAX];
} sni_loop_map;
void sni_constraint_loop_map(const sni_constraint_eval *e, const sni_constraint *c,
                             sni_loop_map *out);

/* For limits: coordinates and their rates; and rows over these (coef of coordinate 0 .. n - 1 of
 * c->coord) become rows over what a row may stand over. */
const double *sni_constraint_q(const sni_constraint_eval *e, const sni_constraint *c);
const double *sni_constraint_qd(const sni_constraint_eval *e, const sni_constraint *c);
void sni_constraint_over(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row,
                         int n);

/* Rows of a loop, and of a weld: a loop whose joint lets nothing move. */
/* Six orthonormal twists: the first n span the columns of S, the others are across them. */
void sni_constraint_loop_basis(const sn_vec6 *S, int n, sn_vec6 *out);
/* Coordinates of a loop from anywhere: those in e->loop_q stay where the loop is closed near them,
 * or no others come much nearer. */
void sni_constraint_loop_find(const sni_constraint_eval *e, const sni_constraint *c);
/* Q, S and Sdot of its joint. */
void sni_constraint_loop_joint(const sni_constraint_eval *e, const sni_constraint *c,
                               const double *q, const double *qd, sn_se3 *Q, sn_vec6 *S,
                               sn_vec6 *Sdot);
int sni_constraint_loop_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row);

/* What is wrong with a stop, under keys that begin with `prefix`. */
void sni_stop_check(sni_part_builder *b, const char *prefix, const sn_stop_def *stop);
extern const sni_table sni_stop_table;

#define SNI_FIELD_WEIGHT(def)                                                                      \
  {                                                                                                \
    .key = "weight", .type = SNI_F_NUMBER, .flags = SNI_POSITIVE, .offset = offsetof(def, weight), \
    .unit = "",                                                                                    \
    .doc = "structured: how much its error counts where not all constraints can be met"            \
  }

#define SNI_CONSTRAINT_SIDES(what_a, what_b)                                                       \
  {.key = "a",                                                                                     \
   .type = SNI_F_POINT,                                                                            \
   .flags = SNI_REQUIRED,                                                                          \
   .offset = offsetof(sn_constraint_def, a),                                                       \
   .unit = "m",                                                                                    \
   .doc = what_a},                                                                                 \
  {                                                                                                \
    .key = "b", .type = SNI_F_POINT, .flags = SNI_REQUIRED,                                        \
    .offset = offsetof(sn_constraint_def, b), .unit = "m", .doc = what_b                           \
  }

#endif
