/* Definitions of joints that are refused, and what is said about them. */
#include "joint_samples.h"

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
  RUN_TESTS(T(axes_are_checked), T(pitches_are_checked), T(kinds_are_checked),
            T(frames_are_checked), T(grids_are_checked), T(parts_are_checked));
}
