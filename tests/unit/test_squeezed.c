/* A spring or a string that should be long and starts at one point has no direction to push in: the
 * builder says so, once, and goes on. */
#include "redmax.h"

static sn_builder *two_bodies(void) {
  const sn_body_def a = test_link("a", "world", "free"), b = test_link("b", "world", "free");
  sn_builder *builder = test_builder(&a);
  CHECK(sn_builder_add_body(builder, &b) == SN_OK, "out of memory");
  return builder;
}

/* The model is sound; so many warnings, of which the first is about forces.f. */
static void check_warnings(const sn_force_def *def, int count, const char *what) {
  sn_builder *b = two_bodies();
  CHECK(sn_builder_add_force(b, def) == SN_OK, "out of memory");
  sn_model *m = NULL;
  sn_error err;
  CHECK(sn_builder_finish(b, &m, &err) == SN_OK, "%s: %s", what, err.text);
  CHECK(sn_builder_warning_count(b) == count, "%s: %d warnings", what, sn_builder_warning_count(b));
  if (count > 0) {
    const sn_error *warning = sn_builder_warning(b, 0);
    CHECK(strcmp(warning->path, "forces.f.rest_length") == 0, "%s: at %s", what, warning->path);
    CHECK(strcmp(warning->text,
                 "is 0.5, but the ends start at one point: it cannot push in any direction") == 0,
          "%s: %s", what, warning->text);
  }
  sn_model_free(&m);
  sn_builder_free(&b);
}

TEST(ends_at_one_point) {
  const sn_vec3 here = {0.1, 0.2, 0.3}, there = {0.1, 0.2, 0.4};
  for (int string = 0; string < 2; string++) {
    sn_force_def def = spring_def("f", "a", here, "b", here, 10, 0, 0.5);
    def.type = string ? "string" : "spring";
    def.nodes = 3;
    def.mass = 1;
    check_warnings(&def, 1, def.type);
    def.rest_length = 0; /* a spring of no length pulls its ends together */
    check_warnings(&def, 0, "no length");
    def.rest_length = -1; /* the length in the initial pose: none */
    check_warnings(&def, 0, "initial length");
    def.rest_length = 0.5;
    def.b.at.p = there;
    check_warnings(&def, 0, "apart");
  }
}

int main(void) {
  RUN_TESTS(T(ends_at_one_point));
}
