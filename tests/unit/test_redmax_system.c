/* The linear system of a linearly implicit step [RM 2]: products and solvers against a dense matrix
 * put together from J, the bodies' blocks and the springs.
 *
 * The dense matrix is  M_r + J^T (h D - h^2 K) J + h D_r - h^2 K_r  with M_r from
 * sn_sim_mass_matrix, J from sn_sim_J_mul, and each force's terms as its tangent gives them
 * (test_spring_tangent.c). */
#include "rig.h"

/* The terms of a force at the rig's state; forces of these tests have few. */
enum { TERMS = 32 };
static int terms_of(const rig *r, const sni_force_eval *e, int f, sni_tangent tangent,
                    sni_term term[TERMS]) {
  const sni_force *force = &r->m->force[f];
  const sni_force_ops *ops = sni_force_kind(force->kind);
  CHECK(force->nterm <= TERMS, "force %d may have %d terms", f, force->nterm);
  return ops->tangent ? ops->tangent(e, force, r->sim->d.params.force + force->param, tangent, term)
                      : 0;
}

/* ---- the dense matrix ---- */

/* Rows of J: 6 numbers a body, in world axes at the origins. */
static double *dense_J(rig *r) {
  const int n = r->m->tree.nbody, nv = r->nv;
  double *J = calloc(6 * (size_t)n * (size_t)nv, sizeof *J),
         *unit = calloc((size_t)nv, sizeof *unit);
  sn_vec6 *y = calloc((size_t)n, sizeof *y);
  sn_se3 *E = calloc((size_t)n, sizeof *E);
  sn_sim_poses(r->sim, r->s, E, NULL);
  for (int k = 0; k < nv; k++) {
    memset(unit, 0, (size_t)nv * sizeof *unit);
    unit[k] = 1;
    sn_sim_J_mul(r->sim, r->s, unit, y);
    for (int i = 0; i < n; i++) {
      double x[6];
      put_six(sn_vec6_rotate(E[i].R, y[i]), x);
      for (int c = 0; c < 6; c++) {
        J[(6 * i + c) * nv + k] = x[c];
      }
    }
  }
  free(unit);
  free(y);
  free(E);
  return J;
}

/* A += c (p^T J)^T (p^T J) for one direction of the twists of up to two bodies */
static void add_direction(rig *r, const double *J, double c, const int body[2], const sn_vec6 p[2],
                          double *A) {
  double *row = calloc((size_t)r->nv, sizeof *row);
  for (int side = 0; side < 2; side++) {
    double x[6];
    put_six(p[side], x);
    for (int e = 0; body[side] >= 0 && e < 6; e++) {
      for (int k = 0; k < r->nv; k++) {
        row[k] += x[e] * J[(6 * body[side] + e) * r->nv + k];
      }
    }
  }
  dense_add_square(r->nv, c, row, A);
  free(row);
}

/* The mass matrix of a body, 6 x 6, in world axes at its origin. */
static void mass_of(rig *r, int i, double *M) {
  const sni_dynamics *d = &r->sim->d;
  const sn_se3 E = {sni_link_R(&d->w.link[i]), {0, 0, 0}};
  const sn_inertia I = sn_inertia_transform(E, sni_params_inertia(&d->params, i));
  for (int k = 0; k < 6; k++) {
    double unit[6] = {0}, column[6];
    unit[k] = 1;
    put_six(sn_inertia_mul(I, (sn_vec6){{unit[0], unit[1], unit[2]}, {unit[3], unit[4], unit[5]}}),
            column);
    for (int e = 0; e < 6; e++) {
      M[6 * e + k] = column[e];
    }
  }
}

/* Which bodies bear the tension of all forces:  SNI_BORNE M - h^2 S > 0,  S their sum with
 * a factor of 2 for those that couple two bodies. */
