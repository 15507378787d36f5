/* What channels say of contacts is the momentum that a step gains, beside that of gravity: also in
 * steps that were divided, and in those that are put together from others. */
#include "ground.h"

static sn_vec3 velocity(const stage *b, const char *body, double *height) {
  sn_se3 E[8];
  sn_vec6 phi[8];
  const int k = sn_model_body_find(b->m, body);
  CHECK(sn_sim_poses(b->sim, b->s, E, phi) == SN_OK, "no poses");
  *height = E[k].p.z;
  return sn_mat3_mul_vec(E[k].R, phi[k].v);
}

/* The largest difference between both in n steps, by what contacts do at most in one. */
static double worst(stage *b, const char *body, double mass, double h, int n) {
  char name[64];
  double off = 0, most = 0, z;
  sn_vec3 v = velocity(b, body, &z);
  for (int k = 0; k < n; k++) {
    stage_step(b, 1);
    const sn_vec3 now = velocity(b, body, &z);
    for (int i = 0; i < 3; i++) {
      const double weight = i == 2 ? mass * GRAVITY : 0;
      const double gain = mass * (sn_vec3_get(now, i) - sn_vec3_get(v, i)) / h + weight;
      snprintf(name, sizeof name, "%s.contact.f%c", body, 'x' + i);
      off = fmax(off, fabs(stage_channel(b, name) - gain));
      most = fmax(most, fabs(gain));
    }
    v = now;
  }
  CHECK(most > mass * GRAVITY, "nothing hits");
  return off / most;
}

TEST(a_ball_that_bounces) {
  for (int k = 0; k < 2; k++) {
    sn_options o = redmax_options(0.005);
    o.redmax.integrator = k ? SN_EXTRAPOLATED : SN_EULER;
    stage b = stage_set("sinew: 1\ngravity: [0, 0, -9.81]\n"
                        "contacts: {m: {friction: 0.3, restitution: 0.5}}\nbodies:\n"
                        "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n"
                        "  ball: {joint: {type: free, at: [0, 0, 1]}, shapes: [{type: sphere, "
                        "radius: 0.1, density: 1000, contact: m}]}\n",
                        o);
    const double off = worst(&b, "ball", 4000.0 / 3 * SN_PI * 1e-3, 0.005, 200);
    CHECK(off < 1e-12, "%s: off by %g", k ? "extrapolated" : "euler", off);
    stage_clear(&b);
  }
}

/* A puppet that tumbles on a floor, with limits: no blow makes more than forces tell of, and what
 * is put together from smooth steps differs by less than these differ from each other. */
TEST(a_puppet_that_tumbles) {
  static const char *const part[] = {"trunk", "arm", "leg"};
  for (int k = 0; k < 6; k++) {
    const double h = (double[]){0.01, 0.005, 0.002}[k / 2], mu = 0.6;
    sn_options o = redmax_options(h);
    o.redmax.integrator = k % 2 ? SN_EXTRAPOLATED : SN_EULER;
    stage b = stage_set(
        "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.6}}\nbodies:\n"
        "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n"
        "  trunk: {joint: {type: free, at: [0, 0, 0.8]}, shapes: [{type: box, size: [0.2, 0.3, "
        "0.5], density: 600, contact: m}]}\n"
        "  arm: {parent: trunk, joint: {type: spherical, at: [0, 0.2, 0.25], cone: {swing: "
        "80*deg}}, shapes: [{type: capsule, from: [0, 0, -0.05], to: [0, 0, -0.4], radius: 0.04, "
        "density: 1000, contact: m}]}\n"
        "  leg: {parent: trunk, joint: {type: revolute, axis: [0, 1, 0], at: [0, 0, -0.3], limits: "
        "[-1, 0.5]}, shapes: [{type: capsule, from: [0, 0, -0.05], to: [0, 0, -0.4], radius: "
        "0.05, density: 1000, contact: m}]}\n"
        "initial: {trunk: {qd: [1.5, 0.2, 0, 0, 3, 1]}}\n",
        o);
    const double mass =
        600 * 0.03 +
        1000 * SN_PI * (0.0016 * (0.35 + 4.0 / 3 * 0.04) + 0.0025 * (0.35 + 4.0 / 3 * 0.05));
    double before[3] = {0}, off = 0, most = 0, beyond = 0;
    for (int n = 0; n * h < 1.5; n++) {
      for (int i = 0; i < 3; i++) {
        before[i] =
            stage_channel(&b, (const char *[]){"momentum.x", "momentum.y", "momentum.z"}[i]);
      }
      stage_step(&b, 1);
      for (int i = 0; i < 3; i++) {
        double f = i == 2 ? -mass * GRAVITY : 0;
        for (int j = 0; j < 3; j++) {
          char name[32];
          snprintf(name, sizeof name, "%s.contact.f%c", part[j], 'x' + i);
          f += stage_channel(&b, name);
        }
        const double now =
            stage_channel(&b, (const char *[]){"momentum.x", "momentum.y", "momentum.z"}[i]);
        off = fmax(off, fabs(now - before[i] - h * f));
        most = fmax(most, fabs(h * f));
      }
      for (int j = 0; j < 3; j++) {
        char name[32];
        double f[2];
        for (int i = 0; i < 2; i++) {
          snprintf(name, sizeof name, "%s.contact.f%c", part[j], 'x' + i);
          f[i] = stage_channel(&b, name);
        }
        snprintf(name, sizeof name, "%s.contact.normal", part[j]);
        beyond = fmax(beyond, h * (hypot(f[0], f[1]) - mu * stage_channel(&b, name)));
      }
    }
    print_message("  h = %g, %s: %.1e of %.1e N s off, %.1e beyond the cone\n", h,
                  k % 2 ? "extrapolated" : "euler", off, most, beyond);
    CHECK(off < (k % 2 ? 1e-4 : 1e-9) * most, "%s, h = %g: off by %g of %g",
          k % 2 ? "extrapolated" : "euler", h, off, most);
    CHECK(beyond < (k % 2 ? 1e-2 : 1e-6) * most, "%s, h = %g: %g of %g beyond the cone",
          k % 2 ? "extrapolated" : "euler", h, beyond, most);
    stage_clear(&b);
  }
}

