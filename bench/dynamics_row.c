/* dynamics_row.c: builds one model for everybody, compares what they compute, and times them. */
#include "bench/dynamics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/models.h"
#include "methods/sim.h"

#define BATCH_SECONDS 0.005 /* long enough for the clock, short enough to fall between troubles */
#define BATCHES_MAX   4096
#define LINE_BYTES    64 /* of a cache */

/* ---- building ---- */

static void body_name(int i, char *out, size_t size) {
  snprintf(out, size, "b%d", i);
}

static sn_se3 joint_place(const bench_model *b, int i) {
  sn_se3 E;
  memcpy(E.R.m, b->R_pb0[i], sizeof E.R.m);
  E.p = (sn_vec3){b->p_pb0[i][0], b->p_pb0[i][1], b->p_pb0[i][2]};
  return E;
}

static sn_status build_model(row *r, sn_error *err) {
  const bench_model *b = r->b;
  sn_builder *builder = sn_builder_create();
  sn_status status = builder ? SN_OK : sni_fail(err, SN_E_MEMORY, "out of memory");
  for (int i = 0; i < b->nbody && status == SN_OK; i++) {
    char name[24], parent[24];
    body_name(i, name, sizeof name);
    body_name(b->parent[i], parent, sizeof parent);
    sn_body_def def = sn_body_def_default();
    def.name = name;
    def.parent = b->parent[i] < 0 ? NULL : parent;
    def.joint.type = b->joint[i] == BENCH_FREE ? "free" : "revolute";
    def.joint.at = joint_place(b, i);
    def.joint.axis = (sn_vec3){b->axis[i][0], b->axis[i][1], b->axis[i][2]};
    def.has_inertia = true;
    const double *c = b->com[i], *I = b->inertia[i];
    def.inertia = (sn_inertia){b->mass[i], {c[0], c[1], c[2]}, I[0], I[1], I[2], I[3], I[4], I[5]};
    status = sn_builder_add_body(builder, &def);
  }
  if (status == SN_OK) {
    sn_builder_set_gravity(builder, (sn_vec3){b->gravity[0], b->gravity[1], b->gravity[2]});
    status = sn_builder_finish(builder, &r->m, err);
  }
  sn_builder_free(&builder);
  return status;
}

/* Where the coordinates of each body of the bench are in the model, which may number otherwise. */
static int coordinate_of(const row *r, int body) {
  char name[24];
  body_name(body, name, sizeof name);
  return sn_model_joint_first(r->m, sn_model_body_find(r->m, name));
}

static void set_states(row *r) {
  const bench_model *b = r->b;
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < r->nv; k++) {
      r->bq[s][k] = b->q[k] + s * 1e-9;
      r->bqd[s][k] = b->qd[k];
    }
    for (int i = 0; i < b->nbody; i++) {
      const int from = b->vadr[i], to = coordinate_of(r, i);
      const int n = b->joint[i] == BENCH_FREE ? 6 : 1;
      memcpy(r->q[s] + to, r->bq[s] + from, (size_t)n * sizeof(double));
      memcpy(r->qd[s] + to, r->bqd[s] + from, (size_t)n * sizeof(double));
      memcpy(r->tau + to, b->tau + from, (size_t)n * sizeof(double));
      if (n == 6) { /* ours is the rate of the rotation vector */
        bench_rotvec_rate(r->bq[s] + from + 3, r->bqd[s] + from + 3, r->qd[s] + to + 3);
      }
    }
    memcpy(sn_state_q(r->state[s]), r->q[s], (size_t)r->nv * sizeof(double));
    memcpy(sn_state_qd(r->state[s]), r->qd[s], (size_t)r->nv * sizeof(double));
  }
}

