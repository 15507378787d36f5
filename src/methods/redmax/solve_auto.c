/* solve_auto.c: which solver costs least, counted before the first step.
 *
 * The direct solvers are counted from the structure: `graph` from its symbolic factorisation,
 * `reduced` from nv^3 and the length of the ways along which it forms A.  What `pcg` costs depends
 * on its iterations, and these on the spectrum of P^-1 A: so it solves once, for a right-hand side
 * in which every motion has a part, and may take as many iterations as the cheapest direct solver
 * is worth.  Steps need about as many, give or take a third: they start from a good guess, but A
 * changes as the bodies move.
 *
 * Where steps turn out to need many more, or A is not positive definite after all, `graph` steps
 * in, for that step alone. */
#include "methods/redmax/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const sni_solver *const sni_solvers[SNI_SOLVERS] = {&sni_solver_tree, &sni_solver_pcg,
                                                    &sni_solver_graph, &sni_solver_reduced,
                                                    &sni_solver_reduced_kkt};

/* A direct solver is exact to rounding, so pcg has to save a part of the whole step. */
#define WORTHWHILE 0.97

/* More digits from pcg may cost this part of a whole step each, and there are at most two. */
#define CHEAP_DIGIT 0.03
#define DIGITS      2

#define SPARE_BYTES_MAX ((size_t)1 << 30)

/* ---- costs in nanoseconds, fitted to measurements in the midst of steps of 33 mechanisms of 2 to
 * 4000 bodies: within 15 % for most, on a processor with vectors of 8 doubles ---- */

static double pcg_cost(const sni_system *s, double iterations) {
  const double nbody = s->t->nbody, nv = s->t->nv;
  return 230 + 16 * nv + iterations * (18.7 * nbody + 10.5 * nv + 4.8 * s->nterm);
}

/* ways: bodies between each coordinate and the world, and between the ends of pairs and the world.
 */
static double reduced_cost(const sni_system *s, double ways) {
  const double nv = s->t->nv;
  return 114 * nv + 0.0072 * nv * nv * nv + 8.8 * ways + 30 * s->npair;
}

/* The rest of a step: kinematics, forces and their derivatives, the new rates. */
static double rest_cost(const sni_system *s) {
  return 350.0 * s->t->nv + 400.0 * s->npairs;
}

static double count_ways(const sni_system *s, int *depth) {
  const sni_tree *t = s->t;
  double ways = 0;
  for (int i = 0; i < t->nbody; i++) {
    depth[i] = t->parent[i] < 0 ? 1 : depth[t->parent[i]] + 1;
    ways += (double)t->joint[i].nv * depth[i];
  }
  for (int k = 0; k < s->npairs; k++) {
    if (sni_system_couples(s, k)) {
      ways += depth[s->pair[k][0]] + depth[s->pair[k][1]];
    }
  }
  return ways;
}

/* ---- the trial of pcg ---- */

/* The iterations for  A x = A y,  y being numbers from -1 to 1 without pattern; -1: more than
 * max_iterations, or A is not positive definite.  room: 2 nv. */
static int try_pcg(sni_system *s, void *own, double tolerance, int max_iterations, double *room) {
  const int nv = s->t->nv;
  double *x = room, *b = room + nv;
  uint64_t bits = 1;
  for (int i = 0; i < nv; i++) {
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    x[i] = (double)(bits >> 11) * 0x1p-52 - 1;
  }
  sni_system_mul(s, x, b);
  memset(x, 0, (size_t)nv * sizeof *x);
  sni_solve_info info = {.bad = -1};
  if (sni_solver_pcg.factorise(s, own, &info) ||
      sni_solver_pcg.solve(s, own, b, tolerance, max_iterations, x, &info)) {
    return -1;
  }
  return info.iterations;
}

/* ---- the choice ---- */

static sn_status no_memory(sn_error *err) {
  return sni_fail(err, SN_E_MEMORY, "no memory for the choice of a solver");
}

