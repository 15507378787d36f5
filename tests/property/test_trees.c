/* Laws that hold for every tree: forward and inverse dynamics undo each other, J and J^T are dual,
 * bodies obey Newton and Euler, and nothing depends on the order or the frames of a description.
 *
 * Residuals are relative to the largest number of the quantity.  The trees mix all kinds of joints
 * with up to 40 bodies; their mass matrices have condition numbers up to 1e5, which is what the
 * tolerance 1e-10 for accelerations leaves room for. */
#include "methods/sim.h"
#include "trees.h"

#include <time.h>

#define SEEDS 40

typedef struct fixture {
  random_tree tree;
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  int n, nv;
} fixture;

static fixture *set_up(uint64_t seed, unsigned flags) {
  fixture *f = calloc(1, sizeof *f);
  random_tree_make(&f->tree, seed, 3 + (int)seed, flags);
  f->m = random_tree_build(&f->tree);
  f->sim = test_sim(f->m, NULL);
  f->s = random_tree_state(f->m, seed + 1000);
  f->n = f->tree.n;
  f->nv = sn_model_dof_count(f->m);
  return f;
}

static void tear_down(fixture *f) {
  sn_state_free(&f->s);
  sn_sim_free(&f->sim);
  sn_model_free(&f->m);
  free(f);
}

static void forward(fixture *f, const sn_input *input, double *qdd) {
  sn_error err;
  CHECK(sn_sim_forward(f->sim, f->s, input, qdd, &err) == SN_OK, "%s", err.text);
}
static void inverse(fixture *f, const sn_input *input, const double *qdd, double *tau,
                    sn_vec6 *reaction) {
  sn_error err;
  CHECK(sn_sim_inverse(f->sim, f->s, input, qdd, tau, reaction, &err) == SN_OK, "%s", err.text);
}

static sn_vec6 *random_wrenches(uint64_t seed, int n) {
  sn_vec6 *w = calloc((size_t)n, sizeof *w);
  for (int i = 0; i < n; i++) {
    w[i] = (sn_vec6){random_vec3(&seed, 3), random_vec3(&seed, 3)};
  }
  return w;
}

TEST(inverse_and_forward_undo_each_other) {
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    fixture *f = set_up(seed, TREE_ALL);
    double *tau = random_doubles(seed, f->nv, 10), *qdd = random_doubles(seed + 7, f->nv, 10);
    double *back = calloc((size_t)f->nv, sizeof *back);
    sn_vec6 *wrench = random_wrenches(seed, f->n);

    inverse(f, &(sn_input){.wrench = wrench}, qdd, back, NULL);
    double *given = calloc((size_t)f->nv, sizeof *given);
    forward(f, &(sn_input){.wrench = wrench, .tau = back}, given);
    const double e = largest_difference(qdd, given, f->nv) / largest(qdd, f->nv);
    CHECK(e < 1e-10, "seed %u: forward(inverse(qdd)) is off by %g", seed, e);

    forward(f, &(sn_input){.wrench = wrench, .tau = tau}, given);
    inverse(f, &(sn_input){.wrench = wrench}, given, back, NULL);
    /* what cancels in the sum of all loads bounds the rounding */
    const double scale = fmax(largest(tau, f->nv), largest(given, f->nv));
    const double e2 = largest_difference(tau, back, f->nv) / scale;
    CHECK(e2 < 1e-12, "seed %u: inverse(forward(tau)) is off by %g", seed, e2);
    free(given);
    free(back);
    free(tau);
    free(qdd);
    free(wrench);
    tear_down(f);
  }
}

