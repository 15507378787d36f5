/* view_parameters.h: the numbers that can be changed while a simulation runs, as sliders want them.
 */
#ifndef CLI_VIEW_PARAMETERS_H
#define CLI_VIEW_PARAMETERS_H

#include "io/json.h"
#include "sinew/sinew.h"

#define VIEW_PARAMETERS_MAX 400 /* that are listed */

/* "list" and "more" of an open object.  What comes in numbers (stay_1, stay_2, ...) is there once
 * for all of them too: forces.stay_*.stiffness. */
void view_parameters_json(const sn_sim *sim, sni_json *j);

/* Sets one, or all that fit a path with * in it.  On failure none has changed. */
sn_status view_parameters_set(sn_sim *sim, const char *path, double value, sn_error *err);

#endif
