/* ground.h: bodies on flat ground, written down in a test. */
#ifndef TEST_GROUND_H
#define TEST_GROUND_H

#include "stage.h"

#define GRAVITY 9.81

/* A floor at z = 0 and whatever else. */
static inline stage set(const char *material, const char *bodies, const char *more, double h,
                        sn_contact_model model, sn_cone cone) {
  char text[8192];
  snprintf(text, sizeof text,
           "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {%s}}\nbodies:\n"
           "  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n"
           "%s%s\n",
           material, bodies, more);
  sn_options o = redmax_options(h);
  o.redmax.contact.tolerance = 1e-11;
  o.redmax.contact.model = model;
  o.redmax.contact.cone = cone;
  return stage_set(text, o);
}

static inline stage set_exact(const char *material, const char *bodies, const char *more,
                              double h) {
  return set(material, bodies, more, h, SN_CONTACT_STAGGERED, SN_CONE_EXACT);
}

static inline void turn_gravity(stage *b, double x, double y, double z) {
  const double g[3] = {x, y, z};
  for (int k = 0; k < 3; k++) {
    char path[32];
    snprintf(path, sizeof path, "gravity[%d]", k);
    CHECK(sn_sim_set(b->sim, path, g[k], NULL) == SN_OK, "no gravity");
  }
}

static inline double *q_of(const stage *b, const char *body) {
  return sn_state_q(b->s) + sn_model_joint_first(b->m, sn_model_body_find(b->m, body));
}
static inline double *qd_of(const stage *b, const char *body) {
  return sn_state_qd(b->s) + sn_model_joint_first(b->m, sn_model_body_find(b->m, body));
}

/* What the floor bears. */
static inline double load_of(const stage *b) {
  double sum = 0;
  for (int k = 0; k < b->sim->ntouch; k++) {
    sum += b->sim->touch[k].force[2];
  }
  return sum;
}

static const char ball[] =
    "  ball: {parent: world, joint: {type: free, at: [0, 0, 0.1]},\n"
    "         shapes: [{type: sphere, radius: 0.1, density: 1000, contact: m}]}\n";

#endif
