/* Nothing tunnels: what would touch within a step is found before, and what would not is not. */
#include "contact.h"
#include "contact/sweep.h"

static const char *const shapes[] = {
    "type: sphere, radius: 0.1", "type: capsule, from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.05",
    "type: box, size: [0.1, 0.2, 0.15]",
    "type: cylinder, from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.08",
    "type: ellipsoid, radii: [0.05, 0.1, 0.15]"};
enum { SHAPES = 5 };

#define WALL(name, type, size)                                                                     \
  "  " name ":\n    joint: {type: " type "}\n    shapes: [{type: box, size: " size                 \
  ", density: 1, contact: stone}]\n"

static touching range(const char *wall, const char *shape) {
  char text[1000];
  snprintf(text, sizeof text,
           "%s%s  shot:\n    joint: {type: free}\n    shapes: [{density: 1, contact: stone, %s}]\n",
           CONTACT_HEAD, wall, shape);
  return touching_set(text, 0);
}

static sn_vec3 random3(uint64_t *s, double most) {
  const double x = test_random(s, -most, most), y = test_random(s, -most, most);
  return (sn_vec3){x, y, test_random(s, -most, most)};
}

/* The poses at the end of a step, if nothing holds the body. */
static sn_se3 at_end(sn_se3 E, sn_vec6 phi, double h) {
  return (sn_se3){sn_mat3_mul(sn_so3_exp(sn_vec3_scale(phi.w, h)), E.R),
                  sn_vec3_addscaled(E.p, h, phi.v)};
}

/* A thin wall, and shots of all shapes at up to a hundred times its thickness in a step: the points
 * say that the shot must stop at the wall. */
TEST(shots_at_a_thin_wall) {
  const double h = 0.01;
  for (int shape = 0; shape < SHAPES; shape++) {
    touching t = range(WALL("wall", "fixed", "[4, 4, 0.02]"), shapes[shape]);
    for (int k = 0; k < 300; k++) {
      uint64_t s = (uint64_t)(1000 * shape + k);
      sn_se3 *E = touching_body(&t, "shot");
      const double speed = test_random(&s, 60, 200);
      const sn_vec3 way = {test_random(&s, -0.3, 0.3), test_random(&s, -0.3, 0.3), -1};
      *E = (sn_se3){sn_so3_exp(random3(&s, 2)), {0.1, -0.2, test_random(&s, 0.2, 0.3)}};
      *touching_twist(&t, "shot") = (sn_vec6){random3(&s, 20), sn_vec3_scale(way, speed)};
      touching_find(&t, h, 1e-3);
      CHECK(t.count > 0, "%s, %d: nothing in the way", shapes[shape], k);
      double room = INFINITY;
      for (int i = 0; i < t.count; i++) {
        CHECK(t.contact[i].n.z > 0.999, "%s, %d: n.z %g", shapes[shape], k, t.contact[i].n.z);
        CHECK(t.contact[i].gap > 0, "%s, %d: gap %g", shapes[shape], k, t.contact[i].gap);
        room = fmin(room, t.contact[i].gap);
      }
      CHECK(room < E->p.z, "%s, %d: room %g", shapes[shape], k, room);
    }
    touching_clear(&t);
  }
}

/* Past the edge of the wall: nothing is in the way, however near the paths are. */
TEST(shots_past_a_wall) {
  const double h = 0.01;
  for (int shape = 0; shape < SHAPES; shape++) {
    touching t = range(WALL("wall", "fixed", "[1, 1, 0.02]"), shapes[shape]);
    for (int k = 0; k < 200; k++) {
      uint64_t s = (uint64_t)(1000 * shape + k);
      sn_se3 *E = touching_body(&t, "shot");
      const double reach = 0.2;
      *E = (sn_se3){sn_so3_exp(random3(&s, 2)),
                    {0.5 + reach + 0.01, test_random(&s, -0.3, 0.3), 0.4}};
      *touching_twist(&t, "shot") = (sn_vec6){random3(&s, 20), {0, 0, -test_random(&s, 60, 200)}};
      CHECK(touching_find(&t, h, 1e-3) == 0, "%s, %d: a ghost", shapes[shape], k);
    }
    touching_clear(&t);
  }
}

/* Two bodies on any paths: they are found if and only if they come near, by looking at a thousand
 * moments. */
