/* Memory: a step never asks for any, and whichever request is refused while a model is built, the
 * answer is SN_E_MEMORY and nothing is lost. */
#include "heap.h"
#include "trees.h"

/* ---- a mechanism with a bit of everything ---- */

static sn_function_def expression(const char *text) {
  return (sn_function_def){.expression = text};
}

static sn_status add_everything(sn_builder *b) {
  static random_tree tree; /* large */
  random_tree_make(&tree, 5, 20, TREE_SPRINGS | TREE_DRAG | TREE_FORCES | TREE_ARMATURE);
  sn_status status = random_tree_add(&tree, b, NULL);

  sn_shape_def shapes[2] = {sn_shape_def_default(), sn_shape_def_default()};
  shapes[0].type = "box";
  shapes[0].size = (sn_vec3){1, 1, 1};
  shapes[0].density = 1;
  shapes[1].type = "sphere";
  shapes[1].radius = 0.5;
  shapes[1].density = 2;
  sn_body_def arm = test_link("arm", "b03", "revolute");
  arm.has_inertia = false;
  arm.shapes = shapes;
  arm.nshape = 2;
  arm.joint.drive.enabled = true;
  arm.joint.drive.ntarget = 1;
  arm.joint.drive.target[0] = expression("0.5*sin(3*t) + step(t - 0.02)");
  arm.joint.drive.stiffness = arm.joint.drive.damping = sn_per_dof_all(3);
  status = status ? status : sn_builder_add_body(b, &arm);

  sn_body_def crank = test_link("crank", "arm", "revolute");
  status = status ? status : sn_builder_add_body(b, &crank);
  const double time[] = {0, 0.03, 1}, value[] = {0, 0.1, 0.2};
  sn_motion_def motion = sn_motion_def_default();
  motion.name = "motor";
  motion.joint = "crank";
  motion.nq = 1;
  motion.q[0] = (sn_function_def){
      .key_time = time, .key_value = value, .nkey = 3, .interpolation = SN_INTERPOLATE_CUBIC};
  status = status ? status : sn_builder_add_motion(b, &motion);

  sn_contact_def steel = sn_contact_def_default();
  steel.name = "steel"; /* nobody names it: a warning */
  status = status ? status : sn_builder_add_contact(b, &steel);
  sn_initial_def initial = sn_initial_def_default();
  initial.body = "arm";
  initial.qd = sn_per_dof_all(1);
  status = status ? status : sn_builder_set_initial(b, &initial);
  status = status ? status : sn_builder_set_units(b, "m kg s", "z");
  static const char *const channels[] = {"*.q", "E"};
  sn_run_def run = sn_run_def_default();
  run.record_channels = channels;
  run.nrecord_channel = 2;
  return status ? status : sn_builder_set_run(b, &run);
}

static sn_model *everything(void) {
  sn_builder *b = sn_builder_create();
  CHECK(add_everything(b) == SN_OK, "out of memory");
  return test_finish(b);
}

static void push(const sn_force_context *c, void *user) {
  (void)user;
  c->wrench[0].v.x += sin(c->t);
}

TEST(steps_and_questions_never_allocate) {
  sn_model *m = everything();
  const int nv = sn_model_dof_count(m), n = sn_model_body_count(m);
  double *x = random_doubles(1, nv, 1), *y = calloc((size_t)nv * (size_t)nv, sizeof *y);
  sn_vec6 *w = calloc((size_t)n, sizeof *w), *load = calloc((size_t)n, sizeof *load);
  sn_se3 *E = calloc((size_t)n, sizeof *E);
  sn_joint_mode *mode = calloc((size_t)n, sizeof *mode);
  for (int which = 0; which < 4; which++) {
    sn_options o = sn_options_default();
    o.recursive.integrator = which % 2 ? SN_RK4 : SN_DOPRI5;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m), *copy = test_state(m);
    sn_sim_set_force(sim, which < 2 ? NULL : push, NULL);
    const int count = sn_sim_channel_count(sim);
    int *channel = calloc((size_t)count, sizeof *channel);
    double *out = calloc((size_t)count, sizeof *out);
    for (int k = 0; k < count; k++) {
      channel[k] = k;
    }
    sn_error err = {0};
    sn_info info;
    sn_energy energy;
    sn_status status = SN_OK;
    char name[300];
    heap_watch(0);
    for (int k = 0; k < 30 && !status; k++) {
      if (k == 10) {
        sn_grab_def hand = sn_grab_def_default();
        hand.body = 3;
        status = sn_sim_grab(sim, s, &hand, &err);
      }
      if (k > 10 && !status) {
        status = sn_sim_drag(sim, (sn_vec3){0.01 * k, 0, 0}, &err);
      }
      status = status
                   ? status
                   : sn_sim_step(sim, s, k % 3 ? NULL : &(sn_input){.wrench = load}, &info, &err);
      status = status ? status : sn_sim_channels(sim, s, NULL, channel, count, out, &err);
    }
    const sn_status good = status;
    const sn_error first = err;
    sn_sim_forward(sim, s, NULL, x, &err);
    sn_sim_inverse(sim, s, NULL, x, y, w, &err);
    sn_sim_hybrid(sim, s, NULL, mode, x, y, w, &err);
    sn_sim_poses(sim, s, E, w);
    sn_sim_mass_matrix(sim, s, y);
    sn_sim_J_mul(sim, s, x, w);
    sn_sim_Jdot_mul(sim, s, x, w);
    sn_sim_Jt_mul(sim, s, w, x);
    sn_sim_Minv_mul(sim, s, x, y, &err);
    sn_sim_point_jacobian(sim, s, 2, (sn_vec3){1, 2, 3}, y);
    sn_sim_energy(sim, s, &energy);
    sn_sim_set(sim, "bodies.arm.joint.damping", 2, &err);
    sn_sim_set(sim, "no.such.path", 2, &err);
    sn_sim_get(sim, "gravity[2]", x, &err);
    sn_sim_channel_find(sim, "arm.q");
    sn_sim_channel_name(sim, 20, name, sizeof name);
    sn_state_copy(copy, s);
    sn_state_hash(s);
    status = sn_sim_step(sim, copy, NULL, NULL, &err); /* afresh, with another parameter */
    const long calls = heap_stop();
    CHECK(!good, "%s", first.text);
    CHECK(!status, "%s", err.text);
    CHECK(calls == 0, "%s: %ld calls of the allocator", which % 2 ? "rk4" : "dopri5", calls);
    free(channel);
    free(out);
    sn_state_free(&s);
    sn_state_free(&copy);
    sn_sim_free(&sim);
  }
  free(x);
  free(y);
  free(w);
  free(load);
  free(E);
  free(mode);
  sn_model_free(&m);
}

