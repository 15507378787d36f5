/* How the forces of springs change with the motion: the terms that implicit methods put into their
 * matrix, against vectors, differences, and what must hold for every tangent.
 *
 * The terms are in world axes at the origins of the two bodies: -K = sum k p p^T over (phi_a,
 * phi_b).
 *
 * Differences are of fourth order.  Their step is a thousandth of the spring's length l, or of 1 if
 * that is less: the force turns as its line does, so it is the motion of the ends against l that
 * counts, x <= 1.4e-3 with arms up to 1.4.  Truncation is x^4/30 times the fifth derivative in
 * units of l, up to 5!: 1.5e-11.  Rounding of the ends' places, 1.5 eps 3/(1e-3 l), is 1e-11 at l =
 * 0.1. So 1e-10 of the largest entry.  (A step that does not know l leaves 1.4e-9 at l = 0.16.) */
#include "redmax.h"
#include "vectors.h"

enum { N = 12, TERMS = 64 };
#define FD_STEP      1e-3
#define FD_TOLERANCE 1e-10

/* ---- one spring between two bodies; body -1 is the ground ---- */

typedef struct element {
  const sni_force_ops *ops;
  sni_force force;
  double param[8];
  sn_se3 E[2];
  sn_vec6 phi[2]; /* world axes */
} element;

static int param_index(const sni_force_ops *ops, const char *key) {
  for (int k = 0; k < ops->nparam; k++) {
    if (strcmp(ops->param_key[k], key) == 0) {
      return k;
    }
  }
  CHECK(false, "the force has no '%s'", key);
  return -1;
}

static element spring_element(double k, double d, double L) {
  element e = {.ops = sni_force_kind(sni_force_kind_find("spring")),
               .force = {.active = -1, .body = {0, 1}},
               .E = {sn_se3_identity(), sn_se3_identity()}};
  e.param[param_index(e.ops, "stiffness")] = k;
  e.param[param_index(e.ops, "damping")] = d;
  e.param[param_index(e.ops, "rest_length")] = L;
  return e;
}

/* Ends up to 2 apart on bodies that stand anyhow; ground: which side is fixed, -1: none. */
static element random_element(uint64_t *seed, double k, double d, double L, int ground) {
  element e = spring_element(k, d, L);
  for (int side = 0; side < 2; side++) {
    e.E[side] = random_pose(seed, 1, 2);
    e.phi[side].w = random_vec3(seed, 2);
    e.phi[side].v = random_vec3(seed, 2);
    e.force.at[side] = random_vec3(seed, 0.8);
    if (side == ground) {
      e.force.body[side] = -1;
      e.E[side] = sn_se3_identity();
      e.phi[side] = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
    }
  }
  return e;
}

static double length_of(const element *e) {
  const sn_vec3 a = sn_se3_point(e->E[0], e->force.at[0]),
                b = sn_se3_point(e->E[1], e->force.at[1]);
  return sn_vec3_norm(sn_vec3_sub(b, a));
}

static sni_force_eval eval_of(const element *e, sn_vec6 *wrench, bool without_damping) {
  return (sni_force_eval){
      .E_wb = e->E, .phi = e->phi, .wrench = wrench, .without_damping = without_damping};
}

/* The 12 numbers of the wrenches, in world axes at the origins. */
static void wrench_of(const element *e, bool without_damping, double *out) {
  sn_vec6 wrench[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
  const sni_force_eval eval = eval_of(e, wrench, without_damping);
  e->ops->apply(&eval, &e->force, e->param);
  put_six(wrench[0], out);
  put_six(wrench[1], out + 6);
}

/* p of a term over (phi_a, phi_b); what is said of the ground does not count. */
static void row_of(const sni_term *term, double *p) {
  memset(p, 0, N * sizeof *p);
  for (int side = 0; side < 2; side++) {
    if (term->body[side] >= 0) {
      put_six(term->p[side], p + 6 * term->body[side]);
    }
  }
}

/* -K and D, from the terms. */
static void tangent_of(const element *e, sni_tangent tangent, double *K, double *D) {
  sni_term term[TERMS];
  sn_vec6 unused[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
  const sni_force_eval eval = eval_of(e, unused, true);
  const int n = e->ops->tangent(&eval, &e->force, e->param, tangent, term);
  CHECK(n <= TERMS, "%d terms", n);
  memset(K, 0, N * N * sizeof *K);
  memset(D, 0, N * N * sizeof *D);
  for (int k = 0; k < n; k++) {
    double p[N];
    row_of(&term[k], p);
    dense_add_square(N, term[k].k, p, K);
    dense_add_square(N, term[k].d, p, D);
  }
}

/* From world axes to the bodies' own: X^T A X with X = diag(R_a, R_a, R_b, R_b). */
static void to_body_axes(const element *e, double *A) {
  double X[N * N] = {0}, AX[N * N] = {0}, out[N * N] = {0};
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < 3; j++) {
      X[i * N + i / 3 * 3 + j] = e->E[i / 6].R.m[i % 3][j];
    }
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < N; k++) {
        AX[i * N + j] += A[i * N + k] * X[k * N + j];
      }
    }
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < N; k++) {
        out[i * N + j] += X[k * N + i] * AX[k * N + j];
      }
    }
  }
  memcpy(A, out, sizeof out);
}

