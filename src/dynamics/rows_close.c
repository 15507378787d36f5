/* rows_close.c: states onto the constraints, by Newton's method in the metric of the masses. */
#include "dynamics/rows.h"
#include "linear/vector.h"

#include <float.h>
#include <string.h>

enum { PROJECT_MAX = 30 };
/* After so many steps what says how fast something is must let gaps become smaller. */
enum { RATES_TRY = 2 };
/* Coordinates do not move that change by less than this where rows are far from losing their rank:
 * at least STRONG is left of each.  What a way is expected to leave is held against this one by all
 * solvers, which would else end in different poses. */
#define STILL_STRONG 1e-13
#define STRONG       0.03
/* With the factors of another pose, at most so many steps. */
enum { CHORDS_MAX = 3 };
/* By less than this, the factors of the last step will do. */
#define NEARLY_STILL 1e-4
/* Rates that go by the metric of another pose may be off by this part. */
#define ASTRAY 1e-12

/* Where rows that hold both ways look, which do not see how fast anything is. */
static void place(sni_rows *r, const double *q, const double *qd) {
  if (r->d->m->nsided > 0) {
    sni_dynamics_kinematics(r->d, q, qd);
  } else {
    sni_dynamics_places(r->d, q, qd);
  }
}

/* The motion that closes the gaps to first order; its largest coordinate, INFINITY: there is none.
 * Where iterations find it, kinematics are left where their factors are. */
static double close_once(sni_rows *r, double *q) {
  const int nv = r->d->m->tree.nv;
  double *step = r->column, most = 0;
  for (int i = 0; i < r->nrow; i++) {
    r->rhs[i] = -r->row[i].g;
  }
  if (r->kkt) {
    double residual;
    sni_kkt_solve(r->kkt, NULL, r->rhs, step, NULL, &residual);
  } else {
    if (r->along) {
      r->along(r->along_user, step);
    } else if (r->halved) {
      sni_rows_solve_halved(r, NULL, r->rhs, step);
    } else {
      memset(step, 0, (size_t)nv * sizeof *step);
      sni_rows_correct(r, r->rhs, step);
    }
  }
  if (!isfinite(sni_largest(nv, step))) {
    return INFINITY;
  }
  for (int j = 0; j < nv; j++) {
    q[j] += step[j];
    most = fmax(most, fabs(step[j]) / (1 + fabs(q[j])));
  }
  return most;
}

/* How far q is from where the rows were seen. */
static double distance(const sni_rows *r, const double *q) {
  double most = 0;
  for (int j = 0; j < r->d->m->tree.nv; j++) {
    most = fmax(most, fabs(q[j] - r->q_seen[j]));
  }
  return most;
}

/* Is that all that rounding leaves of poses so far from the origin, the last digits of a few
 * coordinates near it included?  Then nobody can say more of where things are. */
static bool is_rounding(const sni_rows *r, double gap) {
  double size = 0;
  for (int i = 0; i < r->d->m->tree.nbody; i++) {
    const sn_vec3 p = r->d->E_wb[i].p;
    size = fmax(size, fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))));
  }
  return gap <= 4 * DBL_EPSILON * size;
}

/* With the factors of the pose where the rows were seen, of which each step leaves the part that
 * the way to q changes in the rows.  False: that would take too many of them.  Which of the poses
 * near by it is that closes the gaps depends on the factors: in the dual they are the same as in a
 * graph. */
static bool close_from_seen(sni_rows *r, double t, double t_ref, double tolerance, double *q,
                            const double *qd, int *worst, double *gap) {
  const double weakest = r->kkt ? sni_kkt_weakest(r->kkt) : 1;
  const bool known = r->kkt && sni_kkt_get_form(r->kkt) == SNI_KKT_REDUCED;
  const bool strong = known && weakest > STRONG;
  const double still = strong ? STILL_STRONG : SNI_STILL;
  double rate = distance(r, q), before = INFINITY;
  for (int k = 1; k <= CHORDS_MAX; k++) {
    place(r, q, qd);
    sni_rows_eval_gaps(r, t, t_ref, q, qd);
    *gap = sni_rows_gap(r, worst);
    if (!isfinite(*gap)) {
      return false;
    }
    const double moved = close_once(r, q);
    rate = k > 1 ? moved / before : rate;
    if (k > 1 && *gap <= tolerance && (moved * rate <= still || is_rounding(r, *gap))) {
      r->stale = INFINITY;
      return true;
    }
    double left = moved;
    for (int n = k; n <= CHORDS_MAX; n++) {
      left *= rate;
    }
    if (!(left <= STILL_STRONG)) {
      return false;
    }
    before = moved;
  }
  return false;
}

