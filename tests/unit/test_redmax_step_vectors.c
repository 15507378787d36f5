/* One linearly implicit step [RM 2] against the vectors of step.json. */
#include "json.h"
#include "rig.h"
#include "vectors.h"

/* tree.json with two springs, springs and dampers in the joints, damped bodies and joint torques.
 * The paper's joint frame j is our body frame b, its body frame i our inertial frame c; points and
 * damping are given in i. */
enum { N = 7, NV = 11, BALL = 1 /* first coordinate of the ball joint */ };

typedef struct vectors {
  sni_doc *tree, *step;
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  int column[NV]; /* of a coordinate of the file in our q */
  double tau[NV]; /* in our order                         */
} vectors;

static sn_vec3 in_b(sn_se3 E_bc, const sni_node *map, const char *key) {
  return sn_se3_point(E_bc, json_vec3(map, key));
}

static void vectors_body(const vectors *v, sn_builder *b, int i, int first, sn_se3 *E_bc) {
  const sni_node *node = sni_node_at(json_get(sni_doc_root(v->tree), "joints"), (size_t)i);
  const sni_node *step = sni_doc_root(v->step);
  const int p = (int)json_get_number(node, "parent");
  char name[32], parent[32];
  snprintf(name, sizeof name, "b%d", i);
  snprintf(parent, sizeof parent, "b%d", p);
  sn_body_def def = sn_body_def_default();
  const char *type = json_text(node, "type");
  def.name = name;
  def.parent = p < 0 ? "world" : parent;
  def.joint.type = strcmp(type, "translational") == 0 ? "translation3" : type;
  def.joint.at = json_pose(json_get(node, "E_pj0"));
  if (sni_node_get(node, "axis")) {
    def.joint.axis = json_vec3(node, "axis");
  }
  *E_bc = json_pose(json_get(node, "E_ji"));
  double I[6] = {0}, dofs[2] = {0}, kr[NV], dr[NV], q0[NV];
  json_numbers(node, "I_i", I, 6);
  json_numbers(node, "dofs", dofs, 2); /* from, to */
  CHECK((int)dofs[0] == first, "joint %d begins at %d, not %d", i, (int)dofs[0], first);
  def.has_inertia = true;
  def.inertia =
      sn_inertia_transform(*E_bc, (sn_inertia){.mass = I[3], .xx = I[0], .yy = I[1], .zz = I[2]});
  def.damping_angular = def.damping_linear = json_get_number(step, "body_damping");
  json_numbers(step, "kr", kr, NV);
  json_numbers(step, "dr", dr, NV);
  json_numbers(step, "q0", q0, NV);
  def.joint.stiffness.n = def.joint.damping.n = def.joint.rest.n = (int)dofs[1] - (int)dofs[0];
  for (int c = 0; first != BALL && c < def.joint.stiffness.n; c++) {
    def.joint.stiffness.v[c] = kr[first + c];
    def.joint.damping.v[c] = dr[first + c];
    def.joint.rest.v[c] = q0[first + c];
  }
  CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
}

static void vectors_spring(const vectors *v, sn_builder *b, int k, const sn_se3 *E_bc) {
  const sni_node *node = sni_node_at(json_get(sni_doc_root(v->step), "springs"), (size_t)k);
  const int a = (int)json_get_number(node, "a"), to = (int)json_get_number(node, "b");
  const double L = json_get_number(node, "L"); /* k and d are forces at 100 % strain */
  char name[3][16];
  snprintf(name[0], sizeof name[0], "s%d", k);
  snprintf(name[1], sizeof name[1], "b%d", a);
  snprintf(name[2], sizeof name[2], "b%d", to);
  const sn_force_def def =
      spring_def(name[0], name[1], in_b(E_bc[a], node, "xa"), to < 0 ? NULL : name[2],
                 to < 0 ? json_vec3(node, "xb") : in_b(E_bc[to], node, "xb"),
                 json_get_number(node, "k") / L, json_get_number(node, "d") / L, L);
  CHECK(sn_builder_add_force(b, &def) == SN_OK, "out of memory");
}

