/* summary.h: a valid scene explained: bodies, joints, freedom, size, methods. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <stdio.h>

#include "cli/start.h"
#include "io/json.h"
#include "sinew/scene.h"

/* False: out of memory. */
bool cli_summary_print(const sn_scene *scene, const cli_start *start, FILE *to);
/* Keys of an open object. */
bool cli_summary_json(const sn_scene *scene, const cli_start *start, sni_json *j);

#endif
