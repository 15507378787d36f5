/* Recordings: what was written is what is read, bit for bit; files that were cut short are good up
 * to their last whole frame; nothing takes memory that grows with the length of a run. */
#define _POSIX_C_SOURCE 200809L
#include "methods/sim.h"
#include "recordings.h"

#include <unistd.h>

#include "io/snr_reader.h"
#include "math/so3.h"

static sn_status open_bytes(const char *data, size_t size, sn_recording **out, sn_error *err) {
  FILE *f = fmemopen((void *)data, size, "rb");
  CHECK(f != NULL, "cannot open memory");
  return sni_recording_from(f, "memory.snr", out, err);
}

/* ---- what is in it ---- */

/* A frame against what the sim says. */
static void check_frame(recorded_run *r, sn_recording *rec, int64_t k) {
  sn_error err = {0};
  sn_recorded f;
  sn_se3 E[8];
  CHECK(!sn_recording_read(rec, k, &f, &err), "%s", err.text);
  CHECK(f.t == *sn_state_time(r->state) && f.number == (uint64_t)k && !f.jump, "frame %d", (int)k);
  for (int c = 0; c < sn_recording_channel_count(rec); c++) {
    const char *name = sn_recording_channel_name(rec, c);
    const int channel = sn_sim_channel_find(r->sim, name);
    double value;
    CHECK(channel >= 0, "%s", name);
    CHECK(!sn_sim_channels(r->sim, r->state, NULL, &channel, 1, &value, &err), "%s", err.text);
    CHECK(memcmp(&value, &f.channel[c], sizeof value) == 0, "%s: %g, not %g", name, f.channel[c],
          value);
  }
  CHECK(!sn_sim_poses(r->sim, r->state, E, NULL), "no poses");
  for (int b = 0; b < sn_recording_body_count(rec); b++) {
    const sn_quat q = sn_quat_from_mat3(E[b].R);
    const float want[7] = {(float)E[b].p.x, (float)E[b].p.y, (float)E[b].p.z, (float)q.x,
                           (float)q.y,      (float)q.z,      (float)q.w};
    CHECK(memcmp(want, f.pose + 7 * b, sizeof want) == 0, "pose of body %d", b);
  }
  for (int l = 0; l < sn_recording_line_count(rec); l++) {
    char name[64];
    snprintf(name, sizeof name, "%s.tension", sn_recording_line_name(rec, l));
    const int channel = sn_sim_channel_find(r->sim, name);
    double value;
    CHECK(!sn_sim_channels(r->sim, r->state, NULL, &channel, 1, &value, &err), "%s", err.text);
    const bool off = strcmp(name, "off.tension") == 0 && f.t >= 1;
    CHECK(off ? isnan(f.tension[l]) : f.tension[l] == (float)value, "%s: %g, not %g", name,
          (double)f.tension[l], value);
  }
  CHECK(f.narrow == 3 && f.ncontact == 0, "%d arrows, %d contacts", f.narrow, f.ncontact);
  const int ball = sn_model_body_find(sn_scene_model(r->scene), "ball");
  CHECK(f.arrow[0].body == (uint32_t)ball && f.arrow[0].kind == SN_ARROW_FORCE &&
            f.arrow[0].vector[1] == (float)(2 * f.t),
        "push is (%g, %g, %g)", (double)f.arrow[0].vector[0], (double)f.arrow[0].vector[1],
        (double)f.arrow[0].vector[2]);
  CHECK(f.arrow[1].kind == SN_ARROW_HAND &&
            fabsf(f.arrow[1].point[2] + f.arrow[1].vector[2] - 3) < 1e-5f,
        "hold is of kind %u and leads to z = %g", f.arrow[1].kind,
        (double)(f.arrow[1].point[2] + f.arrow[1].vector[2]));
  CHECK(f.arrow[2].kind == SN_ARROW_TORQUE, "twist is of kind %u", f.arrow[2].kind);
}

