/* Friction in joints, piece by piece: what the contacts of bearings bear, the reactions of joints
 * in one step against a solve in which every joint is a constraint, and the vectors. */
#include "methods/redmax/redmax.h"
#include "stage.h"
#include "vectors.h"

/* ---- bearings ---- */

static void *take(void *user, size_t count, size_t size) {
  void **list = user;
  void *memory = calloc(count, size);
  list[list[0] ? 1 : 0] = memory;
  return memory;
}

/* A bearing by itself; free_bearing takes it back. */
static sni_bearing bearing_of(void (*make)(sni_bearing_builder *), void *memory[2]) {
  sni_bearing out;
  memory[0] = memory[1] = NULL;
  sni_bearing_builder b = {.user = memory, .take = take, .bearing = &out};
  make(&b);
  CHECK(b.count == 1, "no bearing");
  return out;
}

static const sn_vec3 oblique = {0.3, -0.5, 0.7};
static sn_joint_friction_def geometry(void) {
  return (sn_joint_friction_def){.pin_radius = 0.3,
                                 .pin_length = 0.8,
                                 .points = 12,
                                 .size = {0.4, 0.6, 0.9},
                                 .across = {1, 0.2, 0}};
}
static void make_pin(sni_bearing_builder *b) {
  const sn_joint_friction_def def = geometry();
  sni_bearing_pin(b, &def, oblique, false);
}
static void make_sleeve(sni_bearing_builder *b) {
  const sn_joint_friction_def def = geometry();
  sni_bearing_pin(b, &def, oblique, true);
}
static void make_slider(sni_bearing_builder *b) {
  const sn_joint_friction_def def = geometry();
  sni_bearing_slider(b, &def, oblique);
}
static void make_ball(sni_bearing_builder *b) {
  const sn_joint_friction_def def = geometry();
  sni_bearing_ball(b, &def);
}

/* Normals do not resist the motion, together they bear every load across it, tangents are their
 * arm times a direction as far as the joint moves. */
TEST(contacts_bear_what_the_joint_does_not_let_go) {
  void (*const make[])(sni_bearing_builder *) = {make_pin, make_sleeve, make_slider, make_ball};
  for (int k = 0; k < SNI_COUNT(make); k++) {
    void *memory[2];
    const sni_bearing b = bearing_of(make[k], memory);
    uint64_t seed = 7;
    for (int trial = 0; trial < 20; trial++) {
      sn_vec6 w = {random_vec3(&seed, 1), random_vec3(&seed, 1)};
      for (int c = 0; c < b.ndirection; c++) {
        w = sn_vec6_addscaled(w, -sn_vec6_dot(w, b.direction[c]), b.direction[c]);
      }
      if (b.ndirection == 3) { /* a ball bears no torque at all */
        w.w = (sn_vec3){0, 0, 0};
      }
      const sn_vec6 y = sni_bearing_press(&b, NULL, w);
      sn_vec6 borne = w;
      for (int i = 0; i < b.nnormal; i++) { /* N^T alpha = -w */
        borne = sn_vec6_addscaled(borne, -sn_vec6_dot(b.N[i], y), b.N[i]);
      }
      CHECK(sn_vec6_dot(borne, borne) < tol(1e-24), "bearing %d leaves %g", k,
            sqrt(sn_vec6_dot(borne, borne)));
    }
    for (int c = 0; c < b.ndirection; c++) {
      for (int i = 0; i < b.nnormal; i++) {
        CHECK(fabs(sn_vec6_dot(b.N[i], b.direction[c])) < tol(1e-15), "bearing %d resists", k);
      }
      for (int i = 0; i < b.ntangent; i++) {
        const sni_rub_tangent *t = &b.tangent[i];
        const double along = t->direction == c ? t->arm : 0;
        CHECK(fabs(sn_vec6_dot(t->T, b.direction[c]) - along) < tol(1e-15),
              "bearing %d: tangent %d has another arm", k, i);
      }
    }
    free(memory[0]);
    free(memory[1]);
  }
}

static sni_bearing slider_of(sn_vec3 across, void *memory[2]) {
  sn_joint_friction_def def = geometry();
  sni_bearing out;
  sni_bearing_builder builder = {.user = memory, .take = take, .bearing = &out};
  def.size.y = def.size.x;
  def.across = across;
  sni_bearing_slider(&builder, &def, oblique);
  return out;
}

