/* Springs, dampers and drives in joints: forces, energies, limits, matrices. */
#include "joint_samples.h"

typedef struct servo {
  double q_to[SN_NV_MAX], qd_to[SN_NV_MAX], stiffness[SN_NV_MAX], damping[SN_NV_MAX];
  double max_force[SN_NV_MAX];
  bool limited;
} servo;

/* Energy, and the joint forces into tau. */
static double act(const sample *s, const servo *v, const double *q, const double *qd, double *tau) {
  const sni_spring spring = {.q = q,
                             .qd = qd,
                             .q_to = v->q_to,
                             .qd_to = v->qd_to,
                             .stiffness = v->stiffness,
                             .damping = v->damping,
                             .max_force = v->limited ? v->max_force : NULL};
  memset(tau, 0, SN_NV_MAX * sizeof *tau);
  return sni_joint_spring(set_of(s), 0, &spring, tau);
}

/* A spring with a stiffness of its own for each coordinate. */
static servo random_spring(uint64_t *seed, double reach) {
  servo v = {.limited = false};
  fill_random(seed, SN_NV_MAX, -reach, reach, v.q_to);
  fill_random(seed, SN_NV_MAX, 0.5, 2, v.stiffness);
  return v;
}

/* tau = -dV/dq for every kind.  Rotations are less than half a turn from rest here: 0.8 sqrt(3)
 * and 0.9 sqrt(3).  Differences with h = 1e-3 and one Richardson step leave 1e-12 and eps/h. */
TEST(spring_forces_are_the_gradient_of_their_energy) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    for (unsigned n = 0; n < 300; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      const servo v = random_spring(&seed, 0.8);
      double q[SN_NV_MAX], tau[SN_NV_MAX], unused[SN_NV_MAX];
      const double qd[SN_NV_MAX] = {0};
      fill_random(&seed, SN_NV_MAX, -0.9, 0.9, q);
      const double energy = act(&s, &v, q, qd, tau);
      CHECK(energy >= 0 && (energy > 0 || s.list[0].nv == 0), "%s: %g", m.def.type, energy);
      for (int c = 0; c < s.list[0].nv; c++) {
        double D[2];
        for (int level = 0; level < 2; level++) {
          const double h = level == 0 ? 1e-3 : 0.5e-3, at = q[c];
          q[c] = at + h;
          const double after = act(&s, &v, q, qd, unused);
          q[c] = at - h;
          D[level] = (after - act(&s, &v, q, qd, unused)) / (2 * h);
          q[c] = at;
        }
        const double err = fabs(tau[c] + (4 * D[1] - D[0]) / 3);
        CHECK(err < tol(1e-11), "%s, seed %u, coordinate %d: off by %.2g", m.def.type, n, c, err);
      }
      drop(&s);
    }
  }
}

/* The torque on the body that a joint force of a spherical joint stands for: S^T torque = tau. */
static sn_vec3 body_torque(const double *q, const double *tau) {
  const sn_mat3 inverse = sn_so3_jacobian_inverse((sn_vec3){q[0], q[1], q[2]});
  return sn_mat3_tmul_vec(inverse, (sn_vec3){tau[0], tau[1], tau[2]});
}

/* A spring and damper feel the rotation and its rate, not the coordinates: nothing jumps when these
 * are replaced, wherever the target's own coordinates are. */
TEST(springs_do_not_feel_the_coordinates_wrap) {
  const sn_joint_def def = part("spherical", 0, 0, 0);
  sample s;
  build_one(&def, &s);
  for (unsigned n = 0; n < 2000; n++) {
    uint64_t seed = n;
    servo v = random_spring(&seed, 3);
    fill_random(&seed, 3, 0.1, 1, v.damping);
    fill_random(&seed, 3, -1, 1, v.qd_to);
    v.limited = n % 2;
    fill_random(&seed, 3, 0.5, 5, v.max_force);
    double q[3], qd[3], tau[SN_NV_MAX];
    do {
      fill_random(&seed, 3, -3.6, 3.6, q); /* up to 6.2: beyond 1.5 pi, short of 2 pi */
    } while (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] > 2.26 * SN_PI * SN_PI));
    fill_random(&seed, 3, -1, 1, qd);
    const sn_mat3 relative = sn_mat3_tmul(sn_so3_exp((sn_vec3){q[0], q[1], q[2]}),
                                          sn_so3_exp((sn_vec3){v.q_to[0], v.q_to[1], v.q_to[2]}));
    if (sn_vec3_norm(sn_so3_log(relative)) > 3.1) {
      continue; /* at half a turn from the target the spring itself changes sides */
    }
    const double energy = act(&s, &v, q, qd, tau);
    const sn_vec3 torque = body_torque(q, tau);
    CHECK(ops_of(&s)->reparam(set_of(&s), 0, q, qd), "seed %u: not replaced", n);
    const double energy1 = act(&s, &v, q, qd, tau);
    /* the condition of S is up to 50 before */
    const double err = sn_vec3_norm(sn_vec3_sub(torque, body_torque(q, tau)));
    CHECK(fabs(energy - energy1) < tol(1e-13), "seed %u: energy by %.2g", n, energy - energy1);
    CHECK(err < tol(1e-12), "seed %u: torque by %.2g", n, err);
    sni_joint_reparam_rotation(v.q_to, v.qd_to);
    act(&s, &v, q, qd, tau);
    const double again = sn_vec3_norm(sn_vec3_sub(torque, body_torque(q, tau)));
    CHECK(again < tol(1e-12), "seed %u: torque by %.2g with the target replaced", n, again);
  }
  drop(&s);
}

