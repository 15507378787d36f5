/* rub.h: friction in joints by Bilateral Staggered Projections [RM 5.2, 5.3], corrected.
 *
 * Two problems take turns until they agree:
 *
 *     loads     the reactions of the joints, from the motion v and the friction x, press on the
 *               contacts in the joints and so bound the friction
 *     friction  v = argmin 1/2 v^T A v - b^T v + sum_k bound_k |tau_k v|  subject to the
 * constraints
 *
 * tau_k v is how fast a joint slides in its k-th way.  The second one is strictly convex, and in
 * its dual a quadratic program between bounds: what sticks has tau_k v = 0 to rounding.  The
 * reaction of a joint is what bears the bodies beyond it:
 *
 *     F_j = sum of (M~ J v - M J qd)/h - f + G^T lambda/h  over these bodies              [RM 15]
 *
 * without what acts along the joint itself; the multipliers are those of the same solve, where the
 * paper takes those of another problem, and friction is in v already, so nothing is added to it
 * afterwards. */
#ifndef SNI_RUB_H
#define SNI_RUB_H

#include "dynamics/rows.h"
#include "methods/redmax/system.h"

/* x = A^-1 b so that rows that hold both ways have G x = c, and their multipliers into
 * rows->lambda. */
typedef sn_status (*sni_rub_solver)(void *user, const double *b, const double *c, double *x);

enum { SNI_RUB_MEMORY = 8, SNI_TANGENTS_MAX = 4 * SNI_POINTS_MAX };

/* Slides that rub together, within one disc: rub_disc.c. */
typedef struct sni_rub_disc {
  int first, count; /* slides                                                                  */
  double own[SNI_DIRECTIONS_MAX]; /* arms of them                                              */
  int rub, group; /* whose they are; of a law without surfaces, or -1                          */
  int at, n;      /* those in the program: from there on so many; -1: none                       */
  double arm[SNI_DIRECTIONS_MAX]; /* arms of these                                             */
  double most; /* |z|                                                                         */
  double left; /* part of it that is not of what is driven                                      */
  double d[SNI_DIRECTIONS_MAX]; /* where z is, on the rim                                      */
  double rim; /* the multiplier there; 0: inside                                             */
  int before; /* as many as d is of                                                          */
  bool sticks;
} sni_rub_disc;

/* An unknown of the maximal problem: rub_maximal.c. */
typedef struct sni_rub_wide {
  int body[2];
  sn_vec6 p[2]; /* as in a row                                                                */
  int which;    /* as `which` of the program counts                                          */
  int slide;    /* the one that it is along                                                   */
  double arm;   /* its rate, for one of the slide                                             */
  int pad;      /* the tangent that is a row of its own; -1: it goes with its slide           */
} sni_rub_wide;

