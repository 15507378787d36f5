/* Contacts of what nobody should simulate: bodies in one place, needles, crumbs, sheets, giants,
 * and thousands at once.  A step gives a result or says why not, and never NaN. */
#include "paper.h"
#include "stage.h"

#define FLAT SINEW_BUILD_DIR "/tests/contact_fuzz_flat.obj"

static void write_flat(void) {
  FILE *file = fopen(FLAT, "w");
  CHECK(file, "cannot write %s", FLAT);
  fputs("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0.5 0\nf 1 2 3\nf 1 3 4\nf 1 2 5\n", file);
  fclose(file);
}

static double some_size(dice *d) {
  static const double size[] = {0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.1, 1, 1e3};
  return size[one_of(d, SNI_COUNT(size))];
}
static double some_place(dice *d) {
  static const double place[] = {0, 0, 0, 0, 0.1, -0.1, 1e-9, 1, 1e6};
  return place[one_of(d, SNI_COUNT(place))];
}

static void put_some_shape(paper *p, dice *d) {
  const double a = some_size(d), b = some_size(d), c = some_size(d);
  switch (one_of(d, 7)) {
  case 0:
    put(p, "{type: sphere, radius: %g", a);
    break;
  case 1:
    put(p, "{type: box, size: [%g, %g, %g]", a, b, c);
    break;
  case 2:
    put(p, "{type: capsule, radius: %g, from: [0, 0, 0], to: [0, 0, %g]", a, b);
    break;
  case 3:
    put(p, "{type: cylinder, radius: %g, from: [0, 0, 0], to: [0, 0, %g]", a, b);
    break;
  case 4:
    put(p, "{type: ellipsoid, radii: [%g, %g, %g]", a, b, c);
    break;
  case 5:
    put(p, "{type: convex, file: %s, scale: %g", FLAT, a);
    break;
  default:
    put(p, "{type: box, size: [0.2, 0.2, 0.2]");
  }
  put(p, ", contact: m}");
}

static void write_degenerate(paper *p, dice *d) {
  static const double mass[] = {1e-9, 1e-3, 1, 1, 1e6};
  const double w = mass[one_of(d, 5)];
  const int n = 2 + one_of(d, 3);
  p->used = 0;
  const double friction = roll(d), restitution = fmax(0, 2 * roll(d) - 1);
  put(p, "sinew: 1\ncontacts: {m: {friction: %g, restitution: %g}}\nbodies:\n", friction,
      restitution);
  if (roll(d) < 0.5) {
    put(p, "  ground: {joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n");
  }
  for (int k = 0; k < n; k++) {
    double at[3];
    for (int c = 0; c < 3; c++) {
      at[c] = some_place(d);
    }
    put(p, "  b%d: {joint: {type: free, at: {pos: [%g, %g, %g], rotvec: [%g, 0, 0]}}, ", k, at[0],
        at[1], at[2], one_of(d, 3) * 1.5707963267948966);
    put(p, "inertia: {mass: %g, xx: %g, yy: %g, zz: %g}, shapes: [", w, w, w, w);
    put_some_shape(p, d);
    put(p, "]}\n");
  }
}

static bool is_finite_state(const stage *b) {
  bool good = true;
  for (int i = 0; i < b->m->tree.nv; i++) {
    good = good && isfinite(sn_state_q(b->s)[i]) && isfinite(sn_state_qd(b->s)[i]);
  }
  return good;
}

