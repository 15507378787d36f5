/* joint_samples.h: random joints of every kind in the table, built as they stand in a model, and
 * evaluated.
 *
 * A new kind is tested as soon as it is in the table of joint.c, with the keys that random_def
 * knows. */
#ifndef SINEW_JOINT_SAMPLES_H
#define SINEW_JOINT_SAMPLES_H

#include "vectors.h"

#include "model/joint.h"

#include <float.h>

static inline sn_vec3 random_vec3(uint64_t *seed, double lo, double hi) {
  const double x = test_random(seed, lo, hi), y = test_random(seed, lo, hi);
  return (sn_vec3){x, y, test_random(seed, lo, hi)};
}

static inline void fill_random(uint64_t *seed, int n, double lo, double hi, double *x) {
  for (int i = 0; i < n; i++) {
    x[i] = test_random(seed, lo, hi);
  }
}

/* A rotation by up to half a turn over sqrt(3), so that two of them are less than half a turn
 * apart whichever way. */
static inline sn_se3 random_pose(uint64_t *seed) {
  const sn_mat3 R = sn_so3_exp(random_vec3(seed, -0.8, 0.8));
  return (sn_se3){R, random_vec3(seed, -1, 1)};
}

/* A definition with all that it points to. */
#define GRID_MAX  7
#define FRAME_MAX 9
typedef struct storage {
  sn_joint_def def, part[4], inner[3];
  sn_se3 frame[FRAME_MAX];
  double grid[GRID_MAX * GRID_MAX * 6];
} storage;

/* Chains for composites; a composite inside is a hinge on a slider in a plane. */
static const char *const recipe[][4] = {{"revolute", "prismatic"},
                                        {"universal", "prismatic"},
                                        {"translation3", "spherical"},
                                        {"spherical", "translation3"},
                                        {"revolute", "revolute", "revolute"},
                                        {"planar", "cylindrical"},
                                        {"spline_curve", "revolute"},
                                        {"spline_surface", "screw"},
                                        {"fixed", "universal", "fixed", "prismatic"},
                                        {"free"},
                                        {"free_rt"},
                                        {"revolute", "composite", "spline_curve"},
                                        {"fixed"}};

static inline sn_joint_def random_keys(const char *type, uint64_t *seed, storage *m) {
  sn_joint_def def = sn_joint_def_default();
  def.type = type;
  def.axis = sn_vec3_add(random_vec3(seed, -1, 1), (sn_vec3){0, 0, 1.5});
  def.pitch = test_random(seed, -1, 1);
  def.frames = m->frame;
  def.nframe = 4 + (int)(test_random_u64(seed) % (FRAME_MAX - 3));
  def.cyclic = test_random_u64(seed) % 2;
  def.grid = m->grid;
  def.grid_rows = 4 + (int)(test_random_u64(seed) % (GRID_MAX - 3));
  def.grid_columns = 4 + (int)(test_random_u64(seed) % (GRID_MAX - 3));
  return def;
}

/* Any joint of a kind: keys that the kind does not know do not matter. */
static inline void random_def(const char *type, uint64_t *seed, storage *m) {
  for (int i = 0; i < FRAME_MAX; i++) {
    m->frame[i] = random_pose(seed);
  }
  for (int i = 0; i < GRID_MAX * GRID_MAX * 6; i++) {
    m->grid[i] = i % 6 < 3 ? test_random(seed, -1, 1) : test_random(seed, -0.7, 0.7);
  }
  m->def = random_keys(type, seed, m);
  m->def.at = random_pose(seed);
  const char *const *chain = recipe[test_random_u64(seed) % (sizeof recipe / sizeof recipe[0])];
  m->def.parts = m->part;
  m->def.npart = 0;
  for (int p = 0; p < 4 && chain[p]; p++, m->def.npart++) {
    m->part[p] = random_keys(chain[p], seed, m);
    if (strcmp(chain[p], "composite") == 0) {
      m->inner[0] = random_keys("revolute", seed, m);
      m->inner[1] = random_keys("translation2", seed, m);
      m->part[p].parts = m->inner;
      m->part[p].npart = 2;
    }
  }
}

