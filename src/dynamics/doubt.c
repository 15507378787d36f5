/* doubt.c: which rows count while gaps are open. */
#include "dynamics/doubt.h"

#include <math.h>

/* How much of a row is doubtful, in turns of the joints that close the gaps. */
#define DOUBT 5

static double length_of(sni_lane v) {
  return sqrt(sni_lane_dot(v, v));
}

double sni_doubt_turn(const sni_dynamics *d, const double *x) {
  const sni_tree *t = &d->m->tree;
  double link = 0, most = 0;
  for (int i = 0; i < t->nbody; i++) {
    link = t->parent[i] >= 0 ? fmax(link, length_of(d->w.r[i])) : link;
  }
  for (int i = 0; i < t->nbody; i++) {
    sni_lane6 twist = {0};
    for (int j = t->vadr[i]; j < t->vadr[i + 1]; j++) {
      twist = sni_lane6_addscaled(twist, x[j], d->w.S[j]);
    }
    const double slid = link > 0 ? length_of(twist.v) / link : 0;
    most = fmax(most, length_of(twist.w) + slid);
  }
  return most;
}

double sni_doubt_least(double turn) {
  return DOUBT * turn;
}

int sni_doubt_count(int sure, int n, const double *left, double least, double turn) {
  while (sure < n && left[sure] * least > DOUBT * turn) {
    least = fmin(least, left[sure++]);
  }
  return sure;
}

/* ---- of one constraint ---- */

/* A parent has the smaller number. */
int sni_doubt_meeting(const sni_tree *t, int a, int b) {
  while (a != b) {
    if (a > b) {
      a = t->parent[a];
    } else {
      b = t->parent[b];
    }
  }
  return a;
}

typedef struct ways { /* of a constraint's bodies */
  int body[2], meet;
  double lever; /* the longest link on them, or arm of a row */
} ways;

static ways find_ways(const sni_dynamics *d, const sni_row *row, int nrow) {
  const sni_tree *t = &d->m->tree;
  ways w = {{-1, -1}, -1, 0};
  for (int i = 0; i < nrow; i++) {
    for (int side = 0; side < 2; side++) {
      const sn_vec6 p = row[i].p[side];
      const double push = sn_vec3_norm(p.v);
      if (row[i].body[side] >= 0) {
        w.body[side] = row[i].body[side];
        w.lever = push > 0 ? fmax(w.lever, sn_vec3_norm(p.w) / push) : w.lever;
      }
    }
  }
  w.meet = sni_doubt_meeting(t, w.body[0], w.body[1]);
  for (int side = 0; side < 2; side++) {
    for (int b = w.body[side]; b != w.meet; b = t->parent[b]) {
      w.lever = t->parent[b] >= 0 ? fmax(w.lever, length_of(d->w.r[b])) : w.lever;
    }
  }
  return w;
}

/* The rows over the turns of the joints on their ways, slides being parts of the lever, and the
 * squares of what they could be if nothing cancelled.  Returns the number of columns. */
static int spread(const sni_dynamics *d, const ways *w, const sni_row *row, int nrow, sni_lines *G,
                  sni_lines *size) {
  const sni_tree *t = &d->m->tree;
  const double far = w->lever > 0 ? w->lever : 1;
  int n = 0;
  *size = (sni_lines){0};
  for (int side = 0; side < 2; side++) {
    sni_lane6 f[SNI_ROWS_MAX];
    for (int i = 0; i < nrow; i++) {
      const bool acts = row[i].body[side] >= 0 && !row[i].one_sided;
      f[i] = acts ? sni_lane6_from(row[i].p[side]) : (sni_lane6){0};
    }
    for (int b = w->body[side]; b != w->meet; b = t->parent[b]) {
      for (int j = t->vadr[b]; j < t->vadr[b + 1]; j++, n++) {
        const sni_lane6 S = d->w.S[j];
        const double turns = sni_lane_dot(S.w, S.w), slides = sni_lane_dot(S.v, S.v);
        const double unit = 1 / sqrt(turns + slides / (far * far));
        G[n] = (sni_lines){0};
        for (int i = 0; i < nrow; i++) {
          const double push = sni_lane_dot(f[i].v, f[i].v);
          const double turn = fmax(sni_lane_dot(f[i].w, f[i].w), far * far * push);
          G[n][i] = unit * sni_lane6_dot(S, f[i]);
          (*size)[i] += unit * unit * (turn * turns + push * slides);
        }
      }
      for (int i = 0; i < nrow; i++) {
        f[i].w += sni_lane_cross(d->w.r[b], f[i].v);
      }
    }
  }
  return n;
}

/* The largest turn of those that close the gaps of the rows of z. */
static double turn_to_close(const sni_row *row, const sni_compressed *z, const sni_lines *G,
                            int n) {
  double c[SNI_ROWS_MAX], y[SNI_ROWS_MAX], most = 0;
  for (int i = 0; i < z->nrow; i++) {
    c[i] = -sni_doubt_gap(&row[i]);
  }
  sni_compress_rhs(z, c, y);
  for (int j = 0; j < n; j++) {
    double x = 0;
    for (int k = 0; k < z->rank; k++) {
      x += G[j][z->order[k]] * y[k];
    }
    most = fmax(most, fabs(x));
  }
  return most;
}

static bool is_open(const sni_row *row, int nrow) {
  bool open = false;
  for (int i = 0; i < nrow; i++) {
    open = open || (fabs(sni_doubt_gap(&row[i])) > SNI_GAP_NOISE && !row[i].one_sided);
  }
  return open;
}

static bool over_coordinates(const sni_row *row, int nrow) {
  bool coords = false;
  for (int i = 0; i < nrow; i++) {
    coords = coords || row[i].ncoord > 0;
  }
  return coords;
}

/* What is left of each row after those that have more, over the n ways of its bodies; these in G.
 */
static sni_compressed compress(const sni_dynamics *d, const sni_row *row, int nrow, sni_lines *G,
                               int *n) {
  sni_compressed z;
  sni_lines size;
  const ways w = find_ways(d, row, nrow);
  *n = spread(d, &w, row, nrow, G, &size);
  sni_compress(G, nrow, *n, nrow, &size, &z);
  return z;
}

double sni_doubt_faintest(const sni_dynamics *d, const sni_row *row, int nrow, sni_lines *G,
                          int *which) {
  if (nrow < 1 || over_coordinates(row, nrow)) {
    return 1;
  }
  int n;
  const sni_compressed z = compress(d, row, nrow, G, &n);
  *which = z.rank > 0 ? z.order[z.rank - 1] : 0;
  return z.rank > 0 ? z.left[z.rank - 1] : 1;
}

unsigned sni_doubt_rows(const sni_dynamics *d, const sni_row *row, int nrow, sni_lines *G) {
  if (nrow < 2 || over_coordinates(row, nrow) || !is_open(row, nrow)) {
    return 0;
  }
  int n, sure = 0;
  sni_compressed z = compress(d, row, nrow, G, &n);
  while (sure < z.rank && z.left[sure] > SNI_DOUBTED) {
    sure++;
  }
  const int rank = z.rank;
  if (sure == rank) {
    return 0;
  }
  z.rank = sure;
  const double least = sure > 0 ? z.left[sure - 1] : 1, turn = turn_to_close(row, &z, G, n);
  const int believed = sni_doubt_count(sure, rank, z.left, least, turn);
  unsigned out = 0;
  for (int k = believed; k < nrow && believed < rank; k++) { /* they may depend on those, too */
    out |= 1u << z.order[k];
  }
  return out;
}