static bool have_rates(const sni_rows *r) {
  bool any = false;
  for (int i = 0; i < r->nrow && !r->places_only; i++) {
    any = any || sni_rows_rates_of(r, r->of[i]) > 0;
  }
  return any;
}

/* Newton's method until it moves nothing any more, and not just until the gaps are small: near a
 * pose in which rows lose their rank, gaps of e say where the mechanism is no better than e/s, s
 * being what is left of the rows, and its rates and accelerations follow from that.  The factors
 * are renewed while the steps are large, and where they were of some other pose at first. */
static sn_status close_afresh(sni_rows *r, double t, double t_ref, double tolerance, bool near,
                              double *q, const double *qd, int *worst, double *gap) {
  double gap_before = INFINITY, moved = near ? NEARLY_STILL : INFINITY, before = INFINITY;
  bool was_closed = false;
  for (int k = 0;; k++) {
    place(r, q, qd);
    sni_rows_eval_poses(r, t, t_ref, q, qd);
    *gap = sni_rows_gap(r, worst);
    /* in a singular pose a little may stay that no motion closes to first order */
    const bool stuck = *gap > 0.5 * gap_before && *gap <= 100 * tolerance;
    const bool closed = *gap <= tolerance || stuck;
    if (was_closed && !closed) { /* thrown out again: rows are all but lost, and know no better */
      memcpy(q, r->q_before, (size_t)r->d->m->tree.nv * sizeof *q);
      place(r, q, qd);
      sni_rows_eval_poses(r, t, t_ref, q, qd);
      *gap = gap_before;
      return SN_OK;
    }
    const bool blocked = k > RATES_TRY && *gap > 0.5 * gap_before && have_rates(r);
    gap_before = *gap;
    if (blocked && !closed) {
      return SN_NOT_CONVERGED;
    }
    if (k == PROJECT_MAX || !isfinite(*gap)) {
      return closed ? SN_OK : SN_NOT_CONVERGED;
    }
    if (closed) {
      memcpy(r->q_before, q, (size_t)r->d->m->tree.nv * sizeof *q);
    }
    was_closed = closed;
    const bool fresh = k == (near ? 1 : 0) || moved > NEARLY_STILL || moved > 0.1 * before;
    if (fresh && sni_rows_factorise_mass(r) >= 0) {
      /* near a straight pose the way there may lead far off, round a ball and beyond */
      return k > 0 ? SN_NOT_CONVERGED : SN_E_SINGULAR;
    }
    before = moved;
    moved = close_once(r, q);
    /* what the next step would be, or that rounding is all that moves */
    const double weakest = r->kkt ? sni_kkt_weakest(r->kkt) : 1;
    r->stale = (fresh ? 0 : r->stale) + moved / weakest;
    const double next = fresh ? moved * moved / weakest : moved * (moved / before);
    if (closed && (!near || k > 0) && (next <= SNI_STILL || moved > 0.5 * before)) {
      return SN_OK;
    }
  }
}

static sn_status close_rows(sni_rows *r, double t, double t_ref, double tolerance, bool near,
                            double *q, const double *qd, int *worst, double *gap) {
  if (r->d->m->nsided > 0 && !r->apart) {
    return sni_unilateral_close(r, t, t_ref, tolerance, q, qd, worst, gap);
  }
  const bool from_seen = near && r->timeless && r->seen;
  if (r->kkt) {
    sni_kkt_take_care(r->kkt, SNI_KKT_TRUSTING);
  }
  sn_status status = SN_OK;
  if (!from_seen || !close_from_seen(r, t, t_ref, tolerance, q, qd, worst, gap)) {
    status = close_afresh(r, t, t_ref, tolerance, near && !from_seen, q, qd, worst, gap);
  }
  if (r->kkt) {
    sni_kkt_take_care(r->kkt, SNI_KKT_EXACT);
  }
  return status;
}

