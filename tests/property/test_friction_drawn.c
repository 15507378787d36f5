/* How the frame of a joint is drawn is nothing to friction: whatever turns with it, the same bodies
 * move alike. */
#include "stage.h"
#include "trees.h"
#include "vectors.h"

/* One body on a joint whose frame is turned by X; its mass, rates and axes are where they are. */
typedef struct drawing {
  const char *type, *keys; /* of the joint                                                      */
  bool axis;               /* it has one                                                        */
  int linear, angular;     /* which of its rates are which, -1: none; so many of each            */
  int nlinear, nangular;
  bool across; /* what rubs has a direction across the axis                                      */
} drawing;

static const sn_vec3 axis = {0.48, 0.64, 0.6}, across = {1, 0.2, 0.3}, com = {0.4, 0.2, -0.3};

static void put_vec3(char *out, size_t size, const char *key, sn_vec3 x) {
  const size_t used = strlen(out);
  snprintf(out + used, size - used, "%s[%.17g, %.17g, %.17g]", key, x.x, x.y, x.z);
}

/* How the body starts, in the joint's frame; a plane is that of its x and y. */
static void start_of(const drawing *d, sn_mat3 X, sn_vec3 *v, sn_vec3 *w) {
  *v = d->axis ? sn_vec3_scale(axis, 1.5) : (sn_vec3){0.8, -0.5, d->nlinear == 2 ? 0 : 0.4};
  *w = d->axis ? sn_vec3_scale(axis, 1.5) : (sn_vec3){2, 3, -1};
  if (d->nangular == 1 && !d->axis) {
    *w = (sn_vec3){0, 0, -1};
  }
  *v = d->linear < 0 ? (sn_vec3){0, 0, 0} : sn_mat3_tmul_vec(X, *v);
  *w = d->angular < 0 ? (sn_vec3){0, 0, 0} : sn_mat3_tmul_vec(X, *w);
}

static void put_rates(const drawing *d, sn_vec3 v, sn_vec3 w, char *out, size_t size) {
  double qd[6] = {v.x, v.y, v.z, w.x, w.y, w.z}; /* as `free` has them */
  int n = 6;
  if (d) {
    n = d->nlinear + d->nangular;
    for (int k = 0; k < d->nlinear; k++) {
      qd[d->linear + k] = d->axis ? sn_vec3_norm(v) : sn_vec3_get(v, k);
    }
    for (int k = 0; k < d->nangular; k++) {
      qd[d->angular + k] = d->axis ? sn_vec3_norm(w) : d->nangular == 1 ? w.z : sn_vec3_get(w, k);
    }
  }
  strcpy(out, "[");
  for (int k = 0; k < n; k++) {
    const size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%.17g", k ? ", " : "", qd[k]);
  }
  strcat(out, "]");
}

static void write_joint(const drawing *d, sn_mat3 X, char *out, size_t size) {
  snprintf(out, size, "type: %s, ", d->type);
  if (d->axis) {
    put_vec3(out, size, "axis: ", sn_mat3_tmul_vec(X, axis));
    strcat(out, ", ");
  }
  strcat(out, "friction: {");
  strcat(out, d->keys);
  if (d->across) {
    put_vec3(out, size, ", across: ", sn_mat3_tmul_vec(X, across));
  }
  strcat(out, "}");
}

