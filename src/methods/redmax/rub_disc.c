/* rub_disc.c: friction of what slides in several ways at once.
 *
 * A pin in a sleeve slides around and along, a ball about three axes; each contact rubs against the
 * way in which it slides, so that friction x is within one disc or ball,
 *
 *     x_k = arm_k z_k     |z| <= p
 *
 * and not within bounds of its own in each direction.  The program has bounds only.  So it has z in
 * axes of which the first one is where z was: u = (d, t)^T z.  On the rim, z = p d, the multiplier
 * of the disc is k = |rate|/p, and a step of Newton's method on the least over the disc is the
 * least over
 *
 *     |u_0| <= p,     k/2 u_t^2 added for the others
 *
 * (sequential quadratic programming).  Where z turns out to be inside, k = 0 and the disc sticks,
 * to rounding as everything else does.  It takes two or three programs, and one where d is known.
 */
#include "methods/redmax/rub.h"

#include <string.h>

/* Of the disc: what still changes below this part does not. */
#define EXACT 1e-13
/* On the rim. */
#define RIM (1 - 1e-12)
/* To find where z is; how often x is drawn near where they do not, and by how much; and sweeps
 * where that does not help. */
enum { PROGRAMS = 15, DRAWS = 20, SWEEPS = 1000 };
#define LITTLE 1e-6
/* Arms of a direction in which nothing rubs, by the largest. */
#define FLAT 1e-9

static double norm(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * x[i];
  }
  return sqrt(sum);
}

/* Axes whose first one is d: the rows of a reflection that takes the first axis there. */
static void axes_of(int n, const double *d, double Q[3][3]) {
  double u[3] = {0};
  const double sign = d[0] > 0 ? -1 : 1; /* away from d, so that the difference has a length */
  for (int i = 0; i < n; i++) {
    u[i] = d[i] - (i == 0 ? sign : 0);
  }
  const double square = norm(n, u) * norm(n, u);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      Q[i][j] = (i == j) - 2 * u[i] * u[j] / square;
      Q[i][j] *= j == 0 ? sign : 1;
    }
  }
}

static double *entry(sni_qp *qp, int i, int j) {
  return &qp->S[(size_t)(i > j ? i : j) * (size_t)qp->n + (size_t)(i > j ? j : i)];
}

static double S_of(const sni_rubbing *r, int i, int j) {
  return r->S[(size_t)(i > j ? i : j) * (size_t)r->capacity + (size_t)(i > j ? j : i)];
}

/* x = B u */
static void basis_of(const sni_rub_disc *disc, double B[3][3]) {
  axes_of(disc->n, disc->d, B);
  for (int i = 0; i < disc->n; i++) {
    for (int j = 0; j < disc->n; j++) {
      B[i][j] *= disc->arm[i];
    }
  }
}

/* Its rows and columns in its own axes. */
static void turn_disc(sni_qp *qp, const sni_rub_disc *disc) {
  const int n = disc->n, at = disc->at;
  double B[3][3], own[3][3], half[3][3], b[3];
  basis_of(disc, B);
  for (int j = 0; j < qp->n; j++) {
    if (j >= at && j < at + n) {
      continue;
    }
    double s[3];
    for (int c = 0; c < n; c++) {
      s[c] = 0;
      for (int i = 0; i < n; i++) {
        s[c] += B[i][c] * *entry(qp, at + i, j);
      }
    }
    for (int c = 0; c < n; c++) {
      *entry(qp, at + c, j) = s[c];
    }
  }
  for (int i = 0; i < n; i++) {
    for (int c = 0; c < n; c++) {
      half[i][c] = 0;
      for (int j = 0; j < n; j++) {
        half[i][c] += *entry(qp, at + i, at + j) * B[j][c];
      }
    }
  }
  for (int c = 0; c < n; c++) {
    b[c] = 0;
    for (int i = 0; i < n; i++) {
      b[c] += B[i][c] * qp->b[at + i];
    }
    for (int e = 0; e < n; e++) {
      own[c][e] = 0;
      for (int i = 0; i < n; i++) {
        own[c][e] += B[i][c] * half[i][e];
      }
    }
  }
  for (int c = 0; c < n; c++) {
    qp->b[at + c] = b[c];
    for (int e = 0; e <= c; e++) {
      *entry(qp, at + c, at + e) = own[c][e] + (c == e && c > 0 ? disc->rim : 0);
    }
    qp->hi[at + c] = disc->most;
    qp->lo[at + c] = -disc->most;
    qp->side[at + c] = c == 0 && disc->rim > 0 ? 1 : 0;
  }
}

