/* Maps: joints driven by fewer coordinates.  Known accelerations, derivatives, energy, agreement
 * with coupled joints and between methods and solvers, motions and forces of coordinates. */
#include "trees.h"
#include "stage.h"
#include "structured.h"
#include "vectors.h"

#define FINGER                                                                                     \
  "sinew: 1\n"                                                                                     \
  "gravity: [0, 0, -980]\n"                                                                        \
  "defaults: {shape: {density: 1}, joint: {type: revolute, axis: [0, 1, 0]}}\n"                    \
  "bodies:\n"                                                                                      \
  "  mcp: {joint: {}, shapes: [{type: box, size: [4, 1, 1], at: [2, 0, 0]}]}\n"                    \
  "  pip: {parent: mcp, joint: {at: [4, 0, 0]}, shapes: [{type: box, size: [3, 1, 1], at: [1.5, "  \
  "0, 0]}]}\n"                                                                                     \
  "  dip: {parent: pip, joint: {at: [3, 0, 0]}, shapes: [{type: box, size: [2, 1, 1], at: [1, 0, " \
  "0]}]}\n"

/* No joint follows z linearly. */
#define CURVED                                                                                     \
  FINGER "constraints:\n"                                                                          \
         "  finger:\n"                                                                             \
         "    type: map\n"                                                                         \
         "    coordinates: [{name: z, q: 0.4, qd: 2}]\n"                                           \
         "    joints: [{joint: mcp, value: sin(z)}, {joint: pip, value: z + 0.3*z^2}, {joint: "    \
         "dip, value: exp(z/2)}]\n"
/* The first does. */
#define LED                                                                                        \
  FINGER "constraints:\n"                                                                          \
         "  finger:\n"                                                                             \
         "    type: map\n"                                                                         \
         "    coordinates: [{name: z, q: 0.4, qd: 2}]\n"                                           \
         "    joints: [{joint: mcp, value: 0.5*z + 0.1}, {joint: pip, value: z + 0.3*z^2}, "       \
         "{joint: dip, value: exp(z/2)}]\n"

static double channel(const stage *b, const char *name) {
  const int k = sn_sim_channel_find(b->sim, name);
  double x = NAN;
  sn_error err = {0};
  CHECK(k >= 0, "no channel '%s'", name);
  CHECK(sn_sim_channels(b->sim, b->s, NULL, &k, 1, &x, &err) == SN_OK, "%s", err.text);
  return x;
}

/* Independent numbers: the accelerations of (mcp, theta) with (pip, dip) = (2, 1) theta.  [RM 8] */
TEST(accelerations_are_known) {
  sni_doc *doc = vectors_open("hyper_finger.json");
  const sni_node *root = sni_doc_root(doc);
  double z[2], zd[2], zdd[2];
  vectors_read(sni_node_get(root, "qR"), 2, z);
  vectors_read(sni_node_get(root, "qRdot"), 2, zd);
  vectors_read(sni_node_get(root, "qRddot"), 2, zdd);
  char text[2048];
  snprintf(text, sizeof text,
           FINGER "constraints:\n"
                  "  finger:\n"
                  "    type: map\n"
                  "    coordinates: [{name: a, q: %.17g, qd: %.17g}, {name: b, q: %.17g, qd: "
                  "%.17g}]\n"
                  "    joints: [{joint: mcp, value: a}, {joint: pip, value: 2*b}, {joint: dip, "
                  "value: b}]\n",
           z[0], zd[0], z[1], zd[1]);
  stage b = stage_set(text, stage_exact(0.01));
  const double mcp = channel(&b, "mcp.qdd"), dip = channel(&b, "dip.qdd");
  CHECK(fabs(mcp - zdd[0]) < tol(1e-11) * fabs(zdd[0]), "%.17g, not %.17g", mcp, zdd[0]);
  CHECK(fabs(dip - zdd[1]) < tol(1e-11) * fabs(zdd[1]), "%.17g, not %.17g", dip, zdd[1]);
  CHECK(fabs(channel(&b, "pip.qdd") - 2 * dip) < tol(1e-11) * fabs(dip), "pip");
  CHECK(fabs(channel(&b, "finger.b.q") - z[1]) < tol(1e-14), "z");
  CHECK(fabs(channel(&b, "finger.b.qd") - zd[1]) < tol(1e-14), "zd");
  stage_clear(&b);
  sni_doc_free(&doc);
}

