/* Ground in pieces: what slides over it without friction feels no seam between pieces that lie
 * flush, and feels all that stands out. */
#include "stage.h"

#define FOLDER  SINEW_BUILD_DIR "/tests"
#define SHEET   "seams_sheet.obj"
#define HEIGHTS "seams_heights.csv"
#define LUMP    "seams_lump.obj"
#define RIDGE   "seams_ridge.obj"
#define ROOM    "seams_room.obj"

enum { CELLS = 20 }; /* of 0.2 m each way */

/* bump: how far inner corners are off the plane, at random. */
static void write_sheet(double bump) {
  FILE *f = fopen(FOLDER "/" SHEET, "w");
  uint64_t s = 7;
  CHECK(f != NULL, "cannot write " SHEET);
  for (int k = 0; k < (CELLS + 1) * (CELLS + 1); k++) {
    fprintf(f, "v %.17g %.17g %.17g\n", 0.2 * (k % (CELLS + 1)) - 2, 0.2 * (k / (CELLS + 1)) - 2,
            bump * test_random(&s, 0, 1));
  }
  for (int k = 0; k < CELLS * CELLS; k++) {
    const int v = k / CELLS * (CELLS + 1) + k % CELLS + 1, w = v + CELLS + 1;
    fprintf(f, "f %d %d %d\nf %d %d %d\n", v, v + 1, w + 1, v, w + 1, w);
  }
  fclose(f);
}

static void write_heights(void) {
  FILE *f = fopen(FOLDER "/" HEIGHTS, "w");
  CHECK(f != NULL, "cannot write " HEIGHTS);
  for (int k = 0; k < (CELLS + 1) * (CELLS + 1); k++) {
    fprintf(f, "0%s", k % (CELLS + 1) == CELLS ? "\n" : ",");
  }
  fclose(f);
}

/* A box with a pyramid on it. */
static void write_lump(void) {
  FILE *f = fopen(FOLDER "/" LUMP, "w");
  CHECK(f != NULL, "cannot write " LUMP);
  for (int k = 0; k < 8; k++) {
    fprintf(f, "v %g %g %g\n", k & 1 ? 0.1 : -0.1, k & 2 ? 0.15 : -0.15, k & 4 ? 0.05 : -0.05);
  }
  fprintf(f, "v 0 0 0.12\n"
             "f 1 3 4\nf 1 4 2\nf 1 2 6\nf 1 6 5\nf 2 4 8\nf 2 8 6\nf 4 3 7\nf 4 7 8\n"
             "f 3 1 5\nf 3 5 7\nf 5 6 9\nf 6 8 9\nf 8 7 9\nf 7 5 9\n");
  fclose(f);
}

static const char *const grounds[] = {
    "  g: {joint: {type: fixed}, shapes: [{type: mesh, file: " SHEET ", contact: m}]}\n",
    "  g: {joint: {type: fixed}, shapes: [{type: height_field, file: " HEIGHTS
    ", size: [4, 4, 1], contact: m}]}\n",
    /* of one body, in a cross: four meet in a corner */
    "  g: {joint: {type: fixed}, shapes: [\n"
    "    {type: box, size: [2, 2, 0.2], at: [-1, -1, -0.1], contact: m},\n"
    "    {type: box, size: [2, 2, 0.2], at: [1, -1, -0.1], contact: m},\n"
    "    {type: box, size: [2, 2, 0.3], at: [-1, 1, -0.15], contact: m},\n"
    "    {type: box, size: [2, 2, 0.4], at: [1, 1, -0.2], contact: m}]}\n",
    /* of several */
    "  g: {joint: {type: fixed}, shapes: [{type: box, size: [2, 4, 0.2], at: [-1, 0, -0.1], "
    "contact: m}]}\n"
    "  i: {joint: {type: fixed, at: [1, 0, -0.1]}, shapes: [{type: box, size: [2, 4, 0.2], "
    "contact: m}]}\n",
    /* let into the floor */
    "  g: {joint: {type: fixed}, shapes: [{type: plane, contact: m},\n"
    "    {type: box, size: [0.5, 6, 0.2], at: [0, 0, -0.1], contact: m}]}\n",
    /* that moves itself, if it is pushed */
    "  f: {joint: {type: fixed, at: [0, 0, -0.2]}, shapes: [{type: plane, contact: m}]}\n"
    "  g: {joint: {type: free, at: [0, 0, -0.1]}, shapes: [\n"
    "    {type: box, size: [2, 4, 0.2], at: [-1, 0, 0], density: 1000, contact: m},\n"
    "    {type: box, size: [2, 4, 0.2], at: [1, 0, 0], density: 1000, contact: m}]}\n"};

