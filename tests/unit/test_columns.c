/* Eight columns of M^-1 G^T at once against one after the other. */
#include "dynamics/rows.h"
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

TEST(columns_are_those_of_single_rows) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    random_tree tree;
    random_tree_make(&tree, seed, BODIES, TREE_ALL);
    sn_model *m = random_tree_build(&tree);
    const sn_options o = sn_options_default();
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = random_tree_state(m, seed);
    const sni_tree *t = &m->tree;
    sni_dynamics *d = &sim->d;
    sni_dynamics_kinematics(d, sn_state_q(s), sn_state_qd(s));
    const sni_aba_in in = {.mass = d->mass, .joint_matrix = d->armature};
    CHECK(sni_factorise(t, &in, &d->w) < 0, "seed %u: no inertia", seed);
    uint64_t random = seed;
    sni_row row[ROWS];
    for (int i = 0; i < ROWS; i++) {
      row[i] = random_row(&random, m);
    }
    const size_t nv = (size_t)t->nv;
    double *X = calloc(ROWS * nv, sizeof *X), S[ROWS * ROWS];
    double *b = calloc(nv, sizeof *b), *x = calloc(nv, sizeof *x);
    void *memory = aligned_alloc(64, sni_columns_size(t));
    CHECK(X && b && x && memory, "out of memory");
    sni_columns c;
    sni_columns_place(&c, t, memory);
    sni_columns_solve(&c, &d->w, ROWS, row, X, S);
    for (int j = 0; j < ROWS; j++) {
      memset(b, 0, nv * sizeof *b);
      sni_row_add_column(&row[j], d, 1, b);
      sni_Minv_mul(t, &d->w, b, x);
      const double size = fmax(largest(x, t->nv), 1e-3);
      for (size_t k = 0; k < nv; k++) {
        const double got = X[(size_t)j * nv + k];
        CHECK(fabs(got - x[k]) < 1e-11 * size, "seed %u, row %d, %zu: %g, not %g", seed, j, k, got,
              x[k]);
      }
      sni_J_mul_world(t, &d->w, x);
      for (int i = j; i < ROWS; i++) {
        const double Gx = sni_row_mul(&row[i], &d->w, x);
        CHECK(fabs(S[i * ROWS + j] - Gx) < 1e-10 * size, "seed %u: S[%d][%d] is %g, not %g", seed,
              i, j, S[i * ROWS + j], Gx);
      }
    }
    free(memory);
    free(x);
    free(b);
    free(X);
    sn_state_free(&s);
    sn_sim_free(&sim);
    sn_model_free(&m);
  }
}

int main(void) {
  RUN_TESTS(T(columns_are_those_of_single_rows));
}
