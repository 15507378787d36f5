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

#include "model/joint.h"
#include "model/function.h"

#define SNI_ROWS_MAX 6 /* of one constraint */

typedef struct sni_row {
  double g;    /* how far it is from being met; 0 where only rates are constrained */
  double rate; /* dg/dt at rest                                                    */
  double bias; /* what G vdot must cancel                                          */
  int body[2]; /* -1: none                                                         */
  sn_vec6 p[2];
  int ncoord, coord[SN_NV_MAX]; /* coordinates of joints                           */
  double coef[SN_NV_MAX];
} sni_row;

/* The constant part of a constraint. */
typedef struct sni_constraint {
  int kind;    /* row in the table of constraint.c            */
  int active;  /* function; -1: always                        */
  int nrow;    /* at most                                     */
  int body[2]; /* -1: the world                               */
  sn_se3 at[2];
  int joint, nv, first;         /* loop: its joint, and its coordinates among those of all loops */
  double length;                /* distance                                                      */
  int ncoord, coord[SN_NV_MAX]; /* couple: sum coef q = function                          */
  double coef[SN_NV_MAX];
  int function; /* -1: none                                                               */
} sni_constraint;

/* What an evaluation sees.  World axes, at the origins of the bodies. */
typedef struct sni_constraint_eval {
  double t, t_ref;
  const sni_function *const *function;
  const sn_se3 *E_wb;
  const sn_vec6 *phi;
  const double *q, *qd;
  sni_joint_set joints; /* of loops                                                     */
  const sn_vec6 *S0;    /* their constant columns, 6 a loop                             */
  double *loop_q;       /* coordinates of loops: near where they were, then where they are */
  double *loop_qd;
} sni_constraint_eval;

typedef struct sni_constraint_ops {
  const char *keyword;
  /* Returns the number of rows. */
  int (*rows)(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row);
} sni_constraint_ops;

enum { SNI_LOOP, SNI_DISTANCE, SNI_COUPLE, SNI_CONSTRAINT_KINDS };
const sni_constraint_ops *sni_constraint_kind(int kind);

#endif
