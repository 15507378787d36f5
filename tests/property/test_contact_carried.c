/* What lies on something that moves goes with it: on platforms that functions of time drive, on
 * turntables that turn by themselves, with boxes on boxes, and neither creeps nor is pressed in. */
#include "stage.h"

/* Where the body is, seen from what carries it. */
static sn_vec3 seen_from(const stage *b, const char *carrier, const char *body) {
  sn_se3 E[8];
  CHECK(sn_model_body_count(b->m) <= 8, "too many bodies");
  CHECK(sn_sim_poses(b->sim, b->s, E, NULL) == SN_OK, "no poses");
  const sn_se3 c = E[sn_model_body_find(b->m, carrier)];
  return sn_mat3_tmul_vec(c.R, sn_vec3_sub(E[sn_model_body_find(b->m, body)].p, c.p));
}

/* The furthest that a body gets from its place on the carrier, and the deepest in it. */
static double furthest(const char *text, const char *body, double h, double seconds,
                       double *deepest) {
  stage b = stage_set(text, redmax_options(h));
  const sn_vec3 start = seen_from(&b, "table", body);
  double most = 0;
  *deepest = 0;
  for (int k = 0; k < (int)lround(seconds / h); k++) {
    *deepest = fmax(*deepest, redmax_step(b.sim, b.s, NULL).deepest);
    most = fmax(most, sn_vec3_norm(sn_vec3_sub(seen_from(&b, "table", body), start)));
  }
  stage_clear(&b);
  return most;
}

#define CUBE(name, x, z)                                                                           \
  "  " name ": {joint: {type: free, at: [" x ", 0.1, " z "]}, shapes: [{type: box, size: [0.1, "   \
  "0.1, 0.1], density: 1000, contact: m}]}\n"

/* Accelerations of up to 5 m/s^2, along the ground, up and down, and both: 0.8 times the weight
 * holds them. */
TEST(platforms_carry) {
  static const struct {
    const char *axis, *way;
  } drives[] = {{"[1, 0, 0]", "2.5 * t^2"},
                {"[1, 0, 0]", "0.2 * (1 - cos(4 * t))"},
                {"[0, 0, 1]", "0.1 * (1 - cos(5 * t))"},
                {"[0, 0, 1]", "0.3 * t^3 - 0.2 * t^4"},
                {"[0.6, 0, 0.8]", "0.1 * (1 - cos(4 * t))"}};
  for (int k = 0; k < 2 * SNI_COUNT(drives); k++) {
    const double h = k % 2 ? 0.002 : 0.01;
    char text[1500];
    snprintf(text, sizeof text,
             "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.8}}\nbodies:\n"
             "  table: {joint: {type: prismatic, axis: %s}, shapes: [{type: box, size: [4, 4, 0.2],"
             " at: [0, 0, -0.1], density: 1000, contact: m}]}\n" CUBE("low", "0.3", "0.05")
                 CUBE("high", "0.31", "0.15") "motions: {drive: {joint: table, q: %s}}\n",
             drives[k / 2].axis, drives[k / 2].way);
    double deep[2];
    const double low = furthest(text, "low", h, 1.5, &deep[0]);
    const double high = furthest(text, "high", h, 1.5, &deep[1]);
    print_message("  %s along %s, h = %g: %.1e and %.1e m off\n", drives[k / 2].way,
                  drives[k / 2].axis, h, low, high);
    /* 5 mm at 10 ms before; what is left is the tolerance of impulses, 1e-6 of the rates */
    CHECK(low < 1e-6 && high < 1e-6, "%g and %g m off its place", low, high);
    CHECK(deep[0] < 1e-6, "%g m deep", deep[0]);
  }
}

/* At a third of what friction would hold; they crept outward by exp(w^2 h t / 2). */
TEST(turntables_carry) {
  for (int k = 0; k < 8; k++) {
    const double w = k % 2 ? 5 : 10, r = k % 2 ? 0.1 : 0.03, h = k % 4 < 2 ? 0.01 : 0.002;
    char text[1500], drive[100] = "";
    if (k >= 4) {
      snprintf(drive, sizeof drive, "motions: {drive: {joint: table, q: %g * t}}\n", w);
    }
    snprintf(text, sizeof text,
             "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.8}}\nbodies:\n"
             "  table: {joint: {type: revolute, axis: [0, 0, 1]}, shapes: [{type: cylinder, from: "
             "[0, 0, -0.1], to: [0, 0, 0], radius: 3, density: 1000, contact: m}]}\n"
             "  cube: {joint: {type: free, at: [%g, 0, 0.01]}, shapes: [{type: box, size: [0.02, "
             "0.02, 0.02], density: 1000, contact: m}]}\n"
             "initial: {table: {qd: %g}, cube: {qd: [0, %g, 0, 0, 0, %g]}}\n%s",
             r, w, w * r, w, drive);
    double deep;
    const double off = furthest(text, "cube", h, 3, &deep);
    CHECK(off < 1e-5, "w = %g, r = %g, h = %g: %g m off its place", w, r, h, off);
  }
}

/* What friction does not hold slides off, as it should: no more sticks than the law says. */
TEST(what_is_thrown_off_goes) {
  static const char text[] =
      "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.3}}\nbodies:\n"
      "  table: {joint: {type: prismatic, axis: [1, 0, 0]}, shapes: [{type: box, size: [8, 4, 0.2],"
      " at: [0, 0, -0.1], density: 1000, contact: m}]}\n" CUBE(
          "cube", "0.3", "0.05") "motions: {drive: {joint: table, q: 2 * t^2}}\n";
  double deep;
  const double off = furthest(text, "cube", 0.002, 1, &deep);
  const double slides = 0.5 * (4 - 0.3 * 9.81); /* of the table's acceleration, mu g is left */
  CHECK(fabs(off - slides) < 0.01 * slides, "%g m, should be %g", off, slides);
}

int main(void) {
  RUN_TESTS(T(platforms_carry), T(turntables_carry), T(what_is_thrown_off_goes));
}
