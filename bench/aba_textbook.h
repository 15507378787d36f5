/* aba_textbook.h: forward dynamics as a textbook gives it, the yardstick of `sinew bench dynamics`.
 *
 * Featherstone's articulated-body algorithm in body coordinates, for revolute joints about any axis
 * and one free base.  Written plainly, and without wasted work: poses and 3x3 blocks, no 6x6 matrix
 * products.  It is compiled with the flags of the library. */
#ifndef BENCH_ABA_TEXTBOOK_H
#define BENCH_ABA_TEXTBOOK_H

#include "models.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aba_textbook aba_textbook;

/* NULL when memory is short.  The model is copied and need not live on. */
aba_textbook *aba_textbook_build(const bench_model *model);
void aba_textbook_free(aba_textbook **aba);

/* qdd from q, qd, tau: all arrays nv long, in the conventions of models.h. */
void aba_textbook_calc(aba_textbook *aba, const double *q, const double *qd, const double *tau,
                       double *qdd);

#ifdef __cplusplus
}
#endif
#endif
