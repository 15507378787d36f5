/* A rope ladder of two bars a pattern and three patterns, in the midst of its swing: the reduced
 * constraint matrix [FA 13], its right-hand side, the iterates of conjugate gradients on it, the
 * forces of all joints and the accelerations of all bars, to the stated 1e-10.
 *
 * There a bar has its frame at its centre of mass; here at the end that hangs on its parent. */
#include "json.h"
#include "methods/structured/structured.h"
#include "trees.h"

enum { N = 15, L = 9, NV = 3 * N };
#define TOLERANCE 1e-10 /* relative to the largest number of each kind */

typedef struct setup {
  sni_doc *doc;
  const sni_node *root;
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  sni_ties *ties;
  sn_mat3 R[N];
  sn_vec3 to_child[N]; /* from the centre of mass to the end where a bar hangs */
  double b[NV];        /* what moves the tree */
} setup;

static void name_of(int i, char *out) {
  snprintf(out, 16, "bar%d", i);
}

static void read_end(const sni_node *joint, int side, int *body, sn_vec3 *at) {
  double x[3];
  *body = (int)json_number(sni_node_at(joint, 2 * (size_t)side));
  CHECK(json_flatten(sni_node_at(joint, 2 * (size_t)side + 1), x, 3) == 3, "no point");
  *at = (sn_vec3){x[0], x[1], x[2]};
}

static void add_bar(setup *t, sn_builder *b, int i) {
  int parent, child;
  sn_vec3 pa, pb;
  const sni_node *joint = sni_node_at(json_get(t->root, "tree"), (size_t)i);
  read_end(joint, 0, &parent, &pa);
  read_end(joint, 1, &child, &pb);
  CHECK(child == i, "joint %d is not that of bar %d", i, i);
  t->to_child[i] = pb;
  double I[9];
  CHECK(json_flatten(sni_node_at(json_get(t->root, "I_local"), (size_t)i), I, 9) == 9, "inertia");
  const sn_vec3 at = parent < 0 ? pa : sn_vec3_sub(pa, t->to_child[parent]);
  char name[32], above[32];
  name_of(i, name);
  name_of(parent, above);
  sn_body_def def = sn_body_def_default();
  def.name = name;
  def.parent = parent < 0 ? "world" : above;
  def.joint.type = "spherical";
  def.joint.at = sn_pose(at.x, at.y, at.z);
  def.has_inertia = true;
  def.inertia = (sn_inertia){.mass = 1, .com = sn_vec3_neg(pb), .xx = I[0], .yy = I[4], .zz = I[8]};
  CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
}

static void add_knot(setup *t, sn_builder *b, int k) {
  int body[2];
  sn_vec3 at[2];
  char name[32], on[2][32];
  for (int side = 0; side < 2; side++) {
    read_end(sni_node_at(json_get(t->root, "loop"), (size_t)k), side, &body[side], &at[side]);
    at[side] = sn_vec3_sub(at[side], t->to_child[body[side]]);
    name_of(body[side], on[side]);
  }
  snprintf(name, sizeof name, "knot%d", k);
  sn_constraint_def def = sn_constraint_def_default();
  def.name = name;
  def.type = "point";
  def.a = (sn_point_def){on[0], sn_pose(at[0].x, at[0].y, at[0].z)};
  def.b = (sn_point_def){on[1], sn_pose(at[1].x, at[1].y, at[1].z)};
  CHECK(sn_builder_add_constraint(b, &def) == SN_OK, "out of memory");
}

/* Rotations and angular velocities of the file, as coordinates of the joints. */
static void set_state(setup *t) {
  double R[9 * N], v[6 * N];
  CHECK(json_numbers(t->root, "R", R, 9 * N) == 9 * N &&
            json_numbers(t->root, "v", v, 6 * N) == 6 * N,
        "the data have another size");
  for (int i = 0; i < N; i++) {
    memcpy(&t->R[i], R + 9 * i, sizeof t->R[i]);
  }
  for (int i = 0; i < N; i++) {
    int parent, child;
    sn_vec3 at;
    const sni_node *joint = sni_node_at(json_get(t->root, "tree"), (size_t)i);
    read_end(joint, 0, &parent, &at);
    read_end(joint, 1, &child, &at);
    sn_vec3 w = {v[6 * i + 3], v[6 * i + 4], v[6 * i + 5]};
    sn_mat3 Q = t->R[i];
    if (parent >= 0) {
      const double *up = v + 6 * parent + 3;
      w = sn_vec3_sub(w, (sn_vec3){up[0], up[1], up[2]});
      Q = sn_mat3_tmul(t->R[parent], Q);
    }
    const sn_vec3 q = sn_so3_log(Q);
    const sn_vec3 qd = sn_mat3_mul_vec(sn_so3_jacobian_inverse(q), sn_mat3_tmul_vec(t->R[i], w));
    char name[32];
    name_of(i, name);
    const int adr = sn_model_joint_first(t->m, sn_model_body_find(t->m, name));
    memcpy(sn_state_q(t->s) + adr, &q, sizeof q);
    memcpy(sn_state_qd(t->s) + adr, &qd, sizeof qd);
  }
}

