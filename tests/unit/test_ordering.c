/* Graphs, elimination, and orders that meet demands: counted again by the book, node by node. */
#include "test.h"

#include "linear/ordering.h"

static int pick(uint64_t *seed, int n) {
  return (int)(test_random_u64(seed) % (uint64_t)n);
}

/* ---- graphs and elimination ---- */

typedef struct matrix { /* of booleans, n x n */
  int n;
  bool *at;
} matrix;

static matrix matrix_new(int n) {
  return (matrix){n, calloc((size_t)(n * n) + 1, 1)};
}

/* A graph of n nodes with pairs in both orders, repeated, and loops. */
static sni_graph random_graph(sni_arena *arena, int n, int pairs, uint64_t *seed, matrix *m) {
  int *row = calloc((size_t)pairs + 1, sizeof *row), *col = calloc((size_t)pairs + 1, sizeof *col);
  *m = matrix_new(n);
  for (int k = 0; k < pairs; k++) {
    const bool again = k > 0 && pick(seed, 4) == 0;
    row[k] = again ? col[k - 1] : pick(seed, n);
    col[k] = again ? row[k - 1] : pick(seed, n);
    if (row[k] != col[k]) {
      m->at[row[k] * n + col[k]] = m->at[col[k] * n + row[k]] = true;
    }
  }
  sni_graph g;
  CHECK(sni_graph_build(arena, n, pairs, row, col, &g, NULL) == SN_OK, "no graph");
  free(row);
  free(col);
  return g;
}

static void random_order(int n, int *order, uint64_t *seed) {
  for (int i = 0; i < n; i++) {
    const int j = pick(seed, i + 1);
    order[i] = i;
    order[i] = order[j];
    order[j] = i;
  }
}

TEST(a_graph_has_each_neighbour_once_in_order) {
  for (uint64_t s = 0; s < 200; s++) {
    uint64_t seed = s;
    sni_arena arena = {0};
    matrix m;
    const int n = 1 + pick(&seed, 30);
    const sni_graph g = random_graph(&arena, n, pick(&seed, 80), &seed, &m);
    for (int i = 0; i < n; i++) {
      int k = g.start[i];
      for (int j = 0; j < n; j++) {
        if (m.at[i * n + j]) {
          CHECK(k < g.start[i + 1] && g.adj[k] == j, "seed %d: %d, %d", (int)s, i, j);
          k++;
        }
      }
      CHECK(k == g.start[i + 1], "seed %d: node %d has too many", (int)s, i);
    }
    free(m.at);
    sni_arena_free(&arena);
  }
}

/* A caterpillar: a chain of nodes with a leaf each, all leaves eliminated first.  Postordered, no
 * leaf is more than one place from its node, and no node more than two from the next. */
TEST(small_subtrees_are_beside_their_parents) {
  enum { N = 50 };
  sni_arena arena = {0};
  int parent[2 * N], order[2 * N], at[2 * N];
  for (int i = 0; i < N; i++) {
    parent[i] = N + i;
    parent[N + i] = i + 1 < N ? N + i + 1 : -1;
    order[i] = i;
    order[N + i] = N + i;
  }
  CHECK(sni_postorder(&arena, 2 * N, parent, order, NULL) == SN_OK, "no postorder");
  for (int p = 0; p < 2 * N; p++) {
    at[order[p]] = p;
  }
  for (int i = 0; i < 2 * N; i++) {
    const int up = parent[i];
    CHECK(up < 0 || (at[up] > at[i] && at[up] <= at[i] + 2), "%d at %d, its parent at %d", i, at[i],
          up < 0 ? -1 : at[up]);
  }
  sni_arena_free(&arena);
}

