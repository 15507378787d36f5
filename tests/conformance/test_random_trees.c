/* Five random trees of 5 to 36 bodies against 40-digit arithmetic: poses, velocities, joint and
 * body accelerations to 1e-12 of the largest acceleration of the tree.
 *
 * There, rates of ball and free joints are angular velocities w in child axes; ours are rates of a
 * rotation vector r:  w = Jr rd,  dw/dt = Jr rdd + Jrdot rd,  and a torque m in child axes is the
 * joint force Jr^T m. */
#include "json.h"
#include "trees.h"

#define BODIES_MAX 64

typedef struct given_body {
  const sni_node *node;
  const char *kind;
  char name[32];
  double q[7], qdot[6], tau[6], qddot[6];
} given_body;

static sn_se3 pose_of(const sni_node *node, const char *position, const char *quaternion) {
  double q[4];
  CHECK(json_numbers(node, quaternion, q, 4) == 4, "a quaternion has four numbers");
  return sn_pose_quat(json_vec3(node, position), (sn_quat){q[0], q[1], q[2], q[3]});
}

static sn_inertia inertia_of(const sni_node *node) {
  double I[6];
  CHECK(json_numbers(node, "inertia_com", I, 6) == 6, "an inertia has six numbers");
  return (sn_inertia){
      json_get_number(node, "mass"), json_vec3(node, "com"), I[0], I[1], I[2], I[3], I[4], I[5]};
}

static sn_model *build(const sni_node *tree, given_body *body, int n) {
  sn_builder *b = sn_builder_create();
  for (int i = 0; i < n; i++) {
    given_body *g = &body[i];
    g->node = sni_node_at(json_get(tree, "bodies"), (size_t)i);
    g->kind = json_text(g->node, "joint");
    snprintf(g->name, sizeof g->name, "b%d", i);
    json_numbers(g->node, "q", g->q, 7);
    json_numbers(g->node, "qdot", g->qdot, 6);
    json_numbers(g->node, "tau", g->tau, 6);
    json_numbers(g->node, "expected_qddot", g->qddot, 6);
    const int parent = (int)json_get_number(g->node, "parent");
    sn_body_def def = sn_body_def_default();
    def.name = g->name;
    def.parent = parent < 0 ? "world" : body[parent].name;
    def.joint.type = strcmp(g->kind, "ball") == 0 ? "spherical" : g->kind;
    def.joint.at = pose_of(g->node, "joint_pos_in_parent", "joint_quat_in_parent");
    if (sni_node_get(g->node, "axis")) {
      def.joint.axis = json_vec3(g->node, "axis");
    }
    def.has_inertia = true;
    def.inertia = inertia_of(g->node);
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  }
  sn_builder_set_gravity(b, json_vec3(tree, "gravity"));
  return test_finish(b);
}

/* First number of the rotation in q, qdot, ...; -1: none. */
static int rotation_at(const given_body *g) {
  return strcmp(g->kind, "ball") == 0 ? 0 : strcmp(g->kind, "free") == 0 ? 3 : -1;
}

static sn_vec3 three(const double *x) {
  return (sn_vec3){x[0], x[1], x[2]};
}
static void put(sn_vec3 a, double *x) {
  x[0] = a.x;
  x[1] = a.y;
  x[2] = a.z;
}

/* The state and the joint forces in our coordinates. */
static void set_state(const sn_model *m, const given_body *body, sn_state *s, double *tau) {
  for (int i = 0; i < sn_model_body_count(m); i++) {
    const given_body *g = &body[atoi(sn_model_body_name(m, i) + 1)];
    const int adr = sn_model_joint_first(m, i), nv = sn_model_joint_dofs(m, i);
    const int at = rotation_at(g);
    double *q = sn_state_q(s) + adr, *qd = sn_state_qd(s) + adr;
    for (int k = 0; k < nv; k++) {
      if (at < 0 || k < at) {
        q[k] = g->q[k];
        qd[k] = g->qdot[k];
        tau[adr + k] = g->tau[k];
      }
    }
    if (at >= 0) {
      const sn_quat quat = {g->q[at], g->q[at + 1], g->q[at + 2], g->q[at + 3]};
      const sn_vec3 r = sn_so3_log(sn_mat3_from_quat(quat));
      put(r, q + at);
      put(sn_mat3_mul_vec(sn_so3_jacobian_inverse(r), three(g->qdot + at)), qd + at);
      put(sn_mat3_tmul_vec(sn_so3_jacobian(r), three(g->tau + at)), tau + adr + at);
    }
  }
}

/* Accelerations back in their coordinates. */
static void their_qddot(const given_body *g, int nv, const double *q, const double *qd,
                        const double *qdd, double *out) {
  memcpy(out, qdd, (size_t)nv * sizeof *out);
  const int at = rotation_at(g);
  if (at >= 0) {
    const sn_vec3 r = three(q + at), rd = three(qd + at);
    put(sn_vec3_add(sn_mat3_mul_vec(sn_so3_jacobian(r), three(qdd + at)),
                    sn_mat3_mul_vec(sn_so3_jacobian_dot(r, rd), rd)),
        out + at);
  }
}

