/* ties.h: what is solved in the method `structured`: a tree of bodies and the ties that close its
 * loops,
 *
 *     [ A  G^T ] [ x      ]   [ b ]
 *     [ G  -E  ] [ lambda ] = [ c ]                                         [FA 5]
 *
 * A is the inertia of the tree with what forces of one body or one joint add to it (sni_aba_in):
 * the constraints of the tree are met because x are rates of its joints.  A tie is a row of a
 * constraint, or a force between two bodies; E is diagonal: what
 * gives way for each unit of lambda.  Eliminating x leaves
 *
 *     (G A^-1 G^T + E) lambda = G A^-1 b - c                                [FA 13]
 *
 * whose products take linear time: one response of the tree to wrenches on its bodies. */
#ifndef SNI_TIES_H
#define SNI_TIES_H

#include "dynamics/rows.h"
#include "linear/cholesky.h"
#include "methods/redmax/system.h"

typedef struct sni_tie {
  sni_lane6 p[2];
  int body[2];           /* -1: does not move                                                  */
  const sni_row *coords; /* its coordinates of joints; NULL: it has none                       */
  const struct sni_tie *next; /* two bodies more, of a cable's row; NULL: that is all           */
} sni_tie;

/* What the bodies have of G x, for their twists a. */
static inline double sni_tie_dot(const sni_tie *tie, const sni_lane6 *a) {
  double sum = 0;
  for (; tie; tie = tie->next) {
    for (int side = 0; side < 2; side++) {
      sum += tie->body[side] >= 0 ? sni_lane6_dot(tie->p[side], a[tie->body[side]]) : 0;
    }
  }
  return sum;
}

/* Sums over a set of bodies that are connected: cut.c. */
typedef struct sni_sums {
  double mass, needs; /* of bodies; of what is asked, for each unit of that                      */
  double work, square, nearer, change;
  double xAx, xAz, zAz, xr, zr, xl, zl, cl;
  double of_x, of_z;
  bool tied; /* by constraints, too */
} sni_sums;

/* The same: little.c. */
typedef struct sni_little {
  double left, did, worth, bore;
} sni_little;

/* What is solved for: rates under forces, the gaps of a pose, the rates there without forces. */
enum { SNI_TIES_STEP, SNI_TIES_CLOSE, SNI_TIES_END };

typedef struct sni_ties {
  sni_dynamics *d;
  sni_system *system; /* of the step                                                           */
  int stage;          /* SNI_TIES_...                                                         */
  sni_aba_in in;      /* A                                                                     */
  sni_tie *tie;
  int ntie, capacity;
  bool by_rows;   /* for who needs no more of ties than whether they are met: `tie` is not used,
                     d->rows are                                                              */
  int *slot;      /* ntie  place among all rows that there may be, while others come and go; -1: a
                     force                                                                    */
  double *soft;   /* ntie  E                                                                  */
  double *weight; /* ntie  of the square of its error                                         */
  double *moves;  /* capacity  how easily each constraint moves, of the rows of `look` and these
                     parameters                                                             */
  uint64_t look, hash;
  double *c;      /* capacity  of each tie                                                */
  double *asked;  /* capacity  of each constraint: what c should be, by which it is judged       */
  double *lambda; /* capacity                                                             */
  double *kept_lambda, *kept_c; /* capacity each: scratch of stall.c                        */
  double *r, *p, *q, *z, *w; /* capacity each: scratch of the solvers                            */
  double *inverse; /* capacity  about 1 over their diagonal in the matrix above           */
  double *y;       /* nv  what the last product moved                                      */
  double *yp;      /* nv  what the direction of the iterations moves                       */
  double *x;       /* nv  where that is added up: the caller's                             */
  double *tau;     /* nv  scratch                                                          */
  int ncoords;     /* ties with coordinates of joints                                      */
  int row_coords;  /* of these, rows as they were taken                                    */
  int *joined;     /* nbody  sets of bodies: cut.c                                         */
  /* what constraints change: little.c */
  bool counted;   /* the last solve began without forces                                         */
  bool step_told; /* that for the step was, and not broken off: did and bore are of its rows    */
  double *free;   /* capacity  r without forces                                                  */
  int *set;       /* capacity  of ties; -1: it moves nothing                                     */
  int set_count;  /* of so many ties, which stay as they are                                     */
  double *did;    /* capacity  of a slot, at the step: lambda_i (G A^-1 G^T lambda)_i            */
  double *bore;   /* capacity  ... and lambda_i^2 (G A^-1 G^T)_ii                                */
  sni_little *of; /* nbody  sums of sets, scratch                                                */
  double *met_lambda, *met_r, *met_x; /* capacity, capacity, nv: when the precision was met      */
  sni_sums *sums;        /* nbody  of sets, scratch                                              */
  double regularization; /* E of constraints, relative to the mean of their diagonals */
  /* when to stop: what is asked for, and what was reached */
  double precision;
  int iterations;
  bool squares; /* iterations that are broken off must have brought the errors down, by weights */
  bool begun;   /* ... and go on with p, as of the last                                           */
  bool from_there;  /* they begin at lambda and x for it, and are not to forget any of that       */
  int64_t deadline; /* of the clock, in nanoseconds; 0: none                                   */
  int spent;        /* iterations                                                              */
  double residual;  /* largest |c + E lambda - G x|, computed from x, of all rows that iterations
                       are for: those of the tree, too, where these are solved for              */
  double off;       /* largest |asked - G x| of constraints: what they gave way is in it        */
} sni_ties;

