/* svg.h: plots with logarithmic axes, several beside one another, as SVG. */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include "io/text.h"

enum { SVG_SERIES_MAX = 8, SVG_POINTS_MAX = 16 };

typedef struct svg_series {
  const char *name;
  char note[32]; /* behind the name in the legend, such as n^1.02 */
  int color;     /* the same number has the same colour in all panels */
  double x[SVG_POINTS_MAX], y[SVG_POINTS_MAX];
  int count;
} svg_series;

typedef struct svg_panel {
  const char *title;
  svg_series series[SVG_SERIES_MAX];
  int count;
} svg_panel;

/* Adds a point; those that are not above 0 have no place on a logarithmic axis. */
void svg_add(svg_series *s, double x, double y);

/* A picture of all panels, two in a row; those with fewer than two sizes are
 * left out. */
void svg_write(const svg_panel *panel, int count, const char *title, const char *x_label,
               const char *y_label, sni_text *out);

#endif