/* SINEW_SOAK: three thousand of them. */
TEST(degenerate_shapes_give_a_result_or_say_why_not) {
  const int scenes = getenv("SINEW_SOAK") ? 3000 : 200;
  dice d = {.seed = 6};
  int ran = 0, refused = 0, stopped = 0;
  write_flat();
  for (int k = 0; k < scenes; k++) {
    paper p;
    sn_scene *scene = NULL;
    sn_error err = {0};
    write_degenerate(&p, &d);
    const sn_status read =
        sn_scene_load_text(p.text, strlen(p.text), "degenerate", NULL, &scene, &err);
    if (read) {
      CHECK(err.text[0], "scene %d is refused without a word\n%s", k, p.text);
      sn_scene_free(&scene);
      refused++;
      continue;
    }
    stage b = {.m = sn_scene_take_model(scene), .s = NULL};
    sn_scene_free(&scene);
    const sn_options o = redmax_options(0.01);
    const sn_status made = sn_sim_create(b.m, &o, &b.sim, &err);
    if (made) {
      CHECK(err.text[0], "scene %d has no simulation, without a word\n%s", k, p.text);
      refused++;
      sn_model_free(&b.m);
      continue;
    }
    b.s = test_state(b.m);
    static const double speed[] = {0, 0, 0, 1};
    for (int i = 0; i < b.m->tree.nv; i++) {
      sn_state_qd(b.s)[i] = speed[one_of(&d, 4)] * (roll(&d) - 0.5);
    }
    sn_status status = SN_OK;
    for (int i = 0; i < 2 && status >= SN_OK; i++) {
      status = sn_sim_step(b.sim, b.s, NULL, NULL, &err);
      CHECK(is_finite_state(&b), "scene %d, step %d\n%s", k, i, p.text);
      CHECK(status >= SN_OK || err.text[0], "scene %d stops without a word\n%s", k, p.text);
    }
    stopped += status < SN_OK;
    ran++;
    stage_clear(&b);
  }
  print_message("  %d ran, %d of them stopped, %d were refused\n", ran, stopped, refused);
  CHECK(ran > scenes / 5, "only %d of %d ran", ran, scenes);
}

/* ---- thousands at once ---- */

static sn_model *many_boxes(int count, double apart) {
  const size_t size = 200 * (size_t)count + 1000;
  char *text = malloc(size);
  CHECK(text, "no memory");
  int n =
      snprintf(text, size,
               "sinew: 1\ncontacts: {m: {friction: 0.5}}\ndefaults: {joint: {type: free}}\n"
               "bodies:\n  floor: {joint: {type: fixed}, shapes: [{type: plane, contact: m}]}\n");
  for (int k = 0; k < count; k++) {
    n += snprintf(text + n, size - (size_t)n,
                  "  b%d: {joint: {at: [%g, %g, 0.05]}, shapes: [{type: box, size: [0.1, 0.1, "
                  "0.1], density: 1000, contact: m}]}\n",
                  k, apart * (k % 60), apart * (k / 60));
  }
  sn_model *m = stage_model(text);
  free(text);
  return m;
}

TEST(ten_thousand_contacts_in_one_step) {
  const sn_options o = redmax_options(0.01);
  stage b = {.m = many_boxes(2600, 0.15)};
  sn_info info = {0};
  sn_error err = {0};
  b.sim = test_sim(b.m, &o);
  b.s = test_state(b.m);
  CHECK(sn_sim_step(b.sim, b.s, NULL, &info, &err) == SN_OK, "%s", err.text);
  CHECK(info.contacts == 10400 && is_finite_state(&b), "%d contacts", info.contacts);
  for (int i = 0; i < b.m->tree.nv; i++) {
    CHECK(fabs(sn_state_qd(b.s)[i]) < 1e-7, "coordinate %d moves with %g", i, sn_state_qd(b.s)[i]);
  }
  stage_clear(&b);
}

/* All in one place: more points than there is room for is said, and the state stays. */
TEST(too_many_contacts_are_said) {
  const sn_options o = redmax_options(0.01);
  stage b = {.m = many_boxes(200, 0)};
  sn_error err = {0};
  b.sim = test_sim(b.m, &o);
  b.s = test_state(b.m);
  const sn_status status = sn_sim_step(b.sim, b.s, NULL, NULL, &err);
  CHECK(status == SN_E_LIMIT && strstr(err.text, "more than 10000 points touch at once"), "%d: %s",
        status, err.text);
  CHECK(*sn_state_time(b.s) == 0 && is_finite_state(&b), "the state has changed");
  stage_clear(&b);
}

int main(void) {
  RUN_TESTS(T(degenerate_shapes_give_a_result_or_say_why_not), T(ten_thousand_contacts_in_one_step),
            T(too_many_contacts_are_said));
}
