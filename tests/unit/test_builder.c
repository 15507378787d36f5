/* The builder: every mistake is found, all of them together, each with its path and what would be
 * right; definitions are copied with all that they point to. */
#include "complaints.h"

static sn_motion_def motion_of(const char *name, const char *joint, const char *q) {
  sn_motion_def m = sn_motion_def_default();
  m.name = name;
  m.joint = joint;
  m.nq = 1;
  m.q[0] = (sn_function_def){.expression = q};
  return m;
}

/* ---- tree ---- */

TEST(an_empty_model_is_refused) {
  EXPECT(sn_builder_create(), {"bodies", "there is no body: a scene needs at least one"});
}

TEST(names_and_parents) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("a", "world", "revolute");
  add(b, &def);
  def.name = "a";
  add(b, &def);
  def.name = "2legs";
  add(b, &def);
  def.name = "world";
  add(b, &def);
  def.name = NULL;
  add(b, &def);
  def.name = NULL;
  add(b, &def);
  def.name = "lost";
  def.parent = "nobody";
  add(b, &def);
  def.name = "child_of_lost";
  def.parent = "lost";
  add(b, &def);
  char name[256];
  memset(name, 'x', 201);
  name[201] = 0;
  def.name = name;
  def.parent = "a";
  add(b, &def);
  char path[256];
  snprintf(path, sizeof path, "bodies.%.152s", name); /* paths are cut to fit */
  EXPECT(b, {"bodies.a", "two bodies have this name"},
         {"bodies.2legs", "'2legs' is not a name for a body: needs letters, digits, _ and -, not "
                          "beginning with a digit"},
         {"bodies.world", "the name 'world' belongs to the ground"},
         {"bodies.", "'' is not a name for a body: needs letters, digits, _ and -, not beginning "
                     "with a digit"},
         {"bodies.", "'' is not a name for a body: needs letters, digits, _ and -, not beginning "
                     "with a digit"},
         {"bodies.lost.parent", "there is no body 'nobody'"},
         {path, "this name has 201 characters, at most 200 are possible"});
}

TEST(parents_in_a_circle) {
  sn_builder *b = sn_builder_create();
  const char *const ring[][2] = {{"a", "c"},    {"b", "a"},       {"c", "b"},
                                 {"tail", "c"}, {"self", "self"}, {"good", "world"}};
  for (size_t k = 0; k < sizeof ring / sizeof ring[0]; k++) {
    const sn_body_def def = test_link(ring[k][0], ring[k][1], "revolute");
    add(b, &def);
  }
  EXPECT(b,
         {"bodies.a.parent",
          "the parents go round in a circle: a -> c -> b -> a; one of them must hang on world"},
         {"bodies.self.parent",
          "the parents go round in a circle: self -> self; one of them must hang on world"});
}

/* ---- masses ---- */

TEST(masses) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("negative", "world", "revolute");
  def.inertia.mass = -1;
  add(b, &def);
  def = test_link("triangle", "world", "revolute");
  def.inertia.xx = 1;
  add(b, &def);
  def = test_link("moment", "world", "revolute");
  def.inertia.zz = -0.02;
  add(b, &def);
  def = test_link("nan_mass", "world", "revolute");
  def.inertia.mass = NAN;
  add(b, &def);
  def = test_link("nan_com", "world", "revolute");
  def.inertia.com.y = INFINITY;
  add(b, &def);
  def = test_link("nan_product", "world", "revolute");
  def.inertia.xy = NAN;
  add(b, &def);
  def = test_link("drag", "world", "revolute");
  def.damping_angular = -1;
  def.damping_linear = NAN;
  add(b, &def);
  sn_shape_def shape = sn_shape_def_default();
  shape.type = "sphere";
  shape.radius = 1;
  shape.at.R.m[0][1] = 0.1;
  def = test_link("shape", "world", "revolute");
  def.shapes = &shape;
  def.nshape = 1;
  add(b, &def);
  EXPECT(
      b, {"bodies.negative.inertia", "mass is -1, needs > 0"},
      {"bodies.triangle.inertia",
       "principal moments 0.02, 0.09, 1 break the triangle inequality (largest must be <= sum of "
       "the others 0.11): no body has such an inertia"},
      {"bodies.moment.inertia", "principal moments -0.02, 0.09, 0.1: none may be negative"},
      {"bodies.nan_mass.inertia", "mass is nan, needs a finite number"},
      {"bodies.nan_com.inertia", "centre of mass is [0, inf, -0.5], needs finite numbers"},
      {"bodies.nan_product.inertia", "xy is nan, needs a finite number"},
      {"bodies.drag.damping", "is -1, needs a number >= 0"},
      {"bodies.drag.damping", "is nan, needs a number >= 0"},
      {"bodies.shape.shapes[0].at", "has a matrix that is no rotation (off by 0.1)"});
}

