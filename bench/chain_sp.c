/* chain_sp.c: Staggered Projections, with every contact of every pin in two global programs.
 *
 *     alpha = argmin 1/2 a^T N M^-1 N^T a + a^T (N (v_u - M^-1 T^T beta) + gain d)     a >= 0
 *     beta  = argmin 1/2 b^T T M^-1 T^T b - b^T T (v_u + M^-1 N^T alpha)     |b| <= mu alpha
 *
 * in turn, until the contact forces change by less than a thousandth: a good deal less than is
 * asked of the other side.  d: by how much a pin has left its hole, which only these forces put
 * back. */
#include "bench/chain_sp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linear/qp.h"
#include "math/se3.h"

#define TOLERANCE  1e-3
#define TURNS_MAX  100
#define LENGTH     10.0
#define PIN_LENGTH 1.0
enum { PLACES = 8, NORMALS = 2 * PLACES };

typedef struct link {
  sn_mat3 R;
  sn_vec3 p; /* of its middle */
  sn_vec6 v; /* world axes, at the middle */
} link;

/* A row over the two links of a pin: wrenches at their middles. */
typedef struct row {
  int body[2]; /* the link before, -1: none; its own */
  sn_vec6 w[2];
  sn_vec6 moves[2]; /* M^-1 of these */
} row;

struct chain_sp {
  int count;
  double radius, mu;
  link *body;
  row *normal, *tangent; /* NORMALS, PLACES a pin */
  double *gap;           /* NORMALS a pin */
  double *alpha, *beta;  /* impulses */
  int *side_alpha, *side_beta;
  sn_vec6 *v; /* of the links, as the impulses are */
  double *before;
  sni_qp contact, friction;
  void *memory[2];
};

static const double mass = LENGTH;
static const sn_vec3 moments = {LENGTH / 6, LENGTH *(LENGTH *LENGTH + 1) / 12,
                                LENGTH *(LENGTH *LENGTH + 1) / 12};

static sn_vec6 accelerate(const link *l, sn_vec6 f) {
  const sn_vec3 t = sn_mat3_tmul_vec(l->R, f.w);
  const sn_vec3 w = {t.x / moments.x, t.y / moments.y, t.z / moments.z};
  return (sn_vec6){sn_mat3_mul_vec(l->R, w), sn_vec3_scale(f.v, 1 / mass)};
}

static sn_vec3 anchor(const link *l, double x) {
  return sn_vec3_add(l->p, sn_mat3_mul_vec(l->R, (sn_vec3){x, 0, 0}));
}

static void set_row(const chain_sp *c, int i, sn_vec3 x, sn_vec3 n, row *out) {
  *out = (row){.body = {i - 1, i}};
  for (int side = 0; side < 2; side++) {
    if (out->body[side] >= 0) {
      const link *l = &c->body[out->body[side]];
      const sn_vec3 along = sn_vec3_scale(n, side ? 1 : -1);
      out->w[side] = (sn_vec6){sn_vec3_cross(sn_vec3_sub(x, l->p), along), along};
      out->moves[side] = accelerate(l, out->w[side]);
    }
  }
}

/* The contacts of pin i: around both ends, inwards and along the axis. */
static void set_pin(chain_sp *c, int i) {
  const link *l = &c->body[i];
  const sn_mat3 tilt = sn_so3_exp((sn_vec3){SN_PI / 4, 0, 0});
  const sn_vec3 own = anchor(l, -LENGTH / 2), axis = sn_mat3_col(l->R, 2);
  const sn_vec3 hole = i > 0 ? anchor(&c->body[i - 1], LENGTH / 2) : (sn_vec3){0, 0, 0};
  const sn_vec3 straight = sn_mat3_col(i > 0 ? c->body[i - 1].R : tilt, 2);
  const sn_vec3 bent = sn_vec3_cross(straight, axis);
  for (int k = 0; k < PLACES; k++) {
    const int quarter = k / 2;
    const double angle = 0.5 * SN_PI * quarter, end = k % 2 ? 1 : -1;
    const sn_vec3 out = sn_mat3_mul_vec(l->R, (sn_vec3){cos(angle), sin(angle), 0});
    const sn_vec3 round = sn_mat3_mul_vec(l->R, (sn_vec3){-sin(angle), cos(angle), 0});
    const sn_vec3 arm =
        sn_vec3_addscaled(sn_vec3_scale(out, c->radius), 0.5 * end * PIN_LENGTH, axis);
    const sn_vec3 x = sn_vec3_add(own, arm);
    const sn_vec3 left = sn_vec3_add(sn_vec3_sub(own, hole), sn_vec3_cross(bent, arm));
    const sn_vec3 n[2] = {sn_vec3_scale(out, -1), sn_vec3_scale(axis, -end)};
    for (int j = 0; j < 2; j++) {
      set_row(c, i, x, n[j], &c->normal[NORMALS * i + 2 * k + j]);
      c->gap[NORMALS * i + 2 * k + j] = sn_vec3_dot(n[j], left);
    }
    set_row(c, i, x, round, &c->tangent[PLACES * i + k]);
  }
}