/* Joints as they stand in a model: n of them, then the parts of composites. */
#define JOINT_MAX SNI_RUN_MAX
typedef struct sample {
  sni_joint_builder b;
  sni_joint *list;
  int adr[JOINT_MAX + 1]; /* first coordinate */
  sn_vec6 S0[JOINT_MAX * SN_NV_MAX];
} sample;

static inline sn_status build(const sn_joint_def *const *def, int n, sample *s, sn_error *err) {
  *s = (sample){.adr = {0}};
  sni_joint joint[JOINT_MAX] = {0};
  sn_status status = SN_OK;
  for (int j = 0; j < n && !status; j++) {
    status = sni_joint_finish(&s->b, def[j], &joint[j], s->S0 + s->adr[j], err);
    s->adr[j + 1] = s->adr[j] + joint[j].nv;
  }
  s->list = calloc((size_t)n + (size_t)s->b.npart, sizeof *s->list);
  CHECK(s->list, "no memory");
  for (int j = 0; j < n + s->b.npart; j++) {
    s->list[j] = j < n ? joint[j] : s->b.part[j - n];
    s->list[j].part_first += n;
  }
  return status;
}

static inline void build_one(const sn_joint_def *def, sample *s) {
  sn_error err = {0};
  const sn_status status = build(&def, 1, s, &err);
  CHECK(status == SN_OK, "%s: %s: %s", def->type, err.path, err.text);
}

static inline void drop(sample *s) {
  free(s->list);
  free(s->b.pool);
  free(s->b.part);
}

static inline sni_joint_set set_of(const sample *s) {
  return (sni_joint_set){s->list, s->b.pool};
}

static inline const sni_joint_ops *ops_of(const sample *s) {
  return sni_joint_ops_of(set_of(s), 0);
}

typedef struct kin {
  sn_se3 E;
  sn_vec6 S[SN_NV_MAX], Sdot[SN_NV_MAX];
} kin;

/* One joint alone, with the constant columns where it leaves them alone. */
static inline kin calc(const sample *s, int j, const double *q, const double *qd) {
  kin k = {0};
  memcpy(k.S, s->S0 + s->adr[j], (size_t)s->list[j].nv * sizeof *k.S);
  sni_joint_ops_of(set_of(s), j)->calc(set_of(s), j, 1, q, qd, (sni_joint_out){&k.E, k.S, k.Sdot});
  return k;
}

static inline double norm6(sn_vec6 a) {
  return sqrt(sn_vec6_dot(a, a));
}

/* Largest difference; NaN counts as infinite. */
static inline double worse(double most, double e) {
  return isnan(e) ? INFINITY : fmax(most, fabs(e));
}

static inline double pose_distance(sn_se3 A, sn_se3 B) {
  double most = sn_vec3_norm(sn_vec3_sub(A.p, B.p));
  for (int i = 0; i < 9; i++) {
    most = worse(most, A.R.m[i / 3][i % 3] - B.R.m[i / 3][i % 3]);
  }
  return most;
}

static inline double kin_distance(const kin *a, const kin *b, int nv) {
  double most = pose_distance(a->E, b->E);
  for (int c = 0; c < nv; c++) {
    most = worse(most, norm6(sn_vec6_sub(a->S[c], b->S[c])));
    most = worse(most, norm6(sn_vec6_sub(a->Sdot[c], b->Sdot[c])));
  }
  return most;
}

static inline bool has_spline(const sn_joint_def *def) {
  bool spline = strncmp(def->type, "spline", 6) == 0;
  for (int p = 0; strcmp(def->type, "composite") == 0 && p < def->npart; p++) {
    spline = spline || has_spline(&def->parts[p]);
  }
  return spline;
}

static inline sn_joint_def part(const char *type, double x, double y, double z) {
  sn_joint_def def = sn_joint_def_default();
  def.type = type;
  def.axis = (sn_vec3){x, y, z};
  return def;
}

static inline sn_joint_def chain(const sn_joint_def *parts, int n) {
  sn_joint_def def = part("composite", 0, 0, 0);
  def.parts = parts;
  def.npart = n;
  return def;
}

static inline sn_status try_finish(const sn_joint_def *def, sn_error *err) {
  sample s;
  *err = (sn_error){0};
  const sn_status status = build(&def, 1, &s, err);
  drop(&s);
  return status;
}

#endif
