/* defaults.c: the default of every definition, in one place. */
#include "math/se3.h"
#include "sinew/sinew.h"

sn_per_dof sn_per_dof_all(double value) {
  return (sn_per_dof){.n = 1, .v = {value}};
}

sn_function_def sn_constant(double value) {
  return (sn_function_def){.value = value};
}

sn_se3 sn_pose(double x, double y, double z) {
  sn_se3 E = sn_se3_identity();
  E.p = (sn_vec3){x, y, z};
  return E;
}

sn_se3 sn_pose_rotvec(sn_vec3 position, sn_vec3 rotation_vector) {
  return (sn_se3){sn_so3_exp(rotation_vector), position};
}

sn_se3 sn_pose_quat(sn_vec3 position, sn_quat quaternion) {
  return (sn_se3){sn_mat3_from_quat(quaternion), position};
}

sn_joint_def sn_joint_def_default(void) {
  return (sn_joint_def){.type = "fixed",
                        .at = sn_se3_identity(),
                        .friction = {.law = "coulomb", .mu = -1},
                        .cone = {.swing = SN_PI, .axis = {0, 0, 1}}};
}

sn_shape_def sn_shape_def_default(void) {
  return (sn_shape_def){
      .at = sn_se3_identity(), .scale = 1, .extent = 10, .density = -1, .color = {-1, -1, -1}};
}

sn_body_def sn_body_def_default(void) {
  return (sn_body_def){.joint = sn_joint_def_default()};
}

sn_force_def sn_force_def_default(void) {
  return (sn_force_def){.active = {.value = 1},
                        .implicit = true,
                        .a = {.at = sn_se3_identity()},
                        .b = {.at = sn_se3_identity()},
                        .rest_length = -1,
                        .tension_only = true,
                        .hand_damping = -1};
}

sn_motion_def sn_motion_def_default(void) {
  return (sn_motion_def){.active = {.value = 1}, .weight = 1};
}

sn_loop_def sn_loop_def_default(void) {
  return (sn_loop_def){.active = {.value = 1},
                       .weight = 1,
                       .joint = sn_joint_def_default(),
                       .a = {.at = sn_se3_identity()},
                       .b = {.at = sn_se3_identity()}};
}

sn_constraint_def sn_constraint_def_default(void) {
  return (sn_constraint_def){.active = {.value = 1},
                             .weight = 1,
                             .a = {.at = sn_se3_identity()},
                             .b = {.at = sn_se3_identity()},
                             .length = -1,
                             .on = {.at = sn_se3_identity()}};
}

sn_contact_def sn_contact_def_default(void) {
  return (sn_contact_def){.friction = 0.5, .apart = 1};
}

sn_tube_def sn_tube_def_default(void) {
  return (sn_tube_def){.apart = 8};
}

sn_initial_def sn_initial_def_default(void) {
  return (sn_initial_def){.pose = sn_se3_identity()};
}

sn_options sn_options_default(void) {
  return (sn_options){
      .method = "recursive",
      .step = 0.01,
      .recursive = {.integrator = SN_DOPRI5,
                    .rel_tol = 1e-8,
                    .abs_tol = 1e-10,
                    .max_steps = 1000000},
      .redmax = {.tolerance = 1e-10,
                 .max_iterations = 1000,
                 .gain = 5,
                 .friction = {.tolerance = 1e-6, .max_iterations = 100},
                 .contact = {.sides = 8, .tolerance = 1e-6, .max_iterations = 20}},
      .structured = {
          .precision = 1e-6, .iterations = 1000, .warm_start = true, .regularization = 1e-9}};
}

sn_run_def sn_run_def_default(void) {
  return (sn_run_def){.options = sn_options_default(), .duration = 10};
}
