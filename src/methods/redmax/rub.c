/* rub.c: where joints slide, and what presses there. */
#include "methods/redmax/rub.h"

#include "dynamics/loops.h"
#include "math/dense.h"

#include <string.h>

/* Of the momenta that reactions are differences of. */
#define ROUNDING 1e-14

/* ---- ways to slide ---- */

static const sni_constraint *loop_of(const sni_rubbing *r, const sni_rub *rub) {
  return &r->m->constraint[rub->loop];
}

static sn_vec6 turned(sn_mat3 R, sn_vec6 x) {
  return (sn_vec6){sn_mat3_mul_vec(R, x.w), sn_mat3_mul_vec(R, x.v)};
}

/* A wrench at x, at the origin of a body or (-1) of the world. */
static sn_vec6 moved(const sni_rubbing *r, sn_vec6 f, sn_vec3 x, int body) {
  const sn_vec3 arm = body < 0 ? x : sn_vec3_sub(x, sni_lane_vec3(r->s->d->w.link[body].o));
  return (sn_vec6){sn_vec3_add(f.w, sn_vec3_cross(arm, f.v)), f.v};
}

sn_vec6 sni_rubbing_at(const sni_rubbing *r, int rub, sn_vec6 d, int body) {
  return moved(r, turned(r->axes[rub], d), r->place[rub], body);
}

