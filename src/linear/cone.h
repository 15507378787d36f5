/* cone.h: the sets in which the impulses of one contact may lie, and the least of a quadratic in
 * them:
 *
 *     range    lo <= x <= hi
 *     disc     |x| <= r, two numbers: the exact cone of Coulomb, cut at its normal impulse
 *     polygon  the convex hull of `sides` points at the distance r: a polyhedral cone
 *     cone     |x_t| <= mu x_n, three numbers
 *
 * Small and exact: a few closed forms, and one scalar equation for the disc. */
#ifndef SNI_CONE_H
#define SNI_CONE_H

/* The least of 1/2 (y - x)^T W (y - x) + w^T (y - x) over the set, into x; W symmetric, positive
 * definite (a diagonal that is 0 moves nothing).  W: entries 11, 12, 22. */
void sni_cone_range(double W, double w, double lo, double hi, double *x);
void sni_cone_disc(const double W[3], const double w[2], double r, double *x);
void sni_cone_polygon(const double W[3], const double w[2], double r, int sides, double *x);

/* The same for many w and r: W by its axes.  On the rim the least is exact to 1e-6 the first time,
 * and has twice the digits each time that it is asked for again. */
typedef struct sni_disc {
  double c, s;   /* the first axis                                                             */
  double w1, w2; /* W along it and across                                                      */
  double rim;    /* where the equation of the rim was solved last                              */
} sni_disc;
sni_disc sni_disc_of(const double W[3]);
void sni_disc_least(sni_disc *d, const double w[2], double r, double *x);

/* The nearest point of the cone |x_t| <= mu x_n to x = (x_n, x_t), in place. */
void sni_cone_project(double mu, double *x);
/* The nearest point of the polygon. */
void sni_cone_project_polygon(double r, int sides, double *x);

#endif
