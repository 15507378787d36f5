/* Eight columns of M^-1 G^T at once against one after the other, and what rows do without columns.
 */
#include "dynamics/rows.h"
#include "linear/vector.h"
#include "methods/sim.h"
#include "trees.h"

enum { BODIES = 40, ROWS = 19 };

static sni_row random_row(uint64_t *seed, const sn_model *m) {
  sni_row row = {.body = {random_below(seed, BODIES + 1) - 1, random_below(seed, BODIES)}};
  for (int side = 0; side < 2; side++) {
    row.p[side].w = random_vec3(seed, row.body[side] < 0 ? 0 : 2);
    row.p[side].v = random_vec3(seed, row.body[side] < 0 ? 0 : 1);
  }
  row.ncoord = random_below(seed, 3);
  for (int k = 0; k < row.ncoord; k++) {
    row.coord[k] = random_below(seed, m->tree.nv);
    row.coef[k] = test_random(seed, -1, 1);
  }
  return row;
}

/* A tree of all kinds of joints in some pose with its masses factorised, and rows across it. */
typedef struct rows_of_tree {
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  sni_row row[ROWS];
  void *memory;
  sni_columns c;
} rows_of_tree;

static void make_rows(rows_of_tree *r, unsigned seed) {
  random_tree tree;
  random_tree_make(&tree, seed, BODIES, TREE_ALL);
  r->m = random_tree_build(&tree);
  const sn_options o = sn_options_default();
  r->sim = test_sim(r->m, &o);
  r->s = random_tree_state(r->m, seed);
  const sni_tree *t = &r->m->tree;
  sni_dynamics *d = &r->sim->d;
  sni_dynamics_kinematics(d, sn_state_q(r->s), sn_state_qd(r->s));
  const sni_aba_in in = {.mass = d->mass, .joint_matrix = d->armature};
  CHECK(sni_factorise(t, &in, &d->w) < 0, "seed %u: no inertia", seed);
  uint64_t random = seed;
  for (int i = 0; i < ROWS; i++) {
    r->row[i] = random_row(&random, r->m);
    for (int side = 0; side < 2 && i % 4 > 0; side++) { /* of one constraint */
      r->row[i].body[side] = r->row[i - 1].body[side];
    }
  }
  r->memory = aligned_alloc(64, sni_columns_size(t));
  CHECK(r->memory != NULL, "out of memory");
  sni_columns_place(&r->c, t, r->memory);
}

static void free_rows(rows_of_tree *r) {
  free(r->memory);
  sn_state_free(&r->s);
  sn_sim_free(&r->sim);
  sn_model_free(&r->m);
}

TEST(columns_are_those_of_single_rows) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    rows_of_tree r;
    make_rows(&r, seed);
    const sni_tree *t = &r.m->tree;
    sni_dynamics *d = &r.sim->d;
    const size_t nv = (size_t)t->nv;
    double *X = calloc(ROWS * nv, sizeof *X), S[ROWS * ROWS];
    double *b = calloc(nv, sizeof *b), *x = calloc(nv, sizeof *x);
    CHECK(X && b && x, "out of memory");
    sni_columns_solve(&r.c, &d->w, ROWS, r.row, X, S);
    for (int j = 0; j < ROWS; j++) {
      memset(b, 0, nv * sizeof *b);
      sni_row_add_column(&r.row[j], d, 1, b);
      sni_Minv_mul(t, &d->w, b, x);
      const double size = fmax(largest(x, t->nv), 1e-3);
      for (size_t k = 0; k < nv; k++) {
        const double got = X[(size_t)j * nv + k];
        CHECK(fabs(got - x[k]) < 1e-11 * size, "seed %u, row %d, %zu: %g, not %g", seed, j, k, got,
              x[k]);
      }
      sni_J_mul_world(t, &d->w, x);
      for (int i = j; i < ROWS; i++) {
        const double Gx = sni_row_mul(&r.row[i], &d->w, x);
        CHECK(fabs(S[i * ROWS + j] - Gx) < 1e-10 * size, "seed %u: S[%d][%d] is %g, not %g", seed,
              i, j, S[i * ROWS + j], Gx);
      }
    }
    free(x);
    free(b);
    free(X);
    free_rows(&r);
  }
}

/* Z^T Z = G M^-1 G^T,  Z^T U b = G M^-1 b,  U^T (U b - Z v) = M^-1 (b - G^T v). */
TEST(halves_do_what_columns_do) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    rows_of_tree r;
    make_rows(&r, seed);
    const sni_tree *t = &r.m->tree;
    sni_work *w = &r.sim->d.w;
    const size_t nv = (size_t)t->nv;
    double *X = calloc(ROWS * nv, sizeof *X), S[ROWS * ROWS] = {0}, want[ROWS * ROWS] = {0};
    double *b = calloc(nv, sizeof *b), *x = calloc(nv, sizeof *x), *y = calloc(nv, sizeof *y);
    void *memory = aligned_alloc(64, sni_halves_size(t, ROWS));
    CHECK(X && b && x && y && memory, "out of memory");
    sni_halves h;
    sni_halves_place(&h, t, ROWS, memory);
    sni_columns_solve(&r.c, w, ROWS, r.row, X, want);
    sni_halves_make(&h, &r.c, w, ROWS, r.row, S);
    const double size = fmax(largest(want, ROWS * ROWS), 1e-3);
    for (int i = 0; i < ROWS * ROWS; i++) {
      CHECK(fabs(S[i] - want[i]) < 1e-11 * size, "seed %u: S[%d] is %g, not %g", seed, i, S[i],
            want[i]);
    }
    uint64_t random = seed + 100;
    double v[ROWS], seen[ROWS];
    for (size_t k = 0; k < nv; k++) {
      b[k] = test_random(&random, -1, 1);
    }
    for (int i = 0; i < ROWS; i++) {
      v[i] = test_random(&random, -1, 1);
    }
    sni_Minv_mul(t, w, b, x);
    const double energy = sni_Minv_dot(t, w, w->z, w->z), xb = sni_dot(t->nv, x, b);
    CHECK(fabs(energy - xb) < 1e-11 * xb, "seed %u: %g, not %g", seed, energy, xb);
    sni_halves_see(&h, w->z, seen);
    sni_halves_push(&h, v, w->z);
    sni_Minv_outward(t, w, y);
    for (int i = 0; i < ROWS; i++) {
      sni_J_mul_world(t, w, x);
      const double Gx = sni_row_mul(&r.row[i], w, x);
      CHECK(fabs(seen[i] - Gx) < 1e-11 * fmax(largest(x, t->nv), 1), "seed %u, row %d: %g, not %g",
            seed, i, seen[i], Gx);
    }
    for (size_t k = 0; k < nv; k++) {
      for (size_t i = 0; i < ROWS; i++) {
        x[k] -= X[i * nv + k] * v[i];
      }
    }
    for (size_t k = 0; k < nv; k++) {
      CHECK(fabs(y[k] - x[k]) < 1e-10 * fmax(largest(x, t->nv), 1), "seed %u, %zu: %g, not %g",
            seed, k, y[k], x[k]);
    }
    free(memory);
    free(y);
    free(x);
    free(b);
    free(X);
    free_rows(&r);
  }
}

int main(void) {
  RUN_TESTS(T(columns_are_those_of_single_rows), T(halves_do_what_columns_do));
}
