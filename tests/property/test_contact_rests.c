/* What rests stays at rest if it can: piles that balanced forces within the cones of friction hold
 * together, where Coulomb's law would also let them fall apart. */
#include "ground.h"

#define RADIUS 0.1

typedef struct pile {
  char text[8192];
  int n, length;
} pile;

static void add(pile *p, const char *shape, double x, double y, double z) {
  p->length += snprintf(p->text + p->length, sizeof p->text - (size_t)p->length,
                        "  p%d: {joint: {type: free, at: [%.13g, %.13g, %.13g]}, shapes: [{%s}]}\n",
                        p->n++, x, y, z, shape);
}

static pile logs(int rows) {
  pile p = {.n = 0};
  for (int row = 0; row < rows; row++) {
    for (int k = 0; k < rows - row; k++) {
      add(&p,
          "type: cylinder, from: [0, -0.5, 0], to: [0, 0.5, 0], radius: 0.1, density: 700, "
          "contact: m",
          (2 * k + row - rows + 1) * RADIUS, 0, (1 + row * sqrt(3)) * RADIUS);
    }
  }
  return p;
}

static pile balls(int rows) {
  pile p = {.n = 0};
  for (int row = 0; row < rows; row++) {
    for (int j = 0; j < rows - row; j++) {
      for (int k = 0; k < rows - row - j; k++) {
        add(&p, "type: sphere, radius: 0.1, density: 1000, contact: m", (2 * k + j + row) * RADIUS,
            (j + row / 3.0) * sqrt(3) * RADIUS, (1 + 2 * row * sqrt(2.0 / 3)) * RADIUS);
      }
    }
  }
  return p;
}

static stage set_pile(const pile *p, double mu, const char *more, sn_cone cone, double h) {
  char text[10000];
  snprintf(text, sizeof text,
           "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: %g%s}}\nbodies:\n"
           "  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n%s",
           mu, more, p->text);
  sn_options o = redmax_options(h);
  o.redmax.contact.cone = cone;
  return stage_set(text, o);
}

/* The furthest that a body has moved. */
static double moved(const stage *b, const pile *p, const sn_state *start) {
  double most = 0;
  for (int k = 0; k < p->n; k++) {
    char name[16];
    snprintf(name, sizeof name, "p%d", k);
    const int adr = sn_model_joint_first(b->m, sn_model_body_find(b->m, name));
    for (int i = 0; i < 3; i++) {
      most = fmax(most, fabs(sn_state_q(b->s)[adr + i] - sn_state_q((sn_state *)start)[adr + i]));
    }
  }
  return most;
}

static double after_a_second(const pile *p, double mu, const char *more, sn_cone cone, double h) {
  stage b = set_pile(p, mu, more, cone, h);
  sn_state *start = test_state(b.m);
  stage_step(&b, (int)(1 / h + 0.5));
  const double most = moved(&b, p, start);
  sn_state_free(&start);
  stage_clear(&b);
  return most;
}

/* Balanced forces are there from somewhere between 0.40 and 0.45 on in three rows of logs (a linear
 * program says so); in four 0.5 is enough. */
TEST(piles_of_logs) {
  const pile three = logs(3), four = logs(4);
  const double mu[] = {0.45, 0.5, 0.6, 0.7, 1}, step[] = {0.001, 0.005, 0.01};
  for (int k = 0; k < SNI_COUNT(mu); k++) {
    for (int i = 0; i < SNI_COUNT(step); i++) {
      const double most = after_a_second(&three, mu[k], "", SN_CONE_EXACT, step[i]);
      CHECK(most < 1e-7, "three rows, friction %g, step %g: moved by %g", mu[k], step[i], most);
    }
    const double most = mu[k] < 0.5 ? 0 : after_a_second(&four, mu[k], "", SN_CONE_EXACT, 0.005);
    CHECK(most < 1e-7, "four rows, friction %g: moved by %g", mu[k], most);
  }
  for (int k = 0; k < 2; k++) {
    const double most = after_a_second(k ? &four : &three, 0.38, "", SN_CONE_EXACT, 0.005);
    CHECK(most > 0.05, "%d rows stand, with friction that is not enough", 3 + k);
  }
}

TEST(other_cones_and_more_than_friction) {
  const pile p = logs(3);
  const struct {
    const char *more;
    sn_cone cone;
  } row[] = {{"", SN_CONE_BOX},
             {"", SN_CONE_POLYHEDRAL},
             {", torsional: 0.001, rolling: 0.001", SN_CONE_EXACT},
             {", restitution: 0.5", SN_CONE_EXACT}};
  for (int k = 0; k < SNI_COUNT(row); k++) {
    const double most = after_a_second(&p, 0.6, row[k].more, row[k].cone, 0.005);
    CHECK(most < 1e-7, "case %d: moved by %g", k, most);
  }
}

TEST(pyramids_of_balls) {
  for (int rows = 2; rows < 4; rows++) {
    const pile p = balls(rows);
    for (double mu = 0.5; mu < 0.85; mu += 0.1) {
      const double most = after_a_second(&p, mu, "", SN_CONE_EXACT, 0.005);
      CHECK(most < 1e-7, "%d balls, friction %g: moved by %g", p.n, mu, most);
    }
    CHECK(after_a_second(&p, 0.2, "", SN_CONE_EXACT, 0.005) > 0.05,
          "%d balls stand, with friction that is not enough", p.n);
  }
}

/* Rest is found, not made: what pushes harder than friction holds moves off, and just so. */
TEST(what_is_pushed_off_goes) {
  const pile p = logs(3);
  stage b = set_pile(&p, 0.6, "", SN_CONE_EXACT, 0.005);
  stage_step(&b, 40);
  sn_state *start = test_state(b.m);
  turn_gravity(&b, 9.81 * sin(0.6), 0, -9.81 * cos(0.6));
  stage_step(&b, 100);
  CHECK(moved(&b, &p, start) > 0.1, "a pile on a steep slope stands");
  sn_state_free(&start);
  stage_clear(&b);
}

int main(void) {
  RUN_TESTS(T(piles_of_logs), T(other_cones_and_more_than_friction), T(pyramids_of_balls),
            T(what_is_pushed_off_goes));
}
