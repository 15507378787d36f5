/* dynamics.h: everything that acts on a mechanism, evaluated: what all methods share.
 *
 *     kinematics -> forces -> accelerations
 *
 * A sim owns one; nothing here allocates after sni_dynamics_place. */
#ifndef SNI_DYNAMICS_H
#define SNI_DYNAMICS_H

#include "dynamics/recursion.h"
#include "model/forces/line.h"
#include "model/model.h"

/* Armature on a rotation vector: see rotor.c. */
typedef struct sni_rotor {
  int adr;         /* of its three coordinates                                                  */
  int block;       /* where they begin in the joint's block of armature                         */
  int nv;          /* of the joint                                                              */
  double force[3]; /* joint force that goes with the block        by sni_dynamics_kinematics    */
} sni_rotor;

/* From when to when. */
typedef struct sni_span {
  double from, to;
} sni_span;

/* What somebody holds: a spring of length 0 from a point of a body to one in the world. */
typedef struct sni_hand {
  bool holds;
  sni_force spring;
  double param[SNI_LINE_PARAMS];
} sni_hand;

/* At most so many terms has its tangent. */
enum { SNI_HAND_TERMS = 3 + SNI_LEVER_TERMS + SNI_TURNING_TERMS };

extern const sni_force_ops sni_force_spring;

typedef struct sni_dynamics {
  const sn_model *m;
  sni_params params;   /* the sim's own copy                                                   */
  uint64_t param_hash; /* changes with every parameter                                         */
  sni_mass *mass;      /* nbody  from params.inertia                                           */
  sni_work w;
  double *armature; /* nfactor  a block a joint; at the q of the kinematics where rotors are   */
  bool armed;       /* there is armature                                                       */
  sni_rotor *rotor; /* rotation vectors with armature                                          */
  int nrotor;
  int *sprung, nsprung;     /* joints with a spring or damper, as params stand                   */
  int *dragged, ndragged;   /* bodies with drag                                                  */
  uint8_t *prescribed;      /* nbody                                                             */
  bool any_prescribed;      /* at the last sni_dynamics_prescribe                                */
  int *breaking, nbreaking; /* functions that are not constant                                 */
  int *switching, nswitching; /* of these, those that switch things on and off                 */
  sni_span *monotone;         /* nbreaking  while these are known to rise only, or to fall only  */
  bool use_wrench;            /* something pushes on a body                                      */
  int *touched, ntouched;     /* bodies that forces are on                                       */
  sn_se3 *E_wb;               /* nbody  for forces; only if there are any                        */
  sn_vec6 *phi;               /* nbody  likewise; world axes                                     */
  double *zero;               /* nv zeros                                                        */
  double *q_at, *qd_at;       /* nv  where the kinematics are                                    */
  bool placed, moving;        /* poses are those of q_at; velocities those of qd_at, too         */
  uint64_t noted;             /* which they are: how often they changed, or E_wb and phi did not
                                 stay theirs                                                     */
  sn_force_fn user_force;
  sn_tangent_fn user_tangent; /* NULL: the force is explicit */
  void *user;
  sni_hand hand;
  double *friction; /* nv  joint forces of friction that is known, while somebody asks; NULL */
  sn_vec6 *friction_wrench; /* nbody  the same in loops                                         */
  double ahead;             /* while an implicit step is assembled: its length */
  const int16_t *taut;      /* and nforce: what forces that only pull do in it; NULL: not known */
  struct sni_rows *rows;    /* of constraints; NULL: there are none */
} sni_dynamics;

size_t sni_dynamics_size(const sn_model *m);
void sni_dynamics_place(sni_dynamics *d, const sn_model *m, void *memory);

/* After params have changed. */
void sni_dynamics_refresh(sni_dynamics *d);

/* Motions that are active at t (on the smooth piece around t_ref) write their joint's q, qd and
 * qdd; the others leave them alone.  Any of the arrays may be NULL. */
void sni_dynamics_prescribe(sni_dynamics *d, double t, double t_ref, double *q, double *qd,
                            double *qdd);

