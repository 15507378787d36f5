/* motion_rates.c: the rates and accelerations that a recorded motion does not have.
 *
 * They are those of splines through the coordinates, or for accelerations of splines through the
 * rates where these are recorded.
 *
 * A rotation vector r is now and then replaced by another one of the same rotation, r + 2 pi r/|r|
 * or r - 2 pi r/|r|: the numbers jump and the body does not.  A spline through it runs from jump to
 * jump, and a little beyond both: there it takes the rotation vectors that continue its own, so
 * that the rows at a jump are in the middle of a spline and not at its end. */
#include "cli/motion.h"

#include <math.h>
#include <stdlib.h>

#include "cli/spline.h"
#include "model/model.h"

#define BEYOND     16             /* rows: an end is felt 0.27^k as much k rows away          */
#define LENGTH_MAX (1.75 * SN_PI) /* the rotation vector bends ever faster on its way to 2 pi */

/* Columns of nrow numbers: a rotation vector and its rate as one spline wants them, and what a
 * spline needs and gives. */
typedef struct scratch {
  double *r[3], *rd[3], *slope, *bend, *work;
} scratch;

typedef struct span {
  int begin, end; /* rows, the last one not included */
} span;

/* Derivatives of one coordinate on the rows of `inner`, from a spline on the rows of `outer`.
 * rate, acceleration: NULL if the file has them.  rd: NULL if it does not have the rate. */
static void derive(const cli_motion *motion, const double *r, const double *rd, span inner,
                   span outer, double *rate, double *acceleration, const scratch *s) {
  const double *t = motion->t + outer.begin;
  const int n = outer.end - outer.begin, skip = inner.begin - outer.begin;
  if (rate || (acceleration && !rd)) {
    cli_spline_derive(t, r + outer.begin, n, s->slope, s->bend, s->work);
    for (int k = inner.begin; k < inner.end; k++) {
      if (rate) {
        rate[k] = s->slope[skip + k - inner.begin];
      }
      if (acceleration) {
        acceleration[k] = s->bend[skip + k - inner.begin];
      }
    }
  }
  if (acceleration && rd) {
    cli_spline_derive(t, rd + outer.begin, n, s->slope, s->bend, s->work);
    for (int k = inner.begin; k < inner.end; k++) {
      acceleration[k] = s->slope[skip + k - inner.begin];
    }
  }
}

/* ---- rotation vectors ---- */

static sn_vec3 row_of(const double *const column[3], int k) {
  return (sn_vec3){column[0][k], column[1][k], column[2][k]};
}

/* How many turns longer is the rotation vector of the same rotation as r that is nearest to p? */
static double turns_towards(sn_vec3 p, sn_vec3 r) {
  const double n = sn_vec3_norm(r);
  return n > 0 ? round((sn_vec3_dot(p, r) / n - n) / (2 * SN_PI)) : 0;
}

static void store(sn_vec3 x, double *const column[3], int k) {
  column[0][k] = x.x;
  column[1][k] = x.y;
  column[2][k] = x.z;
}

/* Row k as a continuation of row `from`, which is in the scratch already: the same rotation and the
 * same angular velocity in other numbers.  False: they would be too near to 2 pi. */
static bool carry_on(const double *const q[3], const double *const qd[3], int from, int k,
                     const scratch *s) {
  const sn_vec3 r = row_of(q, k), p = row_of((const double *const *)s->r, from);
  const double n = sn_vec3_norm(r), turns = turns_towards(p, r);
  const sn_vec3 same = turns != 0 ? sn_vec3_scale(r, 1 + 2 * SN_PI * turns / n) : r;
  if (!(sn_vec3_norm(same) < LENGTH_MAX)) {
    return false;
  }
  store(same, s->r, k);
  if (qd[0]) {
    const sn_vec3 omega = sn_mat3_mul_vec(sn_so3_jacobian(r), row_of(qd, k));
    store(turns != 0 ? sn_mat3_mul_vec(sn_so3_jacobian_inverse(same), omega) : row_of(qd, k), s->rd,
          k);
  }
  return true;
}