/* f' and f'' along a direction against differences. */
TEST(derivatives_are_right) {
  static const char *const names[] = {"a", "b"};
  static const char *const text[] = {"sin(a)*exp(0.3*b)", "a^2 - 3*a*b + b^3", "atan(a/(2 + b^2))",
                                     "sqrt(1 + a^2 + b^2)"};
  const double z[2] = {0.7, -0.4}, d[2] = {1.3, 0.6}, h = 1e-3;
  sni_expr *value[4];
  for (int i = 0; i < 4; i++) {
    sn_error err = {0};
    CHECK(sni_expr_compile(text[i], names, 2, &value[i], &err) == SN_OK, "%s", err.text);
  }
  const sni_map map = {.nz = 2, .nq = 4, .value = (const sni_expr *const *)value};
  for (int i = 0; i < 4; i++) {
    double f[5], slope = 0;
    for (int k = 0; k < 5; k++) {
      const double at[2] = {z[0] + (k - 2) * h * d[0], z[1] + (k - 2) * h * d[1]};
      f[k] = sni_map_value(&map, i, at, NULL).v;
    }
    const sni_jet jet = sni_map_value(&map, i, z, d);
    const double first = (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * h);
    const double second = (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * h * h);
    for (int j = 0; j < 2; j++) {
      slope += sni_map_slope(&map, i, j, z) * d[j];
    }
    /* differences of fourth order: h^4 times a derivative of about 100, and 1e-16/h^2 */
    CHECK(fabs(jet.d - first) < tol(1e-9), "%s: %g, not %g", text[i], jet.d, first);
    CHECK(fabs(slope - jet.d) < tol(1e-14), "%s: slopes give %g, not %g", text[i], slope, jet.d);
    CHECK(fabs(jet.dd - second) < tol(1e-8), "%s: %g, not %g", text[i], jet.dd, second);
    sni_expr_free(&value[i]);
  }
}

/* Nothing works on the joints but gravity: the quadratic term is there.  Closed, and z is known. */
TEST(energy_stays) {
  static const char *const text[] = {CURVED, LED};
  for (int k = 0; k < 2; k++) {
    stage b = stage_set(text[k], stage_exact(0.01));
    const double E = redmax_energy(b.sim, b.s);
    double last = channel(&b, "finger.z.q"), way = 0;
    CHECK(fabs(last - 0.4) < tol(1e-12) && fabs(channel(&b, "finger.z.qd") - 2) < tol(1e-10), "z");
    for (int n = 0; n < 100; n++) {
      test_step(b.sim, b.s, NULL);
      const double z = channel(&b, "finger.z.q"), *q = sn_state_q(b.s);
      way += fabs(z - last);
      last = z;
      CHECK(fabs(q[0] - (k ? 0.5 * z + 0.1 : sin(z))) < tol(1e-9), "step %d: mcp is %g", n, q[0]);
      CHECK(fabs(q[1] - z - 0.3 * z * z) < tol(1e-9), "step %d: pip is %g", n, q[1]);
      CHECK(fabs(q[2] - exp(z / 2)) < tol(1e-9), "step %d: dip is %g", n, q[2]);
      /* of 2e4 erg of kinetic energy */
      CHECK(fabs(redmax_energy(b.sim, b.s) - E) < tol(1e-3), "step %d: %g", n,
            redmax_energy(b.sim, b.s) - E);
    }
    CHECK(way > 1, "it hardly moved: %g", way);
    stage_clear(&b);
  }
}

/* A linear map says what coupled joints say. */
TEST(linear_maps_are_couples) {
  stage a =
      stage_set(FINGER "constraints:\n"
                       "  m: {type: map, coordinates: [{name: a}, {name: b}], joints: [{joint: "
                       "mcp, value: a - b}, {joint: pip, value: 2*b + 0.2}, {joint: dip, value: "
                       "b - 0.1}]}\n"
                       "initial: {mcp: {q: 0.3, qd: 1}, pip: {q: 0.6, qd: 1}, dip: {q: 0.1, qd: "
                       "0.5}}\n",
                stage_exact(0.01));
  stage b =
      stage_set(FINGER "constraints:\n"
                       "  m: {type: couple, terms: [{joint: pip}, {joint: dip, factor: -2}], "
                       "offset: 0.4}\n"
                       "initial: {mcp: {q: 0.3, qd: 1}, pip: {q: 0.6, qd: 1}, dip: {q: 0.1, qd: "
                       "0.5}}\n",
                stage_exact(0.01));
  for (int n = 0; n < 50; n++) {
    test_step(a.sim, a.s, NULL);
    test_step(b.sim, b.s, NULL);
    for (int j = 0; j < 3; j++) {
      CHECK(fabs(sn_state_q(a.s)[j] - sn_state_q(b.s)[j]) < tol(1e-8), "step %d, q[%d]: %g", n, j,
            sn_state_q(a.s)[j] - sn_state_q(b.s)[j]);
    }
  }
  stage_clear(&a);
  stage_clear(&b);
}

