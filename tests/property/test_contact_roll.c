/* test_contact_roll.c: balls, tops and coins. */
#include "ground.h"

/* A ball that slides begins to roll, and ends with 5/7 of its speed whatever the friction is. */
TEST(a_sliding_ball_ends_rolling) {
  for (int k = 0; k < 3; k++) {
    char material[64];
    snprintf(material, sizeof material, "friction: %g", 0.1 + 0.2 * k);
    stage b = set_exact(material, ball, "initial: {ball: {qd: [2, 1, 0, 0, 0, 0]}}", 0.002);
    stage_step(&b, 1000);
    const double *v = qd_of(&b, "ball");
    CHECK(fabs(v[0] - 10.0 / 7) < 1e-4 && fabs(v[1] - 5.0 / 7) < 1e-4, "%g, %g", v[0], v[1]);
    const double before = v[0];
    stage_step(&b, 500);
    CHECK(fabs(qd_of(&b, "ball")[0] / before - 1) < 1e-6, "rolls on with %g of it",
          qd_of(&b, "ball")[0] / before);
    stage_clear(&b);
  }
}

TEST(balls_come_to_rest_with_every_cone) {
  const sn_cone cone[] = {SN_CONE_BOX, SN_CONE_POLYHEDRAL, SN_CONE_EXACT};
  for (int k = 0; k < 3; k++) {
    stage b =
        set("friction: 0.5, rolling: 0.01, torsional: 0.01", ball,
            "initial: {ball: {qd: [0.5, 0.3, 0, 0, 0, 5]}}", 0.005, SN_CONTACT_STAGGERED, cone[k]);
    stage_step(&b, 400);
    for (int c = 0; c < 6; c++) {
      CHECK(fabs(qd_of(&b, "ball")[c]) < 1e-9, "cone %d: rate %d is %g", k, c,
            qd_of(&b, "ball")[c]);
    }
    stage_clear(&b);
  }
}

/* Rolling friction is a couple of so many metres times the load: a = rolling g / (7/5 r). */
TEST(rolling_friction_stops_a_ball_and_torsional_friction_its_spin) {
  stage b = set_exact("friction: 0.8, rolling: 0.001, torsional: 0.0005", ball,
                      "initial: {ball: {qd: [1, 0, 0, 0, 10, 0]}}", 0.002);
  stage_step(&b, 500);
  const double a = 0.001 * GRAVITY / (1.4 * 0.1);
  CHECK(fabs((1 - qd_of(&b, "ball")[0]) / a - 1) < 1e-3, "brakes by %g of %g",
        1 - qd_of(&b, "ball")[0], a);
  stage_step(&b, 8000);
  CHECK(fabs(qd_of(&b, "ball")[0]) < 1e-9, "never stops: %g", qd_of(&b, "ball")[0]);
  stage_clear(&b);
  b = set_exact("friction: 0.8, torsional: 0.0005", ball,
                "initial: {ball: {qd: [0, 0, 0, 0, 0, 10]}}", 0.002);
  stage_step(&b, 100);
  const double spin = 10 - 0.2 * 0.0005 * GRAVITY / (0.4 * 0.01);
  sn_energy e;
  sn_sim_energy(b.sim, b.s, &e);
  const double m = 4.0 / 3 * acos(-1) * 1e-3 * 1000;
  CHECK(fabs(sqrt(2 * e.kinetic / (0.4 * m * 0.01)) - spin) < 1e-4, "spins with %g of %g",
        sqrt(2 * e.kinetic / (0.4 * m * 0.01)), spin);
  stage_clear(&b);
}

/* ---- tops and coins ---- */

/* A top on a sharp tip turns about the vertical at the rate that solves
 *     (I1 - I3) cos(tilt) rate^2 - I3 w3 rate + m g l = 0,     I1 about the tip. */
