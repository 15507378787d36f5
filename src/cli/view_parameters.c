/* view_parameters.c: lists the numbers that can be changed while a simulation runs. */
#include "cli/view_parameters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/choice.h"
#include "methods/sim.h"

#define PATH_MAX_BYTES 320

/* ---- all of them, one after the other ---- */

typedef struct parameter {
  char path[PATH_MAX_BYTES];
  const char *unit, *doc;
  bool usual; /* worth a slider: it does something as it stands */
} parameter;

/* Called for each; false: that is enough. */
typedef bool (*visit)(void *user, const sn_sim *sim, const parameter *p);

static double value_of(const sn_sim *sim, const char *path) {
  double value = 0;
  sn_sim_get(sim, path, &value, NULL);
  return value;
}

static const struct {
  const char *key, *unit, *doc;
  bool always; /* usual even where it is 0 */
} joint_keys[] = {{"joint.stiffness", "N m/rad, N/m", "spring of the joint", false},
                  {"joint.damping", "N m s, N s/m", "damping of the joint", false},
                  {"joint.rest", "rad, m", "where the joint's spring is slack", false},
                  {"joint.armature", "kg m^2, kg", "inertia of the drive itself", false},
                  {"joint.drive.stiffness", "N m/rad, N/m", "of the drive", true},
                  {"joint.drive.damping", "N m s, N s/m", "of the drive", true},
                  {"joint.drive.max_force", "N m, N", "of the drive", true},
                  {"damping.angular", "N m s", "against turning", false},
                  {"damping.linear", "N s/m", "against moving", false},
                  {"inertia.mass", "kg", "of the body", true}};

static bool visit_bodies(const sn_sim *sim, visit f, void *user) {
  for (int i = 0; i < sim->m->tree.nbody; i++) {
    for (int k = 0; k < SNI_COUNT(joint_keys); k++) {
      parameter p = {.unit = joint_keys[k].unit, .doc = joint_keys[k].doc};
      sni_param_ref ref;
      snprintf(p.path, sizeof p.path, "bodies.%s.%s", sim->m->name[i], joint_keys[k].key);
      if (sni_param_find(sim->m, p.path, &ref, NULL) == SN_OK) {
        p.usual =
            (joint_keys[k].always && sim->m->tree.joint[i].nv > 0) || value_of(sim, p.path) != 0;
        if (!f(user, sim, &p)) {
          return false;
        }
      }
    }
  }
  return true;
}

static bool visit_forces(const sn_sim *sim, visit f, void *user) {
  for (int k = 0; k < sim->m->nforce; k++) {
    const sni_force_ops *ops = sni_force_kind(sim->m->force[k].kind);
    for (int n = 0; n < ops->nparam; n++) {
      parameter p = {.unit = "", .doc = "", .usual = true};
      snprintf(p.path, sizeof p.path, "forces.%s.%s", sim->m->force_name[k], ops->param_key[n]);
      for (int i = 0; i < ops->kind.count; i++) {
        if (strcmp(ops->kind.field[i].key, ops->param_key[n]) == 0) {
          p.unit = ops->kind.field[i].unit ? ops->kind.field[i].unit : "";
          p.doc = ops->kind.field[i].doc;
        }
      }
      if (!f(user, sim, &p)) {
        return false;
      }
    }
  }
  return true;
}

static void visit_all(const sn_sim *sim, visit f, void *user) {
  static const parameter first[] = {{"run.step", "s", "time from one state to the next", true},
                                    {"gravity[0]", "m/s^2", "gravity along x", true},
                                    {"gravity[1]", "m/s^2", "gravity along y", true},
                                    {"gravity[2]", "m/s^2", "gravity along z", true}};
  for (int k = 0; k < SNI_COUNT(first); k++) {
    if (!f(user, sim, &first[k])) {
      return;
    }
  }
  if (visit_forces(sim, f, user)) {
    visit_bodies(sim, f, user);
  }
}

/* ---- lists ---- */

typedef struct range {
  double min, max;
  bool log;
} range;

static bool ends_in(const char *path, const char *end) {
  const size_t n = strlen(path), m = strlen(end);
  return n >= m && strcmp(path + n - m, end) == 0;
}