/* All solvers of redmax take the same step, and with shorter steps they come to what recursive
 * does, half as far away each time. */
TEST(methods_agree) {
  static const char *const text[] = {CURVED, LED};
  for (int k = 0; k < 2; k++) {
    stage exact = stage_set(text[k], stage_exact(0.1));
    test_step(exact.sim, exact.s, NULL);
    double error[3] = {0};
    for (int level = 0; level < 3; level++) {
      double reference[3] = {0};
      for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
        sn_options o = redmax_options(0.002 / (1 << level));
        o.redmax.solver = redmax_solver[solver].option;
        stage b = stage_set(text[k], o);
        for (int n = 0; n < 50 << level; n++) {
          redmax_step(b.sim, b.s, NULL);
        }
        for (int j = 0; j < 3; j++) {
          const double q = sn_state_q(b.s)[j];
          reference[j] = solver == 0 ? q : reference[j];
          CHECK(fabs(q - reference[j]) < tol(1e-8), "%s, q[%d]: %g away",
                redmax_solver[solver].name, j, q - reference[j]);
          error[level] = fmax(error[level], fabs(q - sn_state_q(exact.s)[j]));
        }
        stage_clear(&b);
      }
    }
    CHECK(error[0] < 0.1 && error[2] < 0.3 * error[0], "errors %g, %g, %g", error[0], error[1],
          error[2]);
    stage_clear(&exact);
  }
}

/* A coordinate follows a function; the power of what makes it do so is the change of energy. */
TEST(coordinates_follow) {
  static const char *const joints[] = {
      "[{joint: mcp, value: sin(z)}, {joint: pip, value: z + 0.3*z^2}, {joint: dip, value: "
      "exp(z/2)}]",
      "[{joint: mcp, value: 0.5*z + 0.1}, {joint: pip, value: z + 0.3*z^2}, {joint: dip, value: "
      "exp(z/2)}]"};
  for (int k = 0; k < 2; k++) {
    char text[2048];
    snprintf(text, sizeof text,
             FINGER "constraints: {finger: {type: map, coordinates: [{name: z, motion: "
                    "\"0.4 + 0.5*sin(3*t)\"}], joints: %s}}\n"
                    "initial: {mcp: {q: %g}, pip: {q: 0.448}, dip: {q: 1.2214}}\n",
             joints[k], k ? 0.3 : 0.3894);
    const double h = 0.001;
    stage b = stage_set(text, stage_exact(h));
    double E = redmax_energy(b.sim, b.s), power = 0, work = 0;
    for (int n = 0; n < 500; n++) {
      const double before = channel(&b, "finger.z.tau") * channel(&b, "finger.z.qd");
      test_step(b.sim, b.s, NULL);
      power = channel(&b, "finger.z.tau") * channel(&b, "finger.z.qd");
      work += 0.5 * h * (before + power);
      const double t = *sn_state_time(b.s), z = 0.4 + 0.5 * sin(3 * t);
      CHECK(fabs(channel(&b, "finger.z.q") - z) < tol(1e-9), "t = %g", t);
      CHECK(fabs(sn_state_q(b.s)[2] - exp(z / 2)) < tol(1e-9), "t = %g: dip", t);
    }
    E = redmax_energy(b.sim, b.s) - E;
    /* the trapezoidal rule: h^2/12 of 1e6 or so */
    CHECK(fabs(E - work) < tol(0.02), "%g of energy, %g of work", E, work);
    CHECK(fabs(E) > 1000, "hardly any: %g", E);
    stage_clear(&b);
  }
}