/* Standing on the ground, the lowest point at 0. */
static const struct {
  const char *text;
  double high;
} things[] = {
    {"{type: box, size: [0.3, 0.2, 0.1], density: 1000, contact: m}", 0.05},
    {"{type: cylinder, radius: 0.1, from: [0, 0, -0.05], to: [0, 0, 0.05], density: 1000, "
     "contact: m}",
     0.05},
    {"{type: capsule, radius: 0.05, from: [-0.1, 0, 0], to: [0.1, 0, 0], density: 1000, contact: "
     "m}",
     0.05},
    {"{type: sphere, radius: 0.07, density: 1000, contact: m}", 0.07},
    {"{type: convex, file: " LUMP ", density: 1000, contact: m}", 0.05}};

static stage slide(const char *ground, int thing, double high, sn_vec3 v, double yaw, double h) {
  char text[4000];
  const double c = cos(yaw), s = sin(yaw); /* the way goes through the middle, or near it */
  snprintf(text, sizeof text,
           "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0}}\nbodies:\n%s"
           "  b: {joint: {type: free, at: {pos: [%.17g, %.17g, %.17g], rotvec: [0, 0, %.17g]}}, "
           "shapes: [%s]}\n"
           "initial: {b: {qd: [%.17g, %.17g, 0, 0, 0, 0]}}\n",
           ground, -0.4 * v.x + 0.03 * c, -0.4 * v.y + 0.03 * s, high, yaw, things[thing].text,
           c * v.x + s * v.y, c * v.y - s * v.x);
  return stage_set_in(FOLDER, text, redmax_options(h));
}

static sn_vec6 twist_of(const stage *b, sn_se3 *E) {
  sn_se3 pose[8];
  sn_vec6 phi[8];
  const int k = sn_model_body_find(b->m, "b");
  CHECK(sn_model_body_count(b->m) <= 8, "too many bodies");
  CHECK(sn_sim_poses(b->sim, b->s, pose, phi) == SN_OK, "no poses");
  *E = pose[k];
  return (sn_vec6){sn_mat3_mul_vec(E->R, phi[k].w), sn_mat3_mul_vec(E->R, phi[k].v)};
}

TEST(nothing_is_felt_of_seams) {
  write_sheet(0);
  write_heights();
  write_lump();
  for (int ground = 0; ground < SNI_COUNT(grounds); ground++) {
    for (int thing = 0; thing < SNI_COUNT(things); thing++) {
      for (int k = 0; k < 10; k++) {
        uint64_t s = (uint64_t)(1000 * ground + 100 * thing + k);
        const double speed = test_random(&s, 1, 3), h = k % 2 ? 0.01 : 0.005;
        const double way = k < 3 ? 0 : test_random(&s, -3, 3);
        const double yaw = k < 3 ? 0 : test_random(&s, -3, 3);
        const sn_vec3 v = {speed * cos(way), speed * sin(way), 0};
        stage b = slide(grounds[ground], thing, things[thing].high, v, yaw, h);
        for (int i = 0; i * h < 0.8; i++) {
          stage_step(&b, 1);
          sn_se3 E;
          const sn_vec6 phi = twist_of(&b, &E);
          CHECK(sn_vec3_norm(sn_vec3_sub(phi.v, v)) < 1e-6 * speed && sn_vec3_norm(phi.w) < 1e-5,
                "ground %d, thing %d, slide %d, step %d: velocity off by %g %g %g, spin %g %g %g",
                ground, thing, k, i, phi.v.x - v.x, phi.v.y - v.y, phi.v.z, phi.w.x, phi.w.y,
                phi.w.z);
          CHECK(fabs(E.p.z - things[thing].high) < 1e-6,
                "ground %d, thing %d, slide %d, step %d: %g off the ground", ground, thing, k, i,
                E.p.z - things[thing].high);
        }
        stage_clear(&b);
      }
    }
  }
}

