/* structured.h: what a sim of the method `structured` owns, and the parts of its step. */
#ifndef SNI_STRUCTURED_H
#define SNI_STRUCTURED_H

#include "methods/sim.h"
#include "methods/structured/ties.h"

/* Forces that a step begins with are those of the last one, each solve with its own; gaps are
 * closed without.  Where that had to be broken off, the next step goes on in the same direction:
 * SNI_WARM_WAY, of all rows; 0: nothing was.  SNI_WARM_LOADS: what rows bore, of any solver, if it
 * was found to the precision; else 0. */
enum { SNI_WARM_STEP, SNI_WARM_END, SNI_WARM_WAY, SNI_WARM_LOADS, SNI_WARM_BANKS, SNI_COLD };

/* sni_structured.give of constraints that cannot be met all, to say so: next to nothing. */
#define SNI_GIVE_SOME 1e-6

/* Times the precision: a gap that stays open by more cannot close, by less it may be that the last
 * digits were not found. */
#define SNI_AT_ODDS 10

/* Which bodies and constraints have to do with what cannot be met: odds.c. */
typedef struct sni_odds {
  bool any;
  bool in_rates; /* rates were missed, too */
  bool *body;    /* nbody, if any  */
  bool *row;     /* nrow, if any   */
  bool *braked;  /* nbody */
  int *joined;   /* nbody  scratch, as all that follows */
  double *share, *size;
  sni_lane6 *closing;
} sni_odds;

/* Of bodies that are connected: lost.c. */
typedef struct sni_loss {
  double energy, lost; /* twice those */
  double forces, turn2;
} sni_loss;

typedef struct sni_structured {
  sni_system s;
  sni_ties ties;
  const sni_tie_solver *solver;
  void *own;       /* the solver's                                                              */
  double *backup;  /* of `warm`, `give`, q and qd                                               */
  double *q_best;  /* nv  scratch of the closing                                                */
  double *found;   /* nv  scratch of stall.c                                                    */
  double *before;  /* nv  rates before those of the end                                         */
  double *went;    /* nv  ... with what closing has made of them                               */
  double *loads;   /* nrow  scratch of loads.c                                                  */
  double *gaps;    /* nrow  as the step began                                                   */
  double *closing; /* nv  by which rates it was done                                            */
  sni_loss *loss;  /* nbody  of sets of bodies, scratch: lost.c                                 */
  int *set;        /* nbody  of which set it is                                                 */
  int *row_set;    /* nrow  -1: none                                                            */
  bool sets_known;
  double *joints; /* nfactor  armature, with what is lent: faint.c                             */
  bool *lent;     /* nbody  to whose joints                                                    */
  bool met;       /* something has been switched on in this step: forces of rows are blows       */
  bool changed;   /* ... or off: they are not what they were                                     */
  bool known;     /* that not all can be met, as the step begins                                  */
  double opened;  /* the gap of this step before it was closed                                 */
  bool closed;    /* to the precision, in this step                                            */
  bool broken_off; /* closing was, by iterations or time                                       */
  double left;     /* largest error of the rows of a solve for rates that was                   */
  double *warm;    /* SNI_WARM_BANKS x nrow, in the state's private part                        */
  double *give;    /* there too: what constraints give way because they cannot close           */
  double *cut;     /* there too, for the step and its end: 1: iterations were broken off       */
  double *flat;    /* there too: how near the last step was to a pose in which constraints depend
                      on each other, as sni_ties_flatness tells                                */
  sni_odds odds;   /* where they are, for the rates of a step                                   */
  int64_t started; /* when the step was, by the clock                                           */
  int64_t tail;    /* by how much iterations must end before it does                            */
} sni_structured;

/* The part of its budget that a step may have used when this part of it ends; 0 without one. */
int64_t sni_structured_deadline(const sn_sim *sim, const sni_structured *st, double part);

/* The constraints as they stand, for ties; those of `which` (NULL: all) give way by so much, if not
 * by more. */
void sni_structured_tie(sn_sim *sim, sni_structured *st, const bool *which, double give);

/* A body that the row moves; -1: none. */
int sni_odds_body_of(const sni_tree *t, const sni_row *row);
/* Sets of bodies that joints and rows connect: sets.h. */
void sni_odds_join(const sn_sim *sim, int *joined);