/* A force along z does the work force times the way of z. */
TEST(forces_push_coordinates) {
  stage b =
      stage_set(FINGER "constraints: {finger: {type: map, coordinates: [{name: z, q: 0.1, "
                       "force: 5000}], joints: [{joint: mcp, value: 0.5*z}, {joint: pip, value: "
                       "z^2}, {joint: dip, value: sin(z)}]}}\n",
                stage_exact(0.01));
  const double E = redmax_energy(b.sim, b.s);
  for (int n = 0; n < 20; n++) {
    test_step(b.sim, b.s, NULL);
    const double work = 5000 * (channel(&b, "finger.z.q") - 0.1);
    CHECK(fabs(redmax_energy(b.sim, b.s) - E - work) < tol(1e-4), "step %d: %g, not %g", n,
          redmax_energy(b.sim, b.s) - E, work);
  }
  CHECK(channel(&b, "finger.z.q") > 0.2, "it does not push");
  stage_clear(&b);
}

/* Forty joints and two coordinates, by every solver. */
TEST(large_groups) {
  char text[8192];
  size_t n = (size_t)snprintf(
      text, sizeof text,
      "sinew: 1\n"
      "bodies: {snake: {joint: {type: revolute, axis: [0, 1, 0]}, shapes: [{type: box, size: [0.1, "
      "0.02, 0.02], at: [0.05, 0, 0], density: 1000}], repeat: {count: 40, joint: {at: [0.1, 0, "
      "0]}}}}\n"
      "constraints:\n  body:\n    type: map\n    coordinates: [{name: a, q: 0.05}, {name: b}]\n"
      "    joints:\n");
  for (int k = 1; k <= 40; k++) {
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "    - {joint: snake_%d, value: a*%.6f + b*%.6f}\n", k, sin(0.3 * k),
                          cos(0.3 * k));
  }
  double reference[40] = {0};
  for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
    sn_options o = redmax_options(0.005);
    o.redmax.solver = redmax_solver[solver].option;
    stage b = stage_set(text, o);
    for (int k = 0; k < 20; k++) {
      redmax_step(b.sim, b.s, NULL);
    }
    const double a = channel(&b, "body.a.q"), z = channel(&b, "body.b.q");
    for (int k = 0; k < 40; k++) {
      const double q = sn_state_q(b.s)[k];
      reference[k] = solver == 0 ? q : reference[k];
      CHECK(fabs(q - reference[k]) < tol(1e-8), "%s: joint %d", redmax_solver[solver].name, k);
      /* the expressions have six digits */
      CHECK(fabs(q - a * sin(0.3 * (k + 1)) - z * cos(0.3 * (k + 1))) < 1e-5, "joint %d", k);
    }
    CHECK(fabs(a - 0.05) + fabs(z) > 1e-4, "it does not move: %g, %g", a, z);
    stage_clear(&b);
  }
}

/* A state belongs to its constraints: loops, constraints and maps. */
TEST(states_know_constraints) {
  static const char *const text[] = {
      FINGER,
      LED,
      CURVED,
      FINGER "constraints: {m: {type: couple, terms: [{joint: pip}, {joint: dip, factor: -2}]}}\n",
      FINGER "constraints: {m: {type: couple, terms: [{joint: pip}, {joint: dip, factor: -3}]}}\n",
      FINGER "loops: {m: {type: spherical, a: {body: world, at: [9, 0, 0]}, b: {body: dip, at: [2, "
             "0, 0]}}}\n",
      FINGER "loops: {m: {type: revolute, axis: [0, 1, 0], a: {body: world, at: [9, 0, 0]}, b: "
             "{body: dip, at: [2, 0, 0]}}}\n"};
  enum { N = sizeof text / sizeof *text };
  stage b[N];
  for (int i = 0; i < N; i++) {
    b[i] = stage_set(text[i], stage_exact(0.01));
    for (int j = 0; j < i; j++) {
      sn_error err = {0};
      CHECK(b[i].m->hash != b[j].m->hash, "%d and %d", i, j);
      CHECK(sn_sim_step(b[i].sim, b[j].s, NULL, NULL, &err) == SN_E_MISMATCH, "%d and %d", i, j);
    }
  }
  for (int i = 0; i < N; i++) {
    stage_clear(&b[i]);
  }
}

/* As many coordinates as joints: nothing is bound, and the coordinates are read. */
TEST(maps_may_only_read) {
  static const char *const method[] = {"recursive", "redmax", "structured"};
  for (int k = 0; k < 3; k++) {
    sn_options o = redmax_options(0.01);
    o.method = method[k];
    stage b =
        stage_set("sinew: 1\n"
                  "bodies: {w: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, "
                  "at: [1, 0, 0], xx: 0.02, yy: 0.02, zz: 0.02}}}\n"
                  "constraints: {c: {type: map, coordinates: [{name: z}], joints: [{joint: w, "
                  "value: 2*z}]}}\n",
                  o);
    stage_step(&b, 20);
    const double q = sn_state_q(b.s)[0];
    CHECK(fabs(q) > 0.1 && fabs(stage_channel(&b, "c.z.q") - 0.5 * q) < 1e-12, "%s: q = %g, z = %g",
          method[k], q, stage_channel(&b, "c.z.q"));
    stage_clear(&b);
  }
}