/* Tree, columns and cost against the elimination of a dense matrix of booleans. */
TEST(elimination_is_counted_exactly) {
  for (uint64_t s = 0; s < 200; s++) {
    uint64_t seed = s;
    sni_arena arena = {0};
    matrix m;
    const int n = 1 + pick(&seed, 25);
    const sni_graph g = random_graph(&arena, n, pick(&seed, 60), &seed, &m);
    int size[25], order[25];
    random_order(n, order, &seed);
    for (int i = 0; i < n; i++) {
      size[i] = 1 + pick(&seed, 8);
    }
    sni_elimination e;
    CHECK(sni_eliminate(&arena, &g, size, order, &e, NULL) == SN_OK, "not eliminated");
    double nonzeros = 0, flops = 0;
    for (int p = 0; p < n; p++) {
      const int i = order[p];
      int below = 0, blocks = 0, parent = -1;
      for (int q = n - 1; q > p; q--) {
        if (m.at[i * n + order[q]]) {
          below += size[order[q]];
          blocks++;
          parent = q;
        }
      }
      CHECK(e.parent[p] == parent && e.below[p] == below && e.blocks[p] == blocks,
            "seed %d, column %d: parent %d, %d scalars, %d blocks, not %d, %d, %d", (int)s, p,
            e.parent[p], e.below[p], e.blocks[p], parent, below, blocks);
      for (int a = p + 1; a < n; a++) {
        for (int b = p + 1; b < n; b++) {
          const int j = order[a], k = order[b];
          m.at[j * n + k] |= j != k && m.at[i * n + j] && m.at[i * n + k];
        }
      }
      for (int c = 0; c < size[i]; c++) { /* scalar by scalar */
        const int l = size[i] - 1 - c + below;
        nonzeros += 1 + l;
        flops += 1 + l;               /* reciprocal, scaling     */
        for (int r = 0; r < l; r++) { /* lower triangle: a -= bc */
          flops += 2 * (r + 1);
        }
      }
    }
    CHECK(e.cost.nonzeros == nonzeros && e.cost.factor_flops == flops,
          "seed %d: %g non-zeros, %g flops, not %g, %g", (int)s, e.cost.nonzeros,
          e.cost.factor_flops, nonzeros, flops);

    /* postordered: a permutation, as much fill, and every subtree in one piece */
    CHECK(sni_postorder(&arena, n, e.parent, order, NULL) == SN_OK, "no postorder");
    sni_elimination after;
    CHECK(sni_eliminate(&arena, &g, size, order, &after, NULL) == SN_OK, "not eliminated");
    CHECK(after.cost.nonzeros == nonzeros && after.cost.factor_flops == flops, "seed %d", (int)s);
    int count[25] = {0};
    for (int p = 0; p < n; p++) {
      count[p]++;
      if (after.parent[p] >= 0) {
        count[after.parent[p]] += count[p];
      }
    }
    /* nodes of the subtree of p are p - count + 1 .. p */
    for (int p = 0; p < n; p++) {
      for (int q = p - count[p] + 1; q < p; q++) {
        int up = q;
        while (up >= 0 && up < p) {
          up = after.parent[up];
        }
        CHECK(up == p, "seed %d: %d is not under %d", (int)s, q, p);
      }
    }
    free(m.at);
    sni_arena_free(&arena);
  }
}

TEST(groups_are_neighbours_if_any_of_theirs_are) {
  uint64_t seed = 1;
  sni_arena arena = {0};
  matrix m;
  const int n = 30, groups = 7;
  const sni_graph g = random_graph(&arena, n, 40, &seed, &m);
  int group_of[30];
  matrix expected = matrix_new(groups);
  for (int i = 0; i < n; i++) {
    group_of[i] = pick(&seed, groups);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (m.at[i * n + j] && group_of[i] != group_of[j]) {
        expected.at[group_of[i] * groups + group_of[j]] = true;
      }
    }
  }
  sni_graph q;
  CHECK(sni_graph_quotient(&arena, &g, group_of, groups, &q, NULL) == SN_OK, "no graph");
  int edges = 0;
  for (int i = 0; i < groups * groups; i++) {
    edges += expected.at[i];
  }
  CHECK(q.start[groups] == edges, "%d edges, not %d", q.start[groups], edges);
  for (int i = 0; i < groups; i++) {
    for (int k = q.start[i]; k < q.start[i + 1]; k++) {
      CHECK(expected.at[i * groups + q.adj[k]], "%d and %d", i, q.adj[k]);
    }
  }
  free(m.at);
  free(expected.at);
  sni_arena_free(&arena);
}

/* ---- mechanisms ---- */