TEST(mass_matrix_is_what_inverse_says) {
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    fixture *f = set_up(seed, TREE_ALL);
    const int nv = f->nv;
    double *M = calloc((size_t)nv * (size_t)nv, sizeof *M);
    double *unit = calloc((size_t)nv, sizeof *unit), *bias = calloc((size_t)nv, sizeof *bias);
    double *column = calloc((size_t)nv, sizeof *column);
    CHECK(sn_sim_mass_matrix(f->sim, f->s, M) == SN_OK, "no mass matrix");
    const double scale = largest(M, nv * nv);
    inverse(f, NULL, unit, bias, NULL);
    for (int k = 0; k < nv; k++) {
      memset(unit, 0, (size_t)nv * sizeof *unit);
      unit[k] = 1;
      inverse(f, NULL, unit, column, NULL);
      for (int i = 0; i < nv; i++) {
        const double e = fabs(column[i] - bias[i] - M[i * nv + k]) / (scale + fabs(bias[i]));
        CHECK(e < 1e-13, "seed %u: column %d, row %d off by %g", seed, k, i, e);
        const double skew = fabs(M[i * nv + k] - M[k * nv + i]) / scale;
        CHECK(skew < 1e-14, "seed %u: M(%d, %d) is not symmetric by %g", seed, i, k, skew);
      }
    }
    /* M M^-1 x = x */
    double *x = random_doubles(seed, nv, 1), *y = calloc((size_t)nv, sizeof *y);
    sn_error err;
    CHECK(sn_sim_Minv_mul(f->sim, f->s, x, y, &err) == SN_OK, "%s", err.text);
    for (int i = 0; i < nv; i++) {
      double sum = 0;
      for (int k = 0; k < nv; k++) {
        sum += M[i * nv + k] * y[k];
      }
      CHECK(fabs(sum - x[i]) < 1e-13 * scale * fmax(1, largest(y, nv)),
            "seed %u: M Minv x is off by %g in row %d", seed, sum - x[i], i);
    }
    /* in place, as promised */
    double *same = calloc((size_t)nv, sizeof *same);
    memcpy(same, x, (size_t)nv * sizeof *same);
    sn_sim_Minv_mul(f->sim, f->s, same, same, NULL);
    CHECK(memcmp(same, y, (size_t)nv * sizeof *same) == 0, "seed %u: in place it differs", seed);
    free(same);
    free(M);
    free(unit);
    free(bias);
    free(column);
    free(x);
    free(y);
    tear_down(f);
  }
}

TEST(hybrid_mixes_forward_and_inverse) {
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    fixture *f = set_up(seed, TREE_ALL);
    const int nv = f->nv;
    double *tau = random_doubles(seed, nv, 5), *qdd = calloc((size_t)nv, sizeof *qdd);
    sn_joint_mode *mode = calloc((size_t)f->n, sizeof *mode);
    forward(f, &(sn_input){.tau = tau}, qdd);
    double *tau2 = calloc((size_t)nv, sizeof *tau2), *qdd2 = calloc((size_t)nv, sizeof *qdd2);
    sn_vec6 *reaction = calloc((size_t)f->n, sizeof *reaction);
    sn_vec6 *reaction2 = calloc((size_t)f->n, sizeof *reaction2);
    uint64_t random = seed;
    for (int i = 0; i < f->n; i++) {
      mode[i] = random_below(&random, 2) ? SN_JOINT_PRESCRIBED : SN_JOINT_FREE;
      const int adr = sn_model_joint_first(f->m, i);
      for (int k = adr; k < adr + sn_model_joint_dofs(f->m, i); k++) {
        tau2[k] = mode[i] == SN_JOINT_FREE ? tau[k] : NAN; /* must not be read */
        qdd2[k] = mode[i] == SN_JOINT_FREE ? NAN : qdd[k];
      }
    }
    sn_error err;
    CHECK(sn_sim_hybrid(f->sim, f->s, NULL, mode, qdd2, tau2, reaction2, &err) == SN_OK, "%s",
          err.text);
    const double e = largest_difference(qdd, qdd2, nv) / largest(qdd, nv);
    CHECK(e < 1e-10, "seed %u: accelerations are off by %g", seed, e);
    const double scale = fmax(largest(tau, nv), largest(qdd, nv));
    const double e2 = largest_difference(tau, tau2, nv) / scale;
    CHECK(e2 < 1e-10, "seed %u: joint forces are off by %g", seed, e2);
    inverse(f, NULL, qdd2, tau2, reaction);
    for (int i = 0; i < f->n; i++) {
      const sn_vec6 d = sn_vec6_sub(reaction[i], reaction2[i]);
      CHECK(sqrt(sn_vec6_dot(d, d)) < 1e-12 * scale, "seed %u: reaction of body %d", seed, i);
    }
    free(tau);
    free(qdd);
    free(tau2);
    free(qdd2);
    free(mode);
    free(reaction);
    free(reaction2);
    tear_down(f);
  }
}

static void poke(fixture *f, const double *q, const double *qd) {
  memcpy(sn_state_q(f->s), q, (size_t)f->nv * sizeof *q);
  memcpy(sn_state_qd(f->s), qd, (size_t)f->nv * sizeof *qd);
}

/* q + h qd + h^2/2 qdd */
static void advanced(const double *q, const double *qd, const double *qdd, int n, double h,
                     double *out) {
  for (int k = 0; k < n; k++) {
    out[k] = q[k] + h * (qd[k] + 0.5 * h * (qdd ? qdd[k] : 0));
  }
}

