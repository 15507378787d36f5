/* The block-sparse L D L^T where constraints say more than there is to say: alike, nearly alike, or
 * one by way of others. */
#include "ldl_systems.h"

/* The same constraint twice: a pivot is lost, is named, and the motion is right all the same; a
 * right-hand side that contradicts itself cannot be met, and is not claimed to be. */
TEST(redundant_constraints_are_borne) {
  for (uint64_t variant = 0; variant < 20; variant++) {
    uint64_t seed = variant;
    mechanism *m = random_mechanism(CHAIN, 0, 1, &seed);
    const int loop = add_loop(m, 3, 9, 2, &seed), twin = add_node(m->s, 2, -1);
    const double *G_a = m->s->value[m->s->count - 2], *G_b = m->s->value[m->s->count - 1];
    memcpy(add_block(m->s, twin, m->body[3].phi), G_a, 12 * sizeof *G_a);
    memcpy(add_block(m->s, twin, m->body[9].phi), G_b, 12 * sizeof *G_b);
    add_link(m->s, twin, m->body[3].phi, m->body[9].phi);
    const int n = m->s->scalars;
    double *b = random_momenta(m, &seed), *x = calloc((size_t)n, sizeof *x);
    sni_ldl *ldl = build(m->s, NULL);
    sni_ldl_factor factor;
    sni_ldl_solution solution;
    CHECK(sni_ldl_factorise(ldl, b, &factor) == SN_OK, "not factorised");
    CHECK(factor.replaced + factor.wrong_sign >= 1, "variant %d: nobody noticed", (int)variant);
    CHECK(factor.replaced == 0 || factor.node == loop || factor.node == twin,
          "variant %d: node %d is named, not %d or %d", (int)variant, factor.node, loop, twin);
    CHECK(sni_ldl_solve(ldl, NULL, x, &solution) == SN_OK, "variant %d: stuck at %g", (int)variant,
          solution.residual);
    CHECK(backward_error(m, b, x) < 1e-12, "variant %d: %g", (int)variant, backward_error(m, b, x));

    /* one constraint of the two, against a dense solution */
    blocks *single = blocks_new();
    *single = *m->s;
    single->n--;
    single->scalars -= 2;
    single->count -= 2;
    single->links--;
    long double *A = dense_of(single), *y = calloc((size_t)n, sizeof *y);
    dense_solve(single->scalars, A, b, y);
    const double energy = energy_error(m, x, y);
    CHECK(energy < 1e-9, "variant %d: %g off", (int)variant, energy);

    b[m->s->first[twin]] = 1;
    const sn_status status = sni_ldl_solve(ldl, b, x, &solution);
    CHECK(status == SN_NOT_CONVERGED && solution.residual > 1e-10, "variant %d: status %d, %g",
          (int)variant, (int)status, solution.residual);
    free(A);
    free(y);
    free(single);
    free(b);
    free(x);
    sni_ldl_free(&ldl);
    mechanism_free(m);
  }
}

/* A constraint that nearly repeats another: its pivot is noise, nobody can tell whether it is met
 * to the last digit, and all else is right. */
TEST(nearly_redundant_constraints_are_borne) {
  for (uint64_t variant = 0; variant < 40; variant++) {
    uint64_t seed = variant;
    mechanism *m = random_mechanism(CHAIN, 0, 1, &seed);
    add_loop(m, 3, 9, 2, &seed);
    const int twin = add_node(m->s, 2, -1), bodies[2] = {3, 9};
    const double *G[2] = {m->s->value[m->s->count - 2], m->s->value[m->s->count - 1]};
    for (int side = 0; side < 2; side++) {
      double *H = add_block(m->s, twin, m->body[bodies[side]].phi);
      for (int k = 0; k < 12; k++) {
        H[k] = G[side][k] + test_random(&seed, -1e-8, 1e-8);
      }
    }
    add_link(m->s, twin, m->body[3].phi, m->body[9].phi);
    double *b = calloc((size_t)m->s->scalars, sizeof *b),
           *x = calloc((size_t)m->s->scalars, sizeof *x);
    for (int i = 0; i < m->count; i++) {
      random_vector(6, b + m->s->first[m->body[i].phi], &seed);
    }
    sni_ldl *ldl = build(m->s, NULL);
    sni_ldl_solution solution;
    CHECK(sni_ldl_factorise(ldl, b, NULL) == SN_OK, "not factorised");
    CHECK(sni_ldl_solve(ldl, NULL, x, &solution) == SN_OK, "variant %d: stuck at %g", (int)variant,
          solution.residual);
    free(b);
    free(x);
    sni_ldl_free(&ldl);
    mechanism_free(m);
  }
}

/* Rows g, g + weak h, g + h of one constraint: two say all, but the second says little of h, and
 * what rounding has left in it comes back 1/weak^2 times as large in the pivot of the third. */
TEST(rows_that_depend_on_weak_ones_are_noticed) {
  enum { NV = 6, ROWS = 3 };
  for (uint64_t variant = 0; variant < 100; variant++) {
    uint64_t seed = variant;
    const double weak = pow(10, test_random(&seed, -5, -1));
    double g[NV], h[NV], y[NV], b[NV + ROWS] = {0}, x[NV + ROWS];
    blocks *s = blocks_new();
    const int mass = add_node(s, NV, 1), loop = add_node(s, ROWS, -1);
    random_vector(NV, g, &seed);
    random_vector(NV, h, &seed);
    random_vector(NV, y, &seed);
    random_vector(NV, b, &seed);
    double *M = add_block(s, mass, mass), *G = add_block(s, loop, mass);
    add_block(s, loop, loop);
    for (int i = 0; i < NV; i++) {
      M[i * NV + i] = test_random(&seed, 0.1, 3);
      G[i] = g[i];
      G[NV + i] = g[i] + weak * h[i];
      G[2 * NV + i] = g[i] + h[i];
    }
    for (int i = 0; i < ROWS * NV; i++) {
      b[NV + i / NV] += G[i] * y[i % NV];
    }
    add_rule(s, loop, mass);
    sni_ldl *ldl = build(s, NULL);
    sni_ldl_factor factor;
    sni_ldl_solution solution;
    CHECK(sni_ldl_factorise(ldl, b, &factor) == SN_OK, "not factorised");
    CHECK(factor.replaced == 1 && factor.node == loop && factor.scalar > 0,
          "variant %d, weak %g: %d replaced, row %d", (int)variant, weak, factor.replaced,
          factor.scalar);
    CHECK(sni_ldl_solve(ldl, NULL, x, &solution) == SN_OK, "variant %d, weak %g: stuck at %g",
          (int)variant, weak, solution.residual);

    /* without the row in the middle, dense */
    memcpy(G + NV, G + 2 * NV, NV * sizeof *G);
    b[NV + 1] = b[NV + 2];
    s->size[loop] = 2;
    s->scalars--;
    long double *A = dense_of(s), z[NV + 2];
    dense_solve(NV + 2, A, b, z);
    for (int i = 0; i < NV; i++) {
      CHECK(fabs(x[i] - (double)z[i]) < 1e-9, "variant %d, weak %g: x_%d is %g instead of %g",
            (int)variant, weak, i, x[i], (double)z[i]);
    }
    free(A);
    free(s);
    sni_ldl_free(&ldl);
  }
}

int main(void) {
  RUN_TESTS(T(redundant_constraints_are_borne), T(nearly_redundant_constraints_are_borne),
            T(rows_that_depend_on_weak_ones_are_noticed));
}
