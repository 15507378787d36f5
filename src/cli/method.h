/* method.h: the options of methods, from the tables by which scenes are read: no method is known
 * here by name. */
#ifndef CLI_METHOD_H
#define CLI_METHOD_H

#include <stdio.h>

#include "io/json.h"
#include "sinew/sinew.h"

/* Sets run.METHOD.integrator.  Where the method has no choice of integrators, or not this one, err
 * says so. */
sn_status cli_method_integrator(sn_run_def *run, const char *integrator, sn_error *err);

/* The word of the one that is chosen; false: the method has no choice of integrators. */
bool cli_method_get_integrator(const sn_run_def *run, char *out, size_t out_size);

/* "recursive (integrator dopri5, rel_tol 1e-08, ...)" */
void cli_method_print(const sn_run_def *run, FILE *to);
/* "method": "recursive", "recursive": {"integrator": "dopri5", ...} */
void cli_method_json(const sn_run_def *run, sni_json *j);

#endif
