/* Every kind of joint in the table: its derivatives, springs, coordinates and limits.
 *
 * A new kind is tested as soon as it is in the table of joint.c, with the keys that random_def
 * knows. */
#include "vectors.h"

#include "model/joint.h"

#include <float.h>

/* ---- Samples --------------------------------------------------------------------------------- */

static sn_vec3 random_vec3(uint64_t *seed, double lo, double hi) {
  const double x = test_random(seed, lo, hi), y = test_random(seed, lo, hi);
  return (sn_vec3){x, y, test_random(seed, lo, hi)};
}

static void fill_random(uint64_t *seed, int n, double lo, double hi, double *x) {
  for (int i = 0; i < n; i++) {
    x[i] = test_random(seed, lo, hi);
  }
}

/* A rotation by up to half a turn over sqrt(3), so that two of them are less than half a turn
 * apart whichever way. */
static sn_se3 random_pose(uint64_t *seed) {
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

static sn_joint_def random_keys(const char *type, uint64_t *seed, storage *m) {
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
static void random_def(const char *type, uint64_t *seed, storage *m) {
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

static sn_status build(const sn_joint_def *const *def, int n, sample *s, sn_error *err) {
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

static void build_one(const sn_joint_def *def, sample *s) {
  sn_error err = {0};
  const sn_status status = build(&def, 1, s, &err);
  CHECK(status == SN_OK, "%s: %s: %s", def->type, err.path, err.text);
}

static void drop(sample *s) {
  free(s->list);
  free(s->b.pool);
  free(s->b.part);
}

static sni_joint_set set_of(const sample *s) {
  return (sni_joint_set){s->list, s->b.pool};
}

static const sni_joint_ops *ops_of(const sample *s) {
  return sni_joint_ops_of(set_of(s), 0);
}

typedef struct kin {
  sn_se3 E;
  sn_vec6 S[SN_NV_MAX], Sdot[SN_NV_MAX];
} kin;

/* One joint alone, with the constant columns where it leaves them alone. */
static kin calc(const sample *s, int j, const double *q, const double *qd) {
  kin k = {0};
  memcpy(k.S, s->S0 + s->adr[j], (size_t)s->list[j].nv * sizeof *k.S);
  sni_joint_ops_of(set_of(s), j)->calc(set_of(s), j, 1, q, qd, (sni_joint_out){&k.E, k.S, k.Sdot});
  return k;
}

static double norm6(sn_vec6 a) {
  return sqrt(sn_vec6_dot(a, a));
}

/* Largest difference; NaN counts as infinite. */
static double worse(double most, double e) {
  return isnan(e) ? INFINITY : fmax(most, fabs(e));
}

static double pose_distance(sn_se3 A, sn_se3 B) {
  double most = sn_vec3_norm(sn_vec3_sub(A.p, B.p));
  for (int i = 0; i < 9; i++) {
    most = worse(most, A.R.m[i / 3][i % 3] - B.R.m[i / 3][i % 3]);
  }
  return most;
}

static double kin_distance(const kin *a, const kin *b, int nv) {
  double most = pose_distance(a->E, b->E);
  for (int c = 0; c < nv; c++) {
    most = worse(most, norm6(sn_vec6_sub(a->S[c], b->S[c])));
    most = worse(most, norm6(sn_vec6_sub(a->Sdot[c], b->Sdot[c])));
  }
  return most;
}

static bool has_spline(const sn_joint_def *def) {
  bool spline = strncmp(def->type, "spline", 6) == 0;
  for (int p = 0; strcmp(def->type, "composite") == 0 && p < def->npart; p++) {
    spline = spline || has_spline(&def->parts[p]);
  }
  return spline;
}

/* ---- The table ------------------------------------------------------------------------------- */

TEST(table_is_sound) {
  CHECK(sni_joint_kind_count() >= 15, "%d kinds", sni_joint_kind_count());
  for (int k = 0; k < sni_joint_kind_count(); k++) {
    const sni_joint_ops *ops = sni_joint_kind(k);
    CHECK(ops->kind.keyword && ops->kind.doc && ops->finish && ops->calc, "kind %d", k);
    CHECK(sni_joint_kind_find(ops->kind.keyword) == k, "%s is there twice", ops->kind.keyword);
    CHECK(ops->nv >= -1 && ops->nv <= SN_NV_MAX, "%s: nv %d", ops->kind.keyword, ops->nv);
    CHECK(!ops->axis_free || ops->from_pose, "%s has no from_pose", ops->kind.keyword);
  }
  CHECK(sni_joint_kind_find("hinge") == -1, "hinge");
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

#define STEP 2e-3 /* of the differences below, at most */

/* The second derivatives of splines kink at whole numbers: a difference must not straddle one.
 * Knots have a test of their own. */
static void avoid_knots(int n, double *q) {
  for (int i = 0; i < n; i++) {
    const double gap = q[i] - rint(q[i]);
    q[i] += fabs(gap) < 2 * STEP ? copysign(4 * STEP, gap) : 0;
  }
}

/* (4 D(h/2) - D(h)) / 3 */
static sn_vec6 richardson(const sn_vec6 D[2]) {
  return sn_vec6_addscaled(sn_vec6_scale(D[1], 4.0 / 3), -1.0 / 3, D[0]);
}

/* unbracket(Q^-1 dQ/dq_c), from differences of matrices: no logarithm is needed. */
static sn_vec6 fd_column(const sample *s, const double *q, int c, double step) {
  const double zero[SN_NV_MAX] = {0};
  const int nv = s->list[0].nv;
  const sn_se3 E = calc(s, 0, q, zero).E;
  sn_vec6 D[2];
  for (int level = 0; level < 2; level++) {
    const double h = level == 0 ? step : step / 2;
    double q1[SN_NV_MAX], q2[SN_NV_MAX];
    memcpy(q1, q, (size_t)nv * sizeof *q);
    memcpy(q2, q, (size_t)nv * sizeof *q);
    q1[c] += h;
    q2[c] -= h;
    const sn_se3 A = calc(s, 0, q1, zero).E, B = calc(s, 0, q2, zero).E;
    const sn_mat3 W = sn_mat3_tmul(E.R, sn_mat3_add(A.R, sn_mat3_scale(B.R, -1)));
    const sn_vec3 w = {W.m[2][1] - W.m[1][2], W.m[0][2] - W.m[2][0], W.m[1][0] - W.m[0][1]};
    D[level] = (sn_vec6){sn_vec3_scale(w, 1 / (4 * h)),
                         sn_vec3_scale(sn_mat3_tmul_vec(E.R, sn_vec3_sub(A.p, B.p)), 1 / (2 * h))};
  }
  return richardson(D);
}

static sn_vec6 fd_column_rate(const sample *s, const double *q, const double *qd, int c,
                              double step) {
  sn_vec6 D[2];
  for (int level = 0; level < 2; level++) {
    const double h = level == 0 ? step : step / 2;
    double q1[SN_NV_MAX], q2[SN_NV_MAX];
    for (int i = 0; i < s->list[0].nv; i++) {
      q1[i] = q[i] + h * qd[i];
      q2[i] = q[i] - h * qd[i];
    }
    const kin a = calc(s, 0, q1, qd), b = calc(s, 0, q2, qd);
    D[level] = sn_vec6_scale(sn_vec6_sub(a.S[c], b.S[c]), 1 / (2 * h));
  }
  return richardson(D);
}

/* [S_c] = Q^-1 dQ/dq_c [RMS 38] and Sdot = dS/dt along (q, qd), |qd_i| < 1.
 * With L = the largest of 1, |S|, |Sdot| each derivative brings a factor of about L, and
 * h = 2e-3 / L leaves h^4/480 L^5 = 3e-14 L, a hundred times that on splines, whose third
 * derivatives are larger.  Rounding leaves eps/h times poses of size 10: 2e-12 L. */
static void check_derivatives(const sample *s, const double *q, const double *qd,
                              const char *where) {
  const kin k = calc(s, 0, q, qd);
  const sn_mat3 RtR = sn_mat3_tmul(k.E.R, k.E.R);
  const double unit = pose_distance((sn_se3){.R = RtR}, sn_se3_identity());
  CHECK(unit < tol(1e-14), "%s: R is no rotation by %.2g", where, unit);
  double size = 1;
  for (int c = 0; c < s->list[0].nv; c++) {
    size = fmax(size, fmax(norm6(k.S[c]), norm6(k.Sdot[c])));
  }
  const double h = STEP / size;
  for (int c = 0; c < s->list[0].nv; c++) {
    const double err = norm6(sn_vec6_sub(k.S[c], fd_column(s, q, c, h))) / size;
    CHECK(err < tol(1e-10), "%s, column %d: S off by %.2g", where, c, err);
    const double rate = norm6(sn_vec6_sub(k.Sdot[c], fd_column_rate(s, q, qd, c, h))) / size;
    CHECK(rate < tol(1e-10), "%s, column %d: Sdot off by %.2g", where, c, rate);
  }
}

TEST(S_is_the_derivative_of_Q_and_Sdot_its_rate) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const char *type = sni_joint_kind(kind)->kind.keyword;
    for (unsigned n = 0; n < 1000; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(type, &seed, &m);
      build_one(&m.def, &s);
      double q[SN_NV_MAX], qd[SN_NV_MAX];
      /* splines: from one before the first segment to one after the only one, if there is one */
      const bool spline = has_spline(&m.def);
      fill_random(&seed, SN_NV_MAX, spline ? -1 : -2.7, spline ? 2 : 2.7, q);
      fill_random(&seed, SN_NV_MAX, -1, 1, qd);
      avoid_knots(SN_NV_MAX, q);
      char where[64];
      snprintf(where, sizeof where, "%s, seed %u", type, n);
      check_derivatives(&s, q, qd, where);
      drop(&s);
    }
  }
}

/* The same with coordinates of given length, each triple of its own: rotation vectors at zero, on
 * both sides of the switches of the formulas, at half turns, where they are replaced, and at whole
 * turns, where S is singular but smooth. */
TEST(derivatives_next_to_singular_places) {
  const double length[] = {0,
                           0x1p-1022,
                           1e-12,
                           1e-9,
                           1e-6,
                           1e-3,
                           0.5 - 1e-9,
                           0.5,
                           0.5 + 1e-9,
                           SN_PI - 1e-9,
                           SN_PI,
                           1.5 * SN_PI,
                           2 * SN_PI - 1e-3,
                           2 * SN_PI - 1e-9,
                           2 * SN_PI,
                           2 * SN_PI + 1e-6};
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const char *type = sni_joint_kind(kind)->kind.keyword;
    for (int place = 0; place < SNI_COUNT(length); place++) {
      for (unsigned n = 0; n < 20; n++) {
        uint64_t seed = n;
        storage m;
        sample s;
        random_def(type, &seed, &m);
        build_one(&m.def, &s);
        double q[SN_NV_MAX], qd[SN_NV_MAX];
        for (int i = 0; i < SN_NV_MAX; i += 3) {
          sn_vec3 d = sn_vec3_add(random_vec3(&seed, -1, 1), (sn_vec3){0, 1.1, 0});
          d = sn_vec3_scale(d, length[place] / sn_vec3_norm(d));
          memcpy(q + i, &d, sizeof d);
        }
        fill_random(&seed, SN_NV_MAX, -1, 1, qd);
        if (has_spline(&m.def)) {
          avoid_knots(SN_NV_MAX, q);
          if (length[place] > 2) { /* has no business that far beyond its ends */
            drop(&s);
            continue;
          }
        }
        char where[64];
        snprintf(where, sizeof where, "%s, seed %u, |q| = %.17g", type, n, length[place]);
        check_derivatives(&s, q, qd, where);
        drop(&s);
      }
    }
  }
}

/* The supplement has Sdot = 0 at q = 0; it is -[qd]/2, exactly. */
TEST(spherical_Sdot_at_zero) {
  uint64_t seed = 1;
  storage m;
  sample s;
  random_def("spherical", &seed, &m);
  build_one(&m.def, &s);
  const double q[3] = {0}, qd[3] = {0.4, -1.3, 0.9};
  const kin k = calc(&s, 0, q, qd);
  const sn_mat3 want = sn_mat3_scale(sn_mat3_cross((sn_vec3){qd[0], qd[1], qd[2]}), -0.5);
  for (int c = 0; c < 3; c++) {
    const sn_vec6 e = {.w = {c == 0, c == 1, c == 2}};
    CHECK(norm6(sn_vec6_sub(k.S[c], e)) == 0, "S, column %d", c);
    CHECK(norm6(sn_vec6_sub(k.Sdot[c], (sn_vec6){.w = sn_mat3_col(want, c)})) == 0, "Sdot, %d", c);
  }
  drop(&s);
}

/* E_pb(0) = at: for all but splines, which begin where their curve begins. */
TEST(a_joint_at_zero_is_where_it_was_put) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    for (unsigned n = 0; n < 20; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      const double zero[SN_NV_MAX] = {0};
      const double err = pose_distance(calc(&s, 0, zero, zero).E, m.def.at);
      CHECK(has_spline(&m.def) || err < tol(4e-16), "%s: off by %.2g", m.def.type, err);
      drop(&s);
    }
  }
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

TEST(a_constant_S_is_left_alone) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const sni_joint_ops *ops = sni_joint_kind(kind);
    uint64_t seed = 5;
    storage m;
    sample s;
    random_def(ops->kind.keyword, &seed, &m);
    build_one(&m.def, &s);
    double q[SN_NV_MAX], qd[SN_NV_MAX];
    fill_random(&seed, SN_NV_MAX, -2, 2, q);
    fill_random(&seed, SN_NV_MAX, -2, 2, qd);
    kin k;
    memset(&k, 0x55, sizeof k);
    const kin before = k;
    ops->calc(set_of(&s), 0, 1, q, qd, (sni_joint_out){&k.E, k.S, k.Sdot});
    for (int c = 0; c < SN_NV_MAX; c++) {
      const bool written = !same_bits(&k.S[c], &before.S[c], sizeof k.S[c]) ||
                           !same_bits(&k.Sdot[c], &before.Sdot[c], sizeof k.Sdot[c]);
      CHECK(written == (!ops->constant_S && c < s.list[0].nv), "%s, column %d: written %d",
            ops->kind.keyword, c, written);
    }
    drop(&s);
  }
}