TEST(moving_bodies_need_mass) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("hand", "world", "revolute");
  def.inertia = (sn_inertia){0};
  add(b, &def); /* carries only fingers without mass */
  def = test_link("finger", "hand", "fixed");
  def.has_inertia = false;
  add(b, &def);
  def = test_link("between", "world", "revolute");
  def.inertia = (sn_inertia){0};
  add(b, &def); /* carries mass: fine */
  def = test_link("bob", "between", "revolute");
  add(b, &def);
  def = test_link("driven", "world", "revolute");
  def.inertia = (sn_inertia){0};
  add(b, &def); /* follows a motion: fine */
  const sn_motion_def motion = motion_of("motor", "driven", "t");
  sn_builder_add_motion(b, &motion);
  def = test_link("geared", "world", "revolute");
  def.inertia = (sn_inertia){0};
  def.joint.armature = sn_per_dof_all(1);
  add(b, &def); /* has a rotor: fine */
  EXPECT(b, {"bodies.hand", "moves, but neither it nor anything on it has mass: give a shape a "
                            "density, or give inertia"});
}

/* ---- forces, motions, loops, contacts ---- */

TEST(forces) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("a", "world", "universal");
  add(b, &def);
  def = test_link("welded", "world", "fixed");
  add(b, &def);
  sn_force_def f = force_of("same", "spring");
  f.a.body = f.b.body = "a";
  f.b.at = sn_pose(0, 0, 1);
  sn_builder_add_force(b, &f);
  f = force_of("both_world", "spring");
  sn_builder_add_force(b, &f);
  f = force_of("values", "spring");
  f.a.body = "a";
  f.a.at.p.x = NAN;
  f.b.at.p.z = INFINITY;
  f.stiffness = -1;
  f.damping = -2;
  f.rest_length = NAN;
  sn_builder_add_force(b, &f);
  f = force_of("nowhere", "spring");
  f.a.body = "nobody";
  f.b.body = "no_one";
  sn_builder_add_force(b, &f);
  f = force_of("ground", "point_force");
  sn_builder_add_force(b, &f);
  f = force_of("vector", "point_force");
  f.body = "a";
  f.at.y = NAN;
  f.vector[1] = (sn_function_def){.expression = "1 +"};
  f.vector[2] = sn_constant(NAN);
  sn_builder_add_force(b, &f);
  f = force_of("torque", "body_torque");
  f.body = "missing";
  f.vector[0] = (sn_function_def){.value = 1, .expression = "t"};
  sn_builder_add_force(b, &f);
  f = force_of("count", "joint_torque");
  f.joint = "a";
  f.ntorque = 3;
  sn_builder_add_force(b, &f);
  f = force_of("none", "joint_torque");
  f.joint = "welded";
  f.ntorque = 1;
  sn_builder_add_force(b, &f);
  f = force_of("world_joint", "joint_torque");
  f.ntorque = 1;
  sn_builder_add_force(b, &f);
  const double time[] = {0, 1}, value[] = {1, -1};
  f = force_of("switch", "body_torque");
  f.body = "a";
  f.active = (sn_function_def){.key_time = time, .key_value = value, .nkey = 2};
  sn_builder_add_force(b, &f);
  f = force_of("bad_switch", "body_torque");
  f.body = "a";
  f.active = (sn_function_def){.expression = "t >"};
  sn_builder_add_force(b, &f);
  f = force_of("same", "body_torque");
  f.body = "a";
  sn_builder_add_force(b, &f);
  EXPECT(b, {"forces.same", "two forces have this name"},
         {"forces.same.b",
          "is fixed to the same body as a: needs two that can move against each other"},
         {"forces.both_world.b",
          "is fixed to the same body as a: needs two that can move against each other"},
         {"forces.values.a.at", "is [nan, 0, 0], needs finite numbers"},
         {"forces.values.b.at", "is [0, 0, inf], needs finite numbers"},
         {"forces.values.stiffness", "is -1, needs a number >= 0; if it is meant to push away from "
                                     "its rest length, say allow_negative: true"},
         {"forces.values.damping", "is -2, needs a number >= 0"},
         {"forces.values.rest_length", "is nan, needs a finite number"},
         {"forces.nowhere.a.body", "there is no body 'nobody'"},
         {"forces.nowhere.b.body", "there is no body 'no_one'"},
         {"forces.ground.body", "is the world, which does not move: needs a body"},
         {"forces.vector.at", "is [0, nan, 0], needs finite numbers"},
         {"forces.vector.force[1]", "a value is missing at the end"},
         {"forces.vector.force[2]", "value is nan, needs a finite number"},
         {"forces.torque.body", "there is no body 'missing'"},
         {"forces.torque.torque[0]",
          "a time function is one of number, expression, keyframes and CSV column"},
         {"forces.count.torque", "has 3 functions, the joint has 2 coordinates"},
         {"forces.none.joint", "has no coordinates: a torque there does nothing"},
         {"forces.world_joint.joint", "is the world, which has none: needs the name of a body"},
         {"forces.switch.active", "is on or off, nothing between: needs interpolation: step"},
         {"forces.bad_switch.active", "a value is missing at the end"});
}

