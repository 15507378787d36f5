/* rub_stress.c: who bears what several joints could bear.
 *
 * A door hangs on two hinges though one would hold it: rows of the second one depend on others.
 * Multipliers lambda + z do the same to the coordinates for every z with
 *
 *     G^T z = 0
 *
 * and the solve that finds lambda takes any of them: one in which the lower hinge bears all, say,
 * and the moment of the door makes its pin rub as if there were no other.  What z does is to press
 * joints against each other (self-stress).  Of all that move alike, that is taken in which contacts
 * bear least, all together:
 *
 *     min sum over joints of e |alpha|^2/n,     |alpha|^2 = w^T (N^T N)^-1 w,     w = w_0 + D c
 *
 * the columns of D being what the z make joints bear (bearing.h).  n is what contacts of the joint
 * bore in the step before, so that from step to step this becomes the least sum of loads; for that
 * e |alpha|^2 has to go with the square of what they bear, e = (sum |alpha|)^2/|alpha|^2, under a
 * load across the joint and by that of a pin: else one with many contacts would be cheaper than one
 * with few.  The least sum of squares would have legs of a walker hold its shafts upright, through
 * one pin after the other, each of which then rubs: loads take the shortest way instead.  In a step
 * it is linear in the loads.
 *
 * A linkage that is stretched out straight has such a z, too: it may be pressed together lengthwise
 * at will.  But it is never quite straight; loops are closed to 1e-9 m, so it sags by the root of
 * that, and the weight of bars that no z holds makes loads of W/1e-4 and more of the sag that there
 * happens to be.  So z with g = G^T z that is nearly 0 take part, at the cost of (g/LOOSE)^2: loads
 * that come of a smaller sag go back to those of a straight linkage, others are left as they are,
 * but for some (LOOSE/sag)^2 of them.
 *
 * Only loops with surfaces take part: of others nobody knows how they would share. */
#include "math/dense.h"
#include "methods/redmax/rub.h"

#include <string.h>

/* What is left of a row, below this part of it, may depend on others; so may a row below this part
 * of the largest.  By how much less than LOOSE, by so much it does. */
#define NEARLY 1e-2
#define LOOSE  3e-4
/* A row below this part of the largest moves nothing: out of the plane of a planar mechanism. */
#define NOTHING 1e-12
/* Joints that bear less than this part of the most count as if they did bear that. */
#define LEAST 1e-3
/* Added to the matrix, in which every z has 1: where two z load contacts alike, any share of them
 * will do. */
#define LITTLE 1e-13

static bool has_surfaces(const sni_rub *rub) {
  return rub->law == SNI_COULOMB;
}

int sni_rubbing_stress_rows(const sn_model *m) {
  const int rows_of_loop = 6;
  int n = 0;
  for (int k = 0; k < m->nrub; k++) {
    n += m->rub[k].loop >= 0 && has_surfaces(&m->rub[k]) ? rows_of_loop : 0;
  }
  return n;
}

static bool is_force(const sni_row *row) {
  return sn_vec3_norm(row->p[0].v) > 0 || sn_vec3_norm(row->p[1].v) > 0;
}
static bool is_slide(const sni_rubbing *r, int c) {
  const sni_lane6 S = r->s->d->w.S[c];
  return sn_vec3_norm(sni_lane_vec3(S.w)) == 0;
}

/* Rows of forces are lengths where coordinates turn, rows of torques are none.  By the longest of
 * these lengths in each mechanism all are alike, whatever its size: r->stress.alike is what rows
 * are multiplied with, and what is about coordinates that turn becomes a force. */
static void make_alike(sni_rubbing *r, int n) {
  const int nv = r->s->t->nv;
  double *length = r->heaviest;
  memset(length, 0, (size_t)r->s->t->nbody * sizeof *length);
  for (int i = 0; i < n; i++) {
    double *own = &length[r->mechanism[r->stress.of[i]]];
    for (int c = 0; c < nv && is_force(&r->rows->row[r->stress.row[i]]); c++) {
      *own = is_slide(r, c) ? *own : fmax(*own, fabs(r->stress.G[i * nv + c]));
    }
  }
  for (int i = 0; i < n; i++) {
    double own = length[r->mechanism[r->stress.of[i]]];
    own = own > 0 ? own : 1;
    r->stress.alike[i] = is_force(&r->rows->row[r->stress.row[i]]) ? 1 : own;
    for (int c = 0; c < nv; c++) {
      r->stress.G[i * nv + c] *= r->stress.alike[i] / (is_slide(r, c) ? 1 : own);
    }
  }
}

/* Rows of loops with surfaces, over the coordinates, with 1 for the largest number of each; T has
 * what they are made of.  How many there are. */