/* A wall that nothing gets past, or a step 2 mm high that things trip over. */
TEST(what_stands_out_is_felt) {
  static const char *const obstacles[] = {
      "    {type: box, size: [0.2, 4, 1], at: [0.4, 0, 0.5], contact: m}",
      "    {type: box, size: [2, 4, 0.2], at: [1.3, 0, -0.098], contact: m}"};
  write_lump();
  for (int obstacle = 0; obstacle < SNI_COUNT(obstacles); obstacle++) {
    for (int thing = 0; thing < SNI_COUNT(things); thing++) {
      for (int k = 0; k < 12; k++) {
        uint64_t s = (uint64_t)(1000 * obstacle + 100 * thing + k);
        char ground[1000];
        snprintf(ground, sizeof ground,
                 "  g: {joint: {type: fixed}, shapes: [\n"
                 "    {type: box, size: [2, 4, 0.2], at: [-1.7, 0, -0.1], contact: m},\n"
                 "    {type: box, size: [1, 4, 0.2], at: [-0.2, 0, -0.1], contact: m},\n%s]}\n",
                 obstacles[obstacle]);
        const sn_vec3 v = {test_random(&s, 1, 3), test_random(&s, -1, 1), 0};
        const double h = k % 2 ? 0.01 : 0.005;
        stage b = slide(ground, thing, things[thing].high, v, test_random(&s, -3, 3), h);
        double felt = 0, most = 0;
        for (int i = 0; i * h < 1; i++) {
          stage_step(&b, 1);
          sn_se3 E;
          const sn_vec6 phi = twist_of(&b, &E);
          felt = fmax(felt, sn_vec3_norm(sn_vec3_sub(phi.v, v)));
          most = fmax(most, E.p.x);
        }
        CHECK(felt > 0.1, "obstacle %d, thing %d, slide %d: felt %g", obstacle, thing, k, felt);
        CHECK(obstacle == 1 || most < 0.3, "obstacle %d, thing %d, slide %d: passed, at %g",
              obstacle, thing, k, most);
        stage_clear(&b);
      }
    }
  }
}

/* Of the bumpy sheet, above or below (x, y). */
static double sheet_height(double bump, double x, double y) {
  const double cx = (x + 2) / 0.2, cy = (y + 2) / 0.2;
  const int c = (int)cx, r = (int)cy;
  double z[2][2] = {{0}};
  uint64_t s = 7;
  for (int k = 0; k <= (r + 1) * (CELLS + 1) + c + 1; k++) {
    const double at = bump * test_random(&s, 0, 1);
    const int i = k / (CELLS + 1) - r, j = k % (CELLS + 1) - c;
    if (i >= 0 && i < 2 && j >= 0 && j < 2) {
      z[i][j] = at;
    }
  }
  const double u = cx - c, v = cy - r;
  return u >= v ? z[0][0] + u * (z[0][1] - z[0][0]) + v * (z[1][1] - z[0][1])
                : z[0][0] + v * (z[1][0] - z[0][0]) + u * (z[1][1] - z[1][0]);
}

