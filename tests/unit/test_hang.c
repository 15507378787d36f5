/* Bodies that are given without a joint: which loops become joints, and that nothing else does. */
#include "complaints.h"
#include "stage.h"
#include "model/builder.h"

static void add_bar(sn_builder *b, const char *name) {
  sn_body_def body = sn_body_def_default();
  body.name = name;
  body.joint.type = NULL;
  body.has_inertia = true;
  body.inertia =
      (sn_inertia){.mass = 1, .com = {0.3, 0.1, -0.2}, .xx = 0.1, .yy = 0.12, .zz = 0.09};
  add(b, &body);
}

static sn_loop_def hinge(const char *name, const char *a, sn_se3 at_a, const char *b, sn_se3 at_b) {
  sn_loop_def loop = sn_loop_def_default();
  loop.name = name;
  loop.joint.type = "revolute";
  loop.joint.axis = (sn_vec3){0, 1, 0};
  loop.a = (sn_point_def){a, at_a};
  loop.b = (sn_point_def){b, at_b};
  return loop;
}

static void add_loop(sn_builder *b, const sn_loop_def *def) {
  CHECK(sn_builder_add_loop(b, def) == SN_OK, "out of memory");
}

static int parent_of(const sn_model *m, const char *name) {
  return sn_model_body_parent(m, sn_model_body_find(m, name));
}

static double distance(sn_se3 A, sn_se3 B) {
  double most = sn_vec3_norm(sn_vec3_sub(A.p, B.p));
  for (int k = 0; k < 9; k++) {
    most = fmax(most, fabs(A.R.m[k / 3][k % 3] - B.R.m[k / 3][k % 3]));
  }
  return most;
}

static sn_se3 pose_at(const sn_model *m, const double *q) {
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(m);
  const int nv = sn_model_dof_count(m);
  for (int k = 0; k < nv; k++) {
    sn_state_q(s)[k] = q[k];
  }
  sn_se3 E;
  CHECK(sn_sim_poses(sim, s, &E, NULL) == SN_OK, "no poses");
  sn_state_free(&s);
  sn_sim_free(&sim);
  return E;
}

/* Q of a joint, by a body that has it. */
static sn_se3 motion_of(const sn_joint_def *joint, const double *q) {
  sn_builder *b = sn_builder_create();
  add_bar(b, "bar");
  ((sn_body_def *)b->body.item)->joint = *joint;
  ((sn_body_def *)b->body.item)->joint.at = sn_se3_identity();
  sn_model *m = test_finish(b);
  const sn_se3 Q = pose_at(m, q);
  sn_model_free(&m);
  return Q;
}

/* Every kind of joint, from either side: the body is where the loop would hold it. */
TEST(the_joint_is_the_loop) {
  static const char *const kind[] = {"fixed",     "revolute",  "prismatic", "cylindrical",  "screw",
                                     "spherical", "universal", "planar",    "translation3", "free"};
  for (int k = 0; k < 2 * SNI_COUNT(kind); k++) {
    const char *type = kind[k / 2];
    const bool swapped = k % 2, turns = k / 2 < 6, ball = strcmp(type, "spherical") == 0;
    if (swapped && !turns) {
      continue;
    }
    uint64_t seed = (uint64_t)k + 1;
    sn_builder *b = sn_builder_create();
    add_bar(b, "bar");
    sn_loop_def loop =
        hinge("tie", "world", random_pose(&seed, 1, 1), "bar", random_pose(&seed, 1, 1));
    const sn_point_def a = loop.a, e = loop.b;
    loop.joint.type = type;
    loop.joint.axis = random_vec3(&seed, 1);
    loop.joint.pitch = 0.3;
    loop.a = swapped ? e : a;
    loop.b = swapped ? a : e;
    add_loop(b, &loop);
    sn_model *m = test_finish(b);
    CHECK(m->nloop == 0, "%s: the loop is still one", type);
    double q[SN_NV_MAX], q_loop[SN_NV_MAX];
    for (int i = 0; i < SN_NV_MAX; i++) {
      q[i] = test_random(&seed, -0.6, 0.6);
      q_loop[i] = swapped && ball ? -q[i] : q[i];
    }
    const sn_se3 E = pose_at(m, q), Q = motion_of(&loop.joint, q_loop);
    const sn_se3 want =
        sn_se3_mul(sn_se3_mul(a.at, swapped ? sn_se3_inverse(Q) : Q), sn_se3_inverse(e.at));
    CHECK(distance(E, want) < 1e-14, "%s, side %s: off by %.3g", type, swapped ? "a" : "b",
          distance(E, want));
    sn_model_free(&m);
  }
}

/* A ring of bars on the ground at one place hangs in two branches, of which the ends meet. */
TEST(the_tree_is_breadth_first) {
  enum { N = 9 };
  for (int prefer = -1; prefer < N; prefer++) {
    sn_builder *b = sn_builder_create();
    char name[N][32], tie[N + 1][32];
    for (int k = 0; k < N; k++) {
      snprintf(name[k], sizeof name[k], "bar%d", k);
      add_bar(b, name[k]);
    }
    for (int k = 0; k <= N; k++) {
      snprintf(tie[k], sizeof tie[k], "tie%d", k);
      sn_loop_def loop = hinge(tie[k], k ? name[k - 1] : "world", sn_pose(k > 0, 0, 0),
                               k < N ? name[k] : "world", sn_pose(k == N ? N : 0, 0, 0));
      loop.priority = k == prefer ? -1 : 0; /* the last that would be taken */
      add_loop(b, &loop);
    }
    sn_model *m = test_finish(b);
    CHECK(m->nloop == 1, "%d loops are left", m->nloop);
    const int cut = prefer >= 0 ? prefer : (N + 1) / 2;
    for (int k = 0; k < N; k++) {
      const int want = k < cut ? k - 1 : k + 1;
      const int on = want < 0 || want >= N ? -1 : sn_model_body_find(m, name[want]);
      CHECK(parent_of(m, name[k]) == on, "cut at %d: bar%d hangs on %d", cut, k,
            parent_of(m, name[k]));
    }
    sn_model_free(&m);
  }
}