/* Central differences with h = 1e-5 leave 1e-9 of curvature and 1e-10 of rounding. */
TEST(jacobians_are_dual_and_their_rate_is_their_rate) {
  const double h = 1e-5;
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    fixture *f = set_up(seed, 0);
    const int n = f->n, nv = f->nv;
    const size_t row = (size_t)nv * sizeof(double);
    double *x = random_doubles(seed + 1, nv, 1), *xt = calloc((size_t)nv, sizeof *xt);
    sn_vec6 *y = calloc((size_t)n, sizeof *y), *z = calloc((size_t)n, sizeof *z);
    sn_vec6 *w = random_wrenches(seed, n), *before = calloc((size_t)n, sizeof *before);
    sn_sim_J_mul(f->sim, f->s, x, y);
    sn_sim_Jt_mul(f->sim, f->s, w, xt);
    double a = 0, b = 0, scale = 0;
    for (int i = 0; i < n; i++) {
      a += sn_vec6_dot(w[i], y[i]);
      scale += fabs(sn_vec6_dot(w[i], y[i]));
    }
    for (int k = 0; k < nv; k++) {
      b += x[k] * xt[k];
    }
    CHECK(fabs(a - b) < 1e-13 * scale, "seed %u: w.Jx = %g, x.J^T w = %g", seed, a, b);

    double *q = malloc(row), *qd = malloc(row), *moved = malloc(row);
    memcpy(q, sn_state_q(f->s), row);
    memcpy(qd, sn_state_qd(f->s), row);
    sn_sim_Jdot_mul(f->sim, f->s, x, z);
    advanced(q, qd, NULL, nv, -h, moved);
    poke(f, moved, qd);
    sn_sim_J_mul(f->sim, f->s, x, before);
    advanced(q, qd, NULL, nv, h, moved);
    poke(f, moved, qd);
    sn_sim_J_mul(f->sim, f->s, x, y);
    double most = 0;
    for (int i = 0; i < n; i++) {
      most = fmax(most, sqrt(sn_vec6_dot(z[i], z[i])));
    }
    for (int i = 0; i < n; i++) {
      const sn_vec6 rate = sn_vec6_scale(sn_vec6_sub(y[i], before[i]), 0.5 / h);
      const sn_vec6 d = sn_vec6_sub(rate, z[i]);
      const double e = sqrt(sn_vec6_dot(d, d)) / most;
      CHECK(e < 1e-7, "seed %u: Jdot x of body %d (%s) is off by %g", seed, i,
            sn_model_joint_type(f->m, i), e);
    }
    free(x);
    free(xt);
    free(y);
    free(z);
    free(w);
    free(before);
    free(q);
    free(qd);
    free(moved);
    tear_down(f);
  }
}

/* Twist of a body from two poses nearby: its position and rotation as they change. */
TEST(twists_and_point_jacobians_are_rates_of_poses) {
  const double h = 1e-5;
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    fixture *f = set_up(seed, 0);
    const int n = f->n, nv = f->nv;
    const size_t row = (size_t)nv * sizeof(double);
    uint64_t random = seed;
    double *q = malloc(row), *qd = malloc(row), *moved = malloc(row);
    memcpy(q, sn_state_q(f->s), row);
    memcpy(qd, sn_state_qd(f->s), row);
    sn_se3 *E = calloc((size_t)n, sizeof *E), *A = calloc((size_t)n, sizeof *A),
           *B = calloc((size_t)n, sizeof *B);
    sn_vec6 *phi = calloc((size_t)n, sizeof *phi);
    double *J = calloc(3 * (size_t)nv, sizeof *J);
    const int body = random_below(&random, n);
    const sn_vec3 point = random_vec3(&random, 1);
    sn_sim_poses(f->sim, f->s, E, phi);
    CHECK(sn_sim_point_jacobian(f->sim, f->s, body, point, J) == SN_OK, "no point Jacobian");
    advanced(q, qd, NULL, nv, -h, moved);
    poke(f, moved, qd);
    sn_sim_poses(f->sim, f->s, A, NULL);
    advanced(q, qd, NULL, nv, h, moved);
    poke(f, moved, qd);
    sn_sim_poses(f->sim, f->s, B, NULL);
    double speed = 1;
    for (int i = 0; i < n; i++) {
      speed = fmax(speed, sqrt(sn_vec6_dot(phi[i], phi[i])));
    }
    for (int i = 0; i < n; i++) {
      const sn_vec3 v = sn_vec3_scale(sn_vec3_sub(B[i].p, A[i].p), 0.5 / h);
      const sn_vec3 turn = sn_so3_log(sn_mat3_tmul(A[i].R, B[i].R));
      const double ev = sn_vec3_norm(sn_vec3_sub(v, sn_mat3_mul_vec(E[i].R, phi[i].v)));
      const double ew = sn_vec3_norm(sn_vec3_sub(sn_vec3_scale(turn, 0.5 / h), phi[i].w));
      CHECK(fmax(ev, ew) < 1e-7 * speed, "seed %u: twist of body %d is off by %g, %g", seed, i, ev,
            ew);
    }
    const sn_vec3 xdot = sn_vec3_scale(
        sn_vec3_sub(sn_se3_point(B[body], point), sn_se3_point(A[body], point)), 0.5 / h);
    for (int c = 0; c < 3; c++) {
      double sum = 0;
      for (int k = 0; k < nv; k++) {
        sum += J[c * nv + k] * qd[k];
      }
      CHECK(fabs(sum - sn_vec3_get(xdot, c)) < 1e-7 * speed,
            "seed %u: point of body %d moves at %g, J qd = %g", seed, body, sn_vec3_get(xdot, c),
            sum);
    }
    CHECK(sn_sim_point_jacobian(f->sim, f->s, -1, point, J) == SN_OK && largest(J, 3 * nv) == 0,
          "seed %u: a point of the ground moves", seed);
    CHECK(sn_sim_point_jacobian(f->sim, f->s, n, point, J) == SN_E_ARGUMENT, "body %d", n);
    CHECK(sn_sim_point_jacobian(f->sim, f->s, -2, point, J) == SN_E_ARGUMENT, "body -2");
    free(q);
    free(qd);
    free(moved);
    free(E);
    free(A);
    free(B);
    free(phi);
    free(J);
    tear_down(f);
  }
}

