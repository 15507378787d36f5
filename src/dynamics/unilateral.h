/* unilateral.h: rows that push and do not pull, beside rows that hold both ways:
 *
 *     G x = c      C x + e lambda >= c     lambda <= 0, and 0 where there is no contact   [RM 5]
 *
 * with b - A x = G^T lambda.  In the dual it is a quadratic program (qp.h) over the rows that
 * matter: those that hold both ways, and of the others those that x would break.  The rest cost a
 * product. As a graph, rows are in or out of it, and sets are tried until one is right. */
#ifndef SNI_UNILATERAL_H
#define SNI_UNILATERAL_H

#include "linear/qp.h"
#include "model/constraint.h"

struct sni_rows;

/* A row on the way through the inside (unilateral_inside.c). */
typedef struct sni_inner {
  double push, slack;           /* -lambda, and what is left of C x + e f >= c                   */
  double push_next, slack_next; /* where a step leads                                            */
  double give;                  /* e                                                             */
} sni_inner;

typedef struct sni_unilateral {
  bool *in;     /* capacity  the row is in the dual, or in the graph                             */
  double *soft; /* capacity  e: what gives way for each unit of lambda; 0: nothing               */
  double *free; /* capacity  G A^-1 b                                                            */
  double *v;    /* capacity  G x                                                                 */
  double *aim;  /* capacity  c of the rows in the graph                                          */
  sni_inner *inner; /* capacity  of graphs                                                        */
  double *meek;     /* capacity  what r->rhs would be if nothing came back; NAN: it does not ask for
                       that                                                                          */
  double *struck;   /* capacity  of these rows: the rates before a step                          */
  bool blow;        /* since the step began, something has been thrown back                      */
  double work;      /* that blows have done in it: at most 0                                     */
  double *start; /* nv  A^-1 b                                                                   */
  int *which;    /* capacity  rows in the dual                                                    */
  int count;     /* of these                                                                      */
  int *both;     /* capacity  of these, those that hold both ways                                 */
  bool *silent;  /* capacity  rows that have nothing to say: sni_rows_find_silent                 */
  sni_row *picked; /* capacity  of those that are in at first, one behind the other               */
  double *S; /* capacity x capacity  their G A^-1 G^T                                         */
  sni_qp qp;
  int *slot;    /* capacity  which of all rows that there may be: stays the same while others come
                   and go                                                                         */
  bool *held;   /* capacity, by slot: holds both ways for the time being                          */
  bool *within; /* capacity, by slot: has held in the step within which a state is read           */
  bool *pressed;  /* capacity, by slot: has pushed in the step that led here, and is pressed on
                     although the way there bends away from it, or its rate; for accelerations that
                     are asked for, not integrated */
  bool *put_back; /* capacity, by slot: closing gaps has pushed it back since rates were last asked
                     for                                                                          */
  double *borne;  /* capacity  what soft stops push with, where forces were last asked for        */
  double *came;   /* capacity, by slot: at the limit itself it came in with so much of the rate that
                     it is seen with, a little behind                                              */
  bool events; /* somebody looks after `held`: of rows that are not, none acts on accelerations  */
  bool fresh;  /* the graph is factorised with the rows that are in                          */
  uint64_t acting; /* a word for the rows that pushed in the last step                           */
  double *tamed;   /* nv + 4 capacity  scratch of sni_unilateral_tame                            */
  double *unbound; /* nv  where sni_unilateral_correct_rates starts from                         */
  int impossible;  /* a row that others stand against; -1: none                                  */
  double short_of; /* by how much its rate misses                                                */
} sni_unilateral;

/* Row i pushes only. */
bool sni_unilateral_is_free(const struct sni_rows *r, int i);

/* A row is touched if it is no further away than this: lengths and angles alike. */
#define SNI_TOUCH 1e-9
/* c of rows that may be broken. */
#define SNI_LET_GO (-INFINITY)

size_t sni_unilateral_size(int capacity, int nv, bool dual);
void sni_unilateral_place(sni_unilateral *u, int capacity, int nv, bool dual, void *memory);

