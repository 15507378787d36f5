/* bundle_files.h: the scene of a bundle and all files that it names. */
#ifndef CLI_BUNDLE_FILES_H
#define CLI_BUNDLE_FILES_H

#include "cli/bundle.h"

/* Copies them into folder/scene, as they lie relative to one another.  scene (CLI_BUNDLE_PATH_MAX
 * characters): where the scene is, from the folder. */
sn_status cli_bundle_copy_files(const cli_failure *failure, const char *folder, char *scene,
                                sn_error *err);

#endif
