/* sleep.h: islands of bodies that have come to rest are left alone until something wakes them.
 *
 * A tree that nothing but gravity and contact acts on may sleep.  What has been slow for so many
 * seconds, with all that it touches, has no speed any more, and its contacts are looked for only
 * with what is awake.  What gets faster on the ground is not slow.  An island wakes when something
 * awake touches it, when somebody pushes, drags, puts it elsewhere or sets it in motion, and when a
 * parameter changes.  All of it is in the state: a run goes on from there to the bit. */
#ifndef SNI_SLEEP_H
#define SNI_SLEEP_H

#include "contact/contact.h"
#include "methods/redmax/system.h"
#include "methods/sim.h"

typedef struct sni_sleep {
  const sn_sim *sim;
  const sni_system *s;
  double seconds; /* 0: nothing sleeps                                                         */
  int ntree;
  int *tree_of;    /* nbody                                                                      */
  bool *can;       /* ntree                                                                      */
  double *reach;   /* nbody  what its turning counts                                             */
  bool *asleep;    /* nbody                                                                      */
  int *link;       /* ntree  union and find                                                      */
  bool *slow;      /* ntree  something bears it, and it may                                      */
  bool *alone;     /* ntree  it touches nothing but the ground                                 */
  double *speed;   /* ntree  of its fastest body                                                 */
  uint64_t *place; /* ntree  a number for its coordinates                                      */
  int *rested;     /* ntree  the least of an island                                              */
  bool any;        /* something sleeps                                                           */
  bool rehearses;  /* the step does not count: nobody falls asleep in it                         */
} sni_sleep;

size_t sni_sleep_size(const sn_model *m);
void sni_sleep_place(sni_sleep *sleep, const sn_sim *sim, const sni_system *s, void *memory);

/* Numbers in a state: the parameters that it fell asleep with; for each tree the steps for which it
 * has been slow, or -1 - the island that it sleeps in; and for each its least speed since then, or
 * a number for where it is. */
int sni_sleep_state_count(const sn_model *m);

/* Who sleeps, at the start of a step. */
void sni_sleep_begin(sni_sleep *sleep, const double *q, const double *qd, const sn_input *input,
                     double *state);
/* Wakes what something awake touches; true: there was such, and contacts have to be looked for
 * again. */
bool sni_sleep_touched(sni_sleep *sleep, const sni_contact *contact, int count, double *state);
/* What sleeps has no rates. */
void sni_sleep_hold(const sni_sleep *sleep, double *qd);
/* At the end of a step, with the twists of the bodies in w.a: who has been slow long enough?  They
 * keep q, and qd becomes 0. */
void sni_sleep_end(sni_sleep *sleep, double h, const sni_contact *contact, int count,
                   const double *q, double *q1, double *qd1, double *state);

#endif
