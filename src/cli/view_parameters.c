/* view_parameters.c: lists the numbers that can be changed while a simulation runs. */
#include "cli/view_parameters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "io/choice.h"
#include "methods/sim.h"

/* ---- what is worth a slider at first sight ---- */

static bool ends_in(const char *path, const char *end) {
  const size_t n = strlen(path), m = strlen(end);
  return n >= m && strcmp(path + n - m, end) == 0;
}

static bool begins(const char *path, const char *start) {
  return strncmp(path, start, strlen(start)) == 0;
}

static double value_of(const sn_sim *sim, const sni_param_item *p) {
  return sim->d.params.value[p->ref.index];
}

/* All coordinates of a joint have the same value. */
static bool alike(const sn_sim *sim, const sni_param_ref *ref) {
  const double *v = sim->d.params.value + ref->index;
  bool same = true;
  for (int k = 1; k < ref->count; k++) {
    same = same && v[k * ref->stride] == v[0];
  }
  return same;
}

/* One entry of a joint's coordinates, which stands in the list as a whole already. */
static bool entry_of_alike(const sn_sim *sim, const sni_param_item *p) {
  char whole[sizeof p->path];
  sni_param_ref ref;
  const char *bracket = strchr(p->path, '[');
  if (!bracket || begins(p->path, "gravity") || strstr(p->path, ".inertia.")) {
    return false;
  }
  snprintf(whole, sizeof whole, "%.*s", (int)(bracket - p->path), p->path);
  return sni_param_find(sim->m, whole, &ref, NULL) == SN_OK && alike(sim, &ref);
}

static bool is_usual(const sn_sim *sim, const sni_param_item *p) {
  if (begins(p->path, "run.recursive.")) {
    return strcmp(sim->method->name, "recursive") == 0;
  }
  if (!begins(p->path, "bodies.") && !begins(p->path, "loops.")) {
    return true;
  }
  if (strstr(p->path, ".inertia.")) {
    return ends_in(p->path, ".mass") && sim->m->tree.joint[p->ref.inertia_of].nv > 0;
  }
  if (p->ref.count > 1 ? !alike(sim, &p->ref) : entry_of_alike(sim, p)) {
    return false;
  }
  return strstr(p->path, ".drive.") || strstr(p->path, ".friction.") || value_of(sim, p) != 0;
}

/* ---- where a slider should go ---- */

typedef struct range {
  double min, max;
  bool log;
} range;

static range by_factors(double min, double max) {
  return (range){min, max, true};
}

/* From -most to most, and so that the value is well inside. */
static range around_zero(double most, double value) {
  const double m = fmax(most, 2 * fabs(value));
  return (range){-m, m, false};
}

/* What can be where nothing says so yet. */
static range first_range(const char *path) {
  if (ends_in(path, "stiffness") || strstr(path, "max_force")) {
    return by_factors(1, 1e8);
  }
  if (strstr(path, "armature")) {
    return by_factors(1e-4, 1e2);
  }
  return by_factors(1e-3, 1e3);
}

static range inertia_range(const sn_sim *sim, const char *path, int body, double value) {
  if (ends_in(path, ".mass")) {
    return by_factors(value * 1e-3, value * 1e3);
  }
  if (strstr(path, ".at[")) {
    return around_zero(1, value);
  }
  if (ends_in(path, "xx") || ends_in(path, "yy") || ends_in(path, "zz")) {
    return value > 0 ? by_factors(value / 2, value * 2) : by_factors(1e-6, 1);
  }
  const sn_inertia I = sni_params_inertia(&sim->d.params, body);
  return around_zero(fmax(0.5 * fmin(I.xx, fmin(I.yy, I.zz)), 1e-9), value);
}