sn_vec6 sni_rubbing_from(const sni_rubbing *r, int rub, const sni_row *row) {
  const int side = row->body[1] >= 0 ? 1 : 0;
  if (row->body[side] < 0) {
    return (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  }
  const sn_vec3 o = sni_lane_vec3(r->s->d->w.link[row->body[side]].o);
  const sn_vec6 p = row->p[side];
  const sn_vec3 torque = sn_vec3_add(p.w, sn_vec3_cross(sn_vec3_sub(o, r->place[rub]), p.v));
  return sn_vec6_unrotate(r->axes[rub], (sn_vec6){torque, p.v});
}

/* Where the bearings are; those of a loop are with its second body. */
static void find_place(sni_rubbing *r, int k, const double *q) {
  const sni_rub *rub = &r->m->rub[k];
  const sni_dynamics *d = r->s->d;
  const sni_joint_ops *ops;
  sn_se3 E;
  if (rub->body >= 0) {
    ops = sni_joint_ops_of(sni_tree_joints(r->s->t), rub->body);
    E = sni_link_pose(&d->w.link[rub->body]);
    q += r->s->t->vadr[rub->body];
  } else {
    const sni_constraint *loop = loop_of(r, rub);
    ops = sni_joint_ops_of(r->m->loop_joints, loop->joint);
    E = loop->body[1] >= 0 ? sn_se3_mul(sni_link_pose(&d->w.link[loop->body[1]]), loop->at[1])
                           : loop->at[1];
    q = r->rows->loop_q + loop->first;
  }
  r->axes[k] = ops->bearing_axes ? sn_mat3_mul(E.R, ops->bearing_axes(q)) : E.R;
  r->place[k] = E.p;
}

sn_vec6 sni_rubbing_tangent(const sni_rub *rub, int bearing, int tangent) {
  sn_vec6 T = rub->bearing[bearing].tangent[tangent].T;
  for (int b = 0; b < rub->nbearing; b++) {
    for (int c = 0; b != bearing && c < rub->bearing[b].ndirection; c++) {
      const sn_vec6 d = rub->bearing[b].direction[c];
      T = sn_vec6_addscaled(T, -sn_vec6_dot(T, d), d);
    }
  }
  return T;
}

/* Over the coordinates of a joint of the tree, or over the two bodies of a loop. */
static sni_row slide_row(const sni_rubbing *r, int k, sn_vec6 direction) {
  const sni_rub *rub = &r->m->rub[k];
  const sni_tree *t = r->s->t;
  sni_row row = {.body = {-1, -1}};
  if (rub->body >= 0) {
    const sni_lane6 d = sni_lane6_from(turned(r->axes[k], direction));
    for (int c = t->vadr[rub->body]; c < t->vadr[rub->body + 1]; c++) {
      row.coord[row.ncoord] = c;
      row.coef[row.ncoord++] = sni_lane6_dot(r->s->d->w.S[c], d);
    }
    return row;
  }
  for (int side = 0; side < 2; side++) {
    row.body[side] = loop_of(r, rub)->body[side];
    const sn_vec6 p = sni_rubbing_at(r, k, direction, row.body[side]);
    row.p[side] = side ? p : sn_vec6_scale(p, -1);
  }
  return row;
}

/* Along its coordinates, or as fast as a ball turns: laws that know no surfaces. */
static void look_along(sni_rubbing *r, const sni_rub *rub, double t, const double *q) {
  sni_loop_map map;
  const double *own =
      rub->body >= 0 ? q + r->s->t->vadr[rub->body] : r->rows->loop_q + loop_of(r, rub)->first;
  if (rub->body < 0) {
    const sni_constraint_eval e = sni_rows_eval_of(r->rows, t, t, q, q);
    sni_constraint_loop_map(&e, loop_of(r, rub), &map);
  }
  for (int c = 0; c < rub->nslide; c++) {
    sni_row *row = &r->row[rub->first + c];
    double part[SN_NV_MAX];
    int first = 0;
    const int n = sni_rub_rate_parts(rub, c, own, &first, part);
    *row = (sni_row){.body = {-1, -1}};
    for (int i = 0; rub->body >= 0 && i < n; i++) {
      row->coord[row->ncoord] = r->s->t->vadr[rub->body] + first + i;
      row->coef[row->ncoord++] = part[i];
    }
    for (int side = 0; rub->body < 0 && side < 2; side++) {
      row->body[side] = loop_of(r, rub)->body[side];
      for (int i = 0; i < n; i++) {
        row->p[side] = sn_vec6_addscaled(row->p[side], part[i], map.p[side][first + i]);
      }
    }
  }
}

/* Inverse inertia of a body at a place, in axes there; false: it has none. */
static bool add_mobility(const sni_rubbing *r, int k, int body, double *W) {
  const sni_dynamics *d = r->s->d;
  double M[36];
  for (int c = 0; c < 6; c++) {
    double unit[6] = {0};
    unit[c] = 1;
    /* a motion of the place, of the body's origin; its momentum, back at the place */
    const sn_vec6 u =
        turned(r->axes[k], (sn_vec6){{unit[0], unit[1], unit[2]}, {unit[3], unit[4], unit[5]}});
    const sn_vec3 arm = sn_vec3_sub(sni_lane_vec3(d->w.link[body].o), r->place[k]);
    const sni_lane6 y = sni_lane6_from((sn_vec6){u.w, sn_vec3_add(u.v, sn_vec3_cross(u.w, arm))});
    const sn_vec6 p = sni_lane6_vec6(sni_momentum(&d->mass[body], &d->w.link[body], y));
    const sn_vec6 at =
        sn_vec6_unrotate(r->axes[k], (sn_vec6){sn_vec3_add(p.w, sn_vec3_cross(arm, p.v)), p.v});
    for (int i = 0; i < 6; i++) {
      M[6 * i + c] = sn_vec6_get(at, i);
    }
  }
  if (!sni_cholesky(6, M, 1e-12, NULL)) {
    return false;
  }
  sni_cholesky_add_inverse(6, M, 1, W);
  return true;
}

/* How easily its bodies would slide on each other if nothing else held them: what constraints leave
 * of that is much or nothing. */
static void look_loose(sni_rubbing *r, int k) {
  const sni_rub *rub = &r->m->rub[k];
  int body[2];
  double *W = r->loose + 36 * (size_t)k;
  sni_rubbing_bodies(r, rub, body);
  memset(W, 0, 36 * sizeof *W);
  for (int side = 0; side < 2; side++) {
    if (body[side] >= 0 && !add_mobility(r, k, body[side], W)) {
      memset(W, 0, 36 * sizeof *W);
      return;
    }
  }
}

double sni_rubbing_loose(const sni_rubbing *r, int k, sn_vec6 d) {
  const double *W = r->loose + 36 * (size_t)k;
  double sum = 0;
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      sum += sn_vec6_get(d, i) * W[6 * i + j] * sn_vec6_get(d, j);
    }
  }
  return sum;
}

