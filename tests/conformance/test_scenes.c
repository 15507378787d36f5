/* The scenes of the RedMax reference against their converged motions: q (rotations as
 * matrices) to 1e-6 at every sample, rates and energy at the end, and conserved energies all the
 * way.  The table is the report. */
#include "json.h"
#include "methods/sim.h"
#include "sinew/scene.h"
#include "trees.h"

#define Q_TOLERANCE      1e-6
#define QD_TOLERANCE     1e-6 /* relative to the largest rate */
#define ENERGY_TOLERANCE 1e-9 /* of the largest kinetic energy: conservative scenes */

static const int required[] = {-1, 0,  1,  2,  4,  5,  7,  8,  9,  10, 11, 12, 13,
                               14, 15, 16, 17, 18, 19, 20, 21, 22, 25, 26, 34, 35};
enum { NV_MAX = 24 };

typedef struct scene_run {
  const sni_node *index, *expected;
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  int ncoordinate, coordinate[NV_MAX]; /* of the file's names in our q */
  int ball;                            /* place of a rotation vector among the names; -1: none */
} scene_run;

static const sni_node *with_id(const sni_node *scenes, int id) {
  for (size_t k = 0; k < sni_node_count(scenes); k++) {
    if ((int)json_get_number(sni_node_at(scenes, k), "id") == id) {
      return sni_node_at(scenes, k);
    }
  }
  fail_msg("scene %d is not in the data", id);
  return NULL;
}

static sn_model *load(const char *file) {
  static const char *const set[] = {"run.recursive.rel_tol=1e-12", "run.recursive.abs_tol=1e-13",
                                    "run.recursive.integrator=dopri5"};
  char path[512];
  snprintf(path, sizeof path, "%s/%s", SINEW_SOURCE_DIR, file);
  sn_scene_options o = sn_scene_options_default();
  o.set = set;
  o.nset = 3;
  sn_scene *scene = NULL;
  sn_error err = {0};
  CHECK(sn_scene_load(path, &o, &scene, &err) == SN_OK, "%s: line %d, %s: %s", path, err.line,
        err.path, err.text);
  sn_model *m = sn_scene_take_model(scene);
  sn_scene_free(&scene);
  return m;
}

static void find_coordinates(scene_run *r) {
  const sni_node *q = json_get(r->index, "q"), *balls = json_get(r->index, "rotation_vectors");
  r->ncoordinate = (int)sni_node_count(q);
  CHECK(r->ncoordinate <= NV_MAX, "%d coordinates", r->ncoordinate);
  r->ball = -1;
  for (int k = 0; k < r->ncoordinate; k++) {
    const sni_node *name = sni_node_at(q, (size_t)k);
    const int body = sn_model_body_find(r->m, json_text(name, "body"));
    CHECK(body >= 0, "there is no body '%s'", json_text(name, "body"));
    const int at = (int)json_get_number(name, "index");
    r->coordinate[k] = sn_model_joint_first(r->m, body) + at;
    for (size_t b = 0; b < sni_node_count(balls); b++) {
      const sni_node *ball = sni_node_at(balls, b);
      if (strcmp(json_text(ball, "body"), json_text(name, "body")) == 0 &&
          (int)json_get_number(ball, "first_index") == at) {
        r->ball = k;
      }
    }
  }
}

static sn_vec3 three(const double *x) {
  return (sn_vec3){x[0], x[1], x[2]};
}

static void ours(const scene_run *r, const double *from, double *out) {
  for (int k = 0; k < r->ncoordinate; k++) {
    out[k] = from[r->coordinate[k]];
  }
}

static double q_error(const scene_run *r, const double *expected) {
  double q[NV_MAX], e = 0;
  ours(r, sn_state_q(r->s), q);
  for (int k = 0; k < r->ncoordinate; k++) {
    if (r->ball < 0 || k < r->ball || k >= r->ball + 3) {
      e = fmax(e, fabs(q[k] - expected[k]));
    }
  }
  if (r->ball >= 0) {
    const sn_mat3 a = sn_so3_exp(three(q + r->ball)), b = sn_so3_exp(three(expected + r->ball));
    for (int k = 0; k < 9; k++) {
      e = fmax(e, fabs(a.m[k / 3][k % 3] - b.m[k / 3][k % 3]));
    }
  }
  return e;
}