void sni_rubbing_turn_discs(sni_rubbing *r) {
  for (int k = 0; k < r->ndisc; k++) {
    if (r->disc[k].at >= 0) {
      turn_disc(&r->qp, &r->disc[k]);
    }
  }
}

/* Rates of the disc along z with x as it stands, what they are differences of at most, and the
 * trace of its own part of S. */
static double rates_of(const sni_rubbing *r, const sni_rub_disc *disc, double *rate, double *most) {
  double trace = 0;
  *most = 0;
  for (int i = 0; i < disc->n; i++) {
    const int row = disc->at + i;
    double sum = fabs(r->free[r->which[row]]);
    rate[i] = r->free[r->which[row]];
    for (int j = 0; j < r->n; j++) {
      const double part = S_of(r, row, j) * r->qp.x[j];
      rate[i] -= part;
      sum += fabs(part);
    }
    const double stiff = r->draws ? r->draw[row] : 0;
    rate[i] -= stiff * (r->qp.x[row] - r->drawn[row]);
    rate[i] *= disc->arm[i];
    *most = fmax(*most, disc->arm[i] * sum);
    trace += disc->arm[i] * disc->arm[i] * (S_of(r, row, row) + stiff);
  }
  return trace;
}

/* Where z + rate/trace is nearest, and how far z is from that: nothing where the law holds. */
static double away(const sni_rub_disc *disc, const double *z, const double *rate, double trace) {
  double y[3], off[3];
  for (int i = 0; i < disc->n; i++) {
    y[i] = z[i] + rate[i] / trace;
  }
  const double length = norm(disc->n, y), factor = length > disc->most ? disc->most / length : 1;
  for (int i = 0; i < disc->n; i++) {
    off[i] = z[i] - factor * y[i];
  }
  return norm(disc->n, off);
}

/* d and the multiplier of the rim, from what the program has found; true: they were right. */
static bool follow_disc(sni_rubbing *r, sni_rub_disc *disc, double most) {
  const int n = disc->n;
  double z[3], rate[3], first = 0, sum;
  for (int i = 0; i < n; i++) {
    z[i] = r->qp.x[disc->at + i] / disc->arm[i];
    first += z[i] * disc->d[i];
  }
  const double trace = rates_of(r, disc, rate, &sum), length = norm(n, z), p = disc->most;
  disc->sticks = length < RIM * p;
  if (!(trace > 0) || !(p > 0) ||
      away(disc, z, rate, trace) <= EXACT * (p + fmax(most, sum) / trace)) {
    return true;
  }
  if (disc->rim > 0 && first < RIM * p && length < RIM * p) {
    disc->rim = 0; /* inside, as it seems */
    return false;
  }
  for (int i = 0; i < n; i++) {
    rate[i] += length > p ? trace / n * z[i] * (1 - p / length) : 0;
    disc->d[i] = length > 0 ? z[i] / length : disc->d[i];
  }
  disc->rim = norm(n, rate) / p;
  return false;
}

void sni_rubbing_from_discs(const sni_rubbing *r, double *x) {
  for (int k = 0; k < r->ndisc; k++) { /* x = B u */
    const sni_rub_disc *disc = &r->disc[k];
    double B[3][3], u[3];
    if (disc->at < 0) {
      continue;
    }
    basis_of(disc, B);
    memcpy(u, x + disc->at, (size_t)disc->n * sizeof *u);
    for (int i = 0; i < disc->n; i++) {
      x[disc->at + i] = 0;
      for (int c = 0; c < disc->n; c++) {
        x[disc->at + i] += B[i][c] * u[c];
      }
    }
  }
}

