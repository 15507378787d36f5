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

/* A length for the slides between two bodies: their radius of gyration; 0: they have no mass. */
static double gyration(const sni_params *params, int a, int b) {
  const sn_inertia A = sni_params_inertia(params, a), B = sni_params_inertia(params, b);
  const double mass = A.mass + B.mass;
  return mass > 0 ? sqrt((A.xx + A.yy + A.zz + B.xx + B.yy + B.zz) / mass) : 0;
}

/* -2 F.(w_p x u) for the joint of body i: the part of u goes to the joint's own matrix, that of w_p
 * to the parent's G. */
static void add_slides(sni_system *s, int i, sn_vec3 F, bool add, sni_sym3 *G) {
  const sni_tree *t = s->t;
  const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr, p = t->parent[i];
  const double length = sn_vec3_norm(F);
  bool slides = false;
  for (int k = adr; k < adr + nv; k++) {
    slides = slides || sni_lane_dot(s->d->w.S[k].v, s->d->w.S[k].v) > 0;
  }
  const double l = slides && length > 0 ? gyration(&s->d->params, p, i) : 0;
  if (!(l > 0)) {
    return;
  }
  *G = sni_sym3_add_square(*G, l / length, F);
  const double mass =
      fmin(sni_params_inertia(&s->d->params, p).mass, sni_params_inertia(&s->d->params, i).mass);
  const double whole = sni_system_whole(s), part = s->h / whole;
  const double above = part * part * (whole * whole * length / l - SNI_BORNE * mass);
  s->slides_braced = s->slides_braced || above > 0;
  if (!(above > 0) || !add) {
    return;
  }
  s->joints_changed = true;
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

/* Could the body meet more on its way than the masses bear?  What foresee.c finds is at most the
 * torque, and twice what G pushes. */
static bool is_tense(sni_sym3 left, const sni_turn *turn, double h2) {
  /* |tr G 1 - G| <= (sqrt 3 + 1) |G| */
  const double most = sn_vec3_norm(turn->torque) + 6 * sqrt(sni_sym3_square(turn->G));
  left.xx -= h2 * most;
  left.yy -= h2 * most;
  left.zz -= h2 * most;
  return !sni_sym3_is_positive(left);
}

/* SNI_BORNE R I R^T */
static sni_sym3 borne_inertia(const sni_dynamics *d, int i) {
  const sni_link *l = &d->w.link[i];
  const sn_inertia I = sni_params_inertia(&d->params, i);
  const sni_lane T[3] = {sni_lane_mul(l->R, I.xx, I.xy, I.xz), sni_lane_mul(l->R, I.xy, I.yy, I.yz),
                         sni_lane_mul(l->R, I.xz, I.yz, I.zz)};
  sni_lane A[3];
  for (int j = 0; j < 3; j++) {
    A[j] = sni_lane_all(SNI_BORNE) * sni_lane_mul(T, l->R[0][j], l->R[1][j], l->R[2][j]);
  }
  return (sni_sym3){A[0][0], A[1][1], A[2][2], A[1][0], A[2][0], A[2][1]};
}

/* What they bear beyond it; negative: what they do not. */
static sni_sym3 left_of(const sni_system *s, int i, const sni_turn *turn, double h2) {
  const double push = h2 * (sni_sym3_trace(turn->G) + s->reach[i]);
  const sni_sym3 I = borne_inertia(s->d, i);
  return (sni_sym3){I.xx + h2 * turn->G.xx - push, I.yy + h2 * turn->G.yy - push,
                    I.zz + h2 * turn->G.zz - push, I.xy + h2 * turn->G.xy,
                    I.xz + h2 * turn->G.xz,        I.yz + h2 * turn->G.yz};
}

/* Is there anything? */
static bool brace(sni_system *s, int i, const sni_turn *turn, bool add) {
  const double whole = sni_system_whole(s), h2 = whole * whole;
  const sni_sym3 left = left_of(s, i, turn, h2);
  s->tense = s->tense || is_tense(left, turn, h2);
  const bool found = !sni_sym3_is_positive(left);
  if (add && found && !s->point[i]) {
    s->braced[i] = 1;
    s->brace[i] = sni_sym3_scale(sni_sym3_missing(left), s->h * s->h / h2);
  }
  return found;
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
  sni_pull own = {f, {f.w, sni_sym3_product(weight, c)}};
  if (s->reacts) {
    own = sni_pull_add(own, s->reaction[i]);
  }
  return s->t->gather[i] & SNI_HAS_CHILD ? sni_pull_add(own, s->carried[s->t->slot[i]]) : own;
}

static void pass_on(sni_system *s, int i, sn_vec6 f, sni_sym3 G) {
  const sni_tree *t = s->t;
  const sn_vec3 torque = sn_vec3_cross(sni_lane_vec3(s->d->w.r[i]), f.v);
  const sni_pull at = {{sn_vec3_add(f.w, torque), f.v}, {torque, G}};
  sni_pull *sum = &s->carried[t->slot[t->parent[i]]];
  *sum = t->gather[i] & SNI_FIRST_TO_PARENT ? at : sni_pull_add(*sum, at);
}

/* Is there something that the masses do not bear? */
static bool inward(sni_system *s, const sni_block *block, bool add) {
  const sni_tree *t = s->t;
  bool found = false;
  for (int i = block->end - 1; i >= block->first; i--) {
    sni_pull own = load_of(s, i);
    const sn_vec6 f = own.f;
    const int p = t->parent[i];
    if (p >= 0) {
      sni_sym3 G = sni_sym3_product(f.v, sni_lane_vec3(s->d->w.r[i]));
      if (!s->grounded[p] && t->joint[i].nv > 0) { /* else: nothing turns against what turns */
        const double N = sn_vec3_norm(f.w);
        if (N > 0) { /* N N^T / |N| stands for |N| across N */
          G = sni_sym3_add_square(G, 0.5 / N, f.w);
          own.turn.G = sni_sym3_add_square(own.turn.G, 0.5 / N, f.w);
        }
        if (s->shifts[i]) {
          add_slides(s, i, f.v, add, &G);
        }
      }
      pass_on(s, i, f, G);
    }
    if (add) {
      s->braced[i] = 0;
    }
    found = (!s->grounded[i] && brace(s, i, &own.turn, add)) || found;
    s->turn[i] = own.turn;
  }
  return found;
}

void sni_system_add_tension(sni_system *s, const sni_block *block) {
  s->any_braced = inward(s, block, true) || s->any_braced;
}

bool sni_system_has_tension(sni_system *s) {
  bool found = false;
  s->tense = s->slides_braced = false;
  for (int k = s->t->nblock - 1; k >= 0; k--) {
    found = inward(s, &s->t->block[k], false) || found;
  }
  return found;
}

/* A thin rod has no inertia about itself, and is always braced there, where it does not turn. */
#define SLOWS 1e-13

bool sni_system_tension_slows(const sni_system *s) {
  const double whole = sni_system_whole(s), h2 = whole * whole;
  bool slows = s->slides_braced;
  for (int i = 0; i < s->t->nbody && !slows; i++) {
    const sni_turn *turn = &s->turn[i];
    const sn_vec3 w = sni_lane_vec3(s->d->w.a[i].w);
    const sni_sym3 borne = borne_inertia(s->d, i), left = left_of(s, i, turn, h2);
    const double w2 = sn_vec3_dot(w, w), bears = sn_vec3_dot(w, sni_sym3_mul(borne, w));
    const double A = sni_sym3_trace(turn->G) * w2 - sn_vec3_dot(w, sni_sym3_mul(turn->G, w));
    const double B = sn_vec3_dot(w, turn->torque) * sqrt(w2);
    const bool far = h2 * sqrt(A * A + B * B) > bears; /* see foresee.c */
    const bool held = !sni_sym3_is_positive(left) &&
                      sn_vec3_dot(w, sni_sym3_mul(sni_sym3_missing(left), w)) > SLOWS * bears;
    slows = !s->grounded[i] && w2 > 0 && (far || held);
  }
  return slows;
}
