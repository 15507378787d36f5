/* cut.c: what is made of iterations that were broken off, so that no energy comes of them.
 *
 * Everything here is done set by set of bodies that joints or ties connect: nothing of the system
 * goes from one to another. */
#include "dynamics/composite.h"
#include "methods/structured/sets.h"
#include "methods/structured/ties.h"

#include <string.h>

/* ---- sets ---- */

static void join(const sni_ties *t, int i, int j) {
  const bool *grounded = t->system->grounded; /* what stands still does not connect */
  if (i >= 0 && j >= 0 && !grounded[i] && !grounded[j]) {
    sni_sets_join(t->joined, i, j);
  }
}

/* A body that the tie moves; -1: none. */
static int body_of(const sni_ties *t, const sni_tie *tie) {
  const bool *grounded = t->system->grounded;
  for (const sni_tie *part = tie; part; part = part->next) {
    for (int side = 0; side < 2; side++) {
      if (part->body[side] >= 0 && !grounded[part->body[side]]) {
        return part->body[side];
      }
    }
  }
  return tie->coords ? sni_tree_body_of(&t->d->m->tree, tie->coords->coord[0]) : -1;
}

void sni_ties_join(const sni_ties *t) {
  const sni_tree *tree = &t->d->m->tree;
  for (int i = 0; i < tree->nbody; i++) {
    t->joined[i] = i;
    join(t, tree->parent[i], i);
  }
  for (int k = 0; k < t->ntie; k++) {
    const sni_tie *tie = &t->tie[k];
    const int first = body_of(t, tie);
    for (const sni_tie *part = tie; part; part = part->next) {
      join(t, first, part->body[0]);
      join(t, first, part->body[1]);
    }
    for (int c = 0; tie->coords && c < tie->coords->ncoord; c++) {
      join(t, first, sni_tree_body_of(tree, tie->coords->coord[c]));
    }
  }
}

int sni_ties_body_of(const sni_ties *t, int i) {
  const int body = body_of(t, &t->tie[i]);
  return body >= 0 ? sni_set_of(t->joined, body) : -1;
}

static void find_sets(const sni_ties *t) {
  sni_ties_join(t);
  memset(t->sums, 0, (size_t)t->d->m->tree.nbody * sizeof *t->sums);
}

/* The sums of the set of tie i; NULL: it moves nothing. */
static sni_sums *of_tie(const sni_ties *t, int i) {
  const int set = sni_ties_body_of(t, i);
  return set >= 0 ? &t->sums[set] : NULL;
}
static sni_sums *of_body(const sni_ties *t, int i) {
  return &t->sums[sni_set_of(t->joined, i)];
}

/* ---- forces ---- */

/* With lambda that is not the solution, rows do work on rates r that they should not have:
 * x^T A x = x^T b - lambda^T (c + E lambda) - lambda^T r.  That multiple of lambda is taken with
 * which this is none, lambda^T r = 0.  Iterations that begin without forces have it all along;
 * those that begin with the forces of the last step have not.  It is also the nearest to the
 * solution, in the measure in which conjugate gradients get nearer.  So nothing is gained where
 * rows ask for no rates.
 *
 * Where they ask for rates c that cannot be had, forces grow without bound along what moves next to
 * nothing, and what they move is thrown about.  All that c may need is what would set the whole of
 * a set moving at such rates; where more is gained, forces count no further than they bring rows
 * nearest to c, in the least squares. */
static double multiple(const sni_sums *s) {
  if (!(s->square > 0) || !(s->change > 0)) {
    return 1; /* nothing is moved by them */
  }
  const double idle = fmax(s->work / s->square, 0), nearest = fmax(s->nearer / s->change, 0);
  const double gained = idle * (idle * s->xAx - 2 * s->xl); /* of x^T A x */
  return gained > s->needs * s->mass ? fmin(idle, nearest) : idle;
}

/* For that: t->q is what is left without forces. */
static void sum_forces(const sni_ties *t) {
  const sni_tree *tree = &t->d->m->tree;
  find_sets(t);
  for (int i = 0; i < tree->nbody; i++) {
    of_body(t, i)->mass += t->d->mass[i].m;
  }
  for (int i = 0; i < t->ntie; i++) {
    const int body = body_of(t, &t->tie[i]);
    if (body >= 0) {
      sni_sums *s = of_body(t, body);
      const double by = t->q[i] - t->r[i], m = t->d->mass[body].m;
      s->work += t->lambda[i] * t->q[i];
      s->square += t->lambda[i] * by;
      s->nearer += t->inverse[i] * by * t->q[i];
      s->change += t->inverse[i] * by * by;
      s->xl += t->lambda[i] * (t->q[i] + t->c[i]);
      s->xAx += t->lambda[i] * (by - t->soft[i] * t->lambda[i]);
      s->needs += m > 0 ? t->inverse[i] * t->c[i] * t->c[i] / m : 0;
    }
  }
}