TEST(bumps_are_felt_and_nothing_falls_through) {
  const double bump = 0.06;
  write_sheet(bump);
  write_lump();
  for (int thing = 0; thing < SNI_COUNT(things); thing++) {
    for (int k = 0; k < 10; k++) {
      uint64_t s = (uint64_t)(100 * thing + k);
      const double way = test_random(&s, -3, 3), speed = k < 5 ? 2 : 4;
      const sn_vec3 v = {speed * cos(way), speed * sin(way), 0};
      stage b = slide(grounds[0], thing, things[thing].high + bump, v, test_random(&s, -3, 3),
                      k % 2 ? 0.01 : 0.005);
      double felt = 0;
      for (int i = 0; i < 120; i++) {
        stage_step(&b, 1);
        sn_se3 E;
        const sn_vec6 phi = twist_of(&b, &E);
        if (fmax(fabs(E.p.x), fabs(E.p.y)) > 1.8) {
          break; /* over the rim */
        }
        felt = fmax(felt, hypot(phi.v.x - v.x, phi.v.y - v.y));
        const double over = E.p.z - sheet_height(bump, E.p.x, E.p.y);
        CHECK(over > 0.02, "thing %d, slide %d, step %d: its centre is %g above the ground", thing,
              k, i, over);
      }
      CHECK(felt > 0.1, "thing %d, slide %d: felt %g", thing, k, felt);
      stage_clear(&b);
    }
  }
}

/* ---- margins ---- */

/* Surfaces touch while the sum of their margins is between them. */
TEST(what_has_a_margin_rests_above_the_ground) {
  write_sheet(0);
  write_heights();
  write_lump();
  for (int ground = 0; ground < SNI_COUNT(grounds) - 1; ground++) { /* those that stand still */
    for (int thing = 0; thing < SNI_COUNT(things); thing++) {
      const double high = things[thing].high;
      char text[4000];
      snprintf(text, sizeof text,
               "sinew: 1\ngravity: [0, 0, -9.81]\n"
               "contacts: {m: {friction: 0.5, margin: 0.01}, n: {friction: 0.5, margin: 0.002}}\n"
               "bodies:\n%s"
               "  b: {joint: {type: free, at: [-0.6, 0.03, %.17g]}, shapes: [%s]}\n"
               "  c: {joint: {type: free, at: [-0.6, 0.93, %.17g]}, shapes: [{type: sphere, "
               "radius: 0.1, density: 1000, contact: n}]}\n",
               grounds[ground], high + 0.1, things[thing].text, 2.0);
      stage b = stage_set_in(FOLDER, text, redmax_options(0.005));
      stage_step(&b, 200);
      sn_se3 E[8];
      CHECK(sn_sim_poses(b.sim, b.s, E, NULL) == SN_OK, "no poses");
      const double z = E[sn_model_body_find(b.m, "b")].p.z - high;
      const double ball = E[sn_model_body_find(b.m, "c")].p.z - 0.1;
      CHECK(fabs(z - 0.02) < 1e-6, "ground %d, thing %d: %g above it", ground, thing, z);
      CHECK(fabs(ball - 0.012) < 1e-6, "ground %d: the ball is %g above it", ground, ball);
      stage_clear(&b);
    }
  }
}

/* What rolls over ground that is nearly flat rolls on: between its own bumps, nothing throws it. */
TEST(cylinders_roll_over_what_is_nearly_flat) {
  for (int k = 0; k < 12; k++) {
    const double bump = pow(10, -7 + k / 3);
    char text[1000];
    write_sheet(bump);
    snprintf(text, sizeof text,
             "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.5}}\nbodies:\n"
             "  f: {joint: {type: fixed}, shapes: [{type: mesh, file: " SHEET ", contact: m}]}\n"
             "  b: {joint: {type: free, at: [-1.5, %g, %.17g]}, shapes: [{type: cylinder, from: "
             "[0, -0.1, 0], to: [0, 0.1, 0], radius: 0.1, density: 1000, contact: m}]}\n"
             "initial: {b: {qd: [2, 0, 0, 0, 20, 0]}}\n",
             0.0123 + 0.23 * (k % 3), 0.1 + bump);
    stage b = stage_set_in(FOLDER, text, redmax_options(0.005));
    double high = 0;
    for (int i = 0; i < 250; i++) {
      stage_step(&b, 1);
      high = fmax(high, sn_state_q(b.s)[2]);
    }
    const double way = sn_state_q(b.s)[0];
    /* each of the bumps takes what a blow of that height does: thousandths at most */
    CHECK(fabs(way - 2.5) < 0.005 + 50 * bump, "bumps of %g: %g m far", bump, way);
    CHECK(high < 5 * bump + 1e-9, "bumps of %g: %g high", bump, high);
    stage_clear(&b);
  }
}