static sn_status count_direct(sni_system *s, bool definite, void *own[SNI_SOLVERS], sni_choice *out,
                              sn_error *err) {
  const sn_status status = sni_graph_build_within(s, SPARE_BYTES_MAX, &own[SNI_GRAPH], err);
  if (status && status != SN_E_LIMIT) {
    return status;
  }
  if (!status) {
    out->cost[SNI_GRAPH] = sni_kkt_cost(own[SNI_GRAPH]);
    out->spare = SNI_GRAPH;
  }
  int *depth = malloc((size_t)s->t->nbody * sizeof *depth);
  if (!depth) {
    return no_memory(err);
  }
  if (definite) {
    out->cost[SNI_REDUCED] = reduced_cost(s, count_ways(s, depth));
  }
  free(depth);
  return SN_OK;
}

static sn_status count_pcg(sni_system *s, int max_iterations, void *own[SNI_SOLVERS],
                           sni_choice *out, sn_error *err) {
  const sn_status status = sni_solver_pcg.build(s, &own[SNI_PCG], err);
  double *room = malloc(2 * (size_t)s->t->nv * sizeof *room + 1);
  if (status || !room) {
    free(room);
    return status ? status : no_memory(err);
  }
  const double other = fmin(out->cost[SNI_GRAPH], out->cost[SNI_REDUCED]);
  const double each = pcg_cost(s, 1) - pcg_cost(s, 0);
  const double worth = (other - pcg_cost(s, 0)) / each;
  const int most = worth < max_iterations ? (int)fmax(worth, 0) : max_iterations;
  out->iterations = try_pcg(s, own[SNI_PCG], out->tolerance, most, room);
  for (int k = 0; k < DIGITS && out->iterations >= 0; k++) { /* few pairs: they come at once */
    const double step = pcg_cost(s, out->iterations) + rest_cost(s);
    const int allowed = out->iterations + (int)(CHEAP_DIGIT * step / each);
    const int more = try_pcg(s, own[SNI_PCG], 0.1 * out->tolerance, allowed, room);
    if (more < 0) {
      break;
    }
    out->tolerance *= 0.1;
    out->iterations = more;
  }
  free(room);
  if (out->iterations >= 0) {
    out->cost[SNI_PCG] = pcg_cost(s, out->iterations);
    const double patience = 10 + 2 * fmax(out->iterations, out->cost[SNI_GRAPH] / each);
    if (out->spare >= 0 && patience < max_iterations) {
      out->max_iterations = (int)patience;
    }
  }
  return SN_OK;
}

sn_status sni_solver_choose(sni_system *s, bool definite, double tolerance, int max_iterations,
                            void *own[SNI_SOLVERS], sni_choice *out, sn_error *err) {
  *out = (sni_choice){.solver = SNI_TREE,
                      .spare = -1,
                      .tolerance = tolerance,
                      .max_iterations = max_iterations,
                      .iterations = -1};
  for (int k = 0; k < SNI_SOLVERS; k++) {
    out->cost[k] = INFINITY;
  }
  if (sni_system_pair_count(s) == 0) {
    return sni_solver_tree.build(s, &own[SNI_TREE], err);
  }
  sn_status status = count_direct(s, definite, own, out, err);
  if (!status && definite) {
    status = count_pcg(s, max_iterations, own, out, err);
  }
  if (status) {
    return status;
  }
  const double *cost = out->cost, rest = rest_cost(s);
  out->solver = cost[SNI_REDUCED] < cost[SNI_GRAPH] ? SNI_REDUCED : SNI_GRAPH;
  if (cost[SNI_PCG] + rest < WORTHWHILE * (cost[out->solver] + rest)) {
    out->solver = SNI_PCG;
  }
  for (int k = 0; k < SNI_SOLVERS; k++) { /* what is not needed goes, what is missing comes */
    if (k != out->solver && k != out->spare) {
      sni_solvers[k]->free(&own[k]);
    }
  }
  out->spare = out->solver == out->spare ? -1 : out->spare;
  return own[out->solver] ? SN_OK : sni_solvers[out->solver]->build(s, &own[out->solver], err);
}