enum { NODE_MAX = 60000, PAIR_MAX = 200000 };

/* Bodies of 6, joints with a multiplier of 6 and rates, springs, loops. */
typedef struct mechanism {
  int n, bodies, pairs, rules, links;
  int size[NODE_MAX], row[PAIR_MAX], col[PAIR_MAX];
  int later[NODE_MAX], earlier[NODE_MAX], link[NODE_MAX], end_a[NODE_MAX], end_b[NODE_MAX];
  int body[NODE_MAX]; /* node of each body */
} mechanism;

static void couple(mechanism *m, int a, int b) {
  m->row[m->pairs] = a;
  m->col[m->pairs++] = b;
}

static int add_node(mechanism *m, int size) {
  m->size[m->n] = size;
  couple(m, m->n, m->n);
  return m->n++;
}

static void add_link(mechanism *m, int node, int a, int b) {
  m->link[m->links] = node;
  m->end_a[m->links] = a < 0 ? -1 : m->body[a];
  m->end_b[m->links++] = b < 0 ? -1 : m->body[b];
  for (int side = 0; side < 2; side++) {
    const int end = side == 0 ? a : b;
    if (end >= 0) {
      couple(m, node, m->body[end]);
    }
  }
}

/* A body on a joint with some rates; parent -1: on the ground. */
static int add_body(mechanism *m, int parent, int rates) {
  const int i = m->bodies++;
  m->body[i] = add_node(m, 6);
  const int lambda = add_node(m, 6);
  add_link(m, lambda, i, parent);
  if (rates > 0) {
    const int qd = add_node(m, rates);
    couple(m, lambda, qd);
    m->later[m->rules] = qd;
    m->earlier[m->rules++] = lambda;
  }
  return i;
}

static void add_spring(mechanism *m, int a, int b) {
  couple(m, m->body[a], m->body[b]);
}

static void add_loop(mechanism *m, int a, int b, int rows) {
  add_link(m, add_node(m, rows), a, b);
}

static sni_order_demands demands_of(const mechanism *m) {
  return (sni_order_demands){m->rules, m->later, m->earlier, m->links,
                             m->link,  m->end_a, m->end_b,   NULL};
}

static int find(int *leader, int i) {
  while (leader[i] != i) {
    i = leader[i];
  }
  return i;
}

/* The demands as ordering.h states them, checked for each link from nothing. */
static void check_demands(const mechanism *m, const int *order, const char *what) {
  const int n = m->n, ground = n;
  int *at = calloc((size_t)n + 1, sizeof *at), *forest = calloc((size_t)n + 1, sizeof *forest);
  int *real = calloc((size_t)n + 1, sizeof *real);
  for (int p = 0; p < n; p++) {
    at[order[p]] = p;
  }
  at[ground] = -1;
  for (int k = 0; k < m->rules; k++) {
    CHECK(at[m->later[k]] > at[m->earlier[k]], "%s: rule %d", what, k);
  }
  for (int k = 0; k < m->links; k++) {
    const int now = at[m->link[k]];
    for (int i = 0; i <= n; i++) {
      forest[i] = real[i] = i;
    }
    for (int e = 0; e < m->links; e++) {
      if (at[m->link[e]] < now) {
        const int a = m->end_a[e] < 0 ? ground : m->end_a[e];
        const int b = m->end_b[e] < 0 ? ground : m->end_b[e];
        forest[find(forest, at[a] < now ? a : ground)] = find(forest, at[b] < now ? b : ground);
        if (at[a] < now && at[b] < now) {
          real[find(real, a)] = find(real, b);
        }
      }
    }
    const int a = m->end_a[k] < 0 ? ground : m->end_a[k];
    const int b = m->end_b[k] < 0 ? ground : m->end_b[k];
    const bool done = at[a] < now && at[b] < now;
    if (find(forest, at[a] < now ? a : ground) != find(forest, at[b] < now ? b : ground)) {
      continue; /* one more edge of a forest */
    }
    CHECK(done && find(real, a) == find(real, b), "%s: link %d has no rank", what, k);
    for (int r = 0; r < m->rules; r++) {
      for (int e = 0; e < m->links; e++) {
        if (m->link[e] == m->earlier[r] && at[m->link[e]] < now) {
          const int end = m->end_a[e] < 0 || at[m->end_a[e]] > now ? m->end_b[e] : m->end_a[e];
          const bool in_ring = end >= 0 && find(real, end) == find(real, a);
          CHECK(!in_ring || at[m->later[r]] < now, "%s: link %d before rate %d", what, k, r);
        }
      }
    }
  }
  free(at);
  free(forest);
  free(real);
}

