/* params.c: the numbers that may change during a run, and how a path finds them. */
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INERTIA_COUNT 10
#define HEAD_COUNT    6 /* gravity, step, tolerances */

static int params_count(int nbody, int nv, int nforce_param, int ncontact) {
  return HEAD_COUNT + 7 * nv + (2 + INERTIA_COUNT) * nbody + nforce_param +
         SNI_MATERIAL_PARAMS * ncontact;
}

size_t sni_params_size(int nbody, int nv, int nforce_param, int ncontact) {
  return (size_t)params_count(nbody, nv, nforce_param, ncontact) * sizeof(double);
}

void sni_params_place(sni_params *p, int nbody, int nv, int nforce_param, int ncontact,
                      double *memory) {
  p->count = params_count(nbody, nv, nforce_param, ncontact);
  p->value = memory;
  double *at = memory;
#define TAKE(member, n)                                                                            \
  do {                                                                                             \
    p->member = at;                                                                                \
    at += (n);                                                                                     \
  } while (0)
  TAKE(gravity, 3);
  TAKE(step, 1);
  TAKE(rel_tol, 1);
  TAKE(abs_tol, 1);
  TAKE(stiffness, nv);
  TAKE(damping, nv);
  TAKE(rest, nv);
  TAKE(armature, nv);
  TAKE(drive_stiffness, nv);
  TAKE(drive_damping, nv);
  TAKE(drive_max, nv);
  TAKE(drag_angular, nbody);
  TAKE(drag_linear, nbody);
  TAKE(inertia, INERTIA_COUNT * nbody);
  TAKE(force, nforce_param);
  TAKE(contact, SNI_MATERIAL_PARAMS * ncontact);
#undef TAKE
}

void sni_params_copy(sni_params *to, const sni_params *from) {
  memcpy(to->value, from->value, (size_t)from->count * sizeof(double));
}

void sni_params_set_inertia(sni_params *p, int body, sn_inertia I) {
  const double v[INERTIA_COUNT] = {I.mass, I.com.x, I.com.y, I.com.z, I.xx,
                                   I.yy,   I.zz,    I.xy,    I.xz,    I.yz};
  memcpy(p->inertia + INERTIA_COUNT * body, v, sizeof v);
}

/* ---- paths ---- */

#define DIGITS "0123456789"

/* Takes the next word of a path into out: "name" (at the start), ".name", ".2" or "[2]".  False at
 * the end, and where something else stands. */
static bool next_word(const char **path, char *out, size_t out_size) {
  const char *p = *path;
  const bool bracket = *p == '[';
  p += bracket || *p == '.';
  const size_t n = strcspn(p, ".[]");
  if (n == 0 || n >= out_size || (bracket && (strspn(p, DIGITS) != n || p[n] != ']'))) {
    return false;
  }
  memcpy(out, p, n);
  out[n] = 0;
  *path = p + n + bracket;
  return true;
}

typedef struct named_array {
  const char *key;
  size_t member; /* offset in sni_params of the pointer */
  unsigned flags;
  const char *unit, *slides; /* and where the coordinate is a length; NULL: the same */
  const char *doc;
} named_array;

#define MEMBER(member) offsetof(sni_params, member)
static const named_array joint_arrays[] = {
    {"stiffness", MEMBER(stiffness), SNI_NOT_NEGATIVE, "N m/rad", "N/m", "spring of the joint"},
    {"damping", MEMBER(damping), SNI_NOT_NEGATIVE, "N m s/rad", "N s/m", "damping of the joint"},
    {"rest", MEMBER(rest), 0, "rad", "m", "where the spring of the joint is slack"},
    {"armature", MEMBER(armature), SNI_NOT_NEGATIVE, "kg m^2", "kg",
     "inertia of the motor itself"}};
static const named_array drive_arrays[] = {
    {"stiffness", MEMBER(drive_stiffness), SNI_NOT_NEGATIVE, "N m/rad", "N/m", "of the drive"},
    {"damping", MEMBER(drive_damping), SNI_NOT_NEGATIVE, "N m s/rad", "N s/m", "of the drive"},
    {"max_force", MEMBER(drive_max), SNI_NOT_NEGATIVE, "N m", "N", "of the drive"}};
static const named_array drag_arrays[] = {
    {"angular", MEMBER(drag_angular), SNI_NOT_NEGATIVE, "N m s/rad", NULL, "against turning"},
    {"linear", MEMBER(drag_linear), SNI_NOT_NEGATIVE, "N s/m", NULL, "against moving"}};
