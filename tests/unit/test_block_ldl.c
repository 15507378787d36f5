/* The block-sparse L D L^T against a dense LU with pivoting, on matrices of all block sizes and on
 * the systems that mechanisms make. */
#include "heap.h"
#include "ldl_systems.h"
#include "linear/block_ldl_parts.h"

/* Factorises and solves, and compares with the dense solution: the largest error relative to the
 * largest entry. */
static double compare(const blocks *s, sni_ldl *ldl, uint64_t *seed, sni_ldl_factor *factor) {
  const int n = s->scalars;
  double *b = calloc((size_t)n, sizeof *b), *x = calloc((size_t)n, sizeof *x);
  long double *A = dense_of(s), *y = calloc((size_t)n, sizeof *y);
  random_vector(n, b, seed);
  dense_solve(n, A, b, y);
  sni_ldl_solution solution;
  CHECK(sni_ldl_factorise(ldl, NULL, factor) == SN_OK, "not factorised");
  CHECK(sni_ldl_solve(ldl, b, x, &solution) == SN_OK, "backward error %g", solution.residual);
  long double error = 0, size = 0;
  for (int i = 0; i < n; i++) {
    error = fmaxl(error, fabsl(x[i] - y[i]));
    size = fmaxl(size, fabsl(y[i]));
  }
  free(b);
  free(x);
  free(A);
  free(y);
  return (double)(error / size);
}

/* ---- random matrices ---- */

/* Diagonally dominant, so the condition number is below 1e2 or so. */
TEST(definite_systems_of_all_sizes_are_solved) {
  for (uint64_t k = 0; k < 300; k++) {
    uint64_t seed = k;
    blocks *s = blocks_new();
    const int n = 1 + pick(&seed, 30), size_max = 1 + (int)(k % 8);
    for (int i = 0; i < n; i++) {
      add_node(s, k % 3 == 0 ? size_max : 1 + pick(&seed, size_max), 1);
    }
    couple_at_random(s, pick(&seed, 3 * n), &seed);
    dominate(s, 1, &seed);
    sni_ldl *ldl = build(s, NULL);
    sni_ldl_factor factor;
    const double error = compare(s, ldl, &seed, &factor);
    CHECK(error < 1e-12, "seed %d: error %g", (int)k, error);
    CHECK(factor.replaced == 0 && factor.wrong_sign == 0 && factor.node == -1, "seed %d", (int)k);
    sni_ldl_free(&ldl);
    free(s);
  }
}

/* Where little is asked for, factors that did well once are not looked at again: what they give is
 * as good. */
TEST(factors_that_did_well_are_trusted) {
  for (uint64_t k = 0; k < 40; k++) {
    uint64_t seed = k;
    blocks *s = blocks_new();
    for (int i = 0; i < 20; i++) {
      add_node(s, 1 + pick(&seed, 8), 1);
    }
    couple_at_random(s, 40, &seed);
    dominate(s, 1, &seed);
    sni_ldl *ldl = build(s, NULL);
    sni_ldl_refine_to(ldl, 1e-9, 1e-6);
    const int n = s->scalars;
    double *b = calloc((size_t)n, sizeof *b), *x = calloc((size_t)n, sizeof *x);
    long double *A = dense_of(s), *y = calloc((size_t)n, sizeof *y);
    CHECK(sni_ldl_factorise(ldl, NULL, NULL) == SN_OK, "not factorised");
    for (int pass = 0; pass < 3; pass++) { /* the first tells nothing: it is 0 */
      sni_ldl_solution solution;
      CHECK(sni_ldl_solve(ldl, b, x, &solution) == SN_OK, "not solved");
      CHECK(solution.residual < 1e-15, "seed %d, pass %d: %g", (int)k, pass, solution.residual);
      for (int i = 0; i < n; i++) {
        long double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < n; j++) {
          sum += A[i * n + j] * x[j];
          size += fabsl(A[i * n + j] * x[j]);
        }
        CHECK(fabsl(sum) <= 1e-14L * size, "seed %d, pass %d: row %d is off by %Lg of %Lg", (int)k,
              pass, i, sum, size);
      }
      random_vector(n, b, &seed);
    }
    free(b);
    free(x);
    free(A);
    free(y);
    sni_ldl_free(&ldl);
    free(s);
  }
}