TEST(what_is_written_is_read) {
  char path[] = "/tmp/test_recording_XXXXXX";
  const int fd = mkstemp(path);
  CHECK(fd >= 0, "no file");
  close(fd);
  sn_error err = {0};
  recorded_run r = recorded_run_begin(NULL);
  CHECK(!sn_recorder_open(r.recorder, path, &err), "%s", err.text);
  enum { FRAMES = 120 }; /* past t = 1, where a spring goes away */
  for (int k = 0; k < FRAMES; k++) {
    CHECK(!sn_recorder_add(r.recorder, r.state, NULL, &err), "%s", err.text);
    recorded_run_step(&r);
  }
  CHECK(!sn_recorder_close(r.recorder, SN_ENDED, &err), "%s", err.text);
  recorded_run_end(&r);

  sn_recording *rec = NULL;
  CHECK(!sn_recording_open(path, &rec, &err), "%s", err.text);
  CHECK(sn_recording_complete(rec, NULL) && sn_recording_ending(rec) == SN_ENDED, "no end");
  CHECK(sn_recording_frame_count(rec) == FRAMES, "%d frames", (int)sn_recording_frame_count(rec));
  r = recorded_run_begin(NULL);
  for (int k = 0; k < FRAMES; k++) {
    check_frame(&r, rec, k);
    recorded_run_step(&r);
  }
  recorded_run_end(&r);
  recorded_run again = recorded_run_begin(NULL);
  check_frame(&again, rec, 0); /* frames can be read in any order */
  recorded_run_end(&again);
  sn_recording_free(&rec);
  remove(path);
}

static double number(const sni_node *node) {
  double x = NAN;
  CHECK(sni_node_number(node, &x), "not a number");
  return x;
}

static const char *text(const sni_node *node) {
  CHECK(node && node->kind == SNI_NODE_SCALAR, "not a text");
  return node->text;
}

static void check_numbers(const sni_node *list, const double *want, int n) {
  CHECK(sni_node_count(list) == (size_t)n, "%d numbers", (int)sni_node_count(list));
  for (int k = 0; k < n; k++) {
    CHECK(fabs(number(sni_node_at(list, (size_t)k)) - want[k]) < 1e-15, "entry %d", k);
  }
}

static const sni_node *named(const sni_node *list, const char *name) {
  for (size_t k = 0; k < sni_node_count(list); k++) {
    if (strcmp(text(sni_node_get(sni_node_at(list, k), "name")), name) == 0) {
      return sni_node_at(list, k);
    }
  }
  CHECK(false, "there is no '%s'", name);
  return NULL;
}