static int find_rows(sni_rubbing *r) {
  const int nv = r->s->t->nv, most = r->stress.most;
  const double *alike = r->stress.alike;
  int n = 0;
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    for (int i = r->loop_row[2 * k];
         rub->loop >= 0 && has_surfaces(rub) && i < r->loop_row[2 * k + 1]; i++) {
      r->stress.of[n] = k;
      r->stress.row[n++] = i;
    }
  }
  memset(r->stress.T, 0, (size_t)most * (size_t)most * sizeof *r->stress.T);
  for (int i = 0; i < n; i++) {
    sni_rows_column(r->rows, r->stress.row[i], r->stress.G + (size_t)i * (size_t)nv);
  }
  make_alike(r, n);
  for (int i = 0; i < n; i++) {
    double *G = r->stress.G + (size_t)i * (size_t)nv, own = 0;
    for (int c = 0; c < nv; c++) {
      own = fmax(own, fabs(G[c]));
    }
    const bool moves = own > NOTHING;
    const double scale = own > NEARLY || !moves ? own : 1;
    for (int c = 0; c < nv; c++) {
      G[c] = moves ? G[c] / scale : 0;
    }
    r->stress.T[(size_t)i * (size_t)(most + 1)] = moves ? alike[i] / scale : alike[i];
  }
  return n;
}

static void exchange(double *a, double *b, int n) {
  for (int i = 0; i < n; i++) {
    const double x = a[i];
    a[i] = b[i];
    b[i] = x;
  }
}

/* The column of the largest of n numbers, whose size is *most. */
static int largest_of(const double *x, int n, double *most) {
  int at = 0;
  *most = 0;
  for (int c = 0; c < n; c++) {
    if (fabs(x[c]) > *most) {
      *most = fabs(x[c]);
      at = c;
    }
  }
  return at;
}

/* x -= f y */
static void subtract(double *x, double f, const double *y, int n) {
  for (int i = 0; i < n; i++) {
    x[i] -= f * y[i];
  }
}

/* Elimination with the largest pivot first, until only rows that depend on others are left: what
 * these are made of does nothing.  The rank. */
static int eliminate(sni_rubbing *r, int n) {
  const int nv = r->s->t->nv, most = r->stress.most;
  double *G = r->stress.G, *T = r->stress.T, *size = r->stress.c;
  for (int i = 0; i < n; i++) {
    largest_of(G + i * nv, nv, &size[i]);
  }
  for (int k = 0; k < n; k++) {
    double pivot;
    const int row = k + largest_of(size + k, n - k, &pivot);
    if (!(pivot > NEARLY)) {
      return k;
    }
    exchange(G + k * nv, G + row * nv, row == k ? 0 : nv);
    exchange(T + k * most, T + row * most, row == k ? 0 : n);
    exchange(size + k, size + row, row == k ? 0 : 1);
    const int column = largest_of(G + k * nv, nv, &pivot);
    for (int i = k + 1; i < n; i++) {
      const double f = G[i * nv + column] / G[k * nv + column];
      if (f != 0) {
        subtract(G + i * nv, f, G + k * nv, nv);
        subtract(T + i * most, f, T + k * most, n);
        largest_of(G + i * nv, nv, &size[i]);
      }
    }
  }
  return n;
}

/* (N^T N)^-1 w of all bearings of a joint, across the ways in which they slide.  evenly: times e,
 * and as often as there are bearings, which bear the same. */
static sn_vec6 give_way(const sni_rub *rub, bool evenly, sn_vec6 load) {
  sn_vec6 sum = {{0, 0, 0}, {0, 0, 0}};
  for (int b = 0; b < rub->nbearing; b++) {
    const sni_bearing *own = &rub->bearing[b];
    sn_vec6 w = load;
    for (int c = 0; c < own->ndirection; c++) {
      w = sn_vec6_addscaled(w, -sn_vec6_dot(w, own->direction[c]), own->direction[c]);
    }
    const sn_vec6 y = sni_bearing_press(own, NULL, w);
    sum = sn_vec6_addscaled(sum, evenly ? own->evenness * rub->nbearing : 1, y);
  }
  return sum;
}

/* Over the joints that bear anything of the i-th z. */
static double dot(const sni_rubbing *r, int i, const sn_vec6 *a, const sn_vec6 *b) {
  const int *which = r->stress.which + i * r->m->nrub;
  double sum = 0;
  for (int k = 0; k < r->stress.count[i]; k++) {
    sum += sn_vec6_dot(a[which[k]], b[which[k]]);
  }
  return sum;
}

/* What the i-th z makes joints bear, D. */
static void load_joints(sni_rubbing *r, int i, const double *z, int nrow) {
  const int nrub = r->m->nrub;
  int *which = r->stress.which + i * nrub, *count = &r->stress.count[i];
  sn_vec6 *D = r->stress.D + i * nrub;
  memset(r->dlambda, 0, (size_t)r->m->nrow * sizeof *r->dlambda);
  for (int k = 0; k < nrow; k++) {
    r->dlambda[r->stress.row[k]] = z[k];
  }
  memset(r->dforce, 0, (size_t)r->m->nslide * sizeof *r->dforce);
  sni_rubbing_bear_alone(r, r->dlambda, r->dforce, D);
  *count = 0;
  for (int k = 0; k < nrub; k++) {
    if (sn_vec6_dot(D[k], D[k]) > 0) {
      which[(*count)++] = k;
    }
  }
}