/* A run of joints, composites of different sizes among them, gives the same bits as one at a time:
 * runs are cut into chunks. */
TEST(a_run_equals_one_at_a_time) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const sni_joint_ops *ops = sni_joint_kind(kind);
    for (unsigned n = 0; n < 40; n++) {
      uint64_t seed = n;
      const int count = 1 + (int)n * 7 % JOINT_MAX;
      static storage m[JOINT_MAX];
      const sn_joint_def *def[JOINT_MAX];
      for (int j = 0; j < count; j++) {
        random_def(ops->kind.keyword, &seed, &m[j]);
        def[j] = &m[j].def;
      }
      sample s;
      sn_error err;
      CHECK(build(def, count, &s, &err) == SN_OK, "%s: %s", ops->kind.keyword, err.text);
      double q[JOINT_MAX * SN_NV_MAX], qd[JOINT_MAX * SN_NV_MAX];
      fill_random(&seed, JOINT_MAX * SN_NV_MAX, -4, 4, q);
      fill_random(&seed, JOINT_MAX * SN_NV_MAX, -1, 1, qd);
      sn_se3 E[JOINT_MAX];
      sn_vec6 S[JOINT_MAX * SN_NV_MAX], Sdot[JOINT_MAX * SN_NV_MAX] = {0};
      memcpy(S, s.S0, sizeof S);
      ops->calc(set_of(&s), 0, count, q, qd, (sni_joint_out){E, S, Sdot});
      for (int j = 0; j < count; j++) {
        const int adr = s.adr[j];
        const size_t columns = (size_t)s.list[j].nv * sizeof *S;
        const kin k = calc(&s, j, q + adr, qd + adr);
        CHECK(same_bits(&k.E, &E[j], sizeof k.E) && same_bits(k.S, S + adr, columns) &&
                  same_bits(k.Sdot, Sdot + adr, columns),
              "%s, %d joints: number %d differs", ops->kind.keyword, count, j);
      }
      drop(&s);
    }
  }
}

/* What is not a number stays so, and nothing outside is read. */
TEST(coordinates_that_are_not_finite) {
  const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e18, -1e18};
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    for (int n = 0; n < 13 * SNI_COUNT(bad); n++) {
      uint64_t seed = (unsigned)n / 7u;
      storage m;
      sample s;
      random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      double q[SN_NV_MAX], qd[SN_NV_MAX] = {1, 1, 1, 1, 1, 1};
      for (int i = 0; i < SN_NV_MAX; i++) {
        q[i] = bad[n % SNI_COUNT(bad)];
      }
      const kin k = calc(&s, 0, q, qd);
      if (!isfinite(q[0]) && s.list[0].nv > 0) {
        const double sum = sn_vec3_norm(k.E.p) + sn_mat3_trace(k.E.R);
        CHECK(!isfinite(sum), "%s: %g gave a pose", m.def.type, q[0]);
      }
      if (ops_of(&s)->reparam) {
        ops_of(&s)->reparam(set_of(&s), 0, q, qd);
      }
      drop(&s);
    }
  }
}