/* A square slider of which nobody knows how it is turned: the mean of all ways. */
TEST(a_slider_all_around_is_the_mean_of_all_turns) {
  enum { TURNS = 1000 };
  const double length = sn_vec3_norm(oblique);
  const sn_vec3 axis = sn_vec3_scale(oblique, 1 / length), x = {1, 0, 0};
  void *memory[2] = {NULL};
  const sni_bearing around = slider_of((sn_vec3){0, 0, 0}, memory);
  uint64_t seed = 9;
  double most = 0;
  for (int trial = 0; trial < 10; trial++) {
    sn_vec6 w = {random_vec3(&seed, 1), random_vec3(&seed, 1)}, side, sum = {{0, 0, 0}, {0, 0, 0}};
    w = sn_vec6_addscaled(w, -sn_vec6_dot(w, around.direction[0]), around.direction[0]);
    double bound[3], limit[8], all = 0;
    for (int k = 0; k < TURNS; k++) {
      void *own[2] = {NULL};
      const sni_bearing b = slider_of(
          sn_mat3_mul_vec(sn_so3_exp(sn_vec3_scale(axis, 2 * SN_PI * k / TURNS)), x), own);
      all += sni_bearing_limits(&b, 0.4, sni_bearing_press(&b, NULL, w), limit, bound) / TURNS;
      sum = sn_vec6_addscaled(sum, 1.0 / TURNS, sni_bearing_rub(&b, limit, (double[3]){1, 0, 0}));
      free(own[0]);
      free(own[1]);
    }
    const double mean =
        sni_bearing_around(&around, 0.4, sni_bearing_press(&around, NULL, w), bound, &side);
    CHECK(fabs(mean - all) < 1e-5 * all, "%g and %g", mean, all);
    CHECK(fabs(bound[0] - 0.4 * mean) < tol(1e-12) * mean, "bound %g", bound[0]);
    sum = sn_vec6_addscaled(sum, -sn_vec6_dot(sum, around.direction[0]), around.direction[0]);
    const sn_vec6 off = sn_vec6_sub(sum, side);
    CHECK(sn_vec6_dot(off, off) < 1e-10 * all * all, "sideways off by %g of %g",
          sqrt(sn_vec6_dot(off, off)), all);
    most = fmax(most, sn_vec6_dot(side, side) / (all * all));
  }
  CHECK(most > 1e-6, "nothing sideways");
  free(memory[0]);
  free(memory[1]);
}

/* Contacts all around are many contacts: the same pressure, and the same push sideways. */
TEST(all_around_is_the_limit_of_many_points) {
  for (int slides = 0; slides < 2; slides++) {
    sn_joint_friction_def def = geometry();
    sni_bearing b[2];
    void *memory[2][2] = {{NULL}};
    for (int k = 0; k < 2; k++) {
      sni_bearing_builder builder = {.user = memory[k], .take = take, .bearing = &b[k]};
      def.points = k ? 0 : SNI_POINTS_MAX;
      sni_bearing_pin(&builder, &def, oblique, slides);
    }
    uint64_t seed = 9;
    for (int trial = 0; trial < 20; trial++) {
      const sn_vec6 w = {random_vec3(&seed, 1), random_vec3(&seed, 1)};
      double limit[4 * SNI_POINTS_MAX], bound[2][3] = {{0}}, all[2];
      sn_vec6 side;
      all[0] = sni_bearing_limits(&b[0], 0.4, sni_bearing_press(&b[0], NULL, w), limit, bound[0]);
      all[1] = sni_bearing_around(&b[1], 0.4, sni_bearing_press(&b[1], NULL, w), bound[1], &side);
      CHECK(fabs(all[1] - all[0]) < 1e-3 * all[0], "%g and %g", all[0], all[1]);
      for (int c = 0; c < b[0].ndirection; c++) {
        CHECK(fabs(bound[1][c] - bound[0][c]) < 1e-3 * bound[0][c], "%g and %g", bound[0][c],
              bound[1][c]);
      }
      sn_vec6 rub = sni_bearing_rub(&b[0], limit, (const double[3]){1, 0, 0});
      const sn_vec6 axis = b[0].direction[0];
      rub = sn_vec6_addscaled(rub, -sn_vec6_dot(rub, axis), axis);
      const sn_vec6 off = sn_vec6_sub(rub, side);
      CHECK(sn_vec6_dot(off, off) < 1e-6 * all[0] * all[0], "off by %g of %g",
            sqrt(sn_vec6_dot(off, off)), all[0]);
      CHECK(slides || sn_vec6_dot(side, side) > 0, "nothing sideways");
    }
    for (int k = 0; k < 4; k++) {
      free(memory[k / 2][k % 2]);
    }
  }
}

