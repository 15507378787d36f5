/* force.c: the table of force kinds, and what they share. */
#include "model/force.h"

#include <stdio.h>
#include <string.h>

extern const sni_force_ops sni_force_spring, sni_force_cable, sni_force_string,
    sni_force_point_force, sni_force_body_torque, sni_force_joint_torque, sni_force_grab;

static const sni_force_ops *const table[] = {
    &sni_force_spring,      &sni_force_cable,        &sni_force_string, &sni_force_point_force,
    &sni_force_body_torque, &sni_force_joint_torque, &sni_force_grab};

int sni_force_kind_count(void) {
  return SNI_COUNT(table);
}

const sni_force_ops *sni_force_kind(int kind) {
  return table[kind];
}

int sni_force_kind_find(const char *keyword) {
  for (int k = 0; k < SNI_COUNT(table); k++) {
    if (strcmp(table[k]->kind.keyword, keyword) == 0) {
      return k;
    }
  }
  return -1;
}

void sni_force_pair(const sni_force *force, int k, int body[2]) {
  if (force->npoint == 0) {
    body[0] = force->body[0];
    body[1] = force->body[1];
    return;
  }
  int j = 1;
  while (j * (j + 1) / 2 <= k) {
    j++;
  }
  body[0] = force->member[k - j * (j - 1) / 2];
  body[1] = force->member[j];
}

void sni_force_vector(sni_part_builder *b, const char *key, const sn_function_def *def,
                      sni_force *force) {
  force->nfunction = 3;
  for (int c = 0; c < 3; c++) {
    char path[64];
    snprintf(path, sizeof path, "%s[%d]", key, c);
    force->function[c] = b->function(b, path, &def[c]);
  }
}

static const sni_field common_field[] = {{.key = "active",
                                          .type = SNI_F_FUNCTION,
                                          .offset = offsetof(sn_force_def, active),
                                          .doc = "acts while this is above 0"},
                                         {.key = "implicit",
                                          .type = SNI_F_BOOL,
                                          .offset = offsetof(sn_force_def, implicit),
                                          .doc = "false: explicit in every method"}};

static const sni_kind *force_kind(int k) {
  return k < SNI_COUNT(table) ? &table[k]->kind : NULL;
}

const sni_family *sni_force_family(void) {
  static const sni_family family = {.name = "force",
                                    .common = {.name = "force",
                                               .doc = "something that pushes",
                                               .field = common_field,
                                               .count = SNI_COUNT(common_field)},
                                    .kind = force_kind};
  return &family;
}