/* Without a spring, a damper never gives energy; with the target's rate it gives nothing. */
TEST(dampers_take_energy) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    for (unsigned n = 0; n < 300; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      servo v = {.limited = n % 2};
      fill_random(&seed, SN_NV_MAX, 0.1, 2, v.damping);
      fill_random(&seed, SN_NV_MAX, 0.01, 0.1, v.max_force);
      double q[SN_NV_MAX], qd[SN_NV_MAX], tau[SN_NV_MAX], power = 0;
      fill_random(&seed, SN_NV_MAX, -2.5, 2.5, q);
      fill_random(&seed, SN_NV_MAX, -1, 1, qd);
      const double energy = act(&s, &v, q, qd, tau);
      for (int c = 0; c < s.list[0].nv; c++) {
        power += tau[c] * qd[c];
      }
      CHECK(energy == 0, "%s, seed %u: energy %g", m.def.type, n, energy);
      CHECK(power < 0 || s.list[0].nv == 0, "%s, seed %u: power %g", m.def.type, n, power);

      memcpy(v.q_to, q, sizeof q);
      memcpy(v.qd_to, qd, sizeof qd);
      fill_random(&seed, SN_NV_MAX, 0.1, 2, v.stiffness);
      act(&s, &v, q, qd, tau);
      for (int c = 0; c < s.list[0].nv; c++) {
        CHECK(fabs(tau[c]) < tol(1e-14), "%s, seed %u: %g on target", m.def.type, n, tau[c]);
      }
      drop(&s);
    }
  }
}

/* A body that turns as its target turns feels no damper, however far apart they are: rates are
 * compared as angular velocities in space. */
TEST(dampers_compare_angular_velocities) {
  const sn_joint_def def = part("spherical", 0, 0, 0);
  sample s;
  build_one(&def, &s);
  for (unsigned n = 0; n < 500; n++) {
    uint64_t seed = n;
    servo v = {.limited = false};
    fill_random(&seed, 3, -2, 2, v.q_to);
    fill_random(&seed, 3, -1, 1, v.qd_to);
    fill_random(&seed, 3, 0.1, 2, v.damping);
    const sn_vec3 r = random_vec3(&seed, -2, 2), r_to = {v.q_to[0], v.q_to[1], v.q_to[2]};
    const sn_vec3 rd_to = {v.qd_to[0], v.qd_to[1], v.qd_to[2]};
    const sn_vec3 omega = /* of the target, in space */
        sn_mat3_mul_vec(sn_so3_exp(r_to), sn_mat3_mul_vec(sn_so3_jacobian(r_to), rd_to));
    const sn_vec3 rd =
        sn_mat3_mul_vec(sn_so3_jacobian_inverse(r), sn_mat3_tmul_vec(sn_so3_exp(r), omega));
    const double q[3] = {r.x, r.y, r.z}, qd[3] = {rd.x, rd.y, rd.z};
    double tau[SN_NV_MAX];
    act(&s, &v, q, qd, tau);
    const double most = fmax(fabs(tau[0]), fmax(fabs(tau[1]), fabs(tau[2])));
    CHECK(most < tol(1e-14), "seed %u: %.2g", n, most);
  }
  drop(&s);
}

/* Half the force, or the whole in the same direction. */
TEST(forces_keep_to_their_limit) {
  uint64_t seed = 11;
  const sn_joint_def ball = part("spherical", 0, 0, 0), sleeve = part("cylindrical", 0, 0, 1);
  sample a, b;
  build_one(&ball, &a);
  build_one(&sleeve, &b);
  for (int n = 0; n < 1000; n++) {
    servo v = random_spring(&seed, 1);
    fill_random(&seed, SN_NV_MAX, 0.1, 1, v.damping);
    double q[SN_NV_MAX], qd[SN_NV_MAX], tau[SN_NV_MAX], full[SN_NV_MAX];
    fill_random(&seed, SN_NV_MAX, -0.7, 0.7, q);
    fill_random(&seed, SN_NV_MAX, -1, 1, qd);
    for (int i = 0; i < SN_NV_MAX; i++) {
      v.max_force[i] = n % 3 == 0 ? INFINITY : 0.5;
    }
    /* a rotation: the length of the torque */
    const double energy = act(&a, &v, q, qd, full);
    v.limited = true;
    CHECK(act(&a, &v, q, qd, tau) == energy, "the energy changed");
    const sn_vec3 most = body_torque(q, full), got = body_torque(q, tau);
    const double scale = fmin(1, v.max_force[0] / sn_vec3_norm(most));
    const double err = sn_vec3_norm(sn_vec3_addscaled(got, -scale, most));
    CHECK(err < tol(1e-14), "sample %d: torque off by %.2g", n, err);
    /* plain coordinates: each of them */
    v.limited = false;
    act(&b, &v, q, qd, full);
    v.limited = true;
    act(&b, &v, q, qd, tau);
    for (int c = 0; c < 2; c++) {
      const double want = copysign(fmin(fabs(full[c]), v.max_force[c]), full[c]);
      CHECK(tau[c] == want, "sample %d: %g instead of %g", n, tau[c], want);
    }
  }
  drop(&a);
  drop(&b);
}

