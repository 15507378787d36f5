/* view_parameters.h: the numbers that can be changed while a simulation runs, as sliders want them.
 *
 * A model may have a million of them, so that a page asks for those that it shows. */
#ifndef CLI_VIEW_PARAMETERS_H
#define CLI_VIEW_PARAMETERS_H

#include "io/json.h"
#include "sinew/sinew.h"

#define VIEW_PARAMETERS_PAGE 60 /* of them in one answer */

typedef struct view_query {
  const char *filter; /* words, each of which is in the path; * and ? as elsewhere */
  bool all;           /* else those alone that do something as they stand          */
  int64_t first;      /* of those that fit                                         */
} view_query;

/* "filter", "all", "first" as asked for, "total" that fit, "every": how many there are, and "list"
 * of an open object.  What comes in numbers (stay_1, stay_2, ...) is there once for all of them
 * too: forces.stay_*.stiffness. */
void view_parameters_json(const sn_sim *sim, const view_query *query, sni_json *j);

/* Sets one, or all that fit a path with * in it.  On failure none has changed. */
sn_status view_parameters_set(sn_sim *sim, const char *path, double value, sn_error *err);

#endif
