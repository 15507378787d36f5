/* structured_sheet.c: a sheet of bars that is pulled into a shape, with so much time a step for
 * plain conjugate gradients and for the structured solver [FA 5]. */
#include "bench/structured.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "cli/make.h"
#include "methods/structured/structured.h"

#define PULL  3.0 /* seconds, as the generator has it */
#define AFTER 100 /* steps after that                 */

/* How far the bodies are from where their joints put them: ball joints, so the origin of each body
 * is a point of its parent. */
static double tree_error(sn_sim *sim, const sn_state *s) {
  const sn_model *m = sim->m;
  double most = 0;
  sn_se3 *E = malloc((size_t)m->tree.nbody * sizeof *E),
         *E0 = malloc((size_t)m->tree.nbody * sizeof *E);
  if (E && E0 && sn_sim_poses(sim, s, E, NULL) == SN_OK) {
    sni_model_poses(m, m->q0, E0);
    for (int i = 0; i < m->tree.nbody; i++) {
      const int p = m->tree.parent[i];
      if (p >= 0) {
        const sn_vec3 at = sn_mat3_tmul_vec(E0[p].R, sn_vec3_sub(E0[i].p, E0[p].p));
        most = fmax(most, sn_vec3_norm(sn_vec3_sub(E[i].p, sn_se3_point(E[p], at))));
      }
    }
  }
  free(E);
  free(E0);
  return most;
}

/* What an iteration takes, by the clock: the least of some steps with and without. */
static double one_iteration(sn_sim *sim, const sn_state *from, sn_state *to) {
  double least[2] = {INFINITY, INFINITY}, n = 1;
  const double budget = sim->options.structured.budget;
  sim->options.structured.budget = 0;
  for (int k = 0; k < 20; k++) {
    for (int many = 0; many < 2; many++) {
      sn_info info = {0};
      sim->options.structured.iterations = many ? 20 : 1;
      sn_state_copy(to, from);
      const int64_t before = sni_clock();
      sn_sim_step(sim, to, NULL, &info, NULL);
      least[many] = fmin(least[many], 1e-9 * (double)(sni_clock() - before));
      n = many ? info.iterations - n : info.iterations;
    }
  }
  sim->options.structured.iterations = 1000000;
  sim->options.structured.budget = budget;
  return n > 0 ? fmax(least[1] - least[0], 0) / n : 0;
}

static sn_status pull(structured_sheet *s, sn_sim *sim, sn_state *state, double once,
                      sn_error *err) {
  const int pulled = (int)lround(PULL / sim->options.step);
  int late = 0;
  for (int k = 1; k <= pulled + AFTER; k++) {
    sn_info info = {0};
    const int64_t before = sni_clock();
    const sn_status status = sn_sim_step(sim, state, NULL, &info, err);
    const double over = 1e-9 * (double)(sni_clock() - before) - s->budget - once;
    if (status < 0) {
      return status;
    }
    late += over > 0;
    s->late_most = fmax(s->late_most, over);
    s->iterations += info.iterations;
    s->gap_pulled = k > pulled - 100 && k <= pulled ? fmax(s->gap_pulled, info.gap) : s->gap_pulled;
    s->gap_after[0] = k == pulled + AFTER / 2 ? info.gap : s->gap_after[0];
    s->gap_after[1] = info.gap;
    s->tree = k % 20 == 0 ? fmax(s->tree, tree_error(sim, state)) : s->tree;
  }
  s->late = (double)late / (pulled + AFTER);
  s->iterations /= pulled + AFTER;
  return SN_OK;
}

sn_status structured_sheet_run(structured_sheet *s, int contestant, double budget, bool quick,
                               sn_error *err) {
  *s = (structured_sheet){.contestant = contestant, .budget = budget};
  sn_model *m = NULL;
  sn_sim *sim = NULL;
  sn_state *state = NULL, *other = NULL;
  make_settings sheet = MAKE_USUAL;
  sheet.size = quick ? 5 : 11;
  sn_status status = bench_make("surface", &sheet, &m, err);
  if (!status) {
    sn_options o = sn_model_run(m)->options;
    o.structured.solver = contestant == STRUCTURED ? SN_STRUCTURED : SN_FULL_ITERATIVE;
    o.structured.precision = 1e-8;
    o.structured.iterations = 1000000;
    o.structured.budget = 1e3 * budget;
    status = sn_sim_create(m, &o, &sim, err);
  }
  status = status ? status : sn_state_create(m, &state, err);
  status = status ? status : sn_state_create(m, &other, err);
  status = status ? status : pull(s, sim, state, one_iteration(sim, state, other), err);
  sn_state_free(&other);
  sn_state_free(&state);
  sn_sim_free(&sim);
  sn_model_free(&m);
  return status;
}