/* Rows of a loop are next to each other: from the first one to beyond the last. */
static void find_loop_rows(sni_rubbing *r, int k) {
  int *at = r->loop_row + 2 * k, i = 0;
  while (i < r->rows->nrow && r->rows->of[i] != r->m->rub[k].loop) {
    i++;
  }
  at[0] = i;
  while (i < r->rows->nrow && r->rows->of[i] == r->m->rub[k].loop) {
    i++;
  }
  at[1] = i;
}

void sni_rubbing_look_loose(sni_rubbing *r) {
  for (int k = 0; r->rows && k < r->m->nrub; k++) {
    look_loose(r, k);
  }
}

void sni_rubbing_look_at(sni_rubbing *r, int k, double t, const double *q) {
  const sni_rub *rub = &r->m->rub[k];
  find_place(r, k, q);
  if (rub->law != SNI_COULOMB) {
    look_along(r, rub, t, q);
    return;
  }
  for (int b = 0, i = rub->first; b < rub->nbearing; b++) {
    for (int c = 0; c < rub->bearing[b].ndirection; c++, i++) {
      r->row[i] = slide_row(r, k, rub->bearing[b].direction[c]);
    }
  }
  for (int b = 0, i = rub->first_tangent; sni_rubbing_apart(r, rub) && b < rub->nbearing; b++) {
    for (int c = 0; c < rub->bearing[b].ntangent; c++, i++) {
      r->pad[i] = slide_row(r, k, sni_rubbing_tangent(rub, b, c));
    }
  }
}

/* What rested is told, and what is recorded begins, with rates that have no lead. */
static void find_start(sni_rubbing *r, const double *qd) {
  double *true_rates = r->b;
  for (int k = 0; k < r->s->t->nv; k++) {
    true_rates[k] = qd[k] - (r->leads ? r->lead[k] : 0);
  }
  sni_J_mul_world(r->s->t, &r->s->d->w, true_rates);
  for (int k = 0; k < r->m->nslide; k++) {
    r->start[k] = sni_row_mul(&r->row[k], &r->s->d->w, true_rates);
  }
}

void sni_rubbing_look(sni_rubbing *r, double t, const double *q, const double *qd) {
  for (int k = 0; k < r->m->nrub; k++) {
    if (r->m->rub[k].loop >= 0) {
      find_loop_rows(r, k);
    }
    sni_rubbing_look_at(r, k, t, q);
  }
  sni_rubbing_fit_discs(r);
  find_start(r, qd);
}

/* F += force along a row, on its bodies. */
static void push_bodies(sni_rubbing *r, const sni_row *row, double force) {
  for (int side = 0; side < 2; side++) {
    if (row->body[side] >= 0) {
      sn_vec6 *F = &r->F[row->body[side]];
      *F = sn_vec6_addscaled(*F, force, row->p[side]);
    }
  }
}

void sni_rubbing_push(sni_rubbing *r) {
  sni_dynamics *d = r->s->d;
  d->friction = r->column;
  d->friction_wrench = r->F;
  memset(d->friction, 0, (size_t)r->s->t->nv * sizeof *d->friction);
  memset(d->friction_wrench, 0, (size_t)r->s->t->nbody * sizeof *d->friction_wrench);
  for (int k = 0; k < r->m->nslide; k++) {
    const sni_row *row = &r->row[k];
    for (int c = 0; c < row->ncoord; c++) {
      d->friction[row->coord[c]] -= r->force[k] * row->coef[c];
    }
    push_bodies(r, row, -r->force[k]);
  }
}

/* ---- the paper's eps ---- */

/* out += W x */
static void add_product(const double *W, sn_vec6 x, double *out) {
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      out[i] += W[6 * i + j] * sn_vec6_get(x, j);
    }
  }
}

