/* freedom_nearby.c: poses beside the start that meet the constraints.
 *
 * Where branches of a motion cross, the shortest way to closed leads back to the crossing: g is
 * quadratic there, and Newton's step from x, which uses the smallest slopes of g too, goes to x/2
 * whatever the direction.  So the steps are Levenberg's
 *
 *     (G^T G + mu |g| 1) x = -G^T g
 *
 * that use slopes above sqrt(mu |g|) and leave alone what the others ask for: they go to the branch
 * that is nearest, and are as quick as Newton's once they are near it.
 *
 * Constraints may also let a motion begin that no pose follows: four rods of a swing that hangs
 * aslant let the seat turn, to first order, and no pose is turned.  That is so at any pose of the
 * branch, so the rank is the same everywhere.  But closing takes back such a motion as a whole,
 * where of others it takes the part that is curved, and the less the smaller they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/freedom.h"
#include "dynamics/doubt.h"
#include "linear/cholesky.h"
#include "linear/vector.h"
#include "methods/sim.h"

#define AWAY    1e-2  /* rad, or m: how far a pose nearby is                        */
#define STAYS   0.02  /* of that: it has not come back                              */
#define CLOSED  1e-12 /* m, or rad: what is off by less is closed                   */
#define LEAST   1e-15 /* the same: nothing can be gained                            */
#define TANGENT 1e-6  /* of the largest slope: what has less holds nothing          */
#define LOST    0.2   /* of a way along a tangent: closing has taken it back        */
#define OWN     0.1   /* of a way: it goes where the ones before it do not          */

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

/* ---- along tangents ---- */

/* u becomes what the rows at `from` let pass of it. */
static bool onto_tangents(walk *w, const double *from, double *u) {
  enum { TIMES = 3 };
  const int nv = w->sim->m->tree.nv;
  const sni_rows *rows = &w->sim->rows;
  double largest = 0;
  look(w, from);
  for (int i = 0; i < rows->nrow; i++) {
    sni_rows_column(rows, i, w->G);
    largest = fmax(largest, sni_dot(nv, w->G, w->G));
  }
  for (int k = 0; k < TIMES; k++) {
    for (int i = 0; i < rows->nrow; i++) {
      sni_rows_column(rows, i, w->G);
      w->sim->rows.row[i].g = sni_dot(nv, w->G, u);
    }
    if (!solve(w, TANGENT * TANGENT * largest)) {
      return false;
    }
    for (int j = 0; j < nv; j++) {
      u[j] += w->x[j];
    }
  }
  return true;
}

/* Goes along u and closes; *way: there from `from`, as part of that. Returns what of u has been
 * taken back; INFINITY: nobody knows. */
static double follow(walk *w, const double *from, const double *u, double *q, double *way) {
  static const double far[] = {1e-3, 1e-4, 1e-2, 1e-5};
  const int nv = w->sim->m->tree.nv;
  double least = INFINITY;
  for (size_t k = 0; k < sizeof far / sizeof *far && !(least < LOST); k++) {
    double back = 0;
    for (int j = 0; j < nv; j++) {
      q[j] = from[j] + far[k] * u[j];
    }
    if (!close_gaps(w, q)) {
      continue;
    }
    for (int j = 0; j < nv; j++) {
      back = fmax(back, fabs((q[j] - from[j]) / far[k] - u[j]));
    }
    for (int j = 0; j < nv && !isfinite(least); j++) {
      way[j] = (q[j] - from[j]) / far[k];
    }
    least = fmin(least, back);
  }
  return least;
}

/* Does it go where the n before it do not?  Then it is one of them, made a unit vector. */
static bool is_new(int nv, int n, double *ways, const double *way) {
  double *own = ways + (size_t)n * (size_t)nv;
  const double size = sqrt(sni_dot(nv, way, way));
  memcpy(own, way, (size_t)nv * sizeof *own);
  for (int i = 0; i < n; i++) {
    const double *one = ways + (size_t)i * (size_t)nv, part = sni_dot(nv, one, own);
    for (int j = 0; j < nv; j++) {
      own[j] -= part * one[j];
    }
  }
  const double left = sqrt(sni_dot(nv, own, own));
  for (int j = 0; j < nv && left > 0; j++) {
    own[j] /= left;
  }
  return left > OWN * fmax(size, OWN);
}

void cli_freedom_follow(sn_sim *sim, double t, const double *from, int begin, cli_freedom *f) {
  enum { FEW = 3, FIRST = 100 };
  const size_t nv = (size_t)sim->m->tree.nv;
  walk w = {.sim = sim, .t = t};
  double *memory = NULL, *own = calloc((3 + (size_t)begin) * nv + 1, sizeof *own);
  bool good = build(&w, &memory) && own && begin > 0;
  f->begin = f->followed = begin;
  if (good) {
    double *u = own, *way = own + nv, *ways = way + nv, *q = calloc(nv + 1, sizeof *q);
    int n = 0, lost = 0;
    for (int k = 0; q && k < FEW + (lost > 0 ? 2 * begin : 0); k++) {
      uint64_t seed = FIRST + (uint64_t)k;
      double most = 0;
      for (size_t j = 0; j < nv; j++) {
        u[j] = cli_freedom_random(&seed);
      }
      if (!onto_tangents(&w, from, u)) {
        break;
      }
      for (size_t j = 0; j < nv; j++) {
        most = fmax(most, fabs(u[j]));
      }
      most = fmax(most, sni_doubt_turn(&sim->d, u));
      for (size_t j = 0; j < nv && most > 0; j++) {
        u[j] /= most;
      }
      const double back = most > 0 ? follow(&w, from, u, q, way) : 0;
      lost += back > LOST && isfinite(back);
      n += isfinite(back) && n < begin && is_new((int)nv, n, ways, way);
    }
    f->astray = lost > 0;
    f->followed = lost > 0 ? n : begin;
    free(q);
  }
  sni_chol_free(&w.A);
  free(memory);
  free(own);
}
