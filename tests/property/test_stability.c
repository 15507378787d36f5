/* The implicit steps of `redmax` are stable: whatever the stiffness, the tension, the masses and
 * the step, energy does not grow.
 *
 * Stiffness is given as k h^2/m, the square of the angle that the spring's oscillation makes in a
 * step: explicit steps bear 4.  The map has a character for each decade of it, from 1e-2 to 1e8:
 *
 *     .  came to rest: of the energy that was put in, less than 1e-6 still moves
 *     :  less than a tenth does          ~  swings on
 *     +  there was a hundredth more than was put in, at some time
 *     X  blown up, which fails
 *
 * Every other decade and short runs here; SINEW_SOAK has every decade and long ones. */
#include "redmax.h"

static bool soak(void) {
  return getenv("SINEW_SOAK") != NULL;
}

#define H 0.01 /* step of all maps */

static const struct {
  const char *name;
  sn_implicit integrator;
} way[] = {{"euler", SN_EULER}, {"extrapolated", SN_EXTRAPOLATED}};
enum { WAYS = sizeof way / sizeof way[0] };

static sn_options way_options(int w, double step) {
  sn_options o = redmax_options(step);
  o.redmax.integrator = way[w].integrator;
  return o;
}

/* ---- models ---- */

typedef struct rig {
  sn_builder *b;
  char name[96][16];
  int n;
} rig;

static const char *new_name(rig *r, const char *base) {
  CHECK(r->n < 96, "too many parts");
  snprintf(r->name[r->n], sizeof r->name[0], "%s%d", base, r->n);
  return r->name[r->n++];
}

static void add_body(rig *r, const sn_body_def *def) {
  CHECK(sn_builder_add_body(r->b, def) == SN_OK, "out of memory");
}

static void add_spring(rig *r, const char *a, sn_vec3 at_a, const char *b, sn_vec3 at_b,
                       double stiffness, double rest_length) {
  const sn_force_def def =
      spring_def(new_name(r, "s"), a, at_a, b, at_b, stiffness, 0, rest_length);
  CHECK(sn_builder_add_force(r->b, &def) == SN_OK, "out of memory");
}

static rig *rig_make(void) {
  rig *r = calloc(1, sizeof *r);
  r->b = sn_builder_create();
  sn_builder_set_gravity(r->b, (sn_vec3){0, 0, 0});
  return r;
}

static sn_model *rig_finish(rig *r) {
  sn_model *m = test_finish(r->b);
  free(r);
  return m;
}

/* A chain of six links with joints of all kinds of axes, each link held by a spring to the ground
 * that is 10 % too long or too short. */
static sn_model *ground_model(double k, unsigned seed) {
  rig *r = rig_make();
  uint64_t random = seed;
  static const char *const kinds[] = {"revolute", "universal", "spherical"};
  const char *parent = "world";
  for (int i = 0; i < 6; i++) {
    const char *name = new_name(r, "link");
    sn_body_def def = test_link(name, parent, kinds[(seed + (unsigned)i) % 3]);
    def.joint.at = sn_pose(0, 0, i ? -1 : 0);
    add_body(r, &def);
    const sn_vec3 at = {0.1, 0.2, -0.6};
    const sn_vec3 home = {at.x, at.y, at.z - i}, away = random_vec3(&random, 1);
    add_spring(r, NULL, sn_vec3_add(home, away), name, at, k,
               sn_vec3_norm(away) * (i % 2 ? 0.9 : 1.1));
    parent = name;
  }
  return rig_finish(r);
}

/* A tree of all kinds of joints but splines: of their curvature the step knows nothing, so that
 * stiff springs overshoot on them, and they end somewhere. */
static void tree_without_splines(random_tree *tree, unsigned seed, int n, uint64_t *random) {
  random_tree_make(tree, seed, n, 0);
  for (int i = 0; i < n; i++) {
    if (strncmp(tree->body[i].joint.type, "spline", 6) == 0) {
      random_joint(tree, i, "universal", random, 0);
    }
  }
}

