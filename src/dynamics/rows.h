/* rows.h: the rows of all constraints together, and the solution of
 *
 *     [ A  G^T ] [ x      ]   [ b ]
 *     [ G  0   ] [ lambda ] = [ c ]          by  (G A^-1 G^T) lambda = G A^-1 b - c     [RM 4]
 *
 * for any A that somebody can solve with, or all at once as a sparse graph (kkt.h), which is linear
 * in the number of constraints.  Rows that depend on others take no part: their lambda is 0, and
 * they are met because the others are, or cannot be met at all. */
#ifndef SNI_ROWS_H
#define SNI_ROWS_H

#include "dynamics/halves.h"
#include "dynamics/kkt.h"
#include "dynamics/unilateral.h"

/* In the dual:  x = A^-1 b, x zero at first.  A status below 0 ends the factorisation. */
typedef sn_status (*sni_rows_solver)(void *user, const double *b, double *x);

/* In their dual, with the coordinates, or with bodies and joints as a graph. */
enum { SNI_BY_DUAL, SNI_BY_REDUCED, SNI_BY_GRAPH, SNI_WAYS };

/* Coordinates that change by less than this part do not move. */
#define SNI_STILL 1e-15

typedef struct sni_rows {
  sni_dynamics *d;
  const sni_constraint *constraint; /* loops and the like, then the motions                 */
  int nconstraint;
  sni_row *row; /* nrow  those that are active                                          */
  int *of;      /* nrow  whose they are                                                 */
  int nrow, capacity;
  int nsided;     /* of these, one-sided                                                */
  bool apart;     /* one-sided rows are somebody else's: they stand in `sided` instead  */
  sni_row *sided; /* napart                                                             */
  int *sided_of;  /* napart  whose they are                                             */
  int napart;
  sni_unilateral u;      /* only in models that have such rows                                 */
  sni_rows_solver solve; /* for columns that are needed later                                  */
  /* x with A x + G^T lambda = 0, G x = rhs, by iterations: the dual is not that of A, but of what
   * they are preconditioned with.  NULL: it is */
  sn_status (*along)(void *along_user, double *x);
  void *along_user;
  void *user;
  int bad;     /* the body without inertia that ended sni_rows_factorise_mass, -1: none          */
  bool open;   /* nobody closes gaps after a step                                         */
  bool always; /* as if all were active, at any time                                        */
  double *loop_q, *loop_qd; /* coordinates of loops                                          */
  bool dual; /* there is room for it, in X and S                                       */
  double *X; /* capacity x nv  A^-1 G^T, row by row                                    */
  sni_columns columns;
  sni_halves halves; /* instead of X where that is so:                                    */
  bool halved;
  double *S;  /* capacity x capacity  L of G A^-1 G^T, in the order of its pivots       */
  int *order; /* capacity  pivots: the first `rank` rows of these are independent       */
  int rank;
  double *scale;  /* capacity  what pivots are small against: rows_dual.c                    */
  double *y;      /* capacity                                                               */
  double *lambda; /* capacity  of the last correction                                       */
  double *rhs;    /* capacity  for callers                                                  */
  sni_kkt *kkt;   /* NULL: the dual is used                                                 */
  int way;        /* SNI_BY_..., as chosen                                                  */
  double cost[SNI_WAYS]; /* of each, in nanoseconds; INFINITY: cannot, or not counted       */
  double *lambda_before; /* capacity  scratch                                               */
  double *multiplier;    /* capacity  scratch of solvers that find lambda bit by bit        */
  double *least;         /* capacity  by sni_rows_least                                     */
  double stale;          /* how far the factors that sni_rows_close left are from the last pose, by
                            what that changes in the rows                                          */
  unsigned exact;        /* the factorisation (sni_kkt_count) that is of the masses and of the rows
                            that were seen: 0 none is; with these parameters                       */
  uint64_t exact_hash;
  double *q_before; /* nv  scratch: where it was                                           */
  double *q_open;   /* nv  before gaps were closed                                         */
  double *step;     /* nv                                                                     */
  double *column;   /* nv                                                                     */
  double *terms;    /* nv                                                                     */
  bool places_only; /* those that have no g are left out                                       */
  bool one_place;  /* of pushes, where gaps stay open by some precision: sni_constraint_places    */
  bool steep;      /* see sni_constraint_eval                                                */
  bool timeless;   /* all are joints that close loops, always                                */
  bool seen;       /* there are rows: of q_seen, and of loop_q_seen                          */
  uint64_t look;   /* which they are: how often rows were seen                               */
  uint64_t looked; /* d->noted, when poses and twists of their bodies were looked at        */
  double *q_seen, *loop_q_seen; /* nv, loop_q                                               */
} sni_rows;

