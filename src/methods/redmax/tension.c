/* tension.c: how the torques of forces change along the tree, when the bodies between them and the
 * ground turn.
 *
 * Let F and N be the force and the torque, at the joint of child c, of all that acts on c and on
 * what hangs on it, r the arm from the parent's origin to the joint, w_p and w_c the angular
 * velocities of parent and child, and u the velocity of c's origin in the joint.  The second
 * derivative of the potential of constant forces is the sum over all joints of
 *
 *     w_p^T ((F.r) 1 - (F r^T + r F^T)/2) w_p  -  N.(w_p x w_c)  -  2 F.(w_p x u)
 *
 * and of the first, with weight and centre of mass, over all bodies.  The first are levers, as
 * those of a spring.  The others push as much as they resist; they are at most
 *
 *     |N|/2 (|w_p|^2 + |w_c|^2) across N     and     |F| (l |w_p|^2 + |u|^2 / l) across F, any l >
 * 0
 *
 * With all of it in the matrix energy cannot grow, however heavy the load on however light a chain.
 * But implicit forces damp: so of all this only what the masses do not bear is taken (SNI_BORNE),
 * and mechanisms under little tension are not touched. */
#include "methods/redmax/system.h"

/* ---- sums ---- */

/* pull += k (f f^T) / |f|, which stands for k |f| across f. */
static void add_across(sn_mat3 *pull, double k, sn_vec3 f, double length) {
  *pull = sn_mat3_add(*pull, sn_mat3_scale(sni_pull_outer(f, f), k / length));
}

/* A length for the slides between two bodies: their radius of gyration; 0: they have no mass. */
static double gyration(const sni_params *params, int a, int b) {
  const sn_inertia A = sni_params_inertia(params, a), B = sni_params_inertia(params, b);
  const double mass = A.mass + B.mass;
  return mass > 0 ? sqrt((A.xx + A.yy + A.zz + B.xx + B.yy + B.zz) / mass) : 0;
}

/* -2 F.(w_p x u) for the joint of body i: the part of u goes to the joint's own matrix, that of w_p
 * to the parent's G. */
static void add_slides(sni_system *s, int i, sn_vec3 F, double length, bool add, sn_mat3 *G) {
  const sni_tree *t = s->t;
  const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr, p = t->parent[i];
  bool slides = false;
  for (int k = adr; k < adr + nv; k++) {
    slides = slides || sni_lane_dot(s->d->w.S[k].v, s->d->w.S[k].v) > 0;
  }
  const double l = slides ? gyration(&s->d->params, p, i) : 0;
  if (!(l > 0)) {
    return;
  }
  add_across(G, l, F, length);
  const double mass =
      fmin(sni_params_inertia(&s->d->params, p).mass, sni_params_inertia(&s->d->params, i).mass);
  const double whole = sni_system_whole(s), part = s->h / whole;
  const double above = part * part * (whole * whole * length / l - SNI_BORNE * mass);
  if (!(above > 0) || !add) {
    return;
  }
  for (int r = 0; r < nv; r++) {
    const sn_vec3 a = sni_lane_vec3(s->d->w.S[adr + r].v);
    for (int c = 0; c < nv; c++) {
      const sn_vec3 b = sni_lane_vec3(s->d->w.S[adr + c].v);
      const double along = sn_vec3_dot(a, F) * sn_vec3_dot(b, F) / (length * length);
      const double k = above * (sn_vec3_dot(a, b) - along);
      s->joint_matrix[t->factor[i] + r * nv + c] += k;
    }
  }
}

/* ---- what the masses do not bear ---- */

static bool positive_definite(sn_mat3 A) {
  return A.m[0][0] > 0 && A.m[0][0] * A.m[1][1] > A.m[0][1] * A.m[0][1] && sn_mat3_det(A) > 0;
}

/* Could the body meet more on its way than the masses bear?  What foresee.c finds is at most the
 * torque, and twice what G pushes. */
static bool is_tense(sn_mat3 left, const sni_pull *pull, double h2) {
  double square = 0;
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      square += pull->G.m[r][c] * pull->G.m[r][c];
    }
  }
  /* |tr G 1 - (G + G^T)/2| <= (sqrt 3 + 1) |G| */
  const double most = sn_vec3_norm(pull->torque) + 6 * sqrt(square);
  for (int c = 0; c < 3; c++) {
    left.m[c][c] -= h2 * most;
  }
  return !positive_definite(left);
}

