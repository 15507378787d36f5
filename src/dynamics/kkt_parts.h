/* kkt_parts.h: what the files of kkt share. */
#ifndef SNI_KKT_PARTS_H
#define SNI_KKT_PARTS_H

#include "dynamics/kkt.h"
#include "dynamics/kkt_bare.h"
#include "dynamics/kkt_reduced.h"
#include "dynamics/rows.h"

struct sni_kkt {
  const sni_dynamics *d;
  sni_kkt_reduced *reduced; /* NULL: the maximal form, which all below is for            */
  sni_ldl *ldl;
  int *phi, *qd, *mu;              /* nbody  nodes; -1: none                                    */
  int *row;                        /* nbody  place (sni_ldl_place) of the rates                 */
  int *at;                         /* nbody  of the twist                                       */
  int *mass, *own, *shift, *joint; /* nbody  blocks; -1: none                                   */
  int *tie;                        /* nbody  block mu, phi                                      */
  int *pair;                       /* npairs block; -1: none                                    */
  int ncon;                        /* constraints                                               */
  int *con;                        /* ncon  nodes; -1: none                                     */
  int *con_row;                    /* ncon  place                                               */
  int *con_size;                   /* ncon  rows at most                                        */
  int *con_own, *con_side;         /* ncon, 2 ncon  blocks; -1: none                            */
  int *con_coord; /* SNI_COORD_MAX ncon  blocks with the rates of a joint          */
  int *row_at;    /* capacity of rows  place of each row that is active         */
  int nrow;
  bool *out;          /* capacity of rows  has nothing to say: doubt.h                  */
  int nout;           /* of these                                                       */
  sni_lines *doubted; /* nv  scratch                                                     */
  bool *is_bare;      /* nbody  its rates are no unknowns: kkt_bare.h */
  sni_bare *bare;     /* nbody  of these, as filled                   */
  int npairs;         /* what it was built for */
  int (*pairs)[2];
  size_t bytes_max;
  sn_status lost; /* that did not work */
  double *x;      /* of the reduced form: all scalars                                            */
  /* nv + capacity of rows  b and c that went into the factorisation: comparing these is cheaper
   * than scattering them once more */
  double *given;
  bool given_b, given_c; /* they were not NULL */
  bool begun;            /* they have not been solved for yet, and nothing was filled since      */
  unsigned count;        /* of factorisations */
  int replaced;          /* by the last of them */
};

/* kkt_build.c: the graph anew: joints that were bare have got a matrix, by a change of the
 * parameters, and from now on their rates are unknowns. */
void sni_kkt_build_anew(sni_kkt *k);

#endif