/* ---- reactions ---- */

/* Everything that a step can have: a branching tree with springs, dampers, drives and forces, and a
 * loop, above a floor that a hand, a rail and a tip may touch. */
#define EVERYTHING(mu, contact)                                                                    \
  "sinew: 1\n"                                                                                     \
  "gravity: [1, 2, -9.81]\n"                                                                       \
  "defaults: {shape: {density: 800}}\n"                                                            \
  "contacts: {rubber: {friction: 0.4}}\n"                                                          \
  "bodies:\n"                                                                                      \
  "  floor: {joint: {type: fixed, at: [0, 0, -0.4]}, shapes: [{type: plane" contact "}]}\n"        \
  "  base: {joint: {type: revolute, axis: [0, 1, 0], stiffness: 40, damping: 3, friction: "        \
  "{mu: " mu                                                                                       \
  ", pin_radius: 0.1, pin_length: 0.2}}, shapes: [{type: box, size: [1, 0.2, 0.3], at: [0.5, 0, "  \
  "0]}]}\n"                                                                                        \
  "  arm: {parent: base, joint: {type: universal, at: [1, 0, 0], damping: 2, friction: {mu: " mu   \
  ", pin_radius: 0.1, pin_length: 0.2}}, shapes: [{type: box, size: [0.8, 0.2, 0.2], at: [0.4, "   \
  "0, 0]}]}\n"                                                                                     \
  "  hand: {parent: arm, joint: {type: spherical, at: [0.8, 0, 0], friction: {mu: " mu             \
  ", pin_radius: 0.1}}, shapes: [{type: box, size: [0.3, 0.1, 0.2], at: [0.15, 0, 0]}, {type: "    \
  "sphere, radius: 0.1, at: [0.3, 0, 0]" contact "}]}\n"                                           \
  "  rail: {parent: base, joint: {type: prismatic, axis: [0, 0, 1], at: [0.5, 0, 0.2], drive: "    \
  "{target: 0.1, stiffness: 300, damping: 5}, friction: {mu: " mu                                  \
  ", size: [0.1, 0.1, 0.2]}}, shapes: [{type: box, size: [0.2, 0.2, 0.6], at: [0, 0, 0.3]}]}\n"    \
  "  tip: {parent: rail, joint: {type: cylindrical, axis: [1, 0, 0], at: [0, 0, 0.6], friction: "  \
  "{mu: " mu ", pin_radius: 0.1, pin_length: 0.2}}, shapes: [{type: box, size: [0.5, 0.1, 0.1], "  \
  "at: [0.25, 0, 0]}, {type: sphere, radius: 0.1, at: [0.5, 0, 0]" contact "}]}\n"                 \
  "loops:\n"                                                                                       \
  "  knot: {type: spherical, a: {body: hand, at: [0.3, 0, 0.1]}, b: {body: tip, at: [0.5, 0.1, "   \
  "0]}, friction: {mu: " mu ", pin_radius: 0.1}}\n"                                                \
  "forces:\n"                                                                                      \
  "  band: {type: spring, a: {body: arm, at: [0.4, 0.1, 0]}, b: {body: tip, at: [0.1, 0, 0]}, "    \
  "stiffness: 2000, damping: 10, rest_length: 0.3}\n"                                              \
  "  push: {type: point_force, body: rail, at: [0, 0, 0.6], force: [10, -20, 5]}\n"                \
  "  motor: {type: joint_torque, joint: base, torque: 15}\n"                                       \
  "initial: {base: {q: 0.2, qd: 1}, arm: {q: [0.1, -1.2], qd: [0.5, 2]}, rail: {q: 0.1, qd: -1}, " \
  "tip: {q: [0.2, 0.1], qd: [1, 0.5]}}\n"

enum { NB = 6, NU = 6 * NB, ROWS_MAX = 40, NKKT = NU + ROWS_MAX };

