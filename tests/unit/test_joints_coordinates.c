/* Coordinates of joints: other ones of the same pose, and those of a given pose. */
#include "joint_samples.h"

/* Pose and twist stay when coordinates are replaced, and only too long rotation vectors are. */
TEST(reparam_keeps_pose_and_twist) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const sni_joint_ops *ops = sni_joint_kind(kind);
    int replaced = 0;
    for (unsigned n = 0; ops->reparam && n < 500; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(ops->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      double q[SN_NV_MAX], qd[SN_NV_MAX], q1[SN_NV_MAX], qd1[SN_NV_MAX];
      fill_random(&seed, SN_NV_MAX, -5, 5, q);
      fill_random(&seed, SN_NV_MAX, -1, 1, qd);
      memcpy(q1, q, sizeof q);
      memcpy(qd1, qd, sizeof qd);
      const bool changed = ops->reparam(set_of(&s), 0, q1, qd1);
      const size_t size = (size_t)s.list[0].nv * sizeof *q;
      CHECK(changed == !same_bits(q, q1, size), "%s, seed %u", ops->kind.keyword, n);
      CHECK(changed || same_bits(qd, qd1, size), "%s, seed %u", ops->kind.keyword, n);
      replaced += changed;
      const kin a = calc(&s, 0, q, qd), b = calc(&s, 0, q1, qd1);
      sn_vec6 phi_a = {0}, phi_b = {0};
      for (int c = 0; c < s.list[0].nv; c++) {
        phi_a = sn_vec6_addscaled(phi_a, qd[c], a.S[c]);
        phi_b = sn_vec6_addscaled(phi_b, qd1[c], b.S[c]);
      }
      /* angles and levers up to 9 */
      const double pose = pose_distance(a.E, b.E), twist = norm6(sn_vec6_sub(phi_a, phi_b));
      CHECK(pose < tol(1e-13), "%s, seed %u: pose off by %.2g", ops->kind.keyword, n, pose);
      CHECK(twist < tol(1e-13), "%s, seed %u: twist off by %.2g", ops->kind.keyword, n, twist);
      drop(&s);
    }
    CHECK(!ops->reparam || replaced > 20, "%s: only %d", ops->kind.keyword, replaced);
  }
}

/* |q| > 1.5 pi and no earlier; it lands at half the length, far from either end. */
TEST(reparam_does_not_chatter) {
  sn_joint_def def = part("spherical", 0, 0, 0);
  sample s;
  build_one(&def, &s);
  double q[3] = {0, 1.5 * SN_PI, 0}, qd[3] = {0.3, 1, 0.2};
  CHECK(!ops_of(&s)->reparam(set_of(&s), 0, q, qd), "at 1.5 pi");
  q[1] = nextafter(q[1], 9);
  CHECK(ops_of(&s)->reparam(set_of(&s), 0, q, qd), "just above 1.5 pi");
  CHECK(fabs(q[1] + SN_PI / 2) < tol(1e-14), "landed at %g", q[1]);
  CHECK(!ops_of(&s)->reparam(set_of(&s), 0, q, qd), "twice");
  drop(&s);
}

TEST(from_pose_gives_the_pose) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const sni_joint_ops *ops = sni_joint_kind(kind);
    for (unsigned n = 0; ops->axis_free && n < 500; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(ops->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      double q[SN_NV_MAX], q1[SN_NV_MAX];
      const double zero[SN_NV_MAX] = {0};
      fill_random(&seed, SN_NV_MAX, -3, 3, q);
      /* seen from the joint's place, without at: that is what from_pose is given */
      m.def.at = sn_se3_identity();
      drop(&s);
      build_one(&m.def, &s);
      const sn_se3 Q = calc(&s, 0, q, zero).E;
      CHECK(ops->from_pose(set_of(&s), 0, Q, q1), "%s, seed %u: refused", ops->kind.keyword, n);
      const double err = pose_distance(calc(&s, 0, q1, zero).E, Q);
      CHECK(err < tol(1e-14), "%s, seed %u: off by %.2g", ops->kind.keyword, n, err); /* of 5 */
      drop(&s);
    }
  }
}

TEST(from_pose_refuses_what_the_joint_cannot_do) {
  const sn_se3 turned = sn_pose_rotvec((sn_vec3){0}, (sn_vec3){0, 0.1, 0});
  const struct {
    const char *type;
    sn_se3 pose;
    bool possible;
  } sample_pose[] = {
      {"spherical", sn_pose(0, 0, 0.1), false},
      {"spherical", turned, true},
      {"translation3", turned, false},
      {"translation3", sn_pose(0, 0, 0.1), true},
      /* a rotation that is none but for rounding */
      {"translation3", sn_se3_mul(turned, sn_pose_rotvec((sn_vec3){0}, (sn_vec3){0, -0.1, 0})),
       true},
      {"translation3", sn_pose_rotvec((sn_vec3){1, 2, 3}, (sn_vec3){0, 2 * SN_PI, 0}), true},
      {"free", turned, true},
      {"free_rt", turned, true}};
  for (int k = 0; k < SNI_COUNT(sample_pose); k++) {
    sn_joint_def def = part(sample_pose[k].type, 0, 0, 1);
    sample s;
    build_one(&def, &s);
    double q[SN_NV_MAX];
    const bool possible = ops_of(&s)->from_pose(set_of(&s), 0, sample_pose[k].pose, q);
    CHECK(possible == sample_pose[k].possible, "%s, sample %d", sample_pose[k].type, k);
    drop(&s);
  }
}

int main(void) {
  RUN_TESTS(T(reparam_keeps_pose_and_twist), T(reparam_does_not_chatter),
            T(from_pose_gives_the_pose), T(from_pose_refuses_what_the_joint_cannot_do));
}