/* What has a size of its own may want another one, by powers of ten. */
static range range_of(const sn_sim *sim, const sni_param_item *p, double value) {
  const char *path = p->path;
  if (begins(path, "gravity")) {
    return around_zero(20, value);
  }
  if (strcmp(path, "run.step") == 0) {
    return by_factors(value * 0.01, value * 10);
  }
  if (p->ref.inertia_of >= 0) {
    return inertia_range(sim, path, p->ref.inertia_of, value);
  }
  if (strstr(path, ".rest") && !ends_in(path, ".rest_length")) {
    return around_zero(4, value);
  }
  if (ends_in(path, ".rest_length")) {
    return (range){0, value > 0 ? 2 * value : 1, false};
  }
  if (ends_in(path, ".mu") || ends_in(path, ".friction")) {
    return (range){0, fmax(1.5, 2 * value), false};
  }
  if (ends_in(path, ".restitution")) {
    return (range){0, 1, false};
  }
  if (value < 0) {
    return around_zero(0, value);
  }
  if (!(value > 0) || isinf(value)) {
    return first_range(path);
  }
  if (strstr(path, "stiffness")) {
    return by_factors(fmin(1, value * 1e-3), fmax(1e8, value));
  }
  return by_factors(value * 1e-3, value * 1e3);
}

/* ---- families ---- */

typedef struct family {
  sni_param_item item; /* its first member, with * in the path */
  int count;
  bool usual;
} family;

typedef struct families {
  family *list;
  int count, room;
} families;

/* forces.stay_12.stiffness -> forces.stay_*.stiffness; false: no such number. */
static bool family_of(const char *path, char *out, size_t size) {
  const char *name = strchr(path, '.');
  const char *end = name ? strchr(name + 1, '.') : NULL;
  if (!end) {
    return false;
  }
  const char *digits = end;
  while (digits > name + 1 && digits[-1] >= '0' && digits[-1] <= '9') {
    digits--;
  }
  if (digits == end) {
    return false;
  }
  snprintf(out, size, "%.*s*%s", (int)(digits - path), path, end);
  return true;
}

/* Those of one body come one after the other, and the next body's are mostly the same: the family
 * is among the last ones. */
static family *find_family(const families *f, const char *path) {
  for (int k = f->count - 1; k >= 0; k--) {
    if (strcmp(f->list[k].item.path, path) == 0) {
      return &f->list[k];
    }
  }
  return NULL;
}

static family *add_family(families *f, const char *path, const sni_param_item *first) {
  if (f->count == f->room) {
    const int room = f->room ? 2 * f->room : 32;
    family *more = realloc(f->list, (size_t)room * sizeof *more);
    if (!more) {
      return NULL;
    }
    f->list = more;
    f->room = room;
  }
  family *new = &f->list[f->count++];
  *new = (family){.item = *first};
  snprintf(new->item.path, sizeof new->item.path, "%s", path);
  return new;
}

#define FAMILIES_MAX 500

typedef struct gathering {
  const sn_sim *sim;
  families found;
} gathering;

static bool gather(void *user, const sni_param_item *p) {
  gathering *g = user;
  char path[sizeof p->path];
  if (!family_of(p->path, path, sizeof path)) {
    return true;
  }
  family *f = find_family(&g->found, path);
  if (!f && g->found.count < FAMILIES_MAX) {
    f = add_family(&g->found, path, p);
  }
  if (f) {
    f->count++;
    f->usual = f->usual || is_usual(g->sim, p);
  }
  return true;
}

/* ---- lists ---- */

#define WORDS_MAX 8
#define WORD_MAX  320

typedef struct listing {
  const sn_sim *sim;
  const view_query *query;
  char pattern[WORDS_MAX][WORD_MAX + 3]; /* one a word of the filter */
  int npattern;
  sni_json *j;
  int64_t total, every;
} listing;

static void lower(char *to, const char *from, size_t size) {
  size_t k = 0;
  for (; from[k] && k + 1 < size; k++) {
    to[k] = from[k] >= 'A' && from[k] <= 'Z' ? (char)(from[k] - 'A' + 'a') : from[k];
  }
  to[k] = 0;
}

/* Words that are too many or too long are left out: the list is longer then, and nothing is
 * hidden. */
