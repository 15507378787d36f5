/* rub_maximal.c: friction as the paper has it: between bodies that joints do not hold together
 * [RM 12]
 *
 *     min 1/2 x^T H x - x^T (T J v + H x_before)     |x| <= mu |alpha|     H = T M^-1 T^T
 *
 * The linear term is the velocity with everything in it but friction.  Contacts at points have one
 * unknown for each tangent, as in the paper; contacts all around have what they do together, one
 * for each way to slide, within the disc.
 *
 * At an answer, x = x_before takes most energy for the velocity T J v: v is that of the reduced
 * problem.  With J M_r^-1 J^T <= M^-1 turns come nearer to it, the slower the more the joints hold.
 * For that T must be along the joint as J has it: sni_rubbing_tangent. */
#include "methods/redmax/rub.h"

#include "math/dense.h"

#include <string.h>

/* y = M^-1 f for a wrench on a body, world axes at its origin; 0 where there is no mass. */
static sn_vec6 accelerate(const sni_rubbing *r, int body, sn_vec6 f) {
  const sni_dynamics *d = r->s->d;
  sni_art M;
  double A[36], x[6];
  sni_mass_block(&d->mass[body], &d->w.link[body], &M);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      A[6 * i + j] = M.A[j][i];
      A[6 * (i + 3) + j] = M.Bt[j][i];
      A[6 * i + j + 3] = M.Bt[i][j];
      A[6 * (i + 3) + j + 3] = M.C[j][i];
    }
    x[i] = sn_vec6_get(f, i);
    x[i + 3] = sn_vec6_get(f, i + 3);
  }
  if (!sni_cholesky(6, A, 1e-12, NULL)) {
    return (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  }
  sni_cholesky_solve(6, A, x);
  return (sn_vec6){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

/* An unknown along `T` in axes of the bearings, between the two bodies of a rub. */
static sni_rub_wide *add_wide(sni_rubbing *r, int rub, sn_vec6 T, int which, int slide) {
  sni_rub_wide *w = &r->wide[r->nwide++];
  *w = (sni_rub_wide){.which = which, .slide = slide, .arm = 1, .pad = -1};
  sni_rubbing_bodies(r, &r->m->rub[rub], w->body);
  for (int side = 0; side < 2; side++) {
    if (w->body[side] >= 0) {
      w->p[side] = sn_vec6_scale(sni_rubbing_at(r, rub, T, w->body[side]), side ? 1 : -1);
    }
  }
  return w;
}

static void add_bearing(sni_rubbing *r, int k, int b, int first, int tangent) {
  const sni_rub *rub = &r->m->rub[k];
  const sni_bearing *own = &rub->bearing[b];
  for (int c = 0; own->kind != SNI_AT_POINTS && c < own->ndirection; c++) {
    add_wide(r, k, own->direction[c], first + c, first + c);
  }
  for (int c = 0; own->kind == SNI_AT_POINTS && c < own->ntangent; c++) {
    const sni_rub_tangent *t = &own->tangent[c];
    const bool apart = sni_rubbing_apart(r, rub);
    sni_rub_wide *w = add_wide(r, k, sni_rubbing_tangent(rub, b, c),
                               r->m->nslide + r->m->nrow + tangent + c, first + t->direction);
    w->arm = t->arm;
    w->pad = apart ? tangent + c : -1;
  }
}

/* Laws that know no surfaces: T with the rate of the row, S^T T = its numbers. */
static void add_along(sni_rubbing *r, int k) {
  const sni_rub *rub = &r->m->rub[k];
  const int n = rub->nslide;
  for (int c = 0; c < n; c++) {
    const sni_row *row = &r->row[rub->first + c];
    double A[SN_NV_MAX * SN_NV_MAX], x[SN_NV_MAX] = {0};
    sn_vec6 T = {{0, 0, 0}, {0, 0, 0}};
    if (rub->body < 0) {
      sni_rub_wide *w = add_wide(r, k, T, rub->first + c, rub->first + c);
      memcpy(w->p, row->p, sizeof w->p);
      continue;
    }
    const sni_lane6 *S = r->s->d->w.S + r->s->t->vadr[rub->body];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        A[i * n + j] = sni_lane6_dot(S[i], S[j]);
      }
    }
    for (int i = 0; i < row->ncoord; i++) {
      x[row->coord[i] - r->s->t->vadr[rub->body]] = row->coef[i];
    }
    if (sni_cholesky(n, A, 1e-12, NULL)) {
      sni_cholesky_solve(n, A, x);
    }
    for (int i = 0; i < n; i++) { /* S x at the place of the joint, which is the body's origin */
      T = sn_vec6_addscaled(T, x[i], sni_lane6_vec6(S[i]));
    }
    add_wide(r, k, sn_vec6_unrotate(r->axes[k], T), rub->first + c, rub->first + c);
  }
}

