/* Composite joints: which chains are refused, and that nesting changes nothing. */
#include "joint_samples.h"

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

int main(void) {
  RUN_TESTS(T(composites_with_dependent_columns_are_refused),
            T(composites_that_are_regular_somewhere_are_accepted),
            T(nested_composites_equal_flat_ones));
}
