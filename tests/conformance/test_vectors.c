/* The vectors of the supplement's algorithms on a branching tree of seven joints, and a finger in
 * hyper-reduced coordinates, to the stated 1e-11.
 *
 * The paper's joint frame j is our body frame b; its body frame i is our inertial frame c.  What is
 * given in i is brought to b with Ad(E_bc), E_bc = E_ji. */
#include "json.h"
#include "trees.h"

enum { N = 7, NV = 11 };
#define TOLERANCE 1e-11 /* relative to the largest number of each kind */

typedef struct setup {
  sni_doc *doc;
  const sni_node *root;
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  sn_se3 E_bc[N], E_wb[N]; /* in the order of the file, as everything below */
  int index[N];            /* of a joint of the file in our tree            */
  int column[NV];          /* of a coordinate of the file in our q          */
  double tau[NV];          /* in our order                                  */
  sn_vec6 wrench[N];       /* in our order: world axes, at the origin of b  */
} setup;

static const char *our_kind(const char *theirs) {
  return strcmp(theirs, "translational") == 0 ? "translation3" : theirs;
}

static void name_of(int i, char *out) {
  snprintf(out, 16, "b%d", i);
}

static void add_joint(setup *t, sn_builder *b, int i) {
  const sni_node *node = sni_node_at(json_get(t->root, "joints"), (size_t)i);
  const int p = (int)json_get_number(node, "parent");
  char name[32], parent[32];
  name_of(i, name);
  name_of(p, parent);
  sn_body_def def = sn_body_def_default();
  def.name = name;
  def.parent = p < 0 ? "world" : parent;
  def.joint.type = our_kind(json_text(node, "type"));
  def.joint.at = json_pose(json_get(node, "E_pj0"));
  if (sni_node_get(node, "axis")) {
    def.joint.axis = json_vec3(node, "axis");
  }
  t->E_bc[i] = json_pose(json_get(node, "E_ji"));
  double I[6];
  json_numbers(node, "I_i", I, 6);
  def.has_inertia = true;
  def.inertia = sn_inertia_transform(
      t->E_bc[i], (sn_inertia){.mass = I[3], .xx = I[0], .yy = I[1], .zz = I[2]});
  CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
}

static sn_vec6 six(const double *x) {
  return (sn_vec6){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

static setup set_up(void) {
  setup t = {.doc = json_read("vectors/tree.json")};
  t.root = sni_doc_root(t.doc);
  sn_builder *b = sn_builder_create();
  for (int i = 0; i < N; i++) {
    add_joint(&t, b, i);
  }
  sn_builder_set_gravity(b, json_vec3(t.root, "grav"));
  t.m = test_finish(b);
  t.sim = test_sim(t.m, NULL);
  t.s = test_state(t.m);
  double q[NV], qd[NV], tau[NV], w[6 * N];
  CHECK(json_numbers(t.root, "q", q, NV) == NV && json_numbers(t.root, "qdot", qd, NV) == NV &&
            json_numbers(t.root, "tau", tau, NV) == NV &&
            json_numbers(t.root, "wext", w, 6 * N) == 6 * N,
        "the data have another size");
  for (int i = 0, k = 0; i < N; i++) {
    char name[32];
    name_of(i, name);
    t.index[i] = sn_model_body_find(t.m, name);
    for (int c = 0; c < sn_model_joint_dofs(t.m, t.index[i]); c++, k++) {
      t.column[k] = sn_model_joint_first(t.m, t.index[i]) + c;
      sn_state_q(t.s)[t.column[k]] = q[k];
      sn_state_qd(t.s)[t.column[k]] = qd[k];
      t.tau[t.column[k]] = tau[k];
    }
  }
  sn_se3 E[N];
  sn_sim_poses(t.sim, t.s, E, NULL);
  for (int i = 0; i < N; i++) {
    t.E_wb[i] = E[t.index[i]];
    const sn_vec6 in_b = sn_AdT_mul(sn_se3_inverse(t.E_bc[i]), six(w + 6 * i));
    t.wrench[t.index[i]] = sn_vec6_rotate(t.E_wb[i].R, in_b);
  }
  return t;
}

static void tear_down(setup *t) {
  sn_state_free(&t->s);
  sn_sim_free(&t->sim);
  sn_model_free(&t->m);
  sni_doc_free(&t->doc);
}

static sn_input input_of(const setup *t) {
  return (sn_input){.tau = t->tau, .wrench = t->wrench};
}

/* Compares ours with the numbers under key, prints the residual, and fails above the tolerance. */
static void expect(const sni_node *map, const char *key, const double *ours, int n) {
  double *theirs = calloc((size_t)n, sizeof *theirs);
  const int got = json_numbers(map, key, theirs, n);
  CHECK(got == n, "'%s' has %d numbers, not %d", key, got, n);
  const double e = largest_difference(ours, theirs, n) / largest(theirs, n);
  print_message("  %-8s %.2e\n", key, e);
  CHECK(e < TOLERANCE, "'%s' is off by %g of its largest number", key, e);
  free(theirs);
}

/* Twists of all bodies, from our frames b in our order to frames i in theirs. */
static void to_their_frames(const setup *t, const sn_vec6 *ours, double *out) {
  for (int i = 0; i < N; i++) {
    const sn_vec6 x = sn_Adinv_mul(t->E_bc[i], ours[t->index[i]]);
    for (int k = 0; k < 6; k++) {
      out[6 * i + k] = sn_vec6_get(x, k);
    }
  }
}

/* Joint quantities from our order to theirs. */
static void to_their_order(const setup *t, const double *ours, double *out) {
  for (int k = 0; k < NV; k++) {
    out[k] = ours[t->column[k]];
  }
}

static void put_pose(sn_se3 E, double *out) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      out[4 * r + c] = E.R.m[r][c];
    }
    out[4 * r + 3] = sn_vec3_get(E.p, r);
  }
  memcpy(out + 12, (double[4]){0, 0, 0, 1}, 4 * sizeof(double));
}