/* Any tree with springs between its branches, stretched and squeezed by up to `strain`. */
static sn_model *across_model(double k, double strain, unsigned seed) {
  random_tree tree;
  uint64_t random = seed;
  tree_without_splines(&tree, seed, 10, &random);
  tree.gravity = (sn_vec3){0, 0, 0};
  rig *r = rig_make();
  CHECK(random_tree_add(&tree, r->b, NULL) == SN_OK, "out of memory");
  sn_model *plain = random_tree_build(&tree);
  sn_sim *sim = test_sim(plain, NULL);
  sn_state *s = test_state(plain);
  sn_se3 E[10];
  sn_sim_poses(sim, s, E, NULL);
  for (int n = 0; n < 8; n++) {
    const int a = random_below(&random, 10);
    const int b = (a + 1 + random_below(&random, 9)) % 10;
    const sn_vec3 xa = random_vec3(&random, 0.3);
    const sn_vec3 xb = random_vec3(&random, 0.3);
    const sn_vec3 at_a = sn_se3_point(E[sn_model_body_find(plain, tree.name[a])], xa);
    const sn_vec3 at_b = sn_se3_point(E[sn_model_body_find(plain, tree.name[b])], xb);
    add_spring(r, tree.name[a], xa, tree.name[b], xb, k,
               sn_vec3_norm(sn_vec3_sub(at_b, at_a)) *
                   test_random(&random, 1 - strain, 1 + strain));
  }
  sn_state_free(&s);
  sn_sim_free(&sim);
  sn_model_free(&plain);
  return rig_finish(r);
}

/* A bar of mass 1 from -1 to 1 along x between two springs in tension along x.  frame: where the
 * body's frame is along the bar; split: the springs pull at pieces that are welded to its ends. */
static sn_model *bar_model(double k, double strain, double cable, double frame, bool split) {
  rig *r = rig_make();
  const char *bar = new_name(r, "bar");
  sn_body_def def = test_link(bar, "world", "free");
  def.joint.at = sn_pose(frame, 0, 0);
  def.inertia =
      (sn_inertia){.mass = 1, .com = {-frame, 0, 0}, .xx = 0.01, .yy = 1 / 3.0, .zz = 1 / 3.0};
  add_body(r, &def);
  for (int side = -1; side <= 1; side += 2) {
    const char *piece = bar;
    sn_vec3 at = {side - frame, 0, 0};
    if (split) {
      piece = new_name(r, "end");
      sn_body_def end = test_link(piece, bar, "fixed");
      end.joint.at = sn_pose(at.x, 0, 0);
      end.inertia = (sn_inertia){.mass = 0.01, .xx = 1e-4, .yy = 1e-4, .zz = 1e-4};
      add_body(r, &end);
      at = (sn_vec3){0, 0, 0};
    }
    add_spring(r, NULL, (sn_vec3){side * (1 + cable), 0, 0}, piece, at, k, cable / (1 + strain));
  }
  return rig_finish(r);
}

/* Three bars held apart by nine cables and nothing else: the upper triangle is turned by 150
 * degrees, where tensions l (rings) and sqrt(3) l (uprights) for lengths l are in equilibrium. */