/* Orders m, and returns the non-zeros of L for each body. */
static double order_of(const mechanism *m, int *order) {
  sni_arena arena = {0};
  sni_graph g;
  CHECK(sni_graph_build(&arena, m->n, m->pairs, m->row, m->col, &g, NULL) == SN_OK, "no graph");
  const sni_order_demands demands = demands_of(m);
  sn_error err = {0};
  CHECK(sni_order(&g, m->size, &demands, order, &err) == SN_OK, "%s", err.text);
  bool *seen = calloc((size_t)m->n, sizeof *seen);
  for (int p = 0; p < m->n; p++) {
    CHECK(order[p] >= 0 && order[p] < m->n && !seen[order[p]], "not a permutation at %d", p);
    seen[order[p]] = true;
  }
  free(seen);
  bool good = false;
  CHECK(sni_order_check(m->n, &demands, order, &good, NULL) == SN_OK && good, "demands not met");
  sni_elimination e;
  CHECK(sni_eliminate(&arena, &g, m->size, order, &e, NULL) == SN_OK, "not eliminated");
  sni_arena_free(&arena);
  return e.cost.nonzeros / m->bodies;
}

static mechanism *mechanism_new(void) {
  mechanism *m = calloc(1, sizeof *m);
  CHECK(m != NULL, "no memory");
  return m;
}

TEST(orders_meet_the_demands_of_random_mechanisms) {
  mechanism *m = mechanism_new();
  int *order = calloc(NODE_MAX, sizeof *order);
  for (uint64_t s = 0; s < 300; s++) {
    uint64_t seed = s;
    memset(m, 0, sizeof *m);
    const int bodies = 1 + pick(&seed, 40);
    const bool chain = pick(&seed, 3) == 0;
    for (int i = 0; i < bodies; i++) {
      add_body(m, chain || i == 0 ? i - 1 : pick(&seed, i + 1) - 1, pick(&seed, 7));
    }
    for (int k = pick(&seed, bodies); k > 0 && bodies > 1; k--) {
      const int a = pick(&seed, bodies), b = (a + 1 + pick(&seed, bodies - 1)) % bodies;
      if (s % 2 == 0) {
        add_spring(m, a, b);
      }
      if (s % 3 == 0) {
        add_loop(m, a, pick(&seed, 5) == 0 ? -1 : b, 1 + pick(&seed, 6));
      }
    }
    order_of(m, order);
    char what[40];
    snprintf(what, sizeof what, "seed %d", (int)s);
    check_demands(m, order, what);
  }
  free(order);
  free(m);
}

/* Twelve rows on six columns: both links of a body before the bodies at their other ends. */
TEST(orders_without_rank_are_seen) {
  mechanism *m = mechanism_new();
  for (int i = 0; i < 3; i++) {
    add_body(m, i - 1, 1); /* nodes 3i: body, 3i + 1: multiplier, 3i + 2: rate */
  }
  const sni_order_demands demands = demands_of(m);
  const struct {
    int order[9];
    bool good;
  } cases[] = {{{0, 1, 2, 3, 4, 5, 6, 7, 8}, true},  {{6, 7, 8, 3, 4, 5, 0, 1, 2}, true},
               {{3, 4, 5, 7, 0, 1, 2, 6, 8}, false}, {{3, 7, 8, 6, 4, 5, 0, 1, 2}, true},
               {{1, 0, 2, 3, 4, 5, 6, 7, 8}, false}, {{0, 2, 1, 3, 4, 5, 6, 7, 8}, false},
               {{3, 4, 0, 6, 1, 7, 2, 5, 8}, true},  {{0, 1, 4, 3, 2, 5, 6, 7, 8}, false}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    bool good = !cases[k].good;
    CHECK(sni_order_check(9, &demands, cases[k].order, &good, NULL) == SN_OK, "case %zu", k);
    CHECK(good == cases[k].good, "case %zu is %s", k, good ? "taken" : "refused");
  }
  free(m);
}