/* After rows are evaluated: those in reach are in. */
void sni_unilateral_guess(struct sni_rows *r);

/* The same as sni_rows_factorise and sni_rows_correct. */
sn_status sni_unilateral_factorise(struct sni_rows *r);
void sni_unilateral_correct(struct sni_rows *r, const double *c, double *x);

/* With a graph that is filled: b may be NULL (0).  SN_NOT_CONVERGED: no set of rows was right. */
sn_status sni_unilateral_solve(struct sni_rows *r, const double *b, const double *c, double *x,
                               int *bad, double *residual);

/* Restitution of several limits at once may make energy: what one of them gives, another passes on
 * to a third that is leaving.  x and r->lambda solve the system with r->rhs, which asks rows to
 * come back; where one-sided rows together do work on what they push, they become what lies between
 * that and the solution in which nothing comes back, with no work.  solve: x and r->lambda for
 * other c. */
typedef sn_status (*sni_unilateral_again)(void *user, const double *c, double *x);
sn_status sni_unilateral_tame(struct sni_rows *r, sni_unilateral_again solve, void *user,
                              double *x);

/* ---- with the masses for A: the same as in rows.h, where there are such rows ---- */

/* Rates to what rows ask of them, tamed, with the factors at hand. */
void sni_unilateral_correct_rates(struct sni_rows *r, double gain, double *qd);
/* After sni_rows_eval at q. */
int sni_unilateral_momenta(struct sni_rows *r, double gain, const double *b, double *qd);
/* Leaves factors of the last pose. */
sn_status sni_unilateral_close(struct sni_rows *r, double t, double t_ref, double tolerance,
                               double *q, const double *qd, int *worst, double *gap);
/* The impulse at q that takes rates to where no touched row is passed; what comes in faster than
 * this part of what moves bounces.  After kinematics and sni_rows_eval. */
void sni_unilateral_bounce(struct sni_rows *r, double slow, double *qd);

/* ---- what rows are asked for: c into r->rhs, e into soft ---- */

/* The rates at the end of a step of h; gain: of rows that hold both ways, for the gaps that there
 * were when functions of time were `ahead` less far.  penetration > 0: rows act where they are
 * broken, and come back by so much of it in a second [RM 4.2]. */
void sni_unilateral_aim_step(struct sni_rows *r, double h, double gain, double ahead,
                             double penetration, const double *qd);
/* The same of one one-sided row that moves at the rate `before`, its own included. */
double sni_unilateral_aim(const sni_row *row, double h, double penetration, double before,
                          double *soft);
/* After the rates of a step are found: which rows push, by more than rounding of the momenta b? */
void sni_unilateral_note(struct sni_rows *r, const double *b);
/* Flags by slot, out of a state and back: sni_unilateral_count numbers, `mark` for those that are
 * set.  from NULL: none is. */
int sni_unilateral_count(const struct sn_model *m);
void sni_unilateral_load(const struct sni_rows *r, const double *from, bool *flag);
void sni_unilateral_save(const struct sni_rows *r, const bool *flag, double mark, double *to);
/* u->pressed, marked with the length of the step that they have pushed in.  After a longer one than
 * ours they may be far away, and count no more. */
void sni_unilateral_load_pressed(struct sni_rows *r, const double *from, double ours);
/* Positions. */
void sni_unilateral_aim_gaps(struct sni_rows *r);
/* Rates, where rows are touched; what comes in goes out again by restitution if it is faster than
 * the part `slow` of what moves. */
void sni_unilateral_aim_rates(struct sni_rows *r, double gain, double slow, const double *qd);
/* Accelerations: r->rhs has been filled for all rows as if they held both ways. */
void sni_unilateral_aim_accelerations(struct sni_rows *r, const double *qd);

/* Soft stops, at the rates qd: adds their forces to w.tau and w.wrench, and tells them in borne.
 * Returns their energy. */
double sni_unilateral_soften(struct sni_rows *r, double t, double t_ref, const double *q,
                             const double *qd, bool forces);

#endif
