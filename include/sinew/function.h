/* function.h: functions of time, for drives, motions, forces and switches.
 *
 *     sn_function_def f = {.value = 2};                          constant
 *     sn_function_def f = {.expression = "0.5*sin(2*pi*t)"};
 *     sn_function_def f = {.key_time = t, .key_value = v, .nkey = 3};
 *     sn_function_def f = {.csv_file = "motion.csv", .csv_column = "hip.q"};
 *
 * Zero-initialised, it is the constant 0.  At most one of the four may be given.  Keyframes and CSV
 * columns are held constant before their first and after their last time. */
#ifndef SINEW_FUNCTION_H
#define SINEW_FUNCTION_H

#include "sinew/types.h"

typedef enum sn_interpolation {
  SN_INTERPOLATE_LINEAR = 0,
  SN_INTERPOLATE_STEP, /* holds each value until the next key                         */
  SN_INTERPOLATE_CUBIC /* natural cubic spline: two continuous derivatives inside     */
} sn_interpolation;

typedef struct sn_function_def {
  double value;                       /* the constant                                     */
  const char *expression;             /* of t                                             */
  const double *key_time, *key_value; /* nkey each, times strictly increasing             */
  int nkey;
  sn_interpolation interpolation;    /* of keys and CSV columns                     */
  const char *csv_file, *csv_column; /* the first column of the file is the time, `t`    */
} sn_function_def;

#endif
