/* kkt.h: masses, joints, forces between pairs of bodies and constraints as one sparse graph.
 *
 * Unknowns: the twist phi of each body that moves, the rates x of its joint, multipliers mu of
 * phi - X phi_p - S x = 0 (X the shift by r), and multipliers lambda of the constraints.  In world
 * axes:
 *
 *     [ M    0    T^T  P^T ] [ phi    ]   [ 0 ]
 *     [ 0    M_r  U^T  C^T ] [ x      ] = [ b ]
 *     [ T    U    0    0   ] [ mu     ]   [ 0 ]
 *     [ P    C    0    0   ] [ lambda ]   [ c ]
 *
 * so x and lambda solve [A G^T; G 0] with A = J^T M J + M_r and G = P J + C.  Balls that do nothing
 * but hold need fewer unknowns: kkt_bare.h.  Memory is taken in sni_kkt_build, and once more in
 * sni_kkt_fill when parameters have changed so that a ball does more than that.  The order of
 * elimination is found once; forces between any two bodies are blocks like the others, so the cost
 * is linear wherever the graph can be cut into small pieces. */
#ifndef SNI_KKT_H
#define SNI_KKT_H

#include "dynamics/dynamics.h"
#include "linear/block_ldl.h"

struct sni_rows;
typedef struct sni_kkt sni_kkt;

/* The system above, or x and lambda alone: kkt_reduced.h. */
typedef enum sni_kkt_form { SNI_KKT_MAXIMAL, SNI_KKT_REDUCED } sni_kkt_form;

/* For the constraints of d->rows, if there are any, and pairs of bodies (-1: does not move).
 * SN_E_LIMIT: it would need more than bytes_max. */
sn_status sni_kkt_build(const sni_dynamics *d, sni_kkt_form form, int npairs, const int (*pair)[2],
                        size_t bytes_max, sni_kkt **out, sn_error *err);
void sni_kkt_free(sni_kkt **kkt);
/* Of a factorisation and a solve, in nanoseconds, from the count of its operations. */
double sni_kkt_cost(const sni_kkt *kkt);
sni_kkt_form sni_kkt_get_form(const sni_kkt *kkt);

/* M and M_r as `in` has them, nothing between pairs, T and U by the kinematics; rows (NULL: none)
 * as they stand.  soft (NULL: 0): rows give way by so much for each unit of lambda, P phi + C x -
 * soft lambda = c; of the maximal form. */
void sni_kkt_fill(sni_kkt *kkt, const sni_aba_in *in, const struct sni_rows *rows,
                  const double *soft);
/* Rows again, those that are in (unilateral.h); all else stays. */
void sni_kkt_set_rows(sni_kkt *kkt, const struct sni_rows *rows);
/* += c p q^T between the bodies of a pair. */
void sni_kkt_add_pair(sni_kkt *kkt, int pair, double c, sni_lane6 p, sni_lane6 q);

/* b, c (NULL: 0; both: not known yet): the right-hand side that will be solved for first, most
 * likely.  *bad: the body
 * at fault; -1: none. */
sn_status sni_kkt_factorise(sni_kkt *kkt, const double *b, const double *c, int *bad);
/* The reduced form does not. */
bool sni_kkt_takes_soft(const sni_kkt *kkt);
/* How many pivots were noise: of the maximal form, rows that depend on others. */
int sni_kkt_replaced(const sni_kkt *kkt);
/* Do rows depend on others, in either form?  Rows that are out may do. */
bool sni_kkt_depends(const sni_kkt *kkt);
/* Which factorisation it is that is at hand: from 1 on. */
unsigned sni_kkt_count(const sni_kkt *kkt);
/* How exact solutions are from now on: to a backward error of 1e-12, of 1e-9, or, for those who
 * iterate themselves, of 1e-9 to all that is known of the factors. */
typedef enum sni_kkt_care { SNI_KKT_EXACT, SNI_KKT_ROUGH, SNI_KKT_TRUSTING } sni_kkt_care;
void sni_kkt_take_care(sni_kkt *kkt, sni_kkt_care care);
/* The least that is left of a row after those of the same constraint, as part of it; 1 where nobody
 * knows. */
double sni_kkt_weakest(const sni_kkt *kkt);
/* x, and lambda (a number a row, may be NULL).  residual: the backward error. */
sn_status sni_kkt_solve(sni_kkt *kkt, const double *b, const double *c, double *x, double *lambda,
                        double *residual);

#endif