bool sni_rubbing_follow_discs(sni_rubbing *r, bool last) {
  bool right = true;
  sni_qp *qp = &r->qp;
  double fastest = 0;
  sni_rubbing_from_discs(r, qp->x);
  for (int k = 0; k < r->ndisc; k++) {
    const sni_rub_disc *disc = &r->disc[k];
    for (int i = 0; disc->at >= 0 && i < disc->n; i++) {
      fastest = fmax(fastest, disc->arm[i] * fabs(r->free[r->which[disc->at + i]]));
    }
  }
  for (int k = 0; k < r->ndisc; k++) {
    if (r->disc[k].at >= 0) {
      right = follow_disc(r, &r->disc[k], fastest) && right;
    }
  }
  for (int k = 0; (right || last) && k < r->ndisc; k++) { /* rounding, or what is left */
    const sni_rub_disc *disc = &r->disc[k];
    double z[3];
    for (int i = 0; disc->at >= 0 && i < disc->n; i++) {
      z[i] = qp->x[disc->at + i] / disc->arm[i];
    }
    const double length = disc->at >= 0 ? norm(disc->n, z) : 0;
    for (int i = 0; length > disc->most && i < disc->n; i++) {
      qp->x[disc->at + i] *= disc->most / length;
    }
  }
  return right || last;
}

/* ---- before the program ---- */

/* Of what a disc has, so much is left for slides in the program where others are driven: those have
 * their part against the motion. */
static double left_of(sni_rubbing *r, const sni_rub_disc *disc) {
  double all = 0, driven = 0;
  for (int i = 0; i < disc->count; i++) {
    const int k = disc->first + i;
    const double rate = disc->own[i] * (r->driven[k] ? r->free[k] : r->held[k] ? 0 : r->rate[k]);
    all += rate * rate;
    driven += r->driven[k] ? rate * rate : 0;
  }
  for (int i = 0; i < disc->count; i++) {
    const int k = disc->first + i;
    r->part[k] = driven > 0 && r->driven[k] ? disc->own[i] * fabs(r->free[k]) / sqrt(all) : 1;
  }
  return driven > 0 ? sqrt(fmax(1 - driven / all, 0)) : 1;
}

void sni_rubbing_place_discs(sni_rubbing *r) {
  for (int k = 0; k < r->ndisc; k++) {
    sni_rub_disc *disc = &r->disc[k];
    const double left = disc->left = left_of(r, disc);
    disc->at = -1;
    disc->n = 0;
    for (int i = 0; i < r->n; i++) {
      const int slide = r->which[i] - disc->first;
      if (slide >= 0 && slide < disc->count) {
        disc->at = disc->at < 0 ? i : disc->at;
        disc->arm[disc->n++] = disc->own[slide];
      }
    }
    disc->most = left * r->s->h * r->bound[disc->first] / disc->own[0];
    if (norm(disc->n, disc->d) == 0 || disc->n != disc->before) {
      memset(disc->d, 0, sizeof disc->d);
      disc->d[0] = 1;
      disc->rim = 0;
      disc->before = disc->n;
    }
  }
}

double sni_rubbing_swerve(sni_rubbing *r) {
  double off = 0;
  for (int k = 0; k < r->ndisc; k++) {
    const sni_rub_disc *disc = &r->disc[k];
    const double had = disc->left, left = left_of(r, disc);
    bool driven = false;
    for (int i = 0; i < disc->count; i++) {
      driven = driven || r->driven[disc->first + i];
    }
    off = driven && disc->at >= 0 ? fmax(off, fabs(left - had)) : off;
  }
  return off;
}

/* ---- where programs go round in circles ---- */