static void find_slack(rig *r, double h, sni_tangent tangent, const sni_force_eval *e,
                       bool *slack) {
  const int n = r->m->tree.nbody;
  double *S = calloc(36 * (size_t)n, sizeof *S);
  for (int f = 0; f < r->m->nforce; f++) {
    sni_term term[TERMS];
    const int count = terms_of(r, e, f, tangent, term);
    for (int k = 0; k < count; k++) {
      int moving = 0;
      for (int side = 0; side < 2; side++) {
        moving += term[k].body[side] >= 0 && sn_vec6_dot(term[k].p[side], term[k].p[side]) > 0;
      }
      for (int side = 0; term[k].part != SNI_PART_MATERIAL && side < 2; side++) {
        double p[6];
        put_six(term[k].p[side], p);
        if (term[k].body[side] >= 0) {
          dense_add_square(6, -h * h * moving * term[k].k, p, S + 36 * term[k].body[side]);
        }
      }
    }
  }
  for (int i = 0; i < n; i++) {
    double M[36], least, most;
    mass_of(r, i, M);
    for (int k = 0; k < 36; k++) {
      M[k] = SNI_BORNE * M[k] + S[36 * i + k];
    }
    dense_range(6, M, &least, &most);
    slack[i] = largest(S + 36 * i, 36) == 0 || least > 0;
  }
  free(S);
}

/* A += ck K-part + cd D-part of everything that acts, K positive for what resists; h: of the step,
 * which says what the clamped tangent leaves out. */
static void add_stiffness(rig *r, const double *J, double h, double ck, double cd,
                          sni_tangent tangent, double *A) {
  bool slack[BODIES] = {false};
  sni_dynamics *d = &r->sim->d;
  const sni_tree *t = &r->m->tree;
  const double *q = sn_state_q(r->s), *qd = sn_state_qd(r->s);
  sni_dynamics_kinematics(d, q, qd);
  sni_dynamics_external(d, 0, 0, q, qd, NULL, true);
  const sni_force_eval e = sni_dynamics_force_eval(d, 0, 0, true);
  if (tangent == SNI_TANGENT_CLAMPED) {
    find_slack(r, h, tangent, &e, slack);
  }
  for (int f = 0; f < r->m->nforce; f++) {
    sni_term term[TERMS];
    const int n = terms_of(r, &e, f, tangent, term);
    for (int k = 0; k < n; k++) {
      bool borne = tangent == SNI_TANGENT_CLAMPED && term[k].part != SNI_PART_MATERIAL;
      for (int side = 0; term[k].k > 0 && side < 2; side++) {
        borne = borne && (term[k].body[side] < 0 || slack[term[k].body[side]] ||
                          sn_vec6_dot(term[k].p[side], term[k].p[side]) == 0);
      }
      if (!borne) {
        add_direction(r, J, ck * term[k].k + cd * term[k].d, term[k].body, term[k].p, A);
      }
    }
  }
  for (int i = 0; i < t->nbody; i++) {
    const sn_mat3 R = sni_link_R(&d->w.link[i]);
    const sn_vec3 c = sn_mat3_mul_vec(R, sni_params_inertia(&d->params, i).com);
    for (int a = 0; a < 3; a++) {
      const sn_vec3 axis = {a == 0, a == 1, a == 2}, zero = {0, 0, 0};
      const sn_vec6 turn[2] = {{axis, zero}, {zero, zero}};
      const sn_vec6 move[2] = {{sn_vec3_cross(c, axis), axis}, {zero, zero}};
      const int body[2] = {i, -1};
      add_direction(r, J, cd * d->params.drag_angular[i], body, turn, A);
      add_direction(r, J, cd * d->params.drag_linear[i], body, move, A);
    }
  }
  for (int k = 0; k < t->nbody + r->m->ndrive; k++) {
    const int i = k < t->nbody ? k : r->m->drive[k - t->nbody].body;
    const int adr = t->vadr[i], nv = t->vadr[i + 1] - adr;
    double target[SN_NV_MAX], rate[SN_NV_MAX], own[SN_NV_MAX * SN_NV_MAX];
    sni_spring spring = k < t->nbody
                            ? sni_dynamics_joint_spring(d, i, q, qd)
                            : sni_dynamics_drive(d, k - t->nbody, 0, 0, q, qd, NULL, target, rate);
    for (int part = 0; part < 2; part++) { /* stiffness alone, damping alone */
      sni_spring half = spring;
      const double none[SN_NV_MAX] = {0};
      *(part ? &half.stiffness : &half.damping) = none;
      memset(own, 0, sizeof own);
      sni_joint_spring_matrix(sni_tree_joints(t), i, &half, 1, own, nv);
      for (int a = 0; a < nv; a++) {
        for (int b = 0; b < nv; b++) {
          A[(adr + a) * r->nv + adr + b] += (part ? cd : ck) * own[a * nv + b];
        }
      }
    }
  }
}