/* [A G^T; G -C] with C positive definite: any order will do, no demands. */
TEST(quasi_definite_systems_are_solved_in_any_order) {
  for (uint64_t k = 0; k < 300; k++) {
    uint64_t seed = 1000 + k;
    blocks *s = blocks_new();
    const int n = 2 + pick(&seed, 30);
    for (int i = 0; i < n; i++) {
      add_node(s, 1 + pick(&seed, 8), pick(&seed, 3) == 0 ? -1 : 1);
    }
    couple_at_random(s, pick(&seed, 3 * n), &seed);
    dominate(s, 1, &seed);
    for (int q = pick(&seed, 2 * n); q > 0; q--) {
      const int i = pick(&seed, n), j = pick(&seed, n);
      if (s->sign[i] != s->sign[j]) {
        random_vector(s->size[i] * s->size[j], add_block(s, i, j), &seed);
      }
    }
    sni_ldl *ldl = build(s, NULL);
    sni_ldl_factor factor;
    const double error = compare(s, ldl, &seed, &factor);
    CHECK(error < 1e-11, "seed %d: error %g", (int)k, error);
    CHECK(factor.replaced == 0 && factor.wrong_sign == 0, "seed %d: %d replaced, %d of wrong sign",
          (int)k, factor.replaced, factor.wrong_sign);
    sni_ldl_free(&ldl);
    free(s);
  }
}

/* [A G^T; G 0] with rules: a multiplier after all that it acts on. */
TEST(multipliers_without_compliance_are_solved_by_rules) {
  for (uint64_t k = 0; k < 200; k++) {
    uint64_t seed = 2000 + k;
    blocks *s = blocks_new();
    const int n = 3 + pick(&seed, 20);
    for (int i = 0; i < n; i++) {
      add_node(s, 1 + pick(&seed, 8), 1);
    }
    couple_at_random(s, pick(&seed, 2 * n), &seed);
    dominate(s, 1, &seed);
    /* each row acts on a scalar of its own, and on another node at random */
    for (int i = 0; i < n; i++) {
      const int rows = 1 + pick(&seed, s->size[i]), other = pick(&seed, n);
      const int node = add_node(s, rows, -1);
      double *G = add_block(s, node, i);
      for (int r = 0; r < rows; r++) {
        G[r * s->size[i] + r] = 3;
      }
      add_rule(s, node, i);
      if (other != i) {
        double *H = add_block(s, other, node); /* above the diagonal for once */
        random_vector(s->size[other] * rows, H, &seed);
        for (int e = 0; e < s->size[other] * rows; e++) {
          H[e] *= 0.1;
        }
        add_rule(s, node, other);
      }
    }
    sni_ldl *ldl = build(s, NULL);
    sni_ldl_factor factor;
    const double error = compare(s, ldl, &seed, &factor);
    CHECK(error < 1e-10, "seed %d: error %g", (int)k, error);
    CHECK(factor.replaced == 0 && factor.wrong_sign == 0, "seed %d: %d replaced, %d of wrong sign",
          (int)k, factor.replaced, factor.wrong_sign);
    sni_ldl_free(&ldl);
    free(s);
  }
}

/* ---- mechanisms ---- */

/* A right-hand side by places, known before the factorisation or not, has the very solution that it
 * has by nodes. */
