/* staggered.h: impulses of contacts and of whatever rubs, by Staggered Projections [RM Alg 2].
 *
 * A system A v = b is given by its answer v without impulses.  Groups of rows H (a contact: its
 * normal, two tangents, perhaps spinning and rolling) push on it with x:
 *
 *     v = A^-1 (b + H^T x),     w = H v + e x - c
 *
 * Each part of a group has a set for its x (cone.h).  The contact projection finds the least of
 * 1/2 x^T (H A^-1 H^T + e) x + .. over the normals with the friction as it is [RM 11], the friction
 * projection that over the tangents with limits  mu x_n  as they are [RM 12], and both alternate
 * until nothing changes.  What they agree upon is Coulomb's law: normals with x >= 0, w >= 0 and
 * x w = 0; friction within its cone, against the sliding.
 *
 * Both projections are swept group by group, interleaved or one after the other, and sweeps are
 * joined to directions of nonlinear conjugate gradients.  Neither A nor H A^-1 H^T is formed: a row
 * knows the coordinates of v that it touches.  Coordinates may be any in which that is so: with
 * A^-1 = Y^T Y and v = Y^T u a row has the same numbers for H and for A^-1 H^T.
 *
 * Limits that follow from something else than a row of the same group, as those of friction in
 * joints, stand; whoever set them solves again with better ones.
 *
 * Groups that share no coordinates belong to different islands, which are solved on their own. */
#ifndef SNI_STAGGERED_H
#define SNI_STAGGERED_H

#include <stdbool.h>
#include <stddef.h>

#include "linear/cone.h"
#include "sinew/types.h"

/* Rows of a group at most: normal, two tangents, spin, two of rolling; the tangents of a box are
 * parts of their own. */
enum { SNI_GROUP_ROWS = 6, SNI_GROUP_PARTS = 5 };
/* Islands with more coordinates are left to sweeps, and those whose matrix takes more numbers. */
enum { SNI_NEWTON_MAX = 1536, SNI_NEWTON_ROWS = 1 << 13, SNI_NEWTON_NUMBERS = 1 << 19 };
/* Numbers for sharing among the groups of an island, at most. */
enum { SNI_RELIEF_NUMBERS = 1 << 16 };
/* Of rates, that following a way takes. */
enum { SNI_PATH_VECTORS = 5 };

typedef enum sni_part_set {
  SNI_IN_RANGE,   /* one number, between lo and hi                                             */
  SNI_IN_LIMIT,   /* one number, between -limit and limit                                      */
  SNI_IN_DISC,    /* two numbers, |x| <= limit                                                 */
  SNI_IN_BALL,    /* three numbers, |x| <= limit                                               */
  SNI_IN_POLYGON, /* two numbers                                                               */
  SNI_IN_CONE     /* three numbers: the normal and its friction in one convex set             */
} sni_part_set;

typedef struct sni_group_part {
  sni_part_set set;
  int row, n;    /* its rows in the group                                                      */
  int of;        /* row in the group whose x makes the limit: mu x; -1: `limit` stands         */
  double mu;     /* of limits and cones                                                        */
  double limit;  /* at the moment                                                              */
  double lo, hi; /* of ranges                                                                  */
  sni_disc disc; /* scratch                                                                    */
} sni_group_part;

/* Coordinates that a group touches: numbers n at adr of v, for each row of the group. */
typedef struct sni_group_segment {
  int adr, n;
  double *h, *x; /* nrow x n: H, and A^-1 H^T; may be the same                                 */
} sni_group_segment;

typedef struct sni_group {
  int nrow, npart, nsegment;
  int segment; /* first of its segments                                                        */
  int island;
  bool weighed; /* W is there: whoever changes e after a solve says no                         */
  bool filled;  /* the packed one too                                                          */
  bool packed;  /* x is there for the time being                                                */
  bool fresh;   /* the last solve did not know of it                                            */
  bool listed;  /* scratch of staggered_mend.c                                                  */
  bool touches; /* it is a contact: normal, perhaps tangents, perhaps more                     */
  bool rests;   /* it touched at the start of the step, at a rate of nearly 0                   */
  bool shares;  /* x may be another one that moves alike: sni_staggered_relieve                  */
  double open;  /* of what rests: the rate at which it would close its gap                      */
  double c[SNI_GROUP_ROWS]; /* w = H v + e x - c                                               */
  double e[SNI_GROUP_ROWS];
  double x[SNI_GROUP_ROWS]; /* a guess, then the answer                                        */
  double w[SNI_GROUP_ROWS]; /* with the answer                                                 */
  sni_group_part part[SNI_GROUP_PARTS];
  /* the rest is scratch */
  double W[SNI_GROUP_ROWS * SNI_GROUP_ROWS];
  double before[SNI_GROUP_ROWS], p[SNI_GROUP_ROWS];
} sni_group;

/* See staggered_packed.c. */
typedef struct sni_packed {
  double h[2][18];
  double *v[2];
  double normal[3], own[3]; /* W: its first column, and its diagonal                           */
  double inverse, e, mu;
  sni_disc disc;
  double c[3], x[3];
  double before[3], p[3];
} sni_packed;

