/* page.c: a story beside the picture: JSON that goes into an element of the page. */
#include "cli/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE "<script type=\"application/json\" id=\"panel\">"
#define AFTER "</script>"

enum { STORY_MAX = 1 << 16 };

static sn_status read_story(const char *file, char story[STORY_MAX + 1], size_t *n, sn_error *err) {
  FILE *from = fopen(file, "rb");
  if (!from) {
    return sni_fail(err, SN_E_FILE, "cannot read '%s': %s", file, strerror(errno));
  }
  *n = fread(story, 1, STORY_MAX + 1, from);
  const bool good = !ferror(from);
  fclose(from);
  if (!good) {
    return sni_fail(err, SN_E_FILE, "cannot read '%s'", file);
  }
  return *n <= STORY_MAX
             ? SN_OK
             : sni_fail(err, SN_E_LIMIT, "'%s' has more than %d bytes", file, (int)STORY_MAX);
}

static size_t find_place(void) {
  static const char element[] = PLACE AFTER;
  const size_t m = sizeof element - 1;
  for (size_t k = 0; k + m <= cli_page_size; k++) {
    if (memcmp(cli_page + k, element, m) == 0) {
      return k + sizeof PLACE - 1;
    }
  }
  return 0;
}

sn_status cli_page_with_story(const char *file, char **page, size_t *size, sn_error *err) {
  char story[STORY_MAX + 1];
  size_t n = 0;
  *page = NULL;
  if (!cli_page) {
    return sni_fail(err, SN_E_UNSUPPORTED,
                    "this command was built without the viewer's page (npm was missing)");
  }
  const sn_status status = read_story(file, story, &n, err);
  if (status) {
    return status;
  }
  if (memchr(story, '<', n)) { /* nothing in it may look like the end of the element */
    return sni_fail(err, SN_E_VALUE, "'%s': has '<' in it, needs \\u003c instead", file);
  }
  const size_t place = find_place();
  *page = malloc(cli_page_size + n);
  if (!*page) {
    return sni_fail(err, SN_E_MEMORY, "no memory for a page");
  }
  memcpy(*page, cli_page, place);
  memcpy(*page + place, story, n);
  memcpy(*page + place + n, cli_page + place, cli_page_size - place);
  *size = cli_page_size + n;
  return SN_OK;
}