TEST(vectors_by_places_give_the_same_bits) {
  for (int kind = CHAIN; kind <= LOOPS; kind++) {
    uint64_t seed = 7 + (uint64_t)kind;
    mechanism *m = random_mechanism((topology)kind, 1e4, 100, &seed);
    const int n = m->s->scalars;
    double *b = calloc((size_t)n, sizeof *b), *x = calloc((size_t)n, sizeof *x);
    random_vector(n, b, &seed);
    sni_ldl *ldl = build(m->s, NULL);
    for (int at_once = 0; at_once < 2; at_once++) {
      CHECK(sni_ldl_factorise(ldl, at_once ? b : NULL, NULL) == SN_OK, "not factorised");
      CHECK(sni_ldl_solve(ldl, at_once ? NULL : b, x, NULL) >= SN_OK, "not solved");
      double *side = sni_ldl_side(ldl);
      memset(side, 0, (size_t)sni_ldl_place_count(ldl) * sizeof *side);
      for (int node = 0; node < m->s->n; node++) {
        memcpy(side + sni_ldl_place(ldl, node), b + m->s->first[node],
               (size_t)m->s->size[node] * sizeof *b);
      }
      CHECK(sni_ldl_factorise(ldl, at_once ? side : NULL, NULL) == SN_OK, "not factorised");
      CHECK(sni_ldl_solve(ldl, at_once ? NULL : side, NULL, NULL) >= SN_OK, "not solved");
      const double *found = sni_ldl_found(ldl);
      for (int node = 0; node < m->s->n; node++) {
        CHECK(memcmp(found + sni_ldl_place(ldl, node), x + m->s->first[node],
                     (size_t)m->s->size[node] * sizeof *x) == 0,
              "kind %d, at once %d: node %d", kind, at_once, node);
      }
    }
    free(b);
    free(x);
    sni_ldl_free(&ldl);
    mechanism_free(m);
  }
}

/* Springs up to k h^2/m = 1e8: backward error below 1e-12, no pivot in need of help, and, where the
 * condition leaves that many digits, the solution right to 1e-9 in the norm of energy. */
TEST(stiff_mechanisms_are_solved) {
  static const char *const name[] = {"chain", "grounded chain", "crossed chain", "tree", "loops"};
  for (int kind = CHAIN; kind <= LOOPS; kind++) {
    for (int power = 0; power <= 8; power += 4) {
      const double k = pow(10, power);
      for (uint64_t variant = 0; variant < 4; variant++) {
        uint64_t seed = 100 * variant + (uint64_t)kind;
        mechanism *m = random_mechanism((topology)kind, k, variant % 2 ? 1 : 100, &seed);
        const int n = m->s->scalars;
        double *b = random_momenta(m, &seed), *x = calloc((size_t)n, sizeof *x);
        sni_ldl *ldl = build(m->s, NULL);
        sni_ldl_factor factor;
        sni_ldl_solution solution;
        CHECK(sni_ldl_factorise(ldl, b, &factor) == SN_OK, "not factorised");
        CHECK(factor.replaced == 0 && factor.wrong_sign == 0,
              "%s, k %g, variant %d: %d pivots replaced, %d of wrong sign", name[kind], k,
              (int)variant, factor.replaced, factor.wrong_sign);
        CHECK(sni_ldl_solve(ldl, NULL, x, &solution) == SN_OK,
              "%s, k %g, variant %d: stuck at %g after %d", name[kind], k, (int)variant,
              solution.residual, solution.refinements);
        const double error = backward_error(m, b, x);
        /* the same number, by other sums: they agree as far as the residual has digits */
        CHECK(error < 1e-12 && fabs(error - solution.residual) < 1e-15 + 0.1 * error,
              "%s, k %g, variant %d: backward error %g, reported %g", name[kind], k, (int)variant,
              error, solution.residual);
        CHECK(solution.refinements <= (k <= 1e4 ? 1 : 2), "%s, k %g, variant %d: %d refinements",
              name[kind], k, (int)variant, solution.refinements);
        if (k <= 1e4) {
          long double *A = dense_of(m->s), *y = calloc((size_t)n, sizeof *y);
          dense_solve(n, A, b, y);
          const double energy = energy_error(m, x, y);
          CHECK(energy < 1e-9, "%s, k %g, variant %d: %g off", name[kind], k, (int)variant, energy);
          free(A);
          free(y);
        }
        sni_ldl_free(&ldl);
        free(b);
        free(x);
        mechanism_free(m);
      }
    }
  }
}

/* ---- what is promised besides ---- */