/* y of a bearing under the load w.  A loop that is not quite closed bears on each of its bodies at
 * that one's own place; the paper takes both, W^-1 (W_a w_a + W_b w_b).  Bodies without inertia
 * have the other y. */
static sn_vec6 soften(const sni_rubbing *r, int k, const sni_bearing *b, sn_vec6 w) {
  const sni_rub *rub = &r->m->rub[k];
  int body[2];
  double W[2][36] = {{0}}, K[36], moves[6] = {0};
  sn_vec6 at[2] = {w, w};
  sni_rubbing_bodies(r, rub, body);
  if (rub->body < 0) {
    const sni_constraint *loop = loop_of(r, rub);
    const sn_se3 E = body[0] < 0 ? sn_se3_identity() : sni_link_pose(&r->s->d->w.link[body[0]]);
    const sn_vec3 apart =
        sn_mat3_tmul_vec(r->axes[k], sn_vec3_sub(sn_se3_point(E, loop->at[0].p), r->place[k]));
    at[0].w = sn_vec3_add(w.w, sn_vec3_cross(apart, w.v));
  }
  for (int side = 0; side < 2; side++) {
    if (body[side] >= 0 && !add_mobility(r, k, body[side], W[side])) {
      return sni_bearing_press(b, NULL, w);
    }
    add_product(W[side], at[side], moves);
  }
  for (int i = 0; i < 36; i++) {
    W[1][i] += W[0][i];
  }
  sni_bearing_soften(b, r->eps, r->relative, W[1], K);
  if (rub->body < 0 && sni_cholesky(6, W[1], 0, NULL)) {
    sni_cholesky_solve(6, W[1], moves);
    w = (sn_vec6){{moves[0], moves[1], moves[2]}, {moves[3], moves[4], moves[5]}};
  }
  return sni_bearing_press(b, K, w);
}

/* ---- loads ---- */

/* r->F with what rows and friction in loops do to bodies, and then down the tree: in joints of the
 * tree friction is inside. */
static void bear(sni_rubbing *r, const double *lambda, const double *force, const double *beta) {
  const sni_system *s = r->s;
  const sni_tree *t = s->t;
  for (int i = 0; r->rows && i < r->rows->nrow; i++) {
    push_bodies(r, &r->rows->row[i], lambda[i] / s->h);
  }
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    if (sni_rubbing_apart(r, rub)) {
      for (int i = 0; beta && i < sni_rub_tangents(rub); i++) {
        const int at = rub->first_tangent + i;
        push_bodies(r, &r->pad[at], beta[at] / s->h);
      }
    } else {
      for (int i = rub->first; i < rub->first + rub->nslide; i++) {
        push_bodies(r, &r->row[i], force[i]);
      }
    }
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    const int p = t->parent[i];
    if (p >= 0) {
      const sn_vec3 shift = sn_vec3_cross(sni_lane_vec3(s->d->w.r[i]), r->F[i].v);
      r->F[p].v = sn_vec3_add(r->F[p].v, r->F[i].v);
      r->F[p].w = sn_vec3_add(r->F[p].w, sn_vec3_add(r->F[i].w, shift));
    }
  }
}

/* What each joint bears, friction and all: r->F. */
static void reactions(sni_rubbing *r, const double *v) {
  sni_system *s = r->s;
  const sni_dynamics *d = s->d;
  const sni_tree *t = s->t;
  const double *g = d->params.gravity, per_h = 1 / s->h;
  const sni_lane pull = {s->h * g[0], s->h * g[1], s->h * g[2], 0};
  double torque = 0, force = 0, arm = 0;
  sni_system_momenta(s, v);
  for (int i = 0; i < t->nbody; i++) {
    const sni_link *l = &d->w.link[i];
    const sni_lane6 V = {l->w, l->v + pull};
    const sni_lane6 p = sni_momentum(&d->mass[i], l, V);
    const sni_lane6 f = sni_lane6_addscaled(s->f[i], -1, p);
    const sn_vec6 size = sni_lane6_vec6(p);
    torque = fmax(torque, sn_vec3_norm(size.w));
    force = fmax(force, sn_vec3_norm(size.v));
    arm = fmax(arm, sn_vec3_norm(sni_lane_vec3(d->w.r[i])));
    r->F[i] = sn_vec6_scale(sni_lane6_vec6(f), per_h);
    if (d->use_wrench) {
      r->F[i] = sn_vec6_sub(r->F[i], d->w.wrench[i]);
    }
    if (r->touches) {
      r->F[i] = sn_vec6_sub(r->F[i], r->touched[i]);
    }
  }
  r->noise[0] = ROUNDING * per_h * (torque + arm * force);
  r->noise[1] = ROUNDING * per_h * force;
  bear(r, r->rows ? r->rows->lambda : NULL, r->force, r->beta);
  for (int i = 0; i < t->nbody; i++) {
    r->F[i] = sn_vec6_add(r->F[i], r->coast[i]);
  }
}

