/* ldl_systems.h: sparse symmetric systems of blocks for tests: random ones, and those of
 * mechanisms; their dense matrix, and its solution by Gauss in long double. */
#ifndef SINEW_LDL_SYSTEMS_H
#define SINEW_LDL_SYSTEMS_H

#include "test.h"

#include "linear/block_ldl.h"

/* ---- a system ---- */

enum { NODE_MAX = 2000, BLOCK_MAX = 6000 };

typedef struct blocks {
  int n, count, rules, links, scalars;
  int size[NODE_MAX], sign[NODE_MAX], first[NODE_MAX];
  int row[BLOCK_MAX], col[BLOCK_MAX];
  int later[NODE_MAX], earlier[NODE_MAX];
  int link[NODE_MAX], end_a[NODE_MAX], end_b[NODE_MAX];
  double value[BLOCK_MAX][SNI_LDL_SIZE_MAX * SNI_LDL_SIZE_MAX];
} blocks;

static inline blocks *blocks_new(void) {
  blocks *s = calloc(1, sizeof *s);
  CHECK(s != NULL, "no memory");
  return s;
}

static inline int add_node(blocks *s, int size, int sign) {
  s->size[s->n] = size;
  s->sign[s->n] = sign;
  s->first[s->n] = s->scalars;
  s->scalars += size;
  return s->n++;
}

static inline double *add_block(blocks *s, int row, int col) {
  s->row[s->count] = row;
  s->col[s->count] = col;
  return s->value[s->count++];
}

static inline void add_rule(blocks *s, int later, int earlier) {
  s->later[s->rules] = later;
  s->earlier[s->rules++] = earlier;
}

static inline void add_link(blocks *s, int node, int a, int b) {
  s->link[s->links] = node;
  s->end_a[s->links] = a;
  s->end_b[s->links++] = b;
}

static inline sni_ldl_pattern pattern_of(const blocks *s) {
  return (sni_ldl_pattern){
      s->n,
      s->size,
      s->sign,
      s->count,
      s->row,
      s->col,
      {s->rules, s->later, s->earlier, s->links, s->link, s->end_a, s->end_b, NULL},
      NULL};
}

static inline void fill(const blocks *s, sni_ldl *ldl) {
  for (int k = 0; k < s->count; k++) {
    const size_t count = (size_t)s->size[s->row[k]] * (size_t)s->size[s->col[k]];
    memcpy(sni_ldl_block(ldl, k), s->value[k], count * sizeof(double));
  }
}

static inline sni_ldl *build(const blocks *s, const sni_ldl_options *options) {
  const sni_ldl_pattern pattern = pattern_of(s);
  sni_ldl *ldl = NULL;
  sn_error err = {0};
  CHECK(sni_ldl_build(&pattern, options, &ldl, &err) == SN_OK, "%s", err.text);
  fill(s, ldl);
  return ldl;
}

/* The matrix, dense. */
static inline long double *dense_of(const blocks *s) {
  const int n = s->scalars;
  long double *A = calloc((size_t)n * (size_t)n + 1, sizeof *A);
  for (int k = 0; k < s->count; k++) {
    const int rows = s->size[s->row[k]], cols = s->size[s->col[k]];
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < cols; c++) {
        const int i = s->first[s->row[k]] + r, j = s->first[s->col[k]] + c;
        A[i * n + j] += s->value[k][r * cols + c];
        if (s->row[k] != s->col[k]) {
          A[j * n + i] += s->value[k][r * cols + c];
        }
      }
    }
  }
  return A;
}

/* x = A^-1 b by Gauss with partial pivoting; A is lost. */
static inline void dense_solve(int n, long double *A, const double *b, long double *x) {
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
  }
  for (int p = 0; p < n; p++) {
    int best = p;
    for (int i = p + 1; i < n; i++) {
      best = fabsl(A[i * n + p]) > fabsl(A[best * n + p]) ? i : best;
    }
    for (int j = 0; j < n && best != p; j++) {
      const long double t = A[p * n + j];
      A[p * n + j] = A[best * n + j];
      A[best * n + j] = t;
    }
    const long double t = x[p];
    x[p] = x[best];
    x[best] = t;
    for (int i = p + 1; i < n; i++) {
      const long double f = A[i * n + p] / A[p * n + p];
      for (int j = p; f != 0 && j < n; j++) {
        A[i * n + j] -= f * A[p * n + j];
      }
      x[i] -= f * x[p];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) {
      x[i] -= A[i * n + j] * x[j];
    }
    x[i] /= A[i * n + i];
  }
}