static sn_status derive_ball(cli_motion *motion, int first, double *const rate[],
                             double *const acceleration[], const scratch *s, sn_error *err) {
  const double *const *q = motion->q + first;
  const double *qd[3] = {motion->qd[first], motion->qd[first + 1], motion->qd[first + 2]};
  if (!qd[0] || !qd[1] || !qd[2]) {
    qd[0] = qd[1] = qd[2] = NULL; /* one alone cannot be carried over a jump */
  }
  for (span inner = {0, 0}; inner.begin < motion->nrow; inner.begin = inner.end) {
    for (inner.end = inner.begin; inner.end < motion->nrow; inner.end++) {
      const int k = inner.end;
      if (k > inner.begin && turns_towards(row_of(q, k - 1), row_of(q, k)) != 0) {
        break;
      }
      store(row_of(q, k), s->r, k);
      if (qd[0]) {
        store(row_of(qd, k), s->rd, k);
      }
    }
    span outer = inner;
    while (outer.begin > 0 && inner.begin - outer.begin < BEYOND &&
           carry_on(q, qd, outer.begin, outer.begin - 1, s)) {
      outer.begin--;
    }
    while (outer.end < motion->nrow && outer.end - inner.end < BEYOND &&
           carry_on(q, qd, outer.end - 1, outer.end, s)) {
      outer.end++;
    }
    if (outer.end - outer.begin < 2) {
      return cli_motion_alone(motion, inner.begin, err);
    }
    for (int c = 0; c < 3; c++) {
      derive(motion, s->r[c], qd[0] ? s->rd[c] : NULL, inner, outer, rate[c], acceleration[c], s);
    }
  }
  return SN_OK;
}

/* ---- all of it ---- */

/* Does a rotation vector begin at coordinate c of joint `body`?  ball: the first of its balls, in
 * the list of all, or one of a later joint. */
static bool is_ball(const sni_tree *t, int body, int c, int ball) {
  while (ball < t->nball && t->ball[ball].body == body && t->ball[ball].first < c) {
    ball++;
  }
  return ball < t->nball && t->ball[ball].body == body && t->ball[ball].first == c;
}

/* Fills what is missing of a joint; *room is the next free column. */
static sn_status derive_joint(cli_motion *motion, const sn_model *m, int body, int ball,
                              double **room, const scratch *s, sn_error *err) {
  const int first = sn_model_joint_first(m, body), n = sn_model_joint_dofs(m, body);
  const span all = {0, motion->nrow};
  double *rate[SN_NV_MAX] = {0}, *acceleration[SN_NV_MAX] = {0};
  bool complete = true;
  for (int c = 0; c < n; c++) {
    if (!motion->qd[first + c]) {
      rate[c] = *room;
      *room += motion->nrow;
    }
    if (!motion->qdd[first + c]) {
      acceleration[c] = *room;
      *room += motion->nrow;
    }
    complete = complete && !rate[c] && !acceleration[c];
  }
  if (complete) {
    return SN_OK;
  }
  if (motion->nrow < 2) {
    return cli_motion_alone(motion, 0, err);
  }
  for (int c = 0; c < n;) {
    if (is_ball(&m->tree, body, c, ball)) {
      const sn_status status = derive_ball(motion, first + c, rate + c, acceleration + c, s, err);
      if (status != SN_OK) {
        return status;
      }
      c += 3;
    } else {
      derive(motion, motion->q[first + c], motion->qd[first + c], all, all, rate[c],
             acceleration[c], s);
      c++;
    }
  }
  for (int c = 0; c < n; c++) {
    motion->qd[first + c] = rate[c] ? rate[c] : motion->qd[first + c];
    motion->qdd[first + c] = acceleration[c] ? acceleration[c] : motion->qdd[first + c];
  }
  return SN_OK;
}

sn_status cli_motion_derive(cli_motion *motion, const sn_model *m, sn_error *err) {
  const size_t nrow = (size_t)motion->nrow, nv = (size_t)sn_model_dof_count(m);
  double *memory = malloc(10 * nrow * sizeof *memory);
  motion->own = malloc((2 * nv + 1) * nrow * sizeof *motion->own);
  if (!memory || !motion->own) {
    free(memory);
    return sni_fail(err, SN_E_MEMORY, "no memory for %d rows of %d coordinates", motion->nrow,
                    (int)nv);
  }
  const scratch s = {.r = {memory, memory + nrow, memory + 2 * nrow},
                     .rd = {memory + 3 * nrow, memory + 4 * nrow, memory + 5 * nrow},
                     .slope = memory + 6 * nrow,
                     .bend = memory + 7 * nrow,
                     .work = memory + 8 * nrow};
  double *room = motion->own;
  sn_status status = SN_OK;
  for (int i = 0, ball = 0; i < sn_model_body_count(m) && status == SN_OK; i++) {
    while (ball < m->tree.nball && m->tree.ball[ball].body < i) {
      ball++;
    }
    if (sn_model_joint_dofs(m, i) > 0 && motion->q[sn_model_joint_first(m, i)]) {
      status = derive_joint(motion, m, i, ball, &room, &s, err);
    }
  }
  free(memory);
  return status;
}