/* (M + h D - h^2 K) phi, body by body: nothing is known of joints here. */
static void mul_bodies(sni_system *s, const double *phi, double *out) {
  const sni_work *w = &s->d->w;
  sni_lane6 f[NB], a[NB];
  for (int i = 0; i < NB; i++) {
    const double *x = phi + 6 * i;
    a[i] = sni_lane6_from((sn_vec6){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}});
    f[i] = sni_momentum(&s->in.mass[i], &w->link[i], a[i]);
  }
  for (int k = 0; k < s->nterm; k++) {
    const sni_link_term *term = &s->term[k];
    double along = 0;
    for (int side = 0; side < 2; side++) {
      along += term->body[side] >= 0 ? sni_lane6_dot(term->p[side], a[term->body[side]]) : 0;
    }
    for (int side = 0; side < 2; side++) {
      if (term->body[side] >= 0) {
        f[term->body[side]] = sni_lane6_addscaled(
            f[term->body[side]], (s->h * term->d + s->h * s->h * term->k) * along, term->p[side]);
      }
    }
  }
  for (int i = 0; i < NB; i++) {
    for (int c = 0; c < 6; c++) {
      out[6 * i + c] = sn_vec6_get(sni_lane6_vec6(f[i]), c);
    }
  }
}

/* Relative motion of the joint of body i in the direction d at its place, over all twists. */
static void joint_row(const sni_system *s, int i, sn_vec6 d, double *row) {
  const int p = s->t->parent[i];
  memset(row, 0, NU * sizeof *row);
  for (int c = 0; c < 6; c++) {
    row[6 * i + c] = sn_vec6_get(d, c);
  }
  if (p >= 0) {
    const sn_vec6 up = {sn_vec3_add(d.w, sn_vec3_cross(sni_lane_vec3(s->d->w.r[i]), d.v)), d.v};
    for (int c = 0; c < 6; c++) {
      row[6 * p + c] = -sn_vec6_get(up, c);
    }
  }
}

/* The rates of joint i as functions of relative motion: rows of (S^T S)^-1 S^T. */
static void rate_rows(const sni_system *s, int i, sn_vec6 *out) {
  const int adr = s->t->vadr[i], nv = s->t->vadr[i + 1] - adr;
  double G[36], e[6];
  for (int k = 0; k < nv; k++) {
    for (int r = 0; r < nv; r++) {
      for (int c = 0; c < nv; c++) {
        G[r * nv + c] =
            sn_vec6_dot(sni_lane6_vec6(s->d->w.S[adr + r]), sni_lane6_vec6(s->d->w.S[adr + c]));
      }
      e[r] = r == k;
    }
    dense_solve(nv, G, e);
    out[k] = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
    for (int c = 0; c < nv; c++) {
      out[k] = sn_vec6_addscaled(out[k], e[c], sni_lane6_vec6(s->d->w.S[adr + c]));
    }
  }
}

/* row += wrenches on the two bodies of a row */
static void add_bodies(const int body[2], const sn_vec6 p[2], double by, double *row) {
  for (int side = 0; side < 2; side++) {
    for (int c = 0; body[side] >= 0 && c < 6; c++) {
      row[6 * body[side] + c] += by * sn_vec6_get(p[side], c);
    }
  }
}

/* Friction in joints and loops is given: b -= its impulses. */
static void add_friction(const sni_rubbing *r, double *b) {
  for (int k = 0; k < r->m->nrub; k++) {
    const sni_rub *rub = &r->m->rub[k];
    if (sni_rubbing_apart(r, rub)) {
      for (int i = rub->first_tangent; i < rub->first_tangent + sni_rub_tangents(rub); i++) {
        add_bodies(r->pad[i].body, r->pad[i].p, -r->beta[i], b);
      }
      continue;
    }
    for (int i = rub->first; i < rub->first + rub->nslide; i++) {
      const sni_row *row = &r->row[i];
      add_bodies(row->body, row->p, -r->s->h * r->force[i], b);
      sn_vec6 rate[SN_NV_MAX];
      double over[NU];
      for (int c = 0; c < row->ncoord; c++) {
        rate_rows(r->s, rub->body, rate);
        joint_row(r->s, rub->body, rate[row->coord[c] - r->s->t->vadr[rub->body]], over);
        for (int j = 0; j < NU; j++) {
          b[j] -= r->s->h * r->force[i] * row->coef[c] * over[j];
        }
      }
    }
  }
}

/* Contacts that push, as rows with the rates that their depth asks for; their friction is given.
 * Returns how many there are. */