/* A rod that is thrown at a wall, spinning: steps are divided where it hits. */
TEST(a_rod_whose_steps_are_divided) {
  const double h = 0.02, r = 0.03, L = 0.6;
  stage b = stage_set(
      "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.4, restitution: 0.8}}\n"
      "bodies:\n  floor: {parent: world, joint: {type: fixed}, shapes: [{type: plane, contact: "
      "m},\n"
      "    {type: box, at: [2, 0, 1], size: [0.2, 4, 2], contact: m}]}\n"
      "  rod: {parent: world, joint: {type: free, at: {pos: [0, 0, 0.6], rotvec: [0.4, 0.2, 0]}},\n"
      "    shapes: [{type: capsule, from: [-0.3, 0, 0], to: [0.3, 0, 0], radius: 0.03,\n"
      "      density: 1000, contact: m}]}\ninitial: {rod: {qd: [15, 0, 3, 3, 20, 20]}}\n",
      redmax_options(h));
  int divided = 0;
  const double mass = 1000 * SN_PI * r * r * (L + 4.0 / 3 * r);
  double off = 0, most = 0, z;
  for (int k = 0; k < 60; k++) {
    const sn_vec3 v = velocity(&b, "rod", &z);
    sn_info info = {0};
    sn_error err = {0};
    CHECK(sn_sim_step(b.sim, b.s, NULL, &info, &err) >= SN_OK, "%s", err.text);
    divided += info.substeps > 1;
    const sn_vec3 now = velocity(&b, "rod", &z);
    const double gain = mass * ((now.z - v.z) / h + GRAVITY);
    off = fmax(off, fabs(stage_channel(&b, "rod.contact.fz") - gain));
    most = fmax(most, fabs(gain));
  }
  CHECK(divided > 1, "no step was divided");
  CHECK(off < 1e-9 * most, "off by %g of %g", off, most);
  stage_clear(&b);
}

/* Accelerations are those of where the body is: what rolls or slides has its contacts with it,
 * below its middle, whatever it has turned. */
TEST(accelerations_of_what_moves_along) {
  static const char *const shape[] = {
      "sphere, radius: 0.1", "cylinder, from: [0, -0.2, 0], to: [0, 0.2, 0], radius: 0.1",
      "capsule, from: [0, -0.2, 0], to: [0, 0.2, 0], radius: 0.1", "box, size: [0.2, 0.3, 0.2]"};
  const double angle = 20 * SN_PI / 180, slides = GRAVITY * sin(angle) - 0.3 * GRAVITY * cos(angle);
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 4; i++) {
      const double h = i % 2 ? 0.01 : 0.002, mu = i < 2 ? 0.3 : 0;
      char material[64], text[512];
      snprintf(material, sizeof material, "friction: %g", mu);
      snprintf(text, sizeof text,
               "  b: {parent: world, joint: {type: free, at: [0, 0, 0.1]},\n"
               "      shapes: [{type: %s, density: 1000, contact: m}]}\n",
               shape[k]);
      stage b = set_exact(material, text, "", h);
      turn_gravity(&b, GRAVITY * sin(angle), 0, -GRAVITY * cos(angle));
      stage_step(&b, (int)(0.5 / h));
      double before[6];
      memcpy(before, qd_of(&b, "b"), sizeof before);
      stage_step(&b, 1);
      for (int j = 0; j < 6; j++) {
        char name[32];
        snprintf(name, sizeof name, "b.qdd%d", j);
        const double mean = (qd_of(&b, "b")[j] - before[j]) / h, now = stage_channel(&b, name);
        CHECK(fabs(now - mean) < 1e-6 * GRAVITY / 0.1,
              "%s, step %g, friction %g: qdd%d = %g, not %g", shape[k], h, mu, j, now, mean);
      }
      const double along = stage_channel(&b, "b.qdd0");
      CHECK(mu > 0 || fabs(along - GRAVITY * sin(angle)) < 1e-9, "%s slides with %g", shape[k],
            along);
      CHECK(mu == 0 || k != 0 || fabs(along - 5 * GRAVITY * sin(angle) / 7) < 1e-6,
            "a ball rolls with %g", along);
      CHECK(mu == 0 || k != 3 || fabs(along - slides) < 1e-6, "a box slides with %g", along);
      stage_clear(&b);
    }
  }
}

int main(void) {
  RUN_TESTS(T(a_ball_that_bounces), T(a_puppet_that_tumbles), T(a_rod_whose_steps_are_divided),
            T(accelerations_of_what_moves_along));
}
