/* The scenes of the RedMax reference, stepped with linearly implicit Euler at the scenes' own
 * step and with the paper's choices: the same q and qdot at five times and at the end, to the
 * tolerance that comes with each scene, by every solver.
 *
 * The choices: explicit quadratic terms (`inertia: paper`), the material part of springs alone
 * (`tangent: material`), and the symmetric part of the whole derivative in scene 23 (`exact`).
 * Rotation vectors are compared as rotations, their rates as angular velocities.  Where the
 * converged motion and the stepped one are not of the same function of time, `euler_set` has what
 * to change for the second; `euler_start: reference` begins with the state of the reference, which
 * is not on the function.
 *
 * And with `integrator: dopri5` at tight tolerances their converged motions, springs and dampers
 * included, to 1e-6 in q at every sample and in the rates (of the largest) at the end. */
#include "json.h"
#include "redmax.h"
#include "sinew/scene.h"

enum { NV_MAX = 24, SET_MAX = 4 };

typedef struct scene {
  int id, n;
  const sni_node *index, *expected, *euler;
  sn_model *m;
  int column[NV_MAX]; /* of the n-th coordinate of the file in our q       */
  bool turns[NV_MAX]; /* it is the first of the three of a rotation vector */
} scene;

/* largest deviations from the file */
typedef struct residual {
  double q, qdot, H;
} residual;

static const sni_node *find_id(const sni_node *list, int id) {
  for (size_t k = 0; k < sni_node_count(list); k++) {
    if ((int)json_get_number(sni_node_at(list, k), "id") == id) {
      return sni_node_at(list, k);
    }
  }
  CHECK(false, "there is no scene %d", id);
  return NULL;
}

/* The scene without what rubs: every `friction: {...}` of the file is cut out. */
static sn_status load_smooth(const char *path, sn_scene **out, sn_error *err) {
  static char text[20000];
  FILE *from = fopen(path, "r");
  CHECK(from, "%s: cannot be read", path);
  const size_t n = fread(text, 1, sizeof text - 1, from);
  fclose(from);
  text[n] = 0;
  for (char *at = strstr(text, "friction: {"); at; at = strstr(text, "friction: {")) {
    char *rest = strchr(at, '}') + 1;
    at = at - text > 1 && at[-2] == ',' ? at - 2 : at;
    memmove(at, rest, strlen(rest) + 1);
  }
  return sn_scene_load_text(text, strlen(text), path, NULL, out, err);
}

static scene scene_open(const sni_node *entry, const sni_node *all, bool stepped) {
  scene s = {.id = (int)json_get_number(entry, "id"), .index = entry};
  s.expected = find_id(json_get(all, "scenes"), s.id);
  s.euler = json_get(s.expected, "euler");
  char path[512];
  snprintf(path, sizeof path, "%s/%s", SINEW_SOURCE_DIR, json_text(entry, "file"));
  const sni_node *changes = stepped ? sni_node_get(entry, "euler_set") : NULL;
  const char *set[SET_MAX];
  sn_scene_options o = sn_scene_options_default();
  o.set = set;
  for (o.nset = 0; o.nset < SET_MAX && o.nset < (int)sni_node_count(changes); o.nset++) {
    set[o.nset] = sni_node_at(changes, (size_t)o.nset)->text;
  }
  sn_error err;
  sn_scene *file = NULL;
  const bool smooth = !stepped && sni_node_get(entry, "friction");
  const sn_status status =
      smooth ? load_smooth(path, &file, &err) : sn_scene_load(path, &o, &file, &err);
  CHECK(status == SN_OK, "%s: line %d: %s", path, err.line, err.text);
  s.m = sn_scene_take_model(file);
  sn_scene_free(&file);
  const sni_node *order = json_get(s.euler, "q_order"), *q = json_get(entry, "q");
  const sni_node *balls = json_get(entry, "rotation_vectors");
  s.n = (int)sni_node_count(order);
  CHECK(s.n <= NV_MAX && s.n == sn_model_dof_count(s.m), "scene %d has %d coordinates, not %d",
        s.id, sn_model_dof_count(s.m), s.n);
  for (int k = 0; k < s.n; k++) {
    const sni_node *at = sni_node_at(q, (size_t)k);
    CHECK(strcmp(json_text(at, "name"), sni_node_at(order, (size_t)k)->text) == 0,
          "scene %d: the coordinates stand in another order", s.id);
    const int index = (int)json_get_number(at, "index");
    const char *body = json_text(at, "body");
    s.column[k] = sn_model_joint_first(s.m, sn_model_body_find(s.m, body)) + index;
    for (size_t b = 0; b < sni_node_count(balls); b++) {
      const sni_node *ball = sni_node_at(balls, b);
      s.turns[k] = s.turns[k] || (strcmp(json_text(ball, "body"), body) == 0 &&
                                  (int)json_get_number(ball, "first_index") == index);
    }
  }
  return s;
}