/* What the rows of a loop and its friction do to its second body, at the place and in the axes of
 * its bearings.  coast: multipliers that come to lambda, or NULL. */
static sn_vec6 loop_reaction(const sni_rubbing *r, int k, const double *lambda, const double *coast,
                             const double *force) {
  const sni_rub *rub = &r->m->rub[k];
  const int *body = loop_of(r, rub)->body, side = body[1] >= 0 ? 1 : 0;
  sn_vec6 f = {{0, 0, 0}, {0, 0, 0}};
  if (body[side] < 0) {
    return f;
  }
  for (int i = r->loop_row[2 * k]; i < r->loop_row[2 * k + 1]; i++) {
    const double push = lambda[i] / r->s->h + (coast ? coast[i] : 0);
    f = sn_vec6_addscaled(f, side ? -push : push, r->rows->row[i].p[side]);
  }
  f = sn_vec6_add(f, sni_rubbing_own(r, k, side, lambda, coast));
  const sn_vec3 arm = sn_vec3_sub(sni_lane_vec3(r->s->d->w.link[body[side]].o), r->place[k]);
  f.w = sn_vec3_add(f.w, sn_vec3_cross(arm, f.v));
  f = sn_vec6_unrotate(r->axes[k], f);
  /* friction acts along the slides, and what it does across them the rows have borne; or contact by
   * contact */
  const bool apart = sni_rubbing_apart(r, rub);
  for (int b = 0, i = apart ? rub->first_tangent : rub->first; b < rub->nbearing; b++) {
    for (int c = 0; apart && c < rub->bearing[b].ntangent; c++, i++) {
      f = sn_vec6_addscaled(f, -r->beta[i] / r->s->h, sni_rubbing_tangent(rub, b, c));
    }
    for (int c = 0; !apart && c < rub->bearing[b].ndirection; c++, i++) {
      f = sn_vec6_addscaled(f, -force[i], rub->bearing[b].direction[c]);
    }
  }
  return f;
}

/* What is left of forces that cancel, as in a fall, is no load. */
static sn_vec6 without_noise(const sni_rubbing *r, sn_vec6 w) {
  const sn_vec6 none = {{0, 0, 0}, {0, 0, 0}};
  return sn_vec3_norm(w.w) <= r->noise[0] && sn_vec3_norm(w.v) <= r->noise[1] ? none : w;
}

/* Contacts rub as they are pressed, and are pressed by what does not rub: all around a pin that is
 * known the second time, as what rubs sideways does not tilt it. */
enum { PRESSINGS = 3 };

/* Friction of a bearing, whose slides are from `first` on, shared out among its contacts; false: it
 * is known contact by contact. */
static bool share_out(const sni_rubbing *r, const sni_rub *rub, const sni_bearing *b, int first,
                      const double *limit, sn_vec6 side, sn_vec6 *rubbed) {
  double rho[SNI_DIRECTIONS_MAX];
  for (int c = 0; c < b->ndirection; c++) {
    rho[c] = r->bound[first + c] > 0 ? r->force[first + c] / r->bound[first + c] : 0;
  }
  if (b->kind != SNI_AT_POINTS) {
    *rubbed = sn_vec6_scale(side, rho[0]);
    return true;
  }
  if (sni_rubbing_apart(r, rub)) {
    return false;
  }
  *rubbed = sni_bearing_rub(b, limit, rho);
  return true;
}

