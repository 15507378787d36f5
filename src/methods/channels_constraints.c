/* channels_constraints.c: what can be recorded of loops, constraints, guided bodies and limits.
 *
 *     loops.NAME.q .qd .tau .reaction.tx ...    constraints.NAME.force    motions.NAME.force
 *     BODY.limit .at_limit .swing .twist        loops.NAME.limit ...
 *
 * A row of a constraint pushes with -lambda along itself: what it needs to be met.  That of a soft
 * stop has no lambda, and pushes with what lies beyond it. */
#include "methods/channels_constraints.h"

#include "dynamics/loops.h"

#include <stdio.h>
#include <string.h>

/* A limit is touched when it is nearer than this. */
#define TOUCHED 1e-8

static const char *const wrench[] = {".tx", ".ty", ".tz", ".fx", ".fy", ".fz"};

/* The constraint of number n among the channels of all, and which of its own that is. */
static int owner_of(const sn_model *m, int n, int *own) {
  int lo = 0, hi = m->nconstraint - 1;
  while (lo < hi) {
    const int mid = (lo + hi + 1) / 2;
    if (m->constraint_channel[mid] <= n) {
      lo = mid;
    } else {
      hi = mid - 1;
    }
  }
  *own = n - m->constraint_channel[lo];
  return lo;
}

static const char *section(const sn_model *m, int k) {
  const bool loop = k < m->nloop || m->constraint[k].of_loop;
  return loop                                  ? "loops."
         : k < m->nloop + m->nbond             ? "constraints."
         : k < m->nloop + m->nbond + m->nguide ? "motions."
                                               : "";
}

/* Coordinates of the joint or loop that a limit is of, and which of them it is. */
static int limited(const sn_model *m, const sni_constraint *c, int *which) {
  if (c->of_loop) {
    *which = c->coord[0];
    return c->nv;
  }
  const int body = sni_tree_body_of(&m->tree, c->coord[0]);
  *which = c->coord[0] - m->tree.vadr[body];
  return m->tree.vadr[body + 1] - m->tree.vadr[body];
}

/* "" or a number, where there are several. */
static void numbered(char *out, size_t size, const char *word, int count, int which) {
  snprintf(out, size, count > 1 ? "%s%d" : "%s", word, which);
}

/* What follows the name. */
static void suffix(const sn_model *m, int k, int own, char *out, size_t size) {
  const sni_constraint *c = &m->constraint[k];
  static const char *const of_loop[] = {".q", ".qd", ".tau"};
  int which = 0;
  if (k < m->nloop && own < 3 * c->nv) {
    numbered(out, size, of_loop[own / c->nv], c->nv, own % c->nv);
  } else if (k < m->nloop) {
    snprintf(out, size, ".reaction%s", wrench[own - 3 * c->nv]);
  } else if (c->kind == SNI_LIMIT) {
    const int count = limited(m, c, &which);
    numbered(out, size, own ? ".at_limit" : ".limit", count, which);
  } else if (c->kind == SNI_CONE) {
    snprintf(out, size, own == 0 && c->swing < SN_PI ? ".swing" : ".twist");
  } else {
    numbered(out, size, ".force", c->nrow, own);
  }
}

void sni_constraint_channel_name(const sn_model *m, int n, char *out, size_t out_size) {
  int own;
  const int k = owner_of(m, n, &own);
  char end[32];
  suffix(m, k, own, end, sizeof end);
  snprintf(out, out_size, "%s%s%s", section(m, k), m->constraint_name[k], end);
}

int sni_constraint_channel_find(const sn_model *m, const char *name) {
  for (int k = 0; k < m->nconstraint; k++) {
    const char *place = section(m, k), *own = m->constraint_name[k];
    const size_t n = strlen(place), length = strlen(own);
    if (strncmp(name, place, n) != 0 || strncmp(name + n, own, length) != 0 ||
        name[n + length] != '.') {
      continue;
    }
    for (int i = m->constraint_channel[k]; i < m->constraint_channel[k + 1]; i++) {
      char end[32];
      suffix(m, k, i - m->constraint_channel[k], end, sizeof end);
      if (strcmp(end, name + n + length) == 0) {
        return i;
      }
    }
  }
  return -1;
}

/* ---- values, after sni_sim_evaluate ---- */