static inline void random_vector(int n, double *b, uint64_t *seed) {
  for (int i = 0; i < n; i++) {
    b[i] = test_random(seed, -1, 1);
  }
}

static inline int pick(uint64_t *seed, int n) {
  return (int)(test_random_u64(seed) % (uint64_t)n);
}

/* Off-diagonal blocks at random, between nodes of one sign. */
static inline void couple_at_random(blocks *s, int count, uint64_t *seed) {
  for (int k = 0; k < count; k++) {
    const int i = pick(seed, s->n), j = pick(seed, s->n);
    if (i != j && s->sign[i] == s->sign[j]) {
      random_vector(s->size[i] * s->size[j], add_block(s, i, j), seed);
    }
  }
}

/* Diagonal blocks that dominate what stands beside them in rows of the same sign. */
static inline void dominate(blocks *s, double extra, uint64_t *seed) {
  const int count = s->count;
  double *sum = calloc((size_t)s->n, sizeof *sum);
  for (int k = 0; k < count; k++) {
    sum[s->row[k]] += s->size[s->col[k]];
    sum[s->col[k]] += s->size[s->row[k]];
  }
  for (int i = 0; i < s->n; i++) {
    const int size = s->size[i];
    double *a = add_block(s, i, i);
    for (int r = 0; r < size; r++) {
      for (int c = 0; c <= r; c++) {
        a[r * size + c] = a[c * size + r] = test_random(seed, -1, 1);
      }
      a[r * size + r] = s->sign[i] * (sum[i] + size + extra);
    }
  }
  free(sum);
}

/* ---- mechanisms ---- */

static inline void random_rotation(double R[9], uint64_t *seed) {
  double q[4], norm = 0;
  for (int i = 0; i < 4; i++) {
    q[i] = test_random(seed, -1, 1);
    norm += q[i] * q[i];
  }
  const double s = 2 / norm, w = q[0], x = q[1], y = q[2], z = q[3];
  const double m[9] = {1 - s * (y * y + z * z), s * (x * y - w * z),     s * (x * z + w * y),
                       s * (x * y + w * z),     1 - s * (x * x + z * z), s * (y * z - w * x),
                       s * (x * z - w * y),     s * (y * z + w * x),     1 - s * (x * x + y * y)};
  memcpy(R, m, sizeof m);
}

/* -Ad of a random pose, an arm's length away. */
static inline void random_shift(double a[36], uint64_t *seed) {
  double R[9];
  random_rotation(R, seed);
  const double p[3] = {test_random(seed, -1, 1), test_random(seed, -1, 1),
                       test_random(seed, -1, 1)};
  const double P[9] = {0, -p[2], p[1], p[2], 0, -p[0], -p[1], p[0], 0};
  memset(a, 0, 36 * sizeof *a);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      a[6 * i + j] = a[6 * (i + 3) + j + 3] = -R[3 * i + j];
      for (int k = 0; k < 3; k++) {
        a[6 * (i + 3) + j] += R[3 * i + k] * P[3 * k + j];
      }
    }
  }
}

/* Rows of length 1 at right angles. */
static inline void random_frame(int rows, double *S, uint64_t *seed) {
  for (int r = 0; r < rows;) {
    double *v = S + 6 * r, norm = 0;
    random_vector(6, v, seed);
    for (int q = 0; q < r; q++) {
      double dot = 0;
      for (int c = 0; c < 6; c++) {
        dot += v[c] * S[6 * q + c];
      }
      for (int c = 0; c < 6; c++) {
        v[c] -= dot * S[6 * q + c];
      }
    }
    for (int c = 0; c < 6; c++) {
      norm += v[c] * v[c];
    }
    if (norm > 0.1) {
      for (int c = 0; c < 6; c++) {
        v[c] /= sqrt(norm);
      }
      r++;
    }
  }
}

typedef struct body {
  int phi, lambda, qd; /* nodes; qd -1: none */
  double *A;           /* its own block      */
} body;