typedef struct sni_rubbing {
  const sn_model *m;
  sni_system *s;
  sni_rows *rows; /* NULL: none */
  sni_rub_solver solve;
  void *user;
  double eps, tolerance; /* see sn_options */
  bool relative;
  sni_row *row;   /* nslide  tau                                                               */
  sn_mat3 *axes;  /* nrub  of the bearings, in the world                                       */
  sn_vec3 *place; /* nrub                                                                      */
  double *loose; /* 36 nrub  inverse inertia of both bodies, in axes and at the place of bearings */
  int *loop_row; /* 2 nrub  of loops: the first of their rows, and beyond the last               */
  bool *driven;  /* nslide  held, and moving                                                    */
  sni_still still, whole; /* what sticks, in a step and in all parts of one                     */
  sni_still welded;       /* scratch of stay.c                                                  */
  double *was_still;      /* nv + nloop_q  1: it stuck in the step before                       */
  bool *stuck;   /* nslide                                                                      */
  bool *held;    /* as `which` counts: constraints let nothing slide here, or drive it         */
  double *force; /* nslide  of friction, along tau; what friction does is minus this          */
  double *rate;  /* nslide  tau v                                                             */
  double *start; /* nslide  tau qd, at the start of the step                                  */
  double *began, *one; /* nslide  start and rate of a whole step, whose halves follow            */
  double *work;     /* nslide  what friction has taken in the last step of first order           */
  double *half;     /* nslide  in the first of two that make one                                 */
  double *both;     /* nslide  in a whole one, whose halves follow                               */
  double *power;    /* nslide  in all that the method's step is made of; then by its length      */
  double *bound;    /* nslide                                                                    */
  double *next;     /* nslide  bounds by the last loads                                          */
  int *mechanism;   /* nrub  which one it is in                                               */
  double *heaviest; /* nbody  load of each mechanism                                          */
  double *scale;    /* nslide  what these are small or large against                             */
  double *miss, *bound_before, *weight; /* nslide  of the last turn                             */
  double *history; /* 2 SNI_RUB_MEMORY nslide  how these changed from turn to turn             */
  double *moves; /* leaders of bounds x all of `push`: how they go along with each bound         */
  double *slope; /* of bounds by bounds: sni_band                                             */
  double *dforce, *dlambda, *dnext; /* nslide, rows, nslide                                      */
  double *kept_bound, *kept_next;   /* nslide  those with the least disagreement of the step   */
  double *asked; /* nslide  what the first loads and rates ask bounds to be                       */
  double kept_miss, miss_most; /* theirs, and that of the last turn; N m, or N */
  bool newton; /* moves are there                                                              */
  int newtons, late; /* steps of Newton's method that are left; turns since it got better        */
  bool asks_rest;    /* this turn only asks what things would bear if they rested               */
  bool recalls;      /* this turn asks whether the shares of the step before hold                */
  double *last;      /* nslide  friction of the step before                                      */
  bool settling;     /* see sni_rubbing_settle                                                   */
  int marched;       /* turns of a march                                                         */
  double stride;
  double swerve; /* see sni_rubbing_swerve                                                      */
  double missed, best, pace; /* disagreement of the last turn, and the least of late; of the way */
  int remembered, turns, idle, misled; /* remembered: -1: not even one */
  int taken;          /* turns of this step                                        */
  bool maximal;       /* the paper's problem */
  sni_rub_disc *disc; /* ndisc                                                                 */
  int ndisc;
  int *disc_of;   /* nslide  -1: a bound of its own                                           */
  double *part;   /* nslide  of its bound, for what is held: 1 unless others of its disc move too */
  double *owed;   /* nv  what has held still coordinates as bodies turned on: stay.c            */
  bool leads;     /* the step sees rates as they will be when bodies have turned on              */
  double *lead;   /* nv  by so much: rub_lead.c                                                  */
  bool bends;     /* and slides as they will go when rows have bent the way of the bodies        */
  double *ahead;  /* as `which` counts  so much faster than their rows say                       */
  double *normal; /* nrub  what its contacts bear, together                                    */
  double *before; /* nrub  the same at the start of the step                                   */
  double *limit;  /* ntangent                                                                  */
  double *allowed;  /* ntangent  limits that the program has, where tangents are rows of their own;
                       together they are `bound` as the others are `next` */
  double *beta;     /* ntangent  friction of these                                              */
  sni_row *pad;     /* ntangent  T, of loops that are apart                                      */
  double *pad_rate; /* ntangent  T v, of these                                                  */
  sn_vec6 *rubbed;  /* SNI_BEARINGS_MAX a rub: the wrench of friction, in axes of the bearing   */
  double *own;    /* SN_NV_MAX each  torques of springs and drives of loops: rub_own.c            */
  sn_vec6 *load;  /* nrub  what bearings bear, in their axes, friction and all                */
  sn_vec6 *F;     /* nbody  reaction of each joint, world axes at the origin                   */
  sn_vec6 *coast; /* nbody  the same of bodies that nothing acts on but joints                 */
  double noise[2];  /* torques and forces below these are rounding                               */
  sn_vec6 *touched; /* nbody  wrenches of contacts, while there are any                    */
  bool touches;
  double *coast_lambda; /* rows  of these                                                      */
  /* the quadratic program */
  int nslides;     /* slides in the program                                                    */
  int n, capacity; /* rows in it: slides, then rows that push                                  */
  int *which;      /* n  slide; nslide + row; nslide + nrow + tangent                           */
  int *kept;       /* n  scratch                                                                */
  bool *sticks;    /* n                                                                         */
  bool draws;      /* x is drawn to where it was: rub_disc.c                                    */
  double *draw, *drawn; /* n  how much, and to where                                           */
  double *share;   /* 2 n  scratch                                                              */
  int ncolumn;     /* solved for; those that constraints hold are not in the program            */
  int *column_of;  /* as `which` counts: -1: none                                              */
  double *Y;       /* ncolumn x nv  solve(tau)                                                  */
  double *lambdas; /* ncolumn x rows  the multipliers of that                                   */
  double *S;       /* n x n  tau Y                                                              */
  double *free;    /* as `which` counts: tau v without friction                                 */
  double *push;    /* likewise: multipliers                                                     */
  double *aim, *none; /* rows  c of those that hold both ways; 0 for them                      */
  double *v_free, *lambda_free; /* nv, rows  without friction                                   */
  double *b, *column;           /* nv                                                          */
  /* another program of the same joints: sni_rubbing_other */
  struct {
    int *which;   /* most                                                                      */
    double *S;    /* most^2                                                                    */
    double *free; /* as `which` counts                                                        */
    sni_rub_disc *disc;
  } other;
  sni_rub_wide *wide; /* nwide  unknowns of the maximal problem                                 */
  int nwide;
  double *mobility; /* nwide^2  and its matrix                                                  */
  /* how constraints can press joints against each other without moving anything: rub_stress.c */
  struct {
    int n, ways, most;  /* ways in use, or 0; all; rows of loops with surfaces               */
    int rank;           /* of those rows                                                     */
    int *row, *of;      /* most  and whose they are                                          */
    double *G, *T;      /* most x nv  those rows; most^2  what they are made of              */
    int *which, *count; /* n x nrub, n  joints that bear anything of a way                   */
    sn_vec6 *D, *Y;     /* n x nrub  what they bear, and how that gives way                  */
    double *M;          /* n^2  D Y, its factor                                              */
    double *c, *weight; /* most (or nrub), nrub                                              */
    double *plain;      /* most  units of ways, for e = 1                                    */
    double *alike;      /* most  what rows are multiplied with                               */
    int *group;         /* nrub  scratch of rub_rest.c                                       */
  } stress;
  sn_vec6 *dload; /* nrub                                                                      */
  sni_qp qp;
} sni_rubbing;