/* ---- tension along the tree, body by body and by definition ---- */

/* All that acts from body i outwards, at the origin of i: gravity and wrenches. */
static sn_vec6 load_of(rig *r, int i) {
  const sni_dynamics *d = &r->sim->d;
  const sn_vec3 g = {d->params.gravity[0], d->params.gravity[1], d->params.gravity[2]};
  const sn_vec3 o = sni_lane_vec3(d->w.link[i].o);
  sn_vec6 sum = {{0, 0, 0}, {0, 0, 0}};
  for (int k = i; k < r->m->tree.nbody; k++) {
    int up = k;
    while (up > i) {
      up = r->m->tree.parent[up];
    }
    if (up == i) {
      const sn_inertia I = sni_params_inertia(&d->params, k);
      const sn_se3 E = sni_link_pose(&d->w.link[k]);
      const sn_vec3 x = sn_se3_point(E, I.com), weight = sn_vec3_scale(g, I.mass);
      sum.v = sn_vec3_add(sum.v, weight);
      sum.w = sn_vec3_add(sum.w, sn_vec3_cross(sn_vec3_sub(x, o), weight));
      if (d->use_wrench) {
        const sn_vec6 f = d->w.wrench[k];
        sum.v = sn_vec3_add(sum.v, f.v);
        sum.w = sn_vec3_add(sum.w, sn_vec3_add(f.w, sn_vec3_cross(sn_vec3_sub(E.p, o), f.v)));
      }
    }
  }
  return sum;
}

/* L += (f.r) 1 - (f r^T + r f^T)/2 */
static void add_lever(sn_vec3 f, sn_vec3 r, double *L) {
  for (int a = 0; a < 3; a++) {
    for (int b = 0; b < 3; b++) {
      L[3 * a + b] +=
          (a == b ? sn_vec3_dot(f, r) : 0) -
          0.5 * (sn_vec3_get(f, a) * sn_vec3_get(r, b) + sn_vec3_get(r, a) * sn_vec3_get(f, b));
    }
  }
}

/* The same for the slides of the joint of body i: l, and what of h^2 |F| / l the lighter mass does
 * not bear; l = 0: it has none that count. */
static double slide_length(rig *r, int i, double h, double F, double *above) {
  const sni_tree *t = &r->m->tree;
  const int p = t->parent[i];
  double moves = 0;
  for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
    moves = fmax(moves, sn_vec3_norm(sni_lane_vec3(r->sim->d.w.S[k].v)));
  }
  if (p < 0 || moves == 0) {
    return 0;
  }
  const sn_inertia a = sni_params_inertia(&r->sim->d.params, p);
  const sn_inertia b = sni_params_inertia(&r->sim->d.params, i);
  if (a.mass + b.mass == 0) {
    return 0;
  }
  const double l =
      sqrt((sn_mat3_trace(sn_inertia_tensor(a)) + sn_mat3_trace(sn_inertia_tensor(b))) /
           (a.mass + b.mass));
  *above = fmax(h * h * F / l - SNI_BORNE * fmin(a.mass, b.mass), 0);
  return l;
}

static bool stands_still(const sni_tree *t, int i) {
  return i < 0 || (t->joint[i].nv == 0 && stands_still(t, t->parent[i]));
}

/* L += k (1 - f f^T / |f|^2) */
static void add_across(double k, sn_vec3 f, double *L) {
  for (int a = 0; a < 9; a++) {
    L[a] += k * ((a % 4 == 0 ? 1 : 0) -
                 sn_vec3_get(f, a / 3) * sn_vec3_get(f, a % 3) / sn_vec3_dot(f, f));
  }
}

/* The levers of forces on body i. */
static void force_levers(rig *r, int i, double *L) {
  const sni_dynamics *d = &r->sim->d;
  const sni_force_eval e = sni_dynamics_force_eval(d, 0, 0, true);
  for (int f = 0; f < r->m->nforce; f++) {
    sni_term term[TERMS];
    const int n = terms_of(r, &e, f, SNI_TANGENT_CLAMPED, term);
    for (int k = 0; k < n; k++) {
      for (int side = 0; term[k].part == SNI_PART_LEVER && side < 2; side++) {
        const sn_vec3 w = term[k].p[side].w;
        if (term[k].body[side] == i) {
          dense_add_square(3, term[k].k, (double[3]){w.x, w.y, w.z}, L);
        }
      }
    }
  }
}

