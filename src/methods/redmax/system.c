/* system.c: the matrix and the forces of one linearly implicit step. */
#include "methods/redmax/system.h"

#include "base/memory.h"
#include "dynamics/composite.h"
#include "dynamics/loops.h"
#include "methods/redmax/move.h"

#include <math.h>
#include <string.h>

/* ---- blocks ---- */

/* block += c p p^T */
static void add_square(sni_art *block, double c, sni_lane6 p) {
  const sni_lane k = sni_lane_all(c);
  for (int j = 0; j < 3; j++) {
    block->A[j] += k * (p.w * sni_lane_all(p.w[j]));
    block->Bt[j] += k * (p.v * sni_lane_all(p.w[j]));
    block->C[j] += k * (p.v * sni_lane_all(p.v[j]));
  }
}

/* The block of a body, a new one if it has none yet. */
static sni_art *block_of(sni_system *s, int body) {
  if (s->extra_of[body] < 0) {
    s->extra_of[body] = s->nextra;
    s->extra[s->nextra++] = (sni_art){0};
  }
  return &s->extra[s->extra_of[body]];
}

/* M + h D of the drag, which is like a mass: drag coefficients at the centre of mass. */
static const sni_mass *with_drag(sni_system *s) {
  const sni_dynamics *d = s->d;
  if (d->ndragged == 0) {
    return d->mass;
  }
  if (s->heavy_h == s->h && s->heavy_hash == d->param_hash) {
    return s->heavy;
  }
  s->heavy_h = s->h;
  s->heavy_hash = d->param_hash;
  memcpy(s->heavy, d->mass, (size_t)s->t->nbody * sizeof *s->heavy);
  for (int k = 0; k < d->ndragged; k++) {
    const int i = d->dragged[k];
    const double turning = s->h * d->params.drag_angular[i];
    const sni_mass drag =
        sni_mass_from_inertia((sn_inertia){.mass = s->h * d->params.drag_linear[i],
                                           .com = sni_params_inertia(&d->params, i).com,
                                           .xx = turning,
                                           .yy = turning,
                                           .zz = turning});
    sni_mass *m = &s->heavy[i];
    m->m += drag.m;
    m->mc = sn_vec3_add(m->mc, drag.mc);
    m->xx += drag.xx;
    m->yy += drag.yy;
    m->zz += drag.zz;
    m->xy += drag.xy;
    m->xz += drag.xz;
    m->yz += drag.yz;
  }
  return s->heavy;
}

/* ---- terms ---- */

static bool is_zero(sn_vec6 p) {
  return sn_vec6_dot(p, p) == 0;
}

void sni_system_add_term(sni_system *s, int pair, const sni_term *from) {
  if (s->nterm == s->term_capacity) {
    return; /* cannot happen: there is room for all that forces may have */
  }
  sni_link_term *term = &s->term[s->nterm++];
  term->k = from->k;
  term->d = from->d;
  term->part = from->part;
  term->more = from->more;
  for (int k = 0; k < 2; k++) {
    const int body = from->body[k];
    const bool moves = body >= 0 && !s->grounded[body] && !is_zero(from->p[k]);
    term->body[k] = moves ? body : -1;
    term->p[k] = sni_lane6_from(from->p[k]);
    if (moves && s->point[body]) {
      term->p[k].w = (sni_lane){0};
    }
  }
  term->pair = term->body[0] >= 0 && term->body[1] >= 0 ? pair : -1;
}

static void add_force_terms(sni_system *s, double t, sni_tangent tangent) {
  const sni_dynamics *d = s->d;
  sni_force_eval e = sni_dynamics_force_eval(d, t, t, true);
  e.rows = s->apart;
  for (int f = 0; f < d->m->nforce; f++) {
    const sni_force *force = &d->m->force[f];
    const sni_force_ops *ops = sni_force_kind(force->kind);
    if (force->implicit && sni_force_is_active(&e, force)) {
      e.taut = s->taut[f];
      const int n = ops->tangent(&e, force, d->params.force + force->param, tangent, s->room);
      for (int k = 0; k < n; k++) {
        sni_system_add_term(s, s->first_pair[f] + s->room[k].pair, &s->room[k]);
      }
    }
  }
}