static void write_ridge(const char *name) {
  FILE *f = fopen(FOLDER "/" RIDGE, "w");
  CHECK(f != NULL, "cannot write " RIDGE);
  const bool ridge = strcmp(name, "ridge") == 0;
  fputs(ridge ? "v -0.5 -2 0\nv 0.5 -2 0\nv 0.5 2 0\nv -0.5 2 0\nv 0 -2 1\nv 0 2 1\n"
                "f 4 3 2 1\nf 1 2 5\nf 3 4 6\nf 2 3 6 5\nf 4 1 5 6\n"
              : "v 0.5 0.5 0.5\nv -0.5 -0.5 0.5\nv -0.5 0.5 -0.5\nv 0.5 -0.5 -0.5\n"
                "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
        f);
  fclose(f);
}

static void write_shape(char *shape, size_t size, int kind, double a, double b) {
  switch (kind) {
  case 0:
    snprintf(shape, size, "type: capsule, from: [0, 0, -%g], to: [0, 0, %g], radius: %g", a, a, b);
    break;
  case 1:
    snprintf(shape, size, "type: box, size: [%g, %g, 0.3]", a, b);
    break;
  case 2:
    snprintf(shape, size, "type: ellipsoid, radii: [%g, %g, 0.08]", a, b);
    break;
  default:
    snprintf(shape, size, "type: cylinder, from: [0, 0, 0], to: [0, 0, %g], radius: %g", 2 * a, b);
  }
}

/* What tips over sharp edges is held by them, and not by planes of triangles beyond their rims: a
 * mesh is as hard as the hull of the same corners, and gives no energy. */
TEST(sharp_edges_hold_as_those_of_hulls) {
  uint64_t seed = 21;
  for (int k = 0; k < 160; k++) {
    const double a = test_random(&seed, 0.05, 0.15), b = test_random(&seed, 0.05, 0.15);
    const double x = test_random(&seed, -0.55, 0.55), y = test_random(&seed, -0.55, 0.55);
    char shape[200], text[1500];
    write_shape(shape, sizeof shape, k % 4, a, b);
    write_ridge(k % 8 < 4 ? "ridge" : "pyramid");
    double deepest[2] = {0, 0};
    const double turn[3] = {test_random(&seed, -2, 2), test_random(&seed, -2, 2),
                            test_random(&seed, -2, 2)};
    for (int kind = 0; kind < 2; kind++) {
      snprintf(text, sizeof text,
               "sinew: 1\ngravity: [0, 0, -9.81]\ncontacts: {m: {friction: 0.5}}\nbodies:\n"
               "  f: {joint: {type: fixed}, shapes: [{type: %s, file: " RIDGE ", contact: m}]}\n"
               "  b: {joint: {type: free, at: {pos: [%g, %g, 1.4], rotvec: [%g, %g, %g]}},\n"
               "      shapes: [{%s, density: 1000, contact: m}]}\n",
               kind == 0 ? "convex" : "mesh", x, y, turn[0], turn[1], turn[2], shape);
      stage s = stage_set_in(FOLDER, text, redmax_options(0.01));
      double before = stage_energy(&s), rise = 0;
      const double start = before;
      for (int i = 0; i < 100; i++) {
        deepest[kind] = fmax(deepest[kind], redmax_step(s.sim, s.s, NULL).deepest);
        const double now = stage_energy(&s);
        rise = fmax(rise, now - before);
        before = now;
      }
      CHECK(rise < 0.01 * fabs(start), "scene %d, %s: %g J of %g", k, shape, rise, start);
      stage_clear(&s);
    }
    CHECK(deepest[1] < deepest[0] + 0.01, "scene %d, %s: %g deep, hull %g", k, shape, deepest[1],
          deepest[0]);
  }
}