/* A loop whose gap is closed by rates is moving across its bearings too, each contact in its own
 * way: then its tangents are rows of their own, if contacts are at points. */
static inline bool sni_rubbing_apart(const sni_rubbing *r, const sni_rub *rub) {
  return rub->loop >= 0 && rub->law == SNI_COULOMB && rub->at_points && r->pad;
}

/* Rows that friction or pushing may need: slides, rows, tangents of their own. */
static inline int sni_rubbing_count(const sni_rubbing *r) {
  return r->m->nslide + r->m->nrow + (r->pad ? r->m->ntangent : 0);
}

static inline const sni_row *sni_rubbing_row(const sni_rubbing *r, int i) {
  const int row = i - r->m->nslide, pad = row - r->m->nrow;
  return row < 0 ? &r->row[i] : pad < 0 ? &r->rows->row[row] : &r->pad[pad];
}

/* Slides and tangents, not those that push. */
static inline bool sni_rubbing_rubs(const sni_rubbing *r, int i) {
  return i < r->m->nslide || i >= r->m->nslide + r->m->nrow;
}

/* What the i-th of them is held to in the program. */
static inline double sni_rubbing_bound(const sni_rubbing *r, int i) {
  return i < r->m->nslide ? r->bound[i] : r->allowed[i - r->m->nslide - r->m->nrow];
}

/* The two bodies of a rub: the second one is that of the joint. */
static inline void sni_rubbing_bodies(const sni_rubbing *r, const sni_rub *rub, int body[2]) {
  body[0] = rub->body >= 0 ? r->s->t->parent[rub->body] : r->m->constraint[rub->loop].body[0];
  body[1] = rub->body >= 0 ? rub->body : r->m->constraint[rub->loop].body[1];
}

/* At which surfaces rub in its c-th way; 0: its law knows none. */
static inline double sni_rub_arm(const sni_rub *rub, int c) {
  for (int b = 0; b < rub->nbearing; c -= rub->bearing[b++].ndirection) {
    if (c < rub->bearing[b].ndirection) {
      return rub->bearing[b].arm[c];
    }
  }
  return 0;
}

static inline int sni_rub_tangents(const sni_rub *rub) {
  int n = 0;
  for (int b = 0; b < rub->nbearing; b++) {
    n += rub->bearing[b].ntangent;
  }
  return n;
}