/* Each body alone, in its own frame: M phidot - ad(phi)^T M phi = sum of all wrenches on it:
 * gravity, the load, the reaction of its own joint, and those of its children turned round.  And
 * along the joint, S^T F + armature qdd is what the joint was given. */
TEST(every_body_obeys_newton_and_euler) {
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    fixture *f = set_up(seed, TREE_ARMATURE | TREE_MASSLESS);
    const int n = f->n, nv = f->nv;
    double *tau = random_doubles(seed, nv, 5), *qdd = calloc((size_t)nv, sizeof *qdd);
    double *again = calloc((size_t)nv, sizeof *again);
    sn_vec6 *load = random_wrenches(seed, n), *F = calloc((size_t)n, sizeof *F);
    sn_vec6 *phi = calloc((size_t)n, sizeof *phi), *gain = calloc((size_t)n, sizeof *gain),
            *bias = calloc((size_t)n, sizeof *bias), *sum = calloc((size_t)n, sizeof *sum);
    sn_se3 *E = calloc((size_t)n, sizeof *E);
    const sn_input input = {.tau = tau, .wrench = load};
    forward(f, &input, qdd);
    inverse(f, &input, qdd, again, F);
    sn_sim_poses(f->sim, f->s, E, phi);
    sn_sim_J_mul(f->sim, f->s, qdd, gain);
    sn_sim_Jdot_mul(f->sim, f->s, sn_state_qd(f->s), bias);
    double scale = 0;
    for (int i = 0; i < n; i++) {
      const sn_inertia I = f->tree.body[atoi(sn_model_body_name(f->m, i) + 1)].inertia;
      const sn_vec6 rate = sn_vec6_sub(sn_inertia_mul(I, sn_vec6_add(gain[i], bias[i])),
                                       sn_adT_mul(phi[i], sn_inertia_mul(I, phi[i])));
      const sn_vec3 g = sn_mat3_tmul_vec(E[i].R, sn_vec3_scale(f->tree.gravity, I.mass));
      const sn_vec6 weight = {sn_vec3_cross(I.com, g), g};
      sum[i] = sn_vec6_sub(sum[i], rate);
      sum[i] = sn_vec6_add(sum[i], sn_vec6_add(weight, sn_vec6_unrotate(E[i].R, load[i])));
      sum[i] = sn_vec6_add(sum[i], F[i]);
      const int p = sn_model_body_parent(f->m, i);
      if (p >= 0) { /* Ad_bp^T F: the wrench on b seen in the parent's frame */
        const sn_se3 E_bp = sn_se3_mul(sn_se3_inverse(E[i]), E[p]);
        sum[p] = sn_vec6_sub(sum[p], sn_AdT_mul(E_bp, F[i]));
      }
      scale = fmax(scale, sqrt(sn_vec6_dot(F[i], F[i])));
    }
    for (int i = 0; i < n; i++) {
      const double e = sqrt(sn_vec6_dot(sum[i], sum[i])) / scale;
      CHECK(e < 1e-12, "seed %u: body %d (%s) is out of balance by %g", seed, i,
            sn_model_joint_type(f->m, i), e);
    }
    CHECK(largest(again, nv) < 1e-11 * scale, "seed %u: joints lack %g", seed, largest(again, nv));
    free(tau);
    free(qdd);
    free(again);
    free(load);
    free(F);
    free(phi);
    free(gain);
    free(bias);
    free(sum);
    free(E);
    tear_down(f);
  }
}