/* Positions, velocities, and all else that depends on nothing but q and qd.  What is there already
 * is not computed again. */
void sni_dynamics_kinematics(sni_dynamics *d, const double *q, const double *qd);
/* Positions, and the columns S of the joints: no velocities. */
void sni_dynamics_places(sni_dynamics *d, const double *q, const double *qd);
/* For those who have placed all blocks at q themselves (sni_place), and moved them (sni_move) or
 * not (qd NULL). */
void sni_dynamics_note(sni_dynamics *d, const double *q, const double *qd);
/* What is there is of no q that anybody will ask for again. */
static inline void sni_dynamics_forget(sni_dynamics *d) {
  d->placed = false;
  d->noted++;
}

/* E_wb and phi from the kinematics; of one body. */
void sni_dynamics_pose(const sni_dynamics *d, int body);
void sni_dynamics_poses(sni_dynamics *d);

/* w.tau and w.wrench: joint springs, drives, forces, drag, the user's force, and the input.  Needs
 * kinematics. */
void sni_dynamics_forces(sni_dynamics *d, double t, double t_ref, const double *q, const double *qd,
                         const sn_input *input);

/* The same without what acts in the joints themselves, and on request without damping, which an
 * implicit method has in its matrix. */
void sni_dynamics_external(sni_dynamics *d, double t, double t_ref, const double *q,
                           const double *qd, const sn_input *input, bool without_damping);
sni_force_eval sni_dynamics_force_eval(const sni_dynamics *d, double t, double t_ref,
                                       bool without_damping);

/* The spring in a body's joint, and the k-th drive with its target at t (room for SN_NV_MAX numbers
 * each in target and rate). */
sni_spring sni_dynamics_joint_spring(const sni_dynamics *d, int body, const double *q,
                                     const double *qd);
sni_spring sni_dynamics_drive(const sni_dynamics *d, int k, double t, double t_ref, const double *q,
                              const double *qd, const sn_input *input, double *target,
                              double *rate);

sni_aba_in sni_dynamics_aba_in(const sni_dynamics *d);

/* Nothing but the masses and armature, at the q of the kinematics. */
static inline sni_aba_in sni_dynamics_masses(const sni_dynamics *d) {
  return (sni_aba_in){.mass = d->mass, .joint_matrix = d->armature, .bare_joints = !d->armed};
}

/* Kinematics, forces, accelerations; prescribed entries of q, qd and qdd are overwritten first.
 * Returns -1, or the body whose joint has a singular inertia. */
int sni_dynamics_accelerate(sni_dynamics *d, double t, double t_ref, double *q, double *qd,
                            const sn_input *input, double *qdd);

/* Needs kinematics at q, qd. */
void sni_dynamics_energy(sni_dynamics *d, double t, const double *q, const double *qd,
                         sn_energy *out);

/* The earliest time in (t0, t1] at which something that is given as a function of time breaks. */
bool sni_dynamics_next_break(const sni_dynamics *d, double t0, double t1, double *t_break);

/* Somebody looks at the functions of time at t0 + node[k] (t1 - t0) only, on a smooth piece: does
 * he miss something that one of them does in between? */
bool sni_dynamics_hides(sni_dynamics *d, double t0, double t1, double t_ref, const double *node,
                        int nnode);

/* Away from singular coordinates; true if anything changed. */
bool sni_dynamics_reparam(const sni_dynamics *d, double *q, double *qd);

/* Body with the first coordinate of x that is not finite; -1: all are. */
int sni_dynamics_not_finite(const sni_dynamics *d, const double *x);

/* ---- rotor.c ---- */

/* The blocks of armature as the parameters stand, and the list of rotors. */
void sni_rotors_refresh(sni_dynamics *d);
/* At q, qd: the blocks of the rotors and their forces. */
void sni_rotors_turn(sni_dynamics *d, const double *q, const double *qd);
/* tau += s times their forces. */
void sni_rotors_add(const sni_dynamics *d, double s, double *tau);
/* Kinetic energy of all armature. */
double sni_rotors_energy(const sni_dynamics *d, const double *qd);

#endif
