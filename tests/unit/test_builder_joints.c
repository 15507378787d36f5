/* The builder and joints: what it says about their kinds, springs, drives, parts and starts. */
#include "complaints.h"

TEST(joints) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("axis", "world", "revolute");
  def.joint.axis = (sn_vec3){0};
  add(b, &def);
  def = test_link("nan_axis", "world", "prismatic");
  def.joint.axis.y = NAN;
  add(b, &def);
  def = test_link("pitch", "world", "screw");
  def.joint.pitch = INFINITY;
  add(b, &def);
  def = test_link("at", "world", "revolute");
  def.joint.at.p.y = NAN;
  add(b, &def);
  def = test_link("skew", "world", "revolute");
  def.joint.at.R.m[0][1] = 0.1;
  add(b, &def);
  def = test_link("mirror", "world", "revolute");
  def.joint.at.R.m[2][2] = -1;
  add(b, &def);
  def = test_link("counts", "world", "universal");
  def.joint.stiffness = (sn_per_dof){3, {1, 2, 3}};
  def.joint.damping = (sn_per_dof){-1, {0}};
  add(b, &def);
  def = test_link("values", "world", "universal");
  def.joint.stiffness = (sn_per_dof){2, {1, -2}};
  def.joint.damping = (sn_per_dof){1, {NAN}};
  def.joint.rest = (sn_per_dof){1, {INFINITY}};
  def.joint.armature = (sn_per_dof){2, {-1, 0}};
  add(b, &def);
  def = test_link("limits", "world", "revolute");
  def.joint.lower = sn_per_dof_all(1);
  def.joint.upper = sn_per_dof_all(-1);
  add(b, &def);
  def = test_link("nan_limits", "world", "revolute");
  def.joint.lower = sn_per_dof_all(NAN);
  add(b, &def);
  def = test_link("friction", "world", "revolute");
  def.joint.friction.enabled = true;
  def.joint.friction.mu = -0.1;
  def.joint.friction.pin_radius = NAN;
  add(b, &def);
  def.name = "law";
  def.joint.friction.law = "sticky";
  add(b, &def);
  def = test_link("parts", "world", "composite");
  add(b, &def);
  def = test_link("frames", "world", "spline_curve");
  def.joint.nframe = 7; /* of nothing */
  add(b, &def);
  def = test_link("grid", "world", "spline_surface");
  def.joint.grid_rows = def.joint.grid_columns = 5;
  add(b, &def);
  EXPECT(b, {"bodies.axis.joint.axis", "length 0, needs a direction"},
         {"bodies.nan_axis.joint.axis", "length nan, needs a direction"},
         {"bodies.pitch.joint.pitch", "is inf, needs a finite number"},
         {"bodies.at.joint.at", "is not a pose: needs finite numbers and a rotation"},
         {"bodies.skew.joint.at", "is not a pose: needs finite numbers and a rotation"},
         {"bodies.mirror.joint.at", "is not a pose: needs finite numbers and a rotation"},
         {"bodies.counts.joint.stiffness", "has 3 numbers, the joint has 2 coordinates"},
         {"bodies.counts.joint.damping", "has -1 numbers, the joint has 2 coordinates"},
         {"bodies.values.joint.stiffness", "is -2, needs a number >= 0"},
         {"bodies.values.joint.damping", "is nan, needs a number >= 0"},
         {"bodies.values.joint.rest", "is inf, needs a finite number"},
         {"bodies.values.joint.armature", "is -1, needs a number >= 0"},
         {"bodies.limits.joint.limits", "lower limit 1 is above upper limit -1"},
         {"bodies.nan_limits.joint.limits", "is nan, needs a finite number"},
         {"bodies.friction.joint.friction.mu", "is -0.1, needs a number >= 0"},
         {"bodies.friction.joint.friction.pin_radius", "is nan, needs a number > 0"},
         {"bodies.friction.joint.friction.pin_length",
          "is missing: the law 'coulomb' needs it here (how far apart the ends of the pin are)"},
         {"bodies.law.joint.friction.law",
          "'sticky' is not a law of friction; known: coulomb, dry, viscous, stribeck"},
         {"bodies.parts.joint.parts", "has 0 parts, needs 1 to 8"},
         {"bodies.frames.joint.frames", "has 0 frames, needs at least 4"},
         {"bodies.grid.joint.grid", "is 0 by 0, needs 4 by 4 to 1000 by 1000"});
}