/* ---- Two ways to one joint ------------------------------------------------------------------- */

static sn_joint_def part(const char *type, double x, double y, double z) {
  sn_joint_def def = sn_joint_def_default();
  def.type = type;
  def.axis = (sn_vec3){x, y, z};
  return def;
}

/* Kinds that are chains of others: numbers of size 10, a few roundings. */
TEST(kinds_equal_chains_of_simpler_ones) {
  const struct {
    const char *type;
    sn_joint_def chain[3];
    int n;
  } pair[] = {{"universal", {part("revolute", 1, 0, 0), part("revolute", 0, 1, 0)}, 2},
              {"planar", {part("translation2", 0, 0, 0), part("revolute", 0, 0, 1)}, 2},
              {"free", {part("translation3", 0, 0, 0), part("spherical", 0, 0, 0)}, 2},
              {"free_rt", {part("spherical", 0, 0, 0), part("translation3", 0, 0, 0)}, 2},
              {"cylindrical", {part("revolute", 1, 2, 3), part("prismatic", 1, 2, 3)}, 2},
              {"translation2", {part("prismatic", 1, 0, 0), part("prismatic", 0, 2, 0)}, 2},
              {"translation3",
               {part("prismatic", 1, 0, 0), part("prismatic", 0, 2, 0), part("prismatic", 0, 0, 3)},
               3},
              {"spherical", {part("spherical", 0, 0, 0)}, 1}};
  for (int k = 0; k < SNI_COUNT(pair); k++) {
    uint64_t seed = 6;
    sn_joint_def one = part(pair[k].type, 1, 2, 3), many = part("composite", 0, 0, 0);
    one.at = many.at = random_pose(&seed);
    many.parts = pair[k].chain;
    many.npart = pair[k].n;
    sample a, b;
    build_one(&one, &a);
    build_one(&many, &b);
    CHECK(a.list[0].nv == b.list[0].nv, "%s", pair[k].type);
    for (int n = 0; n < 200; n++) {
      double q[SN_NV_MAX], qd[SN_NV_MAX];
      fill_random(&seed, SN_NV_MAX, -3, 3, q);
      fill_random(&seed, SN_NV_MAX, -2, 2, qd);
      const kin x = calc(&a, 0, q, qd), y = calc(&b, 0, q, qd);
      const double err = kin_distance(&x, &y, a.list[0].nv);
      CHECK(err < tol(1e-13), "%s, sample %d: off by %.2g", pair[k].type, n, err);
    }
    drop(&a);
    drop(&b);
  }
}

TEST(a_screw_advances_by_its_pitch) {
  sn_joint_def def = part("screw", 0, 0, 5);
  def.pitch = 0.25;
  sample s;
  build_one(&def, &s);
  for (int turn = -3; turn <= 3; turn++) {
    const double q = 2 * SN_PI * turn, qd = 1;
    const sn_se3 want = sn_pose(0, 0, 0.25 * q);
    const double err = pose_distance(calc(&s, 0, &q, &qd).E, want);
    CHECK(err < tol(4e-15), "turn %d: off by %.2g", turn, err); /* 6 pi is rounded */
  }
  drop(&s);
}

/* ---- Test vectors ---------------------------------------------------------------------------- */

static void read_def(const sni_node *params, const char *type, storage *m, sn_joint_def *def);

/* A chain of two, which may contain another one. */
static void read_chain(const sni_node *params, storage *m, sn_joint_def *parts) {
  const char *const key[2] = {"joint1", "joint2"};
  for (int p = 0; p < 2; p++) {
    const sni_node *joint = sni_node_get(params, key[p]);
    read_def(joint, vectors_text(joint, "type"), m, &parts[p]);
  }
}

static void read_def(const sni_node *params, const char *type, storage *m, sn_joint_def *def) {
  static const char *const name[][2] = {{"planar", "translation2"},
                                        {"translational", "translation3"},
                                        {"free", "free_rt"},
                                        {"splinecurve", "spline_curve"},
                                        {"splinesurface", "spline_surface"}};
  *def = sn_joint_def_default();
  def->type = type;
  for (int k = 0; k < SNI_COUNT(name); k++) {
    def->type = strcmp(type, name[k][0]) == 0 ? name[k][1] : def->type;
  }
  const sni_node *C = sni_node_get(params, "C");
  if (sni_node_get(params, "axis")) {
    def->axis = vectors_vec3(params, "axis");
  } else if (strcmp(type, "composite") == 0) {
    def->parts = def == &m->def ? m->part : m->inner;
    def->npart = 2;
    read_chain(params, m, def == &m->def ? m->part : m->inner);
  } else if (strcmp(type, "splinecurve") == 0) {
    def->frames = m->frame;
    def->nframe = (int)sni_node_count(C);
    def->cyclic = true;
    for (int i = 0; i < def->nframe; i++) {
      m->frame[i] = vectors_pose(sni_node_at(C, (size_t)i));
    }
  } else if (strcmp(type, "splinesurface") == 0) {
    double c[6][4][4]; /* [k][row][column] there, [row][column][k] here */
    vectors_read(C, 96, &c[0][0][0]);
    for (int i = 0; i < 96; i++) {
      m->grid[i] = c[i % 6][i / 24][i / 6 % 4];
    }
    def->grid = m->grid;
    def->grid_rows = def->grid_columns = 4;
  }
}

/* Columns of a matrix written as six rows. */
static void read_columns(const sni_node *node, int nv, sn_vec6 *out) {
  double x[6 * SN_NV_MAX] = {0};
  vectors_read(node, 6 * nv, x);
  for (int c = 0; c < nv; c++) {
    const double *w = x + c, *v = x + 3 * nv + c;
    out[c] = (sn_vec6){{w[0], w[nv], w[2 * nv]}, {v[0], v[nv], v[2 * nv]}};
  }
}

TEST(joints_equal_the_vectors) {
  sni_doc *doc = vectors_open("joints.json");
  const sni_node *list = sni_node_get(sni_doc_root(doc), "joints");
  CHECK(sni_node_count(list) == 23, "%zu samples", sni_node_count(list));
  for (size_t i = 0; i < sni_node_count(list); i++) {
    const sni_node *joint = sni_node_at(list, i);
    storage m;
    sample s;
    read_def(sni_node_get(joint, "params"), vectors_text(joint, "type"), &m, &m.def);
    const sn_joint_def *def = &m.def;
    sn_error err = {0};
    const sn_status status = build(&def, 1, &s, &err);
    /* one chain slides along a line and in space as well: refused, but complete by then */
    CHECK(status == SN_OK || (i == 18 && strstr(err.text, "only 4 independent motions")),
          "sample %zu, %s: %s", i, def->type, err.text);
    const int nv = s.list[0].nv;
    double q[SN_NV_MAX], qd[SN_NV_MAX];
    vectors_read(sni_node_get(joint, "q"), nv, q);
    vectors_read(sni_node_get(joint, "qdot"), nv, qd);
    kin want = {.E = vectors_pose(sni_node_get(joint, "Q"))};
    read_columns(sni_node_get(joint, "S"), nv, want.S);
    read_columns(sni_node_get(joint, "Sdot"), nv, want.Sdot);
    kin got = calc(&s, 0, q, qd);
    const double most = kin_distance(&got, &want, nv);
    CHECK(most < tol(1e-12), "sample %zu, %s: off by %.2g", i, m.def.type, most);

    /* dS/dq_j is Sdot at the rates e_j */
    const sni_node *dSdq = sni_node_get(joint, "dSdq");
    double flat[24] = {0};
    if (dSdq) {
      vectors_read(dSdq, 24, flat);
    }
    for (int j = 0; dSdq && j < 2; j++) {
      const double e[2] = {j == 0, j == 1};
      got = calc(&s, 0, q, e);
      for (int k = 0; k < 12; k++) { /* dSdq[row][column][j] */
        const double off = flat[2 * k + j] - sn_vec6_get(got.Sdot[k % 2], k / 2);
        CHECK(fabs(off) < tol(1e-12), "sample %zu, dS/dq%d: off by %.2g", i, j, off);
      }
    }
    drop(&s);
  }
  sni_doc_free(&doc);
}