static void add_hand_terms(sni_system *s, double t, sni_tangent tangent) {
  const sni_hand *hand = &s->d->hand;
  if (hand->holds) {
    const sni_force_eval e = sni_dynamics_force_eval(s->d, t, t, true);
    const int n = sni_force_spring.tangent(&e, &hand->spring, hand->param, tangent, s->room);
    for (int k = 0; k < n; k++) {
      sni_system_add_term(s, -1, &s->room[k]);
    }
  }
}

static int user_pair(sni_system *s, const int body[2], bool *turned) {
  for (int k = s->first_user; k < s->npairs; k++) {
    const int *pair = s->pair[k];
    *turned = pair[0] == body[1] && pair[1] == body[0];
    if (*turned || (pair[0] == body[0] && pair[1] == body[1])) {
      return k;
    }
  }
  return -1;
}

/* Terms that push are taken as they come: who gives them knows. */
static void add_user_terms(sni_system *s, double t, const double *q, const double *qd) {
  const sni_dynamics *d = s->d;
  const size_t bytes = (size_t)s->t->nv * sizeof(double);
  const sn_force_context context = {.t = t,
                                    .nbody = s->t->nbody,
                                    .nv = s->t->nv,
                                    .E_wb = d->E_wb,
                                    .phi = d->phi,
                                    .q = q,
                                    .qd = qd};
  memset(s->user_k, 0, bytes);
  memset(s->user_d, 0, bytes);
  const int n = d->user_tangent(&context, d->user, s->user, s->user_k, s->user_d);
  s->surplus = n < 0 || n > s->user_capacity ? n : 0;
  for (int k = 0; k < n && k < s->user_capacity; k++) {
    const sn_force_term *from = &s->user[k];
    sni_term term = {.k = from->k, .d = from->d};
    for (int side = 0; side < 2; side++) {
      const int body = from->body[side];
      term.body[side] = body >= 0 && body < s->t->nbody && !s->grounded[body] ? body : -1;
      term.p[side] = from->p[side];
    }
    const bool couples = term.body[0] >= 0 && term.body[1] >= 0;
    bool turned = false;
    const int pair = couples ? user_pair(s, term.body, &turned) : -1;
    if (couples && pair < 0) {
      s->undeclared[0] = term.body[0];
      s->undeclared[1] = term.body[1];
      continue;
    }
    if (turned) {
      term.body[0] = from->body[1];
      term.body[1] = from->body[0];
      term.p[0] = from->p[1];
      term.p[1] = from->p[0];
    }
    sni_system_add_term(s, pair, &term);
  }
  s->joints_changed = true;
  for (int i = 0; i < s->t->nbody; i++) {
    const int adr = s->t->vadr[i], nv = s->t->vadr[i + 1] - adr;
    for (int k = 0; k < nv; k++) {
      s->joint_matrix[s->t->factor[i] + k * nv + k] +=
          s->h * s->user_d[adr + k] + s->h * s->h * s->user_k[adr + k];
    }
  }
}

/* Is SNI_BORNE M - S positive definite, with S the body's block?  Cholesky, in place. */
static bool bears(const sni_system *s, int body) {
  const sni_art *S = &s->extra[s->extra_of[body]];
  sni_art M;
  sni_mass_block(&s->d->mass[body], &s->d->w.link[body], &M);
  double a[6][6];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      a[i][j] = SNI_BORNE * M.A[j][i] - S->A[j][i];
      a[i + 3][j] = SNI_BORNE * M.Bt[j][i] - S->Bt[j][i];
      a[i + 3][j + 3] = SNI_BORNE * M.C[j][i] - S->C[j][i];
    }
  }
  for (int j = 0; j < 6; j++) {
    for (int k = 0; k < j; k++) {
      a[j][j] -= a[j][k] * a[j][k];
    }
    if (!(a[j][j] > 0)) {
      return false;
    }
    a[j][j] = sqrt(a[j][j]);
    for (int i = j + 1; i < 6; i++) {
      for (int k = 0; k < j; k++) {
        a[i][j] -= a[i][k] * a[j][k];
      }
      a[i][j] /= a[j][j];
    }
  }
  return true;
}