static sn_model *prism_model(double k, double strain, double frame) {
  rig *r = rig_make();
  sn_vec3 end[2][3];
  const char *bar[3];
  sn_se3 E[3];
  for (int i = 0; i < 3; i++) {
    for (int up = 0; up < 2; up++) {
      const double angle = 2 * SN_PI * i / 3 + up * 5 * SN_PI / 6;
      end[up][i] = (sn_vec3){cos(angle), sin(angle), 1.5 * up};
    }
    const sn_vec3 d = sn_vec3_sub(end[1][i], end[0][i]);
    const double length = sn_vec3_norm(d);
    const sn_vec3 z = sn_vec3_scale(d, 1 / length), mid = sn_vec3_addscaled(end[0][i], 0.5, d);
    sn_vec3 x = sn_vec3_cross(z, (sn_vec3){0, 0, 1});
    x = sn_vec3_scale(x, 1 / sn_vec3_norm(x));
    sn_mat3_set_col(&E[i].R, 0, x);
    sn_mat3_set_col(&E[i].R, 1, sn_vec3_cross(z, x));
    sn_mat3_set_col(&E[i].R, 2, z);
    E[i].p = sn_vec3_addscaled(mid, frame, z);
    bar[i] = new_name(r, "bar");
    sn_body_def def = test_link(bar[i], "world", "free");
    def.joint.at = E[i];
    const double I = length * length / 12;
    def.inertia = (sn_inertia){.mass = 1, .com = {0, 0, -frame}, .xx = I, .yy = I, .zz = 1e-3};
    add_body(r, &def);
  }
  for (int n = 0; n < 9; n++) {
    const int a = n % 3, upright = n >= 6;
    int b = (a + 1) % 3;
    if (upright && sn_vec3_norm(sn_vec3_sub(end[1][b], end[0][a])) > 1.7) {
      b = (a + 2) % 3; /* the nearer one */
    }
    const sn_vec3 xa = end[n >= 3 && !upright][a], xb = end[n >= 3][b];
    const double l = sn_vec3_norm(sn_vec3_sub(xb, xa));
    const double stretch = strain / (1 + strain) * l * (upright ? sqrt(3) : 1);
    add_spring(r, bar[a], sn_se3_point(sn_se3_inverse(E[a]), xa), bar[b],
               sn_se3_point(sn_se3_inverse(E[b]), xb), k, l - stretch);
  }
  return rig_finish(r);
}

/* A free body that tumbles, held by `kind` of spring. */
enum { ZERO_LENGTH, ZERO_LENGTH_AT_ORIGIN, AT_ORIGIN, SLACK, ODD_KINDS };
static const char *const odd_name[] = {"zero length", "zero length, at the origin",
                                       "at the body's origin", "slack"};

static sn_model *odd_model(double k, int kind) {
  rig *r = rig_make();
  const char *body = new_name(r, "body");
  sn_body_def def = test_link(body, "world", "free");
  def.inertia = (sn_inertia){.mass = 1, .com = {0, 0, 0.1}, .xx = 0.1, .yy = 0.2, .zz = 0.25};
  add_body(r, &def);
  const sn_vec3 zero = {0, 0, 0}, off = {0.2, 0.1, -0.1}, far = {1, 0.5, 0.2};
  const bool origin = kind == ZERO_LENGTH_AT_ORIGIN || kind == AT_ORIGIN;
  const sn_vec3 at = origin ? zero : off;
  add_spring(r, NULL, kind == AT_ORIGIN || kind == SLACK ? far : at, body, at, k,
             kind == AT_ORIGIN ? sn_vec3_norm(far)
             : kind == SLACK   ? sn_vec3_norm(sn_vec3_sub(far, off))
                               : 0);
  return rig_finish(r);
}

/* ---- runs ---- */

typedef struct outcome {
  double most;   /* energy, as part of what was put in */
  double strain; /* that is left, likewise             */
  double moves;  /* kinetic energy that is left        */
  double moves_most;
  bool failed;
} outcome;

/* rest: energy that does not count, of the model as it is without the kick. */
static outcome run(const sn_model *m, const sn_options *o, sn_state *s, double rest, int steps) {
  sn_sim *sim = test_sim(m, o);
  const double start = redmax_energy(sim, s) - rest;
  outcome out = {0, 0, 0, 0, false};
  for (int n = 0; n < steps && !out.failed; n++) {
    sn_error err;
    sn_energy e;
    out.failed = sn_sim_step(sim, s, NULL, NULL, &err) != SN_OK;
    sn_sim_energy(sim, s, &e);
    out.strain = (e.potential - rest) / start;
    out.moves = e.kinetic / start;
    out.moves_most = fmax(out.moves_most, out.moves);
    out.most = fmax(out.most, (e.kinetic + e.potential - rest) / start);
    out.failed = out.failed || !isfinite(e.kinetic + e.potential);
  }
  sn_sim_free(&sim);
  return out;
}

