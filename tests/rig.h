/* rig.h: a tree with springs across its branches, and its linear system. */
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include "redmax.h"

enum { BODIES = 14, SPRINGS = 9 };

typedef struct rig {
  random_tree tree;
  char name[SPRINGS][24];
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  int nv;
  unsigned seed;
} rig;

static inline rig *rig_make(unsigned seed, double stiffness, bool across, unsigned flags) {
  rig *r = calloc(1, sizeof *r);
  uint64_t random = seed;
  r->seed = seed;
  random_tree_make(&r->tree, seed, BODIES, flags);
  for (int i = 0; i < BODIES; i += 3) {
    sn_drive_def *drive = &r->tree.body[i].joint.drive;
    drive->enabled = strcmp(r->tree.body[i].joint.type, "fixed") != 0;
    drive->ntarget = 1;
    drive->target[0] = sn_constant(0.3);
    drive->stiffness = sn_per_dof_all(test_random(&random, 0, 30));
    drive->damping = sn_per_dof_all(test_random(&random, 0, 3));
  }
  sn_builder *b = sn_builder_create();
  CHECK(b && random_tree_add(&r->tree, b, NULL) == SN_OK, "out of memory");
  for (int k = 0; k < SPRINGS; k++) {
    const int to = random_below(&random, BODIES),
              from = (to + 1 + random_below(&random, 12)) % BODIES;
    snprintf(r->name[k], sizeof r->name[k], "spring%d", k);
    const sn_force_def def = spring_def(
        r->name[k], across && k % 3 ? r->tree.name[from] : NULL, random_vec3(&random, 1),
        r->tree.name[to], random_vec3(&random, 0.5), stiffness * test_random(&random, 0.5, 1),
        test_random(&random, 0, 2), k % 4 == 0 ? 0 : test_random(&random, 0.1, 3));
    CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
  }
  r->m = test_finish(b);
  const sn_options o = redmax_options(0.01);
  sn_options pcg = o;
  pcg.redmax.solver = SN_SOLVER_PCG;
  r->sim = test_sim(r->m, &pcg);
  r->s = random_tree_state(r->m, seed + 100);
  r->nv = sn_model_dof_count(r->m);
  return r;
}

static inline void rig_free(rig *r) {
  sn_state_free(&r->s);
  sn_sim_free(&r->sim);
  sn_model_free(&r->m);
  free(r);
}

/* A system of its own, assembled at the rig's state. */
typedef struct held {
  sni_system s;
  void *memory;
} held;

static inline held assemble(rig *r, double h, sni_tangent tangent) {
  held x = {.memory = aligned_alloc(64, (sni_system_size(r->m, &r->sim->options) + 63) / 64 * 64)};
  CHECK(x.memory, "out of memory");
  memset(x.memory, 0, sni_system_size(r->m, &r->sim->options));
  const double *q = sn_state_q(r->s), *qd = sn_state_qd(r->s);
  sni_system_place(&x.s, &r->sim->d, &r->sim->options, x.memory);
  sni_dynamics_kinematics(&r->sim->d, q, qd);
  sni_system_assemble(&x.s, 0, h, q, qd, NULL, tangent);
  return x;
}

#endif
