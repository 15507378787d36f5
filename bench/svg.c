/* svg.c: plots with logarithmic axes, several beside one another, as SVG. */
#include "bench/svg.h"

#include <math.h>
#include <stdio.h>

#define WIDTH  460.0 /* of a panel, with its margins */
#define HEIGHT 360.0
#define LEFT   76.0
#define RIGHT  30.0
#define TOP    36.0
#define BOTTOM 48.0
#define HEAD   40.0 /* title of the whole */

static const char *const colors[] = {"#c1272d", "#1b62a5", "#2e8540", "#8a5cb0",
                                     "#b8860b", "#444444", "#0e8f8f", "#d4558f"};

void svg_add(svg_series *s, double x, double y) {
  if (s->count < SVG_POINTS_MAX && x > 0 && y > 0) {
    s->x[s->count] = x;
    s->y[s->count++] = y;
  }
}

/* Decades of the axes, as powers of ten, and where they are on the page. */
typedef struct frame {
  double x0, y0; /* upper left corner of the panel */
  int x_least, x_most, y_least, y_most;
} frame;

static double place_x(const frame *f, double x) {
  return f->x0 + LEFT + (log10(x) - f->x_least) / (f->x_most - f->x_least) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const frame *f, double y) {
  return f->y0 + HEIGHT - BOTTOM -
         (log10(y) - f->y_least) / (f->y_most - f->y_least) * (HEIGHT - TOP - BOTTOM);
}

static bool frame_fit(const svg_panel *p, frame *f) {
  double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
  for (int s = 0; s < p->count; s++) {
    for (int k = 0; k < p->series[s].count; k++) {
      const double at[2] = {log10(p->series[s].x[k]), log10(p->series[s].y[k])};
      for (int c = 0; c < 2; c++) {
        least[c] = fmin(least[c], at[c]);
        most[c] = fmax(most[c], at[c]);
      }
    }
  }
  if (!(least[0] < most[0])) { /* nothing, or one size only */
    return false;
  }
  f->x_least = (int)floor(least[0] - 0.02);
  f->x_most = (int)ceil(most[0] + 0.02);
  f->y_least = (int)floor(least[1] - 0.02);
  f->y_most = (int)ceil(most[1] + 0.02);
  return true;
}

static void line(sni_text *out, double x0, double y0, double x1, double y1, const char *color) {
  sni_text_add(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0,
               y0, x1, y1, color);
}

static void label(sni_text *out, double x, double y, const char *anchor, const char *style,
                  const char *text) {
  sni_text_add(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor,
               style, text);
}

/* Whole decades with their numbers, and thin lines between them. */
static void write_grid(const frame *f, const char *x_label, const char *y_label, sni_text *out) {
  const double left = f->x0 + LEFT, right = f->x0 + WIDTH - RIGHT;
  const double top = f->y0 + TOP, bottom = f->y0 + HEIGHT - BOTTOM;
  char text[96];
  for (int d = f->x_least; d <= f->x_most; d++) {
    for (int k = 1; k < 10 && (k == 1 || d < f->x_most); k++) {
      const double x = place_x(f, k * pow(10, d));
      line(out, x, top, x, bottom, k == 1 ? "#bbbbbb" : "#eeeeee");
    }
    snprintf(text, sizeof text, "%g", pow(10, d));
    label(out, place_x(f, pow(10, d)), bottom + 16, "middle", "", text);
  }
  for (int d = f->y_least; d <= f->y_most; d++) {
    for (int k = 1; k < 10 && (k == 1 || d < f->y_most); k++) {
      const double y = place_y(f, k * pow(10, d));
      line(out, left, y, right, y, k == 1 ? "#bbbbbb" : "#eeeeee");
    }
    snprintf(text, sizeof text, "%g", pow(10, d));
    label(out, left - 6, place_y(f, pow(10, d)) + 4, "end", "", text);
  }
  sni_text_add(out,
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
               "stroke=\"#666666\"/>\n",
               left, top, right - left, bottom - top);
  label(out, 0.5 * (left + right), bottom + 36, "middle", "", x_label);
  snprintf(text, sizeof text, " transform=\"rotate(-90 %.1f %.1f)\"", f->x0 + 14,
           0.5 * (top + bottom));
  label(out, f->x0 + 14, 0.5 * (top + bottom), "middle", text, y_label);
}

static const char *color_of(const svg_series *s) {
  return colors[(size_t)s->color % (sizeof colors / sizeof *colors)];
}

/* The first series lies on top, dashed, so that one below it shows through. */
static void write_curve(const frame *f, const svg_series *s, bool dashed, sni_text *out) {
  const char *color = color_of(s);
  sni_text_add(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s points=\"", color,
               dashed ? " stroke-dasharray=\"7 5\"" : "");
  for (int k = 0; k < s->count; k++) {
    sni_text_add(out, "%s%.1f,%.1f", k ? " " : "", place_x(f, s->x[k]), place_y(f, s->y[k]));
  }
  sni_text_add(out, "\"/>\n");
  for (int k = 0; k < s->count; k++) {
    sni_text_add(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                 place_x(f, s->x[k]), place_y(f, s->y[k]), color);
  }
}

static void write_legend(const frame *f, const svg_series *s, int row, sni_text *out) {
  const char *color = color_of(s);
  const double x = f->x0 + LEFT + 10, y = f->y0 + TOP + 16 + 15 * row;
  sni_text_add(out,
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"136\" height=\"15\" fill=\"white\" "
               "fill-opacity=\"0.8\"/>\n",
               x - 4, y - 12);
  sni_text_add(out,
               "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
               "stroke-width=\"1.8\"/>\n",
               x, y - 4, x + 18, y - 4, color);
  sni_text_add(out, "<text x=\"%.1f\" y=\"%.1f\">%s%s%s</text>\n", x + 24, y, s->name,
               s->note[0] ? "  " : "", s->note);
}

static void write_panel(const svg_panel *p, const frame *f, const char *x_label,
                        const char *y_label, sni_text *out) {
  label(out, f->x0 + 0.5 * (LEFT + WIDTH - RIGHT), f->y0 + TOP - 10, "middle",
        " font-weight=\"bold\"", p->title);
  write_grid(f, x_label, y_label, out);
  int row = 0;
  for (int s = p->count - 1; s >= 0; s--) {
    if (p->series[s].count > 0) {
      write_curve(f, &p->series[s], s == 0, out);
    }
  }
  for (int s = 0; s < p->count; s++) {
    if (p->series[s].count > 0) {
      write_legend(f, &p->series[s], row++, out);
    }
  }
}

void svg_write(const svg_panel *panel, int count, const char *title, const char *x_label,
               const char *y_label, sni_text *out) {
  frame f;
  int shown = 0, drawn = 0;
  for (int k = 0; k < count; k++) {
    shown += frame_fit(&panel[k], &f);
  }
  const int rows = (shown + 1) / 2;
  const double width = WIDTH * (shown > 1 ? 2 : 1), height = HEAD + HEIGHT * rows;
  sni_text_add(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
               "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               width, height, width, height);
  label(out, 0.5 * width, 26, "middle", " font-size=\"15\" font-weight=\"bold\"", title);
  for (int k = 0; k < count; k++) {
    if (frame_fit(&panel[k], &f)) {
      const int row = drawn / 2, column = drawn % 2;
      f.x0 = WIDTH * column;
      f.y0 = HEAD + HEIGHT * row;
      write_panel(&panel[k], &f, x_label, y_label, out);
      drawn++;
    }
  }
  sni_text_add(out, "</svg>\n");
}