TEST(motions) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("a", "world", "revolute");
  add(b, &def);
  def = test_link("b", "a", "universal");
  add(b, &def);
  def = test_link("c", "a", "fixed");
  add(b, &def);
  sn_motion_def m = motion_of("first", "a", "t");
  sn_builder_add_motion(b, &m);
  m = motion_of("second", "a", "2*t");
  sn_builder_add_motion(b, &m);
  m = motion_of("count", "b", "t");
  sn_builder_add_motion(b, &m);
  m = motion_of("none", "c", "t");
  sn_builder_add_motion(b, &m);
  m = motion_of("nobody", "x", "t");
  sn_builder_add_motion(b, &m);
  m = motion_of("ground", "world", "t");
  sn_builder_add_motion(b, &m);
  m = motion_of("b", "a", "t"); /* named as another body */
  sn_builder_add_motion(b, &m);
  EXPECT(b, {"motions.second.joint", "'a' follows the motion 'first' already"},
         {"motions.count.q", "has 1 function, the joint 'b' has 2 coordinates"},
         {"motions.none.q", "has 1 function, the joint 'c' has 0 coordinates"},
         {"motions.nobody.joint", "there is no body 'x'"},
         {"motions.ground.joint", "is the world, which has none: needs the name of a body"},
         {"motions.b.joint", "'a' follows the motion 'first' already"},
         {"motions.b.joint", "'a' follows the motion 'second' already"},
         {"motions.b",
          "a body has this name, and it is not the one that follows: needs another name"});
}

TEST(a_start_that_disagrees_with_a_motion) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("a", "world", "revolute");
  add(b, &def);
  const sn_motion_def m = motion_of("motor", "a", "0.5 + 2*t");
  sn_builder_add_motion(b, &m);
  sn_initial_def initial = sn_initial_def_default();
  initial.body = "a";
  initial.q = sn_per_dof_all(0.4);
  initial.qd = sn_per_dof_all(1);
  sn_builder_set_initial(b, &initial);
  EXPECT(b, {"initial.a.q", "is 0.4, but the motion 'motor' begins at 0.5: leave it out"},
         {"initial.a.qd", "is 1, but the motion 'motor' begins with 2: leave it out"});
}

