/* test_block_ldl_kinds.c: blocks of which most is known against the same written out. */
#include "ldl_systems.h"

/* Rows 3 or 6: what hangs on something with its point r. */
static void write_lever(int rows, const double r[3], double *out) {
  const double cross[9] = {0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0};
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < 6; j++) {
      const bool turned = i >= rows - 3 && j < 3;
      out[6 * i + j] = j == 6 - rows + i ? -1 : turned ? cross[3 * (i - rows + 3) + j] : 0;
    }
  }
}

/* A tree of bodies, some without mass, that hang on each other with 3 or 6 rows, and loops between
 * any two of them; which kind each block is, and its values. */
typedef struct kinds {
  blocks *s;
  uint8_t kind[BLOCK_MAX];
  double packed[BLOCK_MAX][36];
} kinds;

static void add_packed(kinds *k, sni_ldl_kind kind, int count, const double *value) {
  const int block = k->s->count - 1;
  k->kind[block] = (uint8_t)kind;
  memcpy(k->packed[block], value, (size_t)count * sizeof *value);
}

static void add_kinds_body(kinds *k, int parent, int rows, bool light, uint64_t *seed) {
  blocks *s = k->s;
  const int phi = add_node(s, 6, 1), mu = add_node(s, rows, -1);
  double *A = add_block(s, phi, phi), upper[21], r[3], one[36] = {0};
  int n = 0;
  for (int i = 0; i < 6; i++) {
    for (int j = i; j < 6; j++, n++) {
      upper[n] = light ? 0 : i == j ? 7 + test_random(seed, 0, 3) : test_random(seed, -1, 1);
      A[6 * i + j] = A[6 * j + i] = upper[n];
    }
  }
  add_packed(k, SNI_LDL_SYMMETRIC, 21, upper);
  for (int i = 0; i < rows; i++) {
    one[6 * i + 6 - rows + i] = 1;
  }
  memcpy(add_block(s, mu, phi), one, sizeof one);
  add_packed(k, SNI_LDL_TIE, 0, one);
  if (parent >= 0) {
    random_vector(3, r, seed);
    write_lever(rows, r, add_block(s, mu, parent));
    add_packed(k, SNI_LDL_LEVER, 3, r);
  }
  add_link(s, mu, phi, parent);
}

static void add_kinds_loop(kinds *k, int a, int b, int rows, uint64_t *seed) {
  blocks *s = k->s;
  const int node = add_node(s, rows, -1);
  double *own = add_block(s, node, node), soft[6];
  for (int i = 0; i < rows; i++) {
    own[(rows + 1) * i] = soft[i] = -test_random(seed, 0.1, 1);
  }
  add_packed(k, SNI_LDL_DIAGONAL, rows, soft);
  for (int side = 0; side < 2; side++) {
    double *G = add_block(s, node, side ? b : a);
    random_vector(6 * rows, G, seed);
    add_packed(k, SNI_LDL_DENSE, 6 * rows, G);
  }
  add_link(s, node, a, b);
}

static kinds *kinds_new(bool light, uint64_t *seed) {
  kinds *k = calloc(1, sizeof *k);
  int phi[40];
  const int n = 2 + pick(seed, 38);
  CHECK(k != NULL, "no memory");
  k->s = blocks_new();
  for (int i = 0; i < n; i++) {
    phi[i] = k->s->n;
    const bool massless = light && pick(seed, 4) == 0; /* six rows: each of its own has one */
    add_kinds_body(k, i > 0 ? phi[pick(seed, i)] : -1, massless || pick(seed, 2) ? 6 : 3, massless,
                   seed);
  }
  for (int c = 0; c < n / 2; c++) {
    const int a = pick(seed, n), b = (a + 1 + pick(seed, n - 1)) % n;
    add_kinds_loop(k, phi[a], phi[b], 1 + pick(seed, 6), seed);
  }
  return k;
}

/* To leave out numbers that are known changes nothing: neither products, nor pivots, nor solutions,
 * where there are any: a body without mass may leave nothing to divide by. */