/* Rates of rotation vectors are compared as angular velocities. */
static double qd_error(const scene_run *r, const double *expected_q, const double *expected) {
  double q[NV_MAX], qd[NV_MAX], theirs[NV_MAX], e = 0;
  ours(r, sn_state_q(r->s), q);
  ours(r, sn_state_qd(r->s), qd);
  memcpy(theirs, expected, (size_t)r->ncoordinate * sizeof *theirs);
  if (r->ball >= 0) {
    const sn_vec3 a = sn_mat3_mul_vec(sn_so3_jacobian(three(q + r->ball)), three(qd + r->ball));
    const sn_vec3 b =
        sn_mat3_mul_vec(sn_so3_jacobian(three(expected_q + r->ball)), three(theirs + r->ball));
    memcpy(qd + r->ball, (double[3]){a.x, a.y, a.z}, 3 * sizeof *qd);
    memcpy(theirs + r->ball, (double[3]){b.x, b.y, b.z}, 3 * sizeof *qd);
  }
  e = largest_difference(qd, theirs, r->ncoordinate);
  return e / fmax(1, largest(theirs, r->ncoordinate));
}

typedef struct residual {
  double q, qd, H, drift; /* H, drift: relative to the largest kinetic energy */
} residual;

static residual run_scene(scene_run *r) {
  const sni_node *converged =
      json_get(json_get(r->expected, "converged"), json_text(r->index, "converged"));
  const sni_node *samples = json_get(converged, "samples_converged");
  /* the scene's step, or a little less so that the samples fall on states */
  double step = 0;
  sn_sim_get(r->sim, "run.step", &step, NULL);
  const double apart = json_get_number(sni_node_at(samples, 1), "t");
  step = apart / ceil(apart / step - 1e-9);
  sn_sim_set(r->sim, "run.step", step, NULL);
  residual e = {0};
  sn_energy now, first;
  sn_sim_energy(r->sim, r->s, &first);
  double kinetic = first.kinetic, expected[NV_MAX] = {0}, rates[NV_MAX];
  for (size_t k = 0; k < sni_node_count(samples); k++) {
    const sni_node *sample = sni_node_at(samples, k);
    const double t = json_get_number(sample, "t");
    while (*sn_state_time(r->s) < t - 0.5 * step) {
      test_step(r->sim, r->s, NULL);
      sn_sim_energy(r->sim, r->s, &now);
      kinetic = fmax(kinetic, now.kinetic);
      e.drift = fmax(e.drift, fabs(now.kinetic + now.potential - first.kinetic - first.potential));
    }
    CHECK(fabs(*sn_state_time(r->s) - t) < 1e-12, "no state at t = %g", t);
    CHECK(json_numbers(sample, "q", expected, NV_MAX) == r->ncoordinate, "q has another size");
    e.q = fmax(e.q, q_error(r, expected));
  }
  json_numbers(converged, "q_final_converged", expected, NV_MAX);
  json_numbers(converged, "qdot_final_converged", rates, NV_MAX);
  e.q = fmax(e.q, q_error(r, expected));
  e.qd = qd_error(r, expected, rates);
  sn_sim_energy(r->sim, r->s, &now);
  const double H = now.kinetic + now.potential - first.potential;
  const double estimate = json_get_number(converged, "H_converged_error_estimate");
  e.H = fmax(0, fabs(H - json_get_number(converged, "H_converged")) - estimate) / kinetic;
  e.drift /= kinetic;
  return e;
}

TEST(converged_motions) {
  sni_doc *index = json_read("conformance/index.json"),
          *data = json_read("conformance/expected.json");
  const sni_node *where = json_get(sni_doc_root(index), "scenes");
  const sni_node *what = json_get(sni_doc_root(data), "scenes");
  print_message("  id  scene                            q        qd       H        drift\n");
  int failures = 0;
  for (size_t k = 0; k < sizeof required / sizeof required[0]; k++) {
    scene_run r = {
        with_id(where, required[k]), with_id(what, required[k]), NULL, NULL, NULL, 0, {0}, -1};
    r.m = load(json_text(r.index, "file"));
    r.sim = test_sim(r.m, NULL);
    r.s = test_state(r.m);
    find_coordinates(&r);
    const residual e = run_scene(&r);
    const bool conservative = strcmp(json_text(r.index, "conservative"), "true") == 0;
    const char *name = strrchr(json_text(r.index, "file"), '/') + 1;
    char drift[16] = "-";
    if (conservative) {
      snprintf(drift, sizeof drift, "%.1e", e.drift);
    }
    const bool good = e.q < Q_TOLERANCE && e.qd < QD_TOLERANCE && e.H < 1e-8 &&
                      (!conservative || e.drift < ENERGY_TOLERANCE);
    print_message("  %2d  %-30s  %.1e  %.1e  %.1e  %-8s %s\n", required[k], name, e.q, e.qd, e.H,
                  drift, good ? "" : "<--");
    failures += !good;
    sn_state_free(&r.s);
    sn_sim_free(&r.sim);
    sn_model_free(&r.m);
  }
  CHECK(failures == 0, "%d scenes are off", failures);
  sni_doc_free(&index);
  sni_doc_free(&data);
}

int main(void) {
  RUN_TESTS(T(converged_motions));
}