TEST(starts) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("hinge", "world", "revolute");
  add(b, &def);
  def = test_link("ball", "world", "spherical");
  add(b, &def);
  sn_initial_def i = sn_initial_def_default();
  i.body = "nobody";
  sn_builder_set_initial(b, &i);
  i.body = "hinge";
  i.has_pose = true;
  sn_builder_set_initial(b, &i);
  i.body = "ball";
  i.q = sn_per_dof_all(0);
  i.qd = (sn_per_dof){2, {0, 0}};
  i.pose.p.x = 1;
  sn_builder_set_initial(b, &i);
  sn_builder_set_initial(b, &i);
  EXPECT(b, {"initial.nobody", "there is no body 'nobody'"},
         {"initial.hinge.pose", "a revolute joint starts from q, not from a pose"},
         {"initial.ball.pose", "both pose and q are given: one is enough"},
         {"initial.ball.pose", "a spherical joint cannot take this pose"},
         {"initial.ball.qd", "has 2 numbers, the joint has 3 coordinates"},
         {"initial.ball", "the start of this body is given twice"});
  b = test_builder(&def);
  i = sn_initial_def_default();
  i.body = "ball";
  i.has_pose = true;
  i.pose.R.m[0][0] = NAN;
  sn_builder_set_initial(b, &i);
  EXPECT(b, {"initial.ball.pose", "is not a pose: needs finite numbers and a rotation"});
  b = test_builder(&def);
  i = sn_initial_def_default();
  i.body = "ball";
  i.q = (sn_per_dof){3, {0, NAN, 0}};
  i.qd = (sn_per_dof){1, {INFINITY}};
  sn_builder_set_initial(b, &i);
  EXPECT(b, {"initial.ball.q", "is nan, needs a finite number"},
         {"initial.ball.qd", "is inf, needs a finite number"});
}

TEST(loops_and_contacts) {
  sn_builder *b = sn_builder_create();
  sn_shape_def shape = sn_shape_def_default();
  shape.type = "sphere";
  shape.radius = 1;
  shape.contact = "ice";
  sn_body_def def = test_link("a", "world", "revolute");
  def.shapes = &shape;
  def.nshape = 1;
  add(b, &def);
  sn_loop_def loop = sn_loop_def_default();
  loop.name = "same";
  loop.a.body = loop.b.body = "a";
  loop.joint.type = "revolute";
  sn_builder_add_loop(b, &loop);
  loop.name = "nowhere";
  loop.b.body = "nobody";
  loop.joint.axis.x = 1;
  loop.a.at.p.x = NAN;
  sn_builder_add_loop(b, &loop);
  sn_contact_def contact = sn_contact_def_default();
  contact.name = "steel";
  contact.friction = -1;
  contact.restitution = 2;
  sn_builder_add_contact(b, &contact);
  sn_builder_add_contact(b, &contact);
  EXPECT(b, {"bodies.a.shapes[0].contact", "there is no contact 'ice'"},
         {"loops.same.b.body", "is the same body as a: a loop needs two"},
         {"loops.same.axis", "length 0, needs a direction"},
         {"loops.nowhere.b.body", "there is no body 'nobody'"},
         {"loops.nowhere.a.at", "is not a pose: needs finite numbers and a rotation"},
         {"contacts.steel", "two contacts have this name"},
         {"contacts.steel.friction", "is -1, needs a number >= 0"},
         {"contacts.steel.restitution", "is 2, needs 0 to 1"},
         {"contacts.steel.friction", "is -1, needs a number >= 0"},
         {"contacts.steel.restitution", "is 2, needs 0 to 1"});
}

TEST(run_and_gravity) {
  const sn_body_def def = test_link("a", "world", "revolute");
  sn_builder *b = test_builder(&def);
  sn_run_def run = sn_run_def_default();
  run.options.step = 0;
  run.duration = -1;
  run.record_every = NAN;
  run.options.recursive.rel_tol = 0;
  run.options.recursive.abs_tol = INFINITY;
  run.options.recursive.max_steps = 0;
  sn_builder_set_run(b, &run);
  sn_builder_set_gravity(b, (sn_vec3){0, NAN, 0});
  EXPECT(b, {"run.step", "is 0, needs a number > 0"},
         {"run.duration", "is -1, needs a number >= 0"},
         {"run.record.every", "is nan, needs a number >= 0"},
         {"run.recursive.rel_tol", "is 0, needs a number > 0"},
         {"run.recursive.abs_tol", "is inf, needs a number > 0"},
         {"run.recursive.max_steps", "is 0, needs at least 1"},
         {"gravity", "needs three finite numbers"});
}