/* Along axes that are the joint's own, S^T F + armature qdd = tau; S_k is what J makes of e_k. */
TEST(reactions_carry_the_joint_forces) {
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    fixture *f = set_up(seed, 0);
    const int n = f->n, nv = f->nv;
    double *tau = random_doubles(seed, nv, 5), *qdd = calloc((size_t)nv, sizeof *qdd);
    double *again = calloc((size_t)nv, sizeof *again), *unit = calloc((size_t)nv, sizeof *unit);
    sn_vec6 *F = calloc((size_t)n, sizeof *F), *column = calloc((size_t)n, sizeof *column);
    forward(f, &(sn_input){.tau = tau}, qdd);
    inverse(f, &(sn_input){.tau = tau}, qdd, again, F);
    const double scale = fmax(largest(tau, nv), largest(qdd, nv));
    for (int i = 0; i < n; i++) {
      const int adr = sn_model_joint_first(f->m, i);
      for (int k = adr; k < adr + sn_model_joint_dofs(f->m, i); k++) {
        unit[k] = 1;
        sn_sim_J_mul(f->sim, f->s, unit, column);
        unit[k] = 0;
        const double e = fabs(sn_vec6_dot(column[i], F[i]) - tau[k]) / scale;
        CHECK(e < 1e-11, "seed %u: S^T F of coordinate %d is off by %g", seed, k, e);
      }
    }
    free(tau);
    free(qdd);
    free(again);
    free(unit);
    free(F);
    free(column);
    tear_down(f);
  }
}

/* The other way to the same accelerations: sum_i J_i^T M_i J_i, its bias with Jdot, and Gauss. */
TEST(dense_equations_of_motion_agree) {
  for (unsigned seed = 0; seed < 30; seed++) {
    fixture *f = set_up(seed, 0);
    const int n = f->n, nv = f->nv;
    double *tau = random_doubles(seed, nv, 5), *qdd = calloc((size_t)nv, sizeof *qdd);
    double *unit = calloc((size_t)nv, sizeof *unit), *b = calloc((size_t)nv, sizeof *b);
    double *A = calloc((size_t)nv * (size_t)nv, sizeof *A);
    sn_vec6 *phi = calloc((size_t)n, sizeof *phi), *w = calloc((size_t)n, sizeof *w),
            *bias = calloc((size_t)n, sizeof *bias);
    sn_se3 *E = calloc((size_t)n, sizeof *E);
    forward(f, &(sn_input){.tau = tau}, qdd);
    sn_sim_poses(f->sim, f->s, E, phi);
    sn_sim_Jdot_mul(f->sim, f->s, sn_state_qd(f->s), bias);
    for (int i = 0; i < n; i++) { /* f - M Jdot qd  [RMS 12] */
      const sn_inertia I = f->tree.body[atoi(sn_model_body_name(f->m, i) + 1)].inertia;
      const sn_vec3 g = sn_mat3_tmul_vec(E[i].R, sn_vec3_scale(f->tree.gravity, I.mass));
      w[i] = sn_vec6_add((sn_vec6){sn_vec3_cross(I.com, g), g},
                         sn_adT_mul(phi[i], sn_inertia_mul(I, phi[i])));
      w[i] = sn_vec6_sub(w[i], sn_inertia_mul(I, bias[i]));
    }
    sn_sim_Jt_mul(f->sim, f->s, w, b);
    for (int k = 0; k < nv; k++) {
      b[k] += tau[k];
      unit[k] = 1;
      sn_sim_J_mul(f->sim, f->s, unit, phi);
      unit[k] = 0;
      for (int i = 0; i < n; i++) {
        const sn_inertia I = f->tree.body[atoi(sn_model_body_name(f->m, i) + 1)].inertia;
        w[i] = sn_inertia_mul(I, phi[i]);
      }
      sn_sim_Jt_mul(f->sim, f->s, w, A + (size_t)k * (size_t)nv); /* symmetric: row = column */
    }
    for (int k = 0; k < nv; k++) { /* elimination; positive definite, so no pivots */
      for (int i = k + 1; i < nv; i++) {
        const double factor = A[i * nv + k] / A[k * nv + k];
        for (int j = k; j < nv; j++) {
          A[i * nv + j] -= factor * A[k * nv + j];
        }
        b[i] -= factor * b[k];
      }
    }
    for (int k = nv - 1; k >= 0; k--) {
      for (int j = k + 1; j < nv; j++) {
        b[k] -= A[k * nv + j] * b[j];
      }
      b[k] /= A[k * nv + k];
    }
    const double e = largest_difference(b, qdd, nv) / largest(qdd, nv);
    CHECK(e < 1e-10, "seed %u: dense accelerations differ by %g", seed, e);
    free(tau);
    free(qdd);
    free(unit);
    free(b);
    free(A);
    free(phi);
    free(w);
    free(bias);
    free(E);
    tear_down(f);
  }
}