/* The levers on body i of its weight and of what hangs on it; with `bounds` also those of the
 * coupling at its joints: |N|/2 across N, and l |F| across F where the joint of a child slides. */
static void levers_of(rig *r, int i, bool bounds, double *L) {
  const sni_tree *t = &r->m->tree;
  const sni_dynamics *d = &r->sim->d;
  const sn_inertia I = sni_params_inertia(&d->params, i);
  const double *g = d->params.gravity;
  memset(L, 0, 9 * sizeof *L);
  add_lever((sn_vec3){I.mass * g[0], I.mass * g[1], I.mass * g[2]},
            sn_mat3_mul_vec(sni_link_R(&d->w.link[i]), I.com), L);
  for (int k = i; k < t->nbody; k++) {
    if (k != i && t->parent[k] != i) {
      continue;
    }
    const sn_vec6 load = load_of(r, k);
    if (k != i) {
      add_lever(load.v, sni_lane_vec3(d->w.r[k]), L);
    }
    if (!bounds || stands_still(t, t->parent[k]) || t->joint[k].nv == 0) {
      continue;
    }
    const double N = sn_vec3_norm(load.w), F = sn_vec3_norm(load.v);
    double unused;
    if (N > 0) {
      add_across(0.5 * N, load.w, L);
    }
    if (k != i && F > 0) {
      add_across(slide_length(r, k, 1, F, &unused) * F, load.v, L);
    }
  }
}

/* A += what of h^2 times the levers is above SNI_BORNE times the moments of inertia */
static void add_tension(rig *r, const double *J, double h, double *A) {
  sni_dynamics *d = &r->sim->d;
  for (int i = 0; i < r->m->tree.nbody; i++) {
    double L[9], value[3], V[9];
    levers_of(r, i, true, L);
    const sn_mat3 R = sni_link_R(&d->w.link[i]);
    const sn_mat3 T = sn_inertia_tensor(sni_params_inertia(&d->params, i));
    const sn_mat3 I = sn_mat3_mul(R, sn_mat3_mul(T, sn_mat3_transpose(R)));
    for (int a = 0; a < 9; a++) {
      L[a] = h * h * L[a] - SNI_BORNE * I.m[a / 3][a % 3];
    }
    dense_eigen(3, L, value, V);
    for (int c = 0; c < 3; c++) {
      const sn_vec6 p[2] = {{.w = {V[c], V[3 + c], V[6 + c]}}};
      add_direction(r, J, fmax(value[c], 0), (int[2]){i, -1}, p, A);
    }
    /* and against the joint's own slides, across the load */
    const sni_tree *t = &r->m->tree;
    const sn_vec3 F = load_of(r, i).v;
    double above = 0, P[9] = {0};
    if (stands_still(t, t->parent[i]) || slide_length(r, i, h, sn_vec3_norm(F), &above) == 0) {
      continue;
    }
    add_across(above, F, P);
    for (int a = t->vadr[i]; a < t->vadr[i + 1]; a++) {
      for (int b = t->vadr[i]; b < t->vadr[i + 1]; b++) {
        const sn_vec3 x = sni_lane_vec3(d->w.S[a].v), y = sni_lane_vec3(d->w.S[b].v);
        double Py[3];
        dense_mul(3, P, (double[3]){y.x, y.y, y.z}, Py);
        A[a * r->nv + b] += x.x * Py[0] + x.y * Py[1] + x.z * Py[2];
      }
    }
  }
}

static double *dense_A(rig *r, double h, sni_tangent tangent) {
  double *A = calloc((size_t)r->nv * (size_t)r->nv, sizeof *A), *J = dense_J(r);
  CHECK(sn_sim_mass_matrix(r->sim, r->s, A) == SN_OK, "no mass matrix");
  add_stiffness(r, J, h, h * h, h, tangent, A);
  if (tangent == SNI_TANGENT_CLAMPED) {
    add_tension(r, J, h, A);
  }
  free(J);
  return A;
}