static sn_status allocate(row *r, sn_error *err) {
  enum { ARRAYS = 11 };
  const size_t nv = (size_t)r->nv;
  r->memory = calloc(ARRAYS * nv, sizeof(double));
  if (!r->memory) {
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  double *at = r->memory;
  double **const array[ARRAYS] = {&r->q[0],  &r->q[1],   &r->qd[0],  &r->qd[1],
                                  &r->bq[0], &r->bq[1],  &r->bqd[0], &r->bqd[1],
                                  &r->qdd,   &r->result, &r->tau};
  for (int k = 0; k < ARRAYS; k++, at += nv) {
    *array[k] = at;
  }
  return SN_OK;
}

/* What one call of sn_sim_forward reads and writes when all joints are hinges. */
static size_t touched_bytes(const sn_model *m) {
  const sni_tree *t = &m->tree;
  const size_t per_body = sizeof(sni_link) + sizeof(sni_lane) /* r */ + sizeof(sni_lane6) /* a */ +
                          sizeof(sni_mass) + 4 * sizeof(int) /* parent, vadr, slot, factor */ +
                          sizeof *t->gather;
  const size_t per_coordinate = 2 * sizeof(sni_lane6) /* S, Y */ + sizeof(sn_vec6) /* S0 */ +
                                8 * sizeof(double) /* q, qd, qdd; tau twice; L, z, armature */;
  return (size_t)t->nbody * per_body + (size_t)t->nv * per_coordinate +
         (size_t)t->nslot * sizeof(sni_art) + (size_t)t->npool * sizeof(double);
}

sn_status dynamics_row_build(row *r, const char *scene, int size, sn_error *err) {
  *r = (row){.scene = scene, .b = bench_model_build(scene, size)};
  if (!r->b || !(r->textbook = aba_textbook_build(r->b))) {
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  r->nbody = r->b->nbody;
  r->nv = r->b->nv;
  sn_status status = allocate(r, err);
  const size_t before = bench_heap_bytes();
  status = status == SN_OK ? build_model(r, err) : status;
  status = status == SN_OK ? sn_sim_create(r->m, NULL, &r->sim, err) : status;
  status = status == SN_OK ? sn_state_create(r->m, &r->state[0], err) : status;
  r->bytes = bench_heap_bytes() - before; /* a user needs one state */
  status = status == SN_OK ? sn_state_create(r->m, &r->state[1], err) : status;
  if (status == SN_OK) {
    r->touched = touched_bytes(r->m);
    set_states(r);
    r->block = calloc(1, r->touched + LINE_BYTES);
    status = r->block ? SN_OK : sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  return status;
}

void dynamics_row_free(row *r) {
  sn_state_free(&r->state[0]);
  sn_state_free(&r->state[1]);
  sn_sim_free(&r->sim);
  sn_model_free(&r->m);
  aba_textbook_free(&r->textbook);
  bench_model_free(&r->b);
  free(r->memory);
  free(r->block);
}

/* ---- the calls ---- */

static void call_recursive(row *r) {
  sn_sim_forward(r->sim, r->state[r->turn], &(sn_input){.tau = r->tau}, r->qdd, NULL);
}

static void call_passes(row *r) {
  sni_dynamics *d = &r->sim->d;
  const sni_aba_in in = sni_dynamics_aba_in(d);
  memcpy(d->w.tau, r->tau, (size_t)r->nv * sizeof(double));
  d->placed = false;
  sni_kinematics(&r->m->tree, r->q[r->turn], r->qd[r->turn], &d->w);
  sni_aba(&r->m->tree, &in, &d->w, r->qdd);
}

static void call_textbook(row *r) {
  aba_textbook_calc(r->textbook, r->bq[r->turn], r->bqd[r->turn], r->b->tau, r->qdd);
}

/* Less than what the passes do: they go through most of it a third time. */
static void call_memory(row *r) {
  enum { STRIDE = LINE_BYTES / sizeof *r->block };
  const size_t lines = r->touched / LINE_BYTES;
  uint64_t sum = r->sum;
  for (size_t k = 0; k < lines; k++) {
    r->block[STRIDE * k] = sum + k;
  }
  for (size_t k = lines; k-- > 0;) {
    sum += r->block[STRIDE * k];
  }
  r->sum = sum;
}

static void (*const call[CONTESTANTS])(row *r) = {call_recursive, call_passes, call_textbook,
                                                  call_memory};

/* ---- is it right? ---- */

/* Ours into the order and the conventions of models.h. */
static void convert_result(row *r) {
  const bench_model *b = r->b;
  for (int i = 0; i < b->nbody; i++) {
    const int from = coordinate_of(r, i), to = b->vadr[i];
    if (b->joint[i] == BENCH_FREE) {
      memcpy(r->result + to, r->qdd + from, 3 * sizeof(double));
      bench_rotvec_alpha(r->q[0] + from + 3, r->qd[0] + from + 3, r->qdd + from + 3,
                         r->result + to + 3);
    } else {
      r->result[to] = r->qdd[from];
    }
  }
}

bool dynamics_row_is_right(row *r) {
  double largest = 0, worst = 0;
  bool good = true;
  r->turn = 0;
  for (int c = RECURSIVE; c <= PASSES; c++) {
    call[c](r);
    convert_result(r);
    call[TEXTBOOK](r);
    for (int k = 0; k < r->nv; k++) {
      largest = fmax(largest, fabs(r->qdd[k]));
      worst = fmax(worst, fabs(r->result[k] - r->qdd[k]));
      good = good && isfinite(r->result[k]);
    }
    r->difference = worst / largest;
    good = good && r->difference <= DYNAMICS_TOLERANCE;
  }
  call[RECURSIVE](r); /* what is written out is what is public */
  convert_result(r);
  return good;
}

/* ---- timing ---- */

/* The first call, which fetches what another contestant has driven out of the caches, does not
 * count: a simulation calls again and again. */
static double time_batch(row *r, int contestant, long count) {
  call[contestant](r);
  const double start = bench_cpu_seconds();
  for (long k = 0; k < count; k++) {
    r->turn = !r->turn;
    call[contestant](r);
  }
  return (bench_cpu_seconds() - start) / (double)count;
}

bool dynamics_row_time(row *r, double seconds) {
  int batches = 0;
  double spent = 0, *sample = malloc((size_t)CONTESTANTS * BATCHES_MAX * sizeof *sample);
  if (!sample) {
    return false;
  }
  for (int c = 0; c < CONTESTANTS; c++) { /* also warms up */
    r->least[c] = time_batch(r, c, 2);
  }
  while (spent < seconds && batches < BATCHES_MAX) {
    for (int c = 0; c < CONTESTANTS; c++) {
      const long count = lround(fmax(2, BATCH_SECONDS / fmax(r->least[c], 1e-9)));
      const double each = time_batch(r, c, count);
      r->least[c] = fmin(r->least[c], each);
      sample[c * BATCHES_MAX + batches] = each;
      spent += each * (double)count / CONTESTANTS;
    }
    batches++;
  }
  for (int c = 0; c < CONTESTANTS; c++) {
    r->median[c] = bench_median(sample + c * BATCHES_MAX, batches);
  }
  free(sample);
  return true;
}