size_t sni_rubbing_size(const sn_model *m, const sn_options *o);
void sni_rubbing_place(sni_rubbing *r, sni_system *s, sni_rows *rows, const sn_options *o,
                       void *memory);

/* That of a sim of redmax, as the last step left it. */
struct sn_sim;
const sni_rubbing *sni_sim_rubbing(const struct sn_sim *sim);

/* What a state keeps of it: forces, bounds, rates, the power of friction, loads, wrenches of
 * friction, what is owed, and what stuck. */
static inline int sni_rubbing_numbers(const sn_model *m) {
  const int owed = m->nslide > 0 ? 2 * m->tree.nv + m->nloop_q : 0;
  return 4 * m->nslide + m->nrub + 6 * SNI_BEARINGS_MAX * m->nrub + owed;
}
void sni_rubbing_load(sni_rubbing *r, const double *from);
void sni_rubbing_save(const sni_rubbing *r, double *to);

/* After a whole step and its halves: does what rubs less the faster it slides go two ways?  It may
 * come loose in a step that is long enough, and hardly move in half of it: then the two are no
 * steps of one motion. */
bool sni_rubbing_parts(const sni_rubbing *r);

/* What friction takes: after a step of first order of the length h; two of them make one; a step of
 * the method begins, gets another part, and has ended. */
void sni_rubbing_note_work(sni_rubbing *r, double h);
void sni_rubbing_keep_whole(sni_rubbing *r);
void sni_rubbing_keep_half(sni_rubbing *r);
void sni_rubbing_add_half(sni_rubbing *r);
void sni_rubbing_extrapolate_work(sni_rubbing *r);
void sni_rubbing_begin_power(sni_rubbing *r);
void sni_rubbing_add_power(sni_rubbing *r);
void sni_rubbing_end_power(sni_rubbing *r, double h);

/* What a step leaves to coasting, and so does not tell in its rates and multipliers: how joints and
 * constraints bend the way of the bodies (inertia: projected); only how constraints do, as rates
 * are made to fit them after the step (paper, closure: project); nothing but what joints bear of
 * it (paper, with gaps that stay open). */
typedef enum sni_rub_coasting { SNI_COAST_FREE, SNI_COAST_BENT, SNI_COAST_HELD } sni_rub_coasting;

/* Reactions of bodies that coast: of the quadratic terms alone.  After kinematics, before a step is
 * assembled: uses up w.tau and w.wrench. */
int sni_rubbing_coast(sni_rubbing *r, double t, sni_rub_coasting way, const double *q,
                      const double *qd);
/* rub_lead.c: r->lead = h times the accelerations of what nothing acts on, so far as constraints
 * let rates at q have them, and qd += lead; r->ahead has the rest.  After kinematics, which are
 * elsewhere then; -1, or the body of a singular matrix. */
int sni_rubbing_turn_on(sni_rubbing *r, double t, double h, const double *q, double *qd);
/* r->ahead alone; bent: how rows accelerate the coordinates as bodies coast, or NULL: not before
 * the next step. */
void sni_rubbing_bend(sni_rubbing *r, double t, double h, const double *q, const double *qd,
                      const double *bent);
/* After the solve with these: what sticks has no rates, as bending brings what friction took from
 * them; r->lead becomes what it has come to in the rates at the end. */
void sni_rubbing_unbend(sni_rubbing *r, double *v);
sn_status sni_rubbing_weigh_lead(sni_rubbing *r);
void sni_rubbing_fall_back(const sni_rubbing *r, double *v);

/* Accelerations of what nothing acts on but what is owed, in r->column, without constraints; -1, or
 * the body of a singular matrix. */
int sni_rubbing_coast_unbound(sni_rubbing *r, const sni_aba_in *in);

/* What a contact does along a tangent, as far as the joint holds it: of two pins on a cross, the
 * other one gives way to what is about its axis. */
sn_vec6 sni_rubbing_tangent(const sni_rub *rub, int bearing, int tangent);

/* tau, at q and the kinematics there; of one rub; and how fast slides go with the rates qd. */
void sni_rubbing_look_at(sni_rubbing *r, int k, double t, const double *q);
void sni_rubbing_look(sni_rubbing *r, double t, const double *q, const double *qd);

/* How easily bodies would slide if only they were there; and the k-th rub along d; 0: nobody
 * knows. */