/* dE/dt along the motion equals the power of what is not in E: the given joint forces and wrenches.
 * Springs in joints, an elastic band and armature are in E. */
TEST(energy_changes_by_the_power_that_is_given) {
  const double h = 1e-4;
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    fixture *f = calloc(1, sizeof *f);
    random_tree_make(&f->tree, seed, 3 + (int)seed, TREE_SPRINGS | TREE_ARMATURE | TREE_FORCES);
    for (int i = 0; i < f->tree.n; i++) {
      f->tree.body[i].joint.damping.n = 0;
    }
    f->tree.force[0].damping = 0;
    f->tree.nforce = 1; /* only the band has a potential */
    f->m = random_tree_build(&f->tree);
    f->sim = test_sim(f->m, NULL);
    f->s = random_tree_state(f->m, seed + 1000);
    f->n = f->tree.n;
    f->nv = sn_model_dof_count(f->m);
    const int n = f->n, nv = f->nv;
    const size_t row = (size_t)nv * sizeof(double);
    double *tau = random_doubles(seed, nv, 5), *qdd = calloc((size_t)nv, sizeof *qdd);
    sn_vec6 *load = random_wrenches(seed, n), *phi = calloc((size_t)n, sizeof *phi);
    sn_se3 *E = calloc((size_t)n, sizeof *E);
    double *q = malloc(row), *qd = malloc(row), *q1 = malloc(row), *qd1 = malloc(row);
    memcpy(q, sn_state_q(f->s), row);
    memcpy(qd, sn_state_qd(f->s), row);
    forward(f, &(sn_input){.tau = tau, .wrench = load}, qdd);
    sn_sim_poses(f->sim, f->s, E, phi);
    double power = 0, scale = 0;
    for (int k = 0; k < nv; k++) {
      power += tau[k] * qd[k];
    }
    for (int i = 0; i < n; i++) {
      power += sn_vec6_dot(load[i], sn_vec6_rotate(E[i].R, phi[i]));
    }
    /* fourth order: (8 (E(h) - E(-h)) - (E(2h) - E(-2h))) / 12 h */
    double rate = 0;
    for (int side = -2; side <= 2; side++) {
      const double weight[] = {1, -8, 0, 8, -1};
      advanced(q, qd, qdd, nv, side * h, q1);
      advanced(qd, qdd, NULL, nv, side * h, qd1);
      poke(f, q1, qd1);
      sn_energy energy;
      sn_sim_energy(f->sim, f->s, &energy);
      rate += weight[side + 2] * (energy.kinetic + energy.potential) / (12 * h);
      scale = fmax(scale, energy.kinetic + fabs(energy.potential));
    }
    /* what a parabola leaves out is third order in q and second in qd, odd terms cancel */
    CHECK(fabs(rate - power) < 1e-6 * (scale + largest(qdd, nv) * largest(qd, nv)),
          "seed %u: energy grows at %g, power is %g", seed, rate, power);
    free(tau);
    free(qdd);
    free(load);
    free(phi);
    free(E);
    free(q);
    free(qd);
    free(q1);
    free(qd1);
    tear_down(f);
  }
}

/* ---- independence of the description ---- */

static double *accelerations_by_name(const random_tree *t, const sn_model *m, uint64_t seed,
                                     double *scale) {
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = random_tree_state(m, seed);
  double *qdd = calloc((size_t)sn_model_dof_count(m) + 1, sizeof *qdd);
  double *out = calloc(SN_NV_MAX * (size_t)t->n, sizeof *out);
  sn_error err;
  CHECK(sn_sim_forward(sim, s, NULL, qdd, &err) == SN_OK, "%s", err.text);
  for (int i = 0; i < t->n; i++) {
    const int body = sn_model_body_find(m, t->name[i]);
    memcpy(out + SN_NV_MAX * i, qdd + sn_model_joint_first(m, body),
           (size_t)sn_model_joint_dofs(m, body) * sizeof *out);
  }
  *scale = largest(qdd, sn_model_dof_count(m));
  free(qdd);
  sn_state_free(&s);
  sn_sim_free(&sim);
  return out;
}

static void same_accelerations(const random_tree *t, const sn_model *a, const sn_model *b,
                               uint64_t seed, const char *what) {
  double scale;
  double *x = accelerations_by_name(t, a, seed, &scale);
  double *y = accelerations_by_name(t, b, seed, &scale);
  const double e = largest_difference(x, y, SN_NV_MAX * t->n) / scale;
  CHECK(e < 1e-10, "seed %u: %s changes accelerations by %g", (unsigned)seed, what, e);
  free(x);
  free(y);
}