TEST(meetings_in_the_air) {
  const double h = 0.02, margin = 2e-3;
  int met = 0, passed = 0;
  for (int pair = 0; pair < SHAPES * SHAPES; pair++) {
    char other[200];
    snprintf(other, sizeof other,
             "  wall:\n    joint: {type: free}\n    shapes: [{density: 1, contact: stone, %s}]\n",
             shapes[pair % SHAPES]);
    touching t = range(other, shapes[pair / SHAPES]);
    for (int k = 0; k < 40; k++) {
      uint64_t s = (uint64_t)(1000 * pair + k);
      sn_se3 *E[2] = {touching_body(&t, "shot"), touching_body(&t, "wall")};
      sn_vec6 *phi[2] = {touching_twist(&t, "shot"), touching_twist(&t, "wall")};
      for (int i = 0; i < 2; i++) {
        *E[i] = (sn_se3){sn_so3_exp(random3(&s, 2)), random3(&s, 0.4)};
        *phi[i] = (sn_vec6){random3(&s, 30), random3(&s, 40)};
      }
      touching_find(&t, h, margin);
      const int found = t.count;
      /* the nearest that they come, in a thousand moments */
      sni_convex c[2];
      sni_solid own[2];
      for (int i = 0; i < 2; i++) {
        const int body = (int)(E[i] - t.E_wb);
        for (int j = 0; j < t.m->nshape; j++) {
          if (t.m->shape[j].body == body) {
            own[i] = sni_shape_solid(&t.m->shape[j].def);
            c[i] = sni_convex_make(&own[i], NULL);
          }
        }
      }
      double least = INFINITY;
      for (int moment = 0; moment <= 1000; moment++) {
        sni_placed p[2];
        for (int i = 0; i < 2; i++) {
          p[i] =
              (sni_placed){&c[i], sn_se3_mul(at_end(*E[i], *phi[i], h * moment / 1000), own[i].at)};
        }
        least = fmin(least, sni_nearest_find(&p[0], &p[1]).distance - c[0].radius - c[1].radius);
        if (least < 0) {
          break;
        }
      }
      if (least < 0) {
        met++;
        CHECK(found > 0, "%d, %d: they meet and nothing is found", pair, k);
      } else if (least > 0.01) {
        passed++;
        CHECK(found == 0, "%d, %d: they are %g apart at best and %d points are found", pair, k,
              least, found);
      }
    }
    touching_clear(&t);
  }
  CHECK(met > 100 && passed > 100, "%d met, %d passed", met, passed);
}

/* With the velocity that the points allow, along n, the bodies end apart. */
TEST(what_the_points_allow_does_not_penetrate) {
  const double h = 0.01;
  for (int shape = 0; shape < SHAPES; shape++) {
    touching t = range(WALL("wall", "fixed", "[4, 4, 0.02]"), shapes[shape]);
    for (int k = 0; k < 100; k++) {
      uint64_t s = (uint64_t)(1000 * shape + k);
      sn_se3 *E = touching_body(&t, "shot");
      *E = (sn_se3){sn_so3_exp(random3(&s, 2)), {0, 0, test_random(&s, 0.15, 0.4)}};
      sn_vec6 *phi = touching_twist(&t, "shot");
      *phi = (sn_vec6){{0, 0, 0}, {test_random(&s, -10, 10), 0, -100}};
      touching_find(&t, h, 1e-3);
      double v = phi->v.z;
      for (int i = 0; i < t.count; i++) {
        v = fmax(v, -t.contact[i].gap / h);
      }
      phi->v.z = v;
      *E = at_end(*E, *phi, h);
      *phi = (sn_vec6){0};
      touching_find(&t, 0, 1e-2);
      CHECK(t.count > 0, "%s, %d: lost", shapes[shape], k);
      for (int i = 0; i < t.count; i++) {
        CHECK(t.contact[i].gap > -1e-9, "%s, %d: %g deep", shapes[shape], k, -t.contact[i].gap);
      }
    }
    touching_clear(&t);
  }
}

/* A rod that turns about its middle sweeps through a ball that it does not move towards. */
TEST(a_rod_that_spins) {
  touching t = touching_set(CONTACT_HEAD "  rod:\n    joint: {type: free}\n    shapes: [{type: "
                                         "capsule, from: [-0.5, 0, 0], to: [0.5, 0, 0], "
                                         "radius: 0.01, density: 1, contact: stone}]\n"
                                         "  ball:\n    joint: {type: free}\n    shapes: [{type: "
                                         "sphere, radius: 0.02, density: 1, contact: "
                                         "stone}]\n",
                            0);
  touching_twist(&t, "rod")->w.z = 40;
  for (int k = 1; k < 60; k++) {
    const double angle = 0.01 * k, reached = 40 * 0.01, width = asin(0.03 / 0.4);
    touching_body(&t, "ball")->p = (sn_vec3){0.4 * cos(angle), 0.4 * sin(angle), 0};
    const int found = touching_find(&t, 0.01, 1e-3);
    if (angle < reached + 0.9 * width) {
      CHECK(found > 0, "at %g rad: nothing found", angle);
    } else if (angle > reached + 1.2 * width) {
      CHECK(found == 0, "at %g rad: %d points", angle, found);
    }
  }
  touching_clear(&t);
}

int main(void) {
  RUN_TESTS(T(shots_at_a_thin_wall), T(shots_past_a_wall), T(meetings_in_the_air),
            T(what_the_points_allow_does_not_penetrate), T(a_rod_that_spins));
}