/* A broken part does not hide the others, and does not make new complaints about what stands on it.
 */
TEST(mistakes_of_all_rooms_together) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("a", "nobody", "revolute");
  def.joint.axis = (sn_vec3){0};
  def.joint.stiffness = (sn_per_dof){2, {1, 1}}; /* how many there should be is not known */
  add(b, &def);
  def = test_link("b", "a", "revolute");
  def.inertia.mass = -1;
  add(b, &def);
  sn_force_def f = force_of("push", "joint_torque");
  f.joint = "a";
  f.ntorque = 2;
  sn_builder_add_force(b, &f);
  f = force_of("pull", "magnet");
  sn_builder_add_force(b, &f);
  const sn_motion_def m = motion_of("motor", "c", "t");
  sn_builder_add_motion(b, &m);
  sn_initial_def i = sn_initial_def_default();
  i.body = "a";
  i.q = (sn_per_dof){3, {0}};
  sn_builder_set_initial(b, &i);
  sn_run_def run = sn_run_def_default();
  run.options.step = -1;
  sn_builder_set_run(b, &run);
  EXPECT(b, {"bodies.a.parent", "there is no body 'nobody'"},
         {"bodies.a.joint.axis", "length 0, needs a direction"},
         {"bodies.b.inertia", "mass is -1, needs > 0"},
         {"forces.pull.type",
          "'magnet' is not a kind of force; known: spring, cable, string, point_force, "
          "body_torque, joint_torque, grab"},
         {"motions.motor.joint", "there is no body 'c'"},
         {"run.step", "is -1, needs a number > 0"});
}

/* A mistake in an expression comes with its column. */
TEST(expressions_come_with_their_column) {
  const sn_body_def def = test_link("a", "world", "revolute");
  sn_builder *b = test_builder(&def);
  sn_motion_def m = motion_of("motor", "a", "2*pi*x");
  m.active = (sn_function_def){.expression = "t > fast"};
  sn_builder_add_motion(b, &m);
  sn_model *model = NULL;
  CHECK(sn_builder_finish(b, &model, NULL) == SN_E_VALUE && sn_builder_error_count(b) == 2,
        "%d errors", sn_builder_error_count(b));
  for (int k = 0; k < 2; k++) {
    const sn_error *e = sn_builder_error(b, k);
    const bool q = strcmp(e->path, "motions.motor.q") == 0;
    CHECK(e->column == (q ? 6 : 5), "%s: column %d", e->path, e->column);
  }
  sn_builder_free(&b);
}

/* More mistakes than anybody reads: the list ends somewhere, the model is refused all the same. */
TEST(thousands_of_mistakes) {
  sn_builder *b = sn_builder_create();
  for (int k = 0; k < 3000; k++) {
    char name[32];
    snprintf(name, sizeof name, "b%d", k);
    sn_body_def def = test_link(name, "world", "revolute");
    def.joint.axis = (sn_vec3){0};
    add(b, &def);
  }
  sn_model *m = NULL;
  CHECK(sn_builder_finish(b, &m, NULL) == SN_E_VALUE && !m, "it was taken");
  CHECK(sn_builder_error_count(b) >= 1000 && sn_builder_error_count(b) <= 3000, "%d errors",
        sn_builder_error_count(b));
  CHECK(!sn_builder_error(b, -1) && !sn_builder_error(b, sn_builder_error_count(b)),
        "out of range");
  sn_builder_free(&b);
}

/* ---- what is right ---- */

