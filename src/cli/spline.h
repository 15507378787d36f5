/* spline.h: derivatives of a recorded column, from the cubic spline through it. */
#ifndef CLI_SPLINE_H
#define CLI_SPLINE_H

/* First and second derivatives at the n keys (t_k, v_k), n >= 2 and times increasing.  work: 2 n
 * numbers. */
void cli_spline_derive(const double *t, const double *v, int n, double *slope, double *bend,
                       double *work);

#endif