static double rest_energy(const sn_model *m) {
  sn_sim *sim = test_sim(m, NULL);
  sn_state *s = test_state(m);
  const double e = redmax_energy(sim, s);
  sn_state_free(&s);
  sn_sim_free(&sim);
  return e;
}

/* ---- the map ---- */

/* What is left to the masses (SNI_BORNE) takes explicit steps, which keep v^2 + w^2 x^2 - h w^2 x v
 * instead of the energy: let go at rest, it has up to 1/(1 - w h/2) of it, 4/3 at (w h)^2 = 1/4. */
#define RIPPLE            1.34
#define EACH_POWER(power) for (int power = -2; power <= 8; power += soak() ? 1 : 2)

static double stiffness(int power) {
  return pow(10, power) / (H * H);
}

typedef struct line {
  char what[64], cell[16];
  int n;
  double most;
} line;

static void add_cell(line *l, int power, outcome x, double allowed) {
  const bool blown = x.failed || !(x.most < allowed);
  l->cell[l->n++] = blown            ? 'X'
                    : x.most > 1.01  ? '+'
                    : x.moves < 1e-6 ? '.'
                    : x.moves < 0.1  ? ':'
                                     : '~';
  l->cell[l->n] = 0;
  l->most = fmax(l->most, x.most);
  if (blown) {
    print_message("  %s, k h^2/m = 1e%d: energy %g\n", l->what, power, x.most);
  }
}

/* How many cells are blown up. */
static int print_line(const line *l) {
  int blown = 0;
  for (int k = 0; k < l->n; k++) {
    blown += l->cell[k] == 'X';
  }
  print_message("  %-58s %-11s  most %.3f\n", l->what, l->cell, l->most);
  return blown;
}

TEST(springs_to_the_ground_and_across_branches) {
  int blown = 0;
  for (int w = 0; w < WAYS; w++) {
    for (int across = 0; across < 2; across++) {
      static const unsigned thrown[] = {5, 21, 61, 69,
                                        103}; /* here steps go too far, if they may */
      for (unsigned n = 0; n < (soak() ? 17u : 6u); n++) {
        const unsigned seed = n < 5 ? thrown[n] : n - 5;
        line l = {.n = 0};
        snprintf(l.what, sizeof l.what, "%s: springs %s, seed %u", way[w].name,
                 across ? "across branches" : "to the ground", seed);
        EACH_POWER(power) {
          const double k = stiffness(power);
          sn_model *m = across ? across_model(k, 0.1, seed) : ground_model(k, seed);
          const sn_options o = way_options(w, H);
          sn_state *s = test_state(m);
          add_cell(&l, power, run(m, &o, s, 0, soak() ? 2000 : 200), RIPPLE);
          sn_state_free(&s);
          sn_model_free(&m);
        }
        blown += print_line(&l);
      }
    }
  }
  CHECK(blown == 0, "%d blow up", blown);
}

/* The bar comes to rest where its turning is faster than the step resolves: h^2 T r > 30 I. */
TEST(prestressed_bars) {
  static const double strains[] = {1e-3, 1e-2, 0.1}, cables[] = {0.5, 1, 2, 5};
  static const struct {
    const char *what;
    double frame;
    bool split;
  } shape[] = {{"frame in the middle", 0, false},
               {"frame at one end", 1, false},
               {"frame far outside", -4, false},
               {"pulled at welded pieces", 0, true}};
  int blown = 0;
  for (int w = 0; w < WAYS; w++) {
    for (int f = 0; f < 4; f++) {
      for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 4; c += soak() ? 1 : 3) {
          line l = {.n = 0};
          snprintf(l.what, sizeof l.what, "%s: bar, %s, %g, %g", way[w].name, shape[f].what,
                   strains[a], cables[c]);
          EACH_POWER(power) {
            const double k = stiffness(power);
            sn_model *m = bar_model(k, strains[a], cables[c], shape[f].frame, shape[f].split);
            const double rest = rest_energy(m);
            const sn_options o = way_options(w, H);
            sn_state *s = test_state(m);
            sn_state_q(s)[1] = sn_state_q(s)[2] = 1e-3;
            sn_state_q(s)[4] = sn_state_q(s)[5] = 1e-3;
            const outcome x = run(m, &o, s, rest, soak() ? 4000 : 400);
            add_cell(&l, power, x, RIPPLE);
            const double tension = k * cables[c] * strains[a] / (1 + strains[a]);
            CHECK(H * H * tension < 10 || x.strain < 1e-6, "%s, k h^2/m = 1e%d: %g is left", l.what,
                  power, x.strain);
            sn_state_free(&s);
            sn_model_free(&m);
          }
          blown += print_line(&l);
        }
      }
    }
  }
  CHECK(blown == 0, "%d blow up", blown);
}