/* The disc that row k begins; NULL: none. */
static const sni_rub_disc *disc_at(const sni_rubbing *r, int k) {
  for (int d = 0; d < r->ndisc; d++) {
    if (r->disc[d].at == k) {
      return &r->disc[d];
    }
  }
  return NULL;
}

/* b - S x of row i. */
static double rate_of(sni_qp *qp, int i) {
  double sum = qp->b[i];
  for (int j = 0; j < qp->n; j++) {
    sum -= *entry(qp, i, j) * qp->x[j];
  }
  return sum;
}

/* x of a disc goes where its rates lead, back into the disc; returns by what part of it. */
static double sweep_disc(sni_qp *qp, const sni_rub_disc *disc) {
  double z[3], rate[3], trace = 0, off = 0;
  for (int i = 0; i < disc->n; i++) {
    const int k = disc->at + i;
    rate[i] = disc->arm[i] * rate_of(qp, k);
    z[i] = qp->x[k] / disc->arm[i];
    trace += disc->arm[i] * disc->arm[i] * *entry(qp, k, k);
  }
  if (!(trace > 0) || !(disc->most > 0)) {
    return 0;
  }
  for (int i = 0; i < disc->n; i++) {
    z[i] += rate[i] / trace;
  }
  const double length = norm(disc->n, z), factor = length > disc->most ? disc->most / length : 1;
  for (int i = 0; i < disc->n; i++) {
    const double to = disc->arm[i] * factor * z[i];
    off = fmax(off, fabs(to - qp->x[disc->at + i]) / (disc->arm[i] * disc->most));
    qp->x[disc->at + i] = to;
  }
  return off;
}

/* Row by row and disc by disc, each the best for the others: slow, but it always gets better. */
static void sweep(sni_rubbing *r) {
  sni_qp *qp = &r->qp;
  double off = 1;
  for (int pass = 0; pass < SWEEPS && off > EXACT; pass++) {
    off = 0;
    for (int k = 0, n = 1; k < qp->n; k += n) {
      const sni_rub_disc *disc = disc_at(r, k);
      const double S = *entry(qp, k, k);
      n = disc ? disc->n : 1;
      if (disc) {
        off = fmax(off, sweep_disc(qp, disc));
      } else if (S > 0) {
        const double to = fmin(fmax(qp->x[k] + rate_of(qp, k) / S, qp->lo[k]), qp->hi[k]);
        const double most = isfinite(qp->lo[k]) ? qp->hi[k] : fabs(qp->x[k]);
        off = most > 0 ? fmax(off, fabs(to - qp->x[k]) / most) : off;
        qp->x[k] = to;
        qp->side[k] = to <= qp->lo[k] ? -1 : to >= qp->hi[k] ? 1 : 0;
      }
    }
  }
  for (int d = 0; d < r->ndisc; d++) {
    sni_rub_disc *disc = &r->disc[d];
    double z[3];
    for (int i = 0; disc->at >= 0 && i < disc->n; i++) {
      z[i] = qp->x[disc->at + i] / disc->arm[i];
    }
    disc->sticks = disc->at >= 0 && norm(disc->n, z) < RIM * disc->most;
  }
}

/* Programs in the axes of the discs until these are right; false: they never are. */
static bool find_axes(sni_rubbing *r, sni_rub_fill fill, bool reduced, sni_qp_info *info) {
  for (int pass = 1; pass <= PROGRAMS; pass++) {
    fill(r, reduced);
    for (int k = 0; r->draws && k < r->n; k++) {
      *entry(&r->qp, k, k) += r->draw[k];
      r->qp.b[k] += r->draw[k] * r->drawn[k];
    }
    sni_rubbing_turn_discs(r);
    sni_qp_solve(&r->qp, info);
    if (sni_rubbing_follow_discs(r, pass == PROGRAMS)) {
      return pass < PROGRAMS;
    }
  }
  return false;
}

/* Where many x do the same the program ends at corners, outside the discs, and its axes go round in
 * circles.  So x is drawn to where it was, by a little of (x/bound)^2, and again from where that
 * leads, until it stays there (the proximal point method). */