void sni_ties_take_multiple(sni_ties *t, const double *b, double *x) {
  const sni_tree *tree = &t->d->m->tree;
  memset(t->p, 0, (size_t)t->ntie * sizeof *t->p);
  sni_ties_respond(t, b, t->p, t->y); /* without forces */
  sni_ties_leave(t, t->y, t->p, t->q);
  sum_forces(t);
  for (int i = 0; i < tree->nbody; i++) {
    const double part = multiple(of_body(t, i));
    for (int k = tree->vadr[i]; k < tree->vadr[i + 1]; k++) {
      x[k] = t->y[k] + part * (x[k] - t->y[k]);
    }
  }
  for (int i = 0; i < t->ntie; i++) {
    const sni_sums *s = of_tie(t, i);
    t->lambda[i] *= s ? multiple(s) : 1;
  }
  sni_ties_check(t, x);
}

/* ---- springs ---- */

/* A spring whose row is off by r has a force for another rate than its own: left so, it is an
 * explicit force, and stiff ones throw everything about.  Let b be without the work of constraints,
 * and A' = A + sum over springs of g g^T / E, the matrix with springs in it.  To second order a
 * step with rates x changes the energy by
 *
 *     -1/2 |x - v|^2_M - 1/2 h^2 x^T K x - h x^T D x - x^T (b - A' x)
 *
 * so whatever x has x^T (b - A' x) = 0 gains none.  That is so if x is the best in any space of
 * rates, where 1/2 x^T A' x - b^T x is least.  Here the space has two directions: the x that was
 * found, and what corrects it, z = Q^-1 (b - A' x), with a matrix Q of the tree that is above A':
 * each spring g = (p_1, ..., p_m) over m bodies resists what these do by themselves, m times,
 *
 *     (p_1 x_1 + ... + p_m x_m)^2 <= m ((p_1 x_1)^2 + ... + (p_m x_m)^2)
 *
 * Where constraints are in the same set there is but x itself: z knows nothing of them, and what it
 * opens is closed again against the springs. */

/* m times the sum of (p_k x_k) (p_k z_k), for twists x and z. */
static double braced(const sni_tie *tie, const sni_lane6 *x, const sni_lane6 *z) {
  double sum = 0;
  int m = 0;
  for (; tie; tie = tie->next) {
    for (int side = 0; side < 2; side++) {
      const int body = tie->body[side];
      if (body >= 0) {
        sum += sni_lane6_dot(tie->p[side], x[body]) * sni_lane6_dot(tie->p[side], z[body]);
        m++;
      }
    }
  }
  return m * sum;
}

static bool is_spring(const sni_ties *t, int i) {
  return t->slot[i] < 0;
}

/* z in t->y, G z in t->q, the twists of z in w->a and those of x in system->f; false: there is
 * none. */
static bool find_correction(sni_ties *t, const double *x) {
  const sni_tree *tree = &t->d->m->tree;
  bool any = false;
  for (int i = 0; i < t->ntie; i++) {
    t->p[i] = is_spring(t, i) ? -t->r[i] / t->soft[i] : 0;
    any = any || t->p[i] != 0;
  }
  if (!any) {
    return false;
  }
  sni_J_mul_world(tree, &t->d->w, x);
  memcpy(t->system->f, t->d->w.a, (size_t)tree->nbody * sizeof *t->system->f);
  sni_system_brace_rows(t->system);
  if (sni_factorise(tree, &t->system->in, &t->d->w) >= 0) {
    return false;
  }
  sni_ties_mul_transposed(t, t->p, t->y);
  sni_ties_measure(t, t->y, t->q);
  return true;
}

static void sum_up(const sni_ties *t, const double *b, const double *x) {
  const sni_tree *tree = &t->d->m->tree;
  const sni_lane6 *of_x = t->system->f, *of_z = t->d->w.a;
  find_sets(t);
  for (int i = 0; i < tree->nbody; i++) {
    for (int k = tree->vadr[i]; k < tree->vadr[i + 1]; k++) {
      of_body(t, i)->xAx += b[k] * x[k];
    }
  }
  for (int i = 0; i < t->ntie; i++) {
    sni_sums *s = of_tie(t, i);
    const double y = t->r[i] + t->soft[i] * t->lambda[i] + t->c[i];
    if (s && is_spring(t, i)) {
      const double c = 1 / t->soft[i];
      const double xz = braced(&t->tie[i], of_x, of_z), zz = braced(&t->tie[i], of_z, of_z);
      s->xr += y * t->p[i];
      s->zr += t->q[i] * t->p[i];
      s->xAx -= y * t->p[i];
      s->xAz += y * t->p[i] - c * (xz - y * t->q[i]);
      s->zAz += t->q[i] * t->p[i] - c * (zz - t->q[i] * t->q[i]);
    } else if (s) {
      s->tied = true;
      s->xAx -= y * t->lambda[i];
      s->xl += y * t->lambda[i];
      s->zl += t->q[i] * t->lambda[i];
      s->cl += t->c[i] * t->lambda[i];
    }
  }
}