/* ---- Composites ------------------------------------------------------------------------------ */

static sn_joint_def chain(const sn_joint_def *parts, int n) {
  sn_joint_def def = part("composite", 0, 0, 0);
  def.parts = parts;
  def.npart = n;
  return def;
}

static sn_status try_finish(const sn_joint_def *def, sn_error *err) {
  sample s;
  *err = (sn_error){0};
  const sn_status status = build(&def, 1, &s, err);
  drop(&s);
  return status;
}

TEST(composites_with_dependent_columns_are_refused) {
  const sn_joint_def inner[2] = {part("revolute", 1, 0, 0), part("revolute", 0, 1, 0)};
  const struct {
    const char *what;
    sn_joint_def part[4];
    int n, nv, rank;
  } bad[] = {
      {"hinge before a ball", {part("revolute", 1, 2, 3), part("spherical", 0, 0, 0)}, 2, 4, 3},
      {"hinge behind a ball", {part("spherical", 0, 0, 0), part("revolute", 1, 2, 3)}, 2, 4, 3},
      {"two hinges on one axis", {part("revolute", 1, 2, 3), part("revolute", 2, 4, 6)}, 2, 2, 1},
      {"and turned round", {part("revolute", 1, 2, 3), part("revolute", -1, -2, -3)}, 2, 2, 1},
      {"two sliders on one axis",
       {part("prismatic", 0, 1, 0), part("prismatic", 0, 9, 0)},
       2,
       2,
       1},
      {"slider in space", {part("prismatic", 0, 1, 0), part("translation3", 0, 0, 0)}, 2, 4, 3},
      {"slider in its plane", {part("translation2", 0, 0, 0), part("prismatic", 1, 1, 0)}, 2, 3, 2},
      {"two balls", {part("spherical", 0, 0, 0), part("spherical", 0, 0, 0)}, 2, 6, 3},
      {"two planes", {part("planar", 0, 0, 0), part("planar", 0, 0, 0)}, 2, 6, 3},
      {"four hinges in a point",
       {part("revolute", 1, 0, 0), part("revolute", 0, 1, 0), part("revolute", 0, 0, 1),
        part("revolute", 1, 1, 1)},
       4,
       4,
       3},
      {"hinge and sleeve", {part("revolute", 1, 0, 0), part("cylindrical", 1, 0, 0)}, 2, 3, 2},
      {"hidden in a chain", {part("universal", 0, 0, 0), chain(inner, 2)}, 2, 4, 3}};
  for (int k = 0; k < SNI_COUNT(bad); k++) {
    const sn_joint_def def = chain(bad[k].part, bad[k].n);
    sn_error err;
    char want[200];
    snprintf(want, sizeof want,
             "have %d coordinates but only %d independent motions: leave out the part that repeats "
             "another",
             bad[k].nv, bad[k].rank);
    CHECK(try_finish(&def, &err) == SN_E_VALUE, "%s was accepted", bad[k].what);
    CHECK(strcmp(err.path, "parts") == 0, "%s: %s", bad[k].what, err.path);
    CHECK(strcmp(err.text, want) == 0, "%s: %s", bad[k].what, err.text);
  }
}

/* Chains that lose a direction in some places, such as gimbals, are joints all the same. */
TEST(composites_that_are_regular_somewhere_are_accepted) {
  const sn_joint_def inner[2] = {part("prismatic", 1, 0, 0), part("revolute", 0, 1, 0)};
  const struct {
    const char *what;
    sn_joint_def part[6];
    int n, nv;
  } good[] = {
      {"gimbal",
       {part("revolute", 0, 0, 1), part("revolute", 0, 1, 0), part("revolute", 1, 0, 0)},
       3,
       3},
      {"Euler angles zxz",
       {part("revolute", 0, 0, 1), part("revolute", 1, 0, 0), part("revolute", 0, 0, 1)},
       3,
       3},
      {"universal and twist", {part("universal", 0, 0, 0), part("revolute", 0, 0, 1)}, 2, 3},
      {"arm in the plane",
       {part("revolute", 0, 0, 1), part("prismatic", 1, 0, 0), part("revolute", 0, 0, 1)},
       3,
       3},
      {"crane",
       {part("prismatic", 0, 0, 1), part("revolute", 0, 0, 1), part("prismatic", 1, 0, 0)},
       3,
       3},
      {"six of them",
       {part("prismatic", 1, 0, 0), part("prismatic", 0, 1, 0), part("prismatic", 0, 0, 1),
        part("revolute", 1, 0, 0), part("revolute", 0, 1, 0), part("revolute", 0, 0, 1)},
       6,
       6},
      {"chain in a chain", {part("revolute", 0, 0, 1), chain(inner, 2)}, 2, 3},
      {"one", {part("revolute", 0, 0, 1)}, 1, 1},
      {"nothing moves", {part("fixed", 0, 0, 0), part("fixed", 0, 0, 0)}, 2, 0}};
  for (int k = 0; k < SNI_COUNT(good); k++) {
    const sn_joint_def def = chain(good[k].part, good[k].n);
    sample s;
    build_one(&def, &s);
    CHECK(s.list[0].nv == good[k].nv, "%s: %d coordinates", good[k].what, s.list[0].nv);
    drop(&s);
  }
}

/* A chain in a chain is the same joint as the chain written out. */
TEST(nested_composites_equal_flat_ones) {
  uint64_t seed = 8;
  const sn_joint_def flat[5] = {part("revolute", 1, 2, 0), part("prismatic", 0, 1, 1),
                                part("universal", 0, 0, 0), part("prismatic", 1, 0, 0),
                                part("prismatic", 0, 1, 0)};
  const sn_joint_def innermost = chain(flat + 3, 2);
  const sn_joint_def inner[3] = {flat[1], flat[2], innermost};
  const sn_joint_def outer[2] = {flat[0], chain(inner, 3)};
  sn_joint_def one = chain(flat, 5), two = chain(outer, 2);
  one.at = two.at = random_pose(&seed);
  sample a, b;
  build_one(&one, &a);
  build_one(&two, &b);
  CHECK(a.list[0].nv == 6 && b.list[0].nv == 6, "%d and %d", a.list[0].nv, b.list[0].nv);
  for (int n = 0; n < 200; n++) {
    double q[6], qd[6];
    fill_random(&seed, 6, -3, 3, q);
    fill_random(&seed, 6, -2, 2, qd);
    const kin x = calc(&a, 0, q, qd), y = calc(&b, 0, q, qd);
    const double err = kin_distance(&x, &y, 6);
    CHECK(err < tol(1e-13), "sample %d: off by %.2g", n, err);
  }
  drop(&a);
  drop(&b);
}

/* ---- Splines --------------------------------------------------------------------------------- */

/* Q, S and dS/dq are continuous across knots, from the last double before to the first after; so is
 * the step from the last segment to the first of a closed curve, any number of times round.  The
 * third derivative, up to 100, jumps. */
TEST(spline_curves_are_smooth_across_knots) {
  for (unsigned n = 0; n < 200; n++) {
    uint64_t seed = n;
    storage m;
    sample s;
    random_def("spline_curve", &seed, &m);
    build_one(&m.def, &s);
    const double qd = 1;
    const int last = m.def.cyclic ? 3 * m.def.nframe : m.def.nframe - 3;
    for (int knot = m.def.cyclic ? -2 * m.def.nframe : 0; knot <= last; knot++) {
      const double q = knot, below = nextafter(q, -100);
      const kin a = calc(&s, 0, &below, &qd), b = calc(&s, 0, &q, &qd);
      const double err = kin_distance(&a, &b, 1);
      CHECK(err < tol(1e-13), "seed %u, knot %d: jumps by %.2g", n, knot, err);
    }
    drop(&s);
  }
}

TEST(closed_spline_curves_are_periodic) {
  for (unsigned n = 0; n < 200; n++) {
    uint64_t seed = n;
    storage m;
    sample s;
    random_def("spline_curve", &seed, &m);
    m.def.cyclic = true;
    build_one(&m.def, &s);
    const double qd = 1;
    for (int k = 0; k < 20; k++) {
      const double q = rint(test_random(&seed, -20, 20) * 1024) / 1024; /* turns are exact */
      const double turns[] = {-1, 1, -7, 1000, -1e6, 1e9};
      const kin a = calc(&s, 0, &q, &qd);
      for (int t = 0; t < SNI_COUNT(turns); t++) {
        const double q1 = q + turns[t] * m.def.nframe;
        const kin b = calc(&s, 0, &q1, &qd);
        CHECK(same_bits(&a, &b, sizeof a), "seed %u: %g and %g differ", n, q, q1);
      }
    }
    drop(&s);
  }
}