/* A room of 4 m without a ceiling; its triangles face inward. */
static void write_room(void) {
  FILE *f = fopen(FOLDER "/" ROOM, "w");
  CHECK(f != NULL, "cannot write " ROOM);
  for (int k = 0; k < 8; k++) {
    fprintf(f, "v %d %d %d\n", k & 1 ? 2 : -2, k & 2 ? 2 : -2, k & 4 ? 2 : -2);
  }
  fputs("f 1 2 4 3\nf 1 5 6 2\nf 2 6 8 4\nf 4 8 7 3\nf 3 7 5 1\n", f);
  fclose(f);
}

/* What comes down on a triangle of a mesh and slides on meets the others of it in the same step. */
TEST(nothing_leaves_a_room_of_triangles) {
  enum { BODIES = 4 };
  uint64_t seed = 5;
  write_room();
  for (int k = 0; k < 60; k++) {
    char shape[200], text[3000];
    const double speed = exp(test_random(&seed, log(100), log(3000)));
    const double h = exp(test_random(&seed, log(1e-3), log(1e-2)));
    double at[BODIES][3];
    int n =
        snprintf(text, sizeof text,
                 "sinew: 1\ngravity: [0, 0, -9.81]\n"
                 "contacts: {m: {friction: 0.3, restitution: %g}}\nbodies:\n"
                 "  f: {joint: {type: fixed}, shapes: [{type: mesh, file: " ROOM ", contact: m},\n"
                 "      {type: box, size: [6, 6, 1], at: [0, 0, 2.5], contact: m}]}\n",
                 0.5 * (k % 3));
    for (int i = 0; i < BODIES; i++) {
      at[i][0] = test_random(&seed, -1.2, 1.2);
      at[i][1] = test_random(&seed, -1.2, 1.2);
      at[i][2] = -1.2 + 0.8 * i;
      write_shape(shape, sizeof shape, (k + i) % 4, test_random(&seed, 0.05, 0.15),
                  test_random(&seed, 0.05, 0.15));
      n += snprintf(text + n, sizeof text - (size_t)n,
                    "  b%d: {joint: {type: free, at: [%g, %g, %g]}, shapes: [{%s, density: 1000, "
                    "contact: m}]}\n",
                    i, at[i][0], at[i][1], at[i][2], shape);
    }
    stage b = stage_set_in(FOLDER, text, redmax_options(h));
    for (int i = 0; i < 6 * BODIES; i++) {
      const double most = i % 6 < 3 ? 2 * speed : 10;
      sn_state_qd(b.s)[i] = test_random(&seed, -most, most);
    }
    for (int i = 0; i < 40; i++) {
      stage_step(&b, 1);
      for (int c = 0; c < 3 * BODIES; c++) {
        const double x = at[c / 3][c % 3] + sn_state_q(b.s)[6 * (c / 3) + c % 3];
        CHECK(fabs(x) < 2.01, "scene %d, step %d: b%d leaves at %g m/s", k, i, c / 3, speed);
      }
    }
    stage_clear(&b);
  }
}

int main(void) {
  RUN_TESTS(T(cylinders_roll_over_what_is_nearly_flat), T(nothing_leaves_a_room_of_triangles),
            T(sharp_edges_hold_as_those_of_hulls), T(what_has_a_margin_rests_above_the_ground),
            T(nothing_is_felt_of_seams), T(what_stands_out_is_felt),
            T(bumps_are_felt_and_nothing_falls_through));
}