/* dual: with room for the dual; without it somebody gives them a graph.  motions: they are rows
 * too, instead of prescribed joints. */
size_t sni_rows_size(const sn_model *m, bool dual);
void sni_rows_place(sni_rows *r, sni_dynamics *d, bool dual, bool motions, void *memory);

/* Above so many rows nobody tries the dual unless told to.  One-sided rows are not all there. */
enum { SNI_DUAL_ROWS = 24, SNI_DUAL_SIDED = 600 };
static inline bool sni_rows_many(const sn_model *m) {
  return m->nrow - m->nsided > SNI_DUAL_ROWS || m->nsided > SNI_DUAL_SIDED;
}

/* What a column of A^-1 G^T costs, in nanoseconds: by whoever solves with A at this cost; where A
 * is that of a tree. */
double sni_rows_column_cost(const sn_model *m, double solve);
double sni_rows_tree_column_cost(const sn_model *m);
/* The way that costs least: rows_choose.c.  column: what one costs with A; with the masses they are
 * those of a tree: a step has as many of the one as of the other, and a graph has no cheaper one
 * for the masses.  once: what else the dual costs.  pairs: bodies that forces couple; stiff: so
 * that digits would be lost in reduced coordinates.  Builds rows->kkt, or leaves it NULL. */
sn_status sni_rows_choose(sni_rows *r, double column, double once, int npairs, const int (*pair)[2],
                          bool stiff, sn_error *err);
/* Adds to out which, and why. */
void sni_rows_describe(const sni_rows *r, char *out, size_t out_size);

/* What constraints see; E_wb and phi are those that are there. */
sni_constraint_eval sni_rows_eval_of(const sni_rows *r, double t, double t_ref, const double *q,
                                     const double *qd);

/* All rows at q, qd and t, on the smooth piece around t_ref.  Needs kinematics. */
void sni_rows_eval(sni_rows *r, double t, double t_ref, const double *q, const double *qd);
/* The same, without bias where nothing is one-sided. */
void sni_rows_eval_poses(sni_rows *r, double t, double t_ref, const double *q, const double *qd);
/* Is a row not finite, in g, its rate or, where that is asked for, its bias?  A constraint whose
 * row that is; -1: none. */
int sni_rows_not_finite(const sni_rows *r, bool bias);
/* |g| of a row, of one that is one-sided what it is violated by. */
double sni_rows_gap_of(const sni_rows *r, int i);
/* The largest of them, and whose. */
double sni_rows_gap(const sni_rows *r, int *constraint);

/* Rows of constraint k that have no g. */
static inline int sni_rows_rates_of(const sni_rows *r, int k) {
  return sni_constraint_kind(r->constraint[k].kind)->rates;
}

/* Is row i one of these?  They stand before the others of their constraint. */
static inline bool sni_rows_is_rate(const sni_rows *r, int i) {
  const int rates = sni_rows_rates_of(r, r->of[i]);
  return i < rates || r->of[i - rates] != r->of[i];
}

/* g alone, of joints that close loops; all else stays as it was seen last. */
void sni_rows_eval_gaps(sni_rows *r, double t, double t_ref, const double *q, const double *qd);