/* With frames that only move it is the plain B-spline: at knot k, (p_k + 4 p_k+1 + p_k+2) / 6. */
TEST(spline_curves_of_positions) {
  uint64_t seed = 9;
  for (int cyclic = 0; cyclic < 2; cyclic++) {
    storage m;
    random_def("spline_curve", &seed, &m);
    m.def.at = sn_se3_identity();
    m.def.cyclic = cyclic;
    m.def.nframe = 7;
    for (int i = 0; i < 7; i++) {
      m.frame[i].R = sn_mat3_identity();
    }
    sample s;
    build_one(&m.def, &s);
    for (int k = 0; k <= (cyclic ? 7 : 4); k++) {
      const double q = k, qd = 1;
      const sn_vec3 p0 = m.frame[k % 7].p, p1 = m.frame[(k + 1) % 7].p, p2 = m.frame[(k + 2) % 7].p;
      const kin got = calc(&s, 0, &q, &qd);
      const sn_se3 want = {sn_mat3_identity(),
                           sn_vec3_scale(sn_vec3_add(sn_vec3_addscaled(p0, 4, p1), p2), 1.0 / 6)};
      const double err = pose_distance(got.E, want);
      CHECK(err < tol(4e-15), "knot %d: off by %.2g", k, err); /* values of 1 */
    }
    drop(&s);
  }
}

/* Along both coordinates, the edges of the grid included: beyond them the last cubic goes on. */
TEST(spline_surfaces_are_smooth_across_knots) {
  for (unsigned n = 0; n < 200; n++) {
    uint64_t seed = n;
    storage m;
    sample s;
    random_def("spline_surface", &seed, &m);
    build_one(&m.def, &s);
    const double qd[2] = {test_random(&seed, -1, 1), test_random(&seed, -1, 1)};
    for (int i = 0; i < 2; i++) {
      for (int knot = 0; knot <= (i == 0 ? m.def.grid_rows : m.def.grid_columns) - 3; knot++) {
        double q[2] = {test_random(&seed, -0.5, m.def.grid_rows - 2.5),
                       test_random(&seed, -0.5, m.def.grid_columns - 2.5)};
        q[i] = knot;
        const kin b = calc(&s, 0, q, qd);
        q[i] = nextafter(q[i], -100);
        const kin a = calc(&s, 0, q, qd);
        const double err = kin_distance(&a, &b, 2);
        CHECK(err < tol(1e-13), "seed %u, q%d = %d: jumps by %.2g", n, i, knot, err);
      }
    }
    drop(&s);
  }
}

/* A grid whose values grow linearly with row and column gives them back: x = i + 1, y = j + 1 at
 * q = (0, 0), and one more for one step of q. */
TEST(spline_surfaces_run_with_rows_and_columns) {
  storage m;
  m.def = part("spline_surface", 0, 0, 0);
  m.def.grid = m.grid;
  m.def.grid_rows = 5;
  m.def.grid_columns = 6;
  memset(m.grid, 0, sizeof m.grid);
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 6; j++) {
      m.grid[(i * 6 + j) * 6] = i;
      m.grid[(i * 6 + j) * 6 + 1] = 10 * j;
    }
  }
  sample s;
  build_one(&m.def, &s);
  const double zero[2] = {0};
  for (int i = -4; i <= 12; i++) {
    for (int j = -4; j <= 16; j++) {
      const double a = 0.25 * i, b = 0.25 * j, q[2] = {a, b};
      const double err = pose_distance(calc(&s, 0, q, zero).E, sn_pose(a + 1, 10 * b + 10, 0));
      CHECK(err < tol(1e-13), "%g, %g: off by %.2g", a, b, err); /* values up to 60 */
    }
  }
  drop(&s);
}

TEST(spline_surfaces_warn_of_gimbal_lock) {
  for (int k = 0; k < 6; k++) {
    uint64_t seed = 10;
    storage m;
    sample s;
    random_def("spline_surface", &seed, &m);
    build_one(&m.def, &s);
    CHECK(s.b.warning[0] == 0, "small angles: %s", s.b.warning);
    drop(&s);
    m.grid[k] = -SN_PI / 4; /* still fine */
    build_one(&m.def, &s);
    CHECK(s.b.warning[0] == 0, "pi/4: %s", s.b.warning);
    drop(&s);
    m.grid[k] = -0.8;
    build_one(&m.def, &s);
    const char *const want =
        "grid: an angle of 0.8 rad is beyond pi/4: the Euler angles come near gimbal lock";
    CHECK(strcmp(s.b.warning, k < 3 ? "" : want) == 0, "value %d: %s", k, s.b.warning);
    drop(&s);
  }
}

/* ---- Coordinates ----------------------------------------------------------------------------- */

/* Pose and twist stay when coordinates are replaced, and only too long rotation vectors are. */
TEST(reparam_keeps_pose_and_twist) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const sni_joint_ops *ops = sni_joint_kind(kind);
    int replaced = 0;
    for (unsigned n = 0; ops->reparam && n < 500; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(ops->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      double q[SN_NV_MAX], qd[SN_NV_MAX], q1[SN_NV_MAX], qd1[SN_NV_MAX];
      fill_random(&seed, SN_NV_MAX, -5, 5, q);
      fill_random(&seed, SN_NV_MAX, -1, 1, qd);
      memcpy(q1, q, sizeof q);
      memcpy(qd1, qd, sizeof qd);
      const bool changed = ops->reparam(set_of(&s), 0, q1, qd1);
      const size_t size = (size_t)s.list[0].nv * sizeof *q;
      CHECK(changed == !same_bits(q, q1, size), "%s, seed %u", ops->kind.keyword, n);
      CHECK(changed || same_bits(qd, qd1, size), "%s, seed %u", ops->kind.keyword, n);
      replaced += changed;
      const kin a = calc(&s, 0, q, qd), b = calc(&s, 0, q1, qd1);
      sn_vec6 phi_a = {0}, phi_b = {0};
      for (int c = 0; c < s.list[0].nv; c++) {
        phi_a = sn_vec6_addscaled(phi_a, qd[c], a.S[c]);
        phi_b = sn_vec6_addscaled(phi_b, qd1[c], b.S[c]);
      }
      /* angles and levers up to 9 */
      const double pose = pose_distance(a.E, b.E), twist = norm6(sn_vec6_sub(phi_a, phi_b));
      CHECK(pose < tol(1e-13), "%s, seed %u: pose off by %.2g", ops->kind.keyword, n, pose);
      CHECK(twist < tol(1e-13), "%s, seed %u: twist off by %.2g", ops->kind.keyword, n, twist);
      drop(&s);
    }
    CHECK(!ops->reparam || replaced > 20, "%s: only %d", ops->kind.keyword, replaced);
  }
}

/* |q| > 1.5 pi and no earlier; it lands at half the length, far from either end. */
TEST(reparam_does_not_chatter) {
  sn_joint_def def = part("spherical", 0, 0, 0);
  sample s;
  build_one(&def, &s);
  double q[3] = {0, 1.5 * SN_PI, 0}, qd[3] = {0.3, 1, 0.2};
  CHECK(!ops_of(&s)->reparam(set_of(&s), 0, q, qd), "at 1.5 pi");
  q[1] = nextafter(q[1], 9);
  CHECK(ops_of(&s)->reparam(set_of(&s), 0, q, qd), "just above 1.5 pi");
  CHECK(fabs(q[1] + SN_PI / 2) < tol(1e-14), "landed at %g", q[1]);
  CHECK(!ops_of(&s)->reparam(set_of(&s), 0, q, qd), "twice");
  drop(&s);
}

TEST(from_pose_gives_the_pose) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const sni_joint_ops *ops = sni_joint_kind(kind);
    for (unsigned n = 0; ops->axis_free && n < 500; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(ops->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      double q[SN_NV_MAX], q1[SN_NV_MAX];
      const double zero[SN_NV_MAX] = {0};
      fill_random(&seed, SN_NV_MAX, -3, 3, q);
      /* seen from the joint's place, without at: that is what from_pose is given */
      m.def.at = sn_se3_identity();
      drop(&s);
      build_one(&m.def, &s);
      const sn_se3 Q = calc(&s, 0, q, zero).E;
      CHECK(ops->from_pose(set_of(&s), 0, Q, q1), "%s, seed %u: refused", ops->kind.keyword, n);
      const double err = pose_distance(calc(&s, 0, q1, zero).E, Q);
      CHECK(err < tol(1e-14), "%s, seed %u: off by %.2g", ops->kind.keyword, n, err); /* of 5 */
      drop(&s);
    }
  }
}