/* A part of a composite has only what makes its motion: everything else is given to the whole, and
 * would be lost in silence. */
TEST(parts_have_nothing_of_their_own) {
  sn_joint_def part[9];
  sn_builder *b = sn_builder_create();
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  for (int k = 0; k < 9; k++) {
    part[k] = sn_joint_def_default();
    part[k].type = "spherical";
    part[k].at = k == 0 ? sn_pose(0, 0, 1) : part[k].at;
    part[k].stiffness.n = k == 1;
    part[k].damping.n = k == 2;
    part[k].rest.n = k == 3;
    part[k].armature.n = k == 4;
    part[k].upper.n = k == 5;
    part[k].friction.enabled = k == 6;
    part[k].drive.enabled = k == 7;
    sn_body_def def = test_link(names[k], "world", "composite");
    def.joint.parts = &part[k];
    def.joint.npart = 1;
    add(b, &def);
  }
#define NONE  "a part has none of its own: give it to the whole joint"
#define NONES NONE ", a number for each coordinate"
  EXPECT(b, {"bodies.a.joint.parts[0].at", NONE ", or to a fixed part before it"},
         {"bodies.b.joint.parts[0].stiffness", NONES}, {"bodies.c.joint.parts[0].damping", NONES},
         {"bodies.d.joint.parts[0].rest", NONES}, {"bodies.e.joint.parts[0].armature", NONES},
         {"bodies.f.joint.parts[0].limits", NONES}, {"bodies.g.joint.parts[0].friction", NONES},
         {"bodies.h.joint.parts[0].drive", NONES});
  /* inside another composite too; what was left at zero is no place */
  sn_joint_def inner = sn_joint_def_default();
  inner.type = "composite";
  inner.parts = &part[4];
  inner.npart = 1;
  sn_body_def def = test_link("nested", "world", "composite");
  def.joint.parts = &inner;
  def.joint.npart = 1;
  EXPECT(test_builder(&def), {"bodies.nested.joint.parts[0].parts[0].armature", NONES});
  const sn_joint_def bare = {.type = "spherical"};
  def.joint.parts = &bare;
  sn_model *m = test_finish(test_builder(&def));
  sn_model_free(&m);
}

TEST(unknown_kinds) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("a", "world", "ball");
  add(b, &def);
  def = test_link("b", "world", "revolute");
  sn_shape_def shape = sn_shape_def_default();
  shape.type = "teapot";
  def.shapes = &shape;
  def.nshape = 1;
  add(b, &def);
  const sn_force_def f = force_of("f", "magnet"), g = force_of("g", NULL);
  sn_builder_add_force(b, &f);
  sn_builder_add_force(b, &g);
  EXPECT(b,
         {"bodies.a.joint.type",
          "'ball' is not a kind of joint; known: fixed, revolute, prismatic, cylindrical, screw, "
          "universal, spherical, planar, translation2, translation3, free, free_rt, composite, "
          "spline_curve, spline_surface"},
         {"bodies.b.shapes[0].type",
          "'teapot' is not a kind of shape; known: box, sphere, "
          "cylinder, capsule, ellipsoid, mesh, plane, convex, height_field"},
         {"forces.f.type",
          "'magnet' is not a kind of force; known: spring, cable, string, point_force, "
          "body_torque, joint_torque, grab"},
         {"forces.g.type", "'' is not a kind of force; known: spring, cable, string, point_force, "
                           "body_torque, joint_torque, grab"});
}

