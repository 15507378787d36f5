/* loops.h: springs, dampers and drives in the joints of loops, along the loops' own coordinates.
 *
 * The rates of these are  qd = P phi  over the twists of the two bodies (sni_constraint_loop_map),
 * so a force tau along them is the wrench P^T tau on the bodies: what a joint of the tree has, a
 * loop has too. */
#ifndef SNI_LOOPS_H
#define SNI_LOOPS_H

#include "dynamics/dynamics.h"

/* One of the model's loop springs, where it is now. */
typedef struct sni_loop_at {
  const sni_loop_spring *own;
  const sni_loop_numbers *number; /* the sim's */
  const sni_constraint *loop;
  sni_loop_map map;
  double q[SN_NV_MAX], qd[SN_NV_MAX];
  double target[SN_NV_MAX], rate[SN_NV_MAX]; /* of its drive */
} sni_loop_at;

/* Number k; needs kinematics.  False: its loop is not active. */
bool sni_loops_look(sni_dynamics *d, int k, double t, double t_ref, sni_loop_at *out);

/* Its spring, and its drive: pointers into `at`. */
sni_spring sni_loops_spring(const sni_dynamics *d, const sni_loop_at *at);
sni_spring sni_loops_drive(const sni_loop_at *at);

/* Where the drive should be at t. */
void sni_loops_target(const sni_dynamics *d, const sni_loop_spring *own, double t, double t_ref,
                      double *target, double *rate);

/* w.wrench += P^T tau */
void sni_loops_apply(sni_dynamics *d, const sni_loop_at *at, const double *tau);

/* Everything that acts in loops, into w.wrench; energy of the springs.  Need kinematics. */
void sni_loops_push(sni_dynamics *d, double t, double t_ref);
double sni_loops_energy(sni_dynamics *d, double t);

/* What acts along the coordinates of a loop, nv numbers. */
void sni_loops_force(sni_dynamics *d, const sni_loop_at *at, double *tau);

#endif