TEST(from_pose_refuses_what_the_joint_cannot_do) {
  const sn_se3 turned = sn_pose_rotvec((sn_vec3){0}, (sn_vec3){0, 0.1, 0});
  const struct {
    const char *type;
    sn_se3 pose;
    bool possible;
  } sample_pose[] = {
      {"spherical", sn_pose(0, 0, 0.1), false},
      {"spherical", turned, true},
      {"translation3", turned, false},
      {"translation3", sn_pose(0, 0, 0.1), true},
      /* a rotation that is none but for rounding */
      {"translation3", sn_se3_mul(turned, sn_pose_rotvec((sn_vec3){0}, (sn_vec3){0, -0.1, 0})),
       true},
      {"translation3", sn_pose_rotvec((sn_vec3){1, 2, 3}, (sn_vec3){0, 2 * SN_PI, 0}), true},
      {"free", turned, true},
      {"free_rt", turned, true}};
  for (int k = 0; k < SNI_COUNT(sample_pose); k++) {
    sn_joint_def def = part(sample_pose[k].type, 0, 0, 1);
    sample s;
    build_one(&def, &s);
    double q[SN_NV_MAX];
    const bool possible = ops_of(&s)->from_pose(set_of(&s), 0, sample_pose[k].pose, q);
    CHECK(possible == sample_pose[k].possible, "%s, sample %d", sample_pose[k].type, k);
    drop(&s);
  }
}

/* ---- Springs --------------------------------------------------------------------------------- */

typedef struct servo {
  double q_to[SN_NV_MAX], qd_to[SN_NV_MAX], stiffness[SN_NV_MAX], damping[SN_NV_MAX];
  double max_force[SN_NV_MAX];
  bool limited;
} servo;

/* Energy, and the joint forces into tau. */
static double act(const sample *s, const servo *v, const double *q, const double *qd, double *tau) {
  const sni_spring spring = {.q = q,
                             .qd = qd,
                             .q_to = v->q_to,
                             .qd_to = v->qd_to,
                             .stiffness = v->stiffness,
                             .damping = v->damping,
                             .max_force = v->limited ? v->max_force : NULL};
  memset(tau, 0, SN_NV_MAX * sizeof *tau);
  return sni_joint_spring(set_of(s), 0, &spring, tau);
}

/* A spring with a stiffness of its own for each coordinate. */
static servo random_spring(uint64_t *seed, double reach) {
  servo v = {.limited = false};
  fill_random(seed, SN_NV_MAX, -reach, reach, v.q_to);
  fill_random(seed, SN_NV_MAX, 0.5, 2, v.stiffness);
  return v;
}

/* tau = -dV/dq for every kind.  Rotations are less than half a turn from rest here: 0.8 sqrt(3)
 * and 0.9 sqrt(3).  Differences with h = 1e-3 and one Richardson step leave 1e-12 and eps/h. */
TEST(spring_forces_are_the_gradient_of_their_energy) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    for (unsigned n = 0; n < 300; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      const servo v = random_spring(&seed, 0.8);
      double q[SN_NV_MAX], tau[SN_NV_MAX], unused[SN_NV_MAX];
      const double qd[SN_NV_MAX] = {0};
      fill_random(&seed, SN_NV_MAX, -0.9, 0.9, q);
      const double energy = act(&s, &v, q, qd, tau);
      CHECK(energy >= 0 && (energy > 0 || s.list[0].nv == 0), "%s: %g", m.def.type, energy);
      for (int c = 0; c < s.list[0].nv; c++) {
        double D[2];
        for (int level = 0; level < 2; level++) {
          const double h = level == 0 ? 1e-3 : 0.5e-3, at = q[c];
          q[c] = at + h;
          const double after = act(&s, &v, q, qd, unused);
          q[c] = at - h;
          D[level] = (after - act(&s, &v, q, qd, unused)) / (2 * h);
          q[c] = at;
        }
        const double err = fabs(tau[c] + (4 * D[1] - D[0]) / 3);
        CHECK(err < tol(1e-11), "%s, seed %u, coordinate %d: off by %.2g", m.def.type, n, c, err);
      }
      drop(&s);
    }
  }
}

/* The torque on the body that a joint force of a spherical joint stands for: S^T torque = tau. */
static sn_vec3 body_torque(const double *q, const double *tau) {
  const sn_mat3 inverse = sn_so3_jacobian_inverse((sn_vec3){q[0], q[1], q[2]});
  return sn_mat3_tmul_vec(inverse, (sn_vec3){tau[0], tau[1], tau[2]});
}

/* A spring and damper feel the rotation and its rate, not the coordinates: nothing jumps when these
 * are replaced, wherever the target's own coordinates are. */
TEST(springs_do_not_feel_the_coordinates_wrap) {
  const sn_joint_def def = part("spherical", 0, 0, 0);
  sample s;
  build_one(&def, &s);
  for (unsigned n = 0; n < 2000; n++) {
    uint64_t seed = n;
    servo v = random_spring(&seed, 3);
    fill_random(&seed, 3, 0.1, 1, v.damping);
    fill_random(&seed, 3, -1, 1, v.qd_to);
    v.limited = n % 2;
    fill_random(&seed, 3, 0.5, 5, v.max_force);
    double q[3], qd[3], tau[SN_NV_MAX];
    do {
      fill_random(&seed, 3, -3.6, 3.6, q); /* up to 6.2: beyond 1.5 pi, short of 2 pi */
    } while (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] > 2.26 * SN_PI * SN_PI));
    fill_random(&seed, 3, -1, 1, qd);
    const sn_mat3 relative = sn_mat3_tmul(sn_so3_exp((sn_vec3){q[0], q[1], q[2]}),
                                          sn_so3_exp((sn_vec3){v.q_to[0], v.q_to[1], v.q_to[2]}));
    if (sn_vec3_norm(sn_so3_log(relative)) > 3.1) {
      continue; /* at half a turn from the target the spring itself changes sides */
    }
    const double energy = act(&s, &v, q, qd, tau);
    const sn_vec3 torque = body_torque(q, tau);
    CHECK(ops_of(&s)->reparam(set_of(&s), 0, q, qd), "seed %u: not replaced", n);
    const double energy1 = act(&s, &v, q, qd, tau);
    /* the condition of S is up to 50 before */
    const double err = sn_vec3_norm(sn_vec3_sub(torque, body_torque(q, tau)));
    CHECK(fabs(energy - energy1) < tol(1e-13), "seed %u: energy by %.2g", n, energy - energy1);
    CHECK(err < tol(1e-12), "seed %u: torque by %.2g", n, err);
    sni_joint_reparam_rotation(v.q_to, v.qd_to);
    act(&s, &v, q, qd, tau);
    const double again = sn_vec3_norm(sn_vec3_sub(torque, body_torque(q, tau)));
    CHECK(again < tol(1e-12), "seed %u: torque by %.2g with the target replaced", n, again);
  }
  drop(&s);
}

/* Without a spring, a damper never gives energy; with the target's rate it gives nothing. */
TEST(dampers_take_energy) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    for (unsigned n = 0; n < 300; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      servo v = {.limited = n % 2};
      fill_random(&seed, SN_NV_MAX, 0.1, 2, v.damping);
      fill_random(&seed, SN_NV_MAX, 0.01, 0.1, v.max_force);
      double q[SN_NV_MAX], qd[SN_NV_MAX], tau[SN_NV_MAX], power = 0;
      fill_random(&seed, SN_NV_MAX, -2.5, 2.5, q);
      fill_random(&seed, SN_NV_MAX, -1, 1, qd);
      const double energy = act(&s, &v, q, qd, tau);
      for (int c = 0; c < s.list[0].nv; c++) {
        power += tau[c] * qd[c];
      }
      CHECK(energy == 0, "%s, seed %u: energy %g", m.def.type, n, energy);
      CHECK(power < 0 || s.list[0].nv == 0, "%s, seed %u: power %g", m.def.type, n, power);

      memcpy(v.q_to, q, sizeof q);
      memcpy(v.qd_to, qd, sizeof qd);
      fill_random(&seed, SN_NV_MAX, 0.1, 2, v.stiffness);
      act(&s, &v, q, qd, tau);
      for (int c = 0; c < s.list[0].nv; c++) {
        CHECK(fabs(tau[c]) < tol(1e-14), "%s, seed %u: %g on target", m.def.type, n, tau[c]);
      }
      drop(&s);
    }
  }
}