/* tau is added to. */
TEST(springs_add_to_what_is_there) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    uint64_t seed = 12;
    storage m;
    sample s;
    random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
    build_one(&m.def, &s);
    const servo v = random_spring(&seed, 1);
    const double q[SN_NV_MAX] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, qd[SN_NV_MAX] = {0};
    double alone[SN_NV_MAX], tau[SN_NV_MAX];
    act(&s, &v, q, qd, alone);
    for (int c = 0; c < SN_NV_MAX; c++) {
      tau[c] = 100;
    }
    const sni_spring spring = {q, qd, v.q_to, v.qd_to, v.stiffness, v.damping, NULL};
    sni_joint_spring(set_of(&s), 0, &spring, tau);
    for (int c = 0; c < SN_NV_MAX; c++) {
      const double want = 100 + (c < s.list[0].nv ? alone[c] : 0);
      CHECK(fabs(tau[c] - want) < tol(1e-13), "%s, %d: %g", m.def.type, c, tau[c] - want);
    }
    drop(&s);
  }
}

/* The matrix of spring and damper is h times -dtau/dqd and h^2 times -dtau/dq, less what could make
 * it indefinite.  tau is linear in qd.  With one stiffness 1, V = theta^2 / 2 and tau = -theta
 * dtheta/dq, so that dtheta/dq dtheta/dq^T, which is what stays, is tau tau^T / 2V. */
TEST(spring_matrices_are_derivatives_of_the_forces) {
  const double h = 0.1, zero[SN_NV_MAX] = {0};
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    for (unsigned n = 0; n < 200; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      const int nv = s.list[0].nv, ld = SN_NV_MAX + 2;
      const servo all = random_spring(&seed, 0.8);
      double q[SN_NV_MAX], damping[SN_NV_MAX];
      double got[SN_NV_MAX * (SN_NV_MAX + 2)], want[SN_NV_MAX * (SN_NV_MAX + 2)];
      fill_random(&seed, SN_NV_MAX, -0.9, 0.9, q);
      fill_random(&seed, SN_NV_MAX, 0.1, 1, damping);
      for (int i = 0; i < SNI_COUNT(got); i++) {
        got[i] = want[i] = 10; /* it is added to, and nothing outside is written */
      }
      const sni_spring spring = {q, zero, all.q_to, zero, all.stiffness, damping, NULL};
      sni_joint_spring_matrix(set_of(&s), 0, &spring, h, got, ld);
      for (int c = 0; c < nv; c++) {
        servo one = all;
        double tau[SN_NV_MAX], rate[SN_NV_MAX], qd[SN_NV_MAX] = {0};
        memset(one.stiffness, 0, sizeof one.stiffness);
        one.stiffness[c] = 1;
        const double energy = act(&s, &one, q, zero, tau);
        servo damper = {.limited = false};
        memcpy(damper.damping, damping, sizeof damping);
        qd[c] = 1;
        act(&s, &damper, q, qd, rate);
        for (int i = 0; i < nv; i++) {
          want[i * ld + c] -= h * rate[i];
          for (int j = 0; j < nv; j++) {
            want[i * ld + j] += h * h * all.stiffness[c] * tau[i] * tau[j] / (2 * energy);
          }
        }
      }
      for (int i = 0; i < SNI_COUNT(got); i++) {
        const double err = fabs(got[i] - want[i]);
        CHECK(err < tol(1e-13), "%s, seed %u, entry %d %d: off by %.2g", m.def.type, n, i / ld,
              i % ld, err);
      }
      drop(&s);
    }
  }
}

int main(void) {
  RUN_TESTS(T(spring_forces_are_the_gradient_of_their_energy),
            T(springs_do_not_feel_the_coordinates_wrap), T(dampers_take_energy),
            T(dampers_compare_angular_velocities), T(forces_keep_to_their_limit),
            T(springs_add_to_what_is_there), T(spring_matrices_are_derivatives_of_the_forces));
}