/* ---- differences ---- */

/* The element moved by s along coordinate k.  In body axes: along the twist e_k of the body's own
 * frame.  In world axes: o + s e_k, or turned about o. */
static element displaced(const element *e, int k, double s, bool body_axes) {
  element moved = *e;
  sn_se3 *E = &moved.E[k / 6];
  double x[6] = {0};
  x[k % 6] = s;
  const sn_vec3 turn = {x[0], x[1], x[2]}, shift = {x[3], x[4], x[5]};
  if (body_axes) {
    *E = sn_se3_mul(*E, sn_se3_exp((sn_vec6){turn, shift}));
  } else {
    *E = (sn_se3){sn_mat3_mul(sn_so3_exp(turn), E->R), sn_vec3_add(E->p, shift)};
  }
  return moved;
}

static void moved_wrench(const element *e, int k, double s, bool body_axes, double *w) {
  const element moved = displaced(e, k, s, body_axes);
  wrench_of(&moved, true, w);
  for (int i = 0; body_axes && i < 4; i++) {
    const sn_vec3 own =
        sn_mat3_tmul_vec(moved.E[i / 2].R, (sn_vec3){w[3 * i], w[3 * i + 1], w[3 * i + 2]});
    memcpy(w + 3 * i, (double[3]){own.x, own.y, own.z}, 3 * sizeof *w);
  }
}

