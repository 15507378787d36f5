/* glb_motion.c: the motion of an animation.
 *
 * A recording has all bodies of one frame together, an animation all frames of one body.  So many
 * tracks as fit into memory are gathered in one pass over the recording, then the next ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/glb.h"

#define GATHER_BYTES ((uint64_t)64 << 20)

/* q and -q are one rotation: the one nearer to that of the frame before. */
static void keep_turning(float *q, const float *before) {
  float dot = 0;
  for (int c = 0; c < 4; c++) {
    dot += q[c] * before[c];
  }
  for (int c = 0; c < 4 && dot < 0; c++) {
    q[c] = -q[c];
  }
}

static void unit(float *q) {
  const double n =
      sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
  for (int c = 0; c < 4; c++) {
    q[c] = n > 0 ? (float)(q[c] / n) : c == 3;
  }
}

static sn_vec3 end_point(const sn_recorded *f, const sni_glb_end *e) {
  if (e->body < 0) {
    return e->at;
  }
  const float *p = f->pose + 7 * (size_t)e->body;
  const sn_quat q = {.w = (double)p[6], .x = (double)p[3], .y = (double)p[4], .z = (double)p[5]};
  const sn_vec3 o = {(double)p[0], (double)p[1], (double)p[2]};
  return sn_vec3_add(o, sn_mat3_mul_vec(sn_mat3_from_quat(q), e->at));
}

static sn_quat quat_mul(sn_quat a, sn_quat b) {
  return (sn_quat){.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                   .x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                   .y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                   .z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/* The least turn that takes the unit vector a to the unit vector b. */
static sn_quat least_turn(sn_vec3 a, sn_vec3 b) {
  const sn_vec3 sum = sn_vec3_add(a, b);
  const double n = sn_vec3_norm(sum);
  if (n < 1e-9) { /* half a turn, about anything across a */
    const sn_vec3 x = sn_mat3_col(sni_surface_frame((sn_vec3){0}, a).R, 0);
    return (sn_quat){0, x.x, x.y, x.z};
  }
  const sn_vec3 half = sn_vec3_scale(sum, 1 / n), v = sn_vec3_cross(a, half);
  return (sn_quat){sn_vec3_dot(a, half), v.x, v.y, v.z};
}

/* The bar along y turns from where it was to the unit vector d by the shortest way, so that it does
 * not spin about itself between two frames. */
static void turn_bar(sn_vec3 d, const float *before, float *q) {
  const sn_quat was = {.w = (double)before[3],
                       .x = (double)before[0],
                       .y = (double)before[1],
                       .z = (double)before[2]};
  const sn_quat is = quat_mul(least_turn(sn_mat3_col(sn_mat3_from_quat(was), 1), d), was);
  q[0] = (float)is.x;
  q[1] = (float)is.y;
  q[2] = (float)is.z;
  q[3] = (float)is.w;
}

/* A line that does not act now has no size. */
static void segment_values(const sni_glb *g, const sn_recorded *f, int k, const float *before,
                           float *out) {
  const sni_glb_segment *s = &g->segment[k];
  const sn_vec3 a = end_point(f, &s->end[0]), b = end_point(f, &s->end[1]);
  const sn_vec3 d = sn_vec3_sub(b, a), middle = sn_vec3_scale(sn_vec3_add(a, b), 0.5);
  const double l = sn_vec3_norm(d);
  const bool there = l > 0 && isfinite(l) && !isnan(f->tension[s->line]);
  const float width = there ? 1 : 0;
  out[0] = (float)middle.x;
  out[1] = (float)middle.y;
  out[2] = (float)middle.z;
  if (l > 0) {
    turn_bar(sn_vec3_scale(d, 1 / l), before, out + 3);
  } else {
    memcpy(out + 3, before, 4 * sizeof *out);
  }
  out[7] = width;
  out[8] = there ? (float)l : 0;
  out[9] = width;
}

/* before: its turn in the frame before. */
static void track_values(const sni_glb *g, const sn_recorded *f, int track, const float *before,
                         float *out) {
  if (track < g->nbody) {
    memcpy(out, f->pose + 7 * (size_t)track, 7 * sizeof *out);
  } else {
    segment_values(g, f, track - g->nbody, before, out);
  }
  unit(out + 3);
  keep_turning(out + 3, before);
}

/* In the file a track is all its places, then all its turns, then all its sizes. */
static void put_values(const float *value, int width, int64_t k, int64_t n, float *track) {
  memcpy(track + 3 * k, value, 3 * sizeof *track);
  memcpy(track + 3 * n + 4 * k, value + 3, 4 * sizeof *track);
  if (width > 7) {
    memcpy(track + 7 * n + 3 * k, value + 7, 3 * sizeof *track);
  }
}

/* Tracks [first, last) into to. */
static sn_status gather(sni_glb *g, int first, int last, float *to, sn_error *err) {
  for (int64_t k = 0; k < g->nframe; k++) {
    sn_recorded f;
    const sn_status status = sn_recording_read(g->r, g->frame[k], &f, err);
    if (status) {
      return status;
    }
    float *track = to;
    for (int i = first; i < last; i++) {
      static const float start[4] = {0, 0, 0, 1};
      float value[SNI_GLB_SEGMENT_WIDTH];
      const int width = sni_glb_width(g, i);
      track_values(g, &f, i, k > 0 ? track + 3 * g->nframe + 4 * (k - 1) : start, value);
      put_values(value, width, k, g->nframe, track);
      track += (int64_t)width * g->nframe;
    }
  }
  return SN_OK;
}

sn_status sni_glb_write_motion(sni_glb *g, FILE *to, sn_error *err) {
  const int tracks = sni_glb_tracks(g);
  sn_status status = SN_OK;
  for (int first = 0, last; first < tracks && g->nframe > 0 && !status; first = last) {
    uint64_t floats = 0;
    for (last = first; last < tracks && (last == first || 4 * floats < GATHER_BYTES); last++) {
      floats += (uint64_t)sni_glb_width(g, last) * (uint64_t)g->nframe;
    }
    float *part = malloc(floats * sizeof *part);
    status = part ? gather(g, first, last, part, err)
                  : sni_fail(err, SN_E_MEMORY, "no memory for an animation");
    if (!status && fwrite(part, sizeof *part, floats, to) != floats) {
      status = SN_E_FILE;
    }
    free(part);
  }
  return status;
}