/* A body that turns as its target turns feels no damper, however far apart they are: rates are
 * compared as angular velocities in space. */
TEST(dampers_compare_angular_velocities) {
  const sn_joint_def def = part("spherical", 0, 0, 0);
  sample s;
  build_one(&def, &s);
  for (unsigned n = 0; n < 500; n++) {
    uint64_t seed = n;
    servo v = {.limited = false};
    fill_random(&seed, 3, -2, 2, v.q_to);
    fill_random(&seed, 3, -1, 1, v.qd_to);
    fill_random(&seed, 3, 0.1, 2, v.damping);
    const sn_vec3 r = random_vec3(&seed, -2, 2), r_to = {v.q_to[0], v.q_to[1], v.q_to[2]};
    const sn_vec3 rd_to = {v.qd_to[0], v.qd_to[1], v.qd_to[2]};
    const sn_vec3 omega = /* of the target, in space */
        sn_mat3_mul_vec(sn_so3_exp(r_to), sn_mat3_mul_vec(sn_so3_jacobian(r_to), rd_to));
    const sn_vec3 rd =
        sn_mat3_mul_vec(sn_so3_jacobian_inverse(r), sn_mat3_tmul_vec(sn_so3_exp(r), omega));
    const double q[3] = {r.x, r.y, r.z}, qd[3] = {rd.x, rd.y, rd.z};
    double tau[SN_NV_MAX];
    act(&s, &v, q, qd, tau);
    const double most = fmax(fabs(tau[0]), fmax(fabs(tau[1]), fabs(tau[2])));
    CHECK(most < tol(1e-14), "seed %u: %.2g", n, most);
  }
  drop(&s);
}

/* Half the force, or the whole in the same direction. */
TEST(forces_keep_to_their_limit) {
  uint64_t seed = 11;
  const sn_joint_def ball = part("spherical", 0, 0, 0), sleeve = part("cylindrical", 0, 0, 1);
  sample a, b;
  build_one(&ball, &a);
  build_one(&sleeve, &b);
  for (int n = 0; n < 1000; n++) {
    servo v = random_spring(&seed, 1);
    fill_random(&seed, SN_NV_MAX, 0.1, 1, v.damping);
    double q[SN_NV_MAX], qd[SN_NV_MAX], tau[SN_NV_MAX], full[SN_NV_MAX];
    fill_random(&seed, SN_NV_MAX, -0.7, 0.7, q);
    fill_random(&seed, SN_NV_MAX, -1, 1, qd);
    for (int i = 0; i < SN_NV_MAX; i++) {
      v.max_force[i] = n % 3 == 0 ? INFINITY : 0.5;
    }
    /* a rotation: the length of the torque */
    const double energy = act(&a, &v, q, qd, full);
    v.limited = true;
    CHECK(act(&a, &v, q, qd, tau) == energy, "the energy changed");
    const sn_vec3 most = body_torque(q, full), got = body_torque(q, tau);
    const double scale = fmin(1, v.max_force[0] / sn_vec3_norm(most));
    const double err = sn_vec3_norm(sn_vec3_addscaled(got, -scale, most));
    CHECK(err < tol(1e-14), "sample %d: torque off by %.2g", n, err);
    /* plain coordinates: each of them */
    v.limited = false;
    act(&b, &v, q, qd, full);
    v.limited = true;
    act(&b, &v, q, qd, tau);
    for (int c = 0; c < 2; c++) {
      const double want = copysign(fmin(fabs(full[c]), v.max_force[c]), full[c]);
      CHECK(tau[c] == want, "sample %d: %g instead of %g", n, tau[c], want);
    }
  }
  drop(&a);
  drop(&b);
}

/* tau is added to. */
TEST(springs_add_to_what_is_there) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    uint64_t seed = 12;
    storage m;
    sample s;
    random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
    build_one(&m.def, &s);
    const servo v = random_spring(&seed, 1);
    const double q[SN_NV_MAX] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, qd[SN_NV_MAX] = {0};
    double alone[SN_NV_MAX], tau[SN_NV_MAX];
    act(&s, &v, q, qd, alone);
    for (int c = 0; c < SN_NV_MAX; c++) {
      tau[c] = 100;
    }
    const sni_spring spring = {q, qd, v.q_to, v.qd_to, v.stiffness, v.damping, NULL};
    sni_joint_spring(set_of(&s), 0, &spring, tau);
    for (int c = 0; c < SN_NV_MAX; c++) {
      const double want = 100 + (c < s.list[0].nv ? alone[c] : 0);
      CHECK(fabs(tau[c] - want) < tol(1e-13), "%s, %d: %g", m.def.type, c, tau[c] - want);
    }
    drop(&s);
  }
}

/* The matrix of spring and damper is h times -dtau/dqd and h^2 times -dtau/dq, less what could make
 * it indefinite.  tau is linear in qd.  With one stiffness 1, V = theta^2 / 2 and tau = -theta
 * dtheta/dq, so that dtheta/dq dtheta/dq^T, which is what stays, is tau tau^T / 2V. */
