/* Where more points bear than are needed, their forces are the least that do: wheels and feet do
 * not press sideways against each other, and what is between them bears no more than its load. */
#include "stage.h"

enum { WHEELS = 4 };
static const double weight = 9.81, body = 8, wheel = 0.5, inertia = 0.0025, radius = 0.1,
                    pin = 0.02;

typedef struct cart {
  const char *shape; /* of a wheel                            */
  double mu;         /* in its axle                           */
  double slope;      /* gravity along the way                 */
  double speed;
  const char *more; /* of the material                        */
} cart;

/* Four wheels, each on a pin of its own. */
static stage cart_set(const cart *c, double step) {
  static char text[6000];
  int n = snprintf(text, sizeof text,
                   "sinew: 1\n"
                   "gravity: [%.17g, 0, %.17g]\n"
                   "contacts: {r: {friction: 0.8%s}}\n"
                   "bodies:\n"
                   "  ground: {joint: {type: fixed}, shapes: [{type: plane, contact: r}]}\n"
                   "  cart: {joint: {type: free, at: [0, 0, %g]}, inertia: {mass: %g, at: [0, 0, "
                   "0], xx: 0.2, yy: 0.2, zz: 0.2}}\n",
                   c->slope, -weight, c->more ? c->more : "", radius, body);
  for (int k = 0; k < WHEELS; k++) {
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  w%d: {parent: cart, joint: {type: revolute, axis: [0, 1, 0], at: [%g, %g, 0], "
                  "friction: {mu: %g, pin_radius: %g, pin_length: 0.06}}, inertia: {mass: %g, at: "
                  "[0, 0, 0], xx: 0.0015, yy: %g, zz: 0.0015}, shapes: [{%s, contact: r}]}\n",
                  k, k < 2 ? 0.3 : -0.3, k % 2 ? -0.2 : 0.2, c->mu, pin, wheel, inertia, c->shape);
  }
  n += snprintf(text + n, sizeof text - (size_t)n, "initial: {cart: {qd: [%g, 0, 0, 0, 0, 0]}",
                c->speed);
  for (int k = 0; k < WHEELS; k++) {
    n += snprintf(text + n, sizeof text - (size_t)n, ", w%d: {qd: %g}", k, c->speed / radius);
  }
  snprintf(text + n, sizeof text - (size_t)n, "}\n");
  return stage_set(text, redmax_options(step));
}

/* m a R = sum M - I a/R,  each pin bearing what the cart does to it: M = 4/pi mu r |F|. */
static double by_hand(const cart *c) {
  const double pi = acos(-1), all = body + WHEELS * wheel;
  double a = 0;
  for (int k = 0; k < 50; k++) {
    const double load = body / WHEELS * hypot(a, weight);
    const double moment = 4 / pi * c->mu * pin * load;
    a = WHEELS * moment / radius / (all + WHEELS * inertia / (radius * radius));
  }
  return a;
}

static const char *const wheels[] = {
    "type: sphere, radius: 0.1",
    "type: cylinder, from: [0, -0.02, 0], to: [0, 0.02, 0], radius: 0.1"};

/* Sideways forces of a quarter of the load, which moved nothing, made it brake 44 % more. */
TEST(a_cart_brakes_by_its_axles) {
  const char *const more[] = {"", ", stiffness: 1e6, damping: 1e4"};
  for (int k = 0; k < 8; k++) {
    const cart c = {wheels[k % 2], k / 4 ? 0.5 : 0.2, 0, 1, more[k / 2 % 2]};
    const double step = k % 2 ? 0.002 : 0.01;
    stage b = cart_set(&c, step);
    const int settle = (int)lround(0.1 / step), steps = (int)lround(0.4 / step);
    stage_step(&b, settle);
    const double start = stage_channel(&b, "cart.qd0");
    stage_step(&b, steps);
    const double a = (start - stage_channel(&b, "cart.qd0")) / (steps * step), hand = by_hand(&c);
    double sideways = 0, up = 0;
    for (int i = 0; i < WHEELS; i++) {
      char name[32];
      snprintf(name, sizeof name, "w%d.contact.fy", i);
      sideways = fmax(sideways, fabs(stage_channel(&b, name)));
      snprintf(name, sizeof name, "w%d.contact.fz", i);
      up += stage_channel(&b, name);
    }
    print_message("  mu %g, h = %g: %.6f m/s^2, by hand %.6f; sideways %.1e N\n", c.mu, step, a,
                  hand, sideways);
    CHECK(fabs(a - hand) < 0.003 * hand, "brakes with %g, by hand %g", a, hand);
    CHECK(sideways < 1e-5 * up, "%g N sideways", sideways);
    CHECK(fabs(up - weight * (body + WHEELS * wheel)) < 1e-3 * up, "%g N up", up);
    stage_clear(&b);
  }
}

/* Axles hold it on a slope as far as they can, and no further; and it does not creep there. */
TEST(axles_hold_a_cart_on_a_slope) {
  const double pi = acos(-1), mu = 0.2;
  const double limit = 4 / pi * mu * pin * body * weight / radius / (body + WHEELS * wheel);
  for (int k = 0; k < 4; k++) {
    const cart c = {wheels[k % 2], mu, (k < 2 ? 0.99 : 1.01) * limit, 0, NULL};
    stage b = cart_set(&c, 0.005);
    const double start = stage_channel(&b, "cart.pos.x");
    stage_step(&b, 400);
    const double way = stage_channel(&b, "cart.pos.x") - start;
    print_message("  %g of the limit: %.2e m\n", c.slope / limit, way);
    if (k < 2) {
      CHECK(fabs(way) < 1e-8, "creeps by %g", way);
    } else {
      CHECK(way > 1e-3, "stays, %g", way);
    }
    stage_clear(&b);
  }
}

/* A table, the corner of which that is loaded bears more; the others as moments say, and no leg
 * pushes sideways. */
TEST(legs_share_a_table) {
  static const double load[][2] = {{0, 0}, {0.1, 0}, {0.1, 0.2}};
  for (int k = 0; k < 3; k++) {
    char text[3000];
    int n = snprintf(text, sizeof text,
                     "sinew: 1\n"
                     "contacts: {r: {friction: 0.6}}\n"
                     "bodies:\n"
                     "  ground: {joint: {type: fixed}, shapes: [{type: plane, contact: r}]}\n"
                     "  top: {joint: {type: free, at: [0, 0, 0.5]}, inertia: {mass: 10, at: [%g, "
                     "%g, 0], xx: 1, yy: 1, zz: 1}}\n",
                     load[k][0], load[k][1]);
    for (int i = 0; i < 4; i++) {
      n += snprintf(text + n, sizeof text - (size_t)n,
                    "  leg%d: {parent: top, joint: {type: fixed, at: [%g, %g, -0.25]}, shapes: "
                    "[{type: capsule, from: [0, 0, -0.22], to: [0, 0, 0.2], radius: 0.03, "
                    "density: 1, contact: r}]}\n",
                    i, i < 2 ? 0.4 : -0.4, i % 2 ? -0.4 : 0.4);
    }
    stage b = stage_set(text, redmax_options(0.01));
    stage_step(&b, 50);
    double up[4], all = 0;
    for (int i = 0; i < 4; i++) {
      char name[32];
      double side = 0;
      for (int axis = 0; axis < 2; axis++) {
        snprintf(name, sizeof name, "leg%d.contact.f%c", i, 'x' + axis);
        side = fmax(side, fabs(stage_channel(&b, name)));
      }
      snprintf(name, sizeof name, "leg%d.contact.fz", i);
      all += up[i] = stage_channel(&b, name);
      CHECK(side < 1e-4, "leg %d: %g N sideways", i, side);
    }
    print_message("  load at %g, %g: %.4f %.4f %.4f %.4f N\n", load[k][0], load[k][1], up[0], up[1],
                  up[2], up[3]);
    const double main_part = 10 * weight; /* legs of 1 kg/m^3 weigh 10 mN */
    for (int i = 0; i < 4; i++) {
      const double x = i < 2 ? 0.4 : -0.4, y = i % 2 ? -0.4 : 0.4;
      const double hand = all / 4 + main_part / 4 * (load[k][0] * x + load[k][1] * y) / (0.4 * 0.4);
      CHECK(fabs(up[i] - hand) < 1e-3 * all, "leg %d bears %g N, by hand %g", i, up[i], hand);
    }
    stage_clear(&b);
  }
}

/* In a groove a ball needs no friction to lie there, and has none. */
TEST(what_lies_in_a_groove_does_not_rub) {
  stage b = stage_set(
      "sinew: 1\n"
      "contacts: {r: {friction: 0.5}}\n"
      "bodies:\n"
      "  left: {joint: {type: fixed, at: {pos: [0, 0, 0], rotvec: [-0.7, 0, 0]}}, shapes: "
      "[{type: plane, contact: r}]}\n"
      "  right: {joint: {type: fixed, at: {pos: [0, 0, 0], rotvec: [0.7, 0, 0]}}, shapes: "
      "[{type: plane, contact: r}]}\n"
      "  ball: {joint: {type: free, at: [0, 0, 0.13]}, shapes: [{type: sphere, "
      "radius: 0.1, density: 1000, contact: r}]}\n",
      redmax_options(0.005));
  stage_step(&b, 200);
  const double side = stage_channel(&b, "ball.contact.fy"),
               up = stage_channel(&b, "ball.contact.fz"),
               normal = stage_channel(&b, "ball.contact.normal");
  print_message("  normals %.4f N, %.4f without friction\n", normal, up / cos(0.7));
  CHECK(fabs(side) < 1e-6 * up && fabs(normal - up / cos(0.7)) < 1e-3 * up, "normals %g N of %g",
        normal, up);
  stage_clear(&b);
}

int main(void) {
  RUN_TESTS(T(a_cart_brakes_by_its_axles), T(axles_hold_a_cart_on_a_slope), T(legs_share_a_table),
            T(what_lies_in_a_groove_does_not_rub));
}
