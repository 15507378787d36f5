/* view_sim.c: a simulation that keeps to a clock. */
#include "cli/view_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "methods/sim.h"

/* After a pause of the machine, or where steps take longer than they last, what is missing beyond
 * this is not made up for. */
#define OWED_MAX 0.1 /* seconds of the clock */

void view_sim_close(view_sim *v) {
  sn_recorder_free(&v->recorder);
  sn_sim_free(&v->sim);
  sn_state_free(&v->state);
  sn_state_free(&v->drawn);
  sn_scene_free(&v->scene);
  free(v->file);
  v->file = NULL;
}

static sn_status make_recorder(const view_sim *v, sn_recorder **out, sn_error *err) {
  const sn_run_def *run = sn_model_run(sn_scene_model(v->scene));
  sn_recorder_options o = sn_recorder_options_default();
  o.scene = v->file;
  o.channels = run->record_channels;
  o.nchannel = run->nrecord_channel;
  return sn_recorder_create(v->sim, v->state, &o, out, err);
}

/* A recording begins. */
static sn_status begin(view_sim *v, sn_error *err) {
  sn_recorder_free(&v->recorder);
  v->number++;
  v->stopped = false;
  v->moved = true;
  v->owed = 0;
  v->ratio.since = -INFINITY;
  sn_state_free(&v->drawn);
  if (sn_state_clone(v->state, &v->drawn)) {
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  return make_recorder(v, &v->recorder, err);
}

static char *copy_text(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

/* All that a scene needs, in a view of its own. */
static sn_status build(view_sim *v, const view_overrides *o, sn_error *err) {
  const sn_model *m = sn_scene_model(v->scene);
  sn_options options = sn_model_run(m)->options;
  options.method = o->method ? o->method : options.method;
  options.step = isnan(o->step) ? options.step : o->step;
  sn_status status = sn_sim_create(m, &options, &v->sim, err);
  status = status ? status : sn_state_create(m, &v->state, err);
  status = status ? status : sn_sim_assemble(v->sim, v->state, err);
  return status < 0 ? status : begin(v, err);
}

sn_status view_sim_open(view_sim *v, sn_scene **scene, const char *file, const view_overrides *o,
                        sn_error *err) {
  view_sim fresh = {.scene = *scene, .number = v->number, .speed = v->speed, .now = v->now};
  fresh.playing = v->playing;
  fresh.file = copy_text(file);
  const sn_status status =
      fresh.file ? build(&fresh, o, err) : sni_fail(err, SN_E_MEMORY, "out of memory");
  if (status) {
    fresh.scene = NULL;
    view_sim_close(&fresh);
    return status;
  }
  *scene = NULL;
  view_sim_close(v);
  *v = fresh;
  return SN_OK;
}

static bool one_step(view_sim *v) {
  sn_error err = {0};
  const sn_status status = sn_sim_step(v->sim, v->state, NULL, NULL, &err);
  if (status < 0) {
    v->trouble = err;
    v->stopped = true;
    return false;
  }
  v->steps++;
  v->moved = true;
  return true;
}

static void measure_ratio(view_sim *v) {
  const double t = *sn_state_time(v->state);
  if (v->now - v->ratio.since >= 1) {
    const bool before = isfinite(v->ratio.since);
    v->ratio.value = before ? (t - v->ratio.t) / (v->now - v->ratio.since) : 0;
    v->ratio.since = v->now;
    v->ratio.t = t;
  }
}

bool view_sim_advance(view_sim *v, double now, double slice) {
  const double passed = now - v->now;
  v->now = now;
  if (!v->scene) {
    return false;
  }
  if (!v->playing || v->stopped) {
    v->owed = 0;
    v->ratio.since = -INFINITY;
    v->ratio.value = 0;
    return false;
  }
  double step = 0;
  sn_sim_get(v->sim, "run.step", &step, NULL);
  measure_ratio(v);
  v->owed = fmin(v->owed + v->speed * passed, fmax(v->speed * OWED_MAX, step));
  while (v->owed >= step && cli_wall_seconds() - now < slice) {
    if (!one_step(v)) {
      return false;
    }
    v->owed -= step;
  }
  return v->owed >= step;
}

void view_sim_step(view_sim *v, int64_t count) {
  v->playing = false;
  for (int64_t k = 0; k < count && !v->stopped && one_step(v); k++) {
  }
}

sn_status view_sim_reset(view_sim *v, sn_error *err) {
  sn_state *state = NULL;
  sn_status status = sn_state_create(sn_scene_model(v->scene), &state, err);
  sn_sim_release(v->sim);
  status = status ? status : sn_sim_assemble(v->sim, state, err);
  if (status < 0) {
    sn_state_free(&state);
    return status;
  }
  sn_state_free(&v->state);
  v->state = state;
  v->steps = 0;
  return begin(v, err);
}

/* Another sim of the same model, with the same parameters, takes the state over. */
sn_status view_sim_method(view_sim *v, const char *method, sn_error *err) {
  sn_options options = v->sim->options;
  sn_sim *sim = NULL;
  options.method = method;
  options.step = *v->sim->d.params.step;
  const sn_status status = sn_sim_create(sn_scene_model(v->scene), &options, &sim, err);
  if (status) {
    return status;
  }
  sni_params_copy(&sim->d.params, &v->sim->d.params);
  sni_dynamics_refresh(&sim->d);
  sn_recorder_free(&v->recorder); /* before its sim */
  sn_sim_free(&v->sim);
  v->sim = sim;
  return begin(v, err);
}

static sn_status record(view_sim *v, sn_bytes *out, sn_error *err) {
  sn_grab_def hand;
  sn_arrow arrow = {.kind = SN_ARROW_HAND};
  sn_frame_extra extra = {.arrow = &arrow};
  if (sn_sim_held(v->sim, &hand) && sn_sim_poses(v->sim, v->state, NULL, NULL) == SN_OK) {
    const sn_vec3 x = sn_se3_point(sni_link_pose(&v->sim->d.w.link[hand.body]), hand.point);
    const sn_vec3 way = sn_vec3_sub(hand.target, x);
    const double from[] = {x.x, x.y, x.z}, to[] = {way.x, way.y, way.z};
    arrow.body = (uint32_t)hand.body;
    for (int c = 0; c < 3; c++) {
      arrow.point[c] = (float)from[c];
      arrow.vector[c] = (float)to[c];
    }
    extra.narrow = 1;
  }
  v->moved = false;
  return sn_recorder_frame(v->recorder, v->state, NULL, &extra, out, err);
}

sn_status view_sim_frame(view_sim *v, sn_bytes *out, sn_error *err) {
  sn_status status = record(v, out, err);
  if (status == SN_OK) {
    return sn_state_copy(v->drawn, v->state);
  }
  if (!v->stopped) {
    v->trouble = *err;
    v->stopped = true;
  }
  status = sn_state_copy(v->state, v->drawn);
  return status ? status : record(v, out, err);
}