/* The tension of springs resists turning them, in the linearised forces, and so brakes whatever
 * turns as a whole: a prestressed structure would hardly spin.  So what levers and terms across do
 * to a body is summed up (twice what a pair does to each of its two), and those of bodies that bear
 * the sum are left out.  Of the others, levers that push are. */
static void drop_what_is_borne(sni_system *s) {
  const double whole = sni_system_whole(s), h2 = whole * whole;
  int n = 0;
  for (int k = 0; k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    const double twice = term->body[0] >= 0 && term->body[1] >= 0 ? 2 : 1;
    for (int side = 0; term->part != SNI_PART_MATERIAL && side < 2; side++) {
      if (term->body[side] >= 0) {
        add_square(block_of(s, term->body[side]), twice * h2 * term->k, term->p[side]);
      }
    }
  }
  for (int i = 0; s->nextra > 0 && i < s->t->nbody; i++) {
    s->slack[i] = s->extra_of[i] < 0 || bears(s, i);
    s->extra_of[i] = -1;
  }
  for (int k = 0; k < s->nterm; k++) {
    const int *body = s->term[k].body;
    const bool borne = (body[0] < 0 || s->slack[body[0]]) && (body[1] < 0 || s->slack[body[1]]);
    const bool pushes = s->term[k].part == SNI_PART_LEVER && s->term[k].k < 0;
    if (s->term[k].part == SNI_PART_MATERIAL || (!borne && !pushes)) {
      s->term[n++] = s->term[k];
    }
  }
  s->nterm = n;
  s->nextra = 0;
}

/* The sides of the row that begins with term k which move, and where it ends. */
static int sides_of_row(const sni_system *s, int k, int *end) {
  int sides = 0;
  for (bool more = true; more; k++) {
    sides += (s->term[k].body[0] >= 0) + (s->term[k].body[1] >= 0);
    more = s->term[k].more;
  }
  *end = k;
  return sides;
}

void sni_system_brace_rows(sni_system *s) {
  for (int k = 0, end; s->npair > 0 && k < s->nterm; k = end) {
    const double c = s->h * s->term[k].d + s->h * s->h * s->term[k].k;
    const int sides = sides_of_row(s, k, &end);
    for (int n = 2 * k; (sides > 1 || s->term[k].more) && c > 0 && n < 2 * end; n++) {
      const sni_link_term *term = &s->term[n / 2];
      if (term->body[n % 2] >= 0) {
        add_square(block_of(s, term->body[n % 2]), sides * c, term->p[n % 2]);
      }
    }
  }
}

/* The terms' squares, into the blocks. */
static void add_squares(sni_system *s) {
  bool more = false;
  for (int k = 0; k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    const double c = s->h * term->d + s->h * s->h * term->k;
    const bool couples = more || term->more || (term->body[0] >= 0 && term->body[1] >= 0);
    more = term->more;
    for (int side = 0; side < 2 && !(couples && s->apart); side++) {
      if (term->body[side] >= 0) {
        add_square(block_of(s, term->body[side]), c, term->p[side]);
      }
    }
    s->npair += couples;
  }
}

/* ---- joints ---- */

/* Adds the spring's matrix, and to tau what stays explicit: its force at rest. */
static void add_spring(sni_system *s, int i, const sni_spring *spring) {
  const sni_tree *t = s->t;
  const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
  sni_spring at_rest = *spring;
  at_rest.qd = s->d->zero;
  at_rest.max_force = NULL;
  sni_joint_spring(sni_tree_joints(t), i, &at_rest, s->d->w.tau + adr);
  s->joints_changed = true;
  sni_joint_spring_matrix(sni_tree_joints(t), i, spring, s->h, s->joint_matrix + t->factor[i], nv);
}