static void find_unknowns(sni_rubbing *r) {
  int n = 0;
  r->nwide = 0;
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    if (rub->law != SNI_COULOMB) {
      add_along(r, k);
    }
    for (int b = 0, first = rub->first, tangent = rub->first_tangent; b < rub->nbearing; b++) {
      add_bearing(r, k, b, first, tangent);
      first += rub->bearing[b].ndirection;
      tangent += rub->bearing[b].ntangent;
    }
  }
  for (int i = 0; i < r->nwide; i++) { /* what constraints hold or drive is no question */
    if (!r->held[r->wide[i].pad >= 0 ? r->wide[i].which : r->wide[i].slide]) {
      r->wide[n++] = r->wide[i];
    }
  }
  r->nwide = n;
}

static sn_vec6 over_body(const sni_rub_wide *w, int body) {
  const sn_vec6 none = {{0, 0, 0}, {0, 0, 0}};
  return w->body[1] == body ? w->p[1] : w->body[0] == body ? w->p[0] : none;
}

/* Friction of a tangent of a contact; NULL: it is that of a slide. */
static double *tangent_of(const sni_rubbing *r, const sni_rub_wide *w) {
  const int i = w->which - r->m->nslide - r->m->nrow;
  return i < 0 ? NULL : &r->beta[i];
}

/* Friction of the last step, shared out among the tangents. */
static void begin_tangents(sni_rubbing *r) {
  for (int i = 0; i < r->nwide; i++) {
    double square = 0;
    for (int j = 0; j < r->nwide; j++) {
      square += r->wide[j].slide == r->wide[i].slide ? r->wide[j].arm * r->wide[j].arm : 0;
    }
    if (tangent_of(r, &r->wide[i])) {
      *tangent_of(r, &r->wide[i]) = r->s->h * r->force[r->wide[i].slide] * r->wide[i].arm / square;
    }
  }
}

void sni_rubbing_mobility(sni_rubbing *r) {
  find_unknowns(r);
  begin_tangents(r);
  const int n = r->nwide;
  memset(r->mobility, 0, (size_t)n * (size_t)n * sizeof *r->mobility);
  for (int k = 0; k < n; k++) {
    for (int side = 0; side < 2; side++) {
      const int body = r->wide[k].body[side];
      const sn_vec6 y = body < 0 ? r->wide[k].p[side] : accelerate(r, body, r->wide[k].p[side]);
      for (int i = 0; body >= 0 && i <= k; i++) {
        r->mobility[(size_t)k * (size_t)n + (size_t)i] +=
            sn_vec6_dot(over_body(&r->wide[i], body), y);
      }
    }
  }
}

static double last_push(const sni_rubbing *r, const sni_rub_wide *w) {
  const double *beta = tangent_of(r, w);
  return beta ? *beta : r->s->h * r->force[w->slide];
}

/* Friction of the slides, from the answer x.  What it does across them is shared out as it is in
 * the reduced problem: where a slide sticks, many x do the same. */
static void take(sni_rubbing *r, const double *x) {
  for (int i = 0; i < r->nwide; i++) {
    r->force[r->wide[i].slide] = 0;
  }
  for (int i = 0; i < r->nwide; i++) {
    const sni_rub_wide *w = &r->wide[i];
    double *beta = tangent_of(r, w);
    r->force[w->slide] += w->arm * x[i] / r->s->h;
    if (beta) {
      *beta = x[i];
    }
  }
}

void sni_rubbing_rub_maximal(sni_rubbing *r) {
  const int n = r->nwide;
  sni_qp_info info;
  sni_rubbing other = sni_rubbing_other(r, n);
  other.S = r->mobility;
  other.allowed = r->limit; /* of tangents */
  for (int k = 0; k < n; k++) {
    const sni_rub_wide *w = &r->wide[k];
    double *b = &other.free[w->which];
    other.which[k] = w->which;
    *b = w->pad >= 0 ? r->pad_rate[w->pad] : w->arm * r->rate[w->slide];
    for (int i = 0; i < n; i++) {
      const int row = i <= k ? k : i, column = i <= k ? i : k;
      *b += r->mobility[(size_t)row * (size_t)n + (size_t)column] * last_push(r, &r->wide[i]);
    }
  }
  sni_rubbing_find(&other, sni_rubbing_fill_other, true, &info);
  take(r, other.qp.x);
}
