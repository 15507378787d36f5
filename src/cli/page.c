/* page.c: the page with something of its own: a story beside the picture, or a recording. */
#include "cli/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/export.h"

#define STORY_PLACE     "<script type=\"application/json\" id=\"panel\">"
#define RECORDING_PLACE "<script type=\"application/x-sinew-recording\" id=\"recording\">"
#define AFTER           "</script>"

#define STORY_MAX     ((size_t)1 << 16)
#define RECORDING_MAX ((size_t)1 << 29) /* bytes: browsers take texts up to about 1 GB */

/* All of a file, to be freed. */
static sn_status read_file(const char *file, size_t most, char **out, size_t *n, sn_error *err) {
  FILE *from = fopen(file, "rb");
  size_t room = 0;
  bool good = from != NULL;
  *out = NULL;
  *n = 0;
  if (!from) {
    return sni_fail(err, SN_E_FILE, "cannot read '%s': %s", file, strerror(errno));
  }
  while (good && *n == room && room <= most) {
    room = room ? 2 * room : 1 << 16;
    char *grown = realloc(*out, room);
    good = grown != NULL;
    *out = grown ? grown : *out;
    *n += good ? fread(*out + *n, 1, room - *n, from) : 0;
  }
  const bool failed = ferror(from);
  fclose(from);
  return !good       ? sni_fail(err, SN_E_MEMORY, "no memory for '%s'", file)
         : failed    ? sni_fail(err, SN_E_FILE, "cannot read '%s'", file)
         : *n > most ? sni_fail(err, SN_E_LIMIT, "'%s' has more than %zu bytes", file, most)
                     : SN_OK;
}

/* Where the content of an empty element goes. */
static size_t find_place(const char *start) {
  const size_t n = strlen(start), m = n + strlen(AFTER);
  for (size_t k = 0; k + m <= cli_page_size; k++) {
    if (memcmp(cli_page + k, start, n) == 0 && memcmp(cli_page + k + n, AFTER, m - n) == 0) {
      return k + n;
    }
  }
  return 0;
}

/* The page with room for n bytes in an element, and where that is. */
static sn_status open_page(const char *start, size_t n, char **page, size_t *size, char **room,
                           sn_error *err) {
  const size_t place = find_place(start);
  *page = malloc(cli_page_size + n);
  if (!*page) {
    return sni_fail(err, SN_E_MEMORY, "no memory for a page");
  }
  memcpy(*page, cli_page, place);
  memcpy(*page + place + n, cli_page + place, cli_page_size - place);
  *room = *page + place;
  *size = cli_page_size + n;
  return SN_OK;
}

static sn_status no_page(sn_error *err) {
  return sni_fail(err, SN_E_UNSUPPORTED,
                  "this command was built without the viewer's page (npm was missing)");
}

sn_status cli_page_with_story(const char *file, char **page, size_t *size, sn_error *err) {
  char *story = NULL, *room = NULL;
  size_t n = 0;
  *page = NULL;
  sn_status status = cli_page ? read_file(file, STORY_MAX, &story, &n, err) : no_page(err);
  if (!status && memchr(story, '<', n)) { /* nothing in it may look like the end of the element */
    status = sni_fail(err, SN_E_VALUE, "'%s': has '<' in it, needs \\u003c instead", file);
  }
  status = status ? status : open_page(STORY_PLACE, n, page, size, &room, err);
  if (!status) {
    memcpy(room, story, n);
  }
  free(story);
  return status;
}

sn_status cli_page_with_recording(const char *file, char **page, size_t *size, sn_error *err) {
  char *raw = NULL, *room = NULL;
  size_t n = 0;
  sn_recording *r = NULL;
  *page = NULL;
  sn_status status = cli_page ? sn_recording_open(file, &r, err) : no_page(err);
  sn_recording_free(&r);
  status = status ? status : read_file(file, RECORDING_MAX, &raw, &n, err);
  status = status ? status : open_page(RECORDING_PLACE, (n + 2) / 3 * 4, page, size, &room, err);
  if (!status) {
    sni_base64((const unsigned char *)raw, n, room);
  }
  free(raw);
  return status;
}