TEST(tensegrity) {
  static const double strains[] = {1e-3, 1e-2, 0.1};
  int blown = 0;
  for (int w = 0; w < WAYS; w++) {
    for (int end = 0; end < 2; end++) {
      for (int a = 0; a < 3; a++) {
        line l = {.n = 0};
        snprintf(l.what, sizeof l.what, "%s: three bars, frames %s, %g", way[w].name,
                 end ? "at the ends" : "in the middle", strains[a]);
        EACH_POWER(power) {
          sn_model *m = prism_model(stiffness(power), strains[a], end);
          const double rest = rest_energy(m);
          const sn_options o = way_options(w, H);
          sn_state *s = test_state(m);
          sn_state_qd(s)[0] = 0.05;
          sn_state_qd(s)[3] = 0.05;
          add_cell(&l, power, run(m, &o, s, rest, soak() ? 4000 : 300), RIPPLE);
          sn_state_free(&s);
          sn_model_free(&m);
        }
        blown += print_line(&l);
      }
    }
  }
  CHECK(blown == 0, "%d blow up", blown);
}

/* A free body that tumbles in springs of odd kinds.  A point that goes round at w and r is a step
 * on its tangent, r (h w)^2/2 off: a spring that holds it has k r^2 (h w)^4/8 in every step, which
 * is k h^2/m (h w)^2/4 of what moves.  It comes and goes, and the motion does not grow. */
TEST(odd_springs) {
  const sn_vec3 spin = {0.1, 0.5, -0.2};
  const double turn = H * sn_vec3_norm(spin);
  int blown = 0;
  for (int w = 0; w < WAYS; w++) {
    for (int kind = 0; kind < ODD_KINDS; kind++) {
      line l = {.n = 0};
      snprintf(l.what, sizeof l.what, "%s: tumbling, %s", way[w].name, odd_name[kind]);
      EACH_POWER(power) {
        sn_model *m = odd_model(stiffness(power), kind);
        const sn_options o = way_options(w, H);
        sn_state *s = test_state(m);
        memcpy(sn_state_qd(s) + 3, (double[3]){spin.x, spin.y, spin.z}, 3 * sizeof(double));
        const outcome x = run(m, &o, s, 0, soak() ? 10000 : 500);
        add_cell(&l, power, x, RIPPLE + pow(10, power) * turn * turn / 4);
        CHECK(x.moves_most < 1.01, "%s, k h^2/m = 1e%d: the motion grows to %g", l.what, power,
              x.moves_most);
        sn_state_free(&s);
        sn_model_free(&m);
      }
      blown += print_line(&l);
    }
  }
  CHECK(blown == 0, "%d blow up", blown);
}

/* A prestressed structure that floats and spins keeps spinning, as long as the step resolves the
 * swinging of its cables: none of the implicit stiffness acts against turning as a whole. */
