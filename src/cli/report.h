/* report.h: how a run went: counted on the way, printed at the end. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "cli/plan.h"
#include "io/json.h"

typedef struct cli_report {
  const char *scene;  /* file                                                           */
  const char *status; /* "done", "interrupted" or "stopped"                             */
  double t_start, t_end, wall, cpu;
  int64_t steps, substeps, rejected, evaluations;
  char chosen[256]; /* what the method chose, "": nothing                                 */
  bool solves;      /* it solves linear systems, and these say how that went:             */
  int64_t systems, iterations, retries;
  int iterations_most;
  double residual;          /* largest                                                  */
  int64_t unsettled;        /* steps in which loads and friction in joints did not agree */
  double disagreement;      /* then: by how much                                         */
  int64_t unconverged;      /* steps that were taken although a solve did not converge  */
  double residual_accepted; /* largest of those                                         */
  double gap;               /* largest that loops were left with, if the method tells    */

  int64_t contacts; /* points of all steps together                                     */
  int contacts_most, sweeps_most;
  int64_t sweeps;
  double contact_residual, deepest; /* largest                                          */
  double deepest_end;               /* in the last step                                 */

  int64_t rubs; /* turns of loads and friction in joints, of all steps together         */
  int rubs_most;

  bool any_energy;
  double T0, V0, T1, V1;     /* first and last                                           */
  double T_max, V_max;       /* largest kinetic energy, and largest |V|                  */
  double largest, largest_t; /* largest |E - E_start|, and when                         */
  double rise;               /* largest E - E_start                                      */

  const char *out; /* recording, NULL: none                                            */
  bool frames;     /* it is of frames and channels, not of rows and columns            */
  int64_t rows;
  int columns;
  const char *save;   /* file of the last state, NULL: none                              */
  uint64_t hash;      /* of the last state                                               */
  const char *bundle; /* folder with the step that failed, NULL: none                  */
} cli_report;

void cli_report_step(cli_report *r, sn_status status, const sn_info *info);
void cli_report_energy(cli_report *r, double t, double kinetic, double potential);

void cli_report_print(const cli_report *r, const cli_plan *plan, FILE *to);
void cli_report_json(const cli_report *r, const cli_plan *plan, sni_json *j);

#endif
