/* doubt.h: rows that say something of their own only because gaps are open.
 *
 * Three of the six rows of Bennett's linkage say in closed poses what the others say.  As soon as
 * gaps are open they say something else, and what they say then is wrong: they would hold what is
 * free to move.  Where gaps are open by motions d of the joints, to first order, rows are known no
 * better than to d, and what is left of one after others of which as little as s was left, no
 * better than to d/s. */
#ifndef SNI_DOUBT_H
#define SNI_DOUBT_H

#include "dynamics/compress.h"
#include "dynamics/dynamics.h"

/* A row of which less than this part is left after others is looked at twice where gaps are open;
 * smaller ones are closed. */
#define SNI_DOUBTED   0.02
#define SNI_GAP_NOISE 1e-12

/* How far a row is open.  What functions of time move is looked at where it will be at the end of a
 * step, which is no gap. */
static inline double sni_doubt_gap(const sni_row *row) {
  return row->rate != 0 ? 0 : row->g;
}

/* By how much x turns a joint, at most; what slides counts as part of the longest link. */
double sni_doubt_turn(const sni_dynamics *d, const double *x);

/* The body where the ways of two to the world meet; -1: there. */
int sni_doubt_meeting(const sni_tree *t, int a, int b);

/* Gaps are open by so many turns.  Of n rows, left[k] is left of row k, less of each than of the
 * one before; the first `sure` are not doubted, and of those `least` at least.  How many count. */
int sni_doubt_count(int sure, int n, const double *left, double least, double turn);

/* What must be left of a row where gaps are open by so many turns, after others of which all is. */
double sni_doubt_least(double turn);

/* The least that is left of a row by others of its constraint, whatever things weigh, and of which;
 * 1: nobody knows.  G: room for nv. */
double sni_doubt_faintest(const sni_dynamics *d, const sni_row *row, int nrow, sni_lines *G,
                          int *which);

/* The same of the rows of one constraint by itself, whatever things weigh: bit i is set if row i
 * has nothing to say.  Needs kinematics; G: room for nv. */
unsigned sni_doubt_rows(const sni_dynamics *d, const sni_row *row, int nrow, sni_lines *G);

#endif