static int add_contacts(const sn_sim *sim, double (*row)[NU], double *rate, double *b) {
  const sni_touch *touch = ((const sni_redmax *)sim->method_work)->touch;
  int n = 0;
  for (int k = 0; touch && k < touch->st.ngroup; k++) {
    const double *x = touch->st.group[k].x;
    if (touch->group[k].contact < 0 || x[0] <= 0) {
      continue;
    }
    const sni_contact *c = &touch->contact[touch->group[k].contact];
    sn_vec6 p[3][2];
    for (int i = 0; i < 3; i++) {
      const sn_vec3 t = touch->group[k].frame[i];
      for (int side = 0; side < 2; side++) {
        if (c->body[side] >= 0) {
          const sn_vec3 at = sn_vec3_addscaled(c->x, 0.5 * c->gap, c->n);
          const sn_vec3 arm = sn_vec3_sub(at, sni_lane_vec3(sim->d.w.link[c->body[side]].o));
          p[i][side] = sn_vec6_scale((sn_vec6){sn_vec3_cross(arm, t), t}, side ? -1 : 1);
        }
      }
    }
    add_bodies(c->body, p[1], x[1], b);
    add_bodies(c->body, p[2], x[2], b);
    memset(row[n], 0, sizeof row[n]);
    add_bodies(c->body, p[0], 1, row[n]);
    rate[n++] = -sim->options.redmax.gain * c->gap;
  }
  return n;
}

/* The reactions by one dense system over twists: all joints, loops and contacts are constraints.
 * Returns the number of contacts. */
static int maximal(sn_sim *sim, sni_system *s, sn_vec6 *F) {
  static double A[NKKT * NKKT];
  static double b[NKKT], row[ROWS_MAX][NU];
  int of[ROWS_MAX], n = 0;
  sn_vec6 basis[ROWS_MAX];
  sni_dynamics *d = &sim->d;
  memset(A, 0, sizeof A);
  memset(b, 0, sizeof b);
  double M[NU * NU];
  for (int k = 0; k < NU; k++) {
    double x[NU] = {0}, y[NU];
    x[k] = 1;
    mul_bodies(s, x, y);
    for (int i = 0; i < NU; i++) {
      M[i * NU + k] = y[i];
    }
  }
  /* momenta, gravity, wrenches, quadratic terms [RM 2] */
  sn_vec6 quadratic[NB];
  double tau[16];
  const sni_aba_in in = {.mass = d->mass, .joint_matrix = d->armature};
  sni_inverse(s->t, &in, &d->w, d->zero, tau, quadratic);
  for (int i = 0; i < NB; i++) {
    /* of this body alone: without its children, whose are still with those of theirs */
    for (int c = i + 1; c < NB; c++) {
      if (s->t->parent[c] == i) {
        quadratic[i].v = sn_vec3_sub(quadratic[i].v, quadratic[c].v);
        quadratic[i].w = sn_vec3_sub(
            quadratic[i].w,
            sn_vec3_add(quadratic[c].w, sn_vec3_cross(sni_lane_vec3(d->w.r[c]), quadratic[c].v)));
      }
    }
    const sni_link *l = &d->w.link[i];
    const double *g = d->params.gravity;
    const sni_lane pull = {s->h * g[0], s->h * g[1], s->h * g[2], 0};
    const sn_vec6 p = sni_lane6_vec6(sni_momentum(&d->mass[i], l, (sni_lane6){l->w, l->v + pull}));
    for (int c = 0; c < 6; c++) {
      b[6 * i + c] = sn_vec6_get(p, c) + s->h * sn_vec6_get(d->w.wrench[i], c) -
                     s->h * sn_vec6_get(quadratic[i], c);
    }
  }
  /* springs and forces in joints, over relative motion */
  for (int i = 0; i < NB; i++) {
    const int adr = s->t->vadr[i], nv = s->t->vadr[i + 1] - adr;
    sn_vec6 rate[SN_NV_MAX];
    double over[SN_NV_MAX][NU];
    rate_rows(s, i, rate);
    for (int k = 0; k < nv; k++) {
      joint_row(s, i, rate[k], over[k]);
    }
    for (int k = 0; k < nv; k++) {
      for (int c = 0; c < nv; c++) {
        const double a = s->joint_matrix[s->t->factor[i] + k * nv + c];
        for (int r = 0; r < NU; r++) {
          for (int col = 0; col < NU; col++) {
            M[r * NU + col] += a * over[k][r] * over[c][col];
          }
        }
      }
      for (int r = 0; r < NU; r++) {
        b[r] += s->h * d->w.tau[adr + k] * over[k][r];
      }
    }
    /* across: rows that hold */
    sn_vec6 S[SN_NV_MAX + 1], all[6];
    for (int k = 0; k < nv; k++) {
      S[k] = sni_lane6_vec6(d->w.S[adr + k]);
    }
    sni_constraint_loop_basis(S, nv, all);
    for (int k = nv; k < 6; k++) {
      basis[n] = all[k];
      of[n] = i;
      joint_row(s, i, all[k], row[n++]);
    }
  }
  const sni_rows *rows = d->rows;
  for (int i = 0; i < rows->nrow; i++) {
    of[n] = -1;
    memset(row[n], 0, sizeof row[n]);
    add_bodies(rows->row[i].body, rows->row[i].p, 1, row[n]);
    b[NU + n] = rows->rhs[i];
    n++;
  }
  add_friction(sni_sim_rubbing(sim), b);
  const int contacts = add_contacts(sim, row + n, b + NU + n, b);
  for (int k = 0; k < contacts; k++) {
    of[n++] = -1;
  }
  CHECK(n <= ROWS_MAX, "%d rows", n);
  const int all = NU + n;
  for (int r = 0; r < NU; r++) {
    for (int c = 0; c < NU; c++) {
      A[r * all + c] = M[r * NU + c];
    }
    for (int k = 0; k < n; k++) {
      A[r * all + NU + k] = A[(NU + k) * all + r] = row[k][r];
    }
  }
  dense_solve(all, A, b);
  for (int i = 0; i < NB; i++) {
    F[i] = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
  }
  for (int k = 0; k < n; k++) {
    if (of[k] >= 0) {
      F[of[k]] = sn_vec6_addscaled(F[of[k]], -b[NU + k] / s->h, basis[k]);
    }
  }
  return contacts;
}