static double mat3_distance(sn_mat3 A, sn_mat3 B) {
  return largest_difference(&A.m[0][0], &B.m[0][0], 9);
}
static double vec3_distance(sn_vec3 a, sn_vec3 b) {
  return sn_vec3_norm(sn_vec3_sub(a, b));
}

static void compare(const scene *s, sn_state *state, const double *q, const double *qd,
                    residual *r) {
  for (int k = 0; k < s->n; k++) {
    const double *our_q = sn_state_q(state) + s->column[k];
    const double *our_qd = sn_state_qd(state) + s->column[k];
    if (s->turns[k]) {
      const sn_vec3 a = {our_q[0], our_q[1], our_q[2]}, b = {q[k], q[k + 1], q[k + 2]};
      const sn_vec3 ad = {our_qd[0], our_qd[1], our_qd[2]}, bd = {qd[k], qd[k + 1], qd[k + 2]};
      r->q = fmax(r->q, mat3_distance(sn_so3_exp(a), sn_so3_exp(b)));
      r->qdot = fmax(r->qdot, vec3_distance(sn_mat3_mul_vec(sn_so3_jacobian(a), ad),
                                            sn_mat3_mul_vec(sn_so3_jacobian(b), bd)));
      k += 2;
    } else {
      r->q = fmax(r->q, fabs(*our_q - q[k]));
      r->qdot = fmax(r->qdot, fabs(*our_qd - qd[k]));
    }
  }
}

/* The file's energy: from the potential at the start; a constant force has none.  In scene 24 that
 * of the reference's spring does not belong to its force, and the file has the right one too. */
static double expected_H(const scene *s) {
  const char *key = "H_with_consistent_spring_energy";
  return json_get_number(s->euler, sni_node_get(s->euler, key) ? key : "H");
}

static void start_as_reference(const scene *s, sn_state *state) {
  double q[NV_MAX], qd[NV_MAX];
  const sni_node *sample = sni_node_at(json_get(s->euler, "samples"), 0);
  json_numbers(sample, "q", q, NV_MAX);
  json_numbers(sample, "qdot", qd, NV_MAX);
  for (int k = 0; k < s->n; k++) {
    sn_state_q(state)[s->column[k]] = q[k];
    sn_state_qd(state)[s->column[k]] = qd[k];
  }
}

static residual run(const scene *s, const sn_options *o) {
  residual r = {0, 0, 0};
  sn_sim *sim = test_sim(s->m, o);
  sn_state *state = test_state(s->m);
  if (sni_node_get(s->index, "euler_start")) {
    start_as_reference(s, state);
  }
  sn_energy start, end;
  sn_sim_energy(sim, state, &start);
  const sni_node *samples = json_get(s->euler, "samples");
  const int steps = (int)json_get_number(s->euler, "steps");
  size_t next = 0;
  for (int k = 0;; k++) {
    double q[NV_MAX], qd[NV_MAX];
    const sni_node *sample = sni_node_at(samples, next);
    if (sample && (int)json_get_number(sample, "step") == k) {
      json_numbers(sample, "q", q, NV_MAX);
      json_numbers(sample, "qdot", qd, NV_MAX);
      compare(s, state, q, qd, &r);
      next++;
    }
    if (k == steps) {
      json_numbers(s->euler, "q_final", q, NV_MAX);
      json_numbers(s->euler, "qdot_final", qd, NV_MAX);
      compare(s, state, q, qd, &r);
      break;
    }
    redmax_step(sim, state, NULL);
  }
  CHECK(next == sni_node_count(samples), "scene %d: %d samples met", s->id, (int)next);
  sn_sim_energy(sim, state, &end);
  r.H = fabs(end.kinetic + end.potential - start.potential - expected_H(s));
  sn_state_free(&state);
  sn_sim_free(&sim);
  return r;
}

