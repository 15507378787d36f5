/* Mechanisms of light bodies under heavy loads: the implicit steps of `redmax` bring them to rest.
 *
 * A flat arch of hinged pieces is pulled upwards with 1 to 100 times its weight, in steps of
 * 10 ms in which such a load alone would turn a piece by many radians.  At first it resists with
 * nothing but its mass; the tension comes when it has turned. */
#include "redmax.h"

enum { PIECES = 24, STEPS = 400 };
#define LENGTH 0.3
#define MASS   75.0
#define RISE   0.12 /* angle of the first piece; each turns back by BEND */
#define BEND   (2 * RISE / (PIECES - 1))

/* What holds the far end, and whether the pieces turn in all directions. */
typedef struct span {
  const char *name, *hinge;
  enum { FREE, LOOP, SPRING } end;
} span;

static const span spans[] = {
    {"free", "revolute", FREE},           {"loop", "revolute", LOOP},
    {"spring", "revolute", SPRING},       {"free balls", "spherical", FREE},
    {"loop of balls", "spherical", LOOP}, {"spring and balls", "spherical", SPRING}};
enum { SPANS = sizeof spans / sizeof spans[0] };

static void add_spring(sn_builder *b, const char *name, sn_vec3 from, const char *body,
                       double stiffness, double rest_length) {
  const sn_force_def def = spring_def(name, NULL, from, body, (sn_vec3){LENGTH, 0, 0}, stiffness,
                                      1e-3 * stiffness, rest_length);
  CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
}

/* Where the n-th piece begins, drawn as an arch. */
static sn_vec3 drawn(int n) {
  sn_vec3 at = {0, 0, 0};
  for (int i = 0; i < n; i++) {
    at.x += LENGTH * cos(RISE - i * BEND);
    at.z += LENGTH * sin(RISE - i * BEND);
  }
  return at;
}

static void add_end(sn_builder *b, const span *sp, const char *last) {
  const sn_vec3 end = drawn(PIECES);
  if (sp->end == SPRING) {
    add_spring(b, "tie", end, last, 1e8, 0);
  } else if (sp->end == LOOP) {
    sn_loop_def loop = sn_loop_def_default();
    loop.name = "end";
    loop.joint.type = sp->hinge;
    loop.joint.axis = (sn_vec3){0, 1, 0};
    loop.a = (sn_point_def){last, sn_pose(LENGTH, 0, 0)};
    loop.b = (sn_point_def){"world", sn_pose(end.x, end.y, end.z)};
    CHECK(sn_builder_add_loop(b, &loop) == SN_OK, "out of memory");
  }
}

/* Every fourth piece hangs on a cable; the builder is left open for the load. */
static sn_builder *span_builder(const span *sp, char name[PIECES][32]) {
  sn_builder *b = sn_builder_create();
  CHECK(b != NULL, "out of memory");
  sn_builder_set_gravity(b, (sn_vec3){0, 0, -9.8});
  for (int i = 0; i < PIECES; i++) {
    snprintf(name[i], sizeof name[i], "piece_%d", i);
    sn_body_def def = test_link(name[i], i > 0 ? name[i - 1] : "world", sp->hinge);
    def.joint.at =
        sn_pose_rotvec((sn_vec3){i > 0 ? LENGTH : 0, 0, 0}, (sn_vec3){0, i > 0 ? BEND : -RISE, 0});
    def.inertia =
        (sn_inertia){.mass = MASS, .com = {0.5 * LENGTH, 0, 0}, .xx = 3, .yy = 2.1, .zz = 2.1};
    def.damping_linear = def.damping_angular = 1;
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
    if (sp->end != FREE && i % 4 == 3) {
      char cable[32];
      snprintf(cable, sizeof cable, "cable_%d", i);
      const sn_vec3 below = drawn(i + 1);
      add_spring(b, cable, (sn_vec3){below.x, 0, 5}, name[i], 1e6, -1);
    }
  }
  add_end(b, sp, name[PIECES - 1]);
  return b;
}

typedef struct course {
  double peak, late, gain; /* kinetic energy; energy beyond the work of the load */
  int retries;
} course;

/* A load of constant direction does the work of its way. */
static course run(const sn_model *m, const sn_options *o, int pulled, sn_vec3 load) {
  course c = {0};
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  sn_se3 E[PIECES];
  sn_sim_poses(sim, s, E, NULL);
  const sn_vec3 from = E[pulled].p;
  const double start = redmax_energy(sim, s);
  for (int k = 0; k < STEPS; k++) {
    sn_energy e;
    c.retries += redmax_step(sim, s, NULL).retries;
    CHECK(sn_sim_energy(sim, s, &e) == SN_OK, "no energy");
    sn_sim_poses(sim, s, E, NULL);
    const double work = sn_vec3_dot(load, sn_vec3_sub(E[pulled].p, from));
    c.peak = fmax(c.peak, e.kinetic);
    c.late = k < STEPS - 50 ? 0 : fmax(c.late, e.kinetic);
    c.gain = fmax(c.gain, e.kinetic + e.potential - start - work);
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  return c;
}

static const double times_weight[] = {1, 5, 25, 100};

/* What is held comes to rest: within the 4 s of a run the sooner, the heavier the load.  What
 * swings at its free end goes on.  Energy comes only from the load; but springs that are stiffer
 * than all that pulls on them store some for a moment. */
static void check(const span *sp, double times, const course *c) {
  const double rest = times > 1 ? 1e-3 : 0.1;
  CHECK(sp->end == FREE || c->late < rest * c->peak, "%s, %g: T = %g at last, %g before", sp->name,
        times, c->late, c->peak);
  CHECK(sp->end == SPRING || c->gain <= 1e-9 * c->peak, "%s, %g: %g J from nowhere", sp->name,
        times, c->gain);
  CHECK(c->retries <= 8, "%s, %g: %d retries", sp->name, times, c->retries);
}

TEST(loads_bring_no_lasting_motion) {
  for (int n = 0; n < SPANS; n++) {
    for (int w = 0; w < 4; w++) {
      char name[PIECES][32];
      sn_builder *b = span_builder(&spans[n], name);
      const int pulled = spans[n].end == FREE ? PIECES - 1 : PIECES / 2;
      const double weight = PIECES * MASS * 9.8;
      const sn_vec3 load = {0, 0.1 * times_weight[w] * weight, times_weight[w] * weight};
      sn_force_def pull = sn_force_def_default();
      pull.name = "pull";
      pull.type = "point_force";
      pull.body = name[pulled];
      pull.vector[1] = sn_constant(load.y);
      pull.vector[2] = sn_constant(load.z);
      sn_builder_add_force(b, &pull);
      sn_model *m = test_finish(b);
      const sn_options o = redmax_options(0.01);
      const course c = run(m, &o, pulled, load);
      printf("  %-16s %3g times the weight: T %.2g, at last %.2g, gain %.2g, %d retries\n",
             spans[n].name, times_weight[w], c.peak, c.late, c.gain, c.retries);
      check(&spans[n], times_weight[w], &c);
      sn_model_free(&m);
    }
  }
}

int main(void) {
  RUN_TESTS(T(loads_bring_no_lasting_motion));
}
