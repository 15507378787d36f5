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
} named_array;

static const named_array joint_arrays[] = {
    {"stiffness", offsetof(sni_params, stiffness), SNI_NOT_NEGATIVE},
    {"damping", offsetof(sni_params, damping), SNI_NOT_NEGATIVE},
    {"rest", offsetof(sni_params, rest), 0},
    {"armature", offsetof(sni_params, armature), SNI_NOT_NEGATIVE}};
static const named_array drive_arrays[] = {
    {"stiffness", offsetof(sni_params, drive_stiffness), SNI_NOT_NEGATIVE},
    {"damping", offsetof(sni_params, drive_damping), SNI_NOT_NEGATIVE},
    {"max_force", offsetof(sni_params, drive_max), SNI_NOT_NEGATIVE}};
static const named_array drag_arrays[] = {
    {"angular", offsetof(sni_params, drag_angular), SNI_NOT_NEGATIVE},
    {"linear", offsetof(sni_params, drag_linear), SNI_NOT_NEGATIVE}};
static const named_array run_arrays[] = {{"step", offsetof(sni_params, step), SNI_POSITIVE}};
static const named_array recursive_arrays[] = {
    {"rel_tol", offsetof(sni_params, rel_tol), SNI_POSITIVE},
    {"abs_tol", offsetof(sni_params, abs_tol), SNI_POSITIVE}};

static const named_array *array_find(const named_array *list, int n, const char *key) {
  for (int k = 0; k < n; k++) {
    if (strcmp(list[k].key, key) == 0) {
      return &list[k];
    }
  }
  return NULL;
}

/* Entries first..first+n of the array, narrowed by an index if the path goes on. */
static bool refer(const sn_model *m, const named_array *a, int first, int n, const char **path,
                  sni_param_ref *ref) {
  const double *at = *(double *const *)((const char *)&m->params + a->member);
  char word[32];
  *ref = (sni_param_ref){(int)(at - m->params.value) + first, n, 1, a->flags, -1};
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
    static const char *const keys[INERTIA_COUNT] = {"mass", "at.0", "at.1", "at.2", "xx",
                                                    "yy",   "zz",   "xy",   "xz",   "yz"};
    char full[300];
    snprintf(full, sizeof full, "%s", word);
    if (strcmp(word, "at") == 0 && next_word(&path, word, sizeof word)) {
      snprintf(full, sizeof full, "at.%s", word);
    }
    for (int k = 0; k < INERTIA_COUNT; k++) {
      if (strcmp(keys[k], full) == 0) {
        const int first = (int)(m->params.inertia - m->params.value);
        *ref = (sni_param_ref){first + INERTIA_COUNT * i + k, 1, 1, 0, i};
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
          const int first = (int)(m->params.force - m->params.value);
          const unsigned flags = m->force[f].negative && k == 0 ? 0 : SNI_NOT_NEGATIVE;
          *ref = (sni_param_ref){first + m->force[f].param + k, 1, 1, flags, -1};
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
      const named_array gravity = {"gravity", offsetof(sni_params, gravity), 0};
      found = refer(m, &gravity, 0, 3, &p, ref) && ref->count == 1;
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