TEST(a_builder_is_finished_once) {
  const sn_body_def def = test_link("a", "world", "revolute");
  sn_builder *b = test_builder(&def);
  sn_model *m = NULL, *again = NULL;
  sn_error err;
  CHECK(sn_builder_finish(b, &m, &err) == SN_OK && m, "%s", err.text);
  CHECK(sn_builder_finish(b, &again, &err) == SN_E_ARGUMENT && !again, "twice");
  CHECK(strcmp(err.text, "this builder has been finished already: make a new one") == 0, "'%s'",
        err.text);
  sn_builder_free(&b);
  CHECK(!b, "free leaves a pointer");
  sn_builder_free(&b);
  CHECK(sn_model_mass(m) == 1 && sn_model_body_count(m) == 1 && sn_model_dof_count(m) == 1,
        "the model");
  sn_model_free(&m);
  sn_model_free(&m);
}

TEST(warnings_do_not_stop) {
  const sn_body_def def = test_link("a", "world", "revolute");
  sn_builder *b = test_builder(&def);
  sn_contact_def steel = sn_contact_def_default();
  steel.name = "steel";
  sn_builder_add_contact(b, &steel);
  sn_model *m = NULL;
  CHECK(sn_builder_finish(b, &m, NULL) == SN_OK && m, "refused");
  CHECK(sn_builder_warning_count(b) == 1 &&
            strcmp(sn_builder_warning(b, 0)->path, "contacts.steel") == 0 &&
            strcmp(sn_builder_warning(b, 0)->text, "no shape names this contact") == 0,
        "%d warnings", sn_builder_warning_count(b));
  CHECK(!sn_builder_warning(b, 1) && !sn_builder_warning(b, -1), "out of range");
  sn_builder_free(&b);
  sn_model_free(&m);
}