TEST(drives) {
  sn_builder *b = sn_builder_create();
  sn_body_def def = test_link("gains", "world", "revolute");
  def.joint.drive.enabled = true;
  add(b, &def);
  def.name = "target";
  def.joint.drive.stiffness = sn_per_dof_all(1);
  add(b, &def);
  def.name = "values";
  def.joint.drive.stiffness = sn_per_dof_all(NAN);
  def.joint.drive.damping = sn_per_dof_all(-1);
  def.joint.drive.max_force = sn_per_dof_all(-3);
  def.joint.drive.ntarget = 1;
  def.joint.drive.target[0] = (sn_function_def){.expression = "sin(x)"};
  add(b, &def);
  def = test_link("counts", "world", "universal");
  def.joint.drive.enabled = true;
  def.joint.drive.damping = sn_per_dof_all(1);
  def.joint.drive.ntarget = 3;
  def.joint.drive.nrate = 5;
  add(b, &def);
  def = test_link("nothing", "world", "fixed");
  def.joint.drive.enabled = true;
  def.joint.drive.damping = sn_per_dof_all(1);
  add(b, &def);
  EXPECT(b,
         {"bodies.gains.joint.drive",
          "needs stiffness (to hold a position), damping (to hold a rate), or both"},
         {"bodies.target.joint.drive", "has stiffness but no target"},
         {"bodies.values.joint.drive.stiffness", "is nan, needs a number >= 0"},
         {"bodies.values.joint.drive.damping", "is -1, needs a number >= 0"},
         {"bodies.values.joint.drive.max_force", "is -3, needs a number >= 0"},
         {"bodies.values.joint.drive.target", "unknown name 'x' (known here: t, pi, deg, e)"},
         {"bodies.counts.joint.drive.target", "has 3 functions, the joint has 2 coordinates"},
         {"bodies.counts.joint.drive.rate", "has 5 functions, the joint has 2 coordinates"},
         {"bodies.nothing.joint.drive", "the joint has no coordinates: nothing to drive"});
}

/* A rotation vector of a whole turn has rates that turn nothing. */
TEST(a_start_at_a_whole_turn) {
  static const char *const kinds[] = {"spherical", "free", "free_rt"};
  for (int k = 0; k < 3; k++) {
    for (int which = 0; which < 4; which++) {
      sn_body_def def = test_link("ball", "world", kinds[k]);
      sn_builder *b = test_builder(&def);
      sn_initial_def start = sn_initial_def_default();
      const double length[] = {2 * SN_PI, 4 * SN_PI - 1e-4, 2 * SN_PI - 0.01, 0};
      start.body = "ball";
      start.q = sn_per_dof_all(0);
      start.q.n = k == 0 ? 3 : 6;
      for (int c = k == 1 ? 3 : 0; c < (k == 1 ? 6 : 3); c++) {
        start.q.v[c] = length[which] / sqrt(3);
      }
      CHECK(sn_builder_set_initial(b, &start) == SN_OK, "out of memory");
      if (which < 2) {
        EXPECT(b,
               {"initial.ball.q",
                which ? "its rotation vector is 12.5663 long, a whole turn, where rates are lost: "
                        "needs one of the same rotation that is shorter, [0, 0, 0]"
                      : "its rotation vector is 6.28319 long, a whole turn, where rates are lost: "
                        "needs one of the same rotation that is shorter, [0, 0, 0]"});
      } else {
        sn_model *m = test_finish(b);
        sn_model_free(&m);
      }
    }
  }
}

/* Everything that definitions point to is gone, or means something else, before the model is made.
 */
TEST(what_does_nothing_is_a_warning) {
  sn_body_def def = test_link("link", "world", "revolute");
  def.joint.rest = sn_per_dof_all(1);
  def.joint.drive = (sn_drive_def){.enabled = true, .stiffness = sn_per_dof_all(1)};
  def.joint.drive.ntarget = def.joint.drive.nrate = 1;
  sn_builder *b = test_builder(&def);
  sn_model *m = NULL;
  CHECK(sn_builder_finish(b, &m, NULL) == SN_OK, "refused");
  const complaint wanted[] = {{"bodies.link.joint.rest", "does nothing without stiffness"},
                              {"bodies.link.joint.drive.rate", "does nothing without damping"}};
  CHECK(sn_builder_warning_count(b) == 2, "%d warnings", sn_builder_warning_count(b));
  for (int k = 0; k < 2; k++) {
    const sn_error *w = sn_builder_warning(b, k);
    CHECK(strcmp(w->path, wanted[k].path) == 0 && strcmp(w->text, wanted[k].text) == 0, "%s: %s",
          w->path, w->text);
  }
  sn_model_free(&m);
  sn_builder_free(&b);
  def.joint.stiffness = def.joint.drive.damping = sn_per_dof_all(1);
  b = test_builder(&def);
  CHECK(sn_builder_finish(b, &m, NULL) == SN_OK && sn_builder_warning_count(b) == 0, "%s",
        sn_builder_warning(b, 0)->text);
  sn_model_free(&m);
  sn_builder_free(&b);
}

int main(void) {
  RUN_TESTS(T(joints), T(parts_have_nothing_of_their_own), T(unknown_kinds), T(drives),
            T(a_start_at_a_whole_turn), T(what_does_nothing_is_a_warning));
}