static sni_aba_in masses(const setup *t) {
  return (sni_aba_in){.mass = t->sim->d.mass, .joint_matrix = t->sim->d.armature};
}

/* Ties of the knots, asked for accelerations, and what moves the tree without them. */
static void ask_accelerations(setup *t) {
  sn_sim *sim = t->sim;
  sni_dynamics *d = &sim->d;
  const double *q = sn_state_q(t->s), *qd = sn_state_qd(t->s);
  const sn_vec3 g = json_vec3(t->root, "gravity");
  int bad;
  sni_dynamics_kinematics(d, q, qd);
  sni_rows_eval(&sim->rows, 0, 0, q, qd);
  sni_ties_clear(t->ties);
  sni_ties_add_rows(t->ties, &sim->rows, NULL, 0);
  sni_aba_in in = masses(t);
  in.gravity = g;
  sni_inverse(&sim->m->tree, &in, &d->w, d->zero, t->b, sim->F);
  for (int k = 0; k < NV; k++) {
    t->b[k] = -t->b[k];
  }
  for (int i = 0; i < sim->m->tree.nbody; i++) {
    d->w.a[i].v += sni_lane_from(g);
  }
  sni_ties_measure(t->ties, d->zero, t->ties->c);
  for (int i = 0; i < L; i++) {
    t->ties->c[i] = -t->ties->c[i] - sim->rows.row[i].bias;
    t->ties->inverse[i] = 1; /* plain conjugate gradients */
    t->ties->lambda[i] = 0;
  }
  t->ties->in = masses(t);
  t->ties->precision = 1e-12;
  t->ties->iterations = 100;
  CHECK(sni_ties_structured.factorise(t->ties, NULL, NULL, &bad) == SN_OK, "body %d", bad);
}

static setup set_up(void) {
  setup t = {.doc = json_read("vectors/ladder_2_3.json")};
  t.root = sni_doc_root(t.doc);
  sn_builder *b = sn_builder_create();
  for (int i = 0; i < N; i++) {
    add_bar(&t, b, i);
  }
  for (int k = 0; k < L / 3; k++) {
    add_knot(&t, b, k);
  }
  sn_builder_set_gravity(b, json_vec3(t.root, "gravity"));
  t.m = test_finish(b);
  sn_options o = sn_options_default();
  o.method = "structured";
  t.sim = test_sim(t.m, &o);
  t.s = test_state(t.m);
  t.ties = &((sni_structured *)t.sim->method_work)->ties;
  set_state(&t);
  ask_accelerations(&t);
  return t;
}

static void tear_down(setup *t) {
  sn_state_free(&t->s);
  sn_sim_free(&t->sim);
  sn_model_free(&t->m);
  sni_doc_free(&t->doc);
}

static void expect(const sni_node *map, const char *key, const double *ours, int n) {
  double theirs[6 * N] = {0}, *room = n <= 6 * N ? theirs : calloc((size_t)n, sizeof *room);
  const int got = json_numbers(map, key, room, n);
  CHECK(got == n, "'%s' has %d numbers, not %d", key, got, n);
  const double e = largest_difference(ours, room, n) / largest(room, n);
  print_message("  %-12s %.2e\n", key, e);
  CHECK(e < TOLERANCE, "'%s' is off by %g of its largest number", key, e);
  if (room != theirs) {
    free(room);
  }
}

TEST(the_pose_is_theirs) {
  setup t = set_up();
  double x[3 * N];
  for (int i = 0; i < N; i++) {
    char name[32];
    name_of(i, name);
    const sni_link *l = &t.sim->d.w.link[sn_model_body_find(t.m, name)];
    const sn_vec3 com = sn_vec3_sub(sni_lane_vec3(l->o), sn_mat3_mul_vec(t.R[i], t.to_child[i]));
    memcpy(x + 3 * i, &com, sizeof com);
  }
  expect(t.root, "x", x, 3 * N);
  tear_down(&t);
}

