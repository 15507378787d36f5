/* redmax.h: what the parts of the method `redmax` share.
 *
 *     redmax.c      the step, in parts and halves where that is asked for
 *     create.c      what a sim owns, and the choice of its solver
 *     repeats.c     do constraints repeat each other?
 *     step_plain.c  A and b of a step; qd1 where only joints bind
 *     step_bound.c  qd1 with constraints, limits, friction in joints and contact */
#ifndef SNI_REDMAX_H
#define SNI_REDMAX_H

#include "methods/redmax/rub.h"
#include "methods/redmax/solve.h"
#include "methods/redmax/touch.h"
#include "methods/sim.h"

/* What a sim of this method owns, at the start of its work memory. */
typedef struct sni_redmax {
  sni_system s;
  sni_rubbing rub;        /* where joints rub */
  void *own[SNI_SOLVERS]; /* of each solver that this sim may use */
  double *backup;         /* of the state's numbers */
  double *rubbed;         /* sni_rubbing_numbers  friction in joints before a step     */
  double *without;        /* 4 nv  where joints rub and bodies touch                   */
  sni_choice choice;      /* by the user or by `auto` */
  sni_kkt *graph;   /* for steps with limits that the reduced system has no digits for; NULL */
  int used;         /* the solver that has factorised A */
  sni_touch *touch; /* NULL: nothing touches */
  bool unsettled;   /* in the last solve loads and friction in joints did not agree, but for this */
  double disagreement;
  bool may_divide; /* this step may be done in halves where what touches is too fast for it */
  bool outrun;     /* and it has to be */
  bool repeats; /* constraints repeat each other, so gaps are closed although nobody asked for it */
} sni_redmax;

/* A step from t to t_end = t + h, from q and qd, as its parts see it. */
typedef struct sni_redmax_step {
  double t, t_end, h;
  const double *q, *qd;
  const sn_input *input;
  double *touch_state; /* impulses of contacts, in the state */
} sni_redmax_step;

/* ---- create.c: see sni_method ---- */

int sni_redmax_state_count(const sn_model *m);
/* Where in them sni_unilateral_save_pressed writes. */
int sni_redmax_pressed_at(const sn_model *m);
size_t sni_redmax_work_size(const sn_model *m, const sn_options *o);
bool sni_redmax_wants_graph(const sn_model *m, const sn_options *o);
sn_status sni_redmax_create(sn_sim *sim, sn_error *err);
/* In steps, limits are solved for with the contacts; whoever asks between them sees them with the
 * other rows. */
void sni_redmax_part_limits(sn_sim *sim, bool apart);
void sni_redmax_destroy(sn_sim *sim);
void sni_redmax_describe(const sn_sim *sim, char *out, size_t out_size);

/* ---- repeats.c ---- */

/* Do constraints hold what others hold already, but only while all are closed?  Needs rows without
 * a solver; memory is taken, and given back. */
bool sni_redmax_repeats(sn_sim *sim);

/* ---- step_plain.c ---- */

/* A and b. */
void sni_redmax_equations(sn_sim *sim, const sni_redmax_step *step);

/* A by the solver chosen.  again: in this step, with the solver that did it before. */
sn_status sni_redmax_factorise(sn_sim *sim, double t, bool again, sn_error *err);
/* By the spare one, which there is, in the place of the one chosen. */
sn_status sni_redmax_take_spare(sn_sim *sim, double t, sn_error *err);
/* Solves A x = b; x holds a first guess. */
sn_status sni_redmax_solve(sn_sim *sim, double t, double *x, sn_info *info, sn_error *err);

/* Where the tree is all there is, all of that takes two passes: the first of them, inward ... */
bool sni_redmax_sweeps(const sn_sim *sim);
sn_status sni_redmax_sweep(sn_sim *sim, const sni_redmax_step *step, sn_info *info, sn_error *err);
/* ... and, after the second (sni_move_begin): who is to blame if it does not end in numbers? */
sn_status sni_redmax_check_sweep(sn_sim *sim, const sni_redmax_step *step, const double *qd1,
                                 sn_error *err);

/* Is b finite, and did a user's force keep its promises? */
sn_status sni_redmax_check_side(const sn_sim *sim, double t, sn_error *err);
sn_status sni_redmax_check_pushes(const sn_sim *sim, double t, sn_error *err);
sn_status sni_redmax_check_rates(const sn_sim *sim, double t, const double *x, sn_error *err);

/* ---- step_bound.c ---- */

/* The rates qd1 at the end of a step, with all that binds.  again: not for the first time. */
sn_status sni_redmax_rates(sn_sim *sim, const sni_redmax_step *step, bool again, double *qd1,
                           sn_info *info, sn_error *err);
/* Could the next one do what this would have to do again?  The same with contacts that are fresh,
 * and A as it is. */
bool sni_redmax_may_mend(const sn_sim *sim);
sn_status sni_redmax_mend(sn_sim *sim, const sni_redmax_step *step, double *qd1, sn_info *info,
                          sn_error *err);
/* What is in each other is moved apart; and what joints lead into others along curves, and what is
 * carried: touch_drift.c. */
sn_status sni_redmax_lead(sn_sim *sim, const sni_redmax_step *step, const double *q1,
                          const double *qd1, bool *lost);
/* Would pcg take the constraints along? */
bool sni_redmax_comes_along(const sn_sim *sim);
/* Does friction in joints take part? */
bool sni_redmax_rubs(const sn_sim *sim);
/* Are heavy loads foreseen (foresee.h)?  Not with the paper's options. */
bool sni_redmax_foresees(const sn_sim *sim);

#endif