/* What says how fast something is does not move while gaps close, as long as they can be closed so.
 * Where others depend on it (two bodies that a loop lets turn as one, and both are told how to
 * turn) they cannot, and it has nothing to say about where things are. */
sn_status sni_rows_close(sni_rows *r, double t, double t_ref, double tolerance, bool near,
                         double *q, const double *qd, int *worst, double *gap) {
  const size_t bytes = (size_t)r->d->m->tree.nv * sizeof *q;
  memcpy(r->q_open, q, bytes);
  const sn_status status = close_rows(r, t, t_ref, tolerance, near, q, qd, worst, gap);
  if (status < 0 || *gap <= tolerance || !have_rates(r)) {
    return status;
  }
  memcpy(q, r->q_open, bytes); /* from where that has led to there may be no way back */
  r->places_only = true;
  const sn_status again = close_rows(r, t, t_ref, tolerance, false, q, qd, worst, gap);
  r->places_only = false;
  sni_rows_eval(r, t, t_ref, q, qd);
  return again < 0 || sni_rows_factorise_mass(r) < 0 ? again : SN_E_SINGULAR;
}

/* Who goes from event to event holds what pushes, and meets by a blow what is hit: until then that
 * does nothing to rates. */
static void let_free_alone(sni_rows *r) {
  for (int i = 0; i < r->nrow && r->u.events; i++) {
    r->rhs[i] = sni_unilateral_is_free(r, i) ? SNI_LET_GO : r->rhs[i];
  }
}

/* The factors may be those of a pose near by: then what a correction leaves is that part of it, and
 * another may be needed. */
static void correct_rates_near(sni_rows *r, double *qd) {
  const int nv = r->d->m->tree.nv;
  const bool graph = r->kkt && r->nsided == 0;
  bool again = true;
  if (graph) {
    sni_kkt_take_care(r->kkt, SNI_KKT_TRUSTING);
  }
  for (int pass = 0; pass < 2 && again; pass++) {
    if (r->nsided > 0 && !r->u.events) {
      sni_unilateral_correct_rates(r, 0, qd);
    } else {
      sni_unilateral_aim_rates(r, 0, 0, qd);
      let_free_alone(r);
      sni_rows_correct(r, r->rhs, qd);
    }
    again = !graph || r->stale * sni_largest(nv, r->step) > SNI_STILL * sni_largest(nv, qd);
  }
  if (graph) {
    sni_kkt_take_care(r->kkt, SNI_KKT_EXACT);
  }
}

/* But as much of it goes the way that is least in the metric of that pose, and not of this one:
 * where that matters, once more with factors of this one. */
static void correct_rates(sni_rows *r, double *qd) {
  const int nv = r->d->m->tree.nv;
  double *before = r->q_before, most = 0;
  memcpy(before, qd, (size_t)nv * sizeof *qd);
  correct_rates_near(r, qd);
  for (int j = 0; j < nv; j++) {
    most = fmax(most, fabs(qd[j] - before[j]));
  }
  if (r->nsided == 0 && r->stale * most > ASTRAY * sni_largest(nv, qd) &&
      sni_rows_factorise_mass(r) < 0) {
    r->stale = 0;
    memcpy(qd, before, (size_t)nv * sizeof *qd);
    correct_rates_near(r, qd);
  }
}

sn_status sni_rows_project(sni_rows *r, double t, double t_ref, double tolerance, double *q,
                           double *qd, int *worst, double *gap) {
  const sn_status status = sni_rows_close(r, t, t_ref, tolerance, false, q, qd, worst, gap);
  if (status) {
    return status;
  }
  correct_rates(r, qd);
  sni_dynamics_kinematics(r->d, q, qd);
  return SN_OK;
}
