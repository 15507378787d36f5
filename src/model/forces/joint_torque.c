/* forces/joint_torque.c: a force in a joint along its coordinates, as functions of time. */
#include "model/force.h"

#include <stdio.h>

static void joint_torque_finish(sni_part_builder *b, const sn_force_def *def, sni_force *force,
                                double *param) {
  (void)param;
  force->body[0] = b->body(b, "joint", def->joint);
  force->body[1] = -1;
  if (force->body[0] < 0) {
    if (force->body[0] == -1) {
      b->fail(b, "joint", "is the world, which has none: needs the name of a body");
    }
    return;
  }
  force->nv = b->joint_dofs(b, force->body[0], &force->vadr);
  if (force->nv < 0) {
    return;
  }
  if (def->ntorque != 1 && def->ntorque != force->nv) {
    b->fail(b, "torque", "has %d functions, the joint has %d coordinates", def->ntorque, force->nv);
    return;
  }
  if (force->nv == 0) {
    b->fail(b, "joint", "has no coordinates: a torque there does nothing");
    return;
  }
  force->nfunction = force->nv;
  for (int k = 0; k < force->nv; k++) {
    char key[32];
    snprintf(key, sizeof key, def->ntorque > 1 ? "torque[%d]" : "torque", k);
    force->function[k] =
        def->ntorque == 1 && k > 0 ? force->function[0] : b->function(b, key, &def->torque[k]);
  }
}

static void joint_torque_apply(const sni_force_eval *e, const sni_force *f, const double *param) {
  (void)param;
  for (int k = 0; k < f->nv; k++) {
    e->tau[f->vadr + k] += sni_force_value(e, f->function[k]);
  }
}

static const sni_field joint_torque_field[] = {
    {.key = "joint",
     .type = SNI_F_NAME,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_force_def, joint),
     .doc = "the joint (a joint bears its body's name)"},
    {.key = "torque",
     .type = SNI_F_FUNCTIONS,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_force_def, torque),
     .offset2 = offsetof(sn_force_def, ntorque),
     .unit = "N m, N",
     .doc = "a time function, or one for each coordinate"}};

const sni_force_ops sni_force_joint_torque = {
    .kind = {"joint_torque", "a force in a joint, along its coordinates", joint_torque_field,
             SNI_COUNT(joint_torque_field)},
    .finish = joint_torque_finish,
    .apply = joint_torque_apply};
