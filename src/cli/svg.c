/* svg.c: plots of curves as SVG. */
#include "cli/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT   76.0
#define RIGHT  30.0
#define TOP    36.0
#define BOTTOM 48.0
#define HEAD   40.0 /* title of the whole */
#define LETTER 7.0  /* about the width of one */
#define TICKS  7    /* about so many on a linear axis */

static const char *const colors[] = {"#c1272d", "#1b62a5", "#2e8540", "#8a5cb0",
                                     "#b8860b", "#444444", "#0e8f8f", "#d4558f"};

bool svg_add(svg_series *s, double x, double y) {
  if (s->count == s->capacity) {
    const int capacity = 2 * s->capacity + 16;
    double *grown_x = realloc(s->x, (size_t)capacity * sizeof *s->x);
    s->x = grown_x ? grown_x : s->x;
    double *grown_y = grown_x ? realloc(s->y, (size_t)capacity * sizeof *s->y) : NULL;
    s->y = grown_y ? grown_y : s->y;
    if (!grown_y) {
      return false;
    }
    s->capacity = capacity;
  }
  s->x[s->count] = x;
  s->y[s->count++] = y;
  return true;
}

void svg_panel_free(svg_panel *p) {
  for (int k = 0; k < SVG_SERIES_MAX; k++) {
    free(p->series[k].x);
    free(p->series[k].y);
    p->series[k].x = p->series[k].y = NULL;
    p->series[k].count = p->series[k].capacity = 0;
  }
}

/* ---- axes ---- */

/* From least to most, on a logarithmic axis powers of ten; tick: from one line to the next. */
typedef struct axis {
  double least, most, tick;
  bool log;
} axis;

/* Where the panel is, and its axes. */
typedef struct frame {
  double x0, y0;                   /* upper left corner of the panel */
  double left, right, top, bottom; /* of the curves, relative to it  */
  axis x, y;
} frame;

/* 1, 2 or 5 times a power of ten. */
static double nice_tick(double span) {
  const double raw = span / TICKS, ten = pow(10, floor(log10(raw))), ratio = raw / ten;
  return ten * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
}

static void fit_axis(axis *a, double least, double most, bool tight) {
  if (a->log) {
    a->least = floor(log10(least) - 0.02);
    a->most = ceil(log10(most) + 0.02);
    a->tick = 1;
    return;
  }
  if (!(most - least > 1e-12 * fmax(fabs(least), fabs(most)))) { /* a constant */
    const double margin = least != 0 ? 0.1 * fabs(least) : 1;
    least -= margin;
    most += margin;
  }
  const double margin = tight ? 0 : 0.04 * (most - least);
  a->least = least - margin;
  a->most = most + margin;
  a->tick = nice_tick(a->most - a->least);
}

static double along(const axis *a, double value) {
  return ((a->log ? log10(value) : value) - a->least) / (a->most - a->least);
}

static double place_x(const frame *f, double x) {
  return f->x0 + f->left + along(&f->x, x) * (f->right - f->left);
}

static double place_y(const frame *f, double y) {
  return f->y0 + f->bottom - along(&f->y, y) * (f->bottom - f->top);
}

static double legend_width(const svg_panel *p) {
  size_t most = 0;
  for (int k = 0; k < p->count; k++) {
    const size_t n = strlen(p->series[k].name) + strlen(p->series[k].note);
    most = n > most ? n : most;
  }
  return 44 + LETTER * (double)(most < 40 ? most : 40);
}

static bool frame_fit(const svg_panel *p, const svg_style *style, frame *f) {
  double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
  for (int s = 0; s < p->count; s++) {
    for (int k = 0; k < p->series[s].count; k++) {
      const double at[2] = {p->series[s].x[k], p->series[s].y[k]};
      for (int c = 0; c < 2; c++) {
        least[c] = fmin(least[c], at[c]);
        most[c] = fmax(most[c], at[c]);
      }
    }
  }
  if (!(least[0] < most[0])) { /* nothing, or one place only */
    return false;
  }
  *f = (frame){.left = LEFT,
               .right = style->width - (style->beside ? legend_width(p) : RIGHT),
               .top = p->title[0] ? TOP : 12,
               .bottom = style->height - BOTTOM,
               .x = {.log = style->log},
               .y = {.log = style->log}};
  fit_axis(&f->x, least[0], most[0], true);
  fit_axis(&f->y, least[1], most[1], false);
  return true;
}