/* The joint is of the tree, or a loop around a free body. */
static void write_body(const drawing *d, bool loop, sn_vec3 turn, char *text, size_t size) {
  const sn_mat3 X = sn_so3_exp(turn);
  char joint[600], rates[200], body[300] = "", frame[200] = "";
  sn_vec3 v, w;
  write_joint(d, X, joint, sizeof joint);
  start_of(d, X, &v, &w);
  put_rates(loop ? NULL : d, v, w, rates, sizeof rates);
  put_vec3(body, sizeof body,
           "inertia: {mass: 2, xx: 0.3, yy: 0.3, zz: 0.3, at: ", sn_mat3_tmul_vec(X, com));
  put_vec3(frame, sizeof frame, "at: {pos: [0.1, 0.2, 0.3], rotvec: ", turn);
  if (loop) {
    snprintf(text, size,
             "sinew: 1\n"
             "bodies: {x: {joint: {type: free, %s}}, %s}}}\n"
             "loops: {l: {%s, a: {body: world, %s}}, b: {body: x}}}\n"
             "initial: {x: {qd: %s}}\n",
             frame, body, joint, frame, rates);
  } else {
    snprintf(text, size,
             "sinew: 1\n"
             "bodies: {x: {joint: {%s, %s}}, %s}}}\n"
             "initial: {x: {qd: %s}}\n",
             joint, frame, body, rates);
  }
}

static void run_body(const char *text, double out[4]) {
  static const char *const name[] = {"com.x", "com.y", "com.z", "E"};
  sn_options o = redmax_options(0.002);
  o.redmax.friction.tolerance = 1e-13;
  stage s = stage_set(text, o);
  stage_step(&s, 100);
  for (int k = 0; k < 4; k++) {
    out[k] = stage_channel(&s, name[k]);
  }
  stage_clear(&s);
}

static const drawing drawings[] = {
    {"spherical", "law: dry, force: 0.7", false, -1, 0, 0, 3, false},
    {"spherical", "law: stribeck, force: 0.3, breakaway: 0.9, speed: 2, damping: 0.1", false, -1, 0,
     0, 3, false},
    {"spherical", "mu: 0.3, pin_radius: 0.1", false, -1, 0, 0, 3, false},
    {"free", "law: dry, force: 0.7", false, 0, 3, 3, 3, false},
    {"free", "law: stribeck, force: 0.3, breakaway: 0.9, speed: 2", false, 0, 3, 3, 3, false},
    {"free_rt", "law: dry, force: [0.7, 0.7, 0.7, 3, 3, 3]", false, 3, 0, 3, 3, false},
    {"translation3", "law: dry, force: 3", false, 0, -1, 3, 0, false},
    {"translation2", "law: dry, force: 3", false, 0, -1, 2, 0, false},
    {"planar", "law: dry, force: [3, 3, 0.5]", false, 0, 2, 2, 1, false},
    {"prismatic", "mu: 0.2, size: [0.2, 0.2, 0.8]", true, 0, -1, 1, 0, false},
    {"prismatic", "mu: 0.2, size: [0.1, 0.3, 0.8]", true, 0, -1, 1, 0, true},
    {"revolute", "mu: 0.2, pin_radius: 0.1, pin_length: 0.8", true, -1, 0, 0, 1, false}};

TEST(frames_of_joints_may_be_drawn_as_one_likes) {
  double worst = 0;
  for (int k = 0; k < SNI_COUNT(drawings); k++) {
    const drawing *d = &drawings[k];
    const bool whole = d->nlinear + d->nangular == 6; /* a loop would be none */
    for (int loop = 0; loop < (whole ? 1 : 2); loop++) {
      uint64_t seed = 5;
      double first[4], out[4];
      char text[2000];
      for (int trial = 0; trial < 6; trial++) {
        sn_vec3 turn = trial == 0 ? (sn_vec3){0, 0, 0} : random_vec3(&seed, 1.5);
        turn = d->nlinear == 2 ? (sn_vec3){0, 0, turn.z} : turn;
        write_body(d, loop, turn, text, sizeof text);
        run_body(text, trial == 0 ? first : out);
        const double off = trial == 0 ? 0 : largest_difference(out, first, 4);
        worst = fmax(worst, off);
        CHECK(off <= tol(1e-9), "off by %g\n%s", off, text);
      }
    }
  }
  print_message("  off by %.1g\n", worst);
}

int main(void) {
  RUN_TESTS(T(frames_of_joints_may_be_drawn_as_one_likes));
}