TEST(a_top_precesses) {
  stage b =
      set_exact("friction: 1",
                "  top: {parent: world, joint: {type: free, at: [0, 0, 0.001]},\n"
                "        inertia: {mass: 0.1, at: [0, 0, 0.04], xx: 2e-5, yy: 2e-5, zz: 4e-5},\n"
                "        shapes: [{type: sphere, radius: 1e-4, contact: m}]}\n",
                "", 0.0002);
  /* inclined by 0.3, spinning about its own axis, and turning already */
  const double tilt = 0.3, spin = 300, l = 0.04, m = 0.1, I3 = 4e-5;
  double turning = 0;
  for (int k = 0; k < 50; k++) {
    const double w3 = spin + turning * cos(tilt), more = (2e-5 + m * l * l - I3) * cos(tilt);
    turning = (m * GRAVITY * l + more * turning * turning) / (I3 * w3);
  }
  double *q = q_of(&b, "top"), *qd = qd_of(&b, "top");
  q[3] = tilt; /* about x */
  sn_status status = sn_sim_assemble(b.sim, b.s, NULL);
  CHECK(status == SN_OK, "not assembled");
  const sn_vec3 axis = {0, -sin(tilt), cos(tilt)};
  const sn_vec3 w = {spin * axis.x, spin * axis.y, spin * axis.z + turning};
  const sn_vec3 r = {tilt, 0, 0};
  const sn_vec3 body = sn_mat3_tmul_vec(sn_so3_exp(r), w);
  const sn_vec3 rd = sn_mat3_mul_vec(sn_so3_jacobian_inverse(r), body);
  qd[3] = rd.x;
  qd[4] = rd.y;
  qd[5] = rd.z;
  const int body_index = sn_model_body_find(b.m, "top");
  double total = 0, last = atan2(-sin(tilt), 0), lowest = 1;
  const int steps = 5000;
  for (int n = 0; n < steps; n++) {
    stage_step(&b, 1);
    sn_se3 E[2];
    sn_sim_poses(b.sim, b.s, E, NULL);
    const sn_mat3 R = E[body_index].R;
    const double now = atan2(R.m[1][2], R.m[0][2]);
    total += remainder(now - last, 2 * acos(-1));
    last = now;
    lowest = fmin(lowest, R.m[2][2]);
  }
  const double rate = total / (steps * 0.0002);
  CHECK(fabs(rate / turning - 1) < 0.01, "turns by %g rad/s, expected %g", rate, turning);
  CHECK(lowest > cos(0.36), "falls to %g rad", acos(lowest));
  stage_clear(&b);
}

/* A coin that rolls stays up as long as it is fast, and goes straight on. */
TEST(a_coin_rolls_on) {
  stage b = set_exact("friction: 0.6",
                      "  coin: {parent: world, joint: {type: free, at: [0, 0, 0.05]},\n"
                      "         shapes: [{type: cylinder, radius: 0.05, from: [0, -0.002, 0],\n"
                      "                   to: [0, 0.002, 0], density: 8000, contact: m}]}\n",
                      "initial: {coin: {qd: [2, 0, 0, 0, 40, 0]}}", 0.001);
  const double start = stage_energy(&b);
  stage_step(&b, 1000);
  const double *q = q_of(&b, "coin"), *v = qd_of(&b, "coin");
  CHECK(fabs(v[0] - 2) < 1e-6 && fabs(q[0] - 2) < 1e-3, "at %g with %g", q[0], v[0]);
  CHECK(fabs(q[1]) < 1e-4 && fabs(q[2]) < 1e-6, "aside by %g, up by %g", q[1], q[2]);
  CHECK(fabs(stage_energy(&b) / start - 1) < 1e-6, "energy %g of %g", stage_energy(&b), start);
  stage_clear(&b);
}

/* A coin that leans, its axis at an angle `tilt` to the vertical, and rolls in a circle without
 * slipping: by what the torque of the floor differs from the change of its angular momentum, both
 * by mass, about the horizontal line in its plane.  With e2 up the plane, e3 along the axis, and
 * the floor at p = -r e2 - c e3:
 *
 *     w = turning sin(tilt) e2 + spin e3     v = -w x p     a = turning z x v
 *     p x (a + g z) = turning z x (I1 w2 e2 + I3 w3 e3) */