static bool draw_near(sni_rubbing *r, sni_rub_fill fill, bool reduced, sni_qp_info *info) {
  double most = 0, fastest = 0, off = INFINITY;
  for (int k = 0; k < r->n; k++) {
    const double bound = r->qp.hi[k];
    r->draw[k] = bound > 0 && isfinite(r->qp.lo[k]) ? 1 / (bound * bound) : 0;
    r->drawn[k] = r->qp.x[k];
    most = fmax(most, bound * bound * S_of(r, k, k));
    fastest = fmax(fastest, fabs(r->free[r->which[k]]));
  }
  for (int k = 0; k < r->n; k++) { /* no more than the row has of itself, or it comes too slowly */
    r->draw[k] = LITTLE * fmin(most * r->draw[k], S_of(r, k, k));
  }
  r->draws = true;
  bool found = true;
  for (int pass = 0; found && pass < DRAWS && off > EXACT * fastest; pass++) {
    found = find_axes(r, fill, reduced, info);
    off = 0;
    for (int k = 0; k < r->n; k++) {
      off = fmax(off, r->draw[k] * fabs(r->qp.x[k] - r->drawn[k]));
      r->drawn[k] = r->qp.x[k];
    }
  }
  r->draws = false;
  return found;
}

void sni_rubbing_find(sni_rubbing *r, sni_rub_fill fill, bool reduced, sni_qp_info *info) {
  if (!reduced || r->ndisc == 0) {
    fill(r, reduced);
    sni_qp_solve(&r->qp, info);
    return;
  }
  sni_rubbing_place_discs(r);
  if (!find_axes(r, fill, reduced, info) && !draw_near(r, fill, reduced, info)) {
    fill(r, reduced);
    sweep(r);
  }
}

sni_rubbing sni_rubbing_other(const sni_rubbing *r, int n) {
  sni_rubbing out = *r;
  out.n = out.capacity = n;
  out.which = r->other.which;
  out.S = r->other.S;
  out.free = r->other.free;
  for (int k = 0; k < r->m->nslide; k++) { /* what is driven has its part of discs there too */
    out.free[k] = r->driven[k] ? r->free[k] : 0;
  }
  out.disc = r->other.disc;
  memcpy(out.disc, r->disc, (size_t)r->ndisc * sizeof *out.disc);
  return out;
}

void sni_rubbing_fill_other(sni_rubbing *r, bool reduced) {
  sni_qp *qp = &r->qp;
  const int n = qp->n = r->n;
  (void)reduced;
  for (int k = 0; k < n; k++) {
    const size_t at = (size_t)k * (size_t)n;
    memcpy(qp->S + at, r->S + at, (size_t)(k + 1) * sizeof(double));
    qp->b[k] = r->free[r->which[k]];
    qp->hi[k] = r->s->h * sni_rubbing_bound(r, r->which[k]);
    qp->lo[k] = -qp->hi[k];
    qp->side[k] = 0;
  }
}

/* The row of a slide in the program; -1: none. */
static int row_of(const sni_rubbing *r, int slide) {
  int k = r->nslides - 1;
  while (k >= 0 && r->which[k] != slide) {
    k--;
  }
  return k;
}

double sni_rubbing_astray(sni_rubbing *r) {
  double off = 0;
  for (int first = 0, n = 1; first < r->m->nslide; first += n) {
    const sni_rub_disc *disc = r->disc_of[first] >= 0 ? &r->disc[r->disc_of[first]] : NULL;
    const double left = disc ? left_of(r, disc) : 1;
    sni_rub_disc own = {.most = left * r->s->h * r->bound[first] / (disc ? disc->own[0] : 1)};
    double z[3], rate[3], trace = 0;
    n = disc ? disc->count : 1;
    for (int i = 0; i < n; i++) {
      const int row = row_of(r, first + i);
      const double arm = disc ? disc->own[i] : 1;
      if (row >= 0) {
        z[own.n] = r->s->h * r->force[first + i] / arm;
        rate[own.n++] = r->rate[first + i] * arm;
        trace += arm * arm * S_of(r, row, row);
      }
    }
    const double most = r->s->h * r->scale[first] / (disc ? disc->own[0] : 1);
    off = own.n > 0 && trace > 0 && most > 0 ? fmax(off, away(&own, z, rate, trace) / most) : off;
  }
  return off;
}