/* A step, whose reactions, without what acts along the joints, are the multipliers of the other
 * system.  Returns the number of contacts; -1: the step was divided. */
static int compare_step(stage *b, double *off, double *most) {
  double q[16], qd[16];
  const int nv = sn_model_dof_count(b->m);
  memcpy(q, sn_state_q(b->s), (size_t)nv * sizeof *q);
  memcpy(qd, sn_state_qd(b->s), (size_t)nv * sizeof *qd);
  sni_dynamics_reparam(&b->sim->d, q, qd);
  if (redmax_step(b->sim, b->s, NULL).retries > 0) {
    return -1;
  }
  const sni_rubbing *r = sni_sim_rubbing(b->sim);
  sni_dynamics_kinematics(&b->sim->d, q, qd);
  sn_vec6 F[NB];
  const int contacts = maximal(b->sim, r->s, F);
  *most = *off = 0;
  for (int i = 0; i < NB; i++) {
    sn_vec6 ours = r->F[i], rate[SN_NV_MAX];
    rate_rows(r->s, i, rate);
    for (int k = r->s->t->vadr[i]; k < r->s->t->vadr[i + 1]; k++) {
      const double along = sn_vec6_dot(sni_lane6_vec6(b->sim->d.w.S[k]), r->F[i]);
      ours = sn_vec6_addscaled(ours, -along, rate[k - r->s->t->vadr[i]]);
    }
    const sn_vec6 e = sn_vec6_sub(ours, F[i]);
    *most = fmax(*most, sqrt(sn_vec6_dot(F[i], F[i])));
    *off = fmax(*off, sqrt(sn_vec6_dot(e, e)));
  }
  return contacts;
}

TEST(reactions_are_those_of_joints_as_constraints) {
  double most, off;
  stage b = stage_set(EVERYTHING("0", ""), redmax_paper_options(0.01));
  compare_step(&b, &off, &most);
  CHECK(most > 100 && off <= tol(1e-9) * most, "off by %g of %g", off, most);
  stage_clear(&b);
}

/* The same on the way, with friction, while it falls on the floor. */
TEST(reactions_in_motion_with_friction_and_contacts) {
  sn_options o = redmax_paper_options(0.002);
  o.redmax.contact.tolerance = 1e-13;
  o.redmax.contact.max_iterations = 100000;
  o.redmax.friction.tolerance = 1e-12;
  o.redmax.friction.max_iterations = 1000;
  stage b = stage_set(EVERYTHING("0.1", ", contact: rubber"), o);
  int touched = 0, both = 0, divided = 0;
  double worst = 0;
  for (int k = 0; k < 600; k++) {
    double most, off;
    const int contacts = compare_step(&b, &off, &most);
    touched += contacts > 0;
    both += contacts > 1;
    divided += contacts < 0;
    worst = contacts < 0 ? worst : fmax(worst, off / most);
    CHECK(contacts < 0 || off <= tol(1e-9) * most, "step %d, %d contacts: off by %g of %g", k,
          contacts, off, most);
  }
  print_message("  %d steps in contact, %d with two, %d divided; off by %.1e\n", touched, both,
                divided, worst);
  CHECK(touched > 100 && divided < 20, "%d steps in contact, %d divided", touched, divided);
  stage_clear(&b);
}