void sni_system_release_drives(sni_system *s) {
  for (int k = 0; k < SN_NV_MAX * s->d->m->nloop_spring; k++) {
    s->loop_limited[k] = false;
  }
  memset(s->limited, 0, (size_t)s->t->nv * sizeof *s->limited);
  memset(s->limit, 0, (size_t)s->t->nv * sizeof *s->limit);
  memset(s->reach, 0, (size_t)s->t->nbody * sizeof *s->reach);
  s->reacts = false;
  if (s->d->m->nforce > 0) {
    memset(s->taut, 0, (size_t)s->d->m->nforce * sizeof *s->taut);
  }
}

bool sni_system_pull_cables(sni_system *s, double t, sn_vec6 *phi) {
  const sni_dynamics *d = s->d;
  bool changed = false;
  if (!s->pulling) {
    return false;
  }
  for (int i = 0; i < s->t->nbody; i++) {
    phi[i] = sni_lane6_vec6(d->w.a[i]);
  }
  sni_force_eval e = sni_dynamics_force_eval(d, t, t, true);
  e.h = s->h;
  for (int f = 0; f < d->m->nforce; f++) {
    const sni_force *force = &d->m->force[f];
    const sni_force_ops *ops = sni_force_kind(force->kind);
    if (force->implicit && ops->pulls && sni_force_is_active(&e, force)) {
      const double *param = d->params.force + force->param;
      e.phi = d->phi;
      const bool was = s->taut[f] ? s->taut[f] > 0 : ops->pulls(&e, force, param);
      e.phi = phi;
      const bool is = ops->pulls(&e, force, param);
      changed = changed || was != is;
      s->taut[f] = is ? 1 : -1;
    }
  }
  return changed;
}

/* Three coordinates that turn about one point: the limit is of the torque, whatever its axis. */
static bool is_ball(const sni_system *s, int i) {
  return s->t->joint[i].nv == 3 && sni_joint_ops_of(sni_tree_joints(s->t), i)->spring != NULL;
}

/* Parts of a drive's strength that are as good as the same. */
#define ALIKE 0.02

/* What pulls at a ball is weaker alike about all axes, and as implicit: a torque that is held as it
 * is would damp nothing about a thin axis.  s->limit: the part that is left, 0 before it is known.
 */
static bool limit_ball(sni_system *s, int adr, const double *limited, const double *free) {
  const double most = hypot(hypot(free[0], free[1]), free[2]);
  const double part = most > 0 ? hypot(hypot(limited[0], limited[1]), limited[2]) / most : 1;
  const double was = s->limit[adr] > 0 ? s->limit[adr] : 1;
  s->limit[adr] = part;
  return fabs(part - was) > ALIKE * was;
}

static bool limit_axes(sni_system *s, int adr, int nv, const double *limited, const double *free) {
  bool changed = false;
  for (int c = 0; c < nv; c++) {
    /* pulled one way it ends where it would be pulled the other: what it needs is between */
    const bool over = s->limited[adr + c] && limited[c] * s->limit[adr + c] < 0;
    const bool held = limited[c] != free[c] && !over;
    changed = changed || held != s->limited[adr + c];
    s->limited[adr + c] = held;
    s->limit[adr + c] = limited[c];
  }
  return changed;
}

bool sni_system_limit_drives(sni_system *s, double t, const double *q, const double *qd,
                             const sn_input *input) {
  bool changed = false;
  for (int k = 0; k < s->d->m->ndrive; k++) {
    const int i = s->d->m->drive[k].body, adr = s->t->vadr[i], nv = s->t->joint[i].nv;
    double target[SN_NV_MAX], rate[SN_NV_MAX], limited[SN_NV_MAX] = {0}, free[SN_NV_MAX] = {0};
    sni_spring spring = sni_dynamics_drive(s->d, k, t, t, q, qd, input, target, rate);
    sni_joint_spring(sni_tree_joints(s->t), i, &spring, limited);
    spring.max_force = NULL;
    sni_joint_spring(sni_tree_joints(s->t), i, &spring, free);
    const bool other =
        is_ball(s, i) ? limit_ball(s, adr, limited, free) : limit_axes(s, adr, nv, limited, free);
    changed = changed || other;
  }
  return changed;
}