/* ---- at rest between steps ---- */

void sni_rubbing_begin_discs(sni_rubbing *r) {
  for (int k = 0; k < r->ndisc; k++) {
    sni_rub_disc *disc = &r->disc[k];
    double z[3] = {0}, rate[3] = {0};
    for (int i = 0; i < disc->count; i++) {
      z[i] = r->force[disc->first + i] / disc->own[i];
      rate[i] = r->rate[disc->first + i] * disc->own[i];
    }
    const double length = norm(disc->count, z), most = r->bound[disc->first] / disc->own[0];
    const bool slips = most > 0 && length >= 0.999 * most;
    for (int i = 0; i < disc->count; i++) {
      disc->d[i] = length > 0 ? z[i] / length : i == 0;
    }
    disc->rim = slips ? norm(disc->count, rate) / (r->s->h * most) : 0;
    disc->before = disc->count;
  }
}

void sni_rubbing_arms(const sni_rubbing *r, int k, int group, double *arm) {
  const sni_rub *rub = &r->m->rub[k];
  const sni_rub_numbers *number = &r->s->d->params.rub[k];
  const double *most = rub->law == SNI_DRY ? number->force : number->breakaway;
  const sni_rub_group *own = &rub->group[group];
  double largest = 0;
  for (int i = 0; i < own->count; i++) {
    largest = fmax(largest, most[own->first + i]);
  }
  for (int i = 0; i < own->count; i++) {
    arm[i] = largest > 0 ? fmax(most[own->first + i], FLAT * largest) : 1;
  }
}

void sni_rubbing_fit_discs(sni_rubbing *r) {
  for (int k = 0; k < r->ndisc; k++) {
    sni_rub_disc *disc = &r->disc[k];
    if (disc->group >= 0) {
      sni_rubbing_arms(r, disc->rub, disc->group, disc->own);
    }
  }
}

/* One more disc, if there is room for it. */
static void add_disc(sni_rub_disc *disc, int *disc_of, sni_rub_disc own, int *n) {
  for (int i = 0; disc && i < own.count; i++) {
    disc_of[own.first + i] = *n;
  }
  if (disc) {
    own.at = -1;
    disc[*n] = own;
  }
  ++*n;
}

int sni_rubbing_find_discs(const sn_model *m, sni_rub_disc *disc, int *disc_of, double *part) {
  int n = 0;
  for (int k = 0; disc_of && k < m->nslide; k++) {
    disc_of[k] = -1;
    part[k] = 1;
  }
  for (int k = 0; k < m->nrub; k++) {
    const sni_rub *rub = &m->rub[k];
    for (int b = 0, first = rub->first; b < rub->nbearing; first += rub->bearing[b++].ndirection) {
      const sni_bearing *own = &rub->bearing[b];
      sni_rub_disc new = {.first = first, .count = own->ndirection, .rub = k, .group = -1};
      memcpy(new.own, own->arm, sizeof new.own);
      if (own->kind != SNI_AT_POINTS && own->ndirection > 1) {
        add_disc(disc, disc_of, new, &n);
      }
    }
    for (int g = 0; g < rub->ngroup; g++) {
      const sni_rub_group *own = &rub->group[g];
      if (own->count > 1) {
        add_disc(disc, disc_of,
                 (sni_rub_disc){.first = rub->first + own->first,
                                .count = own->count,
                                .own = {1, 1, 1},
                                .rub = k,
                                .group = g},
                 &n);
      }
    }
  }
  return n;
}