/* A loop that opens, or that only one side could bear, stays one. */
TEST(only_what_can_bear_does) {
  sn_builder *b = sn_builder_create();
  add_bar(b, "one");
  add_bar(b, "two");
  sn_loop_def loop = hinge("opens", "world", sn_pose(0, 0, 0), "one", sn_pose(1, 0, 0));
  loop.active = (sn_function_def){.expression = "1 - t"};
  add_loop(b, &loop);
  loop = hinge("wrong_way", "two", sn_pose(0, 0, 0), "world", sn_pose(1, 0, 0));
  loop.joint.type = "universal";
  add_loop(b, &loop);
  loop = hinge("bears", "world", sn_pose(0, 0, 0), "two", sn_pose(-1, 0, 0));
  loop.priority = -5;
  add_loop(b, &loop);
  loop = hinge("bears_too", "two", sn_pose(0, 0, 0), "one", sn_pose(1, 0, 0));
  add_loop(b, &loop);
  sn_model *m = test_finish(b);
  CHECK(m->nloop == 2, "%d loops are left", m->nloop);
  CHECK(parent_of(m, "two") == -1, "'two' hangs on %d", parent_of(m, "two"));
  CHECK(parent_of(m, "one") == sn_model_body_find(m, "two"), "'one' does not hang on 'two'");
  sn_model_free(&m);
}

TEST(mistakes_are_told_where_they_were_made) {
  sn_builder *b = sn_builder_create();
  add_bar(b, "alone");
  add_bar(b, "held");
  sn_loop_def loop = hinge("tie", "world", sn_pose(0, 0, 0), "held", sn_pose(1, 0, 0));
  add_loop(b, &loop);
  EXPECT(b, {"bodies.alone",
             "has no joint, and no loop that is always closed leads from what has one to it: give "
             "it a joint (free: it flies), or join it by a loop"});

  b = sn_builder_create();
  add_bar(b, "held");
  loop.joint.axis = (sn_vec3){0};
  add_loop(b, &loop);
  EXPECT(b, {"loops.tie.axis", "length 0, needs a direction"});
}

#define ARM "inertia: {mass: 1, at: [0.3, 0, 0.1], xx: 0.1, yy: 0.2, zz: 0.12}"
#define BARS(crank, coupler, rocker)                                                               \
  "sinew: 1\n"                                                                                     \
  "bodies:\n"                                                                                      \
  "  crank: {" crank ARM "}\n"                                                                     \
  "  coupler: {" coupler ARM "}\n"                                                                 \
  "  rocker: {" rocker ARM "}\n"                                                                   \
  "loops:\n"                                                                                       \
  "  foot: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [2, 0, 0]}, b: {body: "          \
  "rocker}}\n"
#define HINGE "joint: {type: revolute, axis: [0, 1, 0], at: "

/* A linkage moves in the same way, whoever has chosen the tree. */
TEST(the_choice_does_not_show) {
  const char *const text[2] = {
      BARS(HINGE "[0, 0, 0], damping: 0.1}, ", "parent: crank, " HINGE "[0, 0, 1]}, ",
           "parent: coupler, joint: {type: composite, at: [2, 0, 0], parts: [{type: revolute, "
           "axis: [0, 1, 0]}, {type: fixed, at: [0, 0, -1]}]}, "),
      BARS("", "", "") "  low: {type: revolute, axis: [0, 1, 0], damping: 0.1, a: {body: world}, "
                       "b: {body: crank}}\n"
                       "  left: {type: revolute, axis: [0, 1, 0], a: {body: crank, at: [0, 0, 1]}, "
                       "b: {body: "
                       "coupler}}\n"
                       "  right: {type: revolute, axis: [0, 1, 0], a: {body: coupler, at: [2, 0, "
                       "0]}, b: {body: "
                       "rocker, at: [0, 0, 1]}}\n"};
  sn_se3 E[2][3];
  for (int k = 0; k < 2; k++) {
    sn_options o = sn_options_default();
    o.step = 0.002;
    o.recursive.integrator = SN_RK4;
    stage b = stage_set(text[k], o);
    stage_step(&b, 250);
    sn_se3 pose[3];
    CHECK(sn_sim_poses(b.sim, b.s, pose, NULL) == SN_OK, "no poses");
    static const char *const name[3] = {"crank", "coupler", "rocker"};
    for (int i = 0; i < 3; i++) {
      E[k][i] = pose[sn_model_body_find(b.m, name[i])];
    }
    CHECK(parent_of(b.m, "rocker") == (k ? -1 : sn_model_body_find(b.m, "coupler")), "model %d", k);
    stage_clear(&b);
  }
  CHECK(distance(E[0][0], sn_se3_identity()) > 0.5, "it has hardly moved");
  for (int i = 0; i < 3; i++) {
    CHECK(distance(E[0][i], E[1][i]) < 1e-9, "body %d: %.3g apart", i, distance(E[0][i], E[1][i]));
  }
}

int main(void) {
  RUN_TESTS(T(the_joint_is_the_loop), T(the_tree_is_breadth_first), T(only_what_can_bear_does),
            T(mistakes_are_told_where_they_were_made), T(the_choice_does_not_show));
}