static bool rubs(const scene *s) {
  return sni_node_get(s->index, "friction") != NULL;
}

/* Scene 30 has two: for friction that is not determined in the first step, and for friction that is
 * 0 where nothing can slide, which is ours. */
static residual tolerance_of(const scene *s) {
  const sni_node *t = json_get(s->euler, "tolerance");
  if (s->id == 30) {
    return (residual){1e-6, 1e-5, 1e-7 * fabs(expected_H(s))};
  }
  return (residual){json_get_number(t, "q"), json_get_number(t, "qdot"),
                    sni_node_get(t, "H_abs") ? json_get_number(t, "H_abs")
                                             : json_get_number(t, "H_rel") * fabs(expected_H(s))};
}

TEST(euler_reproduces_the_reference) {
  sni_doc *index = json_read("conformance/index.json");
  sni_doc *expected = json_read("conformance/expected.json");
  const sni_node *list = json_get(sni_doc_root(index), "scenes");
  int failures = 0;
  print_message("  scene                    solver   q         qdot      H         (tolerances)\n");
  for (size_t k = 0; k < sni_node_count(list); k++) {
    scene s = scene_open(sni_node_at(list, k), sni_doc_root(expected), true);
    const residual tol = tolerance_of(&s);
    for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
      sn_options o = redmax_paper_options(json_get_number(s.euler, "h"));
      o.redmax.solver = redmax_solver[solver].option;
      o.redmax.tolerance = 1e-13; /* so that what is left is rounding */
      o.redmax.gain = json_get_number(json_get(s.euler, "settings"), "gamma");
      if (rubs(&s)) { /* settled as well as the file is */
        o.redmax.friction.tolerance = 1e-11;
        o.redmax.friction.max_iterations = 1000;
        o.redmax.friction.regularization = 1e-6;
        o.redmax.contact.cone = SN_CONE_BOX;
        o.redmax.contact.tolerance = 1e-12;
        o.redmax.contact.max_iterations = 10000;
      }
      if (s.id == 23) {
        o.redmax.tangent = SN_TANGENT_EXACT;
      }
      if (!redmax_takes(s.m, solver, &o)) {
        continue;
      }
      const residual r = run(&s, &o);
      const bool good = r.q <= tol.q && r.qdot <= tol.qdot && r.H <= tol.H;
      print_message("  %3d %-20.20s %-7s  %.1e   %.1e   %.1e   (%.0e %.0e %.1e)%s\n", s.id,
                    json_text(s.expected, "name"), redmax_solver[solver].name, r.q, r.qdot, r.H,
                    tol.q, tol.qdot, tol.H, good ? "" : "  WRONG");
      failures += !good;
    }
    sn_model_free(&s.m);
  }
  sni_doc_free(&index);
  sni_doc_free(&expected);
  CHECK(failures == 0, "%d runs are outside their tolerance", failures);
}

/* ---- converged ---- */

#define CONVERGED 1e-6

static sn_options explicit_options(sn_implicit integrator, double step) {
  sn_options o = redmax_options(step);
  o.redmax.integrator = integrator;
  o.recursive.rel_tol = 1e-12;
  o.recursive.abs_tol = 1e-13;
  return o;
}

static double largest_rate(const double *qd, int n) {
  double most = 1;
  for (int k = 0; k < n; k++) {
    most = fmax(most, fabs(qd[k]));
  }
  return most;
}

