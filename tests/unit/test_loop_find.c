/* The coordinates of loops: found where the pose says they are, however many turns or metres away,
 * and left alone where they close the loop. */
#include "joint_samples.h"

#include "model/constraint.h"

/* What is left open, |log(Q(q)^-1 X)|, once the coordinates of X have been looked for from q on. */
static double find(const sample *s, sn_se3 X, double *q) {
  double qd[SN_NV_MAX] = {0};
  const sni_constraint c = {
      .kind = SNI_LOOP, .body = {-1, -1}, .at = {sn_se3_identity(), X}, .nv = s->list[0].nv};
  const sni_constraint_eval e = {
      .joints = set_of(s), .S0 = s->S0, .loop_q = q, .loop_qd = qd, .q = q, .qd = qd};
  sni_constraint_loop_find(&e, &c);
  const kin k = calc(s, 0, q, qd);
  return norm6(sn_se3_log(sn_se3_mul(sn_se3_inverse(k.E), X)));
}

/* A thread has one coordinate for each pose; what else is before it or behind it turns or slides.
 */
static const struct {
  const char *what;
  sn_joint_def part[3];
  int n;
  double turns, way; /* that it is away, at most */
} threads[] = {
    {"screw", {{.type = "screw", .axis = {0.3, -0.2, 1}}}, 1, 400, 0},
    {"screw, revolute",
     {{.type = "screw", .axis = {0, 0, 1}}, {.type = "revolute", .axis = {1, 0.2, 0}}},
     2,
     40,
     0},
    {"revolute, screw",
     {{.type = "revolute", .axis = {1, 0, 0.3}}, {.type = "screw", .axis = {0, 0.1, 1}}},
     2,
     40,
     0},
    {"prismatic, screw",
     {{.type = "prismatic", .axis = {1, 0, 0}}, {.type = "screw", .axis = {0, 0.5, 1}}},
     2,
     40,
     20},
    {"screw, universal", {{.type = "screw", .axis = {0, 0, 1}}, {.type = "universal"}}, 2, 40, 0},
    {"revolute, prismatic",
     {{.type = "revolute", .axis = {0, 0, 1}}, {.type = "prismatic", .axis = {1, 0, 0.2}}},
     2,
     0,
     500},
    {"planar, cylindrical",
     {{.type = "planar"}, {.type = "cylindrical", .axis = {0.2, 1, 0.3}}},
     2,
     0,
     100}};

TEST(threads_are_found_in_their_turn) {
  uint64_t seed = 3;
  static const double pitches[] = {0.005 / (2 * SN_PI), -0.002, 0.05, 1, -4};
  for (int trial = 0; trial < 2000; trial++) {
    const int kind = trial % SNI_COUNT(threads);
    sn_joint_def parts[3];
    double turns = threads[kind].turns;
    for (int p = 0; p < threads[kind].n; p++) {
      parts[p] = sn_joint_def_default();
      parts[p].type = threads[kind].part[p].type;
      parts[p].axis = threads[kind].part[p].axis;
      parts[p].pitch = pitches[trial / SNI_COUNT(threads) % SNI_COUNT(pitches)];
    }
    sample s;
    const sn_joint_def whole = threads[kind].n > 1 ? chain(parts, threads[kind].n) : parts[0];
    build_one(&whole, &s);
    double q[SN_NV_MAX], found[SN_NV_MAX] = {0}, still[SN_NV_MAX] = {0};
    for (int i = 0; i < s.list[0].nv; i++) {
      sni_range range[SN_NV_MAX];
      sni_joint_range(set_of(&s), 0, threads[kind].way, range);
      const double most = range[i].pitch != 0 ? 2 * SN_PI * turns : range[i].hi;
      q[i] = test_random(&seed, -most, most);
    }
    const double left = find(&s, calc(&s, 0, q, still).E, found);
    CHECK(left<1e-9, "trial %d, %s with pitch %g, at %g and %g: open by %g", trial,
               threads[kind].what, parts[0].pitch, q[0], s.list[0].nv> 1
              ? q[1]
              : 0,
          left);
    drop(&s);
  }
}

/* Every kind of joint, anywhere in its range and a few turns beyond. */
TEST(all_kinds_are_found) {
  uint64_t seed = 11;
  for (int trial = 0; trial < 1500; trial++) {
    const sni_joint_ops *ops = sni_joint_kind(trial % sni_joint_kind_count());
    storage m;
    sample s;
    random_def(ops->kind.keyword, &seed, &m);
    build_one(&m.def, &s);
    double q[SN_NV_MAX], found[SN_NV_MAX] = {0}, still[SN_NV_MAX] = {0};
    sni_range range[SN_NV_MAX];
    sni_joint_range(set_of(&s), 0, 10, range);
    for (int i = 0; i < s.list[0].nv; i++) {
      const double more = range[i].lo == -SN_PI ? 3 : 1;
      q[i] = test_random(&seed, more * range[i].lo, more * range[i].hi);
    }
    const double left = find(&s, calc(&s, 0, q, still).E, found);
    if (!ops->approach) {
      CHECK(left < 1e-9, "trial %d, %s: open by %g", trial, ops->kind.keyword, left);
    }
    drop(&s);
  }
}

int main(void) {
  RUN_TESTS(T(threads_are_found_in_their_turn), T(all_kinds_are_found));
}