/* The k-th drive where no limit holds it; the arrays have room for SN_NV_MAX numbers. */
typedef struct drive_room {
  double target[SN_NV_MAX], rate[SN_NV_MAX], stiffness[SN_NV_MAX], damping[SN_NV_MAX];
} drive_room;
static sni_spring drive_spring(const sni_system *s, int k, const double *q, const double *qd,
                               drive_room *room) {
  const int i = s->d->m->drive[k].body;
  sni_spring spring =
      sni_dynamics_drive(s->d, k, s->time, s->time, q, qd, s->input, room->target, room->rate);
  const double part = is_ball(s, i) && s->limit[s->t->vadr[i]] > 0 ? s->limit[s->t->vadr[i]] : 1;
  for (int c = 0; c < s->t->joint[i].nv; c++) {
    const bool held = s->limited[s->t->vadr[i] + c];
    room->stiffness[c] = held ? 0 : part * spring.stiffness[c];
    room->damping[c] = held ? 0 : part * spring.damping[c];
  }
  spring.stiffness = room->stiffness;
  spring.damping = room->damping;
  return spring;
}

/* The armature of the joints alone.  It seldom changes, and there is much of it. */
static void begin_joints(sni_system *s) {
  const sni_dynamics *d = s->d;
  if (s->joints_changed || d->nrotor > 0 || s->joints_hash != d->param_hash) {
    memcpy(s->joint_matrix, d->armature, (size_t)s->t->nfactor * sizeof(double));
  }
  s->joints_changed = false;
  s->joints_hash = d->param_hash;
}

static void add_joints(sni_system *s, const double *q, const double *qd) {
  const sni_dynamics *d = s->d;
  const sni_tree *tree = s->t;
  begin_joints(s);
  for (int k = 0; k < d->nsprung; k++) {
    const sni_spring spring = sni_dynamics_joint_spring(d, d->sprung[k], q, qd);
    add_spring(s, d->sprung[k], &spring);
  }
  for (int k = 0; k < d->m->ndrive; k++) {
    const int i = d->m->drive[k].body, adr = tree->vadr[i];
    drive_room room;
    const sni_spring spring = drive_spring(s, k, q, qd, &room);
    add_spring(s, i, &spring);
    for (int c = adr; c < tree->vadr[i + 1]; c++) {
      d->w.tau[c] += s->limited[c] ? s->limit[c] : 0;
    }
  }
}

void sni_system_assemble_open(sni_system *s, double t, double h, const double *q, const double *qd,
                              const sn_input *input, sni_tangent tangent) {
  sni_dynamics *d = s->d;
  s->h = h;
  s->time = t;
  s->input = input;
  s->npair = s->nterm = s->nextra = 0;
  s->undeclared[0] = s->undeclared[1] = -1;
  s->surplus = 0;
  s->tense = s->any_braced = false;
  d->ahead = h;
  d->taut = s->taut;
  for (int i = 0; i < s->t->nbody; i++) {
    s->extra_of[i] = -1;
  }
  sni_dynamics_external(d, t, t, q, qd, input, true);
  add_joints(s, q, qd);
  sni_system_add_loops(s);
  sni_system_add_stops(s);
  add_force_terms(s, t, tangent);
  add_hand_terms(s, t, tangent);
  if (d->user_force && d->user_tangent) {
    add_user_terms(s, t, q, qd);
  }
  if (tangent == SNI_TANGENT_CLAMPED) {
    drop_what_is_borne(s);
  }
  add_squares(s);
  d->ahead = 0;
  d->taut = NULL;
  s->in = sni_dynamics_aba_in(d);
  s->in.mass = with_drag(s);
  s->in.prescribed = NULL;
  s->in.extra = s->extra;
  s->in.extra_of = s->extra_of;
  s->in.brace = tangent == SNI_TANGENT_CLAMPED ? s->brace : NULL;
  s->in.braced = s->braced;
  s->in.joint_matrix = s->joint_matrix;
}