TEST(a_turned_and_moved_scene_moves_the_same) {
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    random_tree *t = calloc(1, sizeof *t);
    random_tree_make(t, seed, 3 + (int)seed, TREE_ALL);
    sn_model *a = random_tree_build(t);
    uint64_t random = seed + 50;
    const sn_se3 X = random_pose(&random, 3, 2);
    for (int i = 0; i < t->n; i++) {
      if (t->parent[i] < 0) {
        t->body[i].joint.at = sn_se3_mul(X, t->body[i].joint.at);
      }
    }
    t->gravity = sn_mat3_mul_vec(X.R, t->gravity);
    t->force[0].a.at = sn_se3_mul(X, t->force[0].a.at);
    const sn_vec3 torque = {t->force[2].vector[0].value, t->force[2].vector[1].value,
                            t->force[2].vector[2].value};
    for (int k = 0; k < 3; k++) {
      t->force[2].vector[k] = sn_constant(sn_vec3_get(sn_mat3_mul_vec(X.R, torque), k));
    }
    sn_model *b = random_tree_build(t);
    same_accelerations(t, a, b, seed, "a rigid motion of the whole");
    sn_model_free(&a);
    sn_model_free(&b);
    free(t);
  }
}

TEST(the_order_of_the_bodies_does_not_matter) {
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    random_tree *t = calloc(1, sizeof *t);
    random_tree_make(t, seed, 3 + (int)seed, TREE_ALL);
    sn_model *a = random_tree_build(t);
    int order[TREE_BODIES_MAX];
    uint64_t random = seed;
    for (int i = 0; i < t->n; i++) {
      const int k = random_below(&random, i + 1);
      order[i] = order[k];
      order[k] = i;
    }
    sn_model *b = random_tree_build_in_order(t, order);
    for (int i = 0; i < t->n; i++) {
      const int body = sn_model_body_find(b, t->name[i]);
      CHECK(body >= 0 && sn_model_body_parent(b, body) < body, "seed %u: order of %s", seed,
            t->name[i]);
      CHECK(strcmp(sn_model_body_name(b, sn_model_body_parent(b, body)), t->body[i].parent) == 0,
            "seed %u: parent of %s", seed, t->name[i]);
    }
    same_accelerations(t, a, b, seed, "another order");
    sn_model_free(&a);
    sn_model_free(&b);
    free(t);
  }
}

/* The frame of body i becomes b' = b X.  Its joint is then at Xp^-1 at X with Q' = X^-1 Q X, which
 * is the same kind of motion with the same coordinates if X keeps the axis: a turn, and a shift
 * along the axis (any shift where the joint does not turn). */
static sn_se3 new_frame(const sn_joint_def *j, uint64_t *random) {
  const sn_vec3 turn = random_vec3(random, 2), shift = random_vec3(random, 0.5);
  if (strcmp(j->type, "revolute") == 0 || strcmp(j->type, "cylindrical") == 0 ||
      strcmp(j->type, "screw") == 0) {
    return sn_pose_rotvec(sn_vec3_scale(j->axis, shift.x), turn);
  }
  if (strcmp(j->type, "prismatic") == 0 || strcmp(j->type, "fixed") == 0) {
    return sn_pose_rotvec(shift, turn);
  }
  return strncmp(j->type, "translation", 11) == 0 ? sn_pose(shift.x, shift.y, shift.z)
                                                  : sn_se3_identity();
}

TEST(frames_on_the_bodies_do_not_matter) {
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    random_tree *t = calloc(1, sizeof *t);
    random_tree_make(t, seed, 3 + (int)seed, TREE_ARMATURE | TREE_DRAG | TREE_MASSLESS);
    sn_model *a = random_tree_build(t);
    uint64_t random = seed + 99;
    sn_se3 X[TREE_BODIES_MAX];
    for (int i = 0; i < t->n; i++) {
      sn_joint_def *j = &t->body[i].joint;
      X[i] = new_frame(j, &random);
      const sn_se3 back = t->parent[i] < 0 ? sn_se3_identity() : sn_se3_inverse(X[t->parent[i]]);
      j->at = sn_se3_mul(back, sn_se3_mul(j->at, X[i]));
      j->axis = sn_mat3_tmul_vec(X[i].R, j->axis);
      t->body[i].inertia = sn_inertia_transform(sn_se3_inverse(X[i]), t->body[i].inertia);
    }
    sn_model *b = random_tree_build(t);
    same_accelerations(t, a, b, seed, "other frames on the bodies");
    sn_model_free(&a);
    sn_model_free(&b);
    free(t);
  }
}

/* ---- size ---- */