static const named_array run_arrays[] = {
    {"step", MEMBER(step), SNI_POSITIVE, "s", NULL, "time from one state to the next"}};
static const named_array recursive_arrays[] = {
    {"rel_tol", MEMBER(rel_tol), SNI_POSITIVE, "", NULL,
     "error of a step, by the size of the motion"},
    {"abs_tol", MEMBER(abs_tol), SNI_POSITIVE, "", NULL, "error of a step"}};
static const named_array gravity_array = {"gravity", MEMBER(gravity), 0, "m/s^2", NULL, "gravity"};

static const struct {
  const char *key, *word; /* as it is written, and as a path is read */
  const char *unit, *doc;
} inertia_keys[INERTIA_COUNT] = {
    {"mass", "mass", "kg", "mass of the body"},
    {"at[0]", "at.0", "m", "centre of mass, x"},
    {"at[1]", "at.1", "m", "centre of mass, y"},
    {"at[2]", "at.2", "m", "centre of mass, z"},
    {"xx", "xx", "kg m^2", "moment of inertia about the centre of mass"},
    {"yy", "yy", "kg m^2", "moment of inertia about the centre of mass"},
    {"zz", "zz", "kg m^2", "moment of inertia about the centre of mass"},
    {"xy", "xy", "kg m^2", "product of inertia"},
    {"xz", "xz", "kg m^2", "product of inertia"},
    {"yz", "yz", "kg m^2", "product of inertia"}};

static const named_array *array_find(const named_array *list, int n, const char *key) {
  for (int k = 0; k < n; k++) {
    if (strcmp(list[k].key, key) == 0) {
      return &list[k];
    }
  }
  return NULL;
}

static sni_param_ref array_ref(const sn_model *m, const named_array *a, int first, int n) {
  const double *at = *(double *const *)((const char *)&m->params + a->member);
  return (sni_param_ref){(int)(at - m->params.value) + first, n, 1, a->flags, -1};
}

/* Entries first..first+n of the array, narrowed by an index if the path goes on. */
static bool refer(const sn_model *m, const named_array *a, int first, int n, const char **path,
                  sni_param_ref *ref) {
  char word[32];
  *ref = array_ref(m, a, first, n);
  if (next_word(path, word, sizeof word)) {
    const long k = strtol(word, NULL, 10);
    if (word[strspn(word, DIGITS)] != 0 || k >= n) {
      return false;
    }
    ref->index += (int)k;
    ref->count = 1;
  }
  return **path == 0 && n > 0;
}

static bool has_drive(const sn_model *m, int body) {
  for (int k = 0; k < m->ndrive; k++) {
    if (m->drive[k].body == body) {
      return true;
    }
  }
  return false;
}

static sni_param_ref inertia_ref(const sn_model *m, int body, int k) {
  const int first = (int)(m->params.inertia - m->params.value);
  return (sni_param_ref){first + INERTIA_COUNT * body + k, 1, 1, 0, body};
}

static sni_param_ref force_ref(const sn_model *m, int force, int k) {
  const int first = (int)(m->params.force - m->params.value);
  const unsigned flags = m->force[force].negative && k == 0 ? 0 : SNI_NOT_NEGATIVE;
  return (sni_param_ref){first + m->force[force].param + k, 1, 1, flags, -1};
}

static bool find_body_param(const sn_model *m, const char *path, sni_param_ref *ref) {
  char word[256];
  if (!next_word(&path, word, sizeof word)) {
    return false;
  }
  const int i = sn_model_body_find(m, word);
  if (i < 0 || !next_word(&path, word, sizeof word)) {
    return false;
  }
  const int adr = m->tree.vadr[i], nv = m->tree.vadr[i + 1] - adr;
  const named_array *a = NULL;
  if (strcmp(word, "joint") == 0 && next_word(&path, word, sizeof word)) {
    if (strcmp(word, "drive") == 0) {
      a = has_drive(m, i) && next_word(&path, word, sizeof word)
              ? array_find(drive_arrays, SNI_COUNT(drive_arrays), word)
              : NULL;
    } else {
      a = array_find(joint_arrays, SNI_COUNT(joint_arrays), word);
    }
    return a && refer(m, a, adr, nv, &path, ref);
  }
  if (strcmp(word, "damping") == 0) {
    if (*path == 0) { /* both */
      const int angular = (int)(m->params.drag_angular - m->params.value);
      const int linear = (int)(m->params.drag_linear - m->params.value);
      *ref = (sni_param_ref){angular + i, 2, linear - angular, SNI_NOT_NEGATIVE, -1};
      return true;
    }
    a = next_word(&path, word, sizeof word) ? array_find(drag_arrays, SNI_COUNT(drag_arrays), word)
                                            : NULL;
    return a && *path == 0 && refer(m, a, i, 1, &path, ref);
  }
  if (strcmp(word, "inertia") == 0 && next_word(&path, word, sizeof word)) {
    char full[300];
    snprintf(full, sizeof full, "%s", word);
    if (strcmp(word, "at") == 0 && next_word(&path, word, sizeof word)) {
      snprintf(full, sizeof full, "at.%s", word);
    }
    for (int k = 0; k < INERTIA_COUNT; k++) {
      if (strcmp(inertia_keys[k].word, full) == 0) {
        *ref = inertia_ref(m, i, k);
        return *path == 0;
      }
    }
  }
  return false;
}