/* -K: minus the symmetric part of the derivative of the wrenches. */
static void differences(const element *e, bool body_axes, double *K) {
  const double step = FD_STEP * fmin(1, length_of(e));
  memset(K, 0, N * N * sizeof *K);
  for (int k = 0; k < N; k++) {
    if (e->force.body[k / 6] < 0) {
      continue;
    }
    static const double at[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
    for (int j = 0; j < 4; j++) {
      double w[N];
      moved_wrench(e, k, at[j] * step, body_axes, w);
      for (int i = 0; i < N; i++) {
        K[i * N + k] -= weight[j] * w[i] / (12 * step);
      }
    }
  }
  /* nobody asks for the wrench on the ground */
  for (int i = 0; i < N * N; i++) {
    K[i] = e->force.body[i / N / 6] < 0 ? 0 : K[i];
  }
  dense_symmetrise(N, K);
}

/* ---- vectors ---- */

static void expect(const char *what, int spring, const double *ours, const double *theirs, int n) {
  const double e = largest_difference(ours, theirs, n) / largest(theirs, n);
  print_message("  spring %d  %-10s %.2e\n", spring, what, e);
  CHECK(e <= tol(1e-12), "spring %d: %s is off by %g of its largest number", spring, what, e);
}

/* springs.json: k and d there are forces at 100 % strain, matrices in the axes of the bodies. */
TEST(terms_reproduce_the_vectors) {
  sni_doc *doc = vectors_open("springs.json");
  const sni_node *list = sni_node_get(sni_doc_root(doc), "springs");
  CHECK(sni_node_count(list) == 3, "%d springs", (int)sni_node_count(list));
  for (int s = 0; s < (int)sni_node_count(list); s++) {
    const sni_node *node = sni_node_at(list, (size_t)s);
    const double L = vectors_number(node, "L");
    element e = spring_element(vectors_number(node, "k") / L, vectors_number(node, "d") / L, L);
    e.E[0] = vectors_pose(sni_node_get(node, "E1"));
    e.E[1] = vectors_pose(sni_node_get(node, "E2"));
    e.force.at[0] = vectors_vec3(node, "x1");
    e.force.at[1] = vectors_vec3(node, "x2");
    double phi[N], elastic[N], damping[N], w[N], K[N * N], D[N * N];
    vectors_read(sni_node_get(node, "phi1"), 6, phi);
    vectors_read(sni_node_get(node, "phi2"), 6, phi + 6);
    for (int side = 0; side < 2; side++) {
      const double *x = phi + 6 * side;
      e.phi[side] = sn_vec6_rotate(e.E[side].R, (sn_vec6){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}});
    }

    /* the wrenches, without damping and with */
    vectors_read(sni_node_get(node, "w_elastic"), N, elastic);
    vectors_read(sni_node_get(node, "w_damping"), N, damping);
    for (int with = 0; with < 2; with++) {
      wrench_of(&e, !with, w);
      double all[N];
      for (int i = 0; i < 4; i++) {
        const sn_vec3 own =
            sn_mat3_tmul_vec(e.E[i / 2].R, (sn_vec3){w[3 * i], w[3 * i + 1], w[3 * i + 2]});
        memcpy(w + 3 * i, (double[3]){own.x, own.y, own.z}, 3 * sizeof *w);
      }
      for (int i = 0; i < N; i++) {
        all[i] = elastic[i] + (with ? damping[i] : 0);
      }
      expect(with ? "w and d" : "w", s, w, all, N);
    }

    /* the matrices; ours is -K */
    double material[N * N], geometric[N * N], turning[N * N], theirs[N * N];
    vectors_read(sni_node_get(node, "K_material"), N * N, material);
    vectors_read(sni_node_get(node, "K_geometric"), N * N, geometric);
    vectors_read(sni_node_get(node, "K_bodyframe_nonsym"), N * N, turning);
    dense_symmetrise(N, turning);
    for (int i = 0; i < N * N; i++) {
      material[i] *= -1;
      geometric[i] = material[i] - geometric[i] - turning[i];
    }
    tangent_of(&e, SNI_TANGENT_MATERIAL, K, D);
    to_body_axes(&e, K);
    expect("material", s, K, material, N * N);
    tangent_of(&e, SNI_TANGENT_EXACT, K, D);
    to_body_axes(&e, K);
    to_body_axes(&e, D);
    expect("exact", s, K, geometric, N * N);
    vectors_read(sni_node_get(node, "D"), N * N, theirs);
    expect("D", s, D, theirs, N * N);
  }
  sni_doc_free(&doc);
}

/* ---- differences ---- */

typedef struct shape {
  const char *what;
  double rest; /* of its length; < 0: zero length */
} shape;
static const shape shapes[] = {{"tension", 0.6}, {"slack", 1}, {"compression", 1.7}, {"zero", -1}};

/* Every shape, with both ends on bodies and with either on the ground. */
static element sample(unsigned seed, int shape_index) {
  uint64_t random = seed;
  const double k = pow(10, test_random(&random, 0, 4)), d = test_random(&random, 0, 5);
  element e = random_element(&random, k, d, 0, (int)(seed % 3) - 1);
  const double rest = shapes[shape_index].rest;
  e.param[param_index(e.ops, "rest_length")] = rest < 0 ? 0 : rest * length_of(&e);
  return e;
}

TEST(exact_is_the_symmetric_part_of_the_derivative_in_body_axes) {
  double worst = 0;
  for (int s = 0; s < 4; s++) {
    for (unsigned seed = 0; seed < 60; seed++) {
      const element e = sample(seed, s);
      double K[N * N], D[N * N], fd[N * N];
      tangent_of(&e, SNI_TANGENT_EXACT, K, D);
      to_body_axes(&e, K);
      differences(&e, true, fd);
      const double scale = largest(fd, N * N);
      const double error = largest_difference(K, fd, N * N) / scale;
      CHECK(error < FD_TOLERANCE, "%s, seed %u: off by %g", shapes[s].what, seed, error);
      worst = fmax(worst, error);
    }
  }
  print_message("  exact against differences: %.1e\n", worst);
}

/* Springs that are short against their arms, where the differences are at their worst: rounding
 * grows with 1/l. */