void sni_rubbing_look_loose(sni_rubbing *r);
double sni_rubbing_loose(const sni_rubbing *r, int k, sn_vec6 d);

/* The forces of friction as they are, into the dynamics. */
void sni_rubbing_push(sni_rubbing *r);

/* F, and `next` from it, for the rates v with the multipliers in rows->lambda and the friction
 * that there is. */
void sni_rubbing_weigh(sni_rubbing *r, const double *v);

/* How `next` changes for each unit of dv, with multipliers and friction that change likewise; after
 * sni_rubbing_weigh, whose F it uses up. */
void sni_rubbing_answer(sni_rubbing *r, const double *dv, const double *lambda, const double *force,
                        double *dnext);

/* Does anything rub, with the numbers that there are?  If not, plain steps are taken; and what
 * joints bear at the end of one, after sni_rubbing_look. */
bool sni_rubbing_may(const sni_rubbing *r);
void sni_rubbing_weigh_smooth(sni_rubbing *r, const double *v);

/* The quadratic program of this step, without bounds; A and the rows are factorised, rows->rhs has
 * what they are asked for. */
sn_status sni_rubbing_prepare(sni_rubbing *r, sni_rub_solver solve, void *user);

/* The friction of the last step again, until somebody solves. */
void sni_rubbing_resume(sni_rubbing *r);

/* v of a step with friction, for s->b as it is.  SN_NOT_CONVERGED: loads and friction still change,
 * v is that of the best bounds, and *off by how much they disagree.  rub_solve.c. */
sn_status sni_rubbing_solve(sni_rubbing *r, const sn_options *o, double *v, int *iterations,
                            double *off);
/* The same turn by turn, for those who have s->b changed in between.  begin; then free, for the
 * rates without friction; turn, which gives v and by how much bounds and loads disagree, as a part
 * of the largest; follow, for other bounds; and end. */
void sni_rubbing_begin(sni_rubbing *r);
sn_status sni_rubbing_free(sni_rubbing *r, double *v);
sn_status sni_rubbing_turn(sni_rubbing *r, double *v, double *change);
void sni_rubbing_follow(sni_rubbing *r, double change);
void sni_rubbing_end(sni_rubbing *r, double *v); /* rub_still.c */
/* At least two turns, and little disagreement in the last one. */
bool sni_rubbing_agrees(const sni_rubbing *r, const sn_options *o, double change);
/* Does nothing get better any more?  Then the best bounds so far, for another turn: true: the last.
 */
bool sni_rubbing_tired(const sni_rubbing *r, const sn_options *o);
bool sni_rubbing_settle(sni_rubbing *r);
/* What friction of slides that are not in the program, as it is, makes of v without friction. */
void sni_rubbing_hold(const sni_rubbing *r, double *v);

/* rub_follow.c */

/* How much of its bound a slide has, or would if it had all of its disc. */
double sni_rubbing_used(const sni_rubbing *r, int k);

/* of_body: nbody  scratch. */
void sni_rubbing_find_mechanisms(const sn_model *m, int *of_body, int *mechanism);
/* How far the bounds of what has all of its friction are from those of the last loads. */
double sni_rubbing_disagreement(sni_rubbing *r);
/* What slips agrees, and what sticks has no more than so many times its bounds by the last loads:
 * that it could have more changes nothing. */
bool sni_rubbing_stands(const sni_rubbing *r, double beyond, double tolerance);
/* Limits of tangents that are rows of their own, from the bounds and `limit`; part: of the way
 * there from where they were. */
void sni_rubbing_allow(sni_rubbing *r, double part);

/* rub_disc.c */

/* How many there are; disc, disc_of, part: into these, unless they are NULL. */
int sni_rubbing_find_discs(const sn_model *m, sni_rub_disc *disc, int *disc_of, double *part);
/* How much a group of coordinates of the k-th rub, whose law knows no surfaces, rubs in each of its
 * directions at most; never nothing, so that they are in proportion. */
