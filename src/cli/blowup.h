/* blowup.h: has a motion blown up although its numbers are finite, and what may be to blame. */
#ifndef CLI_BLOWUP_H
#define CLI_BLOWUP_H

#include "sinew/sinew.h"

/* What a run has seen of its energy. */
typedef struct cli_energies {
  double T0, V0; /* at its start                    */
  double rise;   /* largest E - E_start             */
  bool stopped;  /* it could not go on: less says more */
} cli_energies;

/* True: it rose far beyond what anything in the scene explains, and the warning says so.  Needs
 * memory, and says nothing without. */
bool cli_blowup(sn_sim *sim, double step, const cli_energies *e, sn_error *warning);

#endif
