/* svg.h: plots of curves as SVG: one or several panels, with linear or logarithmic axes. */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include "io/text.h"

enum { SVG_SERIES_MAX = 8 };

/* Begins as {0}; svg_panel_free gives its memory back. */
typedef struct svg_series {
  const char *name;
  char note[32]; /* behind the name in the legend, such as n^1.02 */
  int color;     /* the same number has the same colour in all panels */
  double *x, *y;
  int count, capacity;
} svg_series;

typedef struct svg_panel {
  const char *title;
  svg_series series[SVG_SERIES_MAX];
  int count;
} svg_panel;

/* What all panels of a picture share. */
typedef struct svg_style {
  const char *title, *x_label, *y_label; /* "": none */
  double width, height;                  /* of a panel, with its margins */
  bool log;                              /* both axes */
  bool marks;                            /* at every point */
  bool beside;                           /* the legend stands beside the curves, not among them */
} svg_style;

/* Adds a point; false: out of memory. */
bool svg_add(svg_series *s, double x, double y);
void svg_panel_free(svg_panel *p);

/* A picture of all panels, two in a row; those with fewer than two places along x are left out.  On
 * logarithmic axes points must be above 0. */
void svg_write(const svg_panel *panel, int count, const svg_style *style, sni_text *out);

#endif