/* x bit for bit, from a fresh start or not. */
static void solve_bits(const blocks *s, sni_ldl *ldl, const double *b, bool at_once, double *x) {
  fill(s, ldl);
  CHECK(sni_ldl_factorise(ldl, at_once ? b : NULL, NULL) == SN_OK, "not factorised");
  CHECK(sni_ldl_solve(ldl, at_once ? NULL : b, x, NULL) >= SN_OK, "not solved");
}

TEST(bits_are_the_same_every_time) {
  uint64_t seed = 7;
  mechanism *m = random_mechanism(TREE, 1e4, 100, &seed);
  const size_t bytes = (size_t)m->s->scalars * sizeof(double);
  double *b = malloc(bytes), *x = malloc(bytes), *y = malloc(bytes);
  random_vector(m->s->scalars, b, &seed);
  sni_ldl *first = build(m->s, NULL), *second = build(m->s, NULL);
  solve_bits(m->s, first, b, true, x);
  solve_bits(m->s, first, b, true, y);
  CHECK(memcmp(x, y, bytes) == 0, "twice in the same memory");
  solve_bits(m->s, second, b, true, y);
  CHECK(memcmp(x, y, bytes) == 0, "in other memory");
  solve_bits(m->s, second, b, false, y);
  CHECK(memcmp(x, y, bytes) == 0, "with b given later");
  memcpy(y, b, bytes);
  solve_bits(m->s, second, y, true, y);
  CHECK(memcmp(x, y, bytes) == 0, "in place");
  sni_ldl_free(&first);
  sni_ldl_free(&second);
  free(b);
  free(x);
  free(y);
  mechanism_free(m);
}

/* A chain of so many nodes of six scalars, with its values. */
static sni_ldl *long_chain(int n, uint64_t *seed) {
  int *size = calloc((size_t)n, sizeof *size), *row = calloc(2 * (size_t)n, sizeof *row);
  int *col = calloc(2 * (size_t)n, sizeof *col), count = 0;
  for (int i = 0; i < n; i++) {
    size[i] = 6;
    row[count] = col[count] = i;
    count++;
    if (i > 0) {
      row[count] = i;
      col[count++] = i - 1;
    }
  }
  const sni_ldl_pattern pattern = {
      .n = n, .size = size, .block_count = count, .row = row, .col = col};
  sni_ldl *ldl = NULL;
  CHECK(sni_ldl_build(&pattern, NULL, &ldl, NULL) == SN_OK, "not built");
  for (int k = 0; k < count; k++) {
    double *a = sni_ldl_block(ldl, k);
    for (int i = 0; i < 36; i++) {
      const bool own = row[k] == col[k];
      a[i] = !own ? test_random(seed, -1, 1) : i % 7 == 0 ? 20 : 0;
    }
  }
  free(size);
  free(row);
  free(col);
  return ldl;
}

/* In large systems errors are found in little room, through which they pass.  That changes no bit,
 * whether a first solution will do or (here the factor is spoilt) must be refined. */
TEST(errors_of_large_systems_pass_through_little_room) {
  const int n = 3000;
  const size_t bytes = 6 * (size_t)n * sizeof(double);
  double *b = malloc(bytes), *x[2] = {malloc(bytes), malloc(bytes)};
  for (int spoilt = 0; spoilt < 2; spoilt++) {
    sni_ldl_solution solution[2];
    for (int k = 0; k < 2; k++) {
      uint64_t seed = 5;
      sni_ldl *ldl = long_chain(n, &seed);
      CHECK(ldl->room > 0 && ldl->room < ldl->vector_count / 4, "room for %d of %d", ldl->room,
            ldl->vector_count);
      ldl->room = k == 0 ? ldl->room : 0;
      random_vector(6 * n, b, &seed);
      sni_ldl_refine_to(ldl, 1e-9, 0);
      CHECK(sni_ldl_factorise(ldl, b, NULL) == SN_OK, "not factorised");
      for (int i = 0; spoilt && i < ldl->vector_count; i++) {
        ldl->D[i] *= 1 + 1e-4;
      }
      CHECK(sni_ldl_solve(ldl, NULL, x[k], &solution[k]) == SN_OK, "not solved");
      sni_ldl_free(&ldl);
    }
    CHECK(solution[0].refinements == solution[1].refinements &&
              (solution[0].refinements > 0) == spoilt,
          "%d and %d refinements", solution[0].refinements, solution[1].refinements);
    CHECK(solution[0].residual == solution[1].residual, "%a, not %a", solution[0].residual,
          solution[1].residual);
    CHECK(memcmp(x[0], x[1], bytes) == 0, "other bits, spoilt: %d", spoilt);
  }
  free(b);
  free(x[0]);
  free(x[1]);
}