TEST(poses_and_twists) {
  setup t = set_up();
  double joint[16 * N], body[16 * N], twist[6 * N];
  sn_vec6 phi[N];
  sn_sim_poses(t.sim, t.s, NULL, phi);
  to_their_frames(&t, phi, twist);
  for (int i = 0; i < N; i++) {
    put_pose(t.E_wb[i], joint + 16 * i);
    put_pose(sn_se3_mul(t.E_wb[i], t.E_bc[i]), body + 16 * i);
  }
  expect(t.root, "E_wj", joint, 16 * N);
  expect(t.root, "E_wi", body, 16 * N);
  expect(t.root, "phi", twist, 6 * N);
  tear_down(&t);
}

typedef sn_status (*product)(sn_sim *sim, const sn_state *s, const double *x, sn_vec6 *y);

static void expect_matrix(setup *t, const char *key, product mul) {
  double matrix[6 * N * NV];
  for (int k = 0; k < NV; k++) {
    double unit[NV] = {0}, column[6 * N];
    unit[t->column[k]] = 1;
    sn_vec6 y[N];
    mul(t->sim, t->s, unit, y);
    to_their_frames(t, y, column);
    for (int r = 0; r < 6 * N; r++) {
      matrix[r * NV + k] = column[r];
    }
  }
  expect(t->root, key, matrix, 6 * N * NV);
}

static void expect_product(setup *t, const char *key, product mul) {
  double x[NV], ours[NV], out[6 * N];
  json_numbers(t->root, "x", x, NV);
  for (int k = 0; k < NV; k++) {
    ours[t->column[k]] = x[k];
  }
  sn_vec6 y[N];
  mul(t->sim, t->s, ours, y);
  to_their_frames(t, y, out);
  expect(t->root, key, out, 6 * N);
}

TEST(jacobians) {
  setup t = set_up();
  expect_matrix(&t, "J", sn_sim_J_mul);
  expect_matrix(&t, "Jdot", sn_sim_Jdot_mul);
  expect_product(&t, "Jx", sn_sim_J_mul);
  expect_product(&t, "Jdotx", sn_sim_Jdot_mul);
  double y[6 * N], x[NV], theirs[NV];
  sn_vec6 ours[N];
  json_numbers(t.root, "y", y, 6 * N);
  for (int i = 0; i < N; i++) {
    ours[t.index[i]] = sn_AdT_mul(sn_se3_inverse(t.E_bc[i]), six(y + 6 * i));
  }
  sn_sim_Jt_mul(t.sim, t.s, ours, x);
  to_their_order(&t, x, theirs);
  expect(t.root, "JTy", theirs, NV);
  tear_down(&t);
}

TEST(inertia_and_energy) {
  setup t = set_up();
  double M[NV * NV], theirs[NV * NV];
  sn_sim_mass_matrix(t.sim, t.s, M);
  for (int i = 0; i < NV; i++) {
    for (int j = 0; j < NV; j++) {
      theirs[i * NV + j] = M[t.column[i] * NV + t.column[j]];
    }
  }
  expect(t.root, "Mr", theirs, NV * NV);
  sn_energy energy;
  sn_sim_energy(t.sim, t.s, &energy);
  expect(json_get(t.root, "energy"), "T", &energy.kinetic, 1);
  expect(json_get(t.root, "energy"), "V", &energy.potential, 1);
  tear_down(&t);
}

