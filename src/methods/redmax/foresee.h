/* foresee.h: what a step will meet on its way. */
#ifndef SNI_FORESEE_H
#define SNI_FORESEE_H

#include "dynamics/rows.h"
#include "methods/redmax/system.h"

/* With the rates qd1 that a solve gave: do the forces and the reactions of the constraints resist
 * turning by more than the matrix and the masses know?  Then the next one that is assembled does.
 * rows: NULL, or with the lambda of that solve. */
bool sni_system_foresee(sni_system *s, const sni_rows *rows, const double *qd1);

#endif
