/* blame.h: who gave the first number that is not finite. */
#ifndef SNI_BLAME_H
#define SNI_BLAME_H

#include "methods/sim.h"

/* Looks, at finite q and qd, for what is not finite by itself: the input, functions of time,
 * forces, the user's force.  Says so in err and returns true; false: all is well there.  t_ref: on
 * which smooth piece of the functions t is. */
bool sni_blame(sn_sim *sim, double t, double t_ref, const double *q, const double *qd,
               const sn_input *input, sn_error *err);

/* The first part of it: what is given and depends on no motion, the input and functions of time. */
bool sni_blame_given(const sn_sim *sim, double t, double t_ref, const sn_input *input,
                     sn_error *err);

/* Does a function of time run away at t, as one with a pole does?  Says so.  For who has made too
 * many substeps. */
bool sni_blame_pole(const sn_sim *sim, double t, sn_error *err);

/* Does a function that something follows have a pole between t0 and t1?  Says so.  For who goes
 * from one to the other at once. */
bool sni_blame_jump(sn_sim *sim, double t0, double t1, sn_error *err);

/* Does a function of time that says where something is (a motion's q, a point, the offset of
 * coupled joints) jump between t0 and t1, t1 too?  Says so. */
bool sni_blame_leap(sn_sim *sim, double t0, double t1, sn_error *err);

/* A function of time that says where something is, and has a rate at t: -1: there is none. */
int sni_blame_moving(const sn_model *m, double t);

/* Is something switched on and off (`active`) by a function that is no number at t?  Says so. */
bool sni_blame_switch(const sn_sim *sim, double t, sn_error *err);

/* The body that moves fastest among those for which `after` (q, then qd) is not finite, or among
 * all of them if it is finite.  before: the same numbers while they were good. */
int sni_blame_body(const sn_sim *sim, const double *before, const double *after);

/* A channel is too large for a number, though the state is not: says so, and which body moves
 * fastest. */
sn_status sni_blame_channel(const sn_sim *sim, const sn_state *state, const char *channel,
                            sn_error *err);

/* Whose function of time this is: "drive of joint 'hip'". */
void sni_blame_owner(const sn_model *m, int function, char *who, size_t size);

#endif
