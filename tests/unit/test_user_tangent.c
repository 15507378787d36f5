/* A user's force with its derivatives: what it gives must do what a force of the model does. */
#include "redmax.h"

enum { LINKS = 4 };

/* A chain, and beside it a free body: springs between them and one in the third joint. */
static sn_builder *scene(bool with_forces) {
  sn_builder *b = sn_builder_create();
  CHECK(b != NULL, "out of memory");
  for (int k = 0; k <= LINKS; k++) {
    char name[32], parent[32];
    snprintf(name, sizeof name, "l%d", k);
    snprintf(parent, sizeof parent, "l%d", k - 1);
    sn_body_def def =
        test_link(name, k % LINKS ? parent : "world", k < LINKS ? "revolute" : "free");
    def.joint.axis = k % 2 ? (sn_vec3){0, 1, 0} : (sn_vec3){1, 0, 0};
    def.joint.at = k % LINKS ? sn_pose(0, 0, -0.5) : sn_pose(k ? 1 : 0, 0, 0);
    if (with_forces && k == 2) {
      def.joint.stiffness = sn_per_dof_all(2e4);
      def.joint.damping = sn_per_dof_all(3);
    }
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  }
  return b;
}

/* where they are slack at the start */
static const sn_vec3 at_a = {0.8, 0.1, 1.6}, at_b = {-0.2, 0.1, 0.1}, at_w = {0.8, 0.1, 0.1};
static const double stiffness = 3e5, damping = 20;

/* Springs of zero length: k dx + d dv, whose derivative is the same in all directions. */
typedef struct user {
  int a, b, joint;
  bool coupled;
} user;

static void one_spring(const sn_force_context *c, int i, sn_vec3 at, int j, sn_vec3 to) {
  const sn_vec3 xi = sn_se3_point(c->E_wb[i], at), xj = j < 0 ? to : sn_se3_point(c->E_wb[j], to);
  const sn_vec3 ri = sn_vec3_sub(xi, c->E_wb[i].p);
  sn_vec3 f = sn_vec3_scale(sn_vec3_sub(xj, xi), stiffness), rj = {0};
  sn_vec3 v = sn_vec3_add(c->phi[i].v, sn_vec3_cross(c->phi[i].w, ri));
  if (j >= 0) {
    rj = sn_vec3_sub(xj, c->E_wb[j].p);
    v = sn_vec3_sub(v, sn_vec3_add(c->phi[j].v, sn_vec3_cross(c->phi[j].w, rj)));
  }
  f = c->without_damping ? f : sn_vec3_addscaled(f, -damping, v);
  c->wrench[i] = sn_vec6_add(c->wrench[i], (sn_vec6){sn_vec3_cross(ri, f), f});
  if (j >= 0) {
    f = sn_vec3_neg(f);
    c->wrench[j] = sn_vec6_add(c->wrench[j], (sn_vec6){sn_vec3_cross(rj, f), f});
  }
}

static void push(const sn_force_context *c, void *data) {
  const user *u = data;
  one_spring(c, u->b, at_b, u->a, at_a);
  one_spring(c, u->b, at_b, -1, at_w);
  const int k = u->joint;
  c->tau[k] -= 2e4 * c->q[k] + (c->without_damping ? 0 : 3 * c->qd[k]);
}

static int tangent(const sn_force_context *c, void *data, sn_force_term *term, double *joint_k,
                   double *joint_d) {
  const user *u = data;
  CHECK(c->wrench == NULL && c->tau == NULL, "there is nothing to add to");
  const sn_vec3 ra = sn_mat3_mul_vec(c->E_wb[u->a].R, at_a);
  const sn_vec3 rb = sn_mat3_mul_vec(c->E_wb[u->b].R, at_b);
  const sn_vec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  int n = 0;
  for (int k = 0; k < 3; k++) {
    const sn_vec3 e = axis[k], back = sn_vec3_neg(e);
    const sn_vec6 pa = {sn_vec3_cross(ra, back), back}, pb = {sn_vec3_cross(rb, e), e};
    term[n++] = (sn_force_term){stiffness, damping, {u->b, u->a}, {pb, pa}};
    term[n++] = (sn_force_term){.k = stiffness, .d = damping, .body = {u->b, -1}, .p = {pb}};
  }
  joint_k[u->joint] += 2e4;
  joint_d[u->joint] += 3;
  return n;
}

static sn_options options(sn_solver solver, sn_implicit integrator) {
  sn_options o = redmax_options(0.01);
  o.redmax.solver = solver;
  o.redmax.integrator = integrator;
  o.redmax.tangent = SN_TANGENT_MATERIAL;
  o.redmax.tolerance = 1e-13;
  o.redmax.on_unconverged = SN_ACCEPT;
  return o;
}