void sni_rubbing_arms(const sni_rubbing *r, int k, int group, double *arm);
/* Arms of such groups: they may have been set anew. */
void sni_rubbing_fit_discs(sni_rubbing *r);
/* Where z of the last step was. */
void sni_rubbing_begin_discs(sni_rubbing *r);
/* x of slides from what the program has for them, in their axes. */
void sni_rubbing_from_discs(const sni_rubbing *r, double *x);
/* Which slides of them are in the program, within which radius. */
void sni_rubbing_place_discs(sni_rubbing *r);
/* How far the rates of the last turn would have that part elsewhere. */
double sni_rubbing_swerve(sni_rubbing *r);
/* The program in their axes; and its answer back, with better axes: true if they were right, or if
 * it is the last time. */
void sni_rubbing_turn_discs(sni_rubbing *r);
bool sni_rubbing_follow_discs(sni_rubbing *r, bool last);
/* The answer of the program that `fill` writes, within bounds and discs. */
typedef void (*sni_rub_fill)(sni_rubbing *r, bool reduced);
void sni_rubbing_find(sni_rubbing *r, sni_rub_fill fill, bool reduced, sni_qp_info *info);
/* Another program with n rows, whose `which`, `S` and `free` are to be written; and what fills that
 * in. */
sni_rubbing sni_rubbing_other(const sni_rubbing *r, int n);
void sni_rubbing_fill_other(sni_rubbing *r, bool reduced);
/* How far friction is from what takes most energy within the bounds, as a part of the largest. */
double sni_rubbing_astray(sni_rubbing *r);

/* rub_rest.c */

/* Does anything that rested slip, by the last turn?  And bounds that would hold it; true: there is
 * such. */
bool sni_rubbing_slips_from_rest(const sni_rubbing *r);
bool sni_rubbing_hold_what_rests(sni_rubbing *r);
/* Is there something at rest that its shares do not hold?  Then those of the step before are tried.
 */
bool sni_rubbing_recall(sni_rubbing *r);
/* With v in which it all rests: shares that hold it, if even ones do not and there are any. */
void sni_rubbing_try_uneven(sni_rubbing *r, const double *v);
/* Friction of what sticks shared out anew, with the bounds as they are, and its loads. */
void sni_rubbing_share(sni_rubbing *r, const double *v);

/* rub_newton.c */

/* How friction goes along with each bound, after the program and before anybody uses it again. */
void sni_rubbing_note_moves(sni_rubbing *r);
/* Bounds by Newton's method; false: there is no way. */
bool sni_rubbing_newton(sni_rubbing *r);

/* What acts in the joint of a loop beside its rows, where it has several bearings: rub_own.c.  From
 * the rates v, or from a change of them; NULL: it does not change. */
void sni_rubbing_find_own(sni_rubbing *r, const double *v, bool whole);
/* Of joint k on one side, about the origin of the body there. */
sn_vec6 sni_rubbing_own(const sni_rubbing *r, int k, int side, const double *lambda,
                        const double *coast);

/* Which loads constraints leave open, with the rows as they are; and loads of joints, in axes of
 * their bearings, so that contacts bear least: rub_stress.c. */
int sni_rubbing_stress_rows(const sn_model *m);
void sni_rubbing_find_stress(sni_rubbing *r);
/* Joints that bore more, as `normal` has it, bear more again. */
void sni_rubbing_weigh_stress(sni_rubbing *r, const double *normal);
void sni_rubbing_relieve(const sni_rubbing *r, sn_vec6 *load);
/* What joints with surfaces bear of multipliers and friction alone; uses up F. */
void sni_rubbing_bear_alone(sni_rubbing *r, const double *lambda, const double *force,
                            sn_vec6 *load);

/* Friction of what sticks, where others would do as well: as evenly as can be.  After the program,
 * whose rows it leaves as they are; rub_split.c. */
void sni_rubbing_split(sni_rubbing *r);

/* The paper's own problem [RM 12], rub_maximal.c: its unknowns and matrix, after
 * sni_rubbing_prepare; then beta and `force` from it, with the rates as they are. */
void sni_rubbing_mobility(sni_rubbing *r);
void sni_rubbing_rub_maximal(sni_rubbing *r);

/* The world wrench of direction d (in axes of the bearings) of a rub, at the origin of body;
 * -1: none. */
sn_vec6 sni_rubbing_at(const sni_rubbing *r, int rub, sn_vec6 d, int body);
/* And back: what a row between the bodies of a loop is in axes and at the place of its bearings. */
sn_vec6 sni_rubbing_from(const sni_rubbing *r, int rub, const sni_row *row);

#endif