/* Bounds of the bearings of a rub under the load F, in their axes; returns what they bear. */
static double press(const sni_rubbing *r, int k, sn_vec6 F, double *limit, sn_vec6 *rubbed,
                    double *next) {
  const sni_rub *rub = &r->m->rub[k];
  const double mu = r->s->d->params.rub[k].mu;
  double all = 0;
  for (int b = 0, first = rub->first; b < rub->nbearing; b++) {
    const sni_bearing *own = &rub->bearing[b];
    double normal = 0;
    bool again = true;
    for (int pass = 0; pass < PRESSINGS && again; pass++) {
      /* the normals do not feel what rubs, nor what acts in the direction of the motion */
      sn_vec6 w = sn_vec6_sub(F, rubbed[b]), side = {{0, 0, 0}, {0, 0, 0}};
      for (int c = 0; c < own->ndirection; c++) {
        w = sn_vec6_addscaled(w, -sn_vec6_dot(w, own->direction[c]), own->direction[c]);
      }
      w = without_noise(r, w);
      const sn_vec6 y = r->eps > 0 ? soften(r, k, own, w) : sni_bearing_press(own, NULL, w);
      normal = own->kind != SNI_AT_POINTS ? sni_bearing_around(own, mu, y, next, &side)
                                          : sni_bearing_limits(own, mu, y, limit, next);
      again = share_out(r, rub, own, first, limit, side, &rubbed[b]) &&
              (own->kind == SNI_AT_POINTS || own->kind == SNI_AROUND_SLIDER || pass == 0);
    }
    all += normal;
    limit += own->ntangent;
    next += own->ndirection;
    first += own->ndirection;
  }
  return all;
}

/* Falls from breakaway to force while the rate grows; what rubs together, along with all of its
 * rate, and in proportion. */
static void press_along(const sni_rubbing *r, int k, const double *v, double *next) {
  const sni_rub *rub = &r->m->rub[k];
  const sni_rub_numbers *number = &r->s->d->params.rub[k];
  for (int g = 0; g < rub->ngroup; g++) {
    const sni_rub_group *group = &rub->group[g];
    double arm[SNI_DIRECTIONS_MAX], slow = 0, part = 0;
    sni_rubbing_arms(r, k, g, arm);
    for (int c = group->first; c < group->first + group->count; c++) {
      slow += v[c] * v[c] / (number->speed[c] * number->speed[c]);
    }
    for (int i = 0; i < group->count; i++) {
      const int c = group->first + i;
      const double rise = rub->law == SNI_DRY ? 0 : number->breakaway[c] - number->force[c];
      part = fmax(part, (number->force[c] + rise * exp(-slow)) / arm[i]);
    }
    for (int i = 0; i < group->count; i++) {
      next[group->first + i] = part * arm[i];
    }
  }
}

/* What joints with surfaces bear, with F as it is and what is told of loops. */
static void find_loads(const sni_rubbing *r, const double *lambda, const double *coast,
                       const double *force, sn_vec6 *load) {
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    load[k] = rub->law != SNI_COULOMB ? (sn_vec6){{0, 0, 0}, {0, 0, 0}}
              : rub->body >= 0        ? sn_vec6_unrotate(r->axes[k], r->F[rub->body])
                                      : loop_reaction(r, k, lambda, coast, force);
  }
}

void sni_rubbing_bear_alone(sni_rubbing *r, const double *lambda, const double *force,
                            sn_vec6 *load) {
  memset(r->F, 0, (size_t)r->s->t->nbody * sizeof *r->F);
  bear(r, lambda, force, NULL);
  sni_rubbing_find_own(r, NULL, false);
  find_loads(r, lambda, NULL, force, load);
}