void sni_system_assemble(sni_system *s, double t, double h, const double *q, const double *qd,
                         const sn_input *input, sni_tangent tangent) {
  sni_system_assemble_open(s, t, h, q, qd, input, tangent);
  for (int k = s->t->nblock - 1; k >= 0 && tangent == SNI_TANGENT_CLAMPED; k--) {
    sni_system_add_tension(s, &s->t->block[k]);
  }
  s->in.bare_joints = !s->d->armed && !s->joints_changed;
}

bool sni_system_is_mass(const sni_system *s) {
  const size_t bytes = (size_t)s->t->nfactor * sizeof(double);
  return s->nterm == 0 && s->nextra == 0 && s->in.mass == s->d->mass &&
         memcmp(s->joint_matrix, s->d->armature, bytes) == 0;
}

/* ---- products ---- */

void sni_system_project(const sni_system *s, sni_lane6 *f, double *x) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  for (int i = t->nbody - 1; i >= 0; i--) {
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      x[k] = sni_lane6_dot(w->S[k], f[i]);
    }
    const int p = t->parent[i];
    if (p >= 0) {
      f[p].v += f[i].v;
      f[p].w += f[i].w + sni_lane_cross(w->r[i], f[i].v);
    }
  }
}

/* y += the joints' blocks times x */
static void add_blocks(const sni_tree *t, const double *block, const double *x, double *y) {
  for (int i = 0; i < t->nbody; i++) {
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    const double *own = block + t->factor[i];
    for (int r = 0; r < nv; r++) {
      for (int k = 0; k < nv; k++) {
        y[adr + r] += own[r * nv + k] * x[adr + k];
      }
    }
  }
}

/* f = (what is in A of bodies) times their twists w->a. */
static void momenta_of_twists(sni_system *s) {
  const sni_tree *t = s->t;
  const sni_work *w = &s->d->w;
  for (int i = 0; i < t->nbody; i++) {
    s->f[i] = sni_momentum(&s->in.mass[i], &w->link[i], w->a[i]);
    if (s->extra_of[i] >= 0) {
      s->f[i] = sni_lane6_add(s->f[i], sni_block_mul(&s->extra[s->extra_of[i]], w->a[i]));
    }
    if (s->in.brace && s->braced[i]) {
      const sn_vec3 torque = sni_sym3_mul(s->brace[i], sni_lane_vec3(w->a[i].w));
      s->f[i].w += sni_lane_from(torque);
    }
  }
  for (int k = 0; s->npair > 0 && k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    const int a = term->body[0], b = term->body[1];
    if (a >= 0 && b >= 0) { /* the squares are in the blocks: here the cross terms */
      const double c = s->h * term->d + s->h * s->h * term->k;
      const double ca = c * sni_lane6_dot(term->p[0], w->a[a]);
      const double cb = c * sni_lane6_dot(term->p[1], w->a[b]);
      s->f[a] = sni_lane6_addscaled(s->f[a], cb, term->p[0]);
      s->f[b] = sni_lane6_addscaled(s->f[b], ca, term->p[1]);
    }
  }
}

void sni_system_momenta(sni_system *s, const double *x) {
  sni_J_mul_world(s->t, &s->d->w, x);
  momenta_of_twists(s);
}

void sni_system_mul(sni_system *s, const double *x, double *y) {
  sni_J_mul_world(s->t, &s->d->w, x);
  sni_system_mul_moving(s, x, y);
}

void sni_system_mul_moving(sni_system *s, const double *x, double *y) {
  momenta_of_twists(s);
  sni_system_project(s, s->f, y);
  add_blocks(s->t, s->joint_matrix, x, y);
}