static void run(const sn_model *m, const sn_options *o, user *u, double *q) {
  sn_sim *sim = test_sim(m, o);
  sn_state *s = test_state(m);
  if (u) {
    sn_sim_set_force(sim, push, u);
  }
  for (int k = 0; k < 30; k++) {
    sn_info info;
    sn_error err = {0};
    CHECK(sn_sim_step(sim, s, NULL, &info, &err) >= 0, "%s", err.text);
  }
  memcpy(q, sn_state_q(s), (size_t)sn_model_dof_count(m) * sizeof *q);
  sn_state_free(&s);
  sn_sim_free(&sim);
}

/* (`extrapolated` looks at the energy, and of a user's force nobody knows it.) */
TEST(it_does_what_the_forces_of_a_model_do) {
  sn_builder *b = scene(true);
  const sn_force_def spring[2] = {
      spring_def("pair", "l3", at_a, "l4", at_b, stiffness, damping, 0),
      spring_def("ground", "world", at_w, "l4", at_b, stiffness, damping, 0)};
  for (int k = 0; k < 2; k++) {
    CHECK(sn_builder_add_force(b, &spring[k]) == SN_OK, "out of memory");
  }
  sn_model *with = test_finish(b), *without = test_finish(scene(false));
  user u = {sn_model_body_find(without, "l3"), sn_model_body_find(without, "l4"),
            sn_model_joint_first(without, sn_model_body_find(without, "l2")), true};
  const int pair[1][2] = {{u.a, u.b}};
  const sn_solver solver[] = {SN_SOLVER_AUTO, SN_SOLVER_PCG, SN_SOLVER_GRAPH, SN_SOLVER_REDUCED};
  for (int k = 0; k < 4; k++) {
    sn_options o = options(solver[k], SN_EULER);
    double theirs[16], ours[16];
    run(with, &o, NULL, theirs);
    o.redmax.force_tangent = tangent;
    o.redmax.max_terms = 6;
    o.redmax.npair = 1;
    o.redmax.pair = pair;
    run(without, &o, &u, ours);
    const double error = largest_difference(ours, theirs, sn_model_dof_count(with));
    CHECK(error < 1e-8, "solver %d: %g apart", (int)solver[k], error);
  }
  sn_model_free(&with);
  sn_model_free(&without);
}

/* The same force without its derivatives is far too stiff for this step. */
TEST(without_its_derivatives_it_blows_up) {
  sn_model *m = test_finish(scene(false));
  user u = {sn_model_body_find(m, "l3"), sn_model_body_find(m, "l4"),
            sn_model_joint_first(m, sn_model_body_find(m, "l2")), false};
  const sn_options o = options(SN_SOLVER_AUTO, SN_EULER);
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  sn_sim_set_force(sim, push, &u);
  sn_status status = SN_OK;
  for (int k = 0; k < 300 && status >= 0; k++) {
    sn_info info;
    status = sn_sim_step(sim, s, NULL, &info, NULL);
  }
  CHECK(status < 0 || largest(sn_state_qd(s), sn_model_dof_count(m)) > 1e6, "it did not");
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&m);
}

TEST(couplings_that_were_not_announced) {
  sn_model *m = test_finish(scene(false));
  user u = {sn_model_body_find(m, "l3"), sn_model_body_find(m, "l4"),
            sn_model_joint_first(m, sn_model_body_find(m, "l2")), false};
  sn_options o = options(SN_SOLVER_AUTO, SN_EULER);
  o.redmax.force_tangent = tangent;
  o.redmax.max_terms = 6;
  sn_sim *sim = test_sim(m, &o);
  sn_state *s = test_state(m);
  sn_sim_set_force(sim, push, &u);
  sn_error err = {0};
  sn_info info;
  CHECK(sn_sim_step(sim, s, NULL, &info, &err) == SN_E_ARGUMENT, "taken");
  CHECK(strstr(err.text, "options.redmax.pair"), "'%s'", err.text);
  sn_sim_free(&sim);
  o.redmax.npair = 1; /* and nothing behind it */
  CHECK(sn_sim_create(m, &o, &sim, &err) == SN_E_VALUE && strstr(err.text, "redmax.npair"), "'%s'",
        err.text);
  o.redmax.npair = 0;
  o.redmax.max_iterations = 0;
  CHECK(sn_sim_create(m, &o, &sim, &err) == SN_E_VALUE && strstr(err.text, "max_iterations"),
        "'%s'", err.text);
  sn_state_free(&s);
  sn_model_free(&m);
}

int main(void) {
  RUN_TESTS(T(it_does_what_the_forces_of_a_model_do), T(without_its_derivatives_it_blows_up),
            T(couplings_that_were_not_announced));
}