TEST(the_header_describes_the_scene) {
  recorded_bytes all = recorded_whole(2);
  sn_recording *rec = NULL;
  sn_error err = {0};
  CHECK(!open_bytes(all.data, all.size, &rec, &err), "%s", err.text);
  const sni_node *root = sni_doc_root(rec->doc), *bodies = sni_node_get(root, "bodies");
  CHECK(number(sni_node_get(root, "metres")) == 1e-3, "mm are not known");
  CHECK(strcmp(text(sni_node_get(root, "up")), "z") == 0, "up");
  CHECK(strcmp(text(sni_node_get(root, "method")), "redmax") == 0, "method");
  CHECK(number(sni_node_get(root, "step")) == 0.01, "step");
  CHECK(strcmp(text(sni_node_get(root, "duration")), "null") == 0, "duration is not known");
  CHECK(number(sni_node_get(root, "meshes")) == 1, "one file, one mesh");

  const sni_node *base = named(bodies, "base"), *arm = named(bodies, "arm");
  CHECK(number(sni_node_get(base, "parent")) == -1, "parent");
  const sni_node *axes = sni_node_get(sni_node_get(base, "joint"), "axes");
  CHECK(sni_node_count(axes) == 1, "a hinge has one axis");
  check_numbers(sni_node_get(sni_node_at(axes, 0), "turn"), (double[]){0, 1, 0}, 3);
  CHECK(!sni_node_get(sni_node_at(axes, 0), "slide"), "a hinge does not slide");
  const sni_node *screw = sni_node_at(sni_node_get(sni_node_get(arm, "joint"), "axes"), 0);
  check_numbers(sni_node_get(screw, "turn"), (double[]){0, 0, 1}, 3);
  check_numbers(sni_node_get(screw, "slide"), (double[]){0, 0, 1}, 3);
  check_numbers(sni_node_get(sni_node_get(arm, "joint"), "at"),
                (double[]){1, 0, 0, 0, 0, sin(0.25), cos(0.25)}, 7);
  CHECK(sni_node_count(sni_node_get(sni_node_get(named(bodies, "ball"), "joint"), "axes")) == 0,
        "a ball joint has no axis");

  const sni_node *shapes = sni_node_get(base, "shapes");
  const sni_node *box = sni_node_at(shapes, 0), *mesh = sni_node_at(shapes, 1);
  check_numbers(sni_node_get(box, "size"), (double[]){1, 2, 3}, 3);
  check_numbers(sni_node_get(box, "color"), (double[]){0.25, 0.5, 1}, 3);
  CHECK(number(sni_node_get(mesh, "mesh")) == 0 && number(sni_node_get(mesh, "scale")) == 2,
        "mesh");
  CHECK(!sni_node_get(mesh, "color") && !sni_node_get(mesh, "file"), "no colour, no path");

  const sni_node *lines = sni_node_get(root, "lines"), *rope = named(lines, "rope");
  CHECK(sni_node_count(lines) == 3, "lines: a hand is none");
  CHECK(strcmp(text(sni_node_get(rope, "tension_only")), "true") == 0, "rope");
  const sni_node *points = sni_node_get(rope, "points");
  CHECK(sni_node_count(points) == 3 && number(sni_node_get(sni_node_at(points, 0), "body")) == -1,
        "points of the rope");
  check_numbers(sni_node_get(sni_node_at(points, 1), "at"), (double[]){0, 0, 1}, 3);
  const sni_node *rod = named(sni_node_get(root, "constraints"), "rod");
  CHECK(sni_node_count(sni_node_get(sni_node_get(rod, "a"), "at")) == 7, "rod");

  sni_snr_mesh gear;
  CHECK(!sni_recording_mesh(rec, 0, &gear, &err), "%s", err.text);
  CHECK(gear.nvertex > 8 && gear.ntriangle > 12, "gear");

  sni_doc *note = NULL;
  CHECK(rec->nnote == 1 && !sni_recording_note(rec, 0, &note, &err), "%s", err.text);
  CHECK(strcmp(text(sni_node_get(sni_doc_root(note), "path")), "bodies.ball") == 0, "note");
  CHECK(strcmp(text(sni_node_get(sni_doc_root(note), "level")), "error") == 0, "note");
  CHECK(sn_recording_ending(rec) == SN_INTERRUPTED, "ending");
  sni_doc_free(&note);
  sn_recording_free(&rec);
  free(all.data);
}

/* The layout as docs/recording.md has it, by hand: offsets, not our own structures. */
TEST(bytes_are_where_the_manual_says) {
  recorded_bytes all = recorded_whole(1);
  size_t at = 0;
  int meshes = 0, frames = 0;
  while (at < all.size) {
    uint32_t n, u[6];
    memcpy(&n, all.data + at + 4, 4);
    const char *p = all.data + at + 8;
    CHECK(at % 8 == 0 && n % 8 == 0 && at + 8 + n <= all.size, "record at %zu", at);
    if (at == 0) {
      CHECK(memcmp(all.data, "SNR1{\"format\":", 4) == 0 && p[0] == '{', "header");
    } else if (memcmp(all.data + at, "MESH", 4) == 0) {
      memcpy(u, p, 16);
      const size_t size = 16 + 12 * ((size_t)u[1] + u[2]);
      CHECK(u[0] == 0 && u[3] == 0 && n == (size + 7) / 8 * 8, "mesh of %u bytes", n);
      meshes++;
    } else if (memcmp(all.data + at, "FRAM", 4) == 0) {
      double t, first;
      uint64_t k;
      float w;
      memcpy(&t, p, 8);
      memcpy(&k, p + 8, 8);
      memcpy(u, p + 16, 24);
      memcpy(&first, p + 40, 8);
      CHECK(t == 0 && first == 0 && k == 0, "time");
      CHECK(u[0] == 4 && u[2] == 3 && u[3] == 0 && u[4] == 3 && u[5] == 0, "counts");
      const size_t size = 40 + 8 * (size_t)u[1] + 28 * (size_t)u[0] + 4 * (size_t)u[2] + 96;
      CHECK(n == (size + 7) / 8 * 8, "frame of %u bytes", n);
      memcpy(&w, p + 40 + 8 * u[1] + 24, 4);
      CHECK(w == 1.0f, "the first body is not turned at the start: qw = %g", (double)w);
      frames++;
    }
    at += 8 + n;
  }
  CHECK(meshes == 1 && frames == 1, "%d meshes, %d frames", meshes, frames);
  CHECK(memcmp(all.data + all.size - 32, "END!", 4) == 0, "end");
  free(all.data);
}

