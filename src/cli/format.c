/* format.c: kinds of files that recordings are written to.  A new one = one row here. */
#include "cli/format.h"

#include <string.h>

#include "base/error.h"
#include "cli/export_h5.h"
#include "cli/page.h"
#include "io/export.h"

static sn_status html_possible(sn_error *err) {
  return cli_page ? SN_OK
                  : sni_fail(err, SN_E_UNSUPPORTED,
                             "this command was built without the viewer's page (npm was missing)");
}

static sn_status html_write(sn_recording *r, const char *path, sn_error *err) {
  return sni_export_html(r, (const char *)cli_page, cli_page_size, path, err);
}

static const cli_format formats[] = {
    {".csv", "the channels, as a table", NULL, sni_export_csv},
    {".glb", "an animation in glTF 2.0", NULL, sni_export_glb},
    {".html", "a page that plays it in any browser", html_possible, html_write},
    {".h5", "HDF5", cli_export_h5_possible, cli_export_h5}};

const cli_format *cli_format_at(int k) {
  return k < (int)(sizeof formats / sizeof *formats) ? &formats[k] : NULL;
}

bool cli_has_suffix(const char *path, const char *suffix) {
  const size_t n = strlen(path), m = strlen(suffix);
  return n > m && strcmp(path + n - m, suffix) == 0;
}

const cli_format *cli_format_of(const char *path) {
  for (int k = 0; cli_format_at(k); k++) {
    if (cli_has_suffix(path, cli_format_at(k)->suffix)) {
      return cli_format_at(k);
    }
  }
  return NULL;
}