/* The first row of constraint k; *count: how many it has now. */
static int rows_of(const sni_rows *r, int k, int *count) {
  int lo = 0, hi = r->nrow;
  while (lo < hi) {
    const int mid = (lo + hi) / 2;
    if (r->of[mid] < k) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  for (*count = 0; lo + *count < r->nrow && r->of[lo + *count] == k; ++*count) {
  }
  return lo;
}

/* What springs, dampers and the drive of loop k do; false: it has none. */
static bool loop_forces(sni_dynamics *d, int k, double t, sni_loop_at *at, double *tau) {
  const sn_model *m = d->m;
  for (int n = 0; n < m->nloop_spring; n++) {
    if (m->loop_spring[n].loop == k && sni_loops_look(d, n, t, t, at)) {
      sni_loops_force(d, at, tau);
      return true;
    }
  }
  return false;
}

/* What side b of loop k gets, in its frame there.  rubs: its friction is known. */
static sn_vec6 loop_wrench(sn_sim *sim, int k, double t, bool rubs) {
  sni_dynamics *d = &sim->d;
  const sni_rows *r = d->rows;
  const sni_constraint *c = &d->m->constraint[k];
  sn_vec6 f = rubs ? sim->method->rub_in_loop(sim, k) : (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  sni_loop_at at;
  double tau[SN_NV_MAX] = {0};
  int count;
  const int first = rows_of(r, k, &count);
  for (int i = first; i < first + count; i++) {
    f = sn_vec6_addscaled(f, -r->lambda[i], r->row[i].p[1]);
  }
  if (loop_forces(d, k, t, &at, tau)) {
    for (int i = 0; i < c->nv; i++) {
      f = sn_vec6_addscaled(f, tau[i], at.map.p[1][i]);
    }
  }
  const sn_se3 E = c->body[1] < 0 ? sn_se3_identity() : d->E_wb[c->body[1]];
  f.w = sn_vec3_sub(f.w, sn_vec3_cross(sn_mat3_mul_vec(E.R, c->at[1].p), f.v));
  return sn_vec6_unrotate(sn_mat3_mul(E.R, c->at[1].R), f);
}

static double of_loop(sn_sim *sim, int k, int own, double t, bool rubs) {
  sni_dynamics *d = &sim->d;
  const sni_constraint *c = &d->m->constraint[k];
  const int nv = c->nv;
  if (own >= 3 * nv) {
    return sn_vec6_get(loop_wrench(sim, k, t, rubs), own - 3 * nv);
  }
  if (own < 2 * nv) {
    return (own < nv ? d->rows->loop_q : d->rows->loop_qd)[c->first + own % nv];
  }
  sni_loop_at at;
  double tau[SN_NV_MAX] = {0};
  loop_forces(d, k, t, &at, tau);
  return tau[own - 2 * nv];
}

/* What row i pushes with along itself. */
static double borne(const sni_rows *r, int i) {
  return r->d->m->soft && r->row[i].one_sided ? r->u.borne[i] - r->lambda[i] : -r->lambda[i];
}

/* Rows that hold from below count as they are, those from above with the other sign. */
static double of_limit(const sni_rows *r, const sni_constraint *c, int first, int count, int own) {
  double sum = 0;
  for (int i = 0; i < count; i++) {
    const double sign = i == 0 && isfinite(c->lower) ? 1 : -1;
    sum += own == 0 ? sign * borne(r, first + i) : r->row[first + i].g <= TOUCHED ? -sign : 0;
  }
  return sum;
}

static double of_cone(const sni_rows *r, const sni_constraint *c, int first, int count, int own) {
  const bool swings = c->swing < SN_PI;
  if (count == 0 || (own == 0 && swings)) {
    return count == 0 ? 0 : borne(r, first);
  }
  return borne(r, first + swings) - borne(r, first + swings + 1);
}

double sni_constraint_channel_value(sn_sim *sim, int n, double t, bool rubs) {
  sni_dynamics *d = &sim->d;
  int own, count;
  const int k = owner_of(d->m, n, &own);
  const sni_constraint *c = &d->m->constraint[k];
  if (k < d->m->nloop) {
    return of_loop(sim, k, own, t, rubs);
  }
  const int first = rows_of(d->rows, k, &count);
  return c->kind == SNI_LIMIT  ? of_limit(d->rows, c, first, count, own)
         : c->kind == SNI_CONE ? of_cone(d->rows, c, first, count, own)
         : own < count         ? borne(d->rows, first + own)
                               : 0;
}
