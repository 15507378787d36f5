/* recursion.h: the recursions over the tree of joints, and the memory they work in.
 *
 * All recursions work in WORLD AXES at the origin of each body's frame b.  Then the transform from
 * a parent to its child is a pure shift by r = o_b - o_p: no rotation of articulated inertias,
 * which is the dearest part of the same recursion in body axes.  The mathematics is that of [RMS
 * Alg 6] with Ad_jp = shift(r).  Results are turned into frame b where they leave.
 *
 * Accelerations are those of the body's origin as a material point (second derivative of its
 * position), so the bias of a joint carries the centripetal terms. */
#ifndef SNI_RECURSION_H
#define SNI_RECURSION_H

#include "math/lane.h"
#include "math/sym3.h"
#include "model/tree.h"

/* One body in one evaluation; world axes.  Four lines of a cache. */
typedef struct sni_link {
  sni_lane R[3]; /* columns of R_wb                                                         */
  sni_lane o;    /* origin of b                                                             */
  sni_lane w;    /* angular velocity                                                        */
  sni_lane v;    /* velocity of o                                                           */
  sni_lane6 c;   /* acceleration of the body when qdd = 0 and the parent has none: eta      */
} sni_link;

/* Articulated inertia and bias: torque = A alpha + B acc, force = B^T alpha + C acc. */
typedef struct sni_art {
  sni_lane A[3], Bt[3], C[3]; /* columns; A and C exactly symmetric */
  sni_lane6 b;
} sni_art;

/* Work memory of the recursions; every array belongs to the owner of the sim. */
typedef struct sni_work {
  sni_link *link;  /* nbody, and link[-1] is the world        by kinematics    */
  sni_lane *r;     /* nbody  o minus the parent's o, by itself by kinematics
                      since most passes need nothing else of a link            */
  sni_lane6 *S;    /* nv  columns in world axes               by kinematics    */
  sni_lane6 *Sdot; /* nv  R Sdot_b; only where S varies       when asked for   */
  sni_lane6 *Y;    /* nv  Mh S L^-T with L L^T = S^T Mh S     by aba backward  */
  double *L;       /* nfactor  L, and 1/L on its diagonal     by aba backward  */
  double *z;       /* nv  L^-1 (tau - S^T Bh)                 by aba backward  */
  sni_art *art;    /* nslot                                   by aba backward  */
  sni_lane6 *a;    /* nbody, and a[-1]: accelerations less gravity             */
  sn_vec6 *wrench; /* nbody  external wrench at o             by forces        */
  double *tau;     /* nv  joint forces                        by forces        */
} sni_work;

/* How much memory a tree's work needs, and its division. */
size_t sni_work_size(const sni_tree *t);
void sni_work_place(sni_work *w, const sni_tree *t, void *memory);

/* ---- kinematics.c ---- */

/* link and S from q and qd. */
void sni_kinematics(const sni_tree *t, const double *q, const double *qd, sni_work *w);
/* Sdot, which steps do without, after that. */
void sni_kinematics_Sdot(const sni_tree *t, const double *q, const double *qd, sni_work *w);
/* link and S for one block after those before it: poses, r and S; velocities and c, where the poses
 * are those of q. */
void sni_place(const sni_tree *t, const sni_block *block, const double *q, const double *qd,
               sni_work *w);
void sni_move(const sni_tree *t, const sni_block *block, const double *q, const double *qd,
              sni_work *w);

static inline sn_mat3 sni_link_R(const sni_link *l) {
  sn_mat3 R;
  for (int j = 0; j < 3; j++) {
    sn_mat3_set_col(&R, j, sni_lane_vec3(l->R[j]));
  }
  return R;
}
static inline sn_se3 sni_link_pose(const sni_link *l) {
  return (sn_se3){sni_link_R(l), sni_lane_vec3(l->o)};
}
/* Twist in world axes, at o. */
static inline sn_vec6 sni_link_twist(const sni_link *l) {
  return (sn_vec6){sni_lane_vec3(l->w), sni_lane_vec3(l->v)};
}

/* ---- aba.c: forward and hybrid dynamics ---- */

typedef struct sni_aba_in {
  const sni_mass *mass;   /* nbody                                                    */
  const double *armature; /* nv                                                       */
  sn_vec3 gravity;
  bool use_wrench;            /* w->wrench counts                                      */
  const uint8_t *prescribed;  /* nbody, NULL: none.  Where set, qdd is given           */
  const double *joint_matrix; /* nfactor  nv x nv a joint, instead of armature; NULL: none */
  bool bare_joints;           /* known to be all zeros: nobody needs to look               */
  /* For implicit methods: what is added to the inertia of bodies.  NULL: nothing. */
  const sni_art *extra;  /* blocks; their b does not count                             */
  const int *extra_of;   /* nbody  index in extra, -1: none                            */
  const sni_sym3 *brace; /* nbody  against turning alone, where `braced`; NULL: nothing */
  const uint8_t *braced; /* nbody                                                      */
} sni_aba_in;

