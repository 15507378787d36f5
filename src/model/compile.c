/* compile.c: sn_builder_finish: checks everything once and makes the model. */
#include "model/compile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void report(sni_compile *c, sni_error_list *list, const char *key, int column,
                   const char *format, va_list args) {
  sn_error err = {.code = SN_E_VALUE, .column = column};
  snprintf(err.path, sizeof err.path, "%s%s%.90s", c->path, key && c->path[0] ? "." : "",
           key ? key : "");
  vsnprintf(err.text, sizeof err.text, format, args);
  /* a problem that could not be written down must not pass for none */
  if (!sni_error_list_add(list, &err) && list->count == 0) {
    c->out_of_memory = true;
  }
}

void sni_compile_fail(sni_compile *c, const char *key, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(c, &c->b->errors, key, 0, format, args);
  va_end(args);
}

void sni_compile_warn(sni_compile *c, const char *key, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(c, &c->b->warnings, key, 0, format, args);
  va_end(args);
}

static void fail_in_column(sni_compile *c, const char *key, int column, const char *format, ...)
    SN_PRINTF(4, 5);
static void fail_in_column(sni_compile *c, const char *key, int column, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(c, &c->b->errors, key, column, format, args);
  va_end(args);
}

void sni_compile_pass_on(sni_compile *c, const char *key, const sn_error *err) {
  if (err->code == SN_E_MEMORY) {
    c->out_of_memory = true;
    return;
  }
  char full[SN_ERROR_WHERE_MAX];
  snprintf(full, sizeof full, "%.60s%s%.120s", key ? key : "", key && err->path[0] ? "." : "",
           err->path);
  fail_in_column(c, full[0] ? full : NULL, err->column, "%s", err->text);
}

void sni_compile_at(sni_compile *c, const char *kind, const char *name) {
  snprintf(c->path, sizeof c->path, "%s.%s", kind, name ? name : "");
}

void *sni_compile_take(sni_compile *c, size_t count, size_t size) {
  void *at = sni_arena_take(&c->m->arena, count * size);
  c->out_of_memory = c->out_of_memory || !at;
  return at;
}

const char *sni_compile_text(sni_compile *c, const char *text) {
  const char *copy = sni_arena_text(&c->m->arena, text);
  c->out_of_memory = c->out_of_memory || (text && !copy);
  return copy;
}

bool sni_compile_point(sni_compile *c, const char *key, sn_vec3 x) {
  if (!sn_vec3_finite(x)) {
    sni_compile_fail(c, key, "is [%g, %g, %g], needs finite numbers", x.x, x.y, x.z);
    return false;
  }
  return true;
}

bool sni_compile_pose(sni_compile *c, const char *key, sn_se3 E) {
  const bool sound = sn_se3_is_pose(E);
  if (!sound) {
    sni_compile_fail(c, key, "is not a pose: needs finite numbers and a rotation");
  }
  return sound;
}

/* A loop may be taken for a joint. */
static void fail_body(sni_compile *c, const char *key, const char *name) {
  const sn_loop_def *loop = c->b->loop.item;
  for (int k = 0; k < c->b->loop.count; k++) {
    if (loop[k].name && strcmp(loop[k].name, name) == 0) {
      sni_compile_fail(c, key,
                       "'%s' is a loop, needs a body or its joint: coordinates of loops cannot be "
                       "prescribed or coupled, those of the joints that it closes can",
                       name);
      return;
    }
  }
  sni_compile_fail(c, key, "there is no body '%s'", name);
}

int sni_compile_body(sni_compile *c, const char *key, const char *name) {
  if (!name || strcmp(name, "world") == 0) {
    return -1;
  }
  const int i = sn_model_body_find(c->m, name);
  if (i < 0) {
    fail_body(c, key, name);
    return -2;
  }
  return i;
}

int sni_compile_function(sni_compile *c, const char *key, const sn_function_def *def) {
  sn_error err = {0};
  sni_function *f = NULL;
  sn_model *m = c->m;
  if (sni_function_build(def, &f, &err)) {
    sni_compile_pass_on(c, key, &err);
    return -1;
  }
  if (m->nfunction == c->function_capacity) {
    const int capacity = 2 * c->function_capacity + 16;
    sni_function **grown = realloc(m->function, (size_t)capacity * sizeof *grown);
    if (!grown) {
      c->out_of_memory = true;
      sni_function_free(&f);
      return -1;
    }
    m->function = grown;
    c->function_capacity = capacity;
  }
  m->function[m->nfunction] = f;
  return m->nfunction++;
}