/* ---- fill ---- */

static void make_chain(mechanism *m, int n) {
  for (int i = 0; i < n; i++) {
    add_body(m, i - 1, 1);
  }
}

/* Two ropes with a rung at each link, fixed to one rope, and to the other by a spring or a loop. */
static void make_ladder(mechanism *m, int n, bool loops) {
  int left = -1, right = -1;
  for (int i = 0; i < n / 3; i++) {
    left = add_body(m, left, 3);
    right = add_body(m, right, 3);
    const int rung = add_body(m, left, 3);
    if (loops) {
      add_loop(m, rung, right, 3);
    } else {
      add_spring(m, rung, right);
    }
  }
}

/* A deck of hinged links hung by cables on two towers of hinged links. */
static void make_bridge(mechanism *m, int n) {
  const int deck = n * 2 / 3, height = n / 6;
  for (int i = 0; i < deck; i++) {
    add_body(m, i - 1, 1);
  }
  for (int tower = 0; tower < 2; tower++) {
    const int foot = m->bodies, middle = deck / 4 + tower * (deck / 2);
    for (int i = 0; i < height; i++) {
      add_body(m, i == 0 ? -1 : foot + i - 1, 1);
    }
    for (int i = tower * deck / 2; i < (tower + 1) * deck / 2; i++) {
      const int from_middle = i < middle ? middle - i : i - middle;
      add_spring(m, i, foot + (from_middle < height ? from_middle : height - 1));
    }
  }
}

/* Eight ribs, joined by rods all around. */
static void make_umbrella(mechanism *m, int n) {
  const int ribs = 8, links = n / ribs;
  for (int r = 0; r < ribs; r++) {
    for (int i = 0; i < links; i++) {
      add_body(m, i == 0 ? -1 : m->bodies - 1, 3);
    }
  }
  for (int i = 0; i < links; i++) {
    for (int r = 0; r < ribs; r++) {
      add_loop(m, r * links + i, (r + 1) % ribs * links + i, 1);
    }
  }
}

static void make_ladder_springs(mechanism *m, int n) {
  make_ladder(m, n, false);
}
static void make_ladder_loops(mechanism *m, int n) {
  make_ladder(m, n, true);
}

/* Linear time: as the scene grows, each body costs the same.  `most`: what it costs now, in
 * non-zeros of L for each body; a better order may lower it. */
TEST(a_body_costs_the_same_in_large_scenes) {
  const struct {
    const char *name;
    void (*make)(mechanism *m, int n);
    double most;
  } scene[] = {{"chain", make_chain, 127.1},
               {"ladder, springs", make_ladder_springs, 246.1},
               {"ladder, loops", make_ladder_loops, 275.1},
               {"bridge", make_bridge, 335},
               {"umbrella", make_umbrella, 556}};
  mechanism *m = mechanism_new();
  int *order = calloc(NODE_MAX, sizeof *order);
  for (size_t k = 0; k < sizeof scene / sizeof *scene; k++) {
    double last = 0;
    for (int n = 192; n <= 12288; n *= 4) {
      memset(m, 0, sizeof *m);
      scene[k].make(m, n);
      const double each = order_of(m, order);
      CHECK(each <= scene[k].most, "%s of %d: %g non-zeros a body, at most %g", scene[k].name, n,
            each, scene[k].most);
      CHECK(n < 3072 || each < 1.02 * last, "%s of %d: %g non-zeros a body, %g before",
            scene[k].name, n, each, last);
      last = each;
    }
  }
  free(order);
  free(m);
}

/* A chain has no fill but what its joints bring: 21 + 36 for the body, 21 + 6 + 36 for the
 * multiplier, 1 + 6 for the rate; the last body has no parent. */