/* Against the file's converged motion. */
static residual run_converged(const scene *s, const sni_node *converged) {
  const sni_node *samples = json_get(converged, "samples_converged");
  const sni_node *order = json_get(converged, "q_order"), *first = json_get(s->euler, "q_order");
  for (int k = 0; k < s->n; k++) {
    CHECK(strcmp(sni_node_at(order, (size_t)k)->text, sni_node_at(first, (size_t)k)->text) == 0,
          "scene %d: the coordinates stand in another order", s->id);
  }
  /* the scene's step, or a little less so that the samples fall on states */
  const double apart = json_get_number(sni_node_at(samples, 1), "t");
  const double step = apart / ceil(apart / json_get_number(s->euler, "h") - 1e-9);
  const sn_options o = explicit_options(SN_IMPLICIT_DOPRI5, step);
  sn_sim *sim = test_sim(s->m, &o);
  sn_state *state = test_state(s->m);
  residual r = {0, 0, 0}, at_end = {0, 0, 0};
  double q[NV_MAX], qd[NV_MAX], unused[NV_MAX] = {0};
  for (size_t k = 0; k < sni_node_count(samples); k++) {
    const sni_node *sample = sni_node_at(samples, k);
    const double t = json_get_number(sample, "t");
    while (*sn_state_time(state) < t - 0.5 * step) {
      redmax_step(sim, state, NULL);
    }
    CHECK(fabs(*sn_state_time(state) - t) < 1e-12, "scene %d: no state at t = %g", s->id, t);
    json_numbers(sample, "q", q, NV_MAX);
    compare(s, state, q, unused, &r);
  }
  json_numbers(converged, "q_final_converged", q, NV_MAX);
  json_numbers(converged, "qdot_final_converged", qd, NV_MAX);
  compare(s, state, q, qd, &at_end);
  sn_state_free(&state);
  sn_sim_free(&sim);
  return (residual){fmax(r.q, at_end.q), at_end.qdot / largest_rate(qd, s->n), 0};
}

/* Where the file has none: dopri5 against rk4 in steps of a twentieth, at the end of the scene. */
static residual run_two_ways(const scene *s) {
  const double h = json_get_number(s->euler, "h");
  const int steps = (int)json_get_number(s->euler, "steps");
  double q[NV_MAX] = {0}, qd[NV_MAX] = {0};
  residual r = {0, 0, 0};
  for (int w = 0; w < 2; w++) {
    const int n = w ? steps : 20 * steps;
    const sn_options o = explicit_options(w ? SN_IMPLICIT_DOPRI5 : SN_IMPLICIT_RK4, w ? h : h / 20);
    sn_sim *sim = test_sim(s->m, &o);
    sn_state *state = test_state(s->m);
    CHECK(sn_sim_assemble(sim, state, NULL) == SN_OK, "scene %d: no start", s->id);
    for (int k = 0; k < n; k++) {
      redmax_step(sim, state, NULL);
    }
    for (int k = 0; !w && k < s->n; k++) {
      q[k] = sn_state_q(state)[s->column[k]];
      qd[k] = sn_state_qd(state)[s->column[k]];
    }
    if (w) {
      compare(s, state, q, qd, &r);
    }
    sn_state_free(&state);
    sn_sim_free(&sim);
  }
  r.qdot /= largest_rate(qd, s->n);
  return r;
}

TEST(dopri5_gives_the_converged_motions) {
  sni_doc *index = json_read("conformance/index.json");
  sni_doc *expected = json_read("conformance/expected.json");
  const sni_node *list = json_get(sni_doc_root(index), "scenes");
  int failures = 0, count = 0;
  print_message("  scene                    q         qdot\n");
  for (size_t k = 0; k < sni_node_count(list); k++) {
    const sni_node *entry = sni_node_at(list, k);
    const sni_node *name = sni_node_get(entry, "converged");
    const bool known = name && name->text;
    if (sni_node_get(entry, "friction") && !known) {
      continue; /* methods of high order have none */
    }
    scene s = scene_open(entry, sni_doc_root(expected), false);
    const residual r =
        known ? run_converged(&s, json_get(json_get(s.expected, "converged"), name->text))
              : run_two_ways(&s);
    const bool good = r.q <= CONVERGED && r.qdot <= CONVERGED;
    print_message("  %3d %-20.20s %.1e   %.1e   %s%s\n", s.id, json_text(s.expected, "name"), r.q,
                  r.qdot, known ? "" : "(against rk4)", good ? "" : "  WRONG");
    failures += !good;
    count += known;
    sn_model_free(&s.m);
  }
  sni_doc_free(&index);
  sni_doc_free(&expected);
  CHECK(failures == 0, "%d scenes are off", failures);
  CHECK(count == 28, "%d converged motions, not 28", count);
}

int main(void) {
  RUN_TESTS(T(euler_reproduces_the_reference), T(dopri5_gives_the_converged_motions));
}