TEST(spring_matrices_are_derivatives_of_the_forces) {
  const double h = 0.1, zero[SN_NV_MAX] = {0};
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    for (unsigned n = 0; n < 200; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(sni_joint_kind(kind)->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      const int nv = s.list[0].nv, ld = SN_NV_MAX + 2;
      const servo all = random_spring(&seed, 0.8);
      double q[SN_NV_MAX], damping[SN_NV_MAX];
      double got[SN_NV_MAX * (SN_NV_MAX + 2)], want[SN_NV_MAX * (SN_NV_MAX + 2)];
      fill_random(&seed, SN_NV_MAX, -0.9, 0.9, q);
      fill_random(&seed, SN_NV_MAX, 0.1, 1, damping);
      for (int i = 0; i < SNI_COUNT(got); i++) {
        got[i] = want[i] = 10; /* it is added to, and nothing outside is written */
      }
      const sni_spring spring = {q, zero, all.q_to, zero, all.stiffness, damping, NULL};
      sni_joint_spring_matrix(set_of(&s), 0, &spring, h, got, ld);
      for (int c = 0; c < nv; c++) {
        servo one = all;
        double tau[SN_NV_MAX], rate[SN_NV_MAX], qd[SN_NV_MAX] = {0};
        memset(one.stiffness, 0, sizeof one.stiffness);
        one.stiffness[c] = 1;
        const double energy = act(&s, &one, q, zero, tau);
        servo damper = {.limited = false};
        memcpy(damper.damping, damping, sizeof damping);
        qd[c] = 1;
        act(&s, &damper, q, qd, rate);
        for (int i = 0; i < nv; i++) {
          want[i * ld + c] -= h * rate[i];
          for (int j = 0; j < nv; j++) {
            want[i * ld + j] += h * h * all.stiffness[c] * tau[i] * tau[j] / (2 * energy);
          }
        }
      }
      for (int i = 0; i < SNI_COUNT(got); i++) {
        const double err = fabs(got[i] - want[i]);
        CHECK(err < tol(1e-13), "%s, seed %u, entry %d %d: off by %.2g", m.def.type, n, i / ld,
              i % ld, err);
      }
      drop(&s);
    }
  }
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void check_refused(const sn_joint_def *def, const char *path, const char *text) {
  sn_error err;
  CHECK(try_finish(def, &err) == SN_E_VALUE, "accepted, instead of '%s: %s'", path, text);
  CHECK(err.code == SN_E_VALUE, "code %d", err.code);
  CHECK(strcmp(err.path, path) == 0, "path '%s' instead of '%s'", err.path, path);
  CHECK(strcmp(err.text, text) == 0, "'%s' instead of '%s'", err.text, text);
}

TEST(axes_are_checked) {
  const char *const type[] = {"revolute", "prismatic", "cylindrical", "screw"};
  for (int k = 0; k < 4; k++) {
    const sn_joint_def zero = part(type[k], 0, 0, 0), nan = part(type[k], 0, NAN, 1);
    const sn_joint_def infinite = part(type[k], 0, -INFINITY, 1);
    check_refused(&zero, "axis", "length 0, needs a direction");
    check_refused(&nan, "axis", "length nan, needs a direction");
    check_refused(&infinite, "axis", "length inf, needs a direction");
    /* any other length is fine, however odd */
    const double length[] = {5e-324, 1e-200, 1e-3, 1e3, 1e200, DBL_MAX};
    for (int i = 0; i < SNI_COUNT(length); i++) {
      sn_joint_def odd = part(type[k], 0, length[i], length[i]);
      sample s;
      build_one(&odd, &s);
      const sn_vec3 a = k == 1 ? s.S0[0].v : s.S0[0].w;
      const sn_vec3 want = {0, sqrt(0.5), sqrt(0.5)};
      const double err = sn_vec3_norm(sn_vec3_sub(a, want));
      CHECK(err < tol(4e-16), "%s, length %g: off by %.2g", type[k], length[i], err);
      drop(&s);
    }
  }
}

TEST(pitches_are_checked) {
  sn_joint_def def = part("screw", 0, 0, 1);
  def.pitch = NAN;
  check_refused(&def, "pitch", "is nan, needs a finite number");
  def.pitch = -INFINITY;
  check_refused(&def, "pitch", "is -inf, needs a finite number");
}

TEST(kinds_are_checked) {
  char known[SN_ERROR_TEXT_MAX] = "", want[SN_ERROR_TEXT_MAX];
  for (int k = 0; k < sni_joint_kind_count(); k++) {
    strncat(known, k ? ", " : "", sizeof known - strlen(known) - 1);
    strncat(known, sni_joint_kind(k)->kind.keyword, sizeof known - strlen(known) - 1);
  }
  CHECK(strstr(known, "fixed, revolute, prismatic, cylindrical, screw, universal, spherical"), "%s",
        known);
  const sn_joint_def def = part("hinge", 0, 0, 1), none = part(NULL, 0, 0, 1);
  snprintf(want, sizeof want, "'hinge' is not a kind of joint; known: %.400s", known);
  check_refused(&def, "type", want);
  snprintf(want, sizeof want, "'' is not a kind of joint; known: %.400s", known);
  check_refused(&none, "type", want);
}

TEST(frames_are_checked) {
  sn_se3 frame[6];
  for (int i = 0; i < 6; i++) {
    frame[i] = sn_pose_rotvec((sn_vec3){i, 0, 0}, (sn_vec3){0, 0, 0.5 * i});
  }
  sn_joint_def def = part("spline_curve", 0, 0, 0);
  check_refused(&def, "frames", "has 0 frames, needs at least 4");
  def.frames = frame;
  def.nframe = 3;
  check_refused(&def, "frames", "has 3 frames, needs at least 4");
  def.cyclic = true;
  def.nframe = 1;
  check_refused(&def, "frames", "has 1 frames, needs at least 2");
  def.nframe = 1000001;
  check_refused(&def, "frames", "has 1000001 frames, at most 1000000 are possible");

  /* half a turn: between two frames, and from the last one to the first */
#define HALF_TURN                                                                                  \
  " is half a turn away from the one before, and both ways round are as near: put a frame "        \
  "between them"
  sample s;
  def.nframe = 6;
  build_one(&def, &s); /* 2.5 rad from end to end */
  drop(&s);
  frame[5] = sn_pose_rotvec((sn_vec3){0}, (sn_vec3){0, 0, SN_PI});
  check_refused(&def, "frames", "frame 0" HALF_TURN);
  def.cyclic = false; /* now nothing leads from the last to the first */
  build_one(&def, &s);
  drop(&s);
  frame[3].R = sn_so3_exp((sn_vec3){0, 0, 1 + SN_PI});
  check_refused(&def, "frames", "frame 3" HALF_TURN);

  const char *const no_pose = "frame 3 is not a pose: needs finite numbers and a rotation";
  frame[3] = sn_pose(0, NAN, 0);
  check_refused(&def, "frames", no_pose);
  frame[3] = sn_pose(0, 0, INFINITY);
  check_refused(&def, "frames", no_pose);
  frame[3] = sn_pose(0, 0, 0);
  frame[3].R.m[1][2] = NAN;
  check_refused(&def, "frames", no_pose);
  frame[3].R = sn_mat3_scale(sn_mat3_identity(), 2);
  check_refused(&def, "frames", no_pose);
  frame[3].R = sn_mat3_scale(sn_mat3_identity(), -1); /* a mirror */
  check_refused(&def, "frames", no_pose);
}

TEST(grids_are_checked) {
  double grid[5 * 4 * 6] = {0};
  sn_joint_def def = part("spline_surface", 0, 0, 0);
  check_refused(&def, "grid", "is 0 by 0, needs 4 by 4 to 1000 by 1000");
  def.grid = grid;
  def.grid_rows = 3;
  def.grid_columns = 4;
  check_refused(&def, "grid", "is 3 by 4, needs 4 by 4 to 1000 by 1000");
  def.grid_rows = 1001;
  check_refused(&def, "grid", "is 1001 by 4, needs 4 by 4 to 1000 by 1000");
  def.grid_rows = 5;
  grid[(3 * 4 + 2) * 6 + 5] = NAN;
  check_refused(&def, "grid", "row 3, column 2 has nan, needs finite numbers");
  grid[(3 * 4 + 2) * 6 + 5] = -INFINITY;
  check_refused(&def, "grid", "row 3, column 2 has -inf, needs finite numbers");
}

TEST(parts_are_checked) {
  sn_joint_def parts[9];
  for (int p = 0; p < 9; p++) {
    parts[p] = part("fixed", 0, 0, 0);
  }
  sn_joint_def def = chain(parts, 0);
  check_refused(&def, "parts", "has 0 parts, needs 1 to 8");
  def = chain(parts, 9);
  check_refused(&def, "parts", "has 9 parts, needs 1 to 8");
  parts[0] = part("free", 0, 0, 0);
  parts[1] = part("revolute", 0, 0, 1);
  def = chain(parts, 2);
  check_refused(&def, "parts", "have more than 6 coordinates together");

  /* a mistake in a part, and in a part of a part */
  parts[0] = part("revolute", 0, 0, 0);
  check_refused(&def, "parts[0].axis", "length 0, needs a direction");
  const sn_joint_def outer[2] = {part("prismatic", 0, 0, 1), def}, whole = chain(outer, 2);
  check_refused(&whole, "parts[1].parts[0].axis", "length 0, needs a direction");

  /* four levels are possible, five are not */
  parts[0] = part("revolute", 0, 0, 1);
  sn_joint_def level[5];
  level[0] = chain(parts, 1);
  for (int k = 1; k < 5; k++) {
    level[k] = chain(&level[k - 1], 1);
  }
  sample s;
  build_one(&level[3], &s);
  CHECK(s.list[0].nv == 1, "%d coordinates", s.list[0].nv);
  drop(&s);
  check_refused(&level[4], "parts", "nested deeper than 4");
}

int main(void) {
  RUN_TESTS(T(table_is_sound), T(S_is_the_derivative_of_Q_and_Sdot_its_rate),
            T(derivatives_next_to_singular_places), T(spherical_Sdot_at_zero),
            T(a_joint_at_zero_is_where_it_was_put), T(a_constant_S_is_left_alone),
            T(a_run_equals_one_at_a_time), T(coordinates_that_are_not_finite),
            T(kinds_equal_chains_of_simpler_ones), T(a_screw_advances_by_its_pitch),
            T(joints_equal_the_vectors), T(composites_with_dependent_columns_are_refused),
            T(composites_that_are_regular_somewhere_are_accepted),
            T(nested_composites_equal_flat_ones), T(spline_curves_are_smooth_across_knots),
            T(closed_spline_curves_are_periodic), T(spline_curves_of_positions),
            T(spline_surfaces_are_smooth_across_knots),
            T(spline_surfaces_run_with_rows_and_columns), T(spline_surfaces_warn_of_gimbal_lock),
            T(reparam_keeps_pose_and_twist), T(reparam_does_not_chatter),
            T(from_pose_gives_the_pose), T(from_pose_refuses_what_the_joint_cannot_do),
            T(spring_forces_are_the_gradient_of_their_energy),
            T(springs_do_not_feel_the_coordinates_wrap), T(dampers_take_energy),
            T(dampers_compare_angular_velocities), T(forces_keep_to_their_limit),
            T(springs_add_to_what_is_there), T(spring_matrices_are_derivatives_of_the_forces),
            T(axes_are_checked), T(pitches_are_checked), T(kinds_are_checked),
            T(frames_are_checked), T(grids_are_checked), T(parts_are_checked));
}