size_t sni_odds_size(const sn_model *m);
void sni_odds_place(sni_odds *o, const sn_model *m, void *memory);
void sni_odds_none(sni_odds *o);
/* Is row i open by more than this, so long before the time it is seen at? */
bool sni_odds_is_open(const sni_rows *rows, int i, double precision, double before);
/* Where constraints were. */
void sni_odds_open(const sn_sim *sim, sni_odds *o, double precision, double before);
/* Into t->q: what the bodies that constraints hold do at the rates x, but no faster than anything
 * is asked to that has to do with it. */
void sni_odds_follow(sn_sim *sim, const sni_ties *t, sni_odds *o, const double *x);
/* Slows the momenta b of whoever has not been yet: motion dies away as far as closing, at these
 * rates, takes it back.  `faster`: where it takes back all, what is left is 1 / (1 + faster). */
void sni_odds_brake(sn_sim *sim, sni_odds *o, const double *closing, const double *x, double faster,
                    double *b);
/* Wherever there are any. */
void sni_odds_all(const sn_sim *sim, sni_odds *o);
/* And where they miss what they were asked for by more: are these any others? */
bool sni_odds_missed(const sn_sim *sim, const sni_ties *t, sni_odds *o, double precision);

/* Of qd1, where that is, closing takes back each time what it has taken back in this step, by these
 * rates: a chain that is stretched would have those that gravity gives it in each step, for ever.
 */
void sni_odds_settle(sn_sim *sim, sni_odds *o, const double *closing, double *qd1);

/* Ties, c, A and st->s.b for the rates of a step to t_end, after sni_system_assemble. */
void sni_structured_ask(sn_sim *sim, sni_structured *st, double t_end, const double *q,
                        const double *qd);

/* Solves with the ties, c and A that are set; bank: SNI_WARM_..., SNI_COLD. */
void sni_structured_solve(sn_sim *sim, sni_structured *st, int bank, double precision,
                          const double *b, double *x, sn_info *info);

/* Where and when rates are looked for: kinematics and rows are those of q and qd. */
typedef struct sni_moment {
  double t, h; /* of the end of the step, and its length                                        */
  const double *q, *qd;
} sni_moment;
/* After that: x becomes less where motors ask for rates that a step cannot follow: stall.c.  True:
 * lambda and c have changed. */
bool sni_structured_stall(sn_sim *sim, sni_structured *st, const sni_moment *at, const double *b,
                          const double *before, double *x, sn_info *info);

/* Before the first matrix of a step: loads of constraints are what they were in the last one. */
void sni_structured_expect_loads(sn_sim *sim, sni_structured *st, const sni_moment *at);
/* Should somebody look at what a solve has found?  Not if it knew what loops bear. */
bool sni_structured_looks(const sn_sim *sim, const sni_structured *st);
/* After it and sni_move_begin, with what that said: do loads that it has found, or forces, resist
 * turning by more than the matrix knew?  Then the next one knows: loads.c. */
bool sni_structured_foresee(sn_sim *sim, sni_structured *st, bool far);
/* Of the last solve for the rates of a step, for the next one. */
void sni_structured_keep_loads(sn_sim *sim, sni_structured *st);

/* Masses alone for A, at the pose at hand, and the ties as they are: factorises them.  Joints
 * without inertia, which springs may hold, are lent some; b, if there is any, goes on with them as
 * `rates` do (NULL: they rest): faint.c. */
sn_status sni_structured_factorise_masses(sn_sim *sim, sni_structured *st, double *b,
                                          const double *rates, int *bad);

/* Closes loops at q1 as far as the deadline lets it: close.c.  Leaves kinematics and rows there;
 * info->gap is what stays open. */
void sni_structured_close(sn_sim *sim, sni_structured *st, double t, double *q1, const double *qd1,
                          sn_info *info);

/* Is more open than should be near a pose in which constraints depend on each other? */
bool sni_structured_is_rough(sni_structured *st, double gap);
/* Then less, by one pass more. */
void sni_structured_polish(sn_sim *sim, sni_structured *st, double t, double *q1, const double *qd1,
                           sn_info *info);

/* Have the rates at the end of a step of h, whose twists are in w->a, taken more from bodies than
 * they should, because of the gap?  lost.c; st->odds are none, and are used. */
bool sni_structured_has_lost(const sn_sim *sim, sni_structured *st, double h, double gap);

#endif