TEST(short_springs) {
  for (int s = 0; s < 4; s++) {
    for (unsigned seed = 0; seed < 30; seed++) {
      for (int power = -3; power <= -1; power++) {
        element e = sample(seed, s);
        if (e.force.body[1] < 0) {
          continue;
        }
        /* b's end goes to within l of a's */
        uint64_t random = seed;
        sn_vec3 away = random_vec3(&random, 1);
        const double l = pow(10, power);
        away = sn_vec3_scale(away, l / sn_vec3_norm(away));
        const sn_vec3 a = sn_se3_point(e.E[0], e.force.at[0]);
        e.force.at[1] = sn_se3_point(sn_se3_inverse(e.E[1]), sn_vec3_add(a, away));
        const double rest = shapes[s].rest;
        e.param[param_index(e.ops, "rest_length")] = rest < 0 ? 0 : rest * l;
        double K[N * N], D[N * N], fd[N * N];
        tangent_of(&e, SNI_TANGENT_EXACT, K, D);
        to_body_axes(&e, K);
        differences(&e, true, fd);
        const double error = largest_difference(K, fd, N * N) / largest(fd, N * N);
        CHECK(error < FD_TOLERANCE * (1 + 0.1 / l), "%s, seed %u, length %g: off by %g",
              shapes[s].what, seed, l, error);
      }
    }
  }
}

TEST(damping_is_the_derivative_by_velocities) {
  for (int s = 0; s < 4; s++) {
    for (unsigned seed = 0; seed < 60; seed++) {
      const element e = sample(seed, s);
      double K[N * N], D[N * N], fd[N * N] = {0}, with[N], without[N];
      for (int tangent = 0; tangent < 3; tangent++) {
        tangent_of(&e, (sni_tangent)tangent, K, D);
        for (int k = 0; k < N; k++) {
          if (e.force.body[k / 6] < 0) {
            continue;
          }
          double w[2][N];
          for (int sign = 0; sign < 2; sign++) { /* the force is linear in the velocities */
            element moved = e;
            double *x = (double *)&moved.phi[k / 6];
            x[k % 6] += sign ? -1 : 1;
            wrench_of(&moved, false, w[sign]);
          }
          for (int i = 0; i < N; i++) {
            fd[i * N + k] = e.force.body[i / 6] < 0 ? 0 : -0.5 * (w[0][i] - w[1][i]);
          }
        }
        const double scale = fmax(largest(fd, N * N), largest(K, N * N));
        const double error = largest_difference(D, fd, N * N) / scale;
        CHECK(error < 1e-12, "%s, seed %u, tangent %d: D is off by %g", shapes[s].what, seed,
              tangent, error);
      }
      /* damping acts through D alone where D is in the matrix */
      wrench_of(&e, false, with);
      wrench_of(&e, true, without);
      double phi[N], damping[N];
      put_six(e.phi[0], phi);
      put_six(e.phi[1], phi + 6);
      dense_mul(N, D, phi, damping);
      for (int i = 0; i < N; i++) {
        if (e.force.body[i / 6] >= 0) {
          const double error = fabs(without[i] - with[i] - damping[i]);
          CHECK(error < 1e-10 * (1 + largest(with, N)), "%s, seed %u: %d: %g of damping is left",
                shapes[s].what, seed, i, error);
        }
      }
    }
  }
}

/* ---- what the kinds of tangent are ---- */