TEST(more_can_be_put_into_a_frame) {
  recorded_run r = recorded_run_begin(NULL);
  recorded_bytes all = {0};
  sn_error err = {0};
  sn_bytes b;
  const sn_contact_point contact[2] = {{0, SN_WORLD, {1, 2, 3}, {0, 0, 1}, {4, 5, 6}},
                                       {1, 2, {7, 8, 9}, {1, 0, 0}, {0, 0, 1}}};
  const sn_contact_point found = {2, 1, {3, 1, 4}, {0, 1, 0}, {1, 5, 9}};
  const sn_arrow hand = {2, SN_ARROW_HAND, {1, 1, 1}, {2, 2, 2}};
  const sn_frame_extra extra = {
      .jump = true, .contact = contact, .ncontact = 2, .arrow = &hand, .narrow = 1};
  CHECK(!sn_recorder_head(r.recorder, &b, &err), "%s", err.text);
  recorded_append(&all, b);
  r.sim->touch = &found; /* as a method that finds contacts does */
  r.sim->ntouch = 1;
  CHECK(!sn_recorder_frame(r.recorder, r.state, NULL, &extra, &b, &err), "%s", err.text);
  recorded_append(&all, b);
  r.sim->ntouch = 0;
  sn_recording *rec = NULL;
  sn_recorded f;
  CHECK(!open_bytes(all.data, all.size, &rec, &err), "%s", err.text);
  CHECK(!sn_recording_read(rec, 0, &f, &err), "%s", err.text);
  CHECK(f.jump && f.ncontact == 3 && f.narrow == 4, "%d contacts, %d arrows", f.ncontact, f.narrow);
  CHECK(memcmp(f.contact, &found, sizeof found) == 0, "that of the sim comes first");
  CHECK(memcmp(f.contact + 1, contact, sizeof contact) == 0, "contacts");
  CHECK(memcmp(&f.arrow[3], &hand, sizeof hand) == 0, "the hand comes behind the scene's arrows");
  sn_recording_free(&rec);
  recorded_run_end(&r);
  free(all.data);
}

/* ---- cut short ---- */

/* Whole frames in the first n bytes, counted by hand. */
static int whole_frames(const recorded_bytes *all, size_t n) {
  int frames = 0;
  uint32_t size;
  for (size_t at = 0; at + 8 <= n; at += 8 + size) {
    memcpy(&size, all->data + at + 4, 4);
    frames += memcmp(all->data + at, "FRAM", 4) == 0 && at + 8 + size <= n;
  }
  return frames;
}

/* Bytes up to the first frame. */
static size_t head_size(const recorded_bytes *all) {
  uint32_t size;
  size_t at = 0;
  for (; memcmp(all->data + at, "FRAM", 4) != 0; at += 8 + size) {
    memcpy(&size, all->data + at + 4, 4);
  }
  return at;
}