typedef struct mechanism {
  blocks *s;
  int count;
  body body[400];
} mechanism;

static inline mechanism *mechanism_new(void) {
  mechanism *m = calloc(1, sizeof *m);
  CHECK(m != NULL, "no memory");
  m->s = blocks_new();
  return m;
}

static inline void mechanism_free(mechanism *m) {
  free(m->s);
  free(m);
}

static inline void add_body(mechanism *m, int parent, int rates, double mass, uint64_t *seed) {
  blocks *s = m->s;
  body *b = &m->body[m->count];
  *b = (body){.phi = add_node(s, 6, 1), .lambda = add_node(s, 6, -1), .qd = -1};
  b->A = add_block(s, b->phi, b->phi);
  const double c[3] = {test_random(seed, -0.1, 0.1), test_random(seed, -0.1, 0.1),
                       test_random(seed, -0.1, 0.1)};
  const double C[9] = {0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0};
  for (int i = 0; i < 3; i++) {
    b->A[7 * i] = mass * test_random(seed, 0.05, 0.1);
    b->A[7 * (i + 3)] = mass;
    for (int j = 0; j < 3; j++) {
      b->A[6 * i + j + 3] = b->A[6 * (j + 3) + i] = mass * C[3 * i + j];
      for (int k = 0; k < 3; k++) {
        b->A[6 * i + j] -= mass * C[3 * i + k] * C[3 * k + j];
      }
    }
  }
  double *own = add_block(s, b->lambda, b->phi);
  for (int i = 0; i < 6; i++) {
    own[7 * i] = 1;
  }
  if (parent >= 0) {
    random_shift(add_block(s, b->lambda, m->body[parent].phi), seed);
  }
  add_link(s, b->lambda, b->phi, parent < 0 ? -1 : m->body[parent].phi);
  if (rates > 0) {
    b->qd = add_node(s, rates, 1);
    double S[36] = {0}, *G = add_block(s, b->lambda, b->qd);
    random_frame(rates, S, seed);
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < rates; j++) {
        G[i * rates + j] = -S[6 * j + i];
      }
    }
    add_block(s, b->qd, b->qd); /* no spring, no damper, no armature */
    add_rule(s, b->qd, b->lambda);
  }
  m->count++;
}

/* Stiffness k along three directions, between points of a and b, or of a and the ground. */
static inline void add_spring(mechanism *m, int a, int b, double k, uint64_t *seed) {
  double *ab = b < 0 ? NULL : add_block(m->s, m->body[a].phi, m->body[b].phi);
  for (int q = 0; q < 3; q++) {
    double g[2][6], R[9];
    random_vector(6, g[0], seed);
    random_rotation(R, seed);
    for (int i = 0; i < 6; i++) {
      g[1][i] = -(R[i % 3 * 3] * g[0][i / 3 * 3] + R[i % 3 * 3 + 1] * g[0][i / 3 * 3 + 1] +
                  R[i % 3 * 3 + 2] * g[0][i / 3 * 3 + 2]);
    }
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < 6; j++) {
        m->body[a].A[6 * i + j] += k * g[0][i] * g[0][j];
        if (b >= 0) {
          m->body[b].A[6 * i + j] += k * g[1][i] * g[1][j];
          ab[6 * i + j] += k * g[0][i] * g[1][j];
        }
      }
    }
  }
}

/* `rows` of relative motion between a and b are forbidden. */
static inline int add_loop(mechanism *m, int a, int b, int rows, uint64_t *seed) {
  const int node = add_node(m->s, rows, -1);
  double S[36] = {0}, X[36];
  random_frame(rows, S, seed);
  random_shift(X, seed);
  memcpy(add_block(m->s, node, m->body[a].phi), S, (size_t)(6 * rows) * sizeof *S);
  double *G = add_block(m->s, node, m->body[b].phi);
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < 6; j++) {
      for (int c = 0; c < 6; c++) {
        G[6 * i + j] += S[6 * i + c] * X[6 * c + j];
      }
    }
  }
  add_link(m->s, node, m->body[a].phi, m->body[b].phi);
  return node;
}

typedef enum topology { CHAIN, GROUNDED_CHAIN, CROSSED_CHAIN, TREE, LOOPS } topology;

