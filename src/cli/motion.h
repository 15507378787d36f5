/* motion.h: a recorded motion of a mechanism, from a CSV file.
 *
 * Columns `t` and `NAME.q` (`NAME.q0`, `NAME.q1`, ... for joints with several coordinates); `.qd`
 * and `.qdd` where they are known.  What is missing comes from cubic splines: rates from the
 * coordinates, accelerations from the given rates, or else from the coordinates too.  Other
 * columns do not matter. */
#ifndef CLI_MOTION_H
#define CLI_MOTION_H

#include "base/csv.h"
#include "sinew/sinew.h"

typedef struct cli_motion {
  sni_csv *csv;
  const double *t;               /* nrow                                                      */
  const double **q, **qd, **qdd; /* nv columns of nrow numbers; NULL: the joint is held        */
  double *own;                   /* columns that are not in the file                          */
  int nrow;
} cli_motion;

/* hold: joints that the file does not have stay where they are; otherwise they are problems, all of
 * which are listed.  Problems or not, the motion must be freed. */
void cli_motion_read(const char *path, const sn_model *m, bool hold, cli_motion *motion,
                     sni_error_list *problems);
void cli_motion_free(cli_motion *motion);

/* Rates and accelerations that the file does not have. */
sn_status cli_motion_derive(cli_motion *motion, const sn_model *m, sn_error *err);

/* The error of a row that has no neighbour. */
sn_status cli_motion_alone(const cli_motion *motion, int row, sn_error *err);

/* "hip.tau", or "wrist.tau1": coordinate c of a joint, as channels are called. */
void cli_coordinate_name(const sn_model *m, int body, int c, const char *what, char *out,
                         size_t size);

/* Columns that look like coordinates of a joint that the model does not have: the next one from
 * *column on, or NULL. */
const char *cli_motion_stranger(const cli_motion *motion, const sn_model *m, int *column);

#endif
