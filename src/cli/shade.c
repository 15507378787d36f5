/* shade.c: samples into pixels. */
#include "cli/shade.h"

#include <math.h>
#include <stdlib.h>

enum {
  ACROSS = 3,     /* samples across a pixel, and down it                       */
  BAND = 96,      /* rows of pixels that are made at a time                    */
  SHADOW = 2048,  /* samples of the shadow map across                          */
  SHADOW_TAPS = 4 /* looks into it across, and down                            */
};
#define SHADOW_REACH 1.6 /* half its width, in sizes of the mechanism         */
#define SHADOW_SOFT  4.0 /* samples of the map over which an edge goes         */

typedef struct rgb {
  double r, g, b;
} rgb;

typedef struct theme {
  rgb sky, haze, grid; /* linear */
  double grid_strength, shadow, ambient, sun;
} theme;

typedef struct scene {
  const cli_stage *stage;
  const cli_triangles *t;
  theme theme;
  sn_vec3 to_sun;
  cli_lens sun;
  cli_samples shadow;
} scene;

double cli_to_linear(double s) {
  return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}
double cli_to_srgb(double l) {
  return l <= 0.0031308 ? 12.92 * l : 1.055 * pow(l, 1 / 2.4) - 0.055;
}

static rgb hex(unsigned c) {
  return (rgb){cli_to_linear((c >> 16) / 255.0), cli_to_linear((c >> 8 & 255) / 255.0),
               cli_to_linear((c & 255) / 255.0)};
}
static rgb mix(rgb a, rgb b, double share) {
  return (rgb){a.r + share * (b.r - a.r), a.g + share * (b.g - a.g), a.b + share * (b.b - a.b)};
}
static rgb scale(rgb a, double s) {
  return (rgb){a.r * s, a.g * s, a.b * s};
}

static theme make_theme(bool dark) {
  return dark ? (theme){hex(0x12161c), hex(0x1c222b), hex(0x93a7c2), 0.22, 0.55, 0.42, 0.75}
              : (theme){hex(0xeef1f5), hex(0xffffff), hex(0x5a6b80), 0.32, 0.30, 0.46, 0.72};
}

/* ---- the sun ---- */

static sn_vec3 unit(sn_vec3 a) {
  return sn_vec3_scale(a, 1 / sn_vec3_norm(a));
}

static void aim_sun(scene *s) {
  const double reach = SHADOW_REACH * s->stage->size;
  s->to_sun = unit((sn_vec3){0.55, 1.6, 0.75});
  const sn_vec3 right = unit(sn_vec3_cross((sn_vec3){0, 1, 0}, s->to_sun));
  s->sun = (cli_lens){.eye = sn_vec3_addscaled(s->stage->centre, 4 * reach, s->to_sun),
                      .right = right,
                      .up = sn_vec3_cross(s->to_sun, right),
                      .back = s->to_sun,
                      .focal = SHADOW / (2 * reach),
                      .cx = SHADOW / 2.0,
                      .cy = SHADOW / 2.0,
                      .parallel = true};
}

static bool is_shaded(const scene *s, double x, double y, double depth) {
  const int column = (int)x, row = (int)y;
  if (!(x >= 0 && y >= 0 && column < SHADOW && row < SHADOW)) {
    return false;
  }
  return (double)s->shadow.depth[(size_t)row * SHADOW + (size_t)column] > depth;
}

/* Share of the sun that does not reach x; bias: how much nearer to the sun counts as the same. */
static double shade_at(const scene *s, sn_vec3 x, double bias) {
  const sn_vec3 p = cli_lens_project(&s->sun, x);
  int count = 0;
  for (int i = 0; i < SHADOW_TAPS; i++) {
    for (int j = 0; j < SHADOW_TAPS; j++) {
      /* the square of looks is turned, so that its sides do not show on straight edges */
      const double u = ((i + 0.5) / SHADOW_TAPS - 0.5) * SHADOW_SOFT;
      const double v = ((j + 0.5) / SHADOW_TAPS - 0.5) * SHADOW_SOFT;
      count += is_shaded(s, p.x + 0.89 * u - 0.45 * v, p.y + 0.45 * u + 0.89 * v, p.z + bias);
    }
  }
  return count / (double)(SHADOW_TAPS * SHADOW_TAPS);
}

/* ---- what is behind the triangles ---- */

/* The direction in which a place of the picture looks, with a part 1 along -back. */
static sn_vec3 direction(const cli_lens *lens, double x, double y) {
  const sn_vec3 d =
      sn_vec3_addscaled(sn_vec3_neg(lens->back), (x - lens->cx) / lens->focal, lens->right);
  return sn_vec3_addscaled(d, (lens->cy - y) / lens->focal, lens->up);
}

