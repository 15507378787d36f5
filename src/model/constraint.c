/* constraint.c: the table of kinds of constraints, and what they share. */
#include "model/constraint.h"

#include <string.h>

extern const sni_constraint_ops sni_constraint_distance, sni_constraint_weld,
    sni_constraint_point_on_point, sni_constraint_couple, sni_constraint_roll,
    sni_constraint_knife_edge, sni_constraint_map, sni_constraint_loop, sni_constraint_twist,
    sni_constraint_path, sni_constraint_rate;

static const sni_constraint_ops *const table[SNI_CONSTRAINT_KINDS] = {
    [SNI_DISTANCE] = &sni_constraint_distance,
    [SNI_WELD] = &sni_constraint_weld,
    [SNI_POINT] = &sni_constraint_point_on_point,
    [SNI_COUPLE] = &sni_constraint_couple,
    [SNI_ROLL] = &sni_constraint_roll,
    [SNI_KNIFE_EDGE] = &sni_constraint_knife_edge,
    [SNI_MAP] = &sni_constraint_map,
    [SNI_LOOP] = &sni_constraint_loop,
    [SNI_TWIST] = &sni_constraint_twist,
    [SNI_PATH] = &sni_constraint_path,
    [SNI_RATE] = &sni_constraint_rate};

const sni_constraint_ops *sni_constraint_kind(int kind) {
  return table[kind];
}

int sni_constraint_kind_find(const char *keyword) {
  for (int k = 0; k < SNI_LOOP; k++) {
    if (strcmp(table[k]->kind.keyword, keyword) == 0) {
      return k;
    }
  }
  return -1;
}

void sni_constraint_sides(sni_part_builder *b, const sn_constraint_def *def, sni_constraint *c) {
  c->body[0] = b->body(b, "a.body", def->a.body);
  c->body[1] = b->body(b, "b.body", def->b.body);
  c->at[0] = def->a.at;
  c->at[1] = def->b.at;
  b->pose(b, "a.at", def->a.at);
  b->pose(b, "b.at", def->b.at);
  if (c->body[0] == c->body[1] && c->body[0] != -2) {
    b->fail(b, "b.body", "is the same body as a: a constraint needs two");
  }
}

void sni_constraint_body(sni_part_builder *b, const char *name, sni_constraint *c) {
  c->body[0] = b->body(b, "body", name);
  if (c->body[0] == -1) {
    b->fail(b, "body", "is the world, which does not move: needs a body");
  }
}

void sni_constraint_direction(sni_part_builder *b, const char *key, sn_vec3 direction,
                              sni_constraint *c) {
  const double length = sn_vec3_norm(direction);
  if (!(length > 0) || !isfinite(length)) {
    b->fail(b, key, "has length %g, needs a finite length > 0", length);
    return;
  }
  c->axis = sn_vec3_scale(direction, 1 / length);
}

static const sni_field common_field[] = {{.key = "active",
                                          .type = SNI_F_FUNCTION,
                                          .offset = offsetof(sn_constraint_def, active),
                                          .doc = "holds while this is above 0"}};

static const sni_kind *constraint_kind(int k) {
  return k < SNI_LOOP ? &table[k]->kind : NULL;
}

const sni_family *sni_constraint_family(void) {
  static const sni_family family = {.name = "constraint",
                                    .common = {.name = "constraint",
                                               .doc = "something that always holds exactly",
                                               .field = common_field,
                                               .count = SNI_COUNT(common_field)},
                                    .kind = constraint_kind};
  return &family;
}