TEST(a_chain_has_no_needless_fill) {
  mechanism *m = mechanism_new();
  int order[300];
  make_chain(m, 100);
  const double total = order_of(m, order) * 100;
  CHECK(total == 127.0 * 100 - 36 - 6, "%g non-zeros", total);
  free(m);
}

TEST(bad_demands_are_refused) {
  const int zero[] = {0}, one[] = {1}, two[] = {2}, nine[] = {9}, none[] = {-1};
  const int circle_a[] = {0, 1, 2}, circle_b[] = {1, 2, 0};
  const int twice[] = {1, 1}, ends_a[] = {0, 2}, ends_b[] = {-1, -1};
  const struct {
    sni_order_demands demands;
    const char *text;
  } cases[] = {
      {{1, nine, zero, 0, NULL, NULL, NULL, NULL}, "rule 0 is on nodes 9 and 0, needs 0 to 2"},
      {{1, zero, none, 0, NULL, NULL, NULL, NULL}, "rule 0 is on nodes 0 and -1, needs 0 to 2"},
      {{3, circle_a, circle_b, 0, NULL, NULL, NULL, NULL}, "node 0 has to come after itself"},
      {{1, zero, zero, 0, NULL, NULL, NULL, NULL}, "node 0 has to come after itself"},
      {{1, zero, one, 1, one, zero, none, NULL}, "node 0 has to come after itself"},
      {{0, NULL, NULL, 1, nine, zero, none, NULL}, "link 0 is node 9 between 0 and -1"},
      {{0, NULL, NULL, 1, one, nine, none, NULL}, "link 0 is node 1 between 9 and -1"},
      {{0, NULL, NULL, 1, one, zero, zero, NULL}, "link 0 ties node 0 to itself"},
      {{0, NULL, NULL, 1, one, none, none, NULL}, "link 0 ties node -1 to itself"},
      {{0, NULL, NULL, 2, twice, ends_a, ends_b, NULL}, "node 1 is a link twice"},
      {{0, NULL, NULL, 2, (const int[]){1, 2}, (const int[]){0, 1}, ends_b, NULL},
       "link 1 ties node 1, a link itself"},
      {{1, two, one, 1, one, zero, none, NULL}, NULL}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sni_arena arena = {0};
    sn_error err = {0};
    int level[3];
    const sn_status status = sni_order_levels(&arena, 3, &cases[k].demands, level, &err);
    if (cases[k].text) {
      CHECK(status == SN_E_ARGUMENT && strstr(err.text, cases[k].text), "case %zu: '%s'", k,
            err.text);
    } else {
      CHECK(status == SN_OK && level[0] == 0 && level[1] == 1 && level[2] == 2, "case %zu: '%s'", k,
            err.text);
    }
    sni_arena_free(&arena);
  }
}

/* Rules that no neighbours keep: postordering the tree may not break them. */
TEST(rules_hold_between_strangers) {
  for (uint64_t s = 0; s < 300; s++) {
    uint64_t seed = s;
    mechanism *m = mechanism_new();
    const int n = 2 + pick(&seed, 30);
    for (int i = 0; i < n; i++) {
      m->body[m->bodies++] = add_node(m, 1 + pick(&seed, 6));
    }
    for (int k = pick(&seed, n); k > 0; k--) {
      couple(m, pick(&seed, n), pick(&seed, n));
    }
    for (int k = pick(&seed, 2 * n); k > 0; k--) {
      const int a = pick(&seed, n), b = pick(&seed, n);
      if (a != b) {
        m->later[m->rules] = a > b ? a : b;
        m->earlier[m->rules++] = a > b ? b : a;
      }
    }
    int order[40];
    order_of(m, order);
    check_demands(m, order, "strangers");
    free(m);
  }
}

int main(void) {
  RUN_TESTS(T(a_graph_has_each_neighbour_once_in_order), T(elimination_is_counted_exactly),
            T(small_subtrees_are_beside_their_parents),
            T(groups_are_neighbours_if_any_of_theirs_are),
            T(orders_meet_the_demands_of_random_mechanisms), T(orders_without_rank_are_seen),
            T(a_body_costs_the_same_in_large_scenes), T(a_chain_has_no_needless_fill),
            T(bad_demands_are_refused), T(rules_hold_between_strangers));
}
