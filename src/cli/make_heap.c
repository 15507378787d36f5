/* make_heap.c: balls, boxes, capsules and cylinders that fall into a pen. */
#include "cli/make.h"

/* Bodies start at most so far from their places: balls must not balance on one another. */
#define ASIDE 0.01

/* The same numbers everywhere: splitmix64. */
static double random(uint64_t *seed, double lo, double hi) {
  uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return lo + (hi - lo) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static sn_vec3 random3(uint64_t *seed, double lo, double hi) {
  const double x = random(seed, lo, hi), y = random(seed, lo, hi);
  return (sn_vec3){x, y, random(seed, lo, hi)};
}

/* None is larger than a ball of 0.16 m about its middle. */
static void write_shape(int kind, uint64_t *seed, sni_text *out) {
  const double r = random(seed, 0.05, 0.08), l = random(seed, 0.03, 0.07);
  switch (kind) {
  case 0:
    sni_text_add(out, "{type: sphere, radius: %s}", make_show(r + 0.02).text);
    break;
  case 1:
    sni_text_add(out, "{type: box, size: %s}", make_show3(random3(seed, 0.1, 0.17)).text);
    break;
  case 2:
    sni_text_add(out, "{type: capsule, from: [0, 0, -%s], to: [0, 0, %s], radius: %s}",
                 make_show(l).text, make_show(l).text, make_show(r).text);
    break;
  default:
    sni_text_add(out, "{type: cylinder, from: [0, 0, -%s], to: [0, 0, %s], radius: %s}",
                 make_show(l).text, make_show(l).text, make_show(r).text);
    break;
  }
}

/* The floor, and four walls that look inwards. */
static void write_pen(double half, sni_text *out) {
  sni_text_add(out,
               "  pen:\n    joint: {type: fixed}\n    shapes:\n"
               "      - {type: plane, extent: %s}\n",
               make_show(2 * half).text);
  for (int k = 0; k < 4; k++) {
    const double way[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const sn_vec3 x = {-half * way[k][0], -half * way[k][1], 0};
    sni_text_add(out, "      - {type: plane, extent: 0.5, at: %s}\n",
                 make_show_rod(x, (sn_vec3){way[k][0], way[k][1], 0}).text);
  }
}

static void write_heap(const make_settings *s, sni_text *out) {
  const int n = (int)s->count;
  int side = 1;
  while (side * side * side < n) {
    side++;
  }
  uint64_t seed = 1;
  make_head(out, "heap", 9.81, "# Bodies of four kinds that fall into a pen.\n");
  sni_text_add(out, "\ncontacts:\n  stone: {friction: 0.5");
  if (s->rolling > 0) { /* balls would roll and spin for ever */
    const char *rolling = make_show(s->rolling).text;
    sni_text_add(out, ", rolling: %s, torsional: %s", rolling, rolling);
  }
  sni_text_add(out,
               "}\n\ndefaults:\n  joint: {type: free}\n  shape: {density: 1000, contact: stone}\n\n"
               "bodies:\n");
  write_pen(0.5 * MAKE_HEAP_SPACING * side + 0.05, out);
  for (int k = 0; k < n; k++) {
    const double i = k % side, j = (k / side) % side, level = k / (side * side);
    sn_vec3 at = {MAKE_HEAP_SPACING * (i - 0.5 * (side - 1)),
                  MAKE_HEAP_SPACING * (j - 0.5 * (side - 1)), MAKE_HEAP_SPACING * (level + 0.6)};
    at.x += random(&seed, -ASIDE, ASIDE);
    at.y += random(&seed, -ASIDE, ASIDE);
    const sn_se3 E = {sn_so3_exp(random3(&seed, -1.5, 1.5)), at};
    sni_text_add(out, "  body_%d:\n    joint: {at: %s}\n    shapes: [", k + 1,
                 make_show_pose(E).text);
    write_shape(k % 4, &seed, out);
    sni_text_add(out, "]\n");
  }
  make_foot_at(out, 0.005, 5, "[T, V, E]");
  if (s->sleep > 0) {
    sni_text_add(out, "  redmax: {contact: {sleep: %s}}\n", make_show(s->sleep).text);
  }
}

static const cli_option options[] = {
    {"--count", "N", CLI_NUMBER, offsetof(make_settings, count),
     "bodies, from 1 to 100000; 100 if not given"},
    {"--rolling", "M", CLI_NUMBER, offsetof(make_settings, rolling),
     "rolling and torsional friction in metres, from 0 to 0.1; 0 if not given"},
    {"--sleep", "S", CLI_NUMBER, offsetof(make_settings, sleep),
     "what rests for S seconds sleeps, from 0 (never) to 100; 0 if not given"}};
static const make_number numbers[] = {
    {"--count", offsetof(make_settings, count), 100, 1, 100000, true},
    {"--rolling", offsetof(make_settings, rolling), 0, 0, 0.1, false},
    {"--sleep", offsetof(make_settings, sleep), 0, 0, 100, false}};

const make_generator make_heap = {
    .name = "heap",
    .command =
        {.name = "make heap",
         .arguments = "[--count N] [--rolling M] [--sleep S]",
         .doc = "balls, boxes, capsules and cylinders that fall into a pen",
         .about = "N bodies of about 2 kg, in a pen of walls without end.  With rolling friction\n"
                  "they come to rest; else balls roll on.",
         .option = options,
         .noption = 3,
         .examples = "  sinew make heap --count 1000 > heap.yaml\n"
                     "  sinew make heap --rolling 0.002 --sleep 0.5 > heap.yaml\n",
         .run = make_run},
    .number = numbers,
    .nnumber = 3,
    .write = write_heap};