/* ---- vectors ---- */

#define FOUR_BAR                                                                                   \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, -980]\n"                                                                        \
  "defaults: {shape: {density: 1}}\n"                                                              \
  "bodies:\n"                                                                                      \
  "  ground_bar: {joint: {type: fixed}, shapes: [{type: box, size: [10, 0.5, 0.5]}]}\n"            \
  "  crank: {parent: ground_bar, joint: {type: revolute, at: [-5, 0, 0], axis: [0, 1, 0], "        \
  "friction: {mu: 0, pin_radius: 1, pin_length: 1}}, shapes: [{type: box, size: [4, 0.5, 0.5], "   \
  "at: [2, 0, 0]}]}\n"                                                                             \
  "  coupler: {parent: crank, joint: {type: revolute, at: [4, 0, 0], axis: [0, 1, 0]}, shapes: "   \
  "[{type: box, size: [14, 0.5, 0.5], at: {pos: [11/3, 0, 7*sqrt(320)/21], rotvec: [0, "           \
  "\"-acos(11/21)\", 0]}}]}\n"                                                                     \
  "  rocker: {parent: coupler, joint: {type: revolute, at: [22/3, 0, 14*sqrt(320)/21], axis: [0, " \
  "1, 0]}, shapes: [{type: box, size: [12, 0.5, 0.5], at: {pos: [-2/3, 0, -6*sqrt(80)/9], "        \
  "rotvec: [0, \"-acos(1/9)\", 0]}}]}\n"                                                           \
  "loops: {closing: {type: revolute, axis: [0, 1, 0], a: {body: rocker, at: [-4/3, 0, "            \
  "-12*sqrt(80)/9]}, b: {body: ground_bar, at: [5, 0, 0]}}}\n"

TEST(reactions_of_a_loop_as_in_the_vectors) {
  sni_doc *doc = vectors_open("loop_reaction.json");
  const sni_node *root = sni_doc_root(doc);
  sn_options o = redmax_paper_options(vectors_number(root, "h"));
  o.redmax.gain = 0;
  stage b = stage_set(FOUR_BAR, o);
  double q[3], qd[3], after[3], want[24], off = 0, most = 0;
  vectors_read(sni_node_get(root, "q"), 3, q);
  vectors_read(sni_node_get(root, "qdot"), 3, qd);
  vectors_read(sni_node_get(root, "qdot_con"), 3, after);
  vectors_read(sni_node_get(root, "F"), 24, want);
  memcpy(sn_state_q(b.s), q, sizeof q);
  memcpy(sn_state_qd(b.s), qd, sizeof qd);
  redmax_step(b.sim, b.s, NULL);
  for (int k = 0; k < 3; k++) {
    CHECK(fabs(sn_state_qd(b.s)[k] - after[k]) < tol(1e-9) * 10, "rate %d: %.17g", k,
          sn_state_qd(b.s)[k]);
  }
  const sni_rubbing *r = sni_sim_rubbing(b.sim);
  sni_dynamics_kinematics(&b.sim->d, q, qd);
  /* the frames of the file: at the centres of mass, turned with the bars */
  const double turn[] = {0, 0, -acos(11.0 / 21), -acos(1.0 / 9)};
  for (int i = 0; i < 4; i++) {
    const sn_mat3 R = sni_link_R(&b.sim->d.w.link[i]);
    const sn_vec3 c = sni_params_inertia(&b.sim->d.params, i).com;
    sn_vec6 F = sn_vec6_unrotate(R, r->F[i]);
    F.w = sn_vec3_sub(F.w, sn_vec3_cross(c, F.v));
    F = sn_vec6_unrotate(sn_so3_exp((sn_vec3){0, turn[i], 0}), F);
    for (int k = 0; k < 6; k++) {
      most = fmax(most, fabs(want[6 * i + k]));
      off = fmax(off, fabs(sn_vec6_get(F, k) - want[6 * i + k]));
    }
  }
  CHECK(off <= tol(1e-9) * most, "off by %g of %g", off, most);
  stage_clear(&b);
  sni_doc_free(&doc);
}

