/* state.c: states: one block each, compared, hashed, saved and restored bit for bit. */
#include "methods/sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC    0x0a31455441545353u /* "SSTATE1\n" */
#define NO_STATE "this is not a state file of Sinew"

static size_t state_size(const sn_model *m) {
  int most = 0;
  for (int k = 0; sni_method_at(k); k++) {
    const int n = sni_method_at(k)->state_count(m);
    most = n > most ? n : most;
  }
  return sizeof(sn_state) + (size_t)(2 * m->tree.nv + most) * sizeof(double);
}

sn_status sn_state_create(const sn_model *m, sn_state **state, sn_error *err) {
  const size_t size = state_size(m);
  sn_state *s = calloc(1, size);
  *state = s;
  if (!s) {
    return sni_fail(err, SN_E_MEMORY, "no memory for a state of %zu bytes", size);
  }
  s->magic = MAGIC;
  s->size = size;
  s->model_hash = m->hash;
  s->nv = m->tree.nv;
  if (m->tree.nv > 0) {
    memcpy(sni_state_q(s), m->q0, (size_t)m->tree.nv * sizeof(double));
    memcpy(sni_state_qd(s), m->qd0, (size_t)m->tree.nv * sizeof(double));
  }
  return SN_OK;
}

sn_status sn_state_clone(const sn_state *from, sn_state **state) {
  *state = malloc(from->size);
  if (!*state) {
    return SN_E_MEMORY;
  }
  memcpy(*state, from, from->size);
  return SN_OK;
}

sn_status sn_state_copy(sn_state *to, const sn_state *from) {
  if (to->size != from->size || to->model_hash != from->model_hash) {
    return SN_E_MISMATCH;
  }
  memcpy(to, from, from->size);
  return SN_OK;
}

void sn_state_free(sn_state **state) {
  free(*state);
  *state = NULL;
}

bool sn_state_equal(const sn_state *a, const sn_state *b) {
  return a->size == b->size && memcmp(a, b, a->size) == 0;
}

uint64_t sn_state_hash(const sn_state *s) {
  return sni_hash(SNI_HASH_SEED, s, s->size);
}

/* FNV-1a of whole words: every step of contact takes one. */
uint64_t sni_state_mark(const sn_state *s) {
  uint64_t mark = SNI_HASH_SEED, word;
  for (int64_t k = -1; k < 2 * s->nv; k++) {
    memcpy(&word, k < 0 ? &s->t : &s->data[k], sizeof word);
    mark = (mark ^ word) * 0x100000001b3u;
    mark ^= mark >> 32; /* else high bits never reach low ones */
  }
  return mark;
}

double *sn_state_time(sn_state *s) {
  return &s->t;
}
double *sn_state_q(sn_state *s) {
  return sni_state_q(s);
}
double *sn_state_qd(sn_state *s) {
  return sni_state_qd(s);
}

/* The file: the block, then its hash. */
sn_status sn_state_save(const sn_state *s, const char *path, sn_error *err) {
  FILE *f = fopen(path, "wb");
  if (!f) {
    return sni_fail(err, SN_E_FILE, "cannot write '%s': %s", path, strerror(errno));
  }
  const uint64_t hash = sn_state_hash(s);
  bool ok = fwrite(s, 1, s->size, f) == s->size;
  ok = fwrite(&hash, sizeof hash, 1, f) == 1 && ok;
  ok = fclose(f) == 0 && ok;
  return ok ? SN_OK : sni_fail(err, SN_E_FILE, "cannot write '%s': %s", path, strerror(errno));
}

static sn_status read_state(const sn_model *m, FILE *f, const char *path, sn_state *s,
                            sn_error *err) {
  const size_t size = state_size(m);
  uint64_t hash = 0;
  const size_t got = fread(s, 1, size, f);
  if (got < sizeof *s || s->magic != MAGIC) {
    return sni_fail(err, SN_E_FILE, "'%s': %s", path, NO_STATE);
  }
  if (s->model_hash == m->hash && s->nv == m->tree.nv && s->size != size) {
    return sni_fail(err, SN_E_MISMATCH,
                    "'%s' was saved by another version of Sinew, whose states have %zu bytes and "
                    "not %zu: run from the start once more",
                    path, (size_t)s->size, size);
  }
  if (s->model_hash != m->hash || s->nv != m->tree.nv) {
    return sni_fail(
        err, SN_E_MISMATCH,
        "'%s' was saved from another model (its bodies, joints or constraints differ): load it "
        "with the scene that it came from",
        path);
  }
  if (got != size || fread(&hash, sizeof hash, 1, f) != 1 || hash != sn_state_hash(s) ||
      fgetc(f) != EOF) {
    return sni_fail(err, SN_E_FILE, "'%s' is damaged: save it again", path);
  }
  return SN_OK;
}

sn_status sn_state_load(const sn_model *m, const char *path, sn_state **state, sn_error *err) {
  *state = NULL;
  FILE *f = fopen(path, "rb");
  if (!f) {
    return sni_fail(err, SN_E_FILE, "cannot read '%s': %s", path, strerror(errno));
  }
  sn_state *s = NULL;
  sn_status status = sn_state_create(m, &s, err);
  if (!status) {
    status = read_state(m, f, path, s, err);
  }
  fclose(f);
  if (status) {
    sn_state_free(&s);
  }
  *state = s;
  return status;
}
