/* make_stack.c: boxes on top of each other on a floor.  The top one may be much heavier than those
 * that bear it. */
#include "cli/make.h"

#define EDGE 0.2  /* m */
#define GAP  5e-4 /* between boxes at the start */

static void write_stack(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  make_head(out, "stack", 9.81, "# A stack of boxes of 1 kg on a floor.\n");
  sni_text_add(out,
               "\ncontacts:\n  wood: {friction: 0.5}\n\n"
               "defaults:\n  joint: {type: free}\n"
               "  shape: {type: box, size: [%s, %s, %s], density: %s, contact: wood}\n\nbodies:\n"
               "  floor: {joint: {type: fixed}, shapes: [{type: plane, extent: 4}]}\n",
               make_show(EDGE).text, make_show(EDGE).text, make_show(EDGE).text,
               make_show(1 / (EDGE * EDGE * EDGE)).text);
  for (int k = 1; k <= n; k++) {
    const sn_vec3 at = {0, 0, (k - 0.5) * EDGE + k * GAP};
    const double density = s->weight / (EDGE * EDGE * EDGE);
    if (k == n && s->weight != 1) {
      sni_text_add(out, "  box_%d: {joint: {at: %s}, shapes: [{density: %s}]}\n", k,
                   make_show3(at).text, make_show(density).text);
    } else {
      sni_text_add(out, "  box_%d: {joint: {at: %s}, shapes: [{}]}\n", k, make_show3(at).text);
    }
  }
  char channels[96];
  snprintf(channels, sizeof channels, "[T, V, E, box_%d.pos.*]", n);
  make_foot(out, 5, channels);
}

static const cli_option options[] = {{"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
                                      "boxes, from 1 to 100000; 20 if not given"},
                                     {"--weight", "M", CLI_NUMBER, offsetof(make_settings, weight),
                                      "mass of the top one in kg, from 1e-3 to 1e6; 1 if not "
                                      "given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 20, 1, 100000, true},
    {"--weight", offsetof(make_settings, weight), 1, 1e-3, 1e6, false}};

const make_generator make_stack = {
    .name = "stack",
    .command = {.name = "make stack",
                .arguments = "[--count N] [--weight M]",
                .doc = "boxes on top of each other on a floor",
                .about = "N boxes of 1 kg; the top one may weigh more.",
                .option = options,
                .noption = 2,
                .examples = "  sinew make stack --count 20 > stack.yaml\n"
                            "  sinew make stack --count 2 --weight 1000 > heavy.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 2,
    .write = write_stack};