static sn_model *chain(int n) {
  sn_builder *b = sn_builder_create();
  char name[16], parent[16] = "world";
  for (int i = 0; i < n; i++) {
    snprintf(name, sizeof name, "link%d", i);
    sn_body_def def = sn_body_def_default();
    def.name = name;
    def.parent = parent;
    def.joint.type = "revolute";
    def.joint.axis = i % 2 ? (sn_vec3){0, 1, 0} : (sn_vec3){1, 0, 0};
    def.joint.at = sn_pose(0, 0, i ? -0.1 : 0);
    def.has_inertia = true;
    def.inertia =
        (sn_inertia){.mass = 0.1, .com = {0, 0, -0.05}, .xx = 1e-4, .yy = 1e-4, .zz = 1e-5};
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
    memcpy(parent, name, sizeof name);
  }
  return test_finish(b);
}

static size_t sim_bytes(int n) {
  sn_model *m = chain(n);
  const size_t bytes = sni_dynamics_size(m) + sni_method_find("recursive")->work_size(m, NULL);
  sn_state *s = test_state(m);
  const size_t both = bytes + s->size;
  sn_state_free(&s);
  sn_model_free(&m);
  return both;
}

TEST(memory_is_linear) {
  const size_t one = sim_bytes(1000), two = sim_bytes(2000), four = sim_bytes(4000);
  print_message("  %.0f bytes of work and state a link\n", (double)(four - two) / 2000);
  CHECK(four - two <= 2 * (two - one) + 4096, "%zu, %zu, %zu bytes", one, two, four);
  CHECK((double)(four - two) / 2000 < 2000, "%zu bytes for 2000 links", four - two);
}

/* 100,000 links: accelerations, checked by the way back, and one step of the integrator. */
TEST(a_very_long_chain) {
  const int n = 100000;
  const clock_t start = clock();
  sn_model *m = chain(n);
  const clock_t built = clock();
  sn_options options = sn_options_default();
  options.recursive.integrator = SN_RK4;
  options.step = 5e-6; /* the topmost links swing at 3000 rad/s */
  sn_sim *sim = test_sim(m, &options);
  sn_state *s = test_state(m);
  uint64_t seed = 5;
  for (int k = 0; k < n; k++) {
    sn_state_q(s)[k] = test_random(&seed, -0.1, 0.1);
    sn_state_qd(s)[k] = test_random(&seed, -0.1, 0.1);
  }
  double *qdd = calloc((size_t)n, sizeof *qdd), *tau = calloc((size_t)n, sizeof *tau);
  sn_vec6 *F = calloc((size_t)n, sizeof *F);
  sn_error err;
  CHECK(sn_sim_forward(sim, s, NULL, qdd, &err) == SN_OK, "%s", err.text);
  CHECK(sn_sim_inverse(sim, s, NULL, qdd, tau, F, &err) == SN_OK, "%s", err.text);
  /* a link near the root carries the whole chain at a lever of 0.1: scale of the torques */
  double scale = 0;
  for (int i = 0; i < n; i++) {
    scale = fmax(scale, sqrt(sn_vec6_dot(F[i], F[i])));
  }
  CHECK(largest(tau, n) < 1e-10 * scale, "joints lack %g of %g", largest(tau, n), scale);
  sn_energy before, after;
  sn_sim_energy(sim, s, &before);
  CHECK(sn_sim_step(sim, s, NULL, NULL, &err) == SN_OK, "%s", err.text);
  sn_sim_energy(sim, s, &after);
  const double drift = after.kinetic + after.potential - before.kinetic - before.potential;
  CHECK(fabs(drift) < 1e-9 * fabs(before.potential), "energy changed by %g of %g", drift,
        before.potential);
  print_message("  built in %.2f s, dynamics and a step in %.2f s, lack %.1e of %.3g\n",
                (double)(built - start) / CLOCKS_PER_SEC,
                (double)(clock() - built) / CLOCKS_PER_SEC, largest(tau, n), scale);
  free(qdd);
  free(tau);
  free(F);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(inverse_and_forward_undo_each_other), T(mass_matrix_is_what_inverse_says),
            T(hybrid_mixes_forward_and_inverse), T(jacobians_are_dual_and_their_rate_is_their_rate),
            T(twists_and_point_jacobians_are_rates_of_poses), T(every_body_obeys_newton_and_euler),
            T(reactions_carry_the_joint_forces), T(dense_equations_of_motion_agree),
            T(energy_changes_by_the_power_that_is_given),
            T(a_turned_and_moved_scene_moves_the_same), T(the_order_of_the_bodies_does_not_matter),
            T(frames_on_the_bodies_do_not_matter), T(memory_is_linear), T(a_very_long_chain));
}