static double off(sn_vec3 a, sn_vec3 b) {
  return sn_vec3_norm(sn_vec3_sub(a, b));
}

/* Body i moves with J qdd + Jdot qd in its own axes; the second derivative of its origin's position
 * is R (v' + w x v). */
static double body_error(const given_body *g, sn_se3 E, sn_vec6 phi, sn_vec6 phidot) {
  double R[9], e = 0;
  CHECK(json_numbers(g->node, "expected_rotation_world_rowmajor", R, 9) == 9, "nine numbers");
  for (int k = 0; k < 9; k++) {
    e = fmax(e, fabs(R[k] - E.R.m[k / 3][k % 3]));
  }
  e = fmax(e, off(E.p, json_vec3(g->node, "expected_position_world")));
  const sn_vec3 w = sn_mat3_mul_vec(E.R, phi.w), v = sn_mat3_mul_vec(E.R, phi.v);
  e = fmax(e, off(w, json_vec3(g->node, "expected_angular_velocity_world")));
  e = fmax(e, off(v, json_vec3(g->node, "expected_linear_velocity_world")));
  const sn_vec3 alpha = sn_mat3_mul_vec(E.R, phidot.w);
  const sn_vec3 a = sn_mat3_mul_vec(E.R, sn_vec3_add(phidot.v, sn_vec3_cross(phi.w, phi.v)));
  e = fmax(e, off(alpha, json_vec3(g->node, "expected_angular_acceleration_world")));
  return fmax(e, off(a, json_vec3(g->node, "expected_linear_acceleration_world")));
}

typedef struct errors {
  double qddot, body;
} errors;

static errors compare(const sni_node *tree, int n) {
  static given_body body[BODIES_MAX];
  sn_model *m = build(tree, body, n);
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(m);
  const int nv = sn_model_dof_count(m);
  double *tau = calloc((size_t)nv, sizeof *tau), *qdd = calloc((size_t)nv, sizeof *qdd);
  set_state(m, body, s, tau);
  sn_error err;
  CHECK(sn_sim_forward(sim, s, &(sn_input){.tau = tau}, qdd, &err) == SN_OK, "%s", err.text);

  sn_se3 E[BODIES_MAX];
  sn_vec6 phi[BODIES_MAX], gain[BODIES_MAX], bias[BODIES_MAX];
  sn_sim_poses(sim, s, E, phi);
  sn_sim_J_mul(sim, s, qdd, gain);
  sn_sim_Jdot_mul(sim, s, sn_state_qd(s), bias);
  errors worst = {0};
  double scale = 0, body_scale = 0;
  for (int i = 0; i < n; i++) {
    const given_body *g = &body[atoi(sn_model_body_name(m, i) + 1)];
    const int adr = sn_model_joint_first(m, i), dofs = sn_model_joint_dofs(m, i);
    double theirs[6];
    their_qddot(g, dofs, sn_state_q(s) + adr, sn_state_qd(s) + adr, qdd + adr, theirs);
    worst.qddot = fmax(worst.qddot, largest_difference(theirs, g->qddot, dofs));
    scale = fmax(scale, largest(g->qddot, dofs));
    worst.body = fmax(worst.body, body_error(g, E[i], phi[i], sn_vec6_add(gain[i], bias[i])));
    body_scale =
        fmax(body_scale, sn_vec3_norm(json_vec3(g->node, "expected_angular_acceleration_world")));
    body_scale =
        fmax(body_scale, sn_vec3_norm(json_vec3(g->node, "expected_linear_acceleration_world")));
  }
  worst.qddot /= scale;
  worst.body /= fmax(body_scale, scale);
  free(tau);
  free(qdd);
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
  return worst;
}

/* The peers that were asked (Simbody, MuJoCo, DART) are between 4e-15 and 4e-14 off. */
TEST(accelerations_of_random_trees) {
  sni_doc *doc = json_read("vectors/random_trees.json");
  const sni_node *trees = json_get(sni_doc_root(doc), "trees");
  CHECK(sni_node_count(trees) == 5, "there are %zu trees, not five", sni_node_count(trees));
  print_message("  tree  bodies  accelerations  bodies' motion   (relative to the largest)\n");
  for (size_t k = 0; k < sni_node_count(trees); k++) {
    const sni_node *tree = sni_node_at(trees, k);
    const int n = (int)sni_node_count(json_get(tree, "bodies"));
    CHECK(n <= BODIES_MAX, "%d bodies", n);
    const errors e = compare(tree, n);
    print_message("  %4zu  %6d  %13.2e  %14.2e\n", k, n, e.qddot, e.body);
    CHECK(e.qddot < 1e-12, "tree %zu: accelerations off by %g of the largest", k, e.qddot);
    CHECK(e.body < 1e-12, "tree %zu: poses and motions of bodies off by %g", k, e.body);
  }
  sni_doc_free(&doc);
}

int main(void) {
  RUN_TESTS(T(accelerations_of_random_trees));
}