void sni_system_add_armature(const sni_system *s, const double *x, double *y) {
  if (s->d->armed) {
    add_blocks(s->t, s->d->armature, x, y);
  }
}

const double *sni_system_armature(const sni_system *s, const double *x) {
  if (!s->d->armed) {
    return s->d->zero;
  }
  memset(s->b, 0, (size_t)s->t->nv * sizeof *s->b);
  add_blocks(s->t, s->d->armature, x, s->b);
  return s->b;
}

int sni_system_pair_count(const sni_system *s) {
  int n = 0;
  for (int k = 0; k < s->npairs; k++) {
    n += sni_system_couples(s, k);
  }
  return n;
}

static void set_pair(sni_system *s, int k, const int body[2]) {
  for (int side = 0; side < 2; side++) {
    const bool moves = body[side] >= 0 && body[side] < s->t->nbody && !s->grounded[body[side]];
    s->pair[k][side] = moves ? body[side] : -1;
  }
}

static void find_pairs(sni_system *s, const sn_options *o) {
  int n = 0;
  for (int f = 0; f < s->d->m->nforce; f++) {
    const sni_force *force = &s->d->m->force[f];
    s->first_pair[f] = n;
    for (int k = 0; force->implicit && k < force->npair; k++, n++) {
      int body[2];
      sni_force_pair(force, k, body);
      set_pair(s, n, body);
    }
  }
  s->first_loop = n;
  for (int k = 0; k < s->d->m->nloop_spring; k++, n++) {
    set_pair(s, n, s->d->m->constraint[s->d->m->loop_spring[k].loop].body);
  }
  s->first_stop = n;
  for (int k = 0; k < s->d->m->nconstraint && s->nstop > 0; k++) {
    const sni_constraint *c = &s->d->m->constraint[k];
    for (int i = 0; i < c->nsided; i++, n++) {
      set_pair(s, n, c->body);
    }
  }
  s->first_user = n;
  for (int k = 0; k < o->redmax.npair; k++) {
    set_pair(s, n + k, o->redmax.pair[k]);
  }
}

/* ---- memory ---- */

/* Soft stops that are forces of the system; `redmax` solves for them as for all limits. */
static size_t stop_count(const sn_model *m, const sn_options *o) {
  return strcmp(o->method, "structured") == 0 ? (size_t)m->nsided : 0;
}