TEST(definitions_are_copied) {
  sn_builder *b = sn_builder_create();
  char *text = malloc(64);
  sn_shape_def *shape = malloc(sizeof *shape);
  sn_se3 *frames = malloc(5 * sizeof *frames);
  sn_joint_def *parts = malloc(2 * sizeof *parts);
  double *keys = malloc(4 * sizeof *keys);
  double *grid = malloc(16 * 6 * sizeof *grid);
  for (int pass = 0; pass < 3; pass++) {
    static const char *const kinds[] = {"spline_curve", "composite", "spline_surface"};
    strcpy(text, pass == 0 ? "a" : pass == 1 ? "b" : "c");
    strcpy(text + 8, "world");
    strcpy(text + 16, kinds[pass]);
    strcpy(text + 32, "sphere");
    *shape = sn_shape_def_default();
    shape->type = text + 32;
    shape->radius = 0.5;
    shape->density = 1;
    for (int k = 0; k < 5; k++) {
      frames[k] = sn_pose(k, 0.1 * k * k, 0);
    }
    for (int k = 0; k < 16; k++) {
      const double row[6] = {k / 4, k % 4, 0, 0, 0, 0.1 * k / 16};
      memcpy(grid + 6 * k, row, sizeof row);
    }
    parts[0] = parts[1] = sn_joint_def_default();
    parts[0].type = "revolute";
    parts[1].type = "prismatic";
    parts[0].axis = parts[1].axis = (sn_vec3){0, 0, 1};
    sn_body_def def = sn_body_def_default();
    def.name = text;
    def.parent = text + 8;
    def.joint.type = text + 16;
    def.joint.frames = frames;
    def.joint.nframe = 5;
    def.joint.parts = parts;
    def.joint.npart = 2;
    def.joint.grid = grid;
    def.joint.grid_rows = def.joint.grid_columns = 4;
    def.shapes = shape;
    def.nshape = 1;
    add(b, &def);
    memset(text, 'x', 63);
  }
  keys[0] = 0;
  keys[1] = 2;
  keys[2] = 0;
  keys[3] = 1;
  strcpy(text, "push");
  strcpy(text + 8, "joint_torque");
  strcpy(text + 24, "a");
  strcpy(text + 32, "t < 1.5");
  sn_force_def f = sn_force_def_default();
  f.name = text;
  f.type = text + 8;
  f.joint = text + 24;
  f.ntorque = 1;
  f.torque[0] = (sn_function_def){.key_time = keys, .key_value = keys + 2, .nkey = 2};
  f.active = (sn_function_def){.expression = text + 32};
  CHECK(sn_builder_add_force(b, &f) == SN_OK, "out of memory");
  strcpy(text, "m");
  strcpy(text + 8, "b");
  strcpy(text + 16, "t*t");
  sn_motion_def motion = sn_motion_def_default();
  motion.name = text;
  motion.joint = text + 8;
  motion.nq = 2;
  motion.q[0] = motion.q[1] = (sn_function_def){.expression = text + 16};
  CHECK(sn_builder_add_motion(b, &motion) == SN_OK, "out of memory");
  strcpy(text, "c");
  sn_initial_def initial = sn_initial_def_default();
  initial.body = text;
  initial.q = (sn_per_dof){2, {0.2, 0.3}};
  CHECK(sn_builder_set_initial(b, &initial) == SN_OK, "out of memory");
  strcpy(text, "recursive");
  strcpy(text + 16, "*.q");
  const char *patterns[] = {text + 16};
  sn_run_def run = sn_run_def_default();
  run.options.method = text;
  run.record_channels = patterns;
  run.nrecord_channel = 1;
  CHECK(sn_builder_set_run(b, &run) == SN_OK, "out of memory");
  strcpy(text + 32, "cm g s");
  CHECK(sn_builder_set_units(b, text + 32, "y") == SN_OK, "out of memory");
  memset(text, 'x', 64);
  memset(shape, 0x55, sizeof *shape);
  memset(frames, 0x55, 5 * sizeof *frames);
  memset(parts, 0x55, 2 * sizeof *parts);
  memset(keys, 0x55, 4 * sizeof *keys);
  memset(grid, 0x55, 16 * 6 * sizeof *grid);
  free(text);
  free(shape);
  free(frames);
  free(parts);
  free(keys);
  free(grid);
  patterns[0] = NULL;
  sn_model *m = test_finish(b); /* the builder is gone as well */
  CHECK(strcmp(sn_model_run(m)->record_channels[0], "*.q") == 0, "the patterns");
  CHECK(strcmp(sn_model_run(m)->options.method, "recursive") == 0, "the method");
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(m);
  const int c = sn_model_joint_first(m, sn_model_body_find(m, "c"));
  CHECK(sn_state_q(s)[c] == 0.2 && sn_state_q(s)[c + 1] == 0.3, "the start");
  for (int k = 0; k < 20; k++) {
    test_step(sim, s, NULL);
  }
  const int a = sn_model_joint_first(m, sn_model_body_find(m, "a"));
  const int bb = sn_model_joint_first(m, sn_model_body_find(m, "b"));
  CHECK(fabs(sn_state_q(s)[bb] - 0.04) < 1e-15 && isfinite(sn_state_q(s)[a]), "the motion");
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

TEST(what_can_be_asked_of_a_model) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("leaf", "root", "spherical");
  add(b, &def); /* any order */
  def = test_link("root", NULL, "revolute");
  add(b, &def);
  sn_model *m = test_finish(b);
  CHECK(sn_model_body_count(m) == 2 && sn_model_dof_count(m) == 4 && sn_model_mass(m) == 2,
        "counts");
  CHECK(sn_model_body_find(m, "root") == 0 && sn_model_body_find(m, "leaf") == 1, "order");
  CHECK(sn_model_body_find(m, "nobody") == -1 && sn_model_body_find(m, "") == -1, "find");
  CHECK(strcmp(sn_model_body_name(m, 1), "leaf") == 0 &&
            strcmp(sn_model_body_name(m, -1), "world") == 0 && !sn_model_body_name(m, 2) &&
            !sn_model_body_name(m, -2),
        "names");
  CHECK(sn_model_body_parent(m, 1) == 0 && sn_model_body_parent(m, 0) == -1, "parents");
  CHECK(strcmp(sn_model_joint_type(m, 1), "spherical") == 0 && !sn_model_joint_type(m, 2), "types");
  CHECK(sn_model_joint_first(m, 1) == 1 && sn_model_joint_dofs(m, 1) == 3 &&
            sn_model_joint_dofs(m, 7) == 0 && sn_model_joint_first(m, -1) == -1,
        "coordinates");
  sn_model_free(&m);
}

