/* full.h: all constraints alike, those of the tree and those of the loops:
 *
 *     (J M^-1 J^T + E) lambda = J M^-1 f - b                                [FA 6]
 *
 * over the twists of the bodies.  A joint of the tree has a row across each direction in which it
 * does not move; a matrix of its own (armature, springs) makes soft rows along those in which it
 * does. */
#ifndef SNI_FULL_H
#define SNI_FULL_H

#include "methods/structured/ties.h"

/* A row on one of its bodies. */
typedef struct sni_full_part {
  int row;
  const sni_lane6 *p;
} sni_full_part;

typedef struct sni_full {
  sni_tie *row; /* nrow  those of the tree, then the ties                                      */
  int nrow, ntree, capacity;
  double *soft; /* nrow  E                                                                     */
  double (*Minv)[36];         /* nbody                                                           */
  double (*P)[6 * SN_NV_MAX]; /* nbody  rates of its joint over its twist less that of its parent,
                                 a row a coordinate                                             */
  sni_lane6 *f, *phi;         /* nbody                                                           */
  double *lambda, *r, *p, *q, *inverse; /* capacity each                                        */
  double *x; /* nv  scratch                                                                     */
  sni_ties *t;
  int *first; /* nbody + 1  of the rows of each body in the list                                */
  sni_full_part *list; /* 2 capacity                                                            */
} sni_full;

sn_status sni_full_build(sni_ties *t, sni_full **out, sn_error *err);
void sni_full_free(sni_full **full);

/* Rows, masses.  -1, or the body whose mass has no inverse. */
int sni_full_fill(sni_full *u);
/* f: the wrenches that do what b does in the joints. */
void sni_full_load(sni_full *u, const double *b);
/* phi = M^-1 (f - J^T lambda);  out = J phi - E lambda - c. */
void sni_full_move(sni_full *u, const double *lambda);
void sni_full_leave(const sni_full *u, const double *lambda, double *out);
/* M^-1 p for one body. */
sni_lane6 sni_full_inverse(const sni_full *u, int body, sni_lane6 p);
/* The rates of the joints out of phi, and the forces of the ties; what is left of the loops. */
void sni_full_read(sni_full *u, const double *lambda, double *x);
/* What is left of the joints of the tree counts as well, for phi as it is. */
void sni_full_judge(sni_full *u, const double *lambda);
/* Joints that are still off add up along a branch, and rates that were read out of bodies which fly
 * apart may have far more energy than these.  x: that multiple of it which is nearest to the motion
 * of the bodies, by their masses, and so has no more. */
void sni_full_take_share(const sni_full *u, double *x);

#endif
