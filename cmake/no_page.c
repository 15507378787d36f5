/* no_page.c: stands for the viewer's page where it could not be built. */
#include "cli/page.h"

const unsigned char *const cli_page = NULL;
const size_t cli_page_size = 0;