static double coin_unbalanced(double tilt, double turning, double spin, double r, double c,
                              sn_vec3 *w, sn_vec3 *v) {
  const sn_vec3 z = {0, 0, 1}, e2 = {0, cos(tilt), sin(tilt)}, e3 = {0, -sin(tilt), cos(tilt)};
  const sn_vec3 p = sn_vec3_add(sn_vec3_scale(e2, -r), sn_vec3_scale(e3, -c));
  const double I1 = r * r / 4 + c * c / 3, I3 = r * r / 2, w2 = turning * sin(tilt);
  *w = sn_vec3_add(sn_vec3_scale(e2, w2), sn_vec3_scale(e3, spin));
  *v = sn_vec3_neg(sn_vec3_cross(*w, p));
  const sn_vec3 a = sn_vec3_scale(sn_vec3_cross(z, *v), turning);
  const sn_vec3 L = sn_vec3_add(sn_vec3_scale(e2, I1 * w2), sn_vec3_scale(e3, I3 * spin));
  return sn_vec3_cross(p, sn_vec3_addscaled(a, GRAVITY, z)).x - turning * sn_vec3_cross(z, L).x;
}

typedef struct circle {
  double turning, tilt; /* mean rate, and lean at the end */
} circle;

/* For a turn, set going as `tilt` and `turning` ask for. */
static circle roll_coin(double tilt, double turning, double h) {
  const double r = 0.05, c = 0.001, seconds = 2 * acos(-1) / turning;
  sn_vec3 w, v;
  const double f0 = coin_unbalanced(tilt, turning, 0, r, c, &w, &v);
  const double f1 = coin_unbalanced(tilt, turning, 1, r, c, &w, &v); /* linear in the spin */
  coin_unbalanced(tilt, turning, f0 / (f0 - f1), r, c, &w, &v);
  stage b = set_exact("friction: 1",
                      "  coin: {parent: world, joint: {type: free, at: [0, 0, 0]},\n"
                      "         shapes: [{type: cylinder, radius: 0.05, from: [0, 0, -0.001],\n"
                      "                   to: [0, 0, 0.001], density: 8000, contact: m}]}\n",
                      "", h);
  double *q = q_of(&b, "coin"), *qd = qd_of(&b, "coin");
  const sn_vec3 turn = {tilt, 0, 0}, in_body = sn_mat3_tmul_vec(sn_so3_exp(turn), w);
  const sn_vec3 rate = sn_mat3_mul_vec(sn_so3_jacobian_inverse(turn), in_body);
  q[2] = r * sin(tilt) + c * cos(tilt);
  q[3] = tilt;
  memcpy(qd, (double[6]){v.x, v.y, v.z, rate.x, rate.y, rate.z}, 6 * sizeof *qd);
  const int coin = sn_model_body_find(b.m, "coin"), steps = (int)lround(seconds / h);
  circle out = {0, 0};
  double last = atan2(-1, 0);
  for (int n = 0; n < steps; n++) {
    sn_se3 E[2];
    stage_step(&b, 1);
    sn_sim_poses(b.sim, b.s, E, NULL);
    const double now = atan2(E[coin].R.m[1][2], E[coin].R.m[0][2]);
    out.turning += remainder(now - last, 2 * acos(-1)) / (steps * h);
    out.tilt = acos(E[coin].R.m[2][2]);
    last = now;
  }
  stage_clear(&b);
  return out;
}

/* Rate and lean of the circle are those of the equations; steps, which take a little energy where
 * they go straight, are off by a part that halves with them. */
TEST(a_leaning_coin_rolls_in_its_circle) {
  static const double way[3][2] = {{1.2, 3}, {1.0, 5}, {0.8, 8}};
  for (int k = 0; k < SNI_COUNT(way); k++) {
    const double tilt = way[k][0], turning = way[k][1], h = 0.0005;
    const circle one = roll_coin(tilt, turning, h), two = roll_coin(tilt, turning, h / 2);
    const double off1 = one.turning / turning - 1, off2 = two.turning / turning - 1;
    const double lean1 = one.tilt - tilt, lean2 = two.tilt - tilt;
    CHECK(fabs(off1) < 0.06 && fabs(lean1) < 0.06, "circle %d: off by %g, leans %g more", k, off1,
          -lean1);
    CHECK(fabs(2 * off2 - off1) < 0.003, "circle %d: off by %g, then by %g", k, off1, off2);
    CHECK(fabs(2 * lean2 - lean1) < 0.003, "circle %d: leans by %g, then by %g", k, lean1, lean2);
  }
}
int main(void) {
  RUN_TESTS(T(a_sliding_ball_ends_rolling), T(balls_come_to_rest_with_every_cone),
            T(rolling_friction_stops_a_ball_and_torsional_friction_its_spin), T(a_top_precesses),
            T(a_coin_rolls_on), T(a_leaning_coin_rolls_in_its_circle));
}