/* The terms of springs in tension and all levers, less N . (w_p x w_c) and 2 F . (w_p x u) at each
 * joint, are the second derivative of the potential of springs and gravity along any direction: in
 * trees of joints whose coordinates are straight.  Second differences of fourth order with a step
 * of 0.002 leave 1e-8 of the largest term. */
TEST(the_matrix_is_the_curvature_of_the_potential) {
  for (unsigned seed = 0; seed < 20; seed++) {
    rig *r = calloc(1, sizeof *r);
    random_tree_make(&r->tree, seed, BODIES, 0);
    uint64_t random = seed;
    for (int i = 0; i < BODIES; i++) {
      static const char *const straight[] = {"revolute", "prismatic",    "revolute",
                                             "fixed",    "translation3", "cylindrical"};
      random_joint(&r->tree, i, straight[(seed + (unsigned)i) % 6], &random, 0);
    }
    sn_builder *b = sn_builder_create();
    CHECK(random_tree_add(&r->tree, b, NULL) == SN_OK, "out of memory");
    for (int k = 0; k < SPRINGS; k++) {
      const int to = random_below(&random, BODIES), from = (to + 3 + k) % BODIES;
      snprintf(r->name[k], sizeof r->name[k], "spring%d", k);
      const sn_force_def def =
          spring_def(r->name[k], k % 3 ? r->tree.name[from] : NULL, random_vec3(&random, 1),
                     r->tree.name[to], random_vec3(&random, 0.5), 30, 0, k % 4 ? 1e-3 : 0);
      CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
    }
    r->m = test_finish(b);
    r->sim = test_sim(r->m, NULL);
    r->s = random_tree_state(r->m, seed);
    r->nv = sn_model_dof_count(r->m);
    double *x = random_doubles(seed, r->nv, 1), *q = random_doubles(seed, r->nv, 0);
    memcpy(q, sn_state_q(r->s), (size_t)r->nv * sizeof *q);
    sni_dynamics_kinematics(&r->sim->d, q, sn_state_qd(r->s));
    sni_dynamics_external(&r->sim->d, 0, 0, q, sn_state_qd(r->s), NULL, true);
    const sni_tree *t = &r->m->tree;
    sni_J_mul_world(t, &r->sim->d.w, x);
    double sum = 0, size = 0;
    const sni_force_eval e = sni_dynamics_force_eval(&r->sim->d, 0, 0, true);
    for (int f = 0; f < r->m->nforce; f++) {
      sni_term term[TERMS];
      const int n = terms_of(r, &e, f, SNI_TANGENT_CLAMPED, term);
      for (int k = 0; k < n; k++) {
        double along = 0;
        for (int side = 0; term[k].part != SNI_PART_LEVER && side < 2; side++) {
          along +=
              term[k].body[side] < 0
                  ? 0
                  : sn_vec6_dot(term[k].p[side], sni_lane6_vec6(r->sim->d.w.a[term[k].body[side]]));
        }
        sum += term[k].k * along * along;
        size = fmax(size, term[k].k * along * along);
      }
    }
    for (int i = 0; i < t->nbody; i++) {
      const sn_vec3 w = sni_lane_vec3(r->sim->d.w.a[i].w);
      const double omega[3] = {w.x, w.y, w.z};
      double L[9], Lw[3];
      levers_of(r, i, false, L);
      force_levers(r, i, L);
      dense_mul(3, L, omega, Lw);
      const double lever = omega[0] * Lw[0] + omega[1] * Lw[1] + omega[2] * Lw[2];
      const sn_vec3 wp =
          t->parent[i] < 0 ? (sn_vec3){0, 0, 0} : sni_lane_vec3(r->sim->d.w.a[t->parent[i]].w);
      const double coupling = sn_vec3_dot(load_of(r, i).w, sn_vec3_cross(wp, w));
      sn_vec3 u = {0, 0, 0};
      for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
        u = sn_vec3_addscaled(u, x[k], sni_lane_vec3(r->sim->d.w.S[k].v));
      }
      const double sliding = 2 * sn_vec3_dot(load_of(r, i).v, sn_vec3_cross(wp, u));
      sum += lever - coupling - sliding;
      size = fmax(size, fmax(fabs(lever), fmax(fabs(coupling), fabs(sliding))));
    }
    double fd = 0;
    static const double weight[5] = {-1, 16, -30, 16, -1};
    for (int k = -2; k <= 2; k++) {
      for (int i = 0; i < r->nv; i++) {
        sn_state_q(r->s)[i] = q[i] + 0.002 * k * x[i];
      }
      sn_energy energy;
      sn_sim_energy(r->sim, r->s, &energy);
      fd += weight[k + 2] * energy.potential / (12 * 0.002 * 0.002);
    }
    CHECK(fabs(fd - sum) < 1e-6 * size, "seed %u: %.10g instead of %.10g (largest term %g)", seed,
          sum, fd, size);
    free(x);
    free(q);
    rig_free(r);
  }
}

