/* repeats.c: do constraints repeat each other?
 *
 * A door on two hinges, a coupling rod on three cranks: some rows say what others say, and are left
 * out by whoever factorises them.  But they do so only where all gaps are closed.  Where these stay
 * open by g, rows differ by that, none can be left out, and all together hold what should move: the
 * mechanism stands still, as G qd = -gain g has it.  So gaps that stay open are no good there,
 * however small; as many rows must depend on others in poses beside the closed ones as in these. */
#include "methods/redmax/redmax.h"

#include <stdint.h>

/* From a closed pose to another, and beside that one: m or rad. */
#define ASIDE  0.01
#define CLOSED 1e-10

/* Rows that depend on others at sim->q; -1: nobody knows. */
static int count_dependent(sn_sim *sim) {
  sni_rows *rows = &sim->rows;
  sni_dynamics_kinematics(&sim->d, sim->q, sim->qd);
  sni_rows_eval(rows, 0, 0, sim->q, sim->qd);
  for (int i = 0; i < rows->nrow && rows->nsided > 0; i++) {
    rows->u.in[i] = !rows->row[i].one_sided;
  }
  return sni_rows_factorise_mass(rows) < 0 ? sni_kkt_replaced(rows->kkt) : -1;
}

/* Those that do so only where gaps are closed, from some closed pose: the start itself may be a
 * singular one. */
static bool look_around(sn_sim *sim) {
  int worst;
  double gap;
  sni_sim_step_aside(sim, 1, ASIDE);
  if (sni_rows_close(&sim->rows, 0, 0, CLOSED, false, sim->q, sim->qd, &worst, &gap)) {
    return false;
  }
  const int closed = count_dependent(sim);
  sni_sim_step_aside(sim, 2, ASIDE);
  const int open = count_dependent(sim);
  return open >= 0 && closed > open;
}

/* With all that may ever be active, or else with what is so at first. */
static bool look_for(sn_sim *sim, sn_state *s, bool always) {
  sim->rows.always = always;
  const bool repeats = sn_sim_assemble(sim, s, NULL) == SN_OK && look_around(sim);
  sim->rows.always = false;
  return repeats;
}

bool sni_redmax_repeats(sn_sim *sim) {
  sni_rows *rows = &sim->rows;
  sn_state *s = NULL;
  const bool ready =
      sn_state_create(sim->m, &s, NULL) == SN_OK &&
      sni_kkt_build(&sim->d, SNI_KKT_MAXIMAL, 0, NULL, SIZE_MAX, &rows->kkt, NULL) == SN_OK;
  const bool repeats = ready && (look_for(sim, s, true) || look_for(sim, s, false));
  sni_kkt_free(&rows->kkt);
  rows->seen = false;
  sn_state_free(&s);
  return repeats;
}