/* Distance to the ground along d; INFINITY: it is not seen there. */
static double ground_distance(const cli_stage *stage, sn_vec3 d) {
  const double t = (stage->level - stage->lens.eye.y) / d.y;
  return t > 0 ? t : INFINITY;
}

/* How much of a pixel lines at whole numbers cover, if it is as wide as this. */
static double line_share(double x, double width) {
  const double off = fabs(x - floor(x + 0.5));
  const double sharp = fmax(0, 1 - off / fmax(width, 1e-9));
  return sharp * fmax(0, 1 - width / 0.45); /* where lines come together they fade */
}

static double grid_share(const cli_stage *stage, sn_vec3 p, sn_vec3 beside, double cell) {
  const double wx = fabs(beside.x - p.x) / cell, wz = fabs(beside.z - p.z) / cell;
  return fmax(line_share(p.x / cell, wx), line_share(p.z / cell, wz)) * (stage->size > 0);
}

static double smooth(double a, double b, double x) {
  const double s = fmin(1, fmax(0, (x - a) / (b - a)));
  return s * s * (3 - 2 * s);
}

static rgb background(const scene *s, int column, int row) {
  const cli_stage *stage = s->stage;
  const double x = column + 0.5, y = row + 0.5;
  const sn_vec3 d = direction(&stage->lens, x, y);
  const double t = ground_distance(stage, d);
  const rgb sky = mix(s->theme.sky, s->theme.haze, smooth(-0.35, 0.5, unit(d).y));
  if (!isfinite(t)) {
    return sky;
  }
  const sn_vec3 p = sn_vec3_addscaled(stage->lens.eye, t, d);
  const double away = hypot(p.x - stage->centre.x, p.z - stage->centre.z) / stage->size;
  const double fade = 1 - smooth(1.5, 9, away);
  /* the next pixel, to the right and down: how wide one is on the ground */
  const sn_vec3 dr = direction(&stage->lens, x + 1, y), dd = direction(&stage->lens, x, y + 1);
  const sn_vec3 r = sn_vec3_addscaled(stage->lens.eye, ground_distance(stage, dr), dr);
  const sn_vec3 b = sn_vec3_addscaled(stage->lens.eye, ground_distance(stage, dd), dd);
  const sn_vec3 beside = {p.x + fabs(r.x - p.x) + fabs(b.x - p.x), p.y,
                          p.z + fabs(r.z - p.z) + fabs(b.z - p.z)};
  const double lines = fmax(0.5 * grid_share(stage, p, beside, stage->cell),
                            grid_share(stage, p, beside, 10 * stage->cell));
  const rgb ground = mix(sky, s->theme.grid, lines * fade * s->theme.grid_strength);
  return scale(ground, 1 - s->theme.shadow * shade_at(s, p, 1e-3 * stage->size));
}

/* ---- triangles ---- */

static sn_vec3 corner(const float x[3]) {
  return (sn_vec3){(double)x[0], (double)x[1], (double)x[2]};
}

/* The normal of a triangle at a point of it, by its distance from the sides. */
static sn_vec3 normal_at(const cli_triangle *t, sn_vec3 p) {
  const sn_vec3 a = corner(t->x[0]), b = corner(t->x[1]), c = corner(t->x[2]);
  const sn_vec3 face = sn_vec3_cross(sn_vec3_sub(b, a), sn_vec3_sub(c, a));
  const double all = sn_vec3_dot(face, face);
  const double v = sn_vec3_dot(face, sn_vec3_cross(sn_vec3_sub(c, p), sn_vec3_sub(a, p))) / all;
  const double w = sn_vec3_dot(face, sn_vec3_cross(sn_vec3_sub(a, p), sn_vec3_sub(b, p))) / all;
  sn_vec3 n = sn_vec3_scale(corner(t->n[0]), 1 - v - w);
  n = sn_vec3_addscaled(sn_vec3_addscaled(n, v, corner(t->n[1])), w, corner(t->n[2]));
  return unit(n);
}

