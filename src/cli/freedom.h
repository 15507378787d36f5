/* freedom.h: how many degrees of freedom constraints leave, and which of them say the same. */
#ifndef CLI_FREEDOM_H
#define CLI_FREEDOM_H

#include "dynamics/rows.h"
#include "sinew/sinew.h"

enum { CLI_NAMES_MAX = 8 };

typedef struct cli_freedom {
  int rows;     /* of all constraints that are active                                          */
  bool counted; /* the others are known: false if there are no rows, or no memory              */
  int rank;     /* rows that do not follow from others                                         */
  double least; /* of any of these, what was left of it by the others; small: nearly singular */
  int free;     /* degrees of freedom that are taken neither by these nor by motions of joints */
  int nearby;   /* rank in a pose nearby that meets the constraints too; -1: there is none     */
  int lowest;   /* the same of another branch that goes on from here: as many, or fewer        */
  int begin;    /* motions that constraints let begin, to first order                          */
  int followed; /* of these, so many that poses follow, and                                    */
  bool astray;  /* some that none follows                                                      */
  int involved; /* constraints with rows that follow from others                               */
  int name[CLI_NAMES_MAX]; /* the first of them                                                */
  int last;                /* the last of them                                                 */
} cli_freedom;

/* At a state that meets the constraints. */
cli_freedom cli_freedom_count(sn_sim *sim, sn_state *state);

/* ---- between its files ---- */

/* Of the rows that are evaluated, the first `own` of them of constraints, the others of motions. */
void cli_freedom_sparse(const sn_sim *sim, int own, cli_freedom *f);
/* A row of a constraint; rows of one constraint come one after the other. */
void cli_freedom_involve(cli_freedom *f, int constraint, bool redundant);
double cli_freedom_random(uint64_t *seed);
/* Leaves the rows of constraints that hold both ways, and of motions of joints that are there all
 * the time: limits take no freedom away.  Returns how many are of constraints: these come first. */
int cli_freedom_keep_rows(sni_rows *rows, const sn_model *m);
/* To a pose q nearby that meets the constraints and is not `from` again; false: none was found. */
bool cli_freedom_go_away(sn_sim *sim, double t, uint64_t seed, const double *from, double *q);
/* Of `begin` motions that can begin at `from`: begin, followed and astray. */
void cli_freedom_follow(sn_sim *sim, double t, const double *from, int begin, cli_freedom *f);

#endif
