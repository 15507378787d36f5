/* dynamics.h: everything that acts on a mechanism, evaluated: what all methods share.
 *
 *     kinematics -> forces -> accelerations
 *
 * A sim owns one; nothing here allocates after sni_dynamics_place. */
#ifndef SNI_DYNAMICS_H
#define SNI_DYNAMICS_H

#include "dynamics/recursion.h"
#include "model/model.h"

typedef struct sni_dynamics {
  const sn_model *m;
  sni_params params;   /* the sim's own copy                                                   */
  uint64_t param_hash; /* changes with every parameter                                         */
  sni_mass *mass;      /* nbody  from params.inertia                                           */
  sni_work w;
  int *sprung, nsprung;     /* joints with a spring or damper, as params stand                   */
  int *dragged, ndragged;   /* bodies with drag                                                  */
  uint8_t *prescribed;      /* nbody                                                             */
  bool any_prescribed;      /* at the last sni_dynamics_prescribe                                */
  int *breaking, nbreaking; /* functions that are not constant                                 */
  bool use_wrench;          /* something pushes on a body                                      */
  sn_se3 *E_wb;             /* nbody  for forces; only if there are any                        */
  sn_vec6 *phi;             /* nbody  likewise; world axes                                     */
  double *zero;             /* nv zeros                                                        */
  sn_force_fn user_force;
  void *user;
} sni_dynamics;

size_t sni_dynamics_size(const sn_model *m);
void sni_dynamics_place(sni_dynamics *d, const sn_model *m, void *memory);

/* After params have changed. */
void sni_dynamics_refresh(sni_dynamics *d);

/* Motions that are active at t (on the smooth piece around t_ref) write their joint's q, qd and
 * qdd; the others leave them alone.  Any of the arrays may be NULL. */
void sni_dynamics_prescribe(sni_dynamics *d, double t, double t_ref, double *q, double *qd,
                            double *qdd);

/* w.tau and w.wrench: joint springs, drives, forces, drag, the user's force, and the input.  Needs
 * kinematics. */
void sni_dynamics_forces(sni_dynamics *d, double t, double t_ref, const double *q, const double *qd,
                         const sn_input *input);

sni_aba_in sni_dynamics_aba_in(const sni_dynamics *d);

/* Kinematics, forces, accelerations; prescribed entries of q, qd and qdd are overwritten first.
 * Returns -1, or the body whose joint has a singular inertia. */
int sni_dynamics_accelerate(sni_dynamics *d, double t, double t_ref, double *q, double *qd,
                            const sn_input *input, double *qdd);

/* Needs kinematics at q, qd. */
void sni_dynamics_energy(sni_dynamics *d, double t, const double *q, const double *qd,
                         sn_energy *out);

/* The earliest time in (t0, t1] at which something that is given as a function of time breaks. */
bool sni_dynamics_next_break(const sni_dynamics *d, double t0, double t1, double *t_break);

/* Away from singular coordinates; true if anything changed. */
bool sni_dynamics_reparam(const sni_dynamics *d, double *q, double *qd);

/* Body with the first coordinate of x that is not finite; -1: all are. */
int sni_dynamics_not_finite(const sni_dynamics *d, const double *x);

#endif