static inline mechanism *random_mechanism(topology kind, double k, double ratio, uint64_t *seed) {
  static const int dofs[] = {1, 1, 1, 1, 2, 3, 6, 0};
  mechanism *m = mechanism_new();
  const int count = 24;
  for (int i = 0; i < count; i++) {
    const int parent = kind == TREE && i > 0 ? pick(seed, i) : i - 1;
    const int rates = kind == TREE ? dofs[pick(seed, 8)] : kind == LOOPS ? 3 : 1;
    add_body(m, parent, rates, pow(ratio, test_random(seed, -0.5, 0.5)), seed);
  }
  for (int q = 0; q < count / 2 && kind != CHAIN; q++) {
    const int a = pick(seed, count), b = (a + 1 + pick(seed, count - 1)) % count;
    add_spring(m, a, kind == GROUNDED_CHAIN ? -1 : b, k, seed);
  }
  for (int q = 0; q < 4 && kind == LOOPS; q++) {
    add_loop(m, 6 * q, 6 * q + 4, 3, seed);
  }
  return m;
}

/* ---- how good a solution is ---- */

/* The backward error as block_ldl.h states it, in long double. */
static inline double backward_error(const mechanism *m, const double *b, const double *x) {
  const blocks *s = m->s;
  const int n = s->scalars;
  long double *A = dense_of(s), *r = calloc((size_t)n, sizeof *r);
  double *size = calloc((size_t)n, sizeof *size);
  /* bodies by their own entries, multipliers by bodies, rates by multipliers: powers of two below
   */
  for (int stage = 0; stage < 3; stage++) {
    for (int i = 0; i < s->n; i++) {
      const bool rate = s->sign[i] > 0 && s->size[i] <= 6 && A[s->first[i] * n + s->first[i]] == 0;
      if (stage == (s->sign[i] < 0 ? 1 : rate ? 2 : 0)) {
        for (int p = s->first[i]; p < s->first[i] + s->size[i]; p++) {
          size[p] = stage == 0 ? sqrt((double)A[p * n + p]) : 0;
          for (int j = 0; j < s->n && stage > 0; j++) {
            for (int q = s->first[j]; q < s->first[j] + s->size[j]; q++) {
              if (s->sign[j] != s->sign[i] && size[q] > 0) {
                size[p] = fmax(size[p], fabs((double)A[p * n + q]) / size[q]);
              }
            }
          }
          size[p] = exp2(floor(log2(size[p])));
        }
      }
    }
  }
  double loud = 0, error = 0;
  for (int i = 0; i < n; i++) {
    loud = fmax(loud, fabs(x[i]) * size[i]);
  }
  for (int i = 0; i < n; i++) {
    long double sum = b[i], terms = fabs(b[i]);
    for (int j = 0; j < n; j++) {
      sum -= A[i * n + j] * x[j];
      terms += fabsl(A[i * n + j] * x[j]);
    }
    error = fmax(error, (double)(fabsl(sum) / (terms + 0x1p-14 * loud * size[i])));
  }
  free(A);
  free(r);
  free(size);
  return error;
}

/* |x - y| relative to |y| in the norm of kinetic and elastic energy of the bodies. */
static inline double energy_error(const mechanism *m, const double *x, const long double *y) {
  const blocks *s = m->s;
  long double *A = dense_of(s), error = 0, size = 0;
  for (int i = 0; i < m->count; i++) {
    for (int j = 0; j < m->count; j++) {
      for (int e = 0; e < 36; e++) {
        const int p = s->first[m->body[i].phi] + e / 6, q = s->first[m->body[j].phi] + e % 6;
        const long double a = A[p * s->scalars + q];
        error += (x[p] - y[p]) * a * (x[q] - y[q]);
        size += y[p] * a * y[q];
      }
    }
  }
  free(A);
  return (double)sqrtl(fabsl(error) / size);
}

/* Zeros but for the momenta of bodies, which are random. */
static inline double *random_momenta(const mechanism *m, uint64_t *seed) {
  double *b = calloc((size_t)m->s->scalars, sizeof *b);
  for (int i = 0; i < m->count; i++) {
    random_vector(6, b + m->s->first[m->body[i].phi], seed);
  }
  return b;
}

#endif