/* Is the function right by itself?  A mistake is reported. */
static bool function_is_sound(sni_compile *c, const char *key, const sn_function_def *def) {
  sn_error err = {0};
  sni_function *f = NULL;
  const bool sound = sni_function_build(def, &f, &err) == SN_OK;
  if (!sound) {
    sni_compile_pass_on(c, key, &err);
  }
  sni_function_free(&f);
  return sound;
}

/* An expression e becomes (e) > 0, which breaks where e passes through 0.  Keys that are not steps
 * would change sign somewhere between two of them. */
double sni_compile_weight(sni_compile *c, double weight) {
  if (!(weight >= 0) || !isfinite(weight)) {
    sni_compile_fail(c, "weight", "is %g, needs a number > 0", weight);
  }
  return weight > 0 ? weight : 1;
}

int sni_compile_active(sni_compile *c, const sn_function_def *def) {
  sn_function_def on = *def;
  char *text = NULL;
  if (!function_is_sound(c, "active", def)) {
    return -1;
  }
  if ((def->nkey > 0 || def->csv_file) && def->interpolation != SN_INTERPOLATE_STEP) {
    sni_compile_fail(c, "active", "is on or off, nothing between: needs interpolation: step");
    return -1;
  }
  if (def->expression) {
    const size_t size = strlen(def->expression) + sizeof "max(0, sign())";
    text = malloc(size);
    if (!text) {
      c->out_of_memory = true;
      return -1;
    }
    /* as (...) > 0, but what is no number stays so, for somebody to see it */
    snprintf(text, size, "max(0, sign(%s))", def->expression);
    on.expression = text;
  }
  const int k = sni_compile_function(c, "active", &on);
  free(text);
  double value[3] = {0};
  if (k >= 0 && sni_function_is_constant(c->m->function[k])) {
    sni_function_eval(c->m->function[k], 0, 0, value);
    return value[0] > 0 ? -1 : k;
  }
  return k;
}

#define NAME_MAX_LENGTH 200 /* paths and channels must fit into their buffers */

bool sni_compile_name(sni_compile *c, const char *name, const char *what) {
  const char *p = name ? name : "";
  bool start = true, good = *p != 0;
  for (; *p && good; p++) {
    const char ch = *p;
    const bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
    good = letter || (!start && ((ch >= '0' && ch <= '9') || ch == '-' || ch == '/'));
    start = ch == '/';
  }
  if (!good) {
    sni_compile_fail(c, NULL,
                     "'%s' is not a name for a %s: needs letters, digits, _ and -, not "
                     "beginning with a digit",
                     name ? name : "", what);
  } else if (strcmp(name, "world") == 0) {
    sni_compile_fail(c, NULL, "the name 'world' belongs to the ground");
    good = false;
  } else if (strlen(name) > NAME_MAX_LENGTH) {
    sni_compile_fail(c, NULL, "this name has %zu characters, at most %d are possible", strlen(name),
                     NAME_MAX_LENGTH);
    good = false;
  }
  return good;
}

void sni_compile_spread(sni_compile *c, const char *key, const sn_per_dof *from, int nv,
                        double missing, bool not_negative, double *out) {
  if ((from->n > 1 && from->n != nv) || from->n < 0) {
    sni_compile_fail(c, key, "has %d numbers, the joint has %d coordinate%s", from->n, nv,
                     nv == 1 ? "" : "s");
    return;
  }
  for (int k = 0; k < nv; k++) {
    const double v = from->n == 0 ? missing : from->v[from->n == 1 ? 0 : k];
    if (from->n > 0 && (isnan(v) || (isinf(v) && v != missing) || (not_negative && v < 0))) {
      sni_compile_fail(c, key, "is %g, needs %s", v,
                       not_negative ? "a number >= 0" : "a finite number");
      return;
    }
    out[k] = v;
  }
}

/* ---- the model ---- */

/* How many loops and joints have numbers of their own is known at last: the block of parameters
 * grows by them. */
void sni_compile_numbers(sni_compile *c) {
  sn_model *m = c->m;
  if (m->nloop_spring + m->nrub == 0 || c->b->errors.count > 0) {
    return;
  }
  const sni_params before = m->params;
  double *memory = sni_compile_take(c, 1, sni_params_size(m));
  if (c->out_of_memory) {
    return;
  }
  sni_params_place(&m->params, m, memory);
  memcpy(m->params.value, before.value, (size_t)before.count * sizeof(double));
  for (int k = 0; k < m->nloop_spring; k++) {
    m->params.loop[k] = m->loop_spring[k].number;
  }
  for (int k = 0; k < m->nrub; k++) {
    m->params.rub[k] = m->rub[k].number;
  }
}

