/* system.h: the linear system of one linearly implicit step, and what solves it.
 *
 *     A qd1 = b,   A = J^T (M + h D - h^2 K) J + h D_r - h^2 K_r                          [RM 2]
 *
 * J is never formed, nor is A: bodies carry blocks (`extra`, beside their mass), pairs of bodies
 * the terms of the forces between them, joints their own small matrices.  All in world axes. */
#ifndef SNI_SYSTEM_H
#define SNI_SYSTEM_H

#include "dynamics/dynamics.h"

/* A term of a force (sni_term) between two bodies, one of which may stand still. */
typedef struct sni_link_term {
  double k, d;
  int pair;    /* which of the system's pairs of bodies; -1: none, one of them stands still */
  int body[2]; /* -1: does not move */
  int part;    /* SNI_PART_...      */
  bool more;   /* see sni_term      */
  sni_lane6 p[2];
} sni_link_term;

/* What comes from the tension of forces may stay out of the matrix as long as h^2 K is below this
 * part of M: such motions take a dozen steps a period or more, and the step, which would bear 4 M,
 * keeps their energy.  In the matrix they are damped. */
#define SNI_BORNE 0.25

/* Torque about the origin of a body, and how it changes as the body turns: tension.c. */
typedef struct sni_turn {
  sn_vec3 torque; /* of what turns with the body itself: without the torques of its children */
  sni_sym3 G;     /* stands for tr G 1 - G against its turning                               */
} sni_turn;

/* What acts on a body and on what hangs on it, at its origin. */
typedef struct sni_pull {
  sn_vec6 f;
  sni_turn turn;
} sni_pull;

static inline sni_pull sni_pull_add(sni_pull a, sni_pull b) {
  return (sni_pull){sn_vec6_add(a.f, b.f),
                    {sn_vec3_add(a.turn.torque, b.turn.torque), sni_sym3_add(a.turn.G, b.turn.G)}};
}

/* What friction holds in a step: stay.c. */
typedef struct sni_still {
  bool *coord; /* nv  coordinates                                                            */
  bool *loop;  /* nloop_q  those of loops                                                     */
  bool loops;  /* there are such                                                             */
  double *at;  /* nloop_q  where these were at the start                                      */
  double *room;
} sni_still;