TEST(a_floating_tensegrity_spins_on) {
  for (int power = -3; power <= -1; power++) {
    for (int end = 0; end < 2; end++) {
      sn_model *m = prism_model(stiffness(power), 1e-2, end);
      const sn_options o = redmax_options(H);
      sn_sim *sim = test_sim(m, &o);
      sn_state *s = test_state(m);
      sn_se3 E[3];
      sn_energy start, now;
      sn_sim_poses(sim, s, E, NULL);
      for (int i = 0; i < 3; i++) { /* one radian a second about z, all of them */
        const int adr = sn_model_joint_first(m, i);
        const sn_vec3 w = sn_mat3_tmul_vec(E[i].R, (sn_vec3){0, 0, 1});
        const sn_vec3 v = sn_mat3_tmul_vec(E[i].R, sn_vec3_cross((sn_vec3){0, 0, 1}, E[i].p));
        memcpy(sn_state_qd(s) + adr, (double[6]){v.x, v.y, v.z, w.x, w.y, w.z}, 6 * sizeof(double));
      }
      sn_sim_energy(sim, s, &start);
      for (int n = 0; n < 100; n++) {
        redmax_step(sim, s, NULL);
      }
      sn_sim_energy(sim, s, &now);
      const double kept = now.angular_momentum.z / start.angular_momentum.z;
      print_message("  k h^2/m = 1e%-2d frames %s: %.4f of the spin after a radian\n", power,
                    end ? "at the ends" : "in the middle", kept);
      CHECK(kept > 0.98 && kept < 1.02, "k h^2/m = 1e%d: %g of the spin is left", power, kept);
      sn_state_free(&s);
      sn_sim_free(&sim);
      sn_model_free(&m);
    }
  }
}

/* ---- cables and strings in gravity ---- */

/* Three rods of 1 kg and 0.6 m hang side by side, and a cable from wall to wall passes all of them.
 * slack: by this part it is longer than its way in the initial pose. */
static sn_model *cable_model(double k, bool pulls_only, double slack) {
  rig *r = rig_make();
  sn_builder_set_gravity(r->b, (sn_vec3){0, 0, -9.81});
  sn_point_def via[5] = {{NULL, sn_pose(-0.5, 0, -0.3)},
                         {.body = NULL},
                         {.body = NULL},
                         {.body = NULL},
                         {NULL, sn_pose(1.5, 0.2, -0.2)}};
  double length = 0;
  sn_vec3 before = via[0].at.p;
  for (int i = 0; i < 3; i++) {
    via[1 + i].body = new_name(r, "rod");
    via[1 + i].at = sn_pose(0.02 * i, 0.01, -0.4 - 0.05 * i);
    sn_body_def def = test_link(via[1 + i].body, "world", i % 2 ? "spherical" : "universal");
    def.joint.at = sn_pose(0.5 * i, 0, 0);
    def.inertia = (sn_inertia){.mass = 1, .com = {0, 0, -0.3}, .xx = 0.03, .yy = 0.03, .zz = 1e-3};
    add_body(r, &def);
    const sn_vec3 x = sn_vec3_add(def.joint.at.p, via[1 + i].at.p);
    length += sn_vec3_norm(sn_vec3_sub(x, before));
    before = x;
  }
  length += sn_vec3_norm(sn_vec3_sub(via[4].at.p, before));
  sn_force_def def = sn_force_def_default();
  def.name = "cable";
  def.type = "cable";
  def.stiffness = k;
  def.rest_length = length * (1 + slack);
  def.tension_only = pulls_only;
  def.via = via;
  def.nvia = 5;
  CHECK(sn_builder_add_force(r->b, &def) == SN_OK, "out of memory");
  return rig_finish(r);
}

/* A string of six nodes of 0.1 kg, from a rod to the wall. */
static sn_model *string_model(double k, double slack) {
  rig *r = rig_make();
  sn_builder_set_gravity(r->b, (sn_vec3){0, 0, -9.81});
  sn_body_def rod = test_link("rod", "world", "spherical");
  rod.inertia = (sn_inertia){.mass = 1, .com = {0, 0, -0.3}, .xx = 0.03, .yy = 0.03, .zz = 1e-3};
  add_body(r, &rod);
  const sn_vec3 end = {0, 0, -0.6}, wall = {0.8, 0.3, -0.4};
  sn_force_def def = spring_def("rope", "rod", end, NULL, wall, 0.1 * k / 7, 0,
                                sn_vec3_norm(sn_vec3_sub(wall, end)) * (1 + slack));
  def.type = "string";
  def.nodes = 6;
  def.mass = 0.6;
  CHECK(sn_builder_add_force(r->b, &def) == SN_OK, "out of memory");
  return rig_finish(r);
}

