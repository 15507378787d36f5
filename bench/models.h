/* models.h: the mechanisms on which forward dynamics is timed, in a form that favours nobody.
 *
 * Every contestant (Sinew, the textbook algorithm, the peers of bench/peers/) translates the same
 * arrays into its own model, and takes the same state from them.
 *
 *     chain     n equal rods end to end, hinges about y and z in turn
 *     tree      balanced binary tree of such rods: link i hangs on link (i - 1) / 2
 *     humanoid  free base and 21 hinges, one body a hinge: 22 bodies, 27 degrees of freedom
 *
 * Conventions: E_ab is the pose of frame b seen from frame a.  The joint moves the body's frame b
 * relative to F, a frame fixed in the parent at (R_pb0, p_pb0): E_pb = E_pb0 Q(q).
 *
 *     revolute  Q = rotation by q about `axis` (the same numbers in F and in b)
 *     free      q = (p, r): position of b in F, rotation vector of b in F
 *               qd = (dp/dt, omega): omega of b relative to F, in axes of b, NOT dr/dt
 *               qdd = d/dt of these six numbers;  tau = (force in axes of F, torque in axes of b)
 *
 * Rates of a free joint are angular velocities because that is what most peers use; the two
 * functions at the end convert for those who work with dr/dt.  The free base has tau = 0. */
#ifndef BENCH_MODELS_H
#define BENCH_MODELS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bench_joint { BENCH_REVOLUTE, BENCH_FREE } bench_joint;

typedef struct bench_model {
  int nbody;
  int nv; /* degrees of freedom: 1 a revolute joint, 6 a free one */

  /* per body; a parent comes before its children */
  int *parent;           /* -1: the world                                                 */
  bench_joint *joint;    /* a free joint occurs only as body 0, on the world              */
  int *vadr;             /* first entry in q, qd, tau                                     */
  double (*R_pb0)[3][3]; /* orientation of F in the parent, row by row                    */
  double (*p_pb0)[3];    /* origin of F in the parent                                     */
  double (*axis)[3];     /* unit vector; zero for a free joint                            */
  double *mass;          /* > 0                                                           */
  double (*com)[3];      /* centre of mass in b                                           */
  double (*inertia)[6];  /* about the centre of mass, axes of b: xx yy zz xy xz yz,
                            entries of the tensor (xy is minus the product of inertia)    */
  /* the state, nv each */
  double *q, *qd, *tau;
  double gravity[3];
} bench_model;

/* NULL when the size is not positive or memory is short. */
bench_model *bench_model_chain(int n);
bench_model *bench_model_tree(int n);
bench_model *bench_model_humanoid(void);

/* By name: "chain", "tree" or "humanoid" (whose size is 22 and is not looked at). */
bench_model *bench_model_build(const char *scene, int n);
void bench_model_free(bench_model **model);

/* dr/dt of a rotation vector r from the angular velocity omega in body axes. */
void bench_rotvec_rate(const double r[3], const double omega[3], double rd[3]);

/* d omega/dt in body axes from r and its first two derivatives.  |r| must be below 2 pi and, for
 * full accuracy, above about 0.01: the closed forms are used without their series at zero. */
void bench_rotvec_alpha(const double r[3], const double rd[3], const double rdd[3],
                        double alpha[3]);

/* Rotation matrix exp([r]). */
void bench_rotvec_matrix(const double r[3], double R[3][3]);

#ifdef __cplusplus
}
#endif
#endif
