/* map.h: joints that are driven by fewer coordinates, z, of their own: q = f(z)   [RM 8, 9].
 *
 *     qd = F zd     qdd = F zdd + f''(zd, zd)     F = df/dz                            [RM 10]
 *
 * f is a smooth expression a coordinate of a joint.  Where as many of them as there are z are
 * linear and independent, these joints lead: they give z in any pose, and each of the others has a
 * row over itself and the leaders alone.  Else z is what fits the joints best, found by
 * Gauss-Newton from where it was, and the rows are those of a basis N of what is across F:
 *
 *     led:  q_i - f_i(z(q)) = 0        else:  N^T (q - f(z)) = 0     N^T (qd - F zd) = 0 */
#ifndef SNI_MAP_H
#define SNI_MAP_H

#include "math/expr.h"

#define SNI_MAP_Z_MAX     15 /* coordinates of a map                            */
#define SNI_MAP_DENSE_MAX 16 /* coordinates of joints of one that has no leaders */

typedef struct sni_map {
  int nz, nq;
  int first;                    /* of its z, among the coordinates of loops           */
  const char *const *name;      /* nz                                                 */
  const int *coord;             /* nq  coordinates of joints                          */
  const sni_expr *const *value; /* nq                                                 */
  bool led;
  const int *lead;       /* led: nz  entries                                          */
  const int *rest;       /* led: nq - nz  the others                                  */
  const double *inverse; /* led: nz x nz  z = inverse (q_lead - offset)               */
  const double *offset;  /* nz                                                        */
  const int *motion;     /* nz  functions that z follow; -1: none                     */
  const int *force;      /* nz  functions: forces along z; -1: none                   */
  const int *driven;     /* ndriven  those z that have a motion                       */
  int ndriven;
  bool start_given;
  const double *start; /* 2 nz  z and its rates                                       */
} sni_map;

/* f_i, and along the direction d (NULL: none) its first and second derivative. */
sni_jet sni_map_value(const sni_map *map, int i, const double *z, const double *d);
/* df_i/dz_j */
double sni_map_slope(const sni_map *map, int i, int j, const double *z);

/* The place of a map without leaders. */
typedef struct sni_map_frame {
  double B[SNI_MAP_DENSE_MAX][SNI_MAP_DENSE_MAX]; /* nq rows: the first nz span F, the others N  */
  double R[SNI_MAP_Z_MAX][SNI_MAP_Z_MAX];         /* F = B^T R                                   */
  int rank;
  double missed; /* of q - f(z), what z should have taken: 0, unless q is where no z leads */
} sni_map_frame;
void sni_map_frame_at(const sni_map *map, const double *z, sni_map_frame *out);

/* z and zd from those of all joints.  z: without leaders, what it was before.  frame: filled
 * without leaders. */
void sni_map_invert(const sni_map *map, const double *q, const double *qd, double *z, double *zd,
                    sni_map_frame *frame);

/* z where nobody knows it: stays where it fits the joints, or where no other fits them much better;
 * of several that fit one that is near.  With leaders there is nothing to look for. */
void sni_map_find(const sni_map *map, const double *q, double *z);

#endif