/* The first rod is pushed, and the cable goes taut and slack.  Energy counts from m g L below its
 * start, L = 1 m.  What was said of points that go round above is true here too. */
TEST(cables_and_strings_in_gravity) {
  static const double push[] = {2, -1};
  const double turn = H * hypot(push[0], push[1]);
  static const struct {
    const char *what;
    bool string, pulls_only;
    double slack;
  } row[] = {{"cable that pulls", false, true, 0},
             {"cable that pulls, slack by 1 %", false, true, 0.01},
             {"cable that pushes too", false, false, 0},
             {"string", true, false, 0},
             {"string, squeezed by 1 %", true, false, 0.01}};
  int blown = 0;
  for (int w = 0; w < WAYS; w++) {
    for (size_t c = 0; c < sizeof row / sizeof row[0]; c++) {
      line l = {.n = 0};
      snprintf(l.what, sizeof l.what, "%s: %s", way[w].name, row[c].what);
      EACH_POWER(power) {
        const double k = stiffness(power);
        sn_model *m = row[c].string ? string_model(k, row[c].slack)
                                    : cable_model(k, row[c].pulls_only, row[c].slack);
        const sn_options o = way_options(w, H);
        sn_sim *sim = test_sim(m, &o);
        sn_state *s = test_state(m);
        sn_state_qd(s)[0] = push[0];
        sn_state_qd(s)[1] = push[1];
        const double start = redmax_energy(sim, s);
        sn_sim_free(&sim);
        const outcome x = run(m, &o, s, start - 9.81 * sn_model_mass(m), soak() ? 4000 : 300);
        add_cell(&l, power, x, RIPPLE + pow(10, power) * turn * turn / 4);
        CHECK(x.moves_most < 1.01, "%s, k h^2/m = 1e%d: the motion grows to %g", l.what, power,
              x.moves_most);
        CHECK(x.moves + x.strain < 1.01, "%s, k h^2/m = 1e%d: %g at the end", l.what, power,
              x.moves + x.strain);
        sn_state_free(&s);
        sn_model_free(&m);
      }
      blown += print_line(&l);
    }
  }
  CHECK(blown == 0, "%d blow up", blown);
}

/* ---- chains ---- */

/* n links of 1 m and 1 kg, hinged, let go from horizontal. */
static sn_model *chain_model(int n) {
  sn_builder *b = sn_builder_create();
  char name[64][16];
  for (int i = 0; i < n; i++) {
    snprintf(name[i], sizeof name[i], "link%d", i);
    sn_body_def def = test_link(name[i], i ? name[i - 1] : "world", "revolute");
    def.inertia =
        (sn_inertia){.mass = 1, .com = {0.5, 0, 0}, .xx = 1e-3, .yy = 1 / 12.0, .zz = 1 / 12.0};
    def.joint.at = sn_pose(i ? 1 : 0, 0, 0);
    CHECK(sn_builder_add_body(b, &def) == SN_OK, "out of memory");
  }
  return test_finish(b);
}

/* Undamped chains swing for as long as they like: energy rises above its start by a few per cent of
 * m g n^2 L/2 at most, which is what is turned round, and by less with smaller steps. */
