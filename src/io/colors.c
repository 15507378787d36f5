/* colors.c: colours of bodies that have none of their own.  viewer/src/scene/palette.ts has the
 * same. */
#include "io/colors.h"

#include <math.h>
#include <stdlib.h>

#define HUE_DRIFT 0.17 /* of a turn, over a long branch */
enum {
  LONG = 4, /* bodies of a branch that is not                                       */
  HUES = 8  /* steps of the drift: few, so that bodies of one form can share meshes */
};

typedef struct limb {
  int weight; /* bodies that hang on it, itself included    */
  int heir;   /* heaviest child, -1: none                   */
  int branch, along;
  bool still;
} limb;

static const sn_vec3 ground = {0.596, 0.635, 0.686};

/* Told apart by most eyes, on light and on dark ground. */
static sn_vec3 palette(int branch) {
  static const sn_vec3 color[] = {
      {0.310, 0.498, 0.769}, {0.886, 0.451, 0.353}, {0.220, 0.627, 0.561}, {0.867, 0.639, 0.224},
      {0.545, 0.455, 0.784}, {0.800, 0.384, 0.565}, {0.475, 0.659, 0.306}, {0.290, 0.639, 0.812},
      {0.663, 0.498, 0.345}, {0.498, 0.541, 0.600}};
  return color[branch % (int)(sizeof color / sizeof *color)];
}

/* Hue, saturation and lightness, each from 0 to 1. */
static sn_vec3 to_hsl(sn_vec3 c) {
  const double most = fmax(c.x, fmax(c.y, c.z)), least = fmin(c.x, fmin(c.y, c.z));
  const double chroma = most - least, l = 0.5 * (most + least);
  if (!(chroma > 0)) {
    return (sn_vec3){0, 0, l};
  }
  const double h = most == c.x   ? fmod((c.y - c.z) / chroma + 6, 6)
                   : most == c.y ? (c.z - c.x) / chroma + 2
                                 : (c.x - c.y) / chroma + 4;
  return (sn_vec3){h / 6, chroma / (1 - fabs(2 * l - 1)), l};
}

static sn_vec3 from_hsl(sn_vec3 hsl) {
  const double a = hsl.y * fmin(hsl.z, 1 - hsl.z);
  double c[3];
  for (int k = 0; k < 3; k++) {
    const double at = fmod((k == 0 ? 0 : k == 1 ? 8 : 4) + 12 * hsl.x, 12);
    c[k] = hsl.z - a * fmax(-1, fmin(1, fmin(at - 3, 9 - at)));
  }
  return (sn_vec3){c[0], c[1], c[2]};
}

static sn_vec3 shifted(sn_vec3 color, double hue, double lightness) {
  const sn_vec3 hsl = to_hsl(color);
  const double l = fmin(1, fmax(0, hsl.z + lightness));
  return from_hsl((sn_vec3){fmod(hsl.x + hue + 1, 1), hsl.y, l});
}

static void weigh(const int *parent, int n, limb *l) {
  for (int k = 0; k < n; k++) {
    l[k].weight = 1;
    l[k].heir = -1;
  }
  for (int k = n - 1; k >= 0; k--) {
    if (parent[k] >= 0) {
      l[parent[k]].weight += l[k].weight;
    }
  }
  for (int k = 0; k < n; k++) {
    limb *p = parent[k] >= 0 ? &l[parent[k]] : NULL;
    if (p && (p->heir < 0 || l[k].weight > l[p->heir].weight)) {
      p->heir = k;
    }
  }
}

/* span: bodies of each branch. */
static void divide(const int *parent, const int *dofs, int n, limb *l, int *span) {
  int branches = 0;
  for (int k = 0; k < n; k++) {
    const limb *p = parent[k] >= 0 ? &l[parent[k]] : NULL;
    l[k].still = dofs[k] == 0 && (!p || p->still);
    const bool goes_on = p && !p->still && p->heir == k;
    l[k].along = goes_on ? p->along + 1 : 0;
    l[k].branch = goes_on ? p->branch : l[k].still ? -1 : branches++;
    if (l[k].branch >= 0) {
      span[l[k].branch]++;
    }
  }
}

sn_status sni_body_colors(const int *parent, const int *dofs, int n, sn_vec3 *out, sn_error *err) {
  limb *l = calloc((size_t)n + 1, sizeof *l);
  int *span = calloc((size_t)n + 1, sizeof *span);
  const bool good = l && span;
  if (good) {
    weigh(parent, n, l);
    divide(parent, dofs, n, l, span);
  }
  for (int k = 0; good && k < n; k++) {
    if (l[k].still) {
      out[k] = ground;
      continue;
    }
    const int length = span[l[k].branch];
    const int step = length > LONG ? HUES * l[k].along / length : 0;
    const double drift = HUE_DRIFT * step / HUES;
    out[k] = shifted(palette(l[k].branch), -drift, l[k].along % 2 == 0 ? 0.025 : -0.03);
  }
  free(l);
  free(span);
  return good ? SN_OK : sni_fail(err, SN_E_MEMORY, "no memory for colours");
}