TEST(products_give_the_reduced_matrix) {
  setup t = set_up();
  double A[L * L], unit[L] = {0};
  for (int j = 0; j < L; j++) {
    unit[j] = 1;
    sni_ties_mul_transposed(t.ties, unit, t.ties->y);
    sni_ties_measure(t.ties, t.ties->y, A + L * j); /* symmetric: a row is a column */
    unit[j] = 0;
  }
  expect(t.root, "Ahat", A, L * L);
  tear_down(&t);
}

/* Their forces push along the rows, ours resist. */
static void negate(const double *x, int n, double *out) {
  for (int k = 0; k < n; k++) {
    out[k] = -x[k];
  }
}

TEST(the_tree_alone_leaves_the_reduced_right_hand_side) {
  setup t = set_up();
  double x[NV], r[L];
  sni_ties_respond(t.ties, t.b, t.ties->lambda, x);
  sni_ties_leave(t.ties, x, t.ties->lambda, t.ties->r);
  negate(t.ties->r, L, r);
  expect(t.root, "bhat", r, L);
  tear_down(&t);
}

TEST(iterates_are_those_of_conjugate_gradients) {
  setup t = set_up();
  const sni_node *list = json_get(t.root, "cg_on_Ahat");
  for (int k = 1; k <= (int)sni_node_count(list); k++) {
    double x[NV], lambda[L];
    ask_accelerations(&t);
    t.ties->iterations = k;
    sni_ties_structured.solve(t.ties, NULL, t.b, x);
    CHECK(t.ties->spent == k, "%d iterations instead of %d", t.ties->spent, k);
    negate(t.ties->lambda, L, lambda);
    const sni_node *theirs = sni_node_at(list, (size_t)k - 1);
    expect(theirs, "lam_l", lambda, L);
    const double left = json_get_number(theirs, "res_inf");
    CHECK(fabs(t.ties->residual - left) < 1e-10, "iteration %d: residual %g, not %g", k,
          t.ties->residual, left);
  }
  tear_down(&t);
}

TEST(forces_and_accelerations) {
  setup t = set_up();
  double x[NV], lambda[L], reaction[3 * N], acceleration[6 * N], tau[NV];
  sni_ties_structured.solve(t.ties, NULL, t.b, x);
  negate(t.ties->lambda, L, lambda);
  expect(t.root, "lambda_l", lambda, L);
  sni_dynamics *d = &t.sim->d;
  d->use_wrench = false;
  for (int i = 0; i < L; i++) {
    sni_rows_push(&t.sim->rows, i, lambda[i]);
  }
  sni_aba_in in = masses(&t);
  in.gravity = json_vec3(t.root, "gravity");
  in.use_wrench = true;
  sni_inverse(&t.m->tree, &in, &d->w, x, tau, t.sim->F);
  for (int i = 0; i < N; i++) {
    char name[32];
    name_of(i, name);
    const int body = sn_model_body_find(t.m, name);
    memcpy(reaction + 3 * i, &t.sim->F[body].v, sizeof(sn_vec3));
    const sn_vec6 a = sni_lane6_vec6(d->w.a[body]);
    const sn_vec3 w = sni_lane_vec3(d->w.link[body].w);
    const sn_vec3 c = sn_vec3_neg(sn_mat3_mul_vec(t.R[i], t.to_child[i]));
    sn_vec3 com = sn_vec3_add(a.v, json_vec3(t.root, "gravity"));
    com = sn_vec3_add(com, sn_vec3_cross(a.w, c));
    com = sn_vec3_add(com, sn_vec3_cross(w, sn_vec3_cross(w, c)));
    memcpy(acceleration + 6 * i, &com, sizeof com);
    memcpy(acceleration + 6 * i + 3, &a.w, sizeof a.w);
  }
  expect(t.root, "lambda_a", reaction, 3 * N);
  expect(t.root, "acceleration", acceleration, 6 * N);
  tear_down(&t);
}

int main(void) {
  RUN_TESTS(T(the_pose_is_theirs), T(products_give_the_reduced_matrix),
            T(the_tree_alone_leaves_the_reduced_right_hand_side),
            T(iterates_are_those_of_conjugate_gradients), T(forces_and_accelerations));
}