TEST(a_file_cut_anywhere_is_good_up_to_there) {
  recorded_bytes all = recorded_whole(4);
  const size_t head = head_size(&all);
  for (size_t n = 1; n < all.size; n += n < head - 100 && n > 100 ? 37 : 1) {
    sn_recording *rec = NULL;
    sn_error err = {0};
    char *part = malloc(n); /* so that nothing lies behind it */
    CHECK(part != NULL, "out of memory");
    memcpy(part, all.data, n);
    const sn_status status = open_bytes(part, n, &rec, &err);
    CHECK((status == SN_OK) == (n >= head), "%zu of %zu bytes: %s", n, head, err.text);
    if (!status) {
      const char *why;
      sn_recorded f;
      CHECK(!sn_recording_complete(rec, &why) && strstr(why, "cut short"), "%zu bytes: %s", n, why);
      CHECK(sn_recording_frame_count(rec) == whole_frames(&all, n), "%zu bytes: %d frames", n,
            (int)sn_recording_frame_count(rec));
      for (int64_t k = 0; k < sn_recording_frame_count(rec); k++) {
        CHECK(!sn_recording_read(rec, k, &f, &err), "%s", err.text);
      }
      CHECK(sn_recording_read(rec, sn_recording_frame_count(rec), &f, &err) == SN_E_ARGUMENT,
            "a frame that is not there");
    } else {
      CHECK(err.text[0] && !rec, "no message at %zu bytes", n);
    }
    sn_recording_free(&rec);
    free(part);
  }
  free(all.data);
}

TEST(zeros_behind_the_end_of_a_crash_are_noticed) {
  recorded_bytes all = recorded_whole(3);
  const size_t end = all.size - 32;
  memset(all.data + end, 0, 32);
  sn_recording *rec = NULL;
  sn_error err = {0};
  const char *why;
  CHECK(!open_bytes(all.data, all.size, &rec, &err), "%s", err.text);
  CHECK(sn_recording_frame_count(rec) == 3 && !sn_recording_complete(rec, &why), "frames");
  CHECK(strstr(why, "damaged") && strstr(why, "3 frames"), "%s", why);
  sn_recording_free(&rec);
  free(all.data);
}

/* ---- what cannot be recorded ---- */

TEST(channels_that_are_not_there_are_refused) {
  recorded_run r = recorded_run_begin(NULL);
  sn_recorder_options o = sn_recorder_options_default();
  const char *const wrong[] = {"E", "ball.postion.*"};
  sn_recorder *recorder = NULL;
  sn_error err = {0};
  o.channels = wrong;
  o.nchannel = 2;
  CHECK(sn_recorder_create(r.sim, r.state, &o, &recorder, &err) == SN_E_VALUE && !recorder, "%s",
        err.text);
  CHECK(strstr(err.text, "ball.postion.*"), "%s", err.text);
  recorded_run_end(&r);
}

TEST(numbers_that_are_not_finite_make_no_frame) {
  recorded_run r = recorded_run_begin(NULL);
  sn_error err = {0};
  sn_bytes b;
  sn_state_q(r.state)[0] = NAN;
  CHECK(sn_recorder_frame(r.recorder, r.state, NULL, NULL, &b, &err) < 0, "NaN was recorded");
  CHECK(sn_recorder_frame_count(r.recorder) == 0, "it was counted");
  recorded_run_end(&r);
  /* a double that is no float */
  const char *const time[] = {"t"};
  sn_recorder_options o = sn_recorder_options_default();
  o.channels = time;
  o.nchannel = 1;
  r = recorded_run_begin(&o);
  const int free_body = sn_model_body_find(sn_scene_model(r.scene), "last-one");
  sn_state_q(r.state)[sn_model_joint_first(sn_scene_model(r.scene), free_body)] = 1e200;
  CHECK(sn_recorder_frame(r.recorder, r.state, NULL, NULL, &b, &err) == SN_E_DIVERGED &&
            strstr(err.text, "last-one"),
        "%s", err.text);
  recorded_run_end(&r);
}

int main(void) {
  RUN_TESTS(
      T(what_is_written_is_read), T(the_header_describes_the_scene),
      T(bytes_are_where_the_manual_says), T(more_can_be_put_into_a_frame),
      T(a_file_cut_anywhere_is_good_up_to_there), T(zeros_behind_the_end_of_a_crash_are_noticed),
      T(channels_that_are_not_there_are_refused), T(numbers_that_are_not_finite_make_no_frame));
}
