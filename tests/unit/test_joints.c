/* Every kind of joint in the table: its derivatives, its evaluation in runs, and the same joint
 * made in two ways. */
#include "joint_samples.h"

#include "model/constraint.h"

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

/* Every column of S is made of those that are told once. */
TEST(a_constant_span_holds_S) {
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const sni_joint_ops *ops = sni_joint_kind(kind);
    for (unsigned n = 0; ops->constant_span && n < 100; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(ops->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      double q[SN_NV_MAX], qd[SN_NV_MAX];
      fill_random(&seed, SN_NV_MAX, -3, 3, q);
      fill_random(&seed, SN_NV_MAX, -1, 1, qd);
      const kin k = calc(&s, 0, q, qd);
      sn_vec6 basis[6];
      sni_constraint_loop_basis(s.S0, s.list[0].nv, basis);
      for (int c = 0; c < s.list[0].nv; c++) {
        for (int i = s.list[0].nv; i < 6; i++) {
          const double out = sn_vec6_dot(basis[i], k.S[c]);
          CHECK(fabs(out) < 1e-15, "%s, seed %u: column %d leaves its span by %g",
                ops->kind.keyword, n, c, out);
        }
      }
      drop(&s);
    }
  }
}

/* From where it was to where the pose is, through as many turns as it has made. */
TEST(coordinates_follow_a_pose) {
  int asked = 0;
  for (int kind = 0; kind < sni_joint_kind_count(); kind++) {
    const sni_joint_ops *ops = sni_joint_kind(kind);
    for (unsigned n = 0; ops->approach && n < 2000; n++) {
      uint64_t seed = n;
      storage m;
      sample s;
      random_def(ops->kind.keyword, &seed, &m);
      build_one(&m.def, &s);
      const int nv = s.list[0].nv;
      const double zero[SN_NV_MAX] = {0};
      double q[SN_NV_MAX], way[SN_NV_MAX], to[SN_NV_MAX];
      fill_random(&seed, SN_NV_MAX, -5, 5, q);
      fill_random(&seed, SN_NV_MAX, -0.4, 0.4, way);
      for (int c = 0; c < nv; c++) { /* to nothing at all, and from there, too */
        q[c] = n % 5 == 1 ? 0 : q[c];
        way[c] = n % 5 == 2 ? -0.1 * q[c] : n % 5 == 3 ? 0 : way[c];
        q[c] *= n % 5 == 2 ? 0.1 : 1;
        to[c] = q[c] + way[c];
      }
      const sn_se3 X = calc(&s, 0, to, zero).E;
      sn_se3 Q;
      ops->nearest(set_of(&s), 0, &X, &Q);
      ops->approach(set_of(&s), 0, &X, q);
      CHECK(pose_distance(Q, X) < 1e-13, "%s, seed %u: the pose is off by %g", ops->kind.keyword, n,
            pose_distance(Q, X));
      for (int c = 0; c < nv; c++) {
        CHECK(fabs(q[c] - to[c]) < 1e-12, "%s, seed %u: coordinate %d is %.17g, not %.17g",
              ops->kind.keyword, n, c, q[c], to[c]);
      }
      asked++;
      drop(&s);
    }
  }
  CHECK(asked >= 4000, "%d asked", asked);
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

int main(void) {
  RUN_TESTS(T(table_is_sound), T(S_is_the_derivative_of_Q_and_Sdot_its_rate),
            T(derivatives_next_to_singular_places), T(spherical_Sdot_at_zero),
            T(a_joint_at_zero_is_where_it_was_put), T(a_constant_S_is_left_alone),
            T(a_constant_span_holds_S), T(coordinates_follow_a_pose), T(a_run_equals_one_at_a_time),
            T(coordinates_that_are_not_finite), T(kinds_equal_chains_of_simpler_ones),
            T(a_screw_advances_by_its_pitch), T(joints_equal_the_vectors));
}
