/* freedom_nearby.c: poses beside the start that meet the constraints.
 *
 * Where branches of a motion cross, the shortest way to closed leads back to the crossing: g is
 * quadratic there, and Newton's step from x, which uses the smallest slopes of g too, goes to x/2
 * whatever the direction.  So the steps are Levenberg's
 *
 *     (G^T G + mu |g| 1) x = -G^T g
 *
 * that use slopes above sqrt(mu |g|) and leave alone what the others ask for: they go to the branch
 * that is nearest, and are as quick as Newton's once they are near it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/freedom.h"
#include "linear/cholesky.h"
#include "linear/vector.h"
#include "methods/sim.h"

#define AWAY   1e-2  /* rad, or m: how far a pose nearby is                        */
#define STAYS  0.02  /* of that: it has not come back                              */
#define CLOSED 1e-12 /* m, or rad: what is off by less is closed                   */
#define LEAST  1e-15 /* the same: nothing can be gained                            */

typedef struct walk {
  sn_sim *sim;
  double t;
  sni_chol *A;
  double *G;     /* a row           */
  double *b, *x; /* nv each         */
  double *q;     /* nv: a try       */
  double *qd;    /* nv: zero        */
} walk;

/* The rows that hold both ways, at q, and |g|. */
static double look(walk *w, const double *q) {
  sni_rows *rows = &w->sim->rows;
  double sum = 0;
  sni_dynamics_kinematics(&w->sim->d, q, w->qd);
  rows->places_only = true;
  sni_rows_eval(rows, w->t, w->t, q, w->qd);
  rows->places_only = false;
  cli_freedom_keep_rows(rows, w->sim->m);
  for (int i = 0; i < rows->nrow; i++) {
    sum += rows->row[i].g * rows->row[i].g;
  }
  return sqrt(sum);
}

/* x, of the rows that were looked at. */
static bool solve(walk *w, double damping) {
  const int nv = w->sim->m->tree.nv;
  const sni_rows *rows = &w->sim->rows;
  memset(w->b, 0, (size_t)nv * sizeof *w->b);
  sni_chol_clear(w->A);
  for (int i = 0; i < rows->nrow; i++) {
    sni_rows_column(rows, i, w->G);
    for (int j = 0; j < nv; j++) {
      w->b[j] -= w->G[j] * rows->row[i].g;
      for (int k = 0; k <= j && w->G[j] != 0; k++) {
        *sni_chol_at(w->A, j, k) += w->G[j] * w->G[k];
      }
    }
  }
  for (int j = 0; j < nv; j++) {
    *sni_chol_at(w->A, j, j) += damping;
  }
  if (!sni_chol_factorise(w->A, 0, NULL)) {
    return false;
  }
  sni_chol_solve(w->A, w->b, w->x);
  return true;
}

/* From q to where the constraints are met. */
static bool close_gaps(walk *w, double *q) {
  enum { STEPS = 100 };
  const int nv = w->sim->m->tree.nv;
  double mu = 1, gap = look(w, q);
  for (int k = 0; k < STEPS && gap > LEAST; k++) {
    if (!solve(w, mu * gap)) {
      break;
    }
    for (int j = 0; j < nv; j++) {
      w->q[j] = q[j] + w->x[j];
    }
    const double next = look(w, w->q);
    const bool better = next < gap;
    if (!better && gap < CLOSED) {
      break;
    }
    if (better) {
      memcpy(q, w->q, (size_t)nv * sizeof *q);
      gap = next;
    } else {
      look(w, q);
    }
    mu *= better ? 0.5 : 8;
  }
  return gap < CLOSED;
}

static bool build(walk *w, double **memory) {
  const size_t nv = (size_t)w->sim->m->tree.nv;
  *memory = calloc(5 * nv + 1, sizeof **memory);
  if (!*memory || sni_chol_build((int)nv, &w->A, NULL) != SN_OK) {
    return false;
  }
  w->G = *memory;
  w->b = w->G + nv;
  w->x = w->b + nv;
  w->q = w->x + nv;
  w->qd = w->q + nv;
  return true;
}

bool cli_freedom_go_away(sn_sim *sim, double t, uint64_t seed, const double *from, double *q) {
  const int nv = sim->m->tree.nv;
  walk w = {.sim = sim, .t = t};
  double *memory = NULL, most = 0;
  bool good = build(&w, &memory);
  for (int j = 0; j < nv; j++) {
    q[j] = from[j] + AWAY * cli_freedom_random(&seed);
  }
  good = good && close_gaps(&w, q);
  for (int j = 0; j < nv; j++) {
    most = fmax(most, fabs(q[j] - from[j]));
  }
  sni_chol_free(&w.A);
  free(memory);
  return good && most > STAYS * AWAY;
}
