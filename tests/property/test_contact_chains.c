/* Chains on what they fall on: joints lead their links along curves, and yet these do not get into
 * it, nor through it. */
#include "stage.h"

#include "methods/redmax/redmax.h"

enum { LINKS = 40 };

/* A chain in the plane y = 0, level, above a bar along y through the origin. */
typedef struct drape {
  int links;
  double length, thick, bar; /* of a link, its radius, that of the bar */
  double speed, above, step;
} drape;

static stage drape_set(const drape *d) {
  static char text[20000];
  int n = snprintf(text, sizeof text,
                   "sinew: 1\n"
                   "contacts: {m: {friction: 1, self: distant}}\n"
                   "bodies:\n"
                   "  bar: {joint: {type: fixed}, shapes: [{type: cylinder, from: [0, -1, 0], to: "
                   "[0, 1, 0], radius: %g, contact: m}]}\n",
                   d->bar);
  for (int k = 0; k < d->links; k++) {
    char joint[200];
    snprintf(joint, sizeof joint,
             "parent: l%d, joint: {type: revolute, axis: [0, 1, 0], at: [%g, 0, 0]}", k - 1,
             d->length);
    if (k == 0) {
      snprintf(joint, sizeof joint, "joint: {type: free, at: [%g, 0, %g]}",
               0.03 - 0.5 * d->links * d->length, d->above);
    }
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  l%d: {%s, shapes: [{type: capsule, from: [%g, 0, 0], to: [%g, 0, 0], radius: "
                  "%g, density: 1000, contact: m}]}\n",
                  k, joint, d->thick, d->length - d->thick, d->thick);
  }
  snprintf(text + n, sizeof text - (size_t)n, "initial: {l0: {qd: [0, 0, %g, 0, 0, 0]}}\n",
           -d->speed);
  return stage_set(text, redmax_options(d->step));
}

/* The nearest that a link comes to the axis of the bar; below 0: it is on the other side. */
static double nearest(const stage *b, const drape *d) {
  sn_se3 E[LINKS + 1];
  CHECK(sn_sim_poses(b->sim, b->s, E, NULL) == SN_OK, "no poses");
  double least = INFINITY, side = 1;
  for (int k = 0; k < d->links; k++) {
    char name[16];
    snprintf(name, sizeof name, "l%d", k);
    const sn_se3 at = E[sn_model_body_find(b->m, name)];
    const sn_vec3 u = sn_mat3_col(at.R, 0), to = sn_vec3_neg(at.p);
    const double along = fmax(d->thick, fmin(d->length - d->thick, sn_vec3_dot(to, u)));
    const double off = sn_vec3_norm(sn_vec3_addscaled(to, -along, u));
    if (off < least) {
      least = off;
      side = sn_vec3_cross(u, to).y; /* what is below a link is on the side of +y */
    }
  }
  return side > 0 ? least : -least;
}

static void fall(const drape *d, double seconds, double deep) {
  stage b = drape_set(d);
  const double start = stage_energy(&b);
  const int steps = (int)lround(seconds / d->step);
  double last = nearest(&b, d), most = 0, gained = 0;
  for (int k = 0; k < steps; k++) {
    stage_step(&b, 1);
    const double now = nearest(&b, d), room = d->thick + d->bar;
    CHECK(fabs(now) > room || fabs(last) > 2 * room || (now > 0) == (last > 0),
          "%g m/s, h = %g, t = %g: through the bar", d->speed, d->step, *sn_state_time(b.s));
    most = fmax(most, room - fabs(now));
    gained = fmax(gained, stage_energy(&b) - start);
    last = now;
  }
  print_message("  %g m/s, h = %g: %.1f mm deep, gains %.1e J\n", d->speed, d->step, 1e3 * most,
                gained);
  CHECK(most < deep, "%g m/s, h = %g: %g m deep", d->speed, d->step, most);
  CHECK(gained <= 1e-3, "%g m/s, h = %g: gains %g J", d->speed, d->step, gained);
  stage_clear(&b);
}

/* As thick as the bar is: they were through it in a tenth of a second. */
TEST(a_thin_bar_catches_a_chain) {
  for (int k = 0; k < 6; k++) {
    const drape d = {.links = 20,
                     .length = 0.1,
                     .thick = 0.01,
                     .bar = 0.01,
                     .speed = k % 3 == 0   ? 0
                              : k % 3 == 1 ? 3
                                           : 10,
                     .above = 0.3,
                     .step = k < 3 ? 0.005 : 0.002};
    fall(&d, 0.6, 0.015);
  }
}

TEST(a_chain_lies_on_a_log) {
  for (int k = 0; k < 2; k++) {
    const drape d = {.links = 12,
                     .length = 0.16,
                     .thick = 0.03,
                     .bar = 0.2,
                     .above = 0.4,
                     .step = k ? 0.0025 : 0.005};
    fall(&d, 2, 0.003);
  }
}

/* Long ones, whose first link is at one end: what this one does wrong all the others do as well,
 * and they fell through. */
TEST(long_chains_lie_on_a_log) {
  for (int k = 0; k < 6; k++) {
    const drape d = {.links = k % 3 == 0   ? 16
                              : k % 3 == 1 ? 28
                                           : LINKS,
                     .length = 0.05,
                     .thick = 0.01,
                     .bar = 0.1,
                     .above = 0.12,
                     .step = k < 3 ? 0.01 : 0.005};
    fall(&d, 1, k < 3 ? 0.01 : 0.003);
  }
}

int main(void) {
  RUN_TESTS(T(long_chains_lie_on_a_log), T(a_thin_bar_catches_a_chain), T(a_chain_lies_on_a_log));
}
