/* constraint.c: the table of kinds of constraints, and what they share. */
#include "model/constraint.h"

#include <stdio.h>
#include <string.h>

extern const sni_constraint_ops sni_constraint_distance, sni_constraint_weld,
    sni_constraint_point_on_point, sni_constraint_couple, sni_constraint_roll,
    sni_constraint_knife_edge, sni_constraint_map, sni_constraint_loop, sni_constraint_twist,
    sni_constraint_path, sni_constraint_rate, sni_constraint_turn, sni_constraint_half_space,
    sni_constraint_limit, sni_constraint_cone;

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
    [SNI_RATE] = &sni_constraint_rate,
    [SNI_TURN] = &sni_constraint_turn,
    [SNI_HALF_SPACE] = &sni_constraint_half_space,
    [SNI_LIMIT] = &sni_constraint_limit,
    [SNI_CONE] = &sni_constraint_cone};

const sni_constraint_ops *sni_constraint_kind(int kind) {
  return table[kind];
}

int sni_constraint_channels(const sni_constraint *c) {
  switch (c->kind) {
  case SNI_LOOP:
    return 3 * c->nv + 6; /* q, qd, tau; a wrench */
  case SNI_MAP:
    return 0; /* its coordinates have channels */
  case SNI_LIMIT:
    return 2; /* force, and whether it is touched */
  case SNI_CONE:
    return (c->swing < SN_PI) + (isfinite(c->lower) ? 1 : 0);
  default:
    return c->nrow;
  }
}

int sni_constraint_kind_find(const char *keyword) {
  for (int k = 0; k < SNI_LOOP; k++) {
    if (strcmp(table[k]->kind.keyword, keyword) == 0) {
      return k;
    }
  }
  return -1;
}

double sni_constraint_reach(const sni_constraint *c, const sn_se3 *E_wb, int side) {
  const bool lies = c->kind == SNI_HALF_SPACE || c->kind == SNI_ROLL; /* on the other body */
  const bool meets = c->kind == SNI_LOOP || c->kind == SNI_WELD || c->of_loop;
  const int at = lies ? 0 : meets ? 1 : side;
  const sn_vec3 p = c->at[at].p, x = c->body[at] < 0 ? p : sn_se3_point(E_wb[c->body[at]], p);
  const sn_vec3 origin = c->body[side] < 0 ? (sn_vec3){0, 0, 0} : E_wb[c->body[side]].p;
  return sn_vec3_norm(sn_vec3_sub(x, origin)) + (lies ? c->length : 0);
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

void sni_stop_check(sni_part_builder *b, const char *prefix, const sn_stop_def *stop) {
  char key[64];
  snprintf(key, sizeof key, "%s.restitution", prefix);
  if (!(stop->restitution >= 0 && stop->restitution <= 1)) {
    b->fail(b, key, "is %g, needs a number between 0 and 1", stop->restitution);
  }
  snprintf(key, sizeof key, "%s.stiffness", prefix);
  if (!(stop->stiffness >= 0) || !isfinite(stop->stiffness)) {
    b->fail(b, key, "is %g, needs a number >= 0", stop->stiffness);
  }
  snprintf(key, sizeof key, "%s.damping", prefix);
  if (!(stop->damping >= 0) || !isfinite(stop->damping)) {
    b->fail(b, key, "is %g, needs a number >= 0", stop->damping);
  } else if (stop->damping > 0 && stop->stiffness == 0) {
    b->fail(b, key, "is %g, but a hard stop has none: needs stiffness > 0", stop->damping);
  }
  snprintf(key, sizeof key, "%s.restitution", prefix);
  if (stop->stiffness > 0 && stop->restitution > 0) {
    b->fail(b, key,
            "is %g, but a soft stop has none: its spring gives back what its damping leaves",
            stop->restitution);
  }
}

static const sni_field stop_field[] = {{.key = "restitution",
                                        .type = SNI_F_NUMBER,
                                        .flags = SNI_NOT_NEGATIVE,
                                        .offset = offsetof(sn_stop_def, restitution),
                                        .doc = "part of the speed that comes back, 0 to 1"},
                                       {.key = "stiffness",
                                        .type = SNI_F_NUMBER,
                                        .flags = SNI_NOT_NEGATIVE,
                                        .offset = offsetof(sn_stop_def, stiffness),
                                        .unit = "N m/rad, N/m",
                                        .doc = "of a spring beyond the limit; 0: the stop is hard"},
                                       {.key = "damping",
                                        .type = SNI_F_NUMBER,
                                        .flags = SNI_NOT_NEGATIVE,
                                        .offset = offsetof(sn_stop_def, damping),
                                        .unit = "N m s/rad, N s/m",
                                        .doc = "of that spring"}};
const sni_table sni_stop_table = {.name = "stop",
                                  .doc = "what happens at a limit",
                                  .field = stop_field,
                                  .count = SNI_COUNT(stop_field)};

static const sni_field common_field[] = {{.key = "active",
                                          .type = SNI_F_FUNCTION,
                                          .offset = offsetof(sn_constraint_def, active),
                                          .doc = "holds while this is above 0"},
                                         SNI_FIELD_WEIGHT(sn_constraint_def)};

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