static bool find_force_param(const sn_model *m, const char *path, sni_param_ref *ref) {
  char word[256];
  if (!next_word(&path, word, sizeof word)) {
    return false;
  }
  for (int f = 0; f < m->nforce; f++) {
    if (strcmp(m->force_name[f], word) == 0 && next_word(&path, word, sizeof word)) {
      const sni_force_ops *ops = sni_force_kind(m->force[f].kind);
      for (int k = 0; k < ops->nparam; k++) {
        if (strcmp(ops->param_key[k], word) == 0) {
          *ref = force_ref(m, f, k);
          return *path == 0;
        }
      }
      return false;
    }
  }
  return false;
}

static bool find_contact_param(const sn_model *m, const char *path, sni_param_ref *ref) {
  char word[256], key[256];
  if (!next_word(&path, word, sizeof word) || !next_word(&path, key, sizeof key) || *path) {
    return false;
  }
  for (int c = 0; c < m->ncontact; c++) {
    for (int k = 0; k < SNI_MATERIAL_PARAMS && strcmp(m->contact_name[c], word) == 0; k++) {
      if (strcmp(sni_material_key(k), key) == 0) {
        const int first = (int)(m->params.contact - m->params.value);
        *ref = (sni_param_ref){first + SNI_MATERIAL_PARAMS * c + k, 1, 1, SNI_NOT_NEGATIVE, -1};
        return true;
      }
    }
  }
  return false;
}

sn_status sni_param_find(const sn_model *m, const char *path, sni_param_ref *ref, sn_error *err) {
  const char *p = path;
  char word[256];
  bool found = false;
  if (*p != '.' && *p != '[' && next_word(&p, word, sizeof word)) {
    if (strcmp(word, "gravity") == 0) {
      found = refer(m, &gravity_array, 0, 3, &p, ref) && ref->count == 1;
    } else if (strcmp(word, "bodies") == 0) {
      found = find_body_param(m, p, ref);
    } else if (strcmp(word, "forces") == 0) {
      found = find_force_param(m, p, ref);
    } else if (strcmp(word, "contacts") == 0) {
      found = find_contact_param(m, p, ref);
    } else if (strcmp(word, "run") == 0 && next_word(&p, word, sizeof word)) {
      const named_array *a = array_find(run_arrays, SNI_COUNT(run_arrays), word);
      if (strcmp(word, "recursive") == 0 && next_word(&p, word, sizeof word)) {
        a = array_find(recursive_arrays, SNI_COUNT(recursive_arrays), word);
      }
      found = a && *p == 0 && refer(m, a, 0, 1, &p, ref);
    }
  }
  return found ? SN_OK
               : sni_fail(err, SN_E_ARGUMENT,
                          "'%s' is not a parameter of this model; examples: gravity[2], "
                          "bodies.NAME.joint.stiffness, forces.NAME.damping, run.step",
                          path);
}

/* ---- all of them, one after the other ---- */

typedef struct tour {
  const sn_model *m;
  sni_param_visit visit;
  void *user;
  sni_param_item item;
} tour;

static bool show(tour *t, sni_param_ref ref, const char *unit, const char *doc) {
  t->item.ref = ref;
  t->item.unit = unit;
  t->item.doc = doc;
  return t->visit(t->user, &t->item);
}