/* Other units, if they are powers of two: the same bits in them.  So a mechanism in millimetres is
 * solved like one in metres, and no threshold hides an absolute size. */
TEST(units_do_not_matter) {
  for (int kind = CHAIN; kind <= LOOPS; kind++) {
    uint64_t seed = 11;
    mechanism *m = random_mechanism((topology)kind, 1e6, 1, &seed);
    blocks *s = m->s;
    const int n = s->scalars;
    double *b = calloc((size_t)n, sizeof *b), *x = calloc((size_t)n, sizeof *x);
    double *y = calloc((size_t)n, sizeof *y), *unit = calloc((size_t)n, sizeof *unit);
    random_vector(n, b, &seed);
    for (int i = 0; i < n; i++) {
      unit[i] = ldexp(1, pick(&seed, 80) - 40);
    }
    sni_ldl *ldl = build(s, NULL);
    solve_bits(s, ldl, b, true, x);
    for (int k = 0; k < s->count; k++) {
      const int row = s->row[k], col = s->col[k];
      for (int r = 0; r < s->size[row]; r++) {
        for (int c = 0; c < s->size[col]; c++) {
          s->value[k][r * s->size[col] + c] *= unit[s->first[row] + r] * unit[s->first[col] + c];
        }
      }
    }
    for (int i = 0; i < n; i++) {
      b[i] *= unit[i];
    }
    solve_bits(s, ldl, b, true, y);
    for (int i = 0; i < n; i++) {
      CHECK(y[i] * unit[i] == x[i], "topology %d, row %d: %a, not %a", kind, i, y[i] * unit[i],
            x[i]);
    }
    sni_ldl_free(&ldl);
    free(b);
    free(x);
    free(y);
    free(unit);
    mechanism_free(m);
  }
}

TEST(numeric_calls_allocate_nothing) {
  uint64_t seed = 3;
  mechanism *m = random_mechanism(LOOPS, 1e8, 1, &seed);
  const size_t n = (size_t)m->s->scalars;
  double *b = calloc(n, sizeof *b), *x = calloc(n, sizeof *x);
  random_vector((int)n, b, &seed);
  sni_ldl *ldl = build(m->s, NULL);
  heap_watch(0);
  solve_bits(m->s, ldl, b, true, x);
  solve_bits(m->s, ldl, b, false, x);
  sni_ldl_mul(ldl, x, b);
  const long calls = heap_stop();
  CHECK(calls == 0, "%ld calls of the allocator", calls);
  sni_ldl_free(&ldl);
  free(b);
  free(x);
  mechanism_free(m);
}

/* Whichever request for memory is refused, the answer is SN_E_MEMORY. */
TEST(refused_memory_is_reported) {
  if (!HEAP_REFUSES) {
    return;
  }
  uint64_t seed = 3;
  mechanism *m = random_mechanism(TREE, 1, 1, &seed);
  const sni_ldl_pattern pattern = pattern_of(m->s);
  int refused = 0;
  for (long k = 1;; k++) {
    sni_ldl *ldl = NULL;
    sn_error err = {0};
    heap_watch(k);
    const sn_status status = sni_ldl_build(&pattern, NULL, &ldl, &err);
    heap_stop();
    if (!heap.has_failed) {
      CHECK(status == SN_OK, "%s", err.text);
      sni_ldl_free(&ldl);
      break;
    }
    CHECK(status == SN_E_MEMORY && !ldl && err.text[0], "request %ld: status %d", k, (int)status);
    refused++;
  }
  CHECK(refused >= 10, "only %d requests", refused);
  mechanism_free(m);
}

