/* kkt_reduced.h: masses, forces and constraints in reduced coordinates, as one sparse system.
 *
 *     [ A    Q^T ] [ x  ]   [ b      ]
 *     [ Q    0   ] [ mu ] = [ R^-T c ]          G = R^T Q, constraint by constraint (compress.h)
 *
 * A has a block for each body and every body that carries it, and for bodies that a force couples.
 * A constraint acts on the joints between its bodies only, as far as their ways to the world are
 * not the same.  So this is the form for many short branches that loops tie together; along one
 * long branch A is dense, and the maximal form (kkt.c) is the better one.
 *
 * Forces that push and pull stiffly cancel in A where they carry both bodies: the maximal form does
 * not lose those digits. */
#ifndef SNI_KKT_REDUCED_H
#define SNI_KKT_REDUCED_H

#include "dynamics/compress.h"
#include "dynamics/kkt.h"

typedef struct sni_kkt_reduced sni_kkt_reduced;

sn_status sni_kkt_reduced_build(const sni_dynamics *d, int npairs, const int (*pair)[2],
                                size_t bytes_max, sni_kkt_reduced **out, sn_error *err);
void sni_kkt_reduced_free(sni_kkt_reduced **kkt);
sni_ldl *sni_kkt_reduced_ldl(const sni_kkt_reduced *kkt);

void sni_kkt_reduced_fill(sni_kkt_reduced *kkt, const sni_aba_in *in, const struct sni_rows *rows);
void sni_kkt_reduced_set_rows(sni_kkt_reduced *kkt, const struct sni_rows *rows);
void sni_kkt_reduced_add_pair(sni_kkt_reduced *kkt, int pair, double c, sni_lane6 p, sni_lane6 q);

/* A right-hand side as the system has it, and a solution out of it. */
int sni_kkt_reduced_scalars(const sni_kkt_reduced *kkt);
void sni_kkt_reduced_scatter(const sni_kkt_reduced *kkt, const double *b, const double *c,
                             double *out);
void sni_kkt_reduced_gather(const sni_kkt_reduced *kkt, const double *from, double *x,
                            double *lambda);
/* After a factorisation: rows of which others leave less than open gaps can have made (doubt.h)
 * take no part from now on, until rows are set again.  False: there are none. */
bool sni_kkt_reduced_leave_doubtful(sni_kkt_reduced *kkt);
double sni_kkt_reduced_weakest(const sni_kkt_reduced *kkt);
/* Do rows of one constraint depend on each other? */
bool sni_kkt_reduced_depends(const sni_kkt_reduced *kkt);
/* The body of a node; -1: none. */
int sni_kkt_reduced_body(const sni_kkt_reduced *kkt, int node);

/* ---- between kkt_reduced_build.c and kkt_reduced.c ---- */

typedef struct sni_touch { /* a joint that a constraint acts on                 */
  int body, at;            /* its first column among those of the constraint    */
  double *block;
} sni_touch;

typedef struct sni_tied { /* a constraint                                                       */
  int size;               /* rows that it can have in Q; 0: it acts on nothing                  */
  int columns, meet;      /* meet: the body where the ways of its two meet; -1: in the world    */
  int row;                /* its first scalar                                                   */
  double *own;
  sni_touch *touch;
  int ntouch;
  int *walk;       /* the joints on the ways of its bodies, up to where they meet: which of touch */
  int first, nrow; /* its rows, as filled last */
  unsigned out;    /* of these, bit i: row i takes no part, since what others leave is doubtful */
  sni_compressed z;
} sni_tied;

typedef struct sni_coupling { /* of two bodies by a force                                       */
  int body[2];                /* -1: does not move                                              */
  int count[2];               /* joints on their ways to the world                              */
  double **block;             /* count[0] x count[1]                                            */
  bool *turned;               /* the block has the joint of body[1] for its row                 */
} sni_coupling;

struct sni_kkt_reduced {
  const sni_dynamics *d;
  const struct sni_rows *rows; /* as filled last                                                */
  sni_arena arena;
  sni_ldl *ldl;
  int *depth;     /* nbody  joints with coordinates between it and the world                    */
  int *touched;   /* nbody  while constraints are laid out: which of the last one's joints      */
  int *node;      /* nbody  -1: no coordinates                                                  */
  int *way;       /* nbody + 1  first of a body's blocks in `above`                             */
  double **above; /* with itself, then with the joints above it, upwards                        */
  sni_tied *tied; /* ncon                                                                       */
  int ncon;
  sni_coupling *coupling; /* npairs                                                             */
  int npairs;
  double **extra; /* blocks that only forces fill                                               */
  int *extra_size;
  int nextra;
  int scalars;
  double weakest;     /* see sni_kkt_weakest                                                      */
  sni_art *carried;   /* nbody                                                                    */
  sni_lines *G;       /* the most columns of a constraint                                         */
  sni_lines *doubted; /* nv  scratch                                                            */
  double *scale;      /* nv  roots of the diagonal of A                                           */
  double *unit;       /* nv  1 over them                                                          */
  double *u, *v;      /* nv                                                                       */
};

#endif