TEST(accelerations_and_reactions) {
  setup t = set_up();
  const sn_input input = input_of(&t);
  double qdd[NV], tau[NV], theirs[NV], F[6 * N];
  sn_vec6 reaction[N];
  sn_error err;
  CHECK(sn_sim_forward(t.sim, t.s, &input, qdd, &err) == SN_OK, "%s", err.text);
  to_their_order(&t, qdd, theirs);
  expect(t.root, "qddot", theirs, NV);
  /* the accelerations that the forces give need nothing more */
  CHECK(sn_sim_inverse(t.sim, t.s, &input, qdd, tau, reaction, &err) == SN_OK, "%s", err.text);
  CHECK(largest(tau, NV) < 1e-10, "inverse of forward asks for %g more", largest(tau, NV));
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 6; k++) {
      F[6 * i + k] = sn_vec6_get(reaction[t.index[i]], k);
    }
  }
  expect(t.root, "F_joint", F, 6 * N);
  tear_down(&t);
}

TEST(hybrid_dynamics) {
  setup t = set_up();
  const sni_node *hybrid = json_get(t.root, "hybrid"), *given = json_get(hybrid, "prescribed");
  sn_joint_mode mode[N] = {SN_JOINT_FREE};
  double qdd[NV] = {0}, tau[NV], theirs[NV];
  memcpy(tau, t.tau, sizeof tau);
  for (size_t k = 0; k < sni_node_count(given); k++) {
    const sni_node *joint = sni_node_at(given, k);
    const int i = t.index[atoi(joint->key)], adr = sn_model_joint_first(t.m, i);
    mode[i] = SN_JOINT_PRESCRIBED;
    json_flatten(joint, qdd + adr, NV - adr);
  }
  sn_error err;
  const sn_input wrenches = {.wrench = t.wrench};
  CHECK(sn_sim_hybrid(t.sim, t.s, &wrenches, mode, qdd, tau, NULL, &err) == SN_OK, "%s", err.text);
  to_their_order(&t, qdd, theirs);
  expect(hybrid, "qddot", theirs, NV);
  to_their_order(&t, tau, theirs);
  expect(hybrid, "tau", theirs, NV);
  tear_down(&t);
}

/* Three phalanges of 4, 3 and 2 along x, q_r = J_rR q_R:
 *     M_R = J_rR^T M_r J_rR,   M_R qdd_R = J_rR^T (tau - bias)   since J_rR is constant. */
TEST(finger_in_hyper_reduced_coordinates) {
  sni_doc *doc = json_read("vectors/hyper_finger.json");
  const sni_node *root = sni_doc_root(doc);
  static const double length[3] = {4, 3, 2};
  static const char *const name[4] = {"world", "mcp", "pip", "dip"};
  sn_builder *b = sn_builder_create();
  for (int i = 0; i < 3; i++) {
    sn_shape_def box = sn_shape_def_default();
    box.type = "box";
    box.size = (sn_vec3){length[i], 1, 1};
    box.at = sn_pose(length[i] / 2, 0, 0);
    box.density = 1;
    sn_body_def def = sn_body_def_default();
    def.name = name[i + 1];
    def.parent = name[i];
    def.joint.type = "revolute";
    def.joint.axis = (sn_vec3){0, 1, 0};
    def.joint.at = sn_pose(i > 0 ? length[i - 1] : 0, 0, 0);
    def.shapes = &box;
    def.nshape = 1;
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  }
  sn_builder_set_gravity(b, (sn_vec3){0, 0, -980});
  sn_model *m = test_finish(b);
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(m);
  double J[6], qR[2], qRd[2], M[9], MR[4] = {0}, f[2] = {0}, bias[3];
  json_numbers(root, "JrR", J, 6);
  json_numbers(root, "qR", qR, 2);
  json_numbers(root, "qRdot", qRd, 2);
  for (int i = 0; i < 3; i++) {
    sn_state_q(s)[i] = J[2 * i] * qR[0] + J[2 * i + 1] * qR[1];
    sn_state_qd(s)[i] = J[2 * i] * qRd[0] + J[2 * i + 1] * qRd[1];
  }
  sn_sim_mass_matrix(sim, s, M);
  sn_sim_inverse(sim, s, NULL, (double[3]){0, 0, 0}, bias, NULL, NULL);
  for (int i = 0; i < 3; i++) {
    for (int r = 0; r < 2; r++) {
      f[r] -= J[2 * i + r] * bias[i];
      for (int c = 0; c < 2; c++) {
        for (int j = 0; j < 3; j++) {
          MR[2 * r + c] += J[2 * i + r] * M[3 * i + j] * J[2 * j + c];
        }
      }
    }
  }
  const double det = MR[0] * MR[3] - MR[1] * MR[2];
  const double qRdd[2] = {(MR[3] * f[0] - MR[1] * f[1]) / det, (MR[0] * f[1] - MR[2] * f[0]) / det};
  expect(root, "MR", MR, 4);
  expect(root, "qRddot", qRdd, 2);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
  sni_doc_free(&doc);
}

int main(void) {
  RUN_TESTS(T(poses_and_twists), T(jacobians), T(inertia_and_energy),
            T(accelerations_and_reactions), T(hybrid_dynamics),
            T(finger_in_hyper_reduced_coordinates));
}