TEST(kinds_of_blocks_are_what_they_stand_for) {
  for (uint64_t t = 0; t < 200; t++) {
    uint64_t seed = t;
    const bool light = t % 4 == 0;
    kinds *k = kinds_new(light, &seed);
    const blocks *s = k->s;
    const int n = s->scalars;
    sni_ldl_pattern pattern = pattern_of(s);
    pattern.kind = k->kind;
    sni_ldl *dense = build(s, NULL), *packed = NULL;
    sn_error err = {0};
    CHECK(sni_ldl_build(&pattern, NULL, &packed, &err) == SN_OK, "%s", err.text);
    CHECK(sni_ldl_get_counts(packed).bytes < sni_ldl_get_counts(dense).bytes, "no smaller");
    for (int b = 0; b < s->count; b++) {
      const int rows = s->size[s->row[b]], cols = s->size[s->col[b]];
      const int count[] = {rows * cols, 21, rows, 0, 3};
      memcpy(sni_ldl_block(packed, b), k->packed[b], (size_t)count[k->kind[b]] * sizeof(double));
    }
    double *v = calloc(5 * (size_t)n, sizeof *v), *x[2] = {v + n, v + 2 * n};
    double *y[2] = {v + 3 * n, v + 4 * n}, size = 0;
    int replaced = 0;
    random_vector(n, v, &seed);
    for (int side = 0; side < 2; side++) {
      sni_ldl *ldl = side ? packed : dense;
      sni_ldl_factor factor;
      sni_ldl_solution solution;
      sni_ldl_mul(ldl, v, y[side]);
      CHECK(sni_ldl_factorise(ldl, v, &factor) == SN_OK, "seed %d: not factorised", (int)t);
      CHECK(light || factor.replaced == 0, "seed %d: %d pivots replaced", (int)t, factor.replaced);
      CHECK(side == 0 || factor.replaced == replaced, "seed %d: %d pivots replaced, not %d", (int)t,
            factor.replaced, replaced);
      replaced = factor.replaced;
      CHECK(sni_ldl_solve(ldl, NULL, x[side], &solution) == SN_OK || replaced > 0,
            "seed %d: backward error %g", (int)t, solution.residual);
    }
    for (int i = 0; i < n; i++) {
      size = fmax(size, fabs(x[0][i]));
    }
    for (int i = 0; i < n; i++) {
      CHECK(fabs(y[1][i] - y[0][i]) <= 1e-13, "seed %d: product %d", (int)t, i);
      CHECK(replaced > 0 || fabs(x[1][i] - x[0][i]) <= 1e-10 * size, "seed %d: solution %d", (int)t,
            i);
    }
    free(v);
    sni_ldl_free(&dense);
    sni_ldl_free(&packed);
    free(k->s);
    free(k);
  }
}

TEST(kinds_that_do_not_fit_are_refused) {
  const int size[] = {6, 3, 4}, zero[] = {0}, one[] = {1}, two[] = {2};
  const sni_order_demands free_order = {0};
  const struct {
    const int *row, *col;
    uint8_t kind;
  } cases[] = {{one, one, SNI_LDL_SYMMETRIC}, {one, zero, SNI_LDL_SYMMETRIC},
               {one, zero, SNI_LDL_DIAGONAL}, {zero, zero, SNI_LDL_TIE},
               {two, zero, SNI_LDL_TIE},      {zero, one, SNI_LDL_LEVER},
               {one, two, SNI_LDL_LEVER},     {zero, zero, SNI_LDL_LEVER + 1}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const sni_ldl_pattern pattern = {3,          size,          NULL, 1, cases[k].row, cases[k].col,
                                     free_order, &cases[k].kind};
    sni_ldl *ldl = NULL;
    sn_error err = {0};
    CHECK(sni_ldl_build(&pattern, NULL, &ldl, &err) == SN_E_ARGUMENT && !ldl, "case %zu", k);
    CHECK(strstr(err.text, "cannot be of kind"), "case %zu: '%s'", k, err.text);
  }
}
int main(void) {
  RUN_TESTS(T(kinds_of_blocks_are_what_they_stand_for), T(kinds_that_do_not_fit_are_refused));
}