/* ---- drawing ---- */

static void line(sni_text *out, double x0, double y0, double x1, double y1, const char *color) {
  sni_text_add(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0,
               y0, x1, y1, color);
}

/* What XML would take for its own. */
static void escaped(sni_text *out, const char *text) {
  for (; *text; text++) {
    switch (*text) {
    case '<':
      sni_text_add(out, "&lt;");
      break;
    case '&':
      sni_text_add(out, "&amp;");
      break;
    default:
      sni_text_add(out, "%c", *text);
    }
  }
}

static void label(sni_text *out, double x, double y, const char *anchor, const char *style,
                  const char *text) {
  if (!text[0]) {
    return;
  }
  sni_text_add(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, style);
  escaped(out, text);
  sni_text_add(out, "</text>\n");
}

typedef struct edges {
  double left, right, top, bottom; /* on the page */
} edges;

static edges edges_of(const frame *f) {
  return (edges){f->x0 + f->left, f->x0 + f->right, f->y0 + f->top, f->y0 + f->bottom};
}

static void grid_line(const frame *f, bool x, double value, const char *color, sni_text *out) {
  const edges e = edges_of(f);
  if (x) {
    line(out, place_x(f, value), e.top, place_x(f, value), e.bottom, color);
  } else {
    line(out, e.left, place_y(f, value), e.right, place_y(f, value), color);
  }
}

static void number(const frame *f, bool x, double value, sni_text *out) {
  const edges e = edges_of(f);
  char text[32];
  snprintf(text, sizeof text, "%.6g", value);
  if (x) {
    label(out, place_x(f, value), e.bottom + 16, "middle", "", text);
  } else {
    label(out, e.left - 6, place_y(f, value) + 4, "end", "", text);
  }
}

/* Whole decades with their numbers, and thin lines between them. */
static void decades(const frame *f, bool x, sni_text *out) {
  const axis *a = x ? &f->x : &f->y;
  for (double d = a->least; d <= a->most; d++) {
    for (int k = 1; k < 10 && (k == 1 || d < a->most); k++) {
      grid_line(f, x, k * pow(10, d), k == 1 ? "#bbbbbb" : "#eeeeee", out);
    }
    number(f, x, pow(10, d), out);
  }
}

static void ticks(const frame *f, bool x, sni_text *out) {
  const axis *a = x ? &f->x : &f->y;
  const double slack = 1e-9 * (a->most - a->least);
  for (double k = ceil((a->least - slack) / a->tick); k * a->tick <= a->most + slack; k++) {
    const double value = k == 0 ? 0 : k * a->tick; /* not -0 */
    grid_line(f, x, value, value == 0 ? "#bbbbbb" : "#e4e4e4", out);
    number(f, x, value, out);
  }
}

static void write_grid(const frame *f, const svg_style *style, sni_text *out) {
  const edges e = edges_of(f);
  char turned[96];
  for (int x = 1; x >= 0; x--) {
    if (style->log) {
      decades(f, x, out);
    } else {
      ticks(f, x, out);
    }
  }
  sni_text_add(out,
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
               "stroke=\"#666666\"/>\n",
               e.left, e.top, e.right - e.left, e.bottom - e.top);
  label(out, 0.5 * (e.left + e.right), e.bottom + 36, "middle", "", style->x_label);
  snprintf(turned, sizeof turned, " transform=\"rotate(-90 %.1f %.1f)\"", f->x0 + 14,
           0.5 * (e.top + e.bottom));
  label(out, f->x0 + 14, 0.5 * (e.top + e.bottom), "middle", turned, style->y_label);
}

static const char *color_of(const svg_series *s) {
  return colors[(size_t)s->color % (sizeof colors / sizeof *colors)];
}

static void point(const frame *f, const svg_series *s, int k, sni_text *out) {
  sni_text_add(out, "%s%.1f,%.1f", k ? " " : "", place_x(f, s->x[k]), place_y(f, s->y[k]));
}