static bool show_array(tour *t, const named_array *a, int first, const char *in) {
  snprintf(t->item.path, sizeof t->item.path, "%s.%s", in, a->key);
  return show(t, array_ref(t->m, a, first, 1), a->unit, a->doc);
}

static bool show_run(tour *t) {
  bool go = show_array(t, &run_arrays[0], 0, "run");
  for (int k = 0; go && k < 3; k++) {
    snprintf(t->item.path, sizeof t->item.path, "gravity[%d]", k);
    go = show(t, array_ref(t->m, &gravity_array, k, 1), gravity_array.unit, gravity_array.doc);
  }
  for (int k = 0; go && k < SNI_COUNT(recursive_arrays); k++) {
    go = show_array(t, &recursive_arrays[k], 0, "run.recursive");
  }
  return go;
}

/* What the coordinates of a joint from first on are measured in: a column of S without a turn is a
 * length.  Where columns change or are of both kinds, nothing is said. */
static const char *unit_of(const sn_model *m, const named_array *a, int body, int first, int n) {
  const sni_joint_ops *ops = sni_joint_ops_of(sni_tree_joints(&m->tree), body);
  int slides = 0;
  for (int k = first; k < first + n; k++) {
    slides += sn_vec3_norm(m->tree.S0[k].w) == 0;
  }
  return !ops->constant_S || (slides > 0 && slides < n) ? "" : slides > 0 ? a->slides : a->unit;
}

/* All coordinates of a joint at once, then each. */
static bool show_joint(tour *t, int body, const named_array *a, const char *in) {
  const int adr = t->m->tree.vadr[body], nv = t->m->tree.vadr[body + 1] - adr;
  char *path = t->item.path;
  const size_t size = sizeof t->item.path;
  snprintf(path, size, "bodies.%.256s.%s.%s", t->m->name[body], in, a->key);
  bool go =
      nv == 0 || show(t, array_ref(t->m, a, adr, nv), unit_of(t->m, a, body, adr, nv), a->doc);
  for (int k = 0; go && nv > 1 && k < nv; k++) {
    snprintf(path, size, "bodies.%.256s.%s.%s[%d]", t->m->name[body], in, a->key, k);
    go = show(t, array_ref(t->m, a, adr + k, 1), unit_of(t->m, a, body, adr + k, 1), a->doc);
  }
  return go;
}

static bool show_body(tour *t, int body) {
  char in[300];
  bool go = true;
  for (int k = 0; go && k < SNI_COUNT(joint_arrays); k++) {
    go = show_joint(t, body, &joint_arrays[k], "joint");
  }
  for (int k = 0; go && k < SNI_COUNT(drive_arrays) && has_drive(t->m, body); k++) {
    go = show_joint(t, body, &drive_arrays[k], "joint.drive");
  }
  snprintf(in, sizeof in, "bodies.%.256s.damping", t->m->name[body]);
  for (int k = 0; go && k < SNI_COUNT(drag_arrays); k++) {
    go = show_array(t, &drag_arrays[k], body, in);
  }
  for (int k = 0; go && k < INERTIA_COUNT; k++) {
    snprintf(t->item.path, sizeof t->item.path, "bodies.%.256s.inertia.%s", t->m->name[body],
             inertia_keys[k].key);
    go = show(t, inertia_ref(t->m, body, k), inertia_keys[k].unit, inertia_keys[k].doc);
  }
  return go;
}

static bool show_force(tour *t, int force) {
  const sni_force_ops *ops = sni_force_kind(t->m->force[force].kind);
  bool go = true;
  for (int n = 0; go && n < ops->nparam; n++) {
    const char *unit = "", *doc = "";
    for (int i = 0; i < ops->kind.count; i++) {
      const sni_field *f = &ops->kind.field[i];
      if (strcmp(f->key, ops->param_key[n]) == 0) {
        unit = f->unit ? f->unit : "";
        doc = f->doc;
      }
    }
    snprintf(t->item.path, sizeof t->item.path, "forces.%.256s.%s", t->m->force_name[force],
             ops->param_key[n]);
    go = show(t, force_ref(t->m, force, n), unit, doc);
  }
  return go;
}

void sni_params_visit(const sn_model *m, sni_param_visit visit, void *user) {
  tour t = {.m = m, .visit = visit, .user = user};
  bool go = show_run(&t);
  for (int k = 0; go && k < m->nforce; k++) {
    go = show_force(&t, k);
  }
  for (int k = 0; go && k < m->tree.nbody; k++) {
    go = show_body(&t, k);
  }
}