/* The largest |G qd - r->rhs| of rows that hold both ways, which row, and the largest term of all
 * these sums.  Needs kinematics; w->a is used up. */
double sni_rows_slip(sni_rows *r, const double *qd, int *which, double *scale);
/* Of r->rhs, what no rates give to rows that hold both ways: e of the least squares, a number a
 * row. G^T e = 0, so rows contradict each other of which it is not 0, and if all but row i had
 * their way, that one would miss by e^T e / e_i.  Needs kinematics; factors of the masses and
 * scratch are used up.  For who has failed. */
const double *sni_rows_contradiction(sni_rows *r);
/* What the rates of rows are small against: the largest product of a row and of the twist of a body
 * that it holds, as they are at hand. */
double sni_rows_pace(const sni_rows *r);
/* The largest part that is left, of all joints that row i acts on, of the terms by which it does:
 * rows along which the joints hardly move anything have little, and so have those that push along a
 * line through all the joints.  Needs kinematics; scratch is used up. */
double sni_rows_strength(sni_rows *r, int i);
/* Does any joint move row i?  Needs kinematics. */
bool sni_rows_moves(sni_rows *r, int i);

/* One row, whosever it is: G x after sni_J_mul_world of x; x += c G^T.  Need kinematics. */
double sni_row_mul(const sni_row *row, const sni_work *w, const double *x);
void sni_row_add_column(const sni_row *row, const sni_dynamics *d, double c, double *x);
/* Adds a force along it to w.tau and w.wrench. */
void sni_row_push(const sni_row *row, sni_dynamics *d, double force);

/* out = G x: a number a row.  Needs kinematics; w->a is used up. */
void sni_rows_mul(sni_rows *r, const double *x, double *out);
/* A force along row i. */
void sni_rows_push(sni_rows *r, int i, double force);
/* x = G^T of row i. */
void sni_rows_column(const sni_rows *r, int i, double *x);

/* The factors are those of the masses and of the rows as they were seen, and stay so until others
 * are seen. */
static inline void sni_rows_keep_factors(sni_rows *r) {
  r->exact = r->timeless && r->seen ? sni_kkt_count(r->kkt) : 0;
  r->exact_hash = r->d->param_hash;
}
static inline bool sni_rows_have_factors(const sni_rows *r) {
  return r->exact != 0 && r->exact == sni_kkt_count(r->kkt) && r->exact_hash == r->d->param_hash;
}
/* A is the mass matrix; needs kinematics.  -1, or the body without inertia. */
int sni_rows_factorise_mass(sni_rows *r);

/* x and lambda with the masses for A; sni_rows_keep_factors where they stay.  -1, or the body
 * without inertia. */
int sni_rows_solve_mass(sni_rows *r, const double *b, const double *c, double *x);

/* x = M^-1 (b - G^T lambda) with G x = 0, of rows that hold both ways: how what they hold gives
 * way. After sni_rows_factorise_mass; r->rhs is used up. */
sn_status sni_rows_yield(sni_rows *r, const double *b, double *x);

/* A solver for whoever has factorised A by sni_factorise: many rows take one pass. */
sn_status sni_rows_solve_tree(void *dynamics, const double *b, double *x);
/* In the dual; `solve` must go on working until the last correction.  r->along is NULL after it. */
sn_status sni_rows_factorise(sni_rows *r, sni_rows_solver solve, void *user);

/* The same where A is that of the last sni_factorise and nothing is one-sided, in halves
 * (halves.h). Corrections go through these factors again, and need the kinematics that go with
 * them, or those of a pose next to it. */
void sni_rows_halve(sni_rows *r);
/* With such: x and lambda that solve the system above (b NULL: 0).  Leaves J x in w->a. */
void sni_rows_solve_halved(sni_rows *r, const double *b, const double *c, double *x);
/* The same of half of it: z = U (b - G^T lambda), z being U b before (recursion.h). */
void sni_rows_correct_half(sni_rows *r, const double *c, double *z);