/* Expressions that turn back have joints that no coordinates lead to: a motion that goes there
 * ends, and does not go on with a map that nothing follows. */
TEST(joints_beyond_the_range_of_a_map) {
  static const char *const method[] = {"recursive", "redmax"};
  for (int k = 0; k < 2; k++) {
    sn_options o = redmax_options(0.01);
    o.method = method[k];
    stage b = stage_set(
        "sinew: 1\ngravity: [0, 0, 9.81]\nbodies:\n"
        "  a: {joint: {type: revolute, axis: [0, 1, 0]}, inertia: {mass: 1, at: [0.5, 0, 0], xx: "
        "0.01, yy: 0.1, zz: 0.1}}\n"
        "  b: {joint: {type: revolute, axis: [0, 1, 0], at: [0, 1, 0]}, inertia: {mass: 1, at: "
        "[0.5, 0, 0], xx: 0.01, yy: 0.1, zz: 0.1}}\n"
        "constraints: {m: {type: map, coordinates: [{name: z, q: 0.8}], joints: [{joint: a, value: "
        "z^2}, {joint: b, value: z^2 + 0.1}]}}\n",
        o);
    sn_error err = {0};
    sn_status status = SN_OK;
    while (status == SN_OK && *sn_state_time(b.s) < 1) {
      const double z = stage_channel(&b, "m.z.q");
      CHECK(fabs(sn_state_q(b.s)[0] - z * z) < 1e-9, "%s: q = %g, z = %g", method[k],
            sn_state_q(b.s)[0], z);
      status = sn_sim_step(b.sim, b.s, NULL, NULL, &err);
    }
    CHECK(status < 0 && strstr(err.text, "'m' cannot close"), "%s: '%s'", method[k], err.text);
    stage_clear(&b);
  }
}

/* A curve that winds about, without leaders: joints that start on it stay where they are, wherever
 * that is along it, and their coordinate is the one that leads there. */
TEST(starts_on_a_curve_stay) {
  static const double at[] = {0, 0.5, 2, 3, -4, 6, 9, -30, 100};
  for (int k = 0; k < 3 * SNI_COUNT(at); k++) {
    const double z = at[k / 3], x = sin(z) + 0.3 * z, y = cos(2 * z);
    char text[1200];
    snprintf(text, sizeof text,
             "sinew: 1\n"
             "gravity: [0, 0, -9.81]\n"
             "defaults: {joint: {type: prismatic, axis: [1, 0, 0]}, body: {inertia: {mass: 1, xx: "
             "1, yy: 1, zz: 1}}}\n"
             "bodies: {x: {joint: {}}, y: {joint: {axis: [0, 0, 1]}}}\n"
             "constraints: {m: {type: map, coordinates: [{name: s}], joints: [{joint: x, value: "
             "sin(s) + 0.3*s}, {joint: y, value: cos(2*s)}]}}\n"
             "initial: {x: {q: %.17g}, y: {q: %.17g}}\n",
             x, y);
    stage b = stage_set(text, k % 3 == 0   ? stage_exact(1e-4)
                              : k % 3 == 1 ? redmax_options(1e-4)
                                           : structured_options(1e-4, 1e-12));
    for (int step = 0; step < 2; step++) {
      const double *q = sn_state_q(b.s);
      CHECK(fabs(q[0] - x) < 1e-6 && fabs(q[1] - y) < 1e-6, "s = %g: moved by %g and %g", z,
            q[0] - x, q[1] - y);
      CHECK(fabs(stage_channel(&b, "m.s.q") - z) < 1e-6, "s = %g, not %g",
            stage_channel(&b, "m.s.q"), z);
      stage_step(&b, 1);
    }
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(accelerations_are_known), T(derivatives_are_right), T(energy_stays),
            T(linear_maps_are_couples), T(methods_agree), T(coordinates_follow),
            T(forces_push_coordinates), T(large_groups), T(states_know_constraints),
            T(maps_may_only_read), T(joints_beyond_the_range_of_a_map), T(starts_on_a_curve_stay));
}