/* Where a slider should go: what has a size of its own may want another one, by powers of ten. */
static range range_of(const char *path, double value) {
  if (strncmp(path, "gravity", 7) == 0) {
    const double most = fmax(20, 2 * fabs(value));
    return (range){-most, most, false};
  }
  if (strcmp(path, "run.step") == 0) {
    return (range){value * 0.01, value * 10, true};
  }
  if (ends_in(path, ".rest")) {
    const double most = fmax(4, 2 * fabs(value));
    return (range){-most, most, false};
  }
  if (ends_in(path, ".rest_length")) {
    return (range){0, value > 0 ? 2 * value : 1, false};
  }
  if (ends_in(path, ".stiffness") && value > 0) {
    return (range){fmin(1, value * 1e-3), fmax(1e8, value), true};
  }
  if (value > 0) {
    return (range){value * 1e-3, value * 1e3, true};
  }
  return (range){fmin(0, 2 * value), 1, false};
}

static void write_one(sni_json *j, const parameter *p, const char *path, double value) {
  const range r = range_of(path, value);
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "path", path);
  sni_json_number(j, "value", value);
  sni_json_number(j, "min", r.min);
  sni_json_number(j, "max", r.max);
  sni_json_text(j, "scale", r.log ? "log" : "linear");
  sni_json_text(j, "unit", p->unit);
  sni_json_text(j, "doc", p->doc);
  sni_json_close(j, "}");
}

/* forces.stay_12.stiffness -> forces.stay_*.stiffness; false: no such number. */
static bool family_of(const char *path, char *out) {
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
  snprintf(out, PATH_MAX_BYTES, "%.*s*%s", (int)(digits - path), path, end);
  return true;
}

typedef struct listing {
  sni_json *j;
  int count, more;
  char (*family)[PATH_MAX_BYTES]; /* those that are listed already */
  int nfamily;
} listing;

static bool known_family(const listing *l, const char *family) {
  for (int k = l->nfamily - 1; k >= 0; k--) {
    if (strcmp(l->family[k], family) == 0) {
      return true;
    }
  }
  return false;
}

/* The first of a family stands for all. */
static bool list_family(void *user, const sn_sim *sim, const parameter *p) {
  listing *l = user;
  char family[PATH_MAX_BYTES];
  if (p->usual && l->nfamily < VIEW_PARAMETERS_MAX / 2 && family_of(p->path, family) &&
      !known_family(l, family)) {
    memcpy(l->family[l->nfamily++], family, sizeof family);
    write_one(l->j, p, family, value_of(sim, p->path));
    l->count++;
  }
  return true;
}

static bool list_single(void *user, const sn_sim *sim, const parameter *p) {
  listing *l = user;
  if (p->usual && l->count < VIEW_PARAMETERS_MAX) {
    write_one(l->j, p, p->path, value_of(sim, p->path));
    l->count++;
  } else {
    l->more++;
  }
  return true;
}

void view_parameters_json(const sn_sim *sim, sni_json *j) {
  listing l = {.j = j, .family = calloc(VIEW_PARAMETERS_MAX / 2, sizeof *l.family)};
  sni_json_open(j, "list", "[");
  if (l.family) {
    visit_all(sim, list_family, &l);
  }
  visit_all(sim, list_single, &l);
  sni_json_close(j, "]");
  sni_json_number(j, "more", l.more);
  free(l.family);
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

static bool set_one(void *user, const sn_sim *sim, const parameter *p) {
  setting *s = user;
  (void)sim;
  if (sni_choice_fits(s->pattern, p->path)) {
    s->count++;
    s->status = sn_sim_set(s->sim, p->path, s->value, s->err);
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
  visit_all(sim, set_one, &s);
  if (s.status) {
    memcpy(sim->d.params.value, before, (size_t)sim->d.params.count * sizeof *before);
    sni_dynamics_refresh(&sim->d);
  }
  free(before);
  return s.status || s.count > 0
             ? s.status
             : sni_fail(err, SN_E_ARGUMENT, "no parameter of this model fits '%s'", path);
}