typedef struct sni_system {
  sni_dynamics *d;
  const sni_tree *t;
  double h, time;
  double whole; /* > 0: h is a part of this step, and what is borne is decided for all of it    */
  const sn_input *input;
  sni_aba_in in;   /* mass, extra, brace, joint_matrix: A without the pairs             */
  sni_mass *heavy; /* nbody  masses and h times the drag, for heavy_h and the parameters of
                      heavy_hash                                                         */
  double heavy_h;
  uint64_t heavy_hash;
  sni_art *extra; /* nextra                                                            */
  int *extra_of;  /* nbody                                                             */
  int nextra;
  double *joint_matrix; /* nfactor                                                           */
  bool joints_changed;  /* it has more than the armature of these parameters                  */
  uint64_t joints_hash;
  int16_t *taut; /* nforce  what forces that only pull do: see sni_force_eval          */
  bool pulling;  /* there are such forces                                              */
  bool *limited; /* nv  a drive gives its limit here, whatever the joint does         */
  double *limit; /* nv  that force                                                    */
  sni_link_term *term;
  int nterm, term_capacity;
  int npair;      /* terms between two bodies that both move                                 */
  bool apart;     /* these are no part of `in`, not even their squares, nor are rows over more  */
  int (*pair)[2]; /* npairs  bodies that forces can couple, whatever they do at the moment;
                     -1: does not move                                                       */
  int npairs;
  int *first_pair; /* nforce  of a force, in the order of its own pairs                       */
  int first_loop;  /* of loops with springs, one each                                         */
  struct sni_loop_at *loop; /* nloop_spring  as assembled; loop->loop NULL: not active        */
  bool *loop_limited;       /* SN_NV_MAX each: like `limited` and `limit`                     */
  double *loop_limit;
  double *loop_tau;    /* SN_NV_MAX each: what acts at rest, where the step begins              */
  double *loop_matrix; /* SN_NV_MAX^2 each: h D + h^2 K                                         */
  const struct sni_rows *stops; /* whose one-sided rows, apart, are soft stops and forces of this
                                   system: stops.c; NULL: somebody else looks after them         */
  int first_stop;               /* one each, of all that there may be                          */
  int nstop;
  bool *pushing;  /* nstop  it pushes in this step                                           */
  int first_user; /* npairs - first_user of a user's force                                   */
  int user_capacity;
  sn_force_term *user;     /* room for its terms */
  double *user_k, *user_d; /* nv  its stiffness and damping in joints                        */
  int surplus;             /* terms that it gave, if more than announced, or below 0          */
  int undeclared[2];       /* bodies that it couples and no pair has; -1: none                */
  sni_term *room;    /* for the terms of one force                                              */
  bool slides;       /* coordinates slide along axes that turn: see move.c                      */
  bool *point;       /* nbody  without moments, and nothing turns it: torques are nothing to it */
  bool *grounded;    /* nbody  fixed to the world, directly or through others                   */
  bool *shifts;      /* nbody  its joint may move its origin, and not turn it alone             */
  bool *slack;       /* nbody  bears the tension of its forces; scratch of assemble             */
  double *scratch;   /* 11 nv  for the integrators                                              */
  double *b;         /* nv                                                                      */
  sni_lane6 *f;      /* nbody  scratch of the operator                                          */
  sni_pull *carried; /* nslot  what bodies get from their children: tension.c                   */
  sni_turn *turn;    /* nbody  by tension.c                                                     */
  sni_sym3 *brace;   /* nbody  against turning, where `braced`: tension.c                       */
  uint8_t *braced;   /* nbody                                                                   */
  bool any_braced;
  double *reach;      /* nbody  torsional stiffness beyond what the start shows: foresee.c       */
  sni_pull *reaction; /* nbody  of the constraints, as foreseen                               */
  double *borne;      /* nrow  their forces                                                   */
  bool reacts;        /* they are                                                             */
  sn_vec6 *motion;    /* nbody  in a step: angular velocity in the body's axes, velocity of its
                         centre of mass: move.c                                                */
  bool tense;         /* there may be something to foresee                                    */
  bool slides_braced; /* joints that slide are, too                                           */
  /* nv  moves q at the end of a step, and gives no speed; NULL: nothing does */
  const double *shift;
  const sni_still *still; /* NULL: nothing sticks in this step */
  double *owed; /* nv  what has held still coordinates as bodies turned on: stay.c; NULL: nothing */
  double *was_still; /* nv + nloop_q  1: what stuck in the step before                         */
  sni_still *welded; /* scratch: what sticks, and did                                          */
} sni_system;

static inline double sni_system_whole(const sni_system *s) {
  return s->whole > 0 ? s->whole : s->h;
}

size_t sni_system_size(const sn_model *m, const sn_options *o);
/* Terms between two bodies that both move, at most. */
int sni_system_pair_capacity(const sn_model *m, const sn_options *o);
void sni_system_place(sni_system *s, sni_dynamics *d, const sn_options *o, void *memory);

/* A at q, qd and t (sni_dynamics_kinematics done), for a step of h; also w.tau and w.wrench with
 * the forces that stand on the right-hand side: all but implicit damping. */
void sni_system_assemble(sni_system *s, double t, double h, const double *q, const double *qd,
                         const sn_input *input, sni_tangent tangent);

/* The same without what tension.c adds, which is to come block by block. */
void sni_system_assemble_open(sni_system *s, double t, double h, const double *q, const double *qd,
                              const sn_input *input, sni_tangent tangent);

/* Where rows over bodies that move are apart: as if each body moved alone against what stands
 * still, times the number of them.  That is above what the row does to all of them. */
void sni_system_brace_rows(sni_system *s);

/* After that: b = M_r qd + h (f_r + J^T f), with the momenta of the bodies as they are; and b +=
 * the part of the joints: side.c. */
void sni_system_projected_side(sni_system *s, const double *q, const double *qd);
void sni_system_joint_side(sni_system *s, const double *q, const double *qd);

/* M phi + h (gravity and wrench) of a body, gravity being a push that would move the whole body by
 * h g. */
static inline sni_lane6 sni_system_push(const sni_system *s, int i) {
  const sni_dynamics *d = s->d;
  const sni_link *l = &d->w.link[i];
  const double *g = d->params.gravity;
  const sni_lane pull = {s->h * g[0], s->h * g[1], s->h * g[2], 0};
  const sni_lane6 V = {l->w, l->v + pull}, f = sni_momentum(&d->mass[i], l, V);
  return d->use_wrench ? sni_lane6_addscaled(f, s->h, sni_lane6_from(d->w.wrench[i])) : f;
}

/* For those who assemble: one more term; pair: that of its bodies, -1: none. */
void sni_system_add_term(sni_system *s, int pair, const sni_term *from);