typedef struct sni_island {
  int first, count; /* of its groups, in `order`                                               */
  int first_touched, ntouched;
  int iterations;
  bool fresh;      /* some of its groups are                                                   */
  bool refined;    /* by Newton's method, or tried to                                          */
  double scale;    /* the largest |w| without impulses, of groups that something pushes; not below
                      the options' least                                                       */
  int worst;       /* the group with it                                                        */
  double residual; /* see sni_staggered_info                                                   */
} sni_island;

typedef struct sni_touched {
  int adr, n;
} sni_touched;

/* What there is room for. */
typedef struct sni_staggered_room {
  int nv, ngroup, nsegment;
  size_t numbers; /* of all h and x                                                            */
} sni_staggered_room;

typedef struct sni_staggered {
  sni_staggered_room room;
  double *v; /* nv  without impulses, then with them                                           */
  sni_group *group;
  int ngroup;
  sni_group_segment *segment;
  int nsegment;
  double *number;
  size_t nnumber;
  sni_island *island; /* after a solve                                                         */
  int nisland;
  int *order; /* groups by island                                                              */
  /* the rest is scratch */
  double *vp, *v0; /* nobody's between solves                                                */
  double budget;   /* of products that Newton's method may still take in this solve              */
  double spent;    /* in all solves with these groups                                            */
  double *dense;   /* of Newton's method                                                         */
  size_t room_dense;
  double *lines; /* 3 room_rows + SNI_PATH_VECTORS n  along its steps                          */
  int room_rows;
  double *relief; /* of sni_staggered_relieve                                                    */
  size_t room_relief;
  sni_packed *packed;
  double *nowhere; /* 6                                                                        */
  int *root, *of;  /* nv  union and find                                                        */
  int *touched_n;  /* nv                                                                        */
  sni_touched *touched; /* what groups touch, by island                                        */
  int *around;          /* nsegment  groups by what they touch: staggered_mend.c                */
  int *list;            /* 3 ngroup                                                             */
} sni_staggered;

typedef struct sni_staggered_options {
  double tolerance;   /* of the residual                                                      */
  double least;       /* rate: slower ones count as this, and need not be as exact; 0: none     */
  int max_iterations; /* sweeps of an island                                                  */
  int sides;          /* of polygons                                                          */
  bool one_at_a_time; /* each projection to its end before the other one, as printed          */
  bool again;         /* the same groups as in the last solve: only x, c and v are others       */
  bool sweeps_only;   /* no Newton's method where they do not converge                          */
  double enough;      /* rate: changes below this need not be passed on to others that were solved
                         before (sni_staggered_mend); 0: only what is below the residual        */
  double rough;       /* rate: islands that are further from the law are swept on, up to three times
                         as long again; 0: none                                                  */
  double rest;     /* rate: what rests stays at rest if it can at less than this; 0: it need not */
  double patience; /* times the work that this may be; 0: once                              */
} sni_staggered_options;

typedef struct sni_staggered_info {
  int iterations;  /* the most of an island                                                    */
  double residual; /* max |x - P(x - w/W)| W, P the nearest point of the part's set: how far rates
                      are from what the law asks for, by the largest without impulses           */
  int worst;       /* group with that residual; -1: none                                       */
  int unconverged; /* islands above the tolerance                                              */
} sni_staggered_info;

size_t sni_staggered_size(const sni_staggered_room *room);
void sni_staggered_place(sni_staggered *s, const sni_staggered_room *room, void *memory);

/* No groups. */
void sni_staggered_clear(sni_staggered *s);
/* One more group, of rows without parts, segments and numbers; NULL: there is no room. */
sni_group *sni_staggered_add(sni_staggered *s, int nrow);
/* Gives the last group a segment with h zero; same: x is h.  NULL: there is no room. */
sni_group_segment *sni_staggered_touch(sni_staggered *s, int adr, int n, bool same);
/* Takes the last group away again. */
void sni_staggered_drop(sni_staggered *s);

/* out = H v of a group of this solver; and v += A^-1 H^T x. */
void sni_staggered_rates(const sni_staggered *s, const sni_group *g, double *out);
void sni_staggered_add_impulse(sni_staggered *s, const sni_group *g, const double *x);

/* Groups without parts take no part.  SN_NOT_CONVERGED: x is within its sets, and how good it is
 * stands in info.  Takes no memory, and gives the same bits for the same input. */
sn_status sni_staggered_solve(sni_staggered *s, const sni_staggered_options *o,
                              sni_staggered_info *info);

/* The same once more, from x and v as the last solve has left them, with groups that are fresh:
 * only these, and those whose rates they change, are looked at again.  v without impulses is 0. */
sn_status sni_staggered_mend(sni_staggered *s, const sni_staggered_options *o,
                             sni_staggered_info *info);

typedef struct sni_relief {
  double work; /* products that an island may take                                             */
  double part; /* of the tolerance: rates that differ by less are alike; 0: but for rounding     */
} sni_relief;

/* After a solve, into x, a row a group: the least impulses of all that move alike and are as good,
 * of groups that share; of others what they are.  So are those of islands that did not converge,
 * or would take too much work, or more room than there is. */
void sni_staggered_relieve(sni_staggered *s, const sni_staggered_options *o,
                           const sni_relief *allowed, double (*x)[SNI_GROUP_ROWS]);

#endif
