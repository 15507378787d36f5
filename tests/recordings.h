/* recordings.h: a mechanism with a bit of everything that a recording holds, and its bytes. */
#ifndef SINEW_RECORDINGS_H
#define SINEW_RECORDINGS_H

#include "sinew/recording.h"
#include "sinew/scene.h"
#include "test.h"

static const char recorded_scene[] =
    "sinew: 1\n"
    "units: mm g s\n"
    "gravity: [0, 0, -9810]\n"
    "bodies:\n"
    "  base:\n"
    "    joint: {type: revolute, at: [0, 0, 1], axis: [0, 2, 0]}\n"
    "    shapes:\n"
    "      - {type: box, size: [1, 2, 3], density: 1, color: [0.25, 0.5, 1]}\n"
    "      - {type: mesh, file: gear.obj, density: 1, scale: 2, at: [0, 0, 0.5]}\n"
    "  arm:\n"
    "    parent: base\n"
    "    joint: {type: screw, at: {pos: [1, 0, 0], rotvec: [0, 0, 0.5]}, axis: [0, 0, 1], pitch: "
    "0.1}\n"
    "    shapes:\n"
    "      - {type: capsule, from: [0, 0, 0], to: [0, 0, 2], radius: 0.2, density: 1}\n"
    "      - {type: cylinder, from: [0, 0, 2], to: [1, 0, 2], radius: 0.3, density: 1}\n"
    "  ball:\n"
    "    parent: arm\n"
    "    joint: {type: spherical, at: [0, 0, 2]}\n"
    "    shapes:\n"
    "      - {type: sphere, radius: 0.4, density: 1}\n"
    "      - {type: ellipsoid, radii: [0.1, 0.2, 0.3], at: [0, 0.5, 0], density: 1}\n"
    "      - {type: mesh, file: gear.obj, density: 1}\n"
    "  last-one:\n"
    "    parent: world\n"
    "    joint: {type: free}\n"
    "    inertia: {mass: 1, xx: 1, yy: 1, zz: 1}\n"
    "forces:\n"
    "  pull: {type: spring, stiffness: 50, rest_length: 0.5, a: {body: world, at: [0, 0, 5]},\n"
    "         b: {body: ball, at: [0, 0, 0.4]}}\n"
    "  off: {type: spring, stiffness: 50, active: 1 - t, a: {body: world, at: [0, 0, 6]},\n"
    "        b: {body: arm, at: [0, 0, 1]}}\n"
    "  rope: {type: cable, stiffness: 20, tension_only: true, via: [{body: world, at: [0, 1, 3]},\n"
    "         {body: base, at: [0, 0, 1]}, {body: last-one, at: [0, 0, 0]}]}\n"
    "  push: {type: point_force, body: ball, at: [0.1, 0, 0], force: [1, 2*t, 3]}\n"
    "  hold: {type: grab, body: last-one, to: [1, 2, 3], stiffness: 10}\n"
    "  twist: {type: body_torque, body: arm, torque: [0, 0, 1], frame: body}\n"
    "constraints:\n"
    "  rod: {type: distance, a: {body: ball, at: [0, 0, 0]}, b: {body: last-one, at: [0, 0, 0]}}\n"
    "run: {method: redmax, step: 0.01, duration: 1}\n";

typedef struct recorded_run {
  sn_scene *scene;
  sn_sim *sim;
  sn_state *state;
  sn_recorder *recorder;
} recorded_run;

static inline recorded_run recorded_run_begin(const sn_recorder_options *options) {
  recorded_run r = {0};
  sn_error err = {0};
  sn_scene_options o = sn_scene_options_default();
  o.folder = SINEW_SOURCE_DIR "/tests/data/meshes";
  CHECK(!sn_scene_load_text(recorded_scene, sizeof recorded_scene - 1, "recorded.yaml", &o,
                            &r.scene, &err),
        "%s: %s", err.path, err.text);
  const sn_model *m = sn_scene_model(r.scene);
  CHECK(!sn_sim_create(m, &sn_model_run(m)->options, &r.sim, &err), "%s", err.text);
  CHECK(!sn_state_create(m, &r.state, &err), "%s", err.text);
  CHECK(!sn_sim_assemble(r.sim, r.state, &err), "%s", err.text);
  CHECK(!sn_recorder_create(r.sim, r.state, options, &r.recorder, &err), "%s", err.text);
  return r;
}

static inline void recorded_run_step(recorded_run *r) {
  sn_error err = {0};
  CHECK(sn_sim_step(r->sim, r->state, NULL, NULL, &err) >= 0, "%s", err.text);
}

static inline void recorded_run_end(recorded_run *r) {
  sn_recorder_free(&r->recorder);
  sn_state_free(&r->state);
  sn_sim_free(&r->sim);
  sn_scene_free(&r->scene);
}

/* Bytes that grow. */
typedef struct recorded_bytes {
  char *data;
  size_t size;
} recorded_bytes;

static inline void recorded_append(recorded_bytes *b, sn_bytes more) {
  b->data = realloc(b->data, b->size + more.size);
  CHECK(b->data != NULL, "out of memory");
  memcpy(b->data + b->size, more.data, more.size);
  b->size += more.size;
}

/* A whole recording: head, frames, a note before the last frame, an end. */
static inline recorded_bytes recorded_whole(int frames) {
  recorded_run r = recorded_run_begin(NULL);
  recorded_bytes all = {0};
  sn_error err = {0}, trouble = {.code = SN_E_DIVERGED, .path = "bodies.ball", .text = "flew"};
  sn_bytes b;
  CHECK(!sn_recorder_head(r.recorder, &b, &err), "%s", err.text);
  recorded_append(&all, b);
  for (int k = 0; k < frames; k++) {
    if (k == frames - 1) {
      CHECK(!sn_recorder_note(r.recorder, 0.5, SN_LEVEL_ERROR, &trouble, &b, &err), "%s", err.text);
      recorded_append(&all, b);
    }
    CHECK(!sn_recorder_frame(r.recorder, r.state, NULL, NULL, &b, &err), "%s", err.text);
    recorded_append(&all, b);
    recorded_run_step(&r);
  }
  CHECK(!sn_recorder_end(r.recorder, SN_INTERRUPTED, &b, &err), "%s", err.text);
  recorded_append(&all, b);
  recorded_run_end(&r);
  return all;
}

#endif