/* Springs and drives in loops, and which drives are held by their limits, if the rates are qd1:
 * loops.c. */
void sni_system_add_loops(sni_system *s);
bool sni_system_limit_loops(sni_system *s, const double *qd1);
/* What springs, dampers and drives of loop k do in a step with the rates whose twists are w->a; of
 * changes of them without what acts at rest. */
void sni_system_loop_torques(const sni_system *s, int k, bool rest, double *tau);

/* Soft stops that push, and which do if the rates are qd1, true if others than before: stops.c.
 * one: of those that change sides the first alone does, which never goes round in circles. */
void sni_system_add_stops(sni_system *s);
bool sni_system_push_stops(sni_system *s, const double *qd1, bool one);

/* What tension does further down the tree, from the last block to the first: tension.c. */
void sni_system_add_tension(sni_system *s, const sni_block *block);
/* Would there be anything? */
bool sni_system_has_tension(sni_system *s);
/* Would that slow down what moves by w->a, or could foresee.c find more of it?  After the last. */
bool sni_system_tension_slows(const sni_system *s);

/* A drive that is held by its limit is a constant force.  Which ones are, at q, qd and t; true if
 * others than before.  To be asked with the end of the step: at its start a stiff drive would be at
 * one limit or the other most of the time. */
bool sni_system_limit_drives(sni_system *s, double t, const double *q, const double *qd,
                             const sn_input *input);
void sni_system_release_drives(sni_system *s); /* none is */

/* The same for forces that only pull: do they still, if the rates are those of w->a?  Needs the
 * kinematics of the start; phi: room for the twists. */
bool sni_system_pull_cables(sni_system *s, double t, sn_vec6 *phi);

/* f = (M + h D - h^2 K) J x: what the bodies have of A x, before it is projected. */
void sni_system_momenta(sni_system *s, const double *x);
/* y = A x */
void sni_system_mul(sni_system *s, const double *x, double *y);
/* The same where J x is in w->a already. */
void sni_system_mul_moving(sni_system *s, const double *x, double *y);

/* y += armature x, and armature x alone, which stays in s->b or is zero. */
void sni_system_add_armature(const sni_system *s, const double *x, double *y);
const double *sni_system_armature(const sni_system *s, const double *x);

/* x = J^T f for wrenches in world axes at the origins; f is used up. */
/* Is there nothing but masses in A, and what tension braces? */
bool sni_system_is_mass(const sni_system *s);
void sni_system_project(const sni_system *s, sni_lane6 *f, double *x);

/* The same body by body, from the last to the first, with f of its own; uses s->f. */
static inline void sni_system_project_body(sni_system *s, int i, sni_lane6 f, double *x) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  if (t->gather[i] & SNI_HAS_CHILD) {
    f = sni_lane6_add(f, s->f[i]);
  }
  for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
    x[k] = sni_lane6_dot(w->S[k], f);
  }
  const int p = t->parent[i];
  if (p >= 0) {
    f.w += sni_lane_cross(w->r[i], f.v);
    s->f[p] = t->gather[i] & SNI_FIRST_TO_PARENT ? f : sni_lane6_add(s->f[p], f);
  }
}

/* ---- solvers: five functions each, chosen at run time ---- */

typedef struct sni_solve_info {
  int iterations;
  double residual; /* |b - A x| / |b|, or the backward error of a direct solver */
  bool converged;
  int bad; /* body whose joint has a singular matrix; -1: none */
} sni_solve_info;

typedef struct sni_solver {
  const char *name;
  /* What it needs for this structure; *own may stay NULL. */
  sn_status (*build)(sni_system *s, void **own, sn_error *err);
  void (*free)(void **own);
  /* Exact, or an iteration that always works, for A as assembled? */
  bool (*suits)(const sni_system *s);
  sn_status (*factorise)(sni_system *s, void *own, sni_solve_info *info);
  /* x holds a first guess, then the solution. */
  sn_status (*solve)(sni_system *s, void *own, const double *b, double tolerance,
                     int max_iterations, double *x, sni_solve_info *info);
} sni_solver;

extern const sni_solver sni_solver_tree, sni_solver_pcg, sni_solver_graph, sni_solver_reduced,
    sni_solver_reduced_kkt;

/* Do both bodies of a pair move, so that it is a block of its own? */
static inline bool sni_system_couples(const sni_system *s, int pair) {
  return s->pair[pair][0] >= 0 && s->pair[pair][1] >= 0;
}
int sni_system_pair_count(const sni_system *s); /* pairs that do */

#endif
