/* foresee.h: what a step will meet on its way. */
#ifndef SNI_FORESEE_H
#define SNI_FORESEE_H

#include "dynamics/rows.h"
#include "methods/redmax/system.h"

/* Could the bodies of a block turn so far that it is worth looking?  Never says no where
 * sni_system_foresee would say yes. */
bool sni_system_far(const sni_system *s, const sni_block *block);

/* With the motion J qd1 of a solve in w->a, where it stays: do the forces and the reactions of the
 * constraints resist turning by more than the matrix and the masses know?  Then the next one that
 * is assembled does. rows: NULL, or lambda are their forces in that solve: with its factors if they
 * are the rows' own, or the least that do the same; far: some block is, asked before. */
bool sni_system_foresee(sni_system *s, sni_rows *rows, const double *lambda, bool far,
                        const double *qd1);

/* The constraints bear so much, for what is assembled next. */
void sni_system_load(sni_system *s, const sni_rows *rows, const double *lambda);

#endif