static double product(const row *a, const row *b) {
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      sum += a->body[i] >= 0 && a->body[i] == b->body[j] ? sn_vec6_dot(a->w[i], b->moves[j]) : 0;
    }
  }
  return sum;
}

static double rate(const row *r, const sn_vec6 *v) {
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    sum += r->body[i] >= 0 ? sn_vec6_dot(r->w[i], v[r->body[i]]) : 0;
  }
  return sum;
}

static void push(const row *r, double x, sn_vec6 *v) {
  for (int i = 0; i < 2; i++) {
    if (r->body[i] >= 0) {
      v[r->body[i]] = sn_vec6_addscaled(v[r->body[i]], x, r->moves[i]);
    }
  }
}

static void fill(sni_qp *qp, const row *r, int n) {
  qp->n = n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      qp->S[(size_t)i * (size_t)n + (size_t)j] = product(&r[i], &r[j]);
    }
  }
}

/* Without forces of contacts: gravity and the turning of free bodies. */
static void coast(const chain_sp *c, double h, sn_vec6 *v) {
  for (int i = 0; i < c->count; i++) {
    const link *l = &c->body[i];
    const sn_vec3 w = sn_mat3_tmul_vec(l->R, l->v.w);
    const sn_vec3 spin = {moments.x * w.x, moments.y * w.y, moments.z * w.z};
    const sn_vec6 f = {sn_mat3_mul_vec(l->R, sn_vec3_cross(spin, w)), {0, 0, -980 * mass}};
    v[i] = sn_vec6_addscaled(l->v, h, accelerate(l, f));
  }
}

static void solve_contact(chain_sp *c, double h, sn_vec6 *v) {
  const int n = NORMALS * c->count, m = PLACES * c->count;
  sni_qp_info info;
  coast(c, h, v);
  for (int k = 0; k < m; k++) {
    push(&c->tangent[k], -c->beta[k], v);
  }
  fill(&c->contact, c->normal, n);
  for (int k = 0; k < n; k++) {
    c->contact.b[k] = -rate(&c->normal[k], v) - 0.2 / h * c->gap[k];
    c->contact.lo[k] = 0;
    c->contact.hi[k] = INFINITY;
    c->contact.side[k] = c->side_alpha[k];
  }
  sni_qp_solve(&c->contact, &info);
  memcpy(c->alpha, c->contact.x, (size_t)n * sizeof *c->alpha);
  memcpy(c->side_alpha, c->contact.side, (size_t)n * sizeof *c->side_alpha);
}

static void solve_friction(chain_sp *c, double h, sn_vec6 *v) {
  const int n = NORMALS * c->count, m = PLACES * c->count;
  sni_qp_info info;
  coast(c, h, v);
  for (int k = 0; k < n; k++) {
    push(&c->normal[k], c->alpha[k], v);
  }
  fill(&c->friction, c->tangent, m);
  for (int k = 0; k < m; k++) {
    const double most = c->mu * (c->alpha[2 * k] + c->alpha[2 * k + 1]);
    c->friction.b[k] = rate(&c->tangent[k], v);
    c->friction.lo[k] = -most;
    c->friction.hi[k] = most;
    c->friction.side[k] = c->side_beta[k];
  }
  sni_qp_solve(&c->friction, &info);
  memcpy(c->beta, c->friction.x, (size_t)m * sizeof *c->beta);
  memcpy(c->side_beta, c->friction.side, (size_t)m * sizeof *c->side_beta);
}

