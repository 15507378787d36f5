/* forces/string.c: a string of point masses.  Models do not have it: before they are made it
 * becomes bodies and springs, in compile_strings.c. */
#include "model/forces/line.h"

static const sni_field string_field[] = {
    SNI_LINE_ENDS,
    {.key = "nodes",
     .type = SNI_F_INTEGER,
     .flags = SNI_REQUIRED | SNI_POSITIVE,
     .offset = offsetof(sn_force_def, nodes),
     .doc = "point masses between the ends: bodies NAME_1 to NAME_nodes"},
    {.key = "mass",
     .type = SNI_F_NUMBER,
     .flags = SNI_REQUIRED | SNI_POSITIVE,
     .offset = offsetof(sn_force_def, mass),
     .unit = "kg",
     .doc = "of all nodes together"},
    {.key = "stiffness",
     .type = SNI_F_NUMBER,
     .flags = SNI_REQUIRED | SNI_NOT_NEGATIVE,
     .offset = offsetof(sn_force_def, stiffness),
     .unit = "N/m",
     .doc = "tension for each unit of stretch of the whole string"},
    {.key = "damping",
     .type = SNI_F_NUMBER,
     .flags = SNI_NOT_NEGATIVE,
     .offset = offsetof(sn_force_def, damping),
     .unit = "N s/m",
     .doc = "tension for each unit of its stretching rate"},
    {.key = "rest_length",
     .type = SNI_F_NUMBER,
     .flags = SNI_NOT_NEGATIVE,
     .offset = offsetof(sn_force_def, rest_length),
     .unit = "m",
     .doc = "length without tension; default: from end to end in the initial pose"}};

const sni_force_ops sni_force_string = {
    .kind = {"string", "a string of point masses", string_field, SNI_COUNT(string_field)}};