/* Of points that follow each other within half a dot across the page, the first, the lowest, the
 * highest and the last are enough. */
static void write_points(const frame *f, const svg_series *s, sni_text *out) {
  for (int first = 0, last; first < s->count; first = last + 1) {
    const double from = place_x(f, s->x[first]);
    int low = first, high = first;
    for (last = first; last + 1 < s->count && fabs(place_x(f, s->x[last + 1]) - from) < 0.5;) {
      last++;
      low = s->y[last] < s->y[low] ? last : low;
      high = s->y[last] > s->y[high] ? last : high;
    }
    point(f, s, first, out);
    const int a = low < high ? low : high, b = low < high ? high : low;
    if (a > first) {
      point(f, s, a, out);
    }
    if (b > a && b > first) {
      point(f, s, b, out);
    }
    if (last > b) {
      point(f, s, last, out);
    }
  }
}

/* dashed: so that a curve below it shows through. */
static void write_curve(const frame *f, const svg_series *s, bool dashed, bool marks,
                        sni_text *out) {
  const char *color = color_of(s);
  sni_text_add(out,
               "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" "
               "stroke-linejoin=\"round\"%s points=\"",
               color, dashed ? " stroke-dasharray=\"7 5\"" : "");
  write_points(f, s, out);
  sni_text_add(out, "\"/>\n");
  for (int k = 0; k < s->count && marks; k++) {
    sni_text_add(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                 place_x(f, s->x[k]), place_y(f, s->y[k]), color);
  }
}

static void write_legend(const frame *f, const svg_style *style, const svg_series *s, int row,
                         sni_text *out) {
  const edges e = edges_of(f);
  const double x = style->beside ? e.right + 12 : e.left + 10;
  const double y = e.top + 16 + (style->beside ? 18 : 15) * row;
  char text[96];
  snprintf(text, sizeof text, "%.40s%s%s", s->name, s->note[0] ? "  " : "", s->note);
  if (!style->beside) {
    sni_text_add(out,
                 "<rect x=\"%.1f\" y=\"%.1f\" width=\"136\" height=\"15\" fill=\"white\" "
                 "fill-opacity=\"0.8\"/>\n",
                 x - 4, y - 12);
  }
  sni_text_add(out,
               "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
               "stroke-width=\"1.8\"/>\n",
               x, y - 4, x + 18, y - 4, color_of(s));
  label(out, x + 24, y, "start", "", text);
}

/* The first series lies on top: dashed, where there are marks to go by. */
static void write_panel(const svg_panel *p, const frame *f, const svg_style *style, sni_text *out) {
  int row = 0;
  label(out, f->x0 + 0.5 * (f->left + f->right), f->y0 + f->top - 10, "middle",
        " font-weight=\"bold\"", p->title);
  write_grid(f, style, out);
  for (int s = p->count - 1; s >= 0; s--) {
    if (p->series[s].count > 0) {
      write_curve(f, &p->series[s], s == 0 && style->marks, style->marks, out);
    }
  }
  for (int s = 0; s < p->count; s++) {
    if (p->series[s].count > 0) {
      write_legend(f, style, &p->series[s], row++, out);
    }
  }
}

void svg_write(const svg_panel *panel, int count, const svg_style *style, sni_text *out) {
  frame f;
  int shown = 0, drawn = 0;
  for (int k = 0; k < count; k++) {
    shown += frame_fit(&panel[k], style, &f);
  }
  const int rows = (shown + 1) / 2;
  const double width = style->width * (shown > 1 ? 2 : 1), height = HEAD + style->height * rows;
  sni_text_add(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
               "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               width, height, width, height);
  label(out, 0.5 * width, 26, "middle", " font-size=\"15\" font-weight=\"bold\"", style->title);
  for (int k = 0; k < count; k++) {
    if (frame_fit(&panel[k], style, &f)) {
      f.x0 = style->width * (drawn % 2);
      f.y0 = HEAD + style->height * (drawn / 2);
      write_panel(&panel[k], &f, style, out);
      drawn++;
    }
  }
  sni_text_add(out, "</svg>\n");
}