/* material is k along the spring and nothing else; with zero length k in all directions. */
TEST(material_resists_stretching_only) {
  for (int s = 0; s < 4; s++) {
    for (unsigned seed = 0; seed < 20; seed++) {
      const element e = sample(seed, s);
      const double k = e.param[param_index(e.ops, "stiffness")];
      double K[N * N], D[N * N], expected[N * N] = {0};
      tangent_of(&e, SNI_TANGENT_MATERIAL, K, D);
      const sn_vec3 x[2] = {sn_se3_point(e.E[0], e.force.at[0]),
                            sn_se3_point(e.E[1], e.force.at[1])};
      const double l = length_of(&e);
      const sn_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
      const sn_vec3 n = sn_vec3_scale(sn_vec3_sub(x[1], x[0]), 1 / l);
      const bool zero = shapes[s].rest < 0;
      for (int c = 0; c < (zero ? 3 : 1); c++) {
        const sn_vec3 along = zero ? unit[c] : n;
        double p[N] = {0};
        for (int side = 0; side < 2; side++) {
          if (e.force.body[side] >= 0) {
            const sn_vec3 arm = sn_vec3_sub(x[side], e.E[side].p);
            const sn_vec6 rate = {sn_vec3_cross(arm, along), along};
            put_six(sn_vec6_scale(rate, side ? 1 : -1), p + 6 * side);
          }
        }
        dense_add_square(N, k, p, expected);
      }
      const double error = largest_difference(K, expected, N * N) / largest(expected, N * N);
      CHECK(error < 1e-13, "%s, seed %u: off by %g", shapes[s].what, seed, error);
    }
  }
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A += the part across the spring that clamping leaves out: T/l < 0 in all directions less n. */
static void add_across_of(const element *e, double *A) {
  const double k = e->param[param_index(e->ops, "stiffness")], l = length_of(e);
  const double T = k * (l - e->param[param_index(e->ops, "rest_length")]);
  const sn_vec3 x[2] = {sn_se3_point(e->E[0], e->force.at[0]),
                        sn_se3_point(e->E[1], e->force.at[1])};
  const sn_vec3 n = sn_vec3_scale(sn_vec3_sub(x[1], x[0]), 1 / l);
  const sn_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int c = 0; c < 3; c++) {
    const sn_vec3 direction = sn_vec3_addscaled(unit[c], -sn_vec3_dot(unit[c], n), n);
    double p[N] = {0};
    for (int side = 0; side < 2; side++) {
      if (e->force.body[side] >= 0) {
        const sn_vec3 arm = sn_vec3_sub(x[side], e->E[side].p);
        const sn_vec6 rate = {sn_vec3_cross(arm, direction), direction};
        put_six(sn_vec6_scale(rate, side ? 1 : -1), p + 6 * side);
      }
    }
    dense_add_square(N, fmin(T / l, 0), p, A);
  }
}

/* clamped: the symmetric part W of the derivative in world axes, without what pushes across a
 * squeezed spring, |T|/l in two directions.  So it is never below W, and it is W in tension. */
TEST(clamped_is_the_derivative_without_what_pushes_across) {
  double worst = 0;
  for (int s = 0; s < 4; s++) {
    for (unsigned seed = 0; seed < 60; seed++) {
      const element e = sample(seed, s);
      double K[N * N], D[N * N], W[N * N], over[N * N], least, most;
      tangent_of(&e, SNI_TANGENT_CLAMPED, K, D);
      differences(&e, false, W);
      const double scale = largest(W, N * N);
      for (int i = 0; i < N * N; i++) {
        over[i] = K[i] - W[i];
      }
      dense_range(N, over, &least, &most);
      CHECK(least > -FD_TOLERANCE * scale, "%s, seed %u: below the derivative by %g",
            shapes[s].what, seed, -least);

      add_across_of(&e, over);
      const double error = largest(over, N * N) / scale;
      CHECK(error < FD_TOLERANCE, "%s, seed %u: off by %g", shapes[s].what, seed, error);
      worst = fmax(worst, error);
    }
  }
  print_message("  clamped against differences: %.1e\n", worst);
}

/* What the step puts into its matrix, C: across the spring only what resists, and of the levers
 * only what resists.  A step with C takes energy as long as C is not below half of the potential's
 * second derivative W,
 *
 *     E1 - E0 <= -|v1 - v0|^2_M / 2 - h^2 v1^T (C - W/2) v1,
 *
 * so C >= W is the bound, and the whole W without its negative eigenvalues, W+, meets it as C does.
 * C is clamped part by part, and is never softer: its eigenvalues are in order at least those of
 * W+, as those of any matrix that is neither below W nor below 0.  What it costs is the surplus of
 * its trace, and so of damping: nothing in a slack spring, a quarter in one that is squeezed to 60
 * %. */
