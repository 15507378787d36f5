/* windows.h: a mechanism of many loops whose motion is known: all rods turn as one pendulum. */
#ifndef SINEW_TEST_WINDOWS_H
#define SINEW_TEST_WINDOWS_H

#include "redmax.h"

/* N windows of rods of mass 1 and length 1 in the plane x, z: N + 1 upright ones on the ground, N
 * across their tips.  Closed by hinges in space: most of their rows are redundant. */
static inline sn_model *windows(int n) {
  sn_builder *b = sn_builder_create();
  CHECK(b != NULL, "out of memory");
  for (int k = 0; k <= n; k++) {
    char up[32], across[32], next[32];
    snprintf(up, sizeof up, "v%d", k);
    snprintf(across, sizeof across, "h%d", k);
    snprintf(next, sizeof next, "v%d", k + 1);
    sn_body_def v = sn_body_def_default(), h = sn_body_def_default();
    v.name = up;
    v.joint.type = h.joint.type = "revolute";
    v.joint.axis = h.joint.axis = (sn_vec3){0, 1, 0};
    v.joint.at = sn_pose(k, 0, 0);
    v.has_inertia = h.has_inertia = true;
    v.inertia = (sn_inertia){.mass = 1, .com = {0, 0, 0.5}, .xx = 1.0 / 12, .yy = 1.0 / 12};
    h.name = across;
    h.parent = up;
    h.joint.at = sn_pose(0, 0, 1);
    h.inertia = (sn_inertia){.mass = 1, .com = {0.5, 0, 0}, .yy = 1.0 / 12, .zz = 1.0 / 12};
    CHECK(sn_builder_add_body(b, &v) == SN_OK, "out of memory");
    sn_initial_def start = sn_initial_def_default();
    start.body = up;
    start.qd = (sn_per_dof){1, {1}};
    CHECK(sn_builder_set_initial(b, &start) == SN_OK, "out of memory");
    if (k == n) {
      continue;
    }
    CHECK(sn_builder_add_body(b, &h) == SN_OK, "out of memory");
    start.body = across;
    start.qd = (sn_per_dof){1, {-1}};
    CHECK(sn_builder_set_initial(b, &start) == SN_OK, "out of memory");
    sn_loop_def loop = sn_loop_def_default();
    loop.name = across;
    loop.joint.type = "revolute";
    loop.joint.axis = (sn_vec3){0, 1, 0};
    loop.a = (sn_point_def){across, sn_pose(1, 0, 0)};
    loop.b = (sn_point_def){next, sn_pose(0, 0, 1)};
    CHECK(sn_builder_add_loop(b, &loop) == SN_OK, "out of memory");
  }
  return test_finish(b);
}

/* The largest gap of all loops. */
static inline double windows_gap(sn_sim *sim, const sn_state *s) {
  int worst;
  const double t = *sn_state_time((sn_state *)s);
  sni_dynamics_kinematics(&sim->d, sn_state_q((sn_state *)s), sn_state_qd((sn_state *)s));
  sni_rows_eval(&sim->rows, t, t, sn_state_q((sn_state *)s), sn_state_qd((sn_state *)s));
  return sni_rows_gap(&sim->rows, &worst);
}

#endif