/* Of a large model (here a ternary tree, given from the tips down) parents still come first, and
 * small subtrees stay together: 3280 bodies, of which 3 * 40 hang on each of 27 in the trunk. */
TEST(a_large_model_is_numbered_by_subtrees) {
  enum { N = 3280 };
  sn_builder *b = sn_builder_create();
  for (int k = N - 1; k >= 0; k--) {
    char name[32], parent[32];
    snprintf(name, sizeof name, "b%d", k);
    snprintf(parent, sizeof parent, "b%d", (k - 1) / 3);
    const sn_body_def def = test_link(name, k > 0 ? parent : NULL, "revolute");
    add(b, &def);
  }
  sn_model *m = test_finish(b);
  int level[N], first[N], last[N], size[N];
  for (int i = N - 1; i >= 0; i--) {
    first[i] = last[i] = i;
    size[i] = 0;
  }
  for (int i = N - 1; i >= 0; i--) {
    const int p = sn_model_body_parent(m, i);
    CHECK(p < i, "body %d has parent %d", i, p);
    size[i]++;
    if (p >= 0) {
      size[p] += size[i];
      first[p] = first[i] < first[p] ? first[i] : first[p];
      last[p] = last[i] > last[p] ? last[i] : last[p];
    }
  }
  int whole = 0;
  for (int i = 0; i < N; i++) {
    const int p = sn_model_body_parent(m, i);
    level[i] = p < 0 ? 0 : level[p] + 1;
    CHECK(size[i] > 40 || last[i] - first[i] < 64, "%s is spread over bodies %d to %d",
          sn_model_body_name(m, i), first[i], last[i]);
    CHECK(i == 0 || size[i] <= 40 || level[i] >= level[i - 1], "levels in the trunk");
    whole += size[i] == 40;
  }
  CHECK(whole == 81, "%d subtrees of 40", whole);
  sn_model_free(&m);
}

/* What the recursive method cannot do, it says by name before the first step. */
TEST(the_method_says_what_it_cannot_do) {
  for (int which = 1; which < 3; which++) {
    sn_body_def def = test_link("a", "world", "revolute");
    sn_shape_def shape = sn_shape_def_default();
    shape.type = "sphere";
    shape.radius = 1;
    shape.contact = "steel";
    sn_contact_def steel = sn_contact_def_default();
    steel.name = "steel";
    const char *text = "";
    if (which == 1) {
      def.joint.friction.enabled = true;
      def.joint.friction.mu = 0.1;
      def.joint.friction.pin_radius = def.joint.friction.pin_length = 1;
      text = "method 'recursive' (dopri5, rk4) has no friction in joints (joint 'a'): take redmax "
             "with the "
             "integrator euler or extrapolated, or leave out 'friction'";
    } else {
      def.shapes = &shape;
      def.nshape = 1;
      text = "method 'recursive' (dopri5, rk4) has no contact (body 'a' has one): take redmax with "
             "the integrator "
             "euler or extrapolated, or leave out 'contact'";
    }
    sn_builder *b = test_builder(&def);
    sn_builder_add_contact(b, &steel);
    sn_model *m = test_finish(b);
    sn_sim *sim = (sn_sim *)1;
    sn_error err;
    CHECK(sn_sim_create(m, NULL, &sim, &err) == SN_E_UNSUPPORTED && !sim, "it was taken");
    CHECK(strcmp(err.text, text) == 0, "'%s'", err.text);
    sn_model_free(&m);
  }
}

int main(void) {
  RUN_TESTS(T(an_empty_model_is_refused), T(names_and_parents), T(parents_in_a_circle), T(masses),
            T(moving_bodies_need_mass), T(forces), T(motions),
            T(a_start_that_disagrees_with_a_motion), T(starts), T(loops_and_contacts),
            T(run_and_gravity), T(mistakes_of_all_rooms_together),
            T(expressions_come_with_their_column), T(thousands_of_mistakes),
            T(a_builder_is_finished_once), T(warnings_do_not_stop), T(definitions_are_copied),
            T(what_can_be_asked_of_a_model), T(a_large_model_is_numbered_by_subtrees),
            T(the_method_says_what_it_cannot_do));
}