/* Rows of a model and terms of its forces between bodies, at most. */
int sni_ties_capacity(const sn_model *m, const sn_options *o);
size_t sni_ties_size(int capacity, const sn_model *m);
void sni_ties_place(sni_ties *t, sni_system *s, int capacity, void *memory);

/* None. */
void sni_ties_clear(sni_ties *t);
/* Constraints as they stand; c is left to the caller, who finds row i as tie i.  Those of `which`
 * (NULL: all) give way by so much, if not by more, by their weights; 0: they can be met. */
void sni_ties_add_rows(sni_ties *t, const sni_rows *rows, const bool *which, double give);
/* Constraints give way by so many times as much. */
void sni_ties_soften(sni_ties *t, double factor);
/* Forces between bodies; their c is 0. */
void sni_ties_add_terms(sni_ties *t, const sni_system *s);

/* x = A^-1 (b - G^T lambda), or with `lambda` alone A^-1 G^T lambda: one response of the tree.
 * Leaves its twists in w->a. */
void sni_ties_respond(const sni_ties *t, const double *b, const double *lambda, double *x);
void sni_ties_mul_transposed(const sni_ties *t, const double *lambda, double *x);
/* out = G x for the twists in w->a and the rates x. */
void sni_ties_measure(const sni_ties *t, const double *x, double *out);
/* r = G x - E lambda - c, with w->a and x; what is left of [FA 13] to solve. */
void sni_ties_leave(const sni_ties *t, const double *x, const double *lambda, double *r);
/* t->residual and t->off, from x itself; then of constraint i, |asked - G x|. */
void sni_ties_check(sni_ties *t, const double *x);
double sni_ties_off(const sni_ties *t, int i);

/* After iterations that were broken off: the best multiple of their forces, and x for it; then, for
 * the rates of a step, x such that springs between bodies gain no energy: cut.c. */
void sni_ties_take_multiple(sni_ties *t, const double *b, double *x);
void sni_ties_damp_springs(sni_ties *t, const double *b, double *x);
/* Of any x, less if it gains energy, in the sense of the latter; or the multiple of x that is best,
 * where nothing is asked to move: it gains none either, and errors of x do not add up. */
void sni_ties_bound(sni_ties *t, const double *b, double *x);
void sni_ties_take_best(sni_ties *t, const double *b, double *x);

/* Constraints have met c but for what they give way, and that is more than the precision: c such
 * that they give way by what their forces still change.  False: there is no need, or no use. */
bool sni_ties_come_near(sni_ties *t, double off_before);

/* Sets of bodies that joints and ties connect, into t->joined; the body that stands for tie i
 * there, -1: it moves none. */
void sni_ties_join(const sni_ties *t);
int sni_ties_body_of(const sni_ties *t, int i);

/* little.c: what iterations leave of the rates, against what constraints change; for sni_cg. */
bool sni_ties_is_little(void *ties);
void sni_ties_keep(void *ties);
void sni_ties_go_back(void *ties);
/* After a solve for rates of the step, or its end: that is known from now on.  1/a^2, about, of the
 * set of bodies that is nearest to a pose in which constraints depend on each other; 0: none is. */
void sni_ties_count(sni_ties *t);
double sni_ties_flatness(sni_ties *t);

int64_t sni_clock(void); /* nanoseconds */
/* Is the deadline of these sni_ties over? */
bool sni_ties_late(void *ties);

/* ---- solvers: chosen at run time ---- */

typedef struct sni_tie_solver {
  const char *name;
  bool whole;  /* takes forces between bodies as they are in the system, not as ties           */
  bool guided; /* begins with the lambda that it finds: others need none                       */
  sn_status (*build)(sni_ties *t, void **own, sn_error *err); /* for all ties that there may be */
  void (*free)(void **own);
  /* For A and the ties as they are.  b: what the first solution will be asked for, known already so
   * that work on it can begin.  *bad: the body at fault. */
  sn_status (*factorise)(sni_ties *t, void *own, const double *b, int *bad);
  /* t->lambda holds a first guess of those who are guided, then the solution; b may be NULL (0). */
  void (*solve)(sni_ties *t, void *own, const double *b, double *x);
  /* Where that was broken off: lambda and x that can be done with.  NULL: as they are. */
  void (*make_do)(sni_ties *t, void *own, const double *b, double *x);
  /* The last thing, for the rates of a step: x that can be done with where springs between bodies
   * are left.  NULL: as it is. */
  void (*damp)(sni_ties *t, const double *b, double *x);
} sni_tie_solver;

/* The factor of what `fill` puts into c, with E; where its pivots are lost in rounding, E grows.
 * False: that does not help. */
bool sni_ties_cholesky(sni_ties *t, sni_chol *c, void (*fill)(sni_ties *t, void *own), void *own);

extern const sni_tie_solver sni_ties_structured, sni_ties_structured_dense, sni_ties_full_dense,
    sni_ties_full_iterative, sni_ties_graph;

#endif
