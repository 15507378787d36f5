/* stage.h: a scene written down in a test, ready to be stepped. */
#ifndef TEST_STAGE_H
#define TEST_STAGE_H

#include "redmax.h"
#include "sinew/scene.h"

typedef struct stage {
  sn_model *m;
  sn_sim *sim;
  sn_state *s; /* the start, assembled */
} stage;

/* folder: where the files are that the scene names; NULL: here. */
static inline sn_model *stage_model_in(const char *folder, const char *text) {
  sn_scene *scene = NULL;
  sn_error err = {0};
  sn_scene_options where = sn_scene_options_default();
  where.folder = folder;
  CHECK(sn_scene_load_text(text, strlen(text), "test", &where, &scene, &err) == SN_OK,
        "line %d: %s", err.line, err.text);
  sn_model *m = sn_scene_take_model(scene);
  sn_scene_free(&scene);
  return m;
}

static inline sn_model *stage_model(const char *text) {
  return stage_model_in(NULL, text);
}

static inline stage stage_set_in(const char *folder, const char *text, sn_options o) {
  stage b = {.m = stage_model_in(folder, text)};
  sn_error err = {0};
  b.sim = test_sim(b.m, &o);
  b.s = test_state(b.m);
  CHECK(sn_sim_assemble(b.sim, b.s, &err) >= SN_OK, "%s", err.text);
  return b;
}

static inline stage stage_set(const char *text, sn_options o) {
  return stage_set_in(NULL, text, o);
}

static inline void stage_clear(stage *b) {
  sn_state_free(&b->s);
  sn_sim_free(&b->sim);
  sn_model_free(&b->m);
}

static inline void stage_step(stage *b, int n) {
  for (int k = 0; k < n; k++) {
    test_step(b->sim, b->s, NULL);
  }
}

static inline double stage_energy(const stage *b) {
  sn_energy e;
  sn_sim_energy(b->sim, b->s, &e);
  return e.kinetic + e.potential;
}

static inline double stage_channel(const stage *b, const char *name) {
  const int k = sn_sim_channel_find(b->sim, name);
  double out = 0;
  sn_error err = {0};
  CHECK(k >= 0, "there is no channel %s", name);
  CHECK(sn_sim_channels(b->sim, b->s, NULL, &k, 1, &out, &err) == SN_OK, "%s", err.text);
  return out;
}

/* The method recursive, as exact as it gets. */
static inline sn_options stage_exact(double step) {
  sn_options o = sn_options_default();
  o.step = step;
  o.recursive.rel_tol = 1e-11;
  o.recursive.abs_tol = 1e-12;
  return o;
}

#endif