/* of_x, of_z: the least of 1/2 x^T A' x - b^T x is of_x x + of_z z. */
static void find_least(sni_sums *s) {
  const double det = s->xAx * s->zAz - s->xAz * s->xAz;
  s->of_x = 1;
  s->of_z = 0;
  if (!s->tied && det > 1e-12 * s->xAx * s->zAz) {
    s->of_x += (s->xr * s->zAz - s->zr * s->xAz) / det;
    s->of_z = (s->zr * s->xAx - s->xr * s->xAz) / det;
  } else if (s->xAx > 0) {
    s->of_x += s->xr / s->xAx;
  }
  /* constraints whose rates are not met do no work, beyond what they are asked for */
  const double square =
      s->of_x * s->of_x * s->xAx + 2 * s->of_x * s->of_z * s->xAz + s->of_z * s->of_z * s->zAz;
  const double lent = fmin(s->cl, 0) - (s->of_x * s->xl + s->of_z * s->zl);
  const double share = lent > 0 ? fmax(1 - lent / square, 0) : 1;
  s->of_x *= share;
  s->of_z *= share;
}

void sni_ties_damp_springs(sni_ties *t, const double *b, double *x) {
  const sni_tree *tree = &t->d->m->tree;
  if (find_correction(t, x)) {
    sum_up(t, b, x);
    for (int i = 0; i < tree->nbody; i++) {
      if (t->joined[i] == i) {
        find_least(&t->sums[i]);
      }
    }
    for (int i = 0; i < tree->nbody; i++) {
      const sni_sums *s = of_body(t, i);
      for (int k = tree->vadr[i]; k < tree->vadr[i + 1]; k++) {
        x[k] = s->of_x * x[k] + s->of_z * t->y[k];
      }
    }
  }
  sni_J_mul_world(tree, &t->d->w, x);
}

/* ---- any rates ---- */

/* x^T A x of a body and its joint; its twist is in w->a. */
static double square_of(const sni_ties *t, int i, const double *x) {
  const sni_tree *tree = &t->d->m->tree;
  const sni_aba_in *in = &t->in;
  const int adr = tree->vadr[i], nv = tree->vadr[i + 1] - adr;
  const sni_lane6 a = t->d->w.a[i];
  const double *joint = in->joint_matrix + tree->factor[i];
  sni_art block;
  sni_mass_block(&in->mass[i], &t->d->w.link[i], &block);
  sni_brace_add(in, i, block.A);
  double sum = sni_lane6_dot(a, sni_block_mul(&block, a));
  if (in->extra && in->extra_of[i] >= 0) {
    sum += sni_lane6_dot(a, sni_block_mul(&in->extra[in->extra_of[i]], a));
  }
  for (int r = 0; r < nv; r++) {
    for (int k = 0; k < nv; k++) {
      sum += x[adr + r] * joint[r * nv + k] * x[adr + k];
    }
  }
  return sum;
}

/* x by its share of each set; best: see sni_ties_take_best. */
static void take_share(sni_ties *t, bool best, const double *b, double *x) {
  const sni_tree *tree = &t->d->m->tree;
  sni_J_mul_world(tree, &t->d->w, x);
  sni_ties_measure(t, x, t->q);
  find_sets(t);
  for (int i = 0; i < tree->nbody; i++) {
    sni_sums *s = of_body(t, i);
    s->xAx += square_of(t, i, x);
    for (int k = tree->vadr[i]; k < tree->vadr[i + 1]; k++) {
      s->work += b[k] * x[k];
    }
  }
  for (int i = 0; i < t->ntie; i++) {
    sni_sums *s = of_tie(t, i);
    if (s) {
      s->xAx += is_spring(t, i) ? t->q[i] * t->q[i] / t->soft[i] : 0;
      s->cl += is_spring(t, i) ? 0 : t->c[i] * t->lambda[i];
      s->tied = s->tied || (!is_spring(t, i) && t->c[i] != 0);
    }
  }
  for (int i = 0; i < tree->nbody; i++) {
    const sni_sums *s = of_body(t, i);
    const double may = best ? s->work : s->work - fmin(s->cl, 0);
    const bool changes = best ? !s->tied && s->xAx > 0 : may < s->xAx;
    const double share = changes ? fmax(may / s->xAx, 0) : 1;
    for (int k = tree->vadr[i]; k < tree->vadr[i + 1]; k++) {
      x[k] *= share;
    }
  }
  sni_J_mul_world(tree, &t->d->w, x);
}

void sni_ties_bound(sni_ties *t, const double *b, double *x) {
  take_share(t, false, b, x);
}

void sni_ties_take_best(sni_ties *t, const double *b, double *x) {
  take_share(t, true, b, x);
}
