/* scene.c: models of the scenes that `sinew make` writes. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/bench.h"
#include "cli/make.h"
#include "sinew/scene.h"

sn_status bench_make(const char *name, make_settings *settings, sn_model **out, sn_error *err) {
  const make_generator *g = make_find(name);
  sn_status status = make_complete(g, settings, err);
  if (status) {
    return status;
  }
  char *text = make_scene(g, settings);
  sn_scene *loaded = NULL;
  status = text ? sn_scene_load_text(text, strlen(text), name, NULL, &loaded, err)
                : sni_fail(err, SN_E_MEMORY, "out of memory");
  if (!status) {
    *out = sn_scene_take_model(loaded);
  }
  if (loaded) {
    sn_scene_free(&loaded);
  }
  free(text);
  return status;
}