static rgb lit(const scene *s, const cli_triangle *t, sn_vec3 p, sn_vec3 to_eye) {
  sn_vec3 n = normal_at(t, p);
  if (sn_vec3_dot(n, to_eye) < 0) { /* the inside of something open */
    n = sn_vec3_neg(n);
  }
  const double facing = sn_vec3_dot(n, s->to_sun);
  double sun = 0, gleam = 0;
  if (facing > 0) {
    const double size = s->stage->size;
    const sn_vec3 off = sn_vec3_addscaled(p, 0.006 * size, n);
    const double light = 1 - shade_at(s, off, 0.004 * size);
    sun = s->theme.sun * facing * light;
    gleam = 0.10 * light * pow(fmax(0, sn_vec3_dot(n, unit(sn_vec3_add(to_eye, s->to_sun)))), 48);
  }
  const double sky = s->theme.ambient * (0.72 + 0.28 * n.y) + 0.08 * (1 - n.y);
  const double light = sun + sky;
  return (rgb){(double)t->color[0] * light + gleam, (double)t->color[1] * light + gleam,
               (double)t->color[2] * light + gleam};
}

/* ---- pixels ---- */

/* samples: of the band that begins at row `first`; lens: for samples. */
static rgb pixel(const scene *s, const cli_samples *samples, const cli_lens *lens, int column,
                 int row) {
  rgb sum = {0};
  int open = 0;
  for (int k = 0; k < ACROSS * ACROSS; k++) {
    const int x = ACROSS * column + k % ACROSS, y = ACROSS * row + k / ACROSS;
    const size_t at = (size_t)y * (size_t)samples->width + (size_t)x;
    if (samples->seen[at] == CLI_NOTHING) {
      open++;
      continue;
    }
    if (samples->seen[at] >= s->t->solid) {
      const float *mark = s->t->item[samples->seen[at]].color;
      sum = (rgb){sum.r + (double)mark[0], sum.g + (double)mark[1], sum.b + (double)mark[2]};
      continue;
    }
    const sn_vec3 d = direction(lens, x + 0.5, y + samples->top + 0.5);
    const sn_vec3 p = sn_vec3_addscaled(lens->eye, 1 / (double)samples->depth[at], d);
    const rgb c = lit(s, &s->t->item[samples->seen[at]], p, unit(sn_vec3_neg(d)));
    sum = (rgb){sum.r + c.r, sum.g + c.g, sum.b + c.b};
  }
  if (open > 0) {
    const rgb c = background(s, column, row + samples->top / ACROSS);
    sum = (rgb){sum.r + open * c.r, sum.g + open * c.g, sum.b + open * c.b};
  }
  return scale(sum, 1.0 / (ACROSS * ACROSS));
}

static unsigned char byte(double linear) {
  return (unsigned char)(255 * fmin(1, fmax(0, cli_to_srgb(linear))) + 0.5);
}

static void make_band(const scene *s, cli_samples *samples, int first, int rows, cli_picture *out) {
  cli_lens lens = s->stage->lens;
  lens.focal *= ACROSS;
  lens.cx *= ACROSS;
  lens.cy *= ACROSS;
  samples->top = ACROSS * first;
  samples->height = ACROSS * rows;
  cli_samples_clear(samples);
  cli_raster(samples, &lens, s->t);
  for (int row = 0; row < rows; row++) {
    unsigned char *rgb_out = out->rgb + 3 * (size_t)(first + row) * (size_t)out->width;
    for (int column = 0; column < out->width; column++) {
      const rgb c = pixel(s, samples, &lens, column, row);
      *rgb_out++ = byte(c.r);
      *rgb_out++ = byte(c.g);
      *rgb_out++ = byte(c.b);
    }
  }
}

sn_status cli_shade(const cli_stage *stage, const cli_triangles *t, cli_picture *out,
                    sn_error *err) {
  scene s = {.stage = stage, .t = t, .theme = make_theme(stage->dark)};
  cli_samples samples = {.width = ACROSS * out->width};
  const size_t n = (size_t)samples.width * ACROSS * BAND;
  samples.depth = malloc(n * sizeof *samples.depth);
  samples.seen = malloc(n * sizeof *samples.seen);
  s.shadow = (cli_samples){.width = SHADOW, .height = SHADOW};
  s.shadow.depth = malloc((size_t)SHADOW * SHADOW * sizeof *s.shadow.depth);
  const bool good = samples.depth && samples.seen && s.shadow.depth;
  if (good) {
    aim_sun(&s);
    cli_samples_clear(&s.shadow);
    cli_raster(&s.shadow, &s.sun, t);
    for (int first = 0; first < out->height; first += BAND) {
      const int rest = out->height - first;
      make_band(&s, &samples, first, rest < BAND ? rest : BAND, out);
    }
  }
  free(samples.depth);
  free(samples.seen);
  free(s.shadow.depth);
  return good ? SN_OK : sni_fail(err, SN_E_MEMORY, "no memory for a picture");
}