/* What constrains it: a state that fits other constraints is another one. */
static uint64_t hash_constraints(const sn_model *m, uint64_t h) {
  for (int k = 0; k < m->nconstraint; k++) {
    const sni_constraint *c = &m->constraint[k];
    const int number[] = {c->kind, c->nrow, c->body[0], c->body[1], c->nv, c->ncoord, c->part};
    h = sni_hash(h, number, sizeof number);
    h = sni_hash(h, c->coord, (size_t)c->ncoord * sizeof *c->coord);
    h = sni_hash(h, c->coef, (size_t)c->ncoord * sizeof *c->coef);
    h = sni_hash(h, c->at, sizeof c->at);
    h = sni_hash(h, &c->length, sizeof c->length);
    h = sni_hash(h, &c->axis, sizeof c->axis);
    h = sni_hash(h, m->constraint_name[k], strlen(m->constraint_name[k]) + 1);
    if (c->kind == SNI_LOOP) {
      const char *kind = sni_joint_kind(m->loop_joints.joint[c->joint].kind)->kind.keyword;
      h = sni_hash(h, kind, strlen(kind));
      h = sni_hash(h, m->loop_S0 + SN_NV_MAX * c->joint, SN_NV_MAX * sizeof *m->loop_S0);
    }
  }
  for (int k = 0; k < m->nmap; k++) {
    for (int i = 0; i < m->map[k]->nq; i++) {
      h = sni_hash(h, m->map[k]->value[i], sni_expr_size(m->map[k]->value[i]));
    }
  }
  return h;
}

static uint64_t model_hash(const sn_model *m) {
  uint64_t h = SNI_HASH_SEED;
  const sni_tree *t = &m->tree;
  h = sni_hash(h, &t->nbody, sizeof t->nbody);
  h = sni_hash(h, t->parent, (size_t)t->nbody * sizeof *t->parent);
  h = sni_hash(h, t->vadr, (size_t)(t->nbody + 1) * sizeof *t->vadr);
  for (int i = 0; i < t->nbody; i++) {
    h = sni_hash(h, m->name[i], strlen(m->name[i]) + 1);
    const char *kind = sni_joint_kind(t->joint[i].kind)->kind.keyword;
    h = sni_hash(h, kind, strlen(kind));
  }
  h = sni_hash(h, t->pool, (size_t)t->npool * sizeof *t->pool);
  h = hash_constraints(m, h);
  h = sni_hash(h, &m->nslide, sizeof m->nslide);
  return sni_hash(h, &m->nforce, sizeof m->nforce);
}

static void free_scratch(sni_compile *c) {
  free(c->joints.pool);
  free(c->joints.part);
  free(c->loops.pool);
  free(c->loops.part);
  free(c->def);
  free(c->broken);
  free(c->string);
  free(c->claimed);
}

static sn_status give_up(sni_compile *c, sn_status status, sn_error *err) {
  if (err) {
    *err = (sn_error){.code = status};
    if (c->b->errors.count > 0 && status != SN_E_MEMORY) {
      *err = c->b->errors.item[0];
    } else {
      snprintf(err->text, sizeof err->text, "%s", sn_status_text(status));
    }
  }
  free_scratch(c);
  sn_model_free(&c->m);
  return status;
}

sn_status sn_builder_finish(sn_builder *b, sn_model **model, sn_error *err) {
  *model = NULL;
  if (b->finished) {
    return sni_fail(err, SN_E_ARGUMENT, "this builder has been finished already: make a new one");
  }
  b->finished = true;
  sni_compile c = {.b = b, .m = calloc(1, sizeof(sn_model))};
  if (!c.m) {
    return sni_fail(err, SN_E_MEMORY, "%s", sn_status_text(SN_E_MEMORY));
  }
  void (*const stage[])(sni_compile *) = {
      sni_compile_strings, sni_compile_hang,  sni_compile_tree,    sni_compile_joints,
      sni_compile_bodies,  sni_compile_parts, sni_compile_numbers, sni_compile_start};
  const int stages = (int)(sizeof stage / sizeof stage[0]);
  for (int k = 0; k < stages && !c.out_of_memory; k++) {
    stage[k](&c);
    if (stage[k] == sni_compile_tree && c.m->tree.nbody == 0) {
      break; /* reported, and there is nothing else to look at */
    }
  }
  if (c.out_of_memory || b->errors.count > 0) {
    return give_up(&c, c.out_of_memory ? SN_E_MEMORY : SN_E_VALUE, err);
  }
  free_scratch(&c);
  c.m->hash = model_hash(c.m);
  *model = c.m;
  return SN_OK;
}
