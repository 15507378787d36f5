/* tree.h: the tree of joints as the recursions see it: constant, shared, indices only. */
#ifndef SNI_TREE_H
#define SNI_TREE_H

#include "math/inertia.h"
#include "model/joint.h"

/* Mass properties as the recursions want them: in frame b, about its origin. */
typedef struct sni_mass {
  double m;
  sn_vec3 mc; /* mass times centre of mass */
  double xx, yy, zz, xy, xz, yz;
} sni_mass;

sni_mass sni_mass_from_inertia(sn_inertia I);

/* Consecutive joints of one kind, at most SNI_RUN_MAX. */
typedef struct sni_run {
  int first, count;
  const sni_joint_ops *ops;
  bool hinge; /* one coordinate and S = (a; 0), constant: the fast path */
} sni_run;

/* Consecutive runs.  Passes that go the same way along the tree go over one block after the other,
 * together: what they share stays in the nearest caches. */
typedef struct sni_block {
  int run, nrun;  /* the first one, and how many */
  int first, end; /* their bodies                */
} sni_block;

#define SNI_BLOCK_MAX 64 /* bodies */

/* Three coordinates that are a rotation vector. */
typedef struct sni_ball {
  int body, first; /* the joint of this body, from this coordinate of it on */
} sni_ball;

/* The structure: constant, shared, indices only.  Parents come before children. */
typedef struct sni_tree {
  int nbody, nv;
  int nfactor;      /* sum of nv^2 over the joints                                       */
  int nslot;        /* articulated inertias that are alive at the same time              */
  int *parent;      /* nbody  -1: world                                                  */
  int *vadr;        /* nbody + 1  first coordinate                                       */
  int *factor;      /* nbody  first entry in L                                          */
  int *slot;        /* nbody  where the children's articulated inertia is gathered       */
  uint8_t *gather;  /* nbody  SNI_HAS_CHILD, SNI_FIRST_TO_PARENT                         */
  sn_vec6 *S0;      /* nv  constant columns in b, where S is constant                    */
  sni_joint *joint; /* nbody, then the parts of composites                               */
  int npool;
  double *pool; /* constants of the joints                                           */
  sni_run *run;
  int nrun;
  sni_block *block;
  int nblock;
  sni_ball *ball; /* all rotation vectors                                              */
  int nball;
} sni_tree;

enum {
  SNI_HAS_CHILD = 1,
  SNI_FIRST_TO_PARENT = 2 /* the first of its siblings that the backward pass meets: it sets the
                             parent's sum, the others add */
};

static inline sni_joint_set sni_tree_joints(const sni_tree *t) {
  return (sni_joint_set){t->joint, t->pool};
}

/* The body of a coordinate. */
int sni_tree_body_of(const sni_tree *t, int coordinate);
/* Is the joint of body i a ball about the body's own origin, and nothing else?  In a composite
 * there may be parts behind the ball. */
bool sni_tree_ball_alone(const sni_tree *t, int i);

/* Fills everything but parent, vadr, S0, joint and pool, which must be there: runs, slots, flags,
 * balls.  Takes the memory from `alloc`, which returns NULL when out of memory. */
sn_status sni_tree_link(sni_tree *t, void *(*alloc)(void *arena, size_t size), void *arena);

#endif