/* What the i-th z still does to the coordinates. */
static double *left_of(const sni_rubbing *r, int i) {
  return r->stress.G + (size_t)(r->stress.rank + i) * (size_t)r->s->t->nv;
}

/* How the i-th way gives way, Y, in units in which D Y is 1; and how many of them are one in which
 * that would be 1 with e = 1. */
static void find_answer(sni_rubbing *r, int i) {
  const int nrub = r->m->nrub;
  sn_vec6 *D = r->stress.D + i * nrub, *Y = r->stress.Y + i * nrub;
  double plain = 0;
  memset(Y, 0, (size_t)nrub * sizeof *Y);
  for (int j = 0; j < r->stress.count[i]; j++) {
    const int k = r->stress.which[i * nrub + j];
    Y[k] = sn_vec6_scale(give_way(&r->m->rub[k], true, D[k]), r->stress.weight[k]);
    plain += r->stress.weight[k] * sn_vec6_dot(D[k], give_way(&r->m->rub[k], false, D[k]));
  }
  const double all = dot(r, i, D, Y), scale = all > 0 ? 1 / sqrt(all) : 0;
  for (int k = 0; k < nrub; k++) {
    D[k] = sn_vec6_scale(D[k], scale);
    Y[k] = sn_vec6_scale(Y[k], scale);
  }
  double *g = left_of(r, i);
  for (int c = 0; c < r->s->t->nv; c++) {
    g[c] *= scale;
  }
  r->stress.plain[i] = plain > 0 ? sqrt(all / plain) : 0;
}

/* (g/LOOSE)^2 of two ways, in units for e = 1, as how straight a linkage is has nothing to do with
 * its contacts; g by the step, so that it is a force as D is. */
static double stiffness(const sni_rubbing *r, int i, int j) {
  const double *a = left_of(r, i), *b = left_of(r, j);
  double sum = 0;
  for (int c = 0; c < r->s->t->nv; c++) {
    sum += a[c] * b[c];
  }
  const double unit = LOOSE * r->s->h;
  return r->stress.plain[i] * r->stress.plain[j] * sum / (unit * unit);
}

/* The matrix of all ways, with the weights that there are. */
static void weigh_ways(sni_rubbing *r) {
  const int n = r->stress.ways, nrub = r->m->nrub;
  double *M = r->stress.M;
  for (int i = 0; i < n; i++) {
    find_answer(r, i);
    for (int j = 0; j < i; j++) {
      M[i * n + j] = M[j * n + i] =
          dot(r, i, r->stress.D + i * nrub, r->stress.Y + j * nrub) + stiffness(r, i, j);
    }
    M[i * n + i] = 1 + LITTLE + stiffness(r, i, i);
  }
  r->stress.n = n > 0 && sni_cholesky(n, M, 0, NULL) ? n : 0;
}

void sni_rubbing_weigh_stress(sni_rubbing *r, const double *normal) {
  memset(r->heaviest, 0, (size_t)r->s->t->nbody * sizeof *r->heaviest);
  for (int k = 0; k < r->m->nrub; k++) {
    double *most = &r->heaviest[r->mechanism[k]];
    *most = fmax(*most, normal[k]);
  }
  for (int k = 0; k < r->m->nrub; k++) {
    const double most = r->heaviest[r->mechanism[k]];
    r->stress.weight[k] = most > 0 ? 1 / fmax(normal[k] / most, LEAST) : 1;
  }
  weigh_ways(r);
}

void sni_rubbing_find_stress(sni_rubbing *r) {
  r->stress.n = r->stress.ways = 0;
  if (r->stress.most == 0 || r->pad) {
    return;
  }
  const int nrow = find_rows(r), rank = eliminate(r, nrow);
  r->stress.rank = rank;
  r->stress.ways = nrow - rank;
  for (int i = 0; i < r->stress.ways; i++) {
    load_joints(r, i, r->stress.T + (rank + i) * r->stress.most, nrow);
  }
  sni_rubbing_weigh_stress(r, r->normal);
}

void sni_rubbing_relieve(const sni_rubbing *r, sn_vec6 *load) {
  const int n = r->stress.n, nrub = r->m->nrub;
  double *c = r->stress.c;
  for (int i = 0; i < n; i++) {
    c[i] = dot(r, i, r->stress.Y + i * nrub, load);
  }
  if (n > 0) {
    sni_cholesky_solve(n, r->stress.M, c);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < r->stress.count[i]; j++) {
      const int k = r->stress.which[i * nrub + j];
      load[k] = sn_vec6_addscaled(load[k], -c[i], r->stress.D[i * nrub + k]);
    }
  }
}
