/* page.h: the page of the viewer, one HTML file that needs nothing else, built from viewer/.
 *
 * A command that was built without npm has none: cli_page is NULL. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stddef.h>

#include "base/error.h"

extern const unsigned char *const cli_page; /* cli_page_size bytes, no zero behind them */
extern const size_t cli_page_size;

/* The page with a story beside the picture: the JSON of a file, see docs/viewer.md.  To be freed.
 */
sn_status cli_page_with_story(const char *file, char **page, size_t *size, sn_error *err);
/* The page with a recording in it, as docs/recording.md says.  To be freed. */
sn_status cli_page_with_recording(const char *file, char **page, size_t *size, sn_error *err);

#endif