TEST(clamped_by_parts_bounds_the_whole) {
  for (int s = 0; s < 4; s++) {
    double surplus = 0;
    for (unsigned seed = 0; seed < 200; seed++) {
      const element e = sample(seed, s);
      double C[N * N] = {0}, W[N * N], D[N * N], by_parts[N], whole[N], over[N * N], least, most;
      sni_term term[TERMS];
      sn_vec6 unused[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
      const sni_force_eval eval = eval_of(&e, unused, true);
      const int n = e.ops->tangent(&eval, &e.force, e.param, SNI_TANGENT_CLAMPED, term);
      for (int k = 0; k < n; k++) {
        double p[N];
        row_of(&term[k], p);
        dense_add_square(N, fmax(term[k].k, 0), p, C);
      }
      /* the whole: clamped with its levers as they are, less what pushes across */
      tangent_of(&e, SNI_TANGENT_CLAMPED, W, D);
      add_across_of(&e, W);
      for (int i = 0; i < N * N; i++) {
        over[i] = C[i] - W[i];
      }
      const double scale = largest(W, N * N);
      dense_range(N, over, &least, &most);
      CHECK(least > -1e-13 * scale, "%s, seed %u: below the derivative by %g", shapes[s].what, seed,
            -least);
      dense_eigen(N, C, by_parts, NULL);
      dense_eigen(N, W, whole, NULL);
      qsort(by_parts, N, sizeof by_parts[0], by_size);
      qsort(whole, N, sizeof whole[0], by_size);
      double sums[2] = {0, 0};
      for (int i = 0; i < N; i++) {
        const double clamped = fmax(whole[i], 0);
        CHECK(by_parts[i] > clamped - 1e-13 * scale, "%s, seed %u: eigenvalue %d is %g, below %g",
              shapes[s].what, seed, i, by_parts[i], clamped);
        sums[0] += by_parts[i];
        sums[1] += clamped;
      }
      surplus = fmax(surplus, sums[0] / sums[1] - 1);
    }
    print_message("  %-11s by parts is up to %.0f %% more than the whole\n", shapes[s].what,
                  100 * surplus);
    CHECK(surplus < 0.5, "%s: %g more", shapes[s].what, surplus);
  }
}

/* A method may sum up the levers of many forces on a body, so they stand on one body's turning
 * alone; and without them all resists. */
TEST(levers_are_apart) {
  for (int s = 0; s < 4; s++) {
    for (unsigned seed = 0; seed < 60; seed++) {
      const element e = sample(seed, s);
      sni_term term[TERMS];
      sn_vec6 unused[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
      const sni_force_eval eval = eval_of(&e, unused, true);
      const int n = e.ops->tangent(&eval, &e.force, e.param, SNI_TANGENT_CLAMPED, term);
      for (int k = 0; k < n; k++) {
        const sn_vec6 *p = term[k].p;
        if (term[k].part == SNI_PART_LEVER) {
          CHECK(sn_vec3_norm(p[0].v) == 0 && sn_vec3_norm(p[1].v) == 0 && term[k].d == 0 &&
                    (sn_vec3_norm(p[0].w) == 0 || sn_vec3_norm(p[1].w) == 0),
                "%s, seed %u: term %d is no lever", shapes[s].what, seed, k);
        } else {
          CHECK(term[k].k >= 0 && term[k].d >= 0, "%s, seed %u: term %d pushes with %g",
                shapes[s].what, seed, k, term[k].k);
        }
      }
    }
  }
}

/* Where the pull is along the arm up to rounding, two ways of finding the axes of the lever meet.
 */
TEST(levers_along_the_pull_are_smooth) {
  for (int power = -16; power <= -1; power++) {
    for (int way = -1; way <= 1; way += 2) {
      element e = spring_element(100, 0, 0.5);
      e.force.body[0] = -1;
      e.force.at[0] = (sn_vec3){5.0 * way, 0, 0};
      e.force.at[1] = (sn_vec3){1, pow(10, power), 0.3 * pow(10, power)};
      double K[N * N], D[N * N], W[N * N];
      tangent_of(&e, SNI_TANGENT_EXACT, K, D);
      to_body_axes(&e, K);
      differences(&e, true, W);
      const double error = largest_difference(K, W, N * N) / largest(W, N * N);
      CHECK(error < FD_TOLERANCE, "1e%d, way %d: off by %g", power, way, error);
    }
  }
}

/* Squeezed to a point there is no direction: no force and no terms, and nothing that is not finite;
 * a spring of zero length needs no direction. */
TEST(springs_squeezed_to_a_point) {
  for (int zero = 0; zero < 2; zero++) {
    for (int tangent = 0; tangent < 3; tangent++) {
      element e = spring_element(100, 3, zero ? 0 : 0.5);
      e.force.at[0] = e.force.at[1] = (sn_vec3){0.1, 0.2, 0.3};
      double K[N * N], D[N * N], w[N];
      wrench_of(&e, false, w);
      tangent_of(&e, (sni_tangent)tangent, K, D);
      CHECK(largest(w, N) == 0, "there is a force of %g", largest(w, N));
      CHECK(isfinite(largest(K, N * N)) && isfinite(largest(D, N * N)), "not finite");
      CHECK((largest(K, N * N) > 0) == zero, "the stiffness is %g", largest(K, N * N));
    }
  }
}

/* ---- springs in joints ---- */

/* A tree with every kind of joint, and springs in them. */
typedef struct joints {
  random_tree tree;
  sn_model *m;
  sn_sim *sim;
  sn_state *s;
  const sni_tree *t;
} joints;

static joints *joints_make(unsigned seed) {
  joints *f = calloc(1, sizeof *f);
  random_tree_make(&f->tree, seed, 36, TREE_SPRINGS);
  f->m = random_tree_build(&f->tree);
  f->sim = test_sim(f->m, NULL);
  f->s = random_tree_state(f->m, seed);
  f->t = &f->m->tree;
  return f;
}

static void joints_free(joints *f) {
  sn_state_free(&f->s);
  sn_sim_free(&f->sim);
  sn_model_free(&f->m);
  free(f);
}

typedef struct joint_spring {
  double q[SN_NV_MAX], qd[SN_NV_MAX], q_to[SN_NV_MAX], qd_to[SN_NV_MAX];
  double stiffness[SN_NV_MAX], damping[SN_NV_MAX];
} joint_spring;

static sni_spring spring_of(const joint_spring *x) {
  return (sni_spring){.q = x->q,
                      .qd = x->qd,
                      .q_to = x->q_to,
                      .qd_to = x->qd_to,
                      .stiffness = x->stiffness,
                      .damping = x->damping};
}

static joint_spring random_joint_spring(const joints *f, int i, uint64_t *seed) {
  joint_spring x = {{0}, {0}, {0}, {0}, {0}, {0}};
  const int adr = f->t->vadr[i], nv = f->t->vadr[i + 1] - adr;
  memcpy(x.q, sn_state_q(f->s) + adr, (size_t)nv * sizeof(double));
  memcpy(x.qd, sn_state_qd(f->s) + adr, (size_t)nv * sizeof(double));
  for (int c = 0; c < nv; c++) {
    x.q_to[c] = x.q[c] + test_random(seed, -0.8, 0.8);
    x.qd_to[c] = test_random(seed, -1, 1);
    x.stiffness[c] = test_random(seed, 1, 9);
    x.damping[c] = test_random(seed, 1, 9);
  }
  return x;
}

static double joint_force(const joints *f, int i, const joint_spring *x, double *tau) {
  const sni_spring spring = spring_of(x);
  memset(tau, 0, SN_NV_MAX * sizeof *tau);
  return sni_joint_spring(sni_tree_joints(f->t), i, &spring, tau);
}

static void joint_matrix(const joints *f, int i, const joint_spring *x, double h, double *out) {
  const int nv = f->t->joint[i].nv;
  const sni_spring spring = spring_of(x);
  memset(out, 0, SN_NV_MAX * SN_NV_MAX * sizeof *out);
  sni_joint_spring_matrix(sni_tree_joints(f->t), i, &spring, h, out, nv);
}

/* The matrix without stiffness is h times minus the derivative of the force by the rates, which is
 * linear in them. */
static void check_joint_damping(const joints *f, int i, joint_spring x, unsigned seed) {
  const int nv = f->t->joint[i].nv;
  double D[SN_NV_MAX * SN_NV_MAX], tau[2][SN_NV_MAX];
  memset(x.stiffness, 0, sizeof x.stiffness);
  joint_matrix(f, i, &x, 0.5, D);
  for (int c = 0; c < nv; c++) {
    for (int sign = 0; sign < 2; sign++) {
      joint_spring moved = x;
      moved.qd[c] += sign ? -1 : 1;
      joint_force(f, i, &moved, tau[sign]);
    }
    for (int r = 0; r < nv; r++) {
      const double fd = -0.5 * (tau[0][r] - tau[1][r]);
      CHECK(fabs(2 * D[r * nv + c] - fd) < 1e-12 * 100, "%s, seed %u: D(%d, %d) is %g, not %g",
            sn_model_joint_type(f->m, i), seed, r, c, 2 * D[r * nv + c], fd);
    }
  }
}

/* The matrix without damping is h^2 g g^T for a spring on coordinate c alone, g the gradient of its
 * deflection sqrt(2 V): the part of the derivative that does not vanish with the deflection. */
static void check_joint_stiffness(const joints *f, int i, joint_spring x, unsigned seed) {
  const int nv = f->t->joint[i].nv;
  double K[SN_NV_MAX * SN_NV_MAX], tau[SN_NV_MAX];
  memset(x.damping, 0, sizeof x.damping);
  for (int c = 0; c < nv; c++) {
    memset(x.stiffness, 0, sizeof x.stiffness);
    x.stiffness[c] = 1;
    const double deflection = sqrt(2 * joint_force(f, i, &x, tau));
    if (deflection < 0.05) {
      continue; /* too near to the kink of the root */
    }
    double g[SN_NV_MAX] = {0};
    for (int k = 0; k < nv; k++) {
      static const double at[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
      for (int j = 0; j < 4; j++) {
        joint_spring moved = x;
        moved.q[k] += at[j] * FD_STEP;
        g[k] += weight[j] * sqrt(2 * joint_force(f, i, &moved, tau)) / (12 * FD_STEP);
      }
    }
    joint_matrix(f, i, &x, 2, K);
    for (int r = 0; r < nv; r++) {
      for (int k = 0; k < nv; k++) {
        CHECK(fabs(K[r * nv + k] - 4 * g[r] * g[k]) < 1e-8, "%s, seed %u: K(%d, %d) is %g, not %g",
              sn_model_joint_type(f->m, i), seed, r, k, K[r * nv + k], 4 * g[r] * g[k]);
      }
    }
  }
}

/* At rest it is the whole derivative of the force by the coordinates. */
static void check_joint_stiffness_at_rest(const joints *f, int i, joint_spring x, unsigned seed) {
  const int nv = f->t->joint[i].nv;
  double K[SN_NV_MAX * SN_NV_MAX];
  memset(x.damping, 0, sizeof x.damping);
  memcpy(x.q_to, x.q, sizeof x.q_to);
  joint_matrix(f, i, &x, 1, K);
  for (int k = 0; k < nv; k++) {
    double fd[SN_NV_MAX] = {0};
    static const double at[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
    for (int j = 0; j < 4; j++) {
      joint_spring moved = x;
      double tau[SN_NV_MAX];
      moved.q[k] += at[j] * FD_STEP;
      joint_force(f, i, &moved, tau);
      for (int r = 0; r < nv; r++) {
        fd[r] -= weight[j] * tau[r] / (12 * FD_STEP);
      }
    }
    for (int r = 0; r < nv; r++) {
      CHECK(fabs(K[r * nv + k] - fd[r]) < 1e-8, "%s, seed %u: K(%d, %d) at rest is %g, not %g",
            sn_model_joint_type(f->m, i), seed, r, k, K[r * nv + k], fd[r]);
    }
  }
}

TEST(joint_springs_give_their_derivatives) {
  for (unsigned seed = 0; seed < 20; seed++) {
    joints *f = joints_make(seed);
    uint64_t random = seed;
    for (int i = 0; i < f->t->nbody; i++) {
      const joint_spring x = random_joint_spring(f, i, &random);
      check_joint_damping(f, i, x, seed);
      check_joint_stiffness(f, i, x, seed);
      check_joint_stiffness_at_rest(f, i, x, seed);
    }
    joints_free(f);
  }
}

int main(void) {
  RUN_TESTS(T(terms_reproduce_the_vectors),
            T(exact_is_the_symmetric_part_of_the_derivative_in_body_axes), T(short_springs),
            T(damping_is_the_derivative_by_velocities), T(material_resists_stretching_only),
            T(clamped_is_the_derivative_without_what_pushes_across),
            T(clamped_by_parts_bounds_the_whole), T(levers_are_apart),
            T(levers_along_the_pull_are_smooth), T(springs_squeezed_to_a_point),
            T(joint_springs_give_their_derivatives));
}