static void split_filter(listing *l) {
  const char *word = l->query->filter;
  while (*(word += strspn(word, " \t")) && l->npattern < WORDS_MAX) {
    const size_t n = strcspn(word, " \t");
    if (n <= WORD_MAX) {
      char text[WORD_MAX + 3];
      snprintf(text, sizeof text, "*%.*s*", (int)n, word);
      lower(l->pattern[l->npattern++], text, sizeof text);
    }
    word += n;
  }
}

static bool fits(const listing *l, const char *path) {
  char small[sizeof((sni_param_item *)0)->path];
  lower(small, path, sizeof small);
  bool all = true;
  for (int k = 0; all && k < l->npattern; k++) {
    all = sni_choice_fits(l->pattern[k], small);
  }
  return all;
}

static void write_one(const listing *l, const sni_param_item *p) {
  const double value = value_of(l->sim, p);
  const range r = range_of(l->sim, p, value);
  sni_json *j = l->j;
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "path", p->path);
  sni_json_number(j, "value", value);
  sni_json_number(j, "min", r.min);
  sni_json_number(j, "max", r.max);
  sni_json_text(j, "scale", r.log ? "log" : "linear");
  cli_json_bool(j, "zero", r.log && (p->ref.flags & SNI_NOT_NEGATIVE));
  sni_json_text(j, "unit", p->unit);
  sni_json_text(j, "doc", p->doc);
  sni_json_close(j, "}");
}

static void list_one(listing *l, const sni_param_item *p, bool usual) {
  if ((l->query->all || usual) && fits(l, p->path)) {
    if (l->total >= l->query->first && l->total < l->query->first + VIEW_PARAMETERS_PAGE) {
      write_one(l, p);
    }
    l->total++;
  }
}

static bool list_single(void *user, const sni_param_item *p) {
  listing *l = user;
  l->every++;
  list_one(l, p, l->query->all || is_usual(l->sim, p));
  return true;
}

/* The first of a family stands for all. */
static void list_families(listing *l) {
  gathering g = {.sim = l->sim};
  sni_params_visit(l->sim->m, gather, &g);
  for (int k = 0; k < g.found.count; k++) {
    const family *f = &g.found.list[k];
    if (f->count > 1) {
      l->every++;
      list_one(l, &f->item, f->usual);
    }
  }
  free(g.found.list);
}

void view_parameters_json(const sn_sim *sim, const view_query *query, sni_json *j) {
  listing l = {.sim = sim, .query = query, .j = j};
  split_filter(&l);
  sni_json_text(j, "filter", query->filter);
  cli_json_bool(j, "all", query->all);
  sni_json_number(j, "first", (double)query->first);
  sni_json_open(j, "list", "[");
  list_families(&l);
  sni_params_visit(sim->m, list_single, &l);
  sni_json_close(j, "]");
  sni_json_number(j, "total", (double)l.total);
  sni_json_number(j, "every", (double)l.every);
}

/* ---- setting ---- */

typedef struct setting {
  sn_sim *sim;
  const char *pattern;
  double value;
  int count;
  sn_status status;
  sn_error *err;
} setting;

static bool set_one(void *user, const sni_param_item *p) {
  setting *s = user;
  if (sni_choice_fits(s->pattern, p->path)) {
    s->count++;
    s->status = sni_sim_put(s->sim, p->path, &p->ref, s->value, s->err);
  }
  return s->status == SN_OK;
}

sn_status view_parameters_set(sn_sim *sim, const char *path, double value, sn_error *err) {
  if (!strchr(path, '*')) {
    return sn_sim_set(sim, path, value, err);
  }
  double *before = malloc((size_t)sim->d.params.count * sizeof *before);
  if (!before) {
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  memcpy(before, sim->d.params.value, (size_t)sim->d.params.count * sizeof *before);
  setting s = {.sim = sim, .pattern = path, .value = value, .err = err};
  sni_params_visit(sim->m, set_one, &s);
  if (s.status) {
    memcpy(sim->d.params.value, before, (size_t)sim->d.params.count * sizeof *before);
  }
  sni_dynamics_refresh(&sim->d);
  free(before);
  return s.status || s.count > 0
             ? s.status
             : sni_fail(err, SN_E_ARGUMENT, "no parameter of this model fits '%s'", path);
}
