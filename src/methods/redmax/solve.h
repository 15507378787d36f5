/* solve.h: the table of solvers, and the choice that `auto` makes. */
#ifndef SNI_SOLVE_H
#define SNI_SOLVE_H

#include "dynamics/rows.h"
#include "linear/block_ldl.h"
#include "methods/redmax/system.h"

typedef enum sni_solver_kind {
  SNI_TREE,
  SNI_PCG,
  SNI_GRAPH,
  SNI_REDUCED,
  SNI_REDUCED_KKT,
  SNI_SOLVERS
} sni_solver_kind;

extern const sni_solver *const sni_solvers[SNI_SOLVERS];

typedef struct sni_choice {
  int solver;         /* SNI_TREE, ..                                                            */
  int spare;          /* takes over where that one fails, built too; -1: none                    */
  double tolerance;   /* of pcg: less than asked for, by as much as costs little: a direct solver
                         would have been exact                                                   */
  int max_iterations; /* of pcg: with more of them the spare is faster                           */
  int iterations;     /* that pcg took in the trial; -1: none was needed, or it gave up          */
  double cost[SNI_SOLVERS]; /* of a solve, in nanoseconds or thereabouts; INFINITY: cannot, or not
                               counted                                                           */
} sni_choice;

/* The least costly solver for A as assembled, and those built that it needs.  A function of A
 * alone: not of time, nor of what was solved before.
 * definite: A is known to be positive definite, whatever the bodies do. */
sn_status sni_solver_choose(sni_system *s, bool definite, double tolerance, int max_iterations,
                            void *own[SNI_SOLVERS], sni_choice *out, sn_error *err);

/* pcg with constraints in the dual of P (sni_rows_halve): A x + G^T lambda = b, G x = rows->rhs.  x
 * holds a first guess; b NULL: it is 0, and nobody guesses. */
sn_status sni_pcg_solve_bound(sni_system *s, void *own, sni_rows *rows, const double *b,
                              double tolerance, int max_iterations, double *x,
                              sni_solve_info *info);

/* The solver graph, refused with SN_E_LIMIT if it needs more bytes; and what it costs. */
sn_status sni_graph_build_within(sni_system *s, size_t bytes_max, void **own, sn_error *err);
/* Fills it with A, and with constraints (NULL: none), soft or not: see sni_kkt_fill. */
void sni_graph_fill(sni_system *s, void *own, const sni_rows *rows, const double *soft);

#endif