/* ---- products ---- */

TEST(products_are_those_of_the_dense_matrix) {
  static const double steps[] = {1e-3, 0.1, 3};
  double worst = 0;
  for (unsigned seed = 0; seed < 30; seed++) {
    rig *r = rig_make(seed, 50, seed % 2, TREE_ALL);
    const size_t nv = (size_t)r->nv;
    double *y = calloc(nv, sizeof *y), *expected = calloc(nv, sizeof *expected);
    for (int tangent = 0; tangent < 3; tangent++) {
      const double h = steps[(seed + (unsigned)tangent) % 3];
      double *A = dense_A(r, h, (sni_tangent)tangent), *x = random_doubles(seed, r->nv, 1);
      held hold = assemble(r, h, (sni_tangent)tangent);
      dense_mul(r->nv, A, x, expected);
      sni_system_mul(&hold.s, x, y);
      const double e = largest_difference(y, expected, r->nv) / largest(A, r->nv * r->nv);
      CHECK(e < 1e-12, "seed %u, h = %g, tangent %d: A x is off by %g", seed, h, tangent, e);
      worst = fmax(worst, e);
      free(hold.memory);
      free(A);
      free(x);
    }
    free(y);
    free(expected);
    rig_free(r);
  }
  print_message("  worst product: %.1e\n", worst);
}

/* ---- solvers ---- */

static double energy_norm(int n, const double *A, const double *x) {
  double *y = calloc((size_t)n, sizeof *y), sum = 0;
  dense_mul(n, A, x, y);
  for (int i = 0; i < n; i++) {
    sum += x[i] * y[i];
  }
  free(y);
  return sqrt(fmax(sum, 0));
}

typedef struct outcome {
  double energy;   /* |x - dense x| in the energy norm, relative */
  double backward; /* |b - A x| / (|A| |x| + |b|)               */
  int iterations;
} outcome;

static outcome solve_with(rig *r, int solver, double h, const double *A, const double *b,
                          const double *exact) {
  const int nv = r->nv;
  const sni_solver *table = redmax_solver[solver].table;
  held hold = assemble(r, h, SNI_TANGENT_CLAMPED);
  void *own = NULL;
  sn_error err;
  sni_solve_info info = {.bad = -1};
  double *x = random_doubles(7, nv, 1), *difference = calloc((size_t)nv, sizeof *difference);
  double *residual = calloc((size_t)nv, sizeof *residual), norm_A = 0;
  CHECK(table->build(&hold.s, &own, &err) == SN_OK, "%s: %s", table->name, err.text);
  CHECK(table->factorise(&hold.s, own, &info) == SN_OK, "%s: bad body %d", table->name, info.bad);
  const sn_status status = table->solve(&hold.s, own, b, 1e-13, 1000, x, &info);
  CHECK(status == SN_OK && info.converged, "%s, seed %u: %s, residual %g after %d iterations",
        table->name, r->seed, sn_status_text(status), info.residual, info.iterations);
  dense_mul(nv, A, x, residual);
  for (int i = 0; i < nv; i++) {
    double row = 0;
    for (int j = 0; j < nv; j++) {
      row += fabs(A[i * nv + j]);
    }
    norm_A = fmax(norm_A, row);
    residual[i] -= b[i];
    difference[i] = x[i] - exact[i];
  }
  const outcome out = {energy_norm(nv, A, difference) / energy_norm(nv, A, exact),
                       largest(residual, nv) / (norm_A * largest(x, nv) + largest(b, nv)),
                       info.iterations};
  table->free(&own);
  free(hold.memory);
  free(x);
  free(difference);
  free(residual);
  return out;
}

