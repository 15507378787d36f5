/* page.h: the page of the viewer, one HTML file that needs nothing else, built from viewer/.
 *
 * A command that was built without npm has none: cli_page is NULL. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stddef.h>

extern const unsigned char *const cli_page; /* cli_page_size bytes, no zero behind them */
extern const size_t cli_page_size;

#endif