static vectors vectors_set_up(int solver) {
  vectors v = {.tree = json_read("vectors/tree.json"), .step = json_read("vectors/step.json")};
  const sni_node *tree = sni_doc_root(v.tree), *step = sni_doc_root(v.step);
  const sni_node *list = json_get(tree, "joints");
  sn_builder *b = sn_builder_create();
  sn_se3 E_bc[N];
  for (int i = 0, first = 0; i < N; i++) {
    vectors_body(&v, b, i, first, &E_bc[i]);
    double dofs[2];
    json_numbers(sni_node_at(list, (size_t)i), "dofs", dofs, 2);
    first = (int)dofs[1];
  }
  for (int k = 0; k < (int)sni_node_count(json_get(step, "springs")); k++) {
    vectors_spring(&v, b, k, E_bc);
  }
  sn_builder_set_gravity(b, json_vec3(tree, "grav"));
  v.m = test_finish(b);
  sn_options o = redmax_paper_options(json_get_number(step, "h"));
  o.redmax.solver = redmax_solver[solver].option;
  o.redmax.tolerance = 1e-14;
  v.sim = test_sim(v.m, &o);
  v.s = test_state(v.m);
  double q[NV], qd[NV], tau[NV];
  CHECK(json_numbers(tree, "q", q, NV) == NV && json_numbers(tree, "qdot", qd, NV) == NV &&
            json_numbers(tree, "tau", tau, NV) == NV,
        "the data have another size");
  for (int i = 0, k = 0; i < N; i++) {
    char name[32];
    snprintf(name, sizeof name, "b%d", i);
    const int body = sn_model_body_find(v.m, name);
    for (int c = 0; c < sn_model_joint_dofs(v.m, body); c++, k++) {
      v.column[k] = sn_model_joint_first(v.m, body) + c;
      sn_state_q(v.s)[v.column[k]] = q[k];
      sn_state_qd(v.s)[v.column[k]] = qd[k];
      v.tau[v.column[k]] = tau[k];
    }
  }
  return v;
}

/* In the file the spring of the ball joint acts on the three numbers of the rotation vector, ours
 * on the rotation itself.  So that joint has no spring here, and its part is taken out of the
 * file's matrix and right-hand side; what they give for qdot1 is checked first. */
static void without_ball_spring(const vectors *v, double *M, double *f) {
  const sni_node *step = sni_doc_root(v->step);
  double kr[NV], dr[NV], q0[NV], q[NV];
  const double h = json_get_number(step, "h");
  json_numbers(step, "kr", kr, NV);
  json_numbers(step, "dr", dr, NV);
  json_numbers(step, "q0", q0, NV);
  json_numbers(sni_doc_root(v->tree), "q", q, NV);
  for (int k = BALL; k < BALL + 3; k++) {
    M[k * NV + k] -= h * dr[k] + h * h * kr[k];
    f[k] += h * kr[k] * (q[k] - q0[k]);
  }
}

static void expect(const char *what, const char *solver, const double *ours, const double *theirs,
                   int n) {
  const double e = largest_difference(ours, theirs, n) / largest(theirs, n);
  print_message("  %-6s %-7s %.1e\n", solver, what, e);
  CHECK(e < tol(1e-11), "%s: %s is off by %g of its largest number", solver, what, e);
}

TEST(one_step_is_that_of_the_vectors) {
  for (int solver = 0; solver < REDMAX_SOLVERS; solver++) {
    if (redmax_solver[solver].option == SN_SOLVER_TREE) {
      continue; /* a spring couples two bodies */
    }
    vectors v = vectors_set_up(solver);
    const sni_node *step = sni_doc_root(v.step);
    double Mtilde[NV * NV], ftilde[NV], qdot1[NV], copy[NV * NV], x[NV];
    json_numbers(step, "Mtilde", Mtilde, NV * NV);
    json_numbers(step, "ftilde", ftilde, NV);
    json_numbers(step, "qdot1", qdot1, NV);
    memcpy(copy, Mtilde, sizeof copy);
    memcpy(x, ftilde, sizeof x);
    dense_solve(NV, copy, x);
    expect("theirs", redmax_solver[solver].name, x, qdot1, NV);
    without_ball_spring(&v, Mtilde, ftilde);

    /* the matrix, column by column */
    rig r = {.m = v.m, .sim = v.sim, .s = v.s, .nv = NV};
    held hold = assemble(&r, json_get_number(step, "h"), SNI_TANGENT_MATERIAL);
    double ours[NV * NV];
    for (int k = 0; k < NV; k++) {
      double unit[NV] = {0}, column[NV];
      unit[v.column[k]] = 1;
      sni_system_mul(&hold.s, unit, column);
      for (int i = 0; i < NV; i++) {
        ours[i * NV + k] = column[v.column[i]];
      }
    }
    expect("Mtilde", redmax_solver[solver].name, ours, Mtilde, NV * NV);
    free(hold.memory);

    /* the step, and with it the right-hand side */
    redmax_step(v.sim, v.s, &(sn_input){.tau = v.tau});
    double rates[NV], right[NV];
    for (int k = 0; k < NV; k++) {
      rates[k] = sn_state_qd(v.s)[v.column[k]];
    }
    dense_mul(NV, Mtilde, rates, right);
    expect("ftilde", redmax_solver[solver].name, right, ftilde, NV);
    dense_solve(NV, Mtilde, ftilde);
    expect("qdot1", redmax_solver[solver].name, rates, ftilde, NV);
    sn_state_free(&v.s);
    sn_sim_free(&v.sim);
    sn_model_free(&v.m);
    sni_doc_free(&v.tree);
    sni_doc_free(&v.step);
  }
}
int main(void) {
  RUN_TESTS(T(one_step_is_that_of_the_vectors));
}
