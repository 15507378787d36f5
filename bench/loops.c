/* loops.c: `sinew bench loops`: what steps with loops cost, and how well these stay closed. */
#include "bench/redmax.h"

/* The bridges and umbrellas of the paper's second table, and on to 16 times its largest [RM 7];
 * linkages and ladders with as many loops as bodies, nearly. */
static const redmax_spec usual[] = {
    {LOOP_BRIDGE, 80},   {LOOP_BRIDGE, 160},   {LOOP_BRIDGE, 320},    {LOOP_BRIDGE, 640},
    {LOOP_BRIDGE, 1280}, {LOOP_BRIDGE, 5120},  {LOOP_BRIDGE, 20480},  {LOOP_FLEXIBLE, 20},
    {LOOP_FLEXIBLE, 80}, {LOOP_FLEXIBLE, 320}, {LOOP_FLEXIBLE, 1280}, {LOOP_FLEXIBLE, 5120},
    {UMBRELLA, 10},      {UMBRELLA, 22},       {UMBRELLA, 46},        {UMBRELLA, 184},
    {UMBRELLA, 736},     {FOURBAR, 2},         {FOURBAR, 40},         {FOURBAR, 160},
    {FOURBAR, 640},      {FOURBAR, 2560},      {LADDER, 12},          {LADDER, 96},
    {LADDER, 1000},      {LADDER, 10000}};
static const redmax_spec quick[] = {{LOOP_BRIDGE, 80}, {LOOP_BRIDGE, 320}, {LOOP_FLEXIBLE, 20},
                                    {UMBRELLA, 10},    {UMBRELLA, 22},     {FOURBAR, 2},
                                    {FOURBAR, 40},     {LADDER, 4},        {LADDER, 48}};

static int run(const bench_settings *settings, const bench_output *out) {
  static const redmax_plan plan = {.first = LOOP_BRIDGE,
                                   .end = LADDER + 1,
                                   .usual = usual,
                                   .quick = quick,
                                   .nusual = sizeof usual / sizeof *usual,
                                   .nquick = sizeof quick / sizeof *quick};
  return redmax_measure(&plan, settings, out);
}

const bench_entry bench_loops = {
    .name = "loops",
    .doc = "implicit steps with loops: bridges, umbrella, four-bars in a row, ladder",
    .draws = true,
    .run = run};
