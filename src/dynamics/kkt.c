/* kkt.c: masses, joints, forces and constraints as one sparse graph: what it costs, and solutions.
 */
#include "dynamics/kkt_parts.h"

#include "base/memory.h"

#include <limits.h>
#include <string.h>

/* ---- what it costs ---- */

/* Blocks of A: a wrench carried up to each joint above, a coordinate at a time.  Rows: carried up
 * likewise, and made orthonormal.  Forces: products along both ways. */
static double reduced_fill_cost(const sni_kkt_reduced *r) {
  const sni_tree *t = &r->d->m->tree;
  double carried = 0, columns = 0, rows = 0, products = 0;
  for (int i = 0; i < t->nbody; i++) {
    carried += (double)t->joint[i].nv * (r->way[i + 1] - r->way[i]);
  }
  for (int c = 0; c < r->ncon; c++) {
    columns += r->tied[c].columns;
    rows += r->tied[c].size;
  }
  for (int p = 0; p < r->npairs; p++) {
    products += (double)r->coupling[p].count[0] * r->coupling[p].count[1];
  }
  return 13.5 * carried + 20 * columns + 98 * rows + 3.4 * products;
}

/* Fitted to measurements in the midst of steps of 28 mechanisms of 2 to 1300 bodies in both forms:
 * within 15 % for most, on a processor with vectors of 8 doubles. */
double sni_kkt_cost(const sni_kkt *k) {
  const sni_ldl_counts c = sni_ldl_get_counts(k->ldl);
  const double near = 1e6, far = (double)c.bytes > near ? (double)c.bytes - near : 0;
  const double fill = k->reduced ? reduced_fill_cost(k->reduced) : 28.0 * k->d->m->tree.nbody;
  return 10.7 * c.updates + 170 * c.tiles + 3 * c.cost.nonzeros + 0.088 * far + fill;
}

sni_kkt_form sni_kkt_get_form(const sni_kkt *k) {
  return k->reduced ? SNI_KKT_REDUCED : SNI_KKT_MAXIMAL;
}

/* ---- solving ---- */

/* Where rows in doubt have been left out, others may be: as many as loops depend on each other. */
enum { DOUBTS_MAX = 8 };

/* The twist of the body that carries a bare one; NULL: none. */
static int carrier(const sni_kkt *k, int i) {
  const int p = k->d->m->tree.parent[i];
  return p >= 0 ? k->at[p] : -1;
}

/* b into the rows of the rates, c into those of the constraints: all others are 0.  Returns the
 * right-hand side. */
static const double *scatter(sni_kkt *k, const double *b, const double *c) {
  if (k->reduced) {
    sni_kkt_reduced_scatter(k->reduced, b, c, k->x);
    return k->x;
  }
  const sni_tree *t = &k->d->m->tree;
  double *x = sni_ldl_side(k->ldl);
  memset(x, 0, (size_t)sni_ldl_place_count(k->ldl) * sizeof *x);
  for (int i = 0; b && i < t->nbody; i++) {
    if (k->row[i] >= 0) {
      memcpy(x + k->row[i], b + t->vadr[i], (size_t)t->joint[i].nv * sizeof *b);
    } else if (k->is_bare[i]) {
      const int p = carrier(k, i);
      sni_bare_push(&k->bare[i], b + t->vadr[i], x + k->at[i], p >= 0 ? x + p : NULL);
    }
  }
  for (int i = 0; c && i < k->nrow; i++) {
    x[k->row_at[i]] = k->out[i] ? 0 : c[i];
  }
  return x;
}

bool sni_kkt_takes_soft(const sni_kkt *k) {
  return !k->reduced;
}

int sni_kkt_replaced(const sni_kkt *k) {
  return k->replaced;
}

bool sni_kkt_depends(const sni_kkt *k) {
  return k->replaced > 0 || k->nout > 0 || (k->reduced && sni_kkt_reduced_depends(k->reduced));
}

unsigned sni_kkt_count(const sni_kkt *k) {
  return k->count;
}

void sni_kkt_take_care(sni_kkt *k, sni_kkt_care care) {
  const sni_ldl_options usual = sni_ldl_options_default();
  if (k->lost) {
    return;
  }
  sni_ldl_refine_to(k->ldl, care == SNI_KKT_EXACT ? usual.target : 1e-9,
                    care == SNI_KKT_TRUSTING ? 0.1 : usual.trust);
}