TEST(products_are_those_of_the_matrix) {
  for (uint64_t k = 0; k < 20; k++) {
    uint64_t seed = k;
    blocks *s = blocks_new();
    for (int i = 0; i < 12; i++) {
      add_node(s, 1 + pick(&seed, 8), pick(&seed, 2) ? 1 : -1);
    }
    couple_at_random(s, 30, &seed); /* some pairs repeat */
    dominate(s, 1, &seed);
    const int n = s->scalars;
    double x[96], y[96];
    random_vector(n, x, &seed);
    long double *A = dense_of(s);
    sni_ldl *ldl = build(s, NULL);
    sni_ldl_mul(ldl, x, y);
    for (int i = 0; i < n; i++) {
      long double sum = 0, terms = 0;
      for (int j = 0; j < n; j++) {
        sum += A[i * n + j] * x[j];
        terms += fabsl(A[i * n + j] * x[j]);
      }
      CHECK(fabsl(sum - y[i]) <= 1e-15L * n * terms, "seed %d, row %d", (int)k, i);
    }
    sni_ldl_free(&ldl);
    free(A);
    free(s);
  }
}

/* ---- trouble ---- */

TEST(a_row_without_entries_is_named) {
  for (int bad = 0; bad < 3; bad++) {
    blocks *s = blocks_new();
    for (int i = 0; i < 3; i++) {
      add_node(s, 2, 1);
      double *a = add_block(s, i, i);
      a[0] = 1;
      a[3] = i == bad ? 0 : 1;
    }
    sni_ldl *ldl = build(s, NULL);
    sni_ldl_factor factor;
    CHECK(sni_ldl_factorise(ldl, NULL, &factor) == SN_E_SINGULAR, "not seen");
    CHECK(factor.node == bad && factor.scalar == 1, "node %d, row %d", factor.node, factor.scalar);
    sni_ldl_free(&ldl);
    free(s);
  }
}

/* A rank lost among rows of a definite matrix: [1 1; 1 1] with a neighbour. */
TEST(a_singular_matrix_is_noticed) {
  blocks *s = blocks_new();
  add_node(s, 3, 1);
  add_node(s, 1, 1);
  const double a[9] = {1, 1, 0, 1, 1, 0, 0, 0, 2};
  memcpy(add_block(s, 0, 0), a, sizeof a);
  *add_block(s, 1, 1) = 2;
  add_block(s, 1, 0)[2] = 1;
  sni_ldl *ldl = build(s, NULL);
  sni_ldl_factor factor;
  CHECK(sni_ldl_factorise(ldl, NULL, &factor) == SN_OK, "not factorised");
  CHECK(factor.replaced == 1 && factor.node == 0 && factor.scalar == 1,
        "%d replaced, node %d, row %d", factor.replaced, factor.node, factor.scalar);
  sni_ldl_solution solution;
  double x[4];
  const double yes[4] = {1, 1, 0, 0}, no[4] = {1, 2, 0, 0};
  CHECK(sni_ldl_solve(ldl, yes, x, &solution) == SN_OK && fabs(x[0] + x[1] - 1) < 1e-12,
        "%g, x %g %g", solution.residual, x[0], x[1]);
  CHECK(sni_ldl_solve(ldl, no, x, &solution) == SN_NOT_CONVERGED, "%g", solution.residual);
  sni_ldl_free(&ldl);
  free(s);
}

/* A tangent stiffness may be indefinite: solved as it is, and counted. */
TEST(a_large_pivot_of_the_wrong_sign_is_taken) {
  uint64_t seed = 5;
  blocks *s = blocks_new();
  for (int i = 0; i < 10; i++) {
    add_node(s, 6, i == 4 ? -1 : 1);
  }
  couple_at_random(s, 20, &seed);
  dominate(s, 1, &seed);
  s->sign[4] = 1; /* as the caller believes */
  sni_ldl *ldl = build(s, NULL);
  sni_ldl_factor factor;
  const double error = compare(s, ldl, &seed, &factor);
  CHECK(error < 1e-11 && factor.wrong_sign == 6 && factor.replaced == 0,
        "error %g, %d of wrong sign, %d replaced", error, factor.wrong_sign, factor.replaced);
  sni_ldl_free(&ldl);
  free(s);
}

