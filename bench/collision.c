/* collision.c: `sinew bench collision`: what finding contacts costs: a pair of shapes of each kind,
 * and crowds of 100 to 10,000 bodies. */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/contact.h"
#include "contact/sweep.h"
#include "model/shape.h"

enum { KINDS = 5, POSES = 64 };
static const char *const kinds[KINDS] = {"sphere", "capsule", "box", "cylinder", "ellipsoid"};

/* The same numbers everywhere: splitmix64. */
static double random_number(uint64_t *seed, double lo, double hi) {
  uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return lo + (hi - lo) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static sn_vec3 random_vec3(uint64_t *seed, double most) {
  const double x = random_number(seed, -most, most), y = random_number(seed, -most, most);
  return (sn_vec3){x, y, random_number(seed, -most, most)};
}

static sn_shape_def shape_of(int kind) {
  sn_shape_def d = sn_shape_def_default();
  d.type = kinds[kind];
  d.contact = "stone";
  d.density = 1000;
  d.size = (sn_vec3){0.2, 0.25, 0.3};
  d.radii = (sn_vec3){0.1, 0.12, 0.15};
  d.radius = 0.1;
  d.from = (sn_vec3){0, 0, -0.1};
  d.to = (sn_vec3){0, 0, 0.1};
  return d;
}

/* ---- pairs ---- */

typedef enum state { FAR, TOUCHING, STATES } state;

typedef struct pair {
  sni_convex c[2];
  sni_moving m[POSES][2];
} pair;

/* Moved along the direction in which they are nearest: 1 mm deep, or 2 cm apart. */
static void set_pair(pair *p, int i, int j, state s) {
  const sn_shape_def d[2] = {shape_of(i), shape_of(j)};
  const sni_solid solid[2] = {sni_shape_solid(&d[0]), sni_shape_solid(&d[1])};
  uint64_t seed = (uint64_t)(KINDS * i + j);
  for (int k = 0; k < 2; k++) {
    p->c[k] = sni_convex_make(&solid[k], NULL);
  }
  for (int k = 0; k < POSES; k++) {
    for (int side = 0; side < 2; side++) {
      const sn_se3 E = {sn_so3_exp(random_vec3(&seed, 2)),
                        side ? (sn_vec3){0.6, 0, 0} : (sn_vec3){0, 0, 0}};
      p->m[k][side] = (sni_moving){.s = {&p->c[side], sn_se3_mul(E, solid[side].at)}};
    }
    const sni_nearest near = sni_nearest_find(&p->m[k][0].s, &p->m[k][1].s);
    const double gap = near.distance - p->c[0].radius - p->c[1].radius;
    sn_vec3 *x = &p->m[k][1].s.E.p;
    *x = sn_vec3_addscaled(*x, gap - (s == FAR ? 0.02 : -0.001), near.n);
  }
}

/* Nanoseconds for one pair; wrong: pairs with no point that should have one, or the other way. */
static double time_pair(const pair *p, state s, double seconds, int *wrong) {
  const double start = bench_cpu_seconds();
  double spent = 0;
  long rounds = 0;
  sni_manifold out;
  do {
    for (int k = 0; k < POSES; k++) {
      sni_touch_moving(&p->m[k][0], &p->m[k][1], 0, 0.002, NULL, NULL, &out);
      *wrong += rounds == 0 && (out.count > 0) != (s == TOUCHING);
    }
    rounds++;
    spent = bench_cpu_seconds() - start;
  } while (spent < seconds);
  return 1e9 * spent / ((double)rounds * POSES);
}

static int run_pairs(double seconds, bool quiet, sni_json *json) {
  int wrong = 0;
  if (!quiet) {
    printf("ns a pair     2 cm apart     touching, with points\n");
  }
  for (int i = 0; i < KINDS; i++) {
    for (int j = i; j < KINDS; j++) {
      pair p;
      double ns[STATES];
      for (state s = FAR; s < STATES; s++) {
        set_pair(&p, i, j, s);
        ns[s] = time_pair(&p, s, seconds, &wrong);
      }
      if (!quiet) {
        printf("  %-10s %-10s %8.0f %8.0f\n", kinds[i], kinds[j], ns[FAR], ns[TOUCHING]);
      }
      if (json) {
        char scene[32];
        snprintf(scene, sizeof scene, "%s-%s", kinds[i], kinds[j]);
        sni_json_open(json, NULL, "{");
        sni_json_text(json, "scene", scene);
        sni_json_number(json, "size", 2);
        sni_json_number(json, "seconds", 1e-9 * ns[FAR]);
        sni_json_number(json, "seconds_touching", 1e-9 * ns[TOUCHING]);
        sni_json_close(json, "}");
      }
    }
  }
  return wrong;
}

/* ---- crowds ---- */

static sn_model *crowd_model(int n) {
  sn_builder *b = sn_builder_create();
  sn_model *m = NULL;
  bool ok = b != NULL;
  if (ok) {
    sn_contact_def stone = sn_contact_def_default();
    stone.name = "stone";
    ok = sn_builder_add_contact(b, &stone) == SN_OK;
  }
  for (int k = 0; k < n && ok; k++) {
    char name[32];
    snprintf(name, sizeof name, "b%d", k);
    const sn_shape_def shape = shape_of(k % KINDS);
    sn_body_def body = sn_body_def_default();
    body.name = name;
    body.joint.type = "free";
    body.shapes = &shape;
    body.nshape = 1;
    ok = sn_builder_add_body(b, &body) == SN_OK;
  }
  if (ok) {
    (void)sn_builder_finish(b, &m, NULL);
  }
  sn_builder_free(&b);
  return m;
}

/* A dense heap: about three neighbours each; every step all move by a millimetre. */
typedef struct crowd {
  sn_model *m;
  sni_finder *f;
  sn_se3 *E;
  sn_vec6 *phi;
  int n, points;
} crowd;

static void set_crowd(crowd *c) {
  uint64_t seed = 1;
  const double side = 0.28 * cbrt(c->n);
  for (int k = 0; k < c->n; k++) {
    const sn_vec3 p = {random_number(&seed, 0, side), random_number(&seed, 0, side),
                       random_number(&seed, 0, side)};
    c->E[k] = (sn_se3){sn_so3_exp(random_vec3(&seed, 2)), p};
    c->phi[k] = (sn_vec6){random_vec3(&seed, 0.5), random_vec3(&seed, 0.1)};
  }
}

static bool step_crowd(crowd *c) {
  const sni_contact *x = NULL;
  for (int k = 0; k < c->n; k++) {
    c->E[k].p = sn_vec3_addscaled(c->E[k].p, 0.01, c->phi[k].v);
  }
  return sni_contacts_find(c->f, &c->m->params, c->E, c->phi, 0.01, 0.001, &x, &c->points, NULL) ==
         SN_OK;
}

static void free_crowd(crowd *c) {
  sni_finder_free(&c->f);
  sn_model_free(&c->m);
  free(c->E);
  free(c->phi);
}

/* Seconds of a call, after one that builds the trees; NAN: it could not be done. */
static double time_crowd(int n, double seconds, int *points) {
  crowd c = {.m = crowd_model(n),
             .n = n,
             .E = calloc((size_t)n, sizeof *c.E),
             .phi = calloc((size_t)n, sizeof *c.phi)};
  double spent = NAN;
  if (c.m && c.E && c.phi && sni_finder_create(c.m, 0, &c.f, NULL) == SN_OK) {
    set_crowd(&c);
    bool good = step_crowd(&c);
    const double start = bench_cpu_seconds();
    int rounds = 0;
    do {
      good = good && step_crowd(&c);
      rounds++;
      spent = bench_cpu_seconds() - start;
    } while (good && spent < seconds && rounds < 200);
    spent = good ? spent / rounds : NAN;
  }
  *points = c.points;
  free_crowd(&c);
  return spent;
}

/* The slope of log y over log x. */
static double exponent(const double *x, const double *y, int n) {
  double mx = 0, my = 0, xy = 0, xx = 0;
  for (int k = 0; k < n; k++) {
    mx += log(x[k]) / n;
    my += log(y[k]) / n;
  }
  for (int k = 0; k < n; k++) {
    xy += (log(x[k]) - mx) * (log(y[k]) - my);
    xx += (log(x[k]) - mx) * (log(x[k]) - mx);
  }
  return xy / xx;
}

enum { SIZES = 5 };

static int run_crowds(double seconds, bool quick, bool quiet, sni_json *json, double *slope) {
  static const int size[SIZES] = {100, 300, 1000, 3000, 10000};
  const int n = quick ? 3 : SIZES;
  double x[SIZES], y[SIZES];
  for (int k = 0; k < n; k++) {
    int points = 0;
    x[k] = size[k];
    y[k] = time_crowd(size[k], seconds, &points);
    if (isnan(y[k])) {
      return 1;
    }
    if (!quiet) {
      printf("  crowd of %5d: %8.3f ms a step, %6d points, %5.0f ns a body\n", size[k], 1e3 * y[k],
             points, 1e9 * y[k] / size[k]);
    }
    if (json) {
      sni_json_open(json, NULL, "{");
      sni_json_text(json, "scene", "crowd");
      sni_json_number(json, "size", size[k]);
      sni_json_number(json, "seconds", y[k]);
      sni_json_number(json, "points", points);
      sni_json_close(json, "}");
    }
  }
  *slope = exponent(x, y, n);
  return 0;
}

static int run(const bench_settings *s, const bench_output *out) {
  if (s->only) {
    fprintf(stderr, "sinew bench: collision has no single rows\n");
    return 2;
  }
  const double usual = s->quick ? 0.002 : 0.02, seconds = isnan(s->seconds) ? usual : s->seconds;
  double slope = NAN;
  if (out->json) {
    sni_json_open(out->json, "rows", "[");
  }
  const int wrong = run_pairs(seconds, s->quiet, out->json);
  const int failed = run_crowds(20 * seconds, s->quick, s->quiet, out->json, &slope);
  if (out->json) {
    sni_json_close(out->json, "]");
    sni_json_open(out->json, "fits", "[");
    sni_json_open(out->json, NULL, "{");
    sni_json_text(out->json, "scene", "crowd");
    sni_json_number(out->json, "exponent", slope);
    sni_json_close(out->json, "}");
    sni_json_close(out->json, "]");
  }
  if (wrong || failed) {
    fprintf(stderr, "sinew bench: %d pairs were not found, or found from afar%s\n", wrong,
            failed ? "; a crowd could not be measured" : "");
    return 3;
  }
  if (!s->quiet) {
    printf("crowd: time grows as n^%.2f\n", slope);
  }
  return 0;
}

const bench_entry bench_collision = {
    .name = "collision", .doc = "finding contacts: pairs of shapes, and crowds", .run = run};