void sni_rubbing_weigh(sni_rubbing *r, const double *v) {
  reactions(r, v);
  sni_rubbing_find_own(r, v, true);
  find_loads(r, r->rows ? r->rows->lambda : NULL, r->coast_lambda, r->force, r->load);
  sni_rubbing_relieve(r, r->load);
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    double *next = r->next + rub->first;
    if (rub->law == SNI_COULOMB) {
      r->normal[k] = press(r, k, r->load[k], r->limit + rub->first_tangent,
                           &r->rubbed[SNI_BEARINGS_MAX * k], next);
    } else {
      press_along(r, k, r->rate + rub->first, next);
    }
  }
}

/* Of loads and rates, so much is enough to tell where bounds go. */
#define NUDGE 1e-6

void sni_rubbing_answer(sni_rubbing *r, const double *dv, const double *lambda, const double *force,
                        double *dnext) {
  const sni_tree *t = r->s->t;
  double limit[SNI_BEARINGS_MAX * SNI_TANGENTS_MAX];
  sn_vec6 rubbed[SNI_BEARINGS_MAX];
  sni_system_momenta(r->s, dv);
  for (int i = 0; i < t->nbody; i++) {
    r->F[i] = sn_vec6_scale(sni_lane6_vec6(r->s->f[i]), 1 / r->s->h);
  }
  bear(r, lambda, force, NULL);
  sni_rubbing_find_own(r, dv, false);
  find_loads(r, lambda, NULL, force, r->dload);
  sni_rubbing_relieve(r, r->dload);
  sni_J_mul_world(t, &r->s->d->w, dv);
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    double *out = dnext + rub->first, part = NUDGE;
    double rate[SN_NV_MAX];
    if (rub->law == SNI_COULOMB) {
      const sn_vec6 dF = r->dload[k];
      const double all = sn_vec6_dot(dF, dF), load = sn_vec6_dot(r->load[k], r->load[k]);
      part *= all > 0 ? sqrt(load / all) : 0;
      memcpy(rubbed, &r->rubbed[SNI_BEARINGS_MAX * k], sizeof rubbed);
      press(r, k, sn_vec6_addscaled(r->load[k], part, dF), limit, rubbed, out);
    } else {
      for (int c = 0; c < rub->nslide; c++) {
        const int i = rub->first + c;
        rate[c] = r->rate[i] + part * sni_row_mul(&r->row[i], &r->s->d->w, dv);
      }
      press_along(r, k, rate, out);
    }
    for (int c = 0; c < rub->nslide; c++) {
      out[c] = part > 0 ? (out[c] - r->next[rub->first + c]) / part : 0;
    }
  }
}

int sni_rubbing_coast_unbound(sni_rubbing *r, const sni_aba_in *in) {
  sni_dynamics *d = r->s->d;
  for (int k = 0; k < r->s->t->nv; k++) {
    d->w.tau[k] = r->leads ? 0 : -r->owed[k];
  }
  d->use_wrench = false;
  return sni_aba(r->s->t, in, &d->w, r->column);
}

int sni_rubbing_coast(sni_rubbing *r, double t, sni_rub_coasting way, const double *q,
                      const double *qd) {
  sni_dynamics *d = r->s->d;
  const sni_tree *tree = r->s->t;
  const size_t nv = (size_t)tree->nv;
  sni_aba_in in = sni_dynamics_masses(d);
  double *qdd = r->column;
  memset(qdd, 0, nv * sizeof *qdd);
  memset(r->coast_lambda, 0, (size_t)r->m->nrow * sizeof *r->coast_lambda);
  if (way != SNI_COAST_HELD) {
    int bad = sni_rubbing_coast_unbound(r, &in); /* rows need its factors in any case */
    if (way == SNI_COAST_BENT) {
      memset(qdd, 0, nv * sizeof *qdd);
    }
    if (bad < 0 && r->rows) {
      bad = sni_rows_coast(r->rows, t, t, q, qd, qdd);
      memcpy(r->coast_lambda, r->rows->lambda, (size_t)r->rows->nrow * sizeof *r->coast_lambda);
    }
    if (bad >= 0) {
      return bad;
    }
    in.use_wrench = d->use_wrench;
  }
  sni_inverse(tree, &in, &d->w, qdd, r->b, r->coast);
  return -1;
}