/* The watch sees what it should. */
TEST(the_watch_counts) {
  heap_watch(0);
  sn_builder *b = sn_builder_create();
  const long after = heap.calls;
  sn_builder_free(&b);
  CHECK(heap_stop() > after && after > 0, "%ld calls", after);
  CHECK(heap.alive == 0, "%ld blocks are alive", heap.alive);
}

/* ---- refused requests ---- */

static sn_status add_constraints(sn_builder *b) {
  const sn_term_def term[2] = {{"arm", 0, 1}, {"crank", 0, 2}};
  sn_constraint_def gear = sn_constraint_def_default();
  gear.name = "gear";
  gear.type = "couple";
  gear.terms = term;
  gear.nterm = 2;
  gear.offset = expression("0.1*t");
  gear.active = expression("t > 1");
  sn_motion_def turn = sn_motion_def_default();
  turn.name = "turn";
  turn.body = "arm";
  turn.twist_given[1] = true;
  turn.twist[1] = expression("sin(t)");
  turn.active = expression("t > 1");
  const sn_status status = sn_builder_add_constraint(b, &gear);
  return status ? status : sn_builder_add_motion(b, &turn);
}

/* From nothing to a step and back to nothing. */
static sn_status whole_life(void) {
  sn_builder *b = sn_builder_create();
  sn_model *m = NULL;
  sn_sim *sim = NULL;
  sn_state *s = NULL, *copy = NULL;
  sn_error err;
  sn_status status = b ? add_everything(b) : SN_E_MEMORY;
  status = status ? status : add_constraints(b);
  status = status ? status : sn_builder_finish(b, &m, &err);
  status = status ? status : sn_sim_create(m, NULL, &sim, &err);
  status = status ? status : sn_state_create(m, &s, &err);
  status = status ? status : sn_state_clone(s, &copy);
  status = status ? status : sn_sim_step(sim, copy, NULL, NULL, &err);
  if (b) {
    sn_builder_free(&b);
  }
  sn_model_free(&m);
  sn_sim_free(&sim);
  sn_state_free(&s);
  sn_state_free(&copy);
  return status;
}

/* A model with one mistake: what cannot be written down must not pass for none. */
static sn_status broken_life(const sn_body_def *def) {
  sn_builder *b = sn_builder_create();
  sn_model *m = NULL;
  sn_error err;
  sn_status status = b ? sn_builder_add_body(b, def) : SN_E_MEMORY;
  status = status ? status : sn_builder_finish(b, &m, &err);
  if (b) {
    sn_builder_free(&b);
  }
  sn_model_free(&m);
  return status;
}
static sn_status without_parent(void) {
  const sn_body_def def = test_link("a", "nobody", "revolute");
  return broken_life(&def);
}
static sn_status without_axis(void) {
  sn_body_def def = test_link("a", "world", "revolute");
  def.joint.axis = (sn_vec3){0};
  return broken_life(&def);
}

static void refuse_in_turn(sn_status (*life)(void), sn_status otherwise, const char *what) {
#if !HEAP_REFUSES
  (void)life;
  (void)otherwise;
  print_message("  %s: cannot be refused under a sanitizer\n", what);
#else
  long k = 1;
  for (;; k++) {
    heap_watch(k);
    const sn_status status = life();
    heap_stop();
    CHECK(heap.alive == 0, "%s, request %ld refused: %ld blocks are lost", what, k, heap.alive);
    if (!heap.has_failed) {
      CHECK(status == otherwise, "%s: status %d", what, status);
      break;
    }
    /* qsort and lists of warnings do without */
    CHECK(status == SN_E_MEMORY || status == otherwise, "%s, request %ld refused: status %d", what,
          k, status);
  }
  print_message("  %s: %ld requests refused in turn\n", what, k - 1);
  CHECK(k > 3, "only %ld requests", k);
#endif
}

TEST(every_refused_request_is_survived) {
  refuse_in_turn(whole_life, SN_OK, "a model, a sim, a step");
  refuse_in_turn(without_parent, SN_E_VALUE, "a body without a parent");
  refuse_in_turn(without_axis, SN_E_VALUE, "a hinge without an axis");
}

int main(void) {
  heap_ready();
  RUN_TESTS(T(steps_and_questions_never_allocate), T(the_watch_counts),
            T(every_refused_request_is_survived));
}