/* Is there anything? */
static bool add_what_is_not_borne(sni_system *s, int i, const sni_pull *pull, bool add) {
  const sn_mat3 G = pull->G;
  const double whole = sni_system_whole(s), h2 = whole * whole;
  const sn_mat3 R = sni_link_R(&s->d->w.link[i]);
  const sn_mat3 I = sn_inertia_tensor(sni_params_inertia(&s->d->params, i));
  sn_mat3 left = sn_mat3_mul(R, sn_mat3_mul(sn_mat3_scale(I, SNI_BORNE), sn_mat3_transpose(R)));
  left = sn_mat3_add(left, sn_mat3_scale(sn_mat3_add(G, sn_mat3_transpose(G)), 0.5 * h2));
  for (int c = 0; c < 3; c++) {
    left.m[c][c] -= h2 * (sn_mat3_trace(G) + s->reach[i]);
  }
  s->tense = s->tense || is_tense(left, pull, h2);
  if (positive_definite(left)) {
    return false;
  }
  if (!add) {
    return true;
  }
  double value[3];
  sn_mat3 axes;
  sn_sym3_eigen(left, value, &axes);
  for (int c = 0; c < 3 && value[c] < 0; c++) {
    const sni_term term = {
        .k = -value[c] / h2, .p = {{.w = sn_mat3_col(axes, c)}}, .body = {i, -1}};
    sni_system_add_term(s, -1, &term);
  }
  return true;
}

/* ---- one pass inward ---- */

static sni_pull load_of(const sni_system *s, int i) {
  const sni_dynamics *d = s->d;
  const sn_inertia I = sni_params_inertia(&d->params, i);
  const sn_vec3 g = {d->params.gravity[0], d->params.gravity[1], d->params.gravity[2]};
  const sn_vec3 c = sn_mat3_mul_vec(sni_link_R(&d->w.link[i]), I.com);
  const sn_vec3 weight = sn_vec3_scale(g, I.mass);
  sn_vec6 f = {sn_vec3_cross(c, weight), weight};
  if (d->use_wrench) {
    f = sn_vec6_add(f, d->w.wrench[i]);
  }
  sni_pull own = {.f = f, .torque = f.w, .G = sni_pull_outer(weight, c)};
  if (s->reacts) {
    own = sni_pull_add(own, s->reaction[i]);
  }
  return s->t->gather[i] & SNI_HAS_CHILD ? sni_pull_add(own, s->pull[i]) : own;
}

static void pass_on(sni_system *s, int i, sn_vec6 f, sn_mat3 G) {
  const int p = s->t->parent[i];
  const sn_vec3 torque = sn_vec3_cross(sni_lane_vec3(s->d->w.r[i]), f.v);
  const sni_pull at = {.f = {sn_vec3_add(f.w, torque), f.v}, .torque = torque, .G = G};
  s->pull[p] = s->t->gather[i] & SNI_FIRST_TO_PARENT ? at : sni_pull_add(s->pull[p], at);
}

/* Is there something that the masses do not bear? */
static bool inward(sni_system *s, bool add) {
  const sni_tree *t = s->t;
  bool found = false;
  s->tense = false;
  for (int i = t->nbody - 1; i >= 0; i--) {
    sni_pull own = load_of(s, i);
    const sn_vec6 f = own.f;
    const int p = t->parent[i];
    if (p >= 0) {
      sn_mat3 G = sni_pull_outer(f.v, sni_lane_vec3(s->d->w.r[i]));
      if (!s->grounded[p] && t->joint[i].nv > 0) { /* else: nothing turns against what turns */
        const double N = sn_vec3_norm(f.w), F = sn_vec3_norm(f.v);
        if (N > 0) {
          add_across(&G, 0.5, f.w, N);
          add_across(&own.G, 0.5, f.w, N);
        }
        if (F > 0) {
          add_slides(s, i, f.v, F, add, &G);
        }
      }
      pass_on(s, i, f, G);
    }
    if (!s->grounded[i]) {
      found = add_what_is_not_borne(s, i, &own, add) || found;
    }
    s->pull[i] = own;
  }
  return found;
}

void sni_system_add_tension(sni_system *s) {
  inward(s, true);
}

bool sni_system_has_tension(sni_system *s) {
  return inward(s, false);
}