#define CHAIN                                                                                      \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, -980]\n"                                                                        \
  "defaults: {shape: {density: 1}, joint: {type: revolute, axis: [0, 0, 1], friction: {mu: %g, "   \
  "pin_radius: 0.5, pin_length: 1, points: 4}}}\n"                                                 \
  "bodies:\n"                                                                                      \
  "  link_1: {joint: {at: {pos: [0, 0, 0], rotvec: [45*deg, 0, 0]}}, shapes: [{type: box, size: "  \
  "[10, 1, 1], at: [5, 0, 0]}]}\n"                                                                 \
  "  link_2: {parent: link_1, joint: {at: [10, 0, 0]}, shapes: [{type: box, size: [10, 1, 1], "    \
  "at: [5, 0, 0]}]}\n"

/* Unique are rates and joint forces always, limits where a joint slips. */
static void chain_step(stage *b, const char *name, const sni_node *step) {
  double q[2], qd[2], q1[2], qd1[2], force[2], limits[16];
  vectors_read(sni_node_get(step, "q_in"), 2, q);
  vectors_read(sni_node_get(step, "qd_in"), 2, qd);
  vectors_read(sni_node_get(step, "q_out"), 2, q1);
  vectors_read(sni_node_get(step, "qd_out"), 2, qd1);
  vectors_read(sni_node_get(step, "JTfbeta"), 2, force);
  vectors_read(sni_node_get(step, "limits"), 16, limits);
  memcpy(sn_state_q(b->s), q, sizeof q);
  memcpy(sn_state_qd(b->s), qd, sizeof qd);
  redmax_step(b->sim, b->s, NULL);
  const sni_rubbing *r = sni_sim_rubbing(b->sim);
  const double largest = fmax(fabs(force[0]), fabs(force[1]));
  for (int k = 0; k < 2; k++) {
    CHECK(fabs(sn_state_q(b->s)[k] - q1[k]) < tol(1e-8), "%s: q%d = %.12g, not %.12g", name, k,
          sn_state_q(b->s)[k], q1[k]);
    CHECK(fabs(sn_state_qd(b->s)[k] - qd1[k]) < tol(1e-8), "%s: qd%d = %.12g, not %.12g", name, k,
          sn_state_qd(b->s)[k], qd1[k]);
    CHECK(fabs(-r->force[k] - force[k]) < tol(1e-8) * largest, "%s: friction %d = %.12g, not %.12g",
          name, k, -r->force[k], force[k]);
    const bool slips = fabs(r->force[k]) >= r->bound[k] * (1 - 1e-9);
    for (int i = 8 * k; slips && i < 8 * k + 8; i++) {
      CHECK(fabs(r->limit[i] * 0.01 - limits[i]) < tol(1e-8) * limits[8 * k],
            "%s: limit %d = %.12g, not %.12g", name, i, r->limit[i] * 0.01, limits[i]);
    }
  }
}

TEST(a_chain_rubs_as_in_the_vectors) {
  static const char *const name[] = {"slip_red", "slip_max", "stick_red", "stick_max"};
  sni_doc *doc = vectors_open("bisp_chain2.json");
  const sni_node *cases = sni_node_get(sni_doc_root(doc), "cases");
  for (int c = 0; c < SNI_COUNT(name); c++) {
    const sni_node *own = sni_node_get(cases, name[c]), *steps = sni_node_get(own, "steps");
    char text[1000];
    snprintf(text, sizeof text, CHAIN, vectors_number(own, "mu"));
    sn_options o = redmax_paper_options(0.01);
    o.redmax.friction.regularization = 1e-6;
    o.redmax.friction.absolute = true;
    o.redmax.friction.tolerance = 1e-11;
    o.redmax.friction.max_iterations = 2000;
    o.redmax.friction.problem = c % 2 ? SN_FRICTION_MAXIMAL : SN_FRICTION_REDUCED;
    stage b = stage_set(text, o);
    for (size_t k = 0; k < sni_node_count(steps); k++) {
      chain_step(&b, name[c], sni_node_at(steps, k));
    }
    stage_clear(&b);
  }
  sni_doc_free(&doc);
}

int main(void) {
  RUN_TESTS(T(contacts_bear_what_the_joint_does_not_let_go),
            T(all_around_is_the_limit_of_many_points),
            T(a_slider_all_around_is_the_mean_of_all_turns),
            T(reactions_are_those_of_joints_as_constraints),
            T(reactions_in_motion_with_friction_and_contacts),
            T(reactions_of_a_loop_as_in_the_vectors), T(a_chain_rubs_as_in_the_vectors));
}