TEST(undamped_chains) {
  static const int sizes[] = {5, 20, 60};
  print_message("  integrator    links  step    peak energy   energy left, of m g n^2 L/2\n");
  for (int w = 0; w < WAYS; w++) {
    for (int c = 0; c < 3; c++) {
      const int n = sizes[c];
      sn_model *m = chain_model(n);
      const double scale = 9.81 * n * n / 2, T = soak() ? 60 : 2;
      double peak[2];
      for (int level = 0; level < 2; level++) {
        const sn_options o = way_options(w, level ? 0.0025 : 0.01);
        sn_sim *sim = test_sim(m, &o);
        sn_state *s = test_state(m);
        const double start = redmax_energy(sim, s);
        double now = start;
        peak[level] = 0;
        for (int k = 0; k < (int)lround(T / o.step); k++) {
          redmax_step(sim, s, NULL);
          now = redmax_energy(sim, s);
          peak[level] = fmax(peak[level], (now - start) / scale);
        }
        print_message("  %-12s  %5d  %.4f  %+10.5f   %+10.3f\n", way[w].name, n, o.step,
                      peak[level], (now - start) / scale);
        sn_state_free(&s);
        sn_sim_free(&sim);
      }
      CHECK(peak[0] < 0.02, "%d links: energy rises by %g", n, peak[0]);
      CHECK(peak[1] < fmax(0.5 * peak[0], 1e-3), "%d links: %g at a quarter of the step", n,
            peak[1]);
      sn_model_free(&m);
    }
  }
}

/* ---- masses ---- */

static bool turns_only(const char *type) {
  static const char *const kinds[] = {"revolute", "universal", "spherical", "fixed"};
  for (int k = 0; k < 4; k++) {
    if (strcmp(type, kinds[k]) == 0) {
      return true;
    }
  }
  return false;
}

/* Trees with masses from 1e-3 to 1e3, in gravity, without damping: heavy loads on light links are
 * the hardest there is.  Of joints that turn, the first-order step never gains energy.  Of all
 * joints, the bodies fall apart; then an error of first order is in the energy, a fiftieth in the
 * worst of hundreds of trees.  The second-order step damps so little that one tree of two hundred
 * drifts up by 0.6 of its kinetic energy in 20 s, and stays there.  What blows up gains a thousand
 * times as much. */
TEST(any_masses) {
  for (int w = 0; w < WAYS; w++) {
    for (int all = 0; all < 2; all++) {
      double worst = 0;
      for (unsigned seed = 0; seed < (soak() ? 200u : 20u); seed++) {
        random_tree tree;
        uint64_t random = seed;
        tree_without_splines(&tree, seed, 12, &random);
        for (int i = 0; i < tree.n; i++) {
          if (!all && !turns_only(tree.body[i].joint.type)) {
            random_joint(&tree, i, i % 2 ? "spherical" : "revolute", &random, 0);
          }
          const double f = pow(10, test_random(&random, -3, 3));
          sn_inertia *I = &tree.body[i].inertia;
          double *number[] = {&I->mass, &I->xx, &I->yy, &I->zz, &I->xy, &I->xz, &I->yz};
          for (int k = 0; k < 7; k++) {
            *number[k] *= f;
          }
        }
        sn_model *m = random_tree_build(&tree);
        const sn_options o = way_options(w, H);
        sn_sim *sim = test_sim(m, &o);
        sn_state *s = random_tree_state(m, seed);
        sn_energy start, now;
        sn_sim_energy(sim, s, &start);
        const double energy = start.kinetic + start.potential;
        double scale = start.kinetic + sn_vec3_norm(tree.gravity) * sn_model_mass(m);
        for (int n = 0; n < (soak() ? 2000 : 150); n++) {
          redmax_step(sim, s, NULL);
          sn_sim_energy(sim, s, &now);
          scale = fmax(scale, now.kinetic);
          const double gain = (now.kinetic + now.potential - energy) / scale;
          CHECK(gain < (w > 0 ? 1
                        : all ? 0.5
                              : 1e-3),
                "%s, seed %u, step %d: energy rises by %g", way[w].name, seed, n, gain);
          worst = fmax(worst, gain);
        }
        sn_state_free(&s);
        sn_sim_free(&sim);
        sn_model_free(&m);
      }
      print_message("  %s: the most that a tree %s gained: %.1e\n", way[w].name,
                    all ? "of all joints" : "that turns", worst);
    }
  }
}

int main(void) {
  RUN_TESTS(T(springs_to_the_ground_and_across_branches), T(prestressed_bars), T(tensegrity),
            T(odd_springs), T(cables_and_strings_in_gravity), T(a_floating_tensegrity_spins_on),
            T(undamped_chains), T(any_masses));
}
