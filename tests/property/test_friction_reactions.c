/* What is recorded of forces is what moves the bodies: with reactions of joints and loops, springs
 * and contacts, all as channels and records have them, every body keeps Newton's and Euler's laws,
 * and accelerations keep what constraints ask for.  Together these are the conditions of a system
 * over all twists in which joints, loops, limits and motions are constraints. */
#include "methods/redmax/redmax.h"
#include "mixed.h"
#include "stage.h"

enum { BODIES = 24, NV = 100, ROWS = 200 };

/* A wrench at x on a body, world axes; at its origin. */
static void act(sn_vec6 *W, const sn_se3 *E, int body, sn_vec6 f, sn_vec3 x, double sign) {
  if (body >= 0) {
    const sn_vec3 arm = sn_vec3_sub(x, E[body].p);
    const sn_vec6 at = {sn_vec3_add(f.w, sn_vec3_cross(arm, f.v)), f.v};
    W[body] = sn_vec6_addscaled(W[body], sign, at);
  }
}

/* NAME.reaction.* turned by R. */
static sn_vec6 reaction(const stage *b, const char *name, sn_mat3 R) {
  static const char *const component[] = {"tx", "ty", "tz", "fx", "fy", "fz"};
  double x[6];
  for (int c = 0; c < 6; c++) {
    char channel[80];
    snprintf(channel, sizeof channel, "%s.reaction.%s", name, component[c]);
    x[c] = stage_channel(b, channel);
  }
  return (sn_vec6){sn_mat3_mul_vec(R, (sn_vec3){x[0], x[1], x[2]}),
                   sn_mat3_mul_vec(R, (sn_vec3){x[3], x[4], x[5]})};
}

/* All that is recorded, on each body; the largest force. */
static double collect(const stage *b, const sn_se3 *E, sn_vec6 *W) {
  const sn_model *m = b->m;
  double most = 0;
  for (int i = 0; i < m->tree.nbody; i++) {
    W[i] = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  }
  for (int i = 0; i < m->tree.nbody; i++) {
    const sn_vec6 F = reaction(b, sn_model_body_name(m, i), E[i].R);
    act(W, E, i, F, E[i].p, 1);
    act(W, E, m->tree.parent[i], F, E[i].p, -1);
    most = fmax(most, sn_vec3_norm(F.v));
  }
  for (int k = 0; k < m->nloop; k++) {
    const sni_constraint *c = &m->constraint[k];
    char name[80];
    snprintf(name, sizeof name, "loops.%s", m->constraint_name[k]);
    const sn_se3 at = sn_se3_mul(E[c->body[1]], c->at[1]);
    const sn_vec6 F = reaction(b, name, at.R);
    act(W, E, c->body[1], F, at.p, 1);
    act(W, E, c->body[0], F, at.p, -1);
  }
  if (m->nforce > 0) { /* the spring between two origins */
    const int one = sn_model_body_find(m, "m0_0"), two = sn_model_body_find(m, "m1_0");
    const sn_vec3 way = sn_vec3_sub(E[two].p, E[one].p);
    const double tension = stage_channel(b, "pull.tension");
    const sn_vec6 F = {{0, 0, 0}, sn_vec3_scale(way, tension / sn_vec3_norm(way))};
    act(W, E, one, F, E[one].p, 1);
    act(W, E, two, F, E[two].p, -1);
  }
  const sni_redmax *own = b->sim->method_work;
  if (own->touch) {
    sn_vec6 touched[BODIES];
    sni_touch_wrenches(own->touch, own->s.h, true, touched);
    for (int i = 0; i < m->tree.nbody; i++) {
      W[i] = sn_vec6_add(W[i], touched[i]);
    }
  }
  return most;
}

/* What moves a body as it moves, without gravity: a is the derivative of its twist, in its axes. */
static sn_vec6 needed(const stage *b, int i, const sn_se3 *E, sn_vec6 phi, sn_vec6 a) {
  const sn_inertia I = sni_params_inertia(&b->sim->d.params, i);
  const double *g = b->sim->d.params.gravity;
  const sn_mat3 tensor = sn_inertia_tensor(I);
  const sn_vec3 w = phi.w, origin = sn_vec3_add(a.v, sn_vec3_cross(w, phi.v));
  const sn_vec3 bent =
      sn_vec3_add(sn_vec3_cross(a.w, I.com), sn_vec3_cross(w, sn_vec3_cross(w, I.com)));
  const sn_vec3 moved = sn_mat3_mul_vec(E->R, sn_vec3_add(origin, bent));
  const sn_vec3 f = sn_vec3_scale(sn_vec3_sub(moved, (sn_vec3){g[0], g[1], g[2]}), I.mass);
  const sn_vec3 spin =
      sn_vec3_add(sn_mat3_mul_vec(tensor, a.w), sn_vec3_cross(w, sn_mat3_mul_vec(tensor, w)));
  const sn_vec3 arm = sn_mat3_mul_vec(E->R, I.com);
  return (sn_vec6){sn_vec3_add(sn_mat3_mul_vec(E->R, spin), sn_vec3_cross(arm, f)), f};
}