/* How much the contact forces have changed, as part of them. */
static double change(const chain_sp *c) {
  double all = 0, less = 0;
  for (int k = 0; k < NORMALS * c->count; k++) {
    all += c->alpha[k] * c->alpha[k];
    less += (c->alpha[k] - c->before[k]) * (c->alpha[k] - c->before[k]);
  }
  return all > 0 ? sqrt(less / all) : 0;
}

int chain_sp_step(chain_sp *c, double h) {
  const int n = NORMALS * c->count, m = PLACES * c->count;
  int turn = 0;
  for (int i = 0; i < c->count; i++) {
    set_pin(c, i);
  }
  while (turn++ < TURNS_MAX) {
    memcpy(c->before, c->alpha, (size_t)n * sizeof *c->before);
    solve_contact(c, h, c->v);
    if (turn > 1 && change(c) <= TOLERANCE) {
      break;
    }
    solve_friction(c, h, c->v);
  }
  coast(c, h, c->v);
  for (int k = 0; k < n; k++) {
    push(&c->normal[k], c->alpha[k], c->v);
  }
  for (int k = 0; k < m; k++) {
    push(&c->tangent[k], -c->beta[k], c->v);
  }
  for (int i = 0; i < c->count; i++) {
    link *l = &c->body[i];
    l->v = c->v[i];
    l->p = sn_vec3_addscaled(l->p, h, l->v.v);
    l->R = sn_mat3_mul(sn_so3_exp(sn_vec3_scale(l->v.w, h)), l->R);
  }
  return turn;
}

sn_vec3 chain_sp_tip(const chain_sp *c) {
  return anchor(&c->body[c->count - 1], LENGTH / 2);
}

double chain_sp_gap(const chain_sp *c) {
  double most = 0;
  for (int i = 0; i < c->count; i++) {
    const sn_vec3 hole = i > 0 ? anchor(&c->body[i - 1], LENGTH / 2) : (sn_vec3){0, 0, 0};
    most = fmax(most, sn_vec3_norm(sn_vec3_sub(anchor(&c->body[i], -LENGTH / 2), hole)));
  }
  return most;
}

chain_sp *chain_sp_create(int count, double radius, double mu) {
  const size_t links = (size_t)count, n = NORMALS * links, m = PLACES * links;
  chain_sp *c = calloc(1, sizeof *c);
  if (!c) {
    return NULL;
  }
  *c = (chain_sp){.count = count, .radius = radius, .mu = mu};
  c->body = calloc(links, sizeof *c->body);
  c->normal = calloc(n, sizeof *c->normal);
  c->tangent = calloc(m, sizeof *c->tangent);
  c->gap = calloc(n, sizeof *c->gap);
  c->alpha = calloc(n, sizeof *c->alpha);
  c->before = calloc(n, sizeof *c->before);
  c->beta = calloc(m, sizeof *c->beta);
  c->side_alpha = calloc(n, sizeof *c->side_alpha);
  c->side_beta = calloc(m, sizeof *c->side_beta);
  c->v = calloc(links, sizeof *c->v);
  c->memory[0] = calloc(1, sni_qp_size((int)n));
  c->memory[1] = calloc(1, sni_qp_size((int)m));
  if (!c->body || !c->normal || !c->tangent || !c->gap || !c->alpha || !c->before || !c->beta ||
      !c->side_alpha || !c->side_beta || !c->v || !c->memory[0] || !c->memory[1]) {
    chain_sp_free(&c);
    return NULL;
  }
  sni_qp_place(&c->contact, (int)n, c->memory[0]);
  sni_qp_place(&c->friction, (int)m, c->memory[1]);
  const sn_mat3 tilt = sn_so3_exp((sn_vec3){SN_PI / 4, 0, 0});
  for (int i = 0; i < count; i++) {
    c->body[i] = (link){.R = tilt, .p = {LENGTH * (i + 0.5), 0, 0}};
  }
  return c;
}

void chain_sp_free(chain_sp **chain) {
  chain_sp *c = *chain;
  if (c) {
    void *const own[] = {c->body, c->normal,     c->tangent,   c->gap, c->alpha,     c->before,
                         c->beta, c->side_alpha, c->side_beta, c->v,   c->memory[0], c->memory[1]};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
      free(own[k]);
    }
    free(c);
  }
  *chain = NULL;
}