/* From soft springs to k h^2/m = 1e8, on the ground and across branches: each solver is as near to
 * elimination with pivots as the condition of the matrix lets it be, max(1e-9, 100 eps cond) in the
 * energy norm, and solves a system near the given one, to 1e-12, above 1e6. */
TEST(solvers_agree_with_elimination) {
  const double h = 0.01;
  print_message("  k h^2/m    cond     ");
  for (int k = 0; k < REDMAX_SOLVERS; k++) {
    print_message("  %-6s energy  backward", redmax_solver[k].name);
  }
  print_message("\n");
  for (int power = -2; power <= 8; power += 2) {
    outcome worst[REDMAX_SOLVERS];
    memset(worst, 0, sizeof worst);
    double most_cond = 0;
    for (unsigned seed = 0; seed < 12; seed++) {
      const bool across = seed % 2;
      rig *r = rig_make(seed, pow(10, power) / (h * h), across,
                        TREE_SPRINGS | TREE_DRAG | TREE_ARMATURE);
      double *A = dense_A(r, h, SNI_TANGENT_CLAMPED), *b = random_doubles(seed, r->nv, 1);
      double *copy = malloc((size_t)r->nv * (size_t)r->nv * sizeof *copy),
             *x = random_doubles(seed, r->nv, 1);
      double least, most;
      memcpy(copy, A, (size_t)r->nv * (size_t)r->nv * sizeof *copy);
      dense_range(r->nv, A, &least, &most);
      const double cond = most / fmax(least, 1e-300);
      dense_solve(r->nv, copy, x);
      most_cond = fmax(most_cond, cond);
      for (int k = 0; k < REDMAX_SOLVERS; k++) {
        if (across && redmax_solver[k].option == SN_SOLVER_TREE) {
          continue;
        }
        const outcome o = solve_with(r, k, h, A, b, x);
        const double bound = fmax(1e-9, 100 * 2.3e-16 * cond);
        CHECK(o.energy < bound, "%s, seed %u, 1e%d: off by %g in the energy norm (cond %g)",
              redmax_solver[k].name, seed, power, o.energy, cond);
        CHECK(power < 6 || o.backward < 1e-12, "%s, seed %u, 1e%d: backward error %g",
              redmax_solver[k].name, seed, power, o.backward);
        worst[k].energy = fmax(worst[k].energy, o.energy);
        worst[k].backward = fmax(worst[k].backward, o.backward);
      }
      free(A);
      free(b);
      free(x);
      free(copy);
      rig_free(r);
    }
    print_message("  1e%-8d %.1e  ", power, most_cond);
    for (int k = 0; k < REDMAX_SOLVERS; k++) {
      print_message("         %.1e  %.1e", worst[k].energy, worst[k].backward);
    }
    print_message("\n");
  }
}

/* With nothing on the right the answer is nothing, whatever the guess was. */
TEST(solvers_know_zero) {
  rig *r = rig_make(3, 10, false, TREE_SPRINGS);
  double *zero = calloc((size_t)r->nv, sizeof *zero);
  for (int k = 0; k < REDMAX_SOLVERS; k++) {
    held hold = assemble(r, 0.01, SNI_TANGENT_CLAMPED);
    const sni_solver *table = redmax_solver[k].table;
    void *own = NULL;
    sn_error err;
    sni_solve_info info = {.bad = -1};
    double *x = random_doubles(11, r->nv, 1);
    CHECK(table->build(&hold.s, &own, &err) == SN_OK && !table->factorise(&hold.s, own, &info),
          "%s cannot begin", table->name);
    const sn_status status = table->solve(&hold.s, own, zero, 1e-10, 100, x, &info);
    CHECK(status == SN_OK, "%s: %s", table->name, sn_status_text(status));
    CHECK(largest(x, r->nv) < 1e-9, "%s: %g is left of the guess", table->name, largest(x, r->nv));
    table->free(&own);
    free(hold.memory);
    free(x);
  }
  free(zero);
  rig_free(r);
}
int main(void) {
  RUN_TESTS(T(the_matrix_is_the_curvature_of_the_potential),
            T(products_are_those_of_the_dense_matrix), T(solvers_agree_with_elimination),
            T(solvers_know_zero));
}
