/* replay_recording.c: a recording told frame by frame: what `sinew replay` says of one. */
#include "cli/replay_recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "io/snr_reader.h"

bool cli_is_recording(const char *path) {
  return cli_has_suffix(path, ".snr");
}

/* ---- frames ---- */

typedef struct pass {
  int energy;      /* channel, -1: not recorded */
  double t;        /* of the frame before */
  float *place;    /* 3 a body, in the frame before */
  double first[2]; /* time and energy of the first frame */
  double last[2];
  double speed_t, speed; /* of the fastest body ever */
  int fastest;
} pass;

/* The body that came farthest since the frame before. */
static int fastest_body(const pass *p, const sn_recorded *f, int nbody, double *speed) {
  int fastest = -1;
  *speed = 0;
  for (int b = 0; b < nbody; b++) {
    double square = 0;
    for (int c = 0; c < 3; c++) {
      const double d = (double)f->pose[7 * b + c] - (double)p->place[3 * b + c];
      square += d * d;
    }
    const double v = sqrt(square) / (f->t - p->t);
    if (f->t > p->t && v >= *speed) {
      *speed = v;
      fastest = b;
    }
  }
  return fastest;
}

static void tell_frame(const sn_recording *r, const pass *p, const sn_recorded *f, int fastest,
                       double speed) {
  printf("t %-12.6g", f->t);
  if (p->energy >= 0) {
    printf(" E %-14.8g", f->channel[p->energy]);
  }
  if (fastest >= 0) {
    printf(" '%s' %.4g m/s", sn_recording_body_name(r, fastest), speed);
  }
  putchar('\n');
}

static void take_frame(const sn_recording *r, pass *p, int64_t k, const sn_recorded *f,
                       bool trace) {
  const int nbody = sn_recording_body_count(r);
  const double E = p->energy >= 0 ? f->channel[p->energy] : NAN;
  double speed = 0;
  const int fastest = k > 0 ? fastest_body(p, f, nbody, &speed) : -1;
  if (speed > p->speed) {
    p->speed = speed;
    p->speed_t = f->t;
    p->fastest = fastest;
  }
  if (trace) {
    tell_frame(r, p, f, fastest, speed);
  }
  if (k == 0) {
    p->first[0] = f->t;
    p->first[1] = E;
  }
  p->last[0] = p->t = f->t;
  p->last[1] = E;
  for (int b = 0; b < nbody; b++) {
    memcpy(p->place + 3 * b, f->pose + 7 * b, 3 * sizeof *p->place);
  }
}

/* ---- the whole ---- */

static const char *text_at(const sni_node *root, const char *key) {
  const sni_node *node = sni_node_get(root, key);
  return node && node->kind == SNI_NODE_SCALAR ? node->text : "";
}

static void tell_notes(sn_recording *r) {
  for (int k = 0; k < r->nnote; k++) {
    sni_doc *note = NULL;
    if (!sni_recording_note(r, k, &note, NULL)) {
      const sni_node *root = sni_doc_root(note);
      const char *path = text_at(root, "path");
      printf("  %-11s %s%s%s\n", text_at(root, "level"), path, path[0] ? ": " : "",
             text_at(root, "text"));
    }
    sni_doc_free(&note);
  }
}

static void tell_whole(sn_recording *r, const pass *p) {
  static const char *const ending[] = {"came to its end", "was interrupted", "failed"};
  const sni_node *root = sni_doc_root(r->doc);
  const char *why;
  printf("%s: recorded by sinew %s\n", r->path, text_at(root, "sinew"));
  printf("  scene       %s\n", text_at(root, "scene"));
  printf("  method      %s, step %s\n", text_at(root, "method"), text_at(root, "step"));
  printf("  frames      %lld of %d bodies and %d channels", (long long)r->nframe, r->nbody,
         r->nchannel);
  if (r->nframe > 0) {
    printf(", t = %g to %g", p->first[0], p->last[0]);
  }
  putchar('\n');
  if (p->energy >= 0 && r->nframe > 0) {
    printf("  energy      start E = %.9g\n              end   E = %.9g\n", p->first[1], p->last[1]);
  }
  if (p->speed > 0) {
    printf("  fastest     '%s' %.4g m/s at t = %g\n", sn_recording_body_name(r, p->fastest),
           p->speed, p->speed_t);
  }
  printf("  the run     %s\n", sn_recording_complete(r, &why) ? ending[r->ending] : why);
  tell_notes(r);
}

static sn_status go_through(sn_recording *r, bool trace, sn_error *err) {
  pass p = {.energy = sn_recording_channel_find(r, "E"),
            .place = calloc(3 * (size_t)r->nbody + 1, sizeof(float))};
  sn_status status = p.place ? SN_OK : sni_fail(err, SN_E_MEMORY, "out of memory");
  for (int64_t k = 0; !status && k < r->nframe; k++) {
    sn_recorded f;
    status = sn_recording_read(r, k, &f, err);
    if (!status) {
      take_frame(r, &p, k, &f, trace);
    }
  }
  if (!status) {
    tell_whole(r, &p);
  }
  free(p.place);
  return status;
}

int cli_replay_recording(const char *path, bool trace) {
  sn_recording *r = NULL;
  sn_error err = {0};
  sn_status status = sn_recording_open(path, &r, &err);
  status = status ? status : go_through(r, trace, &err);
  if (status) {
    cli_print_error(&err);
  }
  const bool failed = !status && r->complete && r->ending == SN_FAILED;
  sn_recording_free(&r);
  return status ? cli_code(status) : failed ? CLI_STOPPED : CLI_DONE;
}