/* x becomes what solves the system above, x = A^-1 b before; c: a number a row; of rows that are
 * one-sided, G x >= c (unilateral.h).  lambda is filled. */
void sni_rows_correct(sni_rows *r, const double *c, double *x);

/* r->rhs, what rows that hold both ways ask for to close their gaps, becomes what they can have of
 * it where they depend on each other: rows_agree.c.  After they are factorised, by whose kinematics
 * and parameters are there; with limits, a graph is left without these.  lambda and scratch are
 * used up.
 */
void sni_rows_agree(sni_rows *r);
/* r->least, of all forces that bear what r->lambda does the least, so the same whichever rows the
 * factors have left out.  False: there are no others than lambda.  After the same, with the same
 * left; w->a and scratch are used up. */
bool sni_rows_least(sni_rows *r);
/* Of the dual with limits: L of the rows that hold both ways alone, which are r->order; how many
 * there are. */
int sni_rows_dual_of_both(sni_rows *r);
/* Those that depend on others and hardly move anything themselves: their own directions are
 * rounding. */
void sni_rows_find_silent(sni_rows *r, bool *silent);

/* ---- with the masses for A ---- */

/* Takes G qdd to -bias and puts the wrenches and joint forces of the constraints (-G^T lambda) with
 * the others, after sni_aba without prescribed joints.  -1, or the body without inertia. */
int sni_rows_accelerate(sni_rows *r, double t, double t_ref, const double *q, const double *qd,
                        double *qdd);

/* The same for bodies that nothing acts on: joints do not accelerate by functions of time, rows
 * that push do not. */
int sni_rows_coast(sni_rows *r, double t, double t_ref, const double *q, const double *qd,
                   double *qdd);

/* out = -bias - G Jdot qd: what G qdd is where the rows do not accelerate.  Needs kinematics; w->a
 * is used up. */
void sni_rows_coasting(sni_rows *r, double *out);

/* qd that solves  M qd + G^T lambda = b,  G qd + rate + gain g = 0.  After kinematics at q.  near:
 * the factors that sni_rows_close left will do.  -1, or the body without inertia. */
int sni_rows_momenta(sni_rows *r, double t, double t_ref, double gain, bool near, const double *b,
                     const double *q, double *qd);

/* Moves q until every |g| is at most `tolerance` and nothing moves any more, by the least motion of
 * the masses.  near: the factors at hand are of a pose near by; what is left are those with the
 * masses of a pose next to the last one.  SN_NOT_CONVERGED: *worst is the constraint that stays
 * open, by *gap. */
sn_status sni_rows_close(sni_rows *r, double t, double t_ref, double tolerance, bool near,
                         double *q, const double *qd, int *worst, double *gap);

/* Factors at hand are of something else. */
static inline void sni_rows_forget_factors(sni_rows *r) {
  r->seen = false;
  r->exact = 0;
  r->stale = INFINITY;
}

/* The squares of the gaps of the rows at hand, weighted. */
double sni_rows_squares(const sni_rows *r);

/* Coordinates of the loops that are on at t_ref, in the pose of q, wherever they are:
 * sni_constraint_loop_find. */
void sni_rows_find_loops(sni_rows *r, double t_ref, const double *q, const double *qd);

/* Comes nearer, from far away, until no gap is larger than `enough` or the squares get no smaller
 * any more; returns the largest gap.  Leaves the rows there. */
double sni_rows_approach(sni_rows *r, double t, double t_ref, double enough, double *q,
                         const double *qd);

/* The same as sni_rows_close, then takes qd to where G qd + rate = 0, by the least change of
 * momentum.  Leaves the kinematics at both. */
sn_status sni_rows_project(sni_rows *r, double t, double t_ref, double tolerance, double *q,
                           double *qd, int *worst, double *gap);

#endif