double sni_kkt_weakest(const sni_kkt *k) {
  return k->reduced ? sni_kkt_reduced_weakest(k->reduced) : 1;
}

#define AHEAD 16 /* bodies, of what is expected: vectors are in the order of elimination */

/* What is known of the twist of a body. */
SNI_EXPECT_FN void expect(const sni_kkt *k, int i, const double *places) {
  if (i < k->d->m->tree.nbody && k->at[i] >= 0) {
    sni_memory_expect(places + k->at[i], 3 * sizeof *places);
  }
}

/* x and lambda out of the solution. */
static void gather(const sni_kkt *k, double *x, double *lambda) {
  const sni_tree *t = &k->d->m->tree;
  if (k->reduced) {
    sni_kkt_reduced_gather(k->reduced, k->x, x, lambda);
    return;
  }
  const double *found = sni_ldl_found(k->ldl);
  for (int i = 0; i < t->nbody; i++) {
    expect(k, i + AHEAD, found);
    if (k->row[i] >= 0) {
      memcpy(x + t->vadr[i], found + k->row[i], (size_t)t->joint[i].nv * sizeof *x);
    } else if (k->is_bare[i]) {
      const int p = carrier(k, i);
      sni_bare_rates(&k->bare[i], found + k->at[i], p >= 0 ? found + p : NULL, x + t->vadr[i]);
    }
  }
  for (int i = 0; lambda && i < k->nrow; i++) {
    lambda[i] = found[k->row_at[i]];
  }
}

static void keep(sni_kkt *k, const double *b, const double *c) {
  const size_t nv = (size_t)k->d->m->tree.nv;
  k->given_b = b != NULL;
  k->given_c = c != NULL;
  if (b && nv > 0) {
    memcpy(k->given, b, nv * sizeof *b);
  }
  if (c && k->nrow > 0) {
    memcpy(k->given + nv, c, (size_t)k->nrow * sizeof *c);
  }
}

/* Has work on this right-hand side begun? */
static bool has_begun(const sni_kkt *k, const double *b, const double *c) {
  const size_t nv = (size_t)k->d->m->tree.nv;
  return k->begun && k->given_b == (b != NULL) && k->given_c == (c != NULL) &&
         (!b || nv == 0 || memcmp(k->given, b, nv * sizeof *b) == 0) &&
         (!c || k->nrow == 0 || memcmp(k->given + nv, c, (size_t)k->nrow * sizeof *c) == 0);
}

sn_status sni_kkt_factorise(sni_kkt *k, const double *b, const double *c, int *bad) {
  sni_ldl_factor factor;
  *bad = -1;
  if (k->lost) {
    return k->lost;
  }
  const bool known = b || c;
  const double *side = known ? scatter(k, b, c) : NULL;
  if (known) {
    keep(k, b, c);
  }
  sn_status status = sni_ldl_factorise(k->ldl, side, &factor);
  for (int pass = 0;
       pass < DOUBTS_MAX && k->reduced && status >= 0 && sni_kkt_reduced_leave_doubtful(k->reduced);
       pass++) {
    side = known ? scatter(k, b, c) : NULL;
    status = sni_ldl_factorise(k->ldl, side, &factor);
  }
  k->begun = known && status >= 0;
  k->replaced = factor.replaced;
  k->count += k->count == UINT_MAX ? 2 : 1;
  *bad = status < 0 && k->reduced ? sni_kkt_reduced_body(k->reduced, factor.node) : -1;
  for (int i = 0; !k->reduced && status < 0 && i < k->d->m->tree.nbody; i++) {
    if (factor.node >= 0 &&
        (factor.node == k->phi[i] || factor.node == k->qd[i] || factor.node == k->mu[i])) {
      *bad = i;
    }
  }
  return status;
}

sn_status sni_kkt_solve(sni_kkt *k, const double *b, const double *c, double *x, double *lambda,
                        double *residual) {
  sni_ldl_solution solution;
  if (k->lost) {
    *residual = INFINITY;
    return k->lost;
  }
  const bool begun = has_begun(k, b, c);
  k->begun = false;
  const double *side = begun ? NULL : scatter(k, b, c);
  const sn_status status = sni_ldl_solve(k->ldl, side, k->x, &solution);
  *residual = solution.residual;
  gather(k, x, lambda);
  return status;
}