TEST(numbers_that_are_none_are_named) {
  const double poison[] = {NAN, INFINITY, -INFINITY};
  for (int p = 0; p < 3; p++) {
    for (int where = 0; where < 2; where++) { /* on the diagonal, beside it */
      uint64_t seed = 9;
      mechanism *m = random_mechanism(CROSSED_CHAIN, 10, 1, &seed);
      const int n = m->s->scalars;
      double *b = calloc((size_t)n, sizeof *b), *x = calloc((size_t)n, sizeof *x);
      sni_ldl *ldl = build(m->s, NULL);
      for (int k = 0; k < m->s->count; k++) {
        if ((m->s->row[k] == m->s->col[k]) == (where == 0) && m->s->row[k] > n / 20) {
          sni_ldl_block(ldl, k)[0] = poison[p];
          break;
        }
      }
      sni_ldl_factor factor;
      const sn_status status = sni_ldl_factorise(ldl, b, &factor);
      CHECK(status == SN_E_DIVERGED && factor.node >= 0, "%g, %d: status %d, node %d", poison[p],
            where, (int)status, factor.node);
      CHECK(sni_ldl_solve(ldl, NULL, x, NULL) == SN_E_ARGUMENT, "solved all the same");
      fill(m->s, ldl); /* and forgotten with the next values */
      CHECK(sni_ldl_factorise(ldl, b, NULL) == SN_OK, "not factorised");
      x[3] = 77;
      b[3] = poison[p];
      sni_ldl_solution solution;
      CHECK(sni_ldl_solve(ldl, b, x, &solution) == SN_E_DIVERGED && x[3] == 77, "%g: b", poison[p]);
      b[3] = 0;
      b[0] = 1;
      CHECK(sni_ldl_solve(ldl, b, x, &solution) == SN_OK, "%g: afterwards", poison[p]);
      sni_ldl_free(&ldl);
      free(b);
      free(x);
      mechanism_free(m);
    }
  }
}

TEST(zero_gives_zero) {
  uint64_t seed = 1;
  mechanism *m = random_mechanism(TREE, 100, 1, &seed);
  double *b = calloc((size_t)m->s->scalars, sizeof *b);
  sni_ldl *ldl = build(m->s, NULL);
  sni_ldl_solution solution = {1, 1};
  CHECK(sni_ldl_factorise(ldl, b, NULL) == SN_OK, "not factorised");
  CHECK(sni_ldl_solve(ldl, NULL, b, &solution) == SN_OK && solution.residual == 0, "%g",
        solution.residual);
  for (int i = 0; i < m->s->scalars; i++) {
    CHECK(b[i] == 0, "row %d: %g", i, b[i]);
  }
  CHECK(sni_ldl_solve(ldl, NULL, b, NULL) == SN_E_ARGUMENT, "b is there only once");
  sni_ldl_free(&ldl);
  free(b);
  mechanism_free(m);

  blocks *empty = blocks_new();
  ldl = build(empty, NULL);
  CHECK(sni_ldl_factorise(ldl, NULL, NULL) == SN_OK, "nothing not factorised");
  double nothing = 0;
  CHECK(sni_ldl_solve(ldl, &nothing, &nothing, NULL) == SN_OK, "nothing not solved");
  sni_ldl_free(&ldl);
  free(empty);
}

/* ---- counts ---- */