/* qdd from w->tau (and from the prescribed entries of qdd itself).  Needs kinematics.  Returns -1,
 * or the body whose joint has a singular inertia. */
int sni_aba(const sni_tree *t, const sni_aba_in *in, sni_work *w, double *qdd);

/* The backward pass for sni_Minv_mul alone: forces, velocities and gravity do not count. */
int sni_factorise(const sni_tree *t, const sni_aba_in *in, sni_work *w);

/* y = M^-1 x with the factors of the last sni_aba or sni_factorise (no prescribed joints); M is
 * J^T (mass + extra + brace) J + joint_matrix or armature.  y may be x. */
void sni_Minv_mul(const sni_tree *t, sni_work *w, const double *x, double *y);
/* Its two halves: w->z = U x, y = U^T w->z with U^T U = M^-1, of hinges up to the square root of
 * w->L.  The second leaves J y in w->a. */
void sni_Minv_inward(const sni_tree *t, sni_work *w, const double *x);
void sni_Minv_outward(const sni_tree *t, sni_work *w, double *y);
/* w->z = -U J^T f with wrenches f on bodies, where `which` is not 0; there f = 0 afterwards. */
void sni_Minv_inward_of(const sni_tree *t, sni_work *w, const uint8_t *which, sni_lane6 *f);
/* a^T b of two such halves, with those roots. */
double sni_Minv_dot(const sni_tree *t, const sni_work *w, const double *a, const double *b);

/* y = M^-1 (x - J^T a), with wrenches a on the bodies in w->a, which becomes J y: both in world
 * axes at o.  What bodies held by joints do when pushed. */
void sni_respond(const sni_tree *t, sni_work *w, const double *x, double *y);

/* A += brace of the body. */
static inline void sni_brace_add(const sni_aba_in *in, int i, sni_lane A[3]) {
  if (in->brace && in->braced[i]) {
    const sni_sym3 k = in->brace[i];
    A[0] += (sni_lane){k.xx, k.xy, k.xz, 0};
    A[1] += (sni_lane){k.xy, k.yy, k.yz, 0};
    A[2] += (sni_lane){k.xz, k.yz, k.zz, 0};
  }
}

/* M y = x + J^T f in two halves, block by block: from the last block to the first, factorising on
 * the way, with f from block->first on; then from the first to the last, which leaves J y in w->a.
 * Returns -1 or a body, as above. */
int sni_solve_inward(const sni_tree *t, const sni_block *block, const sni_aba_in *in, sni_work *w,
                     const double *x, const sni_lane6 *f);
void sni_solve_outward(const sni_tree *t, const sni_block *block, sni_work *w, double *y);

/* The 6x6 inertia of a body about o, in world axes; its b is zero. */
void sni_mass_block(const sni_mass *m, const sni_link *l, sni_art *out);

/* ---- inverse.c: joint forces and reactions ---- */

/* F (nbody): wrench that each joint exerts on its body, at o in world axes.
 * tau (nv): S^T F plus what accelerates the armature.  w->a gets the accelerations. */
void sni_inverse(const sni_tree *t, const sni_aba_in *in, sni_work *w, const double *qdd,
                 double *tau, sn_vec6 *F);

/* ---- jacobian.c: O(n) products; twists and wrenches in the bodies' frames ---- */

void sni_J_mul(const sni_tree *t, sni_work *w, const double *x, sn_vec6 *y);
void sni_J_mul_world(const sni_tree *t, sni_work *w, const double *x); /* w->a, in world axes */
void sni_J_mul_block(const sni_tree *t, const sni_block *block, sni_work *w, const double *x);
/* Momentum of a body that moves with y, in world axes at o. */
sni_lane6 sni_momentum(const sni_mass *m, const sni_link *l, sni_lane6 y);
/* After sni_kinematics_Sdot. */
void sni_Jdot_mul(const sni_tree *t, sni_work *w, const double *x, sn_vec6 *z);
void sni_Jt_mul(const sni_tree *t, sni_work *w, const sn_vec6 *y, double *x);
void sni_mass_matrix(const sni_tree *t, const sni_aba_in *in, sni_work *w, double *M);
void sni_point_jacobian(const sni_tree *t, const sni_work *w, int body, sn_vec3 point, double *J);

#endif