/* By how much accelerations miss what rows that hold both ways ask for, of what they ask. */
static double check_rows(const stage *b, const double *qdd) {
  sni_rows *rows = &b->sim->rows;
  double asked[ROWS], got[ROWS], off = 0, most = 1;
  if (!b->sim->d.rows) {
    return 0;
  }
  CHECK(rows->nrow <= ROWS, "%d rows", rows->nrow);
  sni_rows_coasting(rows, asked);
  sni_rows_mul(rows, qdd, got);
  for (int i = 0; i < rows->nrow; i++) {
    most = fmax(most, fabs(asked[i]));
    off = rows->row[i].one_sided ? off : fmax(off, fabs(asked[i] - got[i]));
  }
  return off / most;
}

/* How far the state is from Newton's law, of the largest force. */
static double check_state(const stage *b) {
  sn_se3 E[BODIES];
  sn_vec6 W[BODIES], phi[BODIES], a[BODIES], bend[BODIES];
  double qdd[NV], off = 0;
  const int n = b->m->tree.nbody;
  CHECK(n <= BODIES && b->m->tree.nv <= NV, "%d bodies", n);
  sn_sim_poses(b->sim, b->s, E, phi);
  const double most = collect(b, E, W);
  memcpy(qdd, b->sim->qdd, (size_t)b->m->tree.nv * sizeof *qdd);
  const double rows = check_rows(b, qdd);
  sn_sim_J_mul(b->sim, b->s, qdd, a);
  sn_sim_Jdot_mul(b->sim, b->s, sn_state_qd(b->s), bend);
  for (int i = 0; i < n; i++) {
    const sn_vec6 all = needed(b, i, &E[i], phi[i], sn_vec6_add(a[i], bend[i]));
    const sn_vec6 e = sn_vec6_sub(all, W[i]);
    off = fmax(off, sqrt(sn_vec6_dot(e, e)));
  }
  return fmax(off / (most + 1e-3), rows);
}

TEST(recorded_forces_move_the_bodies) {
  const int scenes = getenv("SINEW_SOAK") ? 1000 : 40;
  int states = 0, touched = 0, held = 0;
  double worst = 0;
  for (int k = 0; k < scenes; k++) {
    dice d = {.seed = (uint64_t)(1000 + 77 * k)};
    mixed m;
    mixed_write(&m, &d);
    stage b = stage_set(m.p.text, redmax_options(m.h));
    for (int i = 0; i < 6; i++) {
      stage_step(&b, i == 0 ? 1 : 9);
      const double off = check_state(&b);
      CHECK(off <= 1e-9, "scene %d, t = %g: off by %g of the largest force\n%s", k,
            *sn_state_time(b.s), off, m.p.text);
      worst = fmax(worst, off);
      states++;
      touched += b.sim->ntouch > 0;
      held += b.m->nloop > 0;
    }
    stage_clear(&b);
  }
  print_message("  %d states, %d of them in contact, %d with loops: off by %.1e\n", states, touched,
                held, worst);
  CHECK(touched > states / 5 && held > states / 5, "too few of them");
}

/* What acts about one pin of a universal joint bends the other one, wherever the joint is: one that
 * closes a loop bears and loses as much as one in the tree. */
TEST(pins_of_a_cross_bear_what_acts_on_the_other) {
  static const char *const acts[] = {
      "damping: 0",
      "stiffness: 30",
      "damping: 0.3",
      "drive: {target: [\"0.2*sin(9*t)\", \"0.2*sin(9*t)\"], stiffness: 40, damping: 1}",
      "limits: [[-0.1, 0.1], [-0.1, 0.1]]",
      "backlash: {gap: 0.1, stiffness: 80}"};
  static const char body[] =
      "inertia: {mass: 2, at: [0.1, 0.03, -0.2], xx: 0.03, yy: 0.05, zz: 0.04}";
  static const char rubs[] = "friction: {mu: 0.1, pin_radius: 0.03, pin_length: 0.05}";
  for (size_t k = 0; k < sizeof acts / sizeof *acts; k++) {
    char loop[2000], tree[2000];
    snprintf(
        loop, sizeof loop,
        "sinew: 1\nbodies: {b: {joint: {type: free}, %s}}\nloops: {l: {type: universal, %s, a: "
        "{body: world}, b: {body: b}, %s}}\ninitial: {b: {qd: [0, 0, 0, 1, 2, 0]}}\n",
        body, acts[k], rubs);
    snprintf(tree, sizeof tree,
             "sinew: 1\nbodies: {b: {joint: {type: universal, %s, %s}, %s}}\ninitial: {b: {qd: [1, "
             "2]}}\n",
             acts[k], rubs, body);
    const sn_options o = redmax_options(0.0005);
    stage a = stage_set(loop, o), b = stage_set(tree, o);
    for (int n = 1; n <= 20; n++) {
      stage_step(&a, 20);
      stage_step(&b, 20);
      const double f = stage_channel(&a, "loops.l.normal"), to = stage_channel(&b, "b.normal");
      CHECK(fabs(f - to) < 0.01 * to, "%s, t = %g: %g N instead of %g", acts[k], 0.01 * n, f, to);
      const double E = stage_energy(&a), E_to = stage_energy(&b);
      CHECK(fabs(E - E_to) < 1e-3, "%s, t = %g: %g J instead of %g", acts[k], 0.01 * n, E, E_to);
    }
    stage_clear(&a);
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(recorded_forces_move_the_bodies), T(pins_of_a_cross_bear_what_acts_on_the_other));
}
