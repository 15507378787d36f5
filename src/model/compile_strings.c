/* compile_strings.c: a string of point masses becomes bodies and springs.
 *
 * The n nodes of a string `rope` are bodies rope_1 to rope_n that move freely without turning; n +
 * 1 equal springs of the same names (and rope_(n+1)) hold them between the string's ends, in line
 * and evenly spaced at the start.  Every method can then do with strings what it can do with
 * bodies. */
#include "model/compile.h"
#include "model/forces/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1000000 };

static bool known(const sn_builder *b, const char *name) {
  const sn_body_def *def = b->body.item;
  bool found = !name || strcmp(name, "world") == 0;
  for (int k = 0; k < b->body.count && !found; k++) {
    found = def[k].name && strcmp(def[k].name, name) == 0;
  }
  return found;
}

static bool is_sound(sni_compile *c, const sn_force_def *def) {
  const int before = c->b->errors.count;
  if (def->nodes < 1 || def->nodes > NODES_MAX) {
    sni_compile_fail(c, "nodes", "is %d, needs 1 to %d", def->nodes, NODES_MAX);
  }
  if (!(def->mass > 0) || !isfinite(def->mass)) {
    sni_compile_fail(c, "mass", "is %g, needs a number > 0", def->mass);
  }
  if (def->stiffness < 0 || !isfinite(def->stiffness)) {
    sni_compile_fail(c, "stiffness", "is %g, needs a number >= 0", def->stiffness);
  }
  if (def->damping < 0 || !isfinite(def->damping)) {
    sni_compile_fail(c, "damping", "is %g, needs a number >= 0", def->damping);
  }
  const struct {
    const char *body, *at;
    const sn_point_def *point;
  } end[2] = {{"a.body", "a.at", &def->a}, {"b.body", "b.at", &def->b}};
  for (int k = 0; k < 2; k++) {
    if (!known(c->b, end[k].point->body)) {
      sni_compile_fail(c, end[k].body, "there is no body '%s'", end[k].point->body);
    }
    sni_compile_point(c, end[k].at, end[k].point->at.p);
  }
  return c->b->errors.count == before && sni_compile_name(c, def->name, "force");
}

static void add_nodes(sni_compile *c, const sn_force_def *def) {
  const double n = def->nodes;
  sn_body_def node = sn_body_def_default();
  node.parent = "world";
  node.joint.type = "translation3";
  node.has_inertia = true;
  node.inertia = (sn_inertia){.mass = def->mass / n};
  sn_force_def spring = *def;
  spring.type = "spring";
  spring.stiffness *= n + 1;
  spring.damping *= n + 1;
  spring.rest_length /= spring.rest_length > 0 ? n + 1 : 1;
  for (int k = 1; k <= def->nodes + 1 && !c->out_of_memory; k++) {
    char before[256], here[256];
    snprintf(before, sizeof before, "%s_%d", def->name, k - 1);
    snprintf(here, sizeof here, "%s_%d", def->name, k);
    node.name = spring.name = here;
    spring.a = k > 1 ? (sn_point_def){before, sn_se3_identity()} : def->a;
    spring.b = k <= def->nodes ? (sn_point_def){here, sn_se3_identity()} : def->b;
    sn_status status = k <= def->nodes ? sn_builder_add_body(c->b, &node) : SN_OK;
    status = status ? status : sn_builder_add_force(c->b, &spring);
    c->out_of_memory = status != SN_OK;
  }
}

void sni_compile_strings(sni_compile *c) {
  const int n = c->b->force.count;
  int kept = 0;
  c->string = calloc((size_t)n + 1, sizeof *c->string);
  if (!c->string) {
    c->out_of_memory = true;
    return;
  }
  for (int k = 0; k < n; k++) {
    sn_force_def *def = c->b->force.item;
    if (!def[k].type || strcmp(def[k].type, "string") != 0) {
      def[kept++] = def[k];
      continue;
    }
    sni_compile_at(c, "forces", def[k].name);
    if (is_sound(c, &def[k])) {
      c->string[c->nstring++] = def[k];
    }
  }
  c->b->force.count = kept;
  for (int k = 0; k < c->nstring && !c->out_of_memory; k++) {
    add_nodes(c, &c->string[k]);
  }
}

int sni_compile_string_springs(const sni_compile *c) {
  int n = 0;
  for (int s = 0; s < c->nstring; s++) {
    n += c->string[s].nodes + 1;
  }
  return n;
}

static sn_vec3 end_of(const sn_model *m, const sn_se3 *E_wb, const sn_point_def *point) {
  const int body = point->body ? sn_model_body_find(m, point->body) : -1;
  return sni_force_point(E_wb, body, point->at.p);
}

void sni_compile_place_strings(sni_compile *c, const bool *given, const sn_se3 *E_wb) {
  sn_model *m = c->m;
  for (int s = 0; s < c->nstring; s++) {
    const sn_force_def *def = &c->string[s];
    const sn_vec3 a = end_of(m, E_wb, &def->a), b = end_of(m, E_wb, &def->b);
    if (sn_vec3_norm(sn_vec3_sub(b, a)) < SNI_LINE_SQUEEZED * def->rest_length) {
      sni_compile_warn_squeezed(c, def->name, def->rest_length);
    }
    for (int k = 1; k <= def->nodes; k++) {
      char name[256];
      snprintf(name, sizeof name, "%s_%d", def->name, k);
      const int i = sn_model_body_find(m, name);
      if (i >= 0 && !given[i]) {
        const sn_vec3 x = sn_vec3_addscaled(a, k / (def->nodes + 1.0), sn_vec3_sub(b, a));
        memcpy(m->q0 + m->tree.vadr[i], (double[3]){x.x, x.y, x.z}, 3 * sizeof(double));
      }
    }
  }
}