/* A chain of n links: as much for each, and told alike before and after memory is taken. */
TEST(counts_are_known_before) {
  double last = 0;
  for (int n = 50; n <= 400; n *= 2) {
    uint64_t seed = 1;
    mechanism *m = mechanism_new();
    for (int i = 0; i < n; i++) {
      add_body(m, i - 1, 1, 1, &seed);
    }
    const sni_ldl_pattern pattern = pattern_of(m->s);
    sni_ldl_counts counts;
    CHECK(sni_ldl_count(&pattern, &counts, NULL) == SN_OK, "not counted");
    sni_ldl *ldl = build(m->s, NULL);
    const sni_ldl_counts built = sni_ldl_get_counts(ldl);
    CHECK(counts.cost.nonzeros == built.cost.nonzeros &&
              counts.cost.factor_flops == built.cost.factor_flops &&
              counts.cost.solve_flops == built.cost.solve_flops &&
              counts.updates == built.updates && counts.tiles == built.tiles &&
              counts.scalars == built.scalars && counts.bytes == built.bytes,
          "other counts");
    CHECK(counts.scalars == 13 * n, "%d rows", counts.scalars);
    /* a body of 6, and its multiplier and rate together, 7: 21 + 42 + 28 + 42 */
    CHECK(counts.tiles == 2 * n && counts.cost.nonzeros == 133 * n - 42, "%d tiles, %g non-zeros",
          counts.tiles, counts.cost.nonzeros);
    const double each = counts.cost.factor_flops / n;
    CHECK(last == 0 || each < 1.02 * last, "%g flops a link, %g before", each, last);
    last = each;
    sni_ldl_free(&ldl);

    sni_ldl_options options = sni_ldl_options_default();
    options.bytes_max = counts.bytes - 1;
    sn_error err = {0};
    CHECK(sni_ldl_build(&pattern, &options, &ldl, &err) == SN_E_LIMIT && !ldl, "%s", err.text);
    options.bytes_max = counts.bytes;
    CHECK(sni_ldl_build(&pattern, &options, &ldl, &err) == SN_OK, "%s", err.text);
    sni_ldl_free(&ldl);
    mechanism_free(m);
  }
}

TEST(bad_patterns_are_refused) {
  const int two[] = {2, 2}, nine[] = {2, 9}, none[] = {0, 2}, odd_sign[] = {1, 0};
  const int zero[] = {0}, one[] = {1}, five[] = {5};
  const sni_order_demands free_order = {0};
  const sni_order_demands after_itself = {.rule_count = 1, .later = one, .earlier = one};
  const struct {
    sni_ldl_pattern pattern;
    const char *text;
  } cases[] = {
      {{2, nine, NULL, 0, NULL, NULL, free_order, NULL}, "node 1 has size 9, needs 1 to 8"},
      {{2, none, NULL, 0, NULL, NULL, free_order, NULL}, "node 0 has size 0, needs 1 to 8"},
      {{2, two, odd_sign, 0, NULL, NULL, free_order, NULL}, "node 1 has sign 0, needs 1 or -1"},
      {{2, two, NULL, 1, five, zero, free_order, NULL}, "block 0 is at (5, 0), needs nodes 0 to 1"},
      {{-1, two, NULL, 0, NULL, NULL, free_order, NULL}, "-1 nodes and 0 blocks, needs >= 0"},
      {{2, two, NULL, 0, NULL, NULL, after_itself, NULL}, "node 1 has to come after itself"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sni_ldl *ldl = NULL;
    sn_error err = {0};
    CHECK(sni_ldl_build(&cases[k].pattern, NULL, &ldl, &err) == SN_E_ARGUMENT && !ldl, "case %zu",
          k);
    CHECK(strstr(err.text, cases[k].text), "case %zu: '%s'", k, err.text);
    CHECK(sni_ldl_build(&cases[k].pattern, NULL, &ldl, NULL) == SN_E_ARGUMENT, "case %zu", k);
  }
}

int main(void) {
  heap_ready();
  RUN_TESTS(T(definite_systems_of_all_sizes_are_solved), T(factors_that_did_well_are_trusted),
            T(quasi_definite_systems_are_solved_in_any_order),
            T(multipliers_without_compliance_are_solved_by_rules), T(stiff_mechanisms_are_solved),
            T(bits_are_the_same_every_time), T(vectors_by_places_give_the_same_bits),
            T(errors_of_large_systems_pass_through_little_room), T(units_do_not_matter),
            T(numeric_calls_allocate_nothing), T(refused_memory_is_reported),
            T(products_are_those_of_the_matrix), T(a_row_without_entries_is_named),
            T(a_singular_matrix_is_noticed), T(a_large_pivot_of_the_wrong_sign_is_taken),
            T(numbers_that_are_none_are_named), T(zero_gives_zero), T(counts_are_known_before),
            T(bad_patterns_are_refused));
}