static size_t lay_out(sni_system *s, const sn_model *m, const sn_options *o, char *memory) {
  const size_t nbody = (size_t)m->tree.nbody, nv = (size_t)m->tree.nv;
  const size_t nuser = (size_t)o->redmax.max_terms;
  size_t capacity = nuser + SNI_HAND_TERMS, room = SNI_HAND_TERMS;
  const size_t nloop = (size_t)m->nloop_spring;
  const size_t nstop = stop_count(m, o);
  size_t npairs = (size_t)o->redmax.npair + nloop + nstop;
  capacity += 2 * SN_NV_MAX * nloop + nstop;
  for (int f = 0; f < m->nforce; f++) {
    if (m->force[f].implicit) {
      const size_t nterm = (size_t)m->force[f].nterm;
      capacity += nterm;
      room = nterm > room ? nterm : room;
      npairs += (size_t)m->force[f].npair;
    }
  }
  size_t used = 0;
#define TAKE(count, size)                                                                          \
  (memory ? (void *)(memory + used) : NULL);                                                       \
  used += sni_memory_room(count, size)
  s->extra = TAKE(nbody, sizeof *s->extra);
  s->f = TAKE(nbody, sizeof *s->f);
  s->heavy = TAKE(nbody, sizeof *s->heavy);
  s->carried = TAKE((size_t)m->tree.nslot, sizeof *s->carried);
  s->turn = TAKE(nbody, sizeof *s->turn);
  s->brace = TAKE(nbody, sizeof *s->brace);
  s->reaction = TAKE(nbody, sizeof *s->reaction);
  s->borne = TAKE((size_t)m->nrow, sizeof *s->borne);
  s->reach = TAKE(nbody, sizeof *s->reach);
  s->motion = TAKE(nbody, sizeof *s->motion);
  s->term = TAKE(capacity, sizeof *s->term);
  s->joint_matrix = TAKE((size_t)m->tree.nfactor, sizeof *s->joint_matrix);
  s->b = TAKE(nv, sizeof *s->b);
  s->limit = TAKE(nv, sizeof *s->limit);
  s->limited = TAKE(nv, sizeof *s->limited);
  s->taut = TAKE((size_t)m->nforce, sizeof *s->taut);
  s->scratch = TAKE(11 * nv, sizeof *s->scratch);
  s->room = TAKE(room, sizeof *s->room);
  s->loop = TAKE(nloop, sizeof *s->loop);
  s->loop_limit = TAKE(SN_NV_MAX * nloop, sizeof *s->loop_limit);
  s->loop_limited = TAKE(SN_NV_MAX * nloop, sizeof *s->loop_limited);
  s->loop_tau = TAKE(SN_NV_MAX * nloop, sizeof *s->loop_tau);
  s->loop_matrix = TAKE(SN_NV_MAX * SN_NV_MAX * nloop, sizeof *s->loop_matrix);
  s->pushing = TAKE(nstop, sizeof *s->pushing);
  s->user = TAKE(nuser, sizeof *s->user);
  s->user_k = TAKE(o->redmax.force_tangent ? nv : 0, sizeof *s->user_k);
  s->user_d = TAKE(o->redmax.force_tangent ? nv : 0, sizeof *s->user_d);
  s->pair = TAKE(npairs, sizeof *s->pair);
  s->first_pair = TAKE((size_t)m->nforce, sizeof *s->first_pair);
  s->extra_of = TAKE(nbody, sizeof *s->extra_of);
  s->grounded = TAKE(nbody, sizeof *s->grounded);
  s->slack = TAKE(nbody, sizeof *s->slack);
  s->braced = TAKE(nbody, sizeof *s->braced);
  s->point = TAKE(nbody, sizeof *s->point);
  s->shifts = TAKE(nbody, sizeof *s->shifts);
#undef TAKE
  s->term_capacity = (int)capacity;
  s->npairs = (int)npairs;
  s->nstop = (int)nstop;
  s->user_capacity = (int)nuser;
  return used;
}

size_t sni_system_size(const sn_model *m, const sn_options *o) {
  sni_system s;
  return lay_out(&s, m, o, NULL);
}

int sni_system_pair_capacity(const sn_model *m, const sn_options *o) {
  sni_system s;
  lay_out(&s, m, o, NULL);
  return s.npairs > 0 ? s.term_capacity - SNI_HAND_TERMS : 0;
}

void sni_system_place(sni_system *s, sni_dynamics *d, const sn_options *o, void *memory) {
  *s = (sni_system){.d = d, .t = &d->m->tree, .joints_changed = true};
  lay_out(s, d->m, o, memory);
  for (int i = 0; i < s->t->nbody; i++) {
    const int p = s->t->parent[i];
    s->grounded[i] = s->t->joint[i].nv == 0 && (p < 0 || s->grounded[p]);
    s->shifts[i] = sni_move_shifts(s->t, i);
  }
  for (int i = 0; i < s->t->nbody; i++) {
    const sn_inertia I = sni_params_inertia(&d->params, i);
    const int p = s->t->parent[i];
    bool *turns = s->slack; /* scratch */
    turns[i] = (p >= 0 && turns[p]) || sni_move_turns(s->t, i);
    s->point[i] = !turns[i] && I.xx + I.yy + I.zz == 0;
  }
  for (int f = 0; f < d->m->nforce; f++) {
    s->pulling = s->pulling || (d->m->force[f].pulls_only && d->m->force[f].implicit);
  }
  find_pairs(s, o);
}
