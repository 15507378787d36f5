/* make_slider_crank.c: a crank that turns evenly moves a slider through a rod.  With the crank r,
 * the rod l and the angle a, the slider is at r cos a + sqrt(l^2 - r^2 sin^2 a). */
#include "cli/make.h"

#define CRANK   0.1 /* m                          */
#define SECTION 0.02
#define DENSITY 7800

static void write_slider_crank(const make_settings *s, sni_text *out) {
  const make_text rod = make_show(s->length);
  const make_text crank = make_show(CRANK);
  make_head(
      out, "slider-crank", 9.81,
      "# A crank turns once in a second and moves a slider through a rod. The torque that the "
      "motor needs is motor.tau.\n");
  sni_text_add(out,
               "\ndefaults:\n"
               "  shape: {density: %d}\n"
               "\nbodies:\n"
               "  crank:\n"
               "    parent: world\n"
               "    joint: {type: revolute, axis: [0, -1, 0]}\n"
               "    shapes: [{type: box, size: [%s, %g, %g], at: [%s, 0, 0]}]\n"
               "  rod:\n"
               "    parent: crank\n"
               "    joint: {type: revolute, axis: [0, -1, 0], at: [%s, 0, 0]}\n"
               "    shapes: [{type: box, size: [%s, %g, %g], at: [%s, 0, 0]}]\n"
               "  slider:                                # q: how far it is from the shaft\n"
               "    parent: world\n"
               "    joint: {type: prismatic, axis: [1, 0, 0]}\n"
               "    inertia: {mass: %s, xx: 1e-3, yy: 1e-3, zz: 1e-3}\n"
               "    shapes: [{type: box, size: [0.08, 0.06, 0.06]}]\n",
               DENSITY, crank.text, SECTION, SECTION, make_show(0.5 * CRANK).text, crank.text,
               rod.text, SECTION, SECTION, make_show(0.5 * s->length).text,
               make_show(s->weight).text);
  sni_text_add(
      out,
      "\nloops:\n"
      "  pin: {type: revolute, axis: [0, -1, 0], a: {body: slider}, b: {body: rod, at: [%s, "
      "0, 0]}}\n"
      "\nmotions:\n"
      "  motor: {joint: crank, q: 2*pi*t}\n"
      "\ninitial:\n"
      "  slider: {q: %s}\n",
      rod.text, make_show(CRANK + s->length).text);
  make_foot_at(out, 0.002, 2, "[T, V, E, crank.q, slider.q, slider.qd, motor.tau]");
}

static const cli_option options[] = {
    {"--length", "L", CLI_NUMBER, offsetof(make_settings, length),
     "of the rod, more than the crank's 0.1 m, to 10; 0.3 if not given"},
    {"--weight", "M", CLI_NUMBER, offsetof(make_settings, weight),
     "kilograms of the slider, from 0.001 to 1e6; 1 if not given"}};
static const make_number numbers[] = {
    {"--length", offsetof(make_settings, length), 0.3, 1.01 * CRANK, 10, false},
    {"--weight", offsetof(make_settings, weight), 1, 1e-3, 1e6, false}};

const make_generator make_slider_crank = {
    .name = "slider-crank",
    .command = {.name = "make slider-crank",
                .arguments = "[--length L] [--weight M]",
                .doc = "a crank, a rod and a slider: a loop with a motor",
                .about = "A crank of 0.1 m that turns once in a second, a rod and a slider.",
                .option = options,
                .noption = 2,
                .examples = "  sinew make slider-crank --weight 5 > engine.yaml\n",
                .run = make_run},
    .number = numbers,
    .nnumber = 2,
    .write = write_slider_crank};
