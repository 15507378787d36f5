/* params_path.c: how a path finds the numbers that may change during a run. */
#include "model/params_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#define MEMBER(member) offsetof(sni_params, member)
const sni_named_array sni_joint_arrays[SNI_JOINT_ARRAYS] = {
    {"stiffness", MEMBER(stiffness), SNI_NOT_NEGATIVE, "N m/rad", "N/m", "spring of the joint"},
    {"damping", MEMBER(damping), SNI_NOT_NEGATIVE, "N m s/rad", "N s/m", "damping of the joint"},
    {"rest", MEMBER(rest), 0, "rad", "m", "where the spring of the joint is slack"},
    {"armature", MEMBER(armature), SNI_NOT_NEGATIVE, "kg m^2", "kg",
     "inertia of the motor itself"}};
const sni_named_array sni_drive_arrays[SNI_DRIVE_ARRAYS] = {
    {"stiffness", MEMBER(drive_stiffness), SNI_NOT_NEGATIVE, "N m/rad", "N/m", "of the drive"},
    {"damping", MEMBER(drive_damping), SNI_NOT_NEGATIVE, "N m s/rad", "N s/m", "of the drive"},
    {"max_force", MEMBER(drive_max), SNI_NOT_NEGATIVE, "N m", "N", "of the drive"}};
const sni_named_array sni_drag_arrays[SNI_DRAG_ARRAYS] = {
    {"angular", MEMBER(drag_angular), SNI_NOT_NEGATIVE, "N m s/rad", NULL, "against turning"},
    {"linear", MEMBER(drag_linear), SNI_NOT_NEGATIVE, "N s/m", NULL, "against moving"}};
const sni_named_array sni_run_arrays[SNI_RUN_ARRAYS] = {
    {"step", MEMBER(step), SNI_POSITIVE, "s", NULL, "time from one state to the next"}};
const sni_named_array sni_recursive_arrays[SNI_RECURSIVE_ARRAYS] = {
    {"rel_tol", MEMBER(rel_tol), SNI_POSITIVE, "", NULL,
     "error of a step, by the size of the motion"},
    {"abs_tol", MEMBER(abs_tol), SNI_POSITIVE, "", NULL, "error of a step"}};
/* Of what acts in loops; member: offset in sni_loop_numbers. */
#define OF_LOOP(member) offsetof(sni_loop_numbers, member)
const sni_named_array sni_loop_arrays[SNI_LOOP_ARRAYS] = {
    {"stiffness", OF_LOOP(stiffness), SNI_NOT_NEGATIVE, "", NULL, "spring of the loop's joint"},
    {"damping", OF_LOOP(damping), SNI_NOT_NEGATIVE, "", NULL, "damping of the loop's joint"},
    {"rest", OF_LOOP(rest), 0, "", NULL, "where the spring of the loop is slack"}};
const sni_named_array sni_loop_drive_arrays[SNI_LOOP_DRIVE_ARRAYS] = {
    {"stiffness", OF_LOOP(drive_stiffness), SNI_NOT_NEGATIVE, "", NULL, "of the loop's drive"},
    {"damping", OF_LOOP(drive_damping), SNI_NOT_NEGATIVE, "", NULL, "of the loop's drive"},
    {"max_force", OF_LOOP(drive_max), SNI_NOT_NEGATIVE, "", NULL, "of the loop's drive"}};
/* Of joints that rub, by their law; member: offset in sni_rub_numbers. */
#define OF_RUB(member) offsetof(sni_rub_numbers, member)
const sni_named_array sni_rub_arrays[SNI_RUB_ARRAYS] = {
    {"mu", OF_RUB(mu), SNI_NOT_NEGATIVE, "", NULL, "coefficient of friction"},
    {"force", OF_RUB(force), SNI_NOT_NEGATIVE, "", NULL, "of friction while it slides"},
    {"breakaway", OF_RUB(breakaway), SNI_NOT_NEGATIVE, "", NULL, "of friction at rest"},
    {"speed", OF_RUB(speed), SNI_POSITIVE, "", NULL, "at which friction falls"}};
const sni_named_array sni_gravity_array = {"gravity", MEMBER(gravity), 0, "m/s^2", NULL, "gravity"};

const sni_inertia_key sni_inertia_keys[SNI_INERTIA_COUNT] = {
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

static const sni_named_array *array_find(const sni_named_array *list, int n, const char *key) {
  for (int k = 0; k < n; k++) {
    if (strcmp(list[k].key, key) == 0) {
      return &list[k];
    }
  }
  return NULL;
}

sni_param_ref sni_array_ref(const sn_model *m, const sni_named_array *a, int first, int n) {
  const double *at = *(double *const *)((const char *)&m->params + a->member);
  return (sni_param_ref){(int)(at - m->params.value) + first, n, 1, a->flags, -1};
}

/* Numbers of a loop's spring or of what rubs, which begin at `base`. */
sni_param_ref sni_number_ref(const sn_model *m, const sni_named_array *a, const void *base, int n) {
  const double *at = (const double *)(const void *)((const char *)base + a->member);
  return (sni_param_ref){(int)(at - m->params.value), n, 1, a->flags, -1};
}

/* One of the n entries, if the path goes on. */
static bool narrow(const char **path, sni_param_ref *ref) {
  const int n = ref->count;
  char word[32];
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

/* Entries first..first+n of the array, narrowed by an index if the path goes on. */
static bool refer(const sn_model *m, const sni_named_array *a, int first, int n, const char **path,
                  sni_param_ref *ref) {
  *ref = sni_array_ref(m, a, first, n);
  return narrow(path, ref);
}

bool sni_has_drive(const sn_model *m, int body) {
  for (int k = 0; k < m->ndrive; k++) {
    if (m->drive[k].body == body) {
      return true;
    }
  }
  return false;
}

sni_param_ref sni_inertia_ref(const sn_model *m, int body, int k) {
  const int first = (int)(m->params.inertia - m->params.value);
  return (sni_param_ref){first + SNI_INERTIA_COUNT * body + k, 1, 1, 0, body};
}

sni_param_ref sni_force_ref(const sn_model *m, int force, int k) {
  const int first = (int)(m->params.force - m->params.value);
  const unsigned flags = m->force[force].negative && k == 0 ? 0 : SNI_NOT_NEGATIVE;
  return (sni_param_ref){first + m->force[force].param + k, 1, 1, flags, -1};
}

/* Which of what rubs is in this joint or loop; -1: none. */
static int find_rub(const sn_model *m, int body, int loop) {
  for (int k = 0; k < m->nrub; k++) {
    if (m->rub[k].body == body && m->rub[k].loop == loop) {
      return k;
    }
  }
  return -1;
}

/* What a law has; n: of each. */
bool sni_law_has(const sn_model *m, int rub, const sni_named_array *a, int *n) {
  const sni_law law = m->rub[rub].law;
  const bool mu = a == &sni_rub_arrays[0], force = a == &sni_rub_arrays[1];
  *n = mu ? 1 : m->rub[rub].nslide;
  return law == SNI_COULOMB ? mu : !mu && (force || law == SNI_STRIBECK);
}

/* path: behind "friction". */
static bool find_rub_param(const sn_model *m, int rub, const char *path, sni_param_ref *ref) {
  char word[256];
  int n = 0;
  const sni_named_array *a = rub >= 0 && next_word(&path, word, sizeof word)
                                 ? array_find(sni_rub_arrays, SNI_RUB_ARRAYS, word)
                                 : NULL;
  if (!a || !sni_law_has(m, rub, a, &n)) {
    return false;
  }
  *ref = sni_number_ref(m, a, &m->params.rub[rub], n);
  return narrow(&path, ref);
}

static int find_loop(const sn_model *m, const char *name) {
  for (int k = 0; k < m->nloop; k++) {
    if (strcmp(m->constraint_name[k], name) == 0) {
      return k;
    }
  }
  return -1;
}

static int find_loop_spring(const sn_model *m, int loop) {
  for (int k = 0; k < m->nloop_spring; k++) {
    if (m->loop_spring[k].loop == loop) {
      return k;
    }
  }
  return -1;
}

static bool find_loop_param(const sn_model *m, const char *path, sni_param_ref *ref) {
  char word[256];
  const int loop = next_word(&path, word, sizeof word) ? find_loop(m, word) : -1;
  if (loop < 0 || !next_word(&path, word, sizeof word)) {
    return false;
  }
  if (strcmp(word, "friction") == 0) {
    return find_rub_param(m, find_rub(m, -1, loop), path, ref);
  }
  const int spring = find_loop_spring(m, loop);
  const bool drive = strcmp(word, "drive") == 0;
  if (spring < 0 ||
      (drive && !(m->loop_spring[spring].driven && next_word(&path, word, sizeof word)))) {
    return false;
  }
  const sni_named_array *a = drive ? array_find(sni_loop_drive_arrays, SNI_LOOP_DRIVE_ARRAYS, word)
                                   : array_find(sni_loop_arrays, SNI_LOOP_ARRAYS, word);
  if (!a) {
    return false;
  }
  *ref = sni_number_ref(m, a, &m->params.loop[spring], m->constraint[loop].nv);
  return narrow(&path, ref);
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
  const sni_named_array *a = NULL;
  if (strcmp(word, "joint") == 0 && next_word(&path, word, sizeof word)) {
    if (strcmp(word, "friction") == 0) {
      return find_rub_param(m, find_rub(m, i, -1), path, ref);
    }
    if (strcmp(word, "drive") == 0) {
      a = sni_has_drive(m, i) && next_word(&path, word, sizeof word)
              ? array_find(sni_drive_arrays, SNI_DRIVE_ARRAYS, word)
              : NULL;
    } else {
      a = array_find(sni_joint_arrays, SNI_JOINT_ARRAYS, word);
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
    a = next_word(&path, word, sizeof word) ? array_find(sni_drag_arrays, SNI_DRAG_ARRAYS, word)
                                            : NULL;
    return a && *path == 0 && refer(m, a, i, 1, &path, ref);
  }
  if (strcmp(word, "inertia") == 0 && next_word(&path, word, sizeof word)) {
    char full[300];
    snprintf(full, sizeof full, "%s", word);
    if (strcmp(word, "at") == 0 && next_word(&path, word, sizeof word)) {
      snprintf(full, sizeof full, "at.%s", word);
    }
    for (int k = 0; k < SNI_INERTIA_COUNT; k++) {
      if (strcmp(sni_inertia_keys[k].word, full) == 0) {
        *ref = sni_inertia_ref(m, i, k);
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
          *ref = sni_force_ref(m, f, k);
          return *path == 0;
        }
      }
      return false;
    }
  }
  return false;
}

sni_param_ref sni_contact_ref(const sn_model *m, int contact, int k) {
  const int first = (int)(m->params.contact - m->params.value);
  const unsigned flags = SNI_NOT_NEGATIVE | (k == SNI_RESTITUTION ? SNI_AT_MOST_ONE : 0);
  return (sni_param_ref){first + SNI_MATERIAL_PARAMS * contact + k, 1, 1, flags, -1};
}

static bool find_contact_param(const sn_model *m, const char *path, sni_param_ref *ref) {
  char word[256], key[256];
  if (!next_word(&path, word, sizeof word) || !next_word(&path, key, sizeof key) || *path) {
    return false;
  }
  for (int c = 0; c < m->ncontact; c++) {
    for (int k = 0; k < SNI_MATERIAL_PARAMS && strcmp(m->contact_name[c], word) == 0; k++) {
      if (strcmp(sni_material_key(k), key) == 0) {
        *ref = sni_contact_ref(m, c, k);
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
      found = refer(m, &sni_gravity_array, 0, 3, &p, ref) && ref->count == 1;
    } else if (strcmp(word, "bodies") == 0) {
      found = find_body_param(m, p, ref);
    } else if (strcmp(word, "forces") == 0) {
      found = find_force_param(m, p, ref);
    } else if (strcmp(word, "loops") == 0) {
      found = find_loop_param(m, p, ref);
    } else if (strcmp(word, "contacts") == 0) {
      found = find_contact_param(m, p, ref);
    } else if (strcmp(word, "run") == 0 && next_word(&p, word, sizeof word)) {
      const sni_named_array *a = array_find(sni_run_arrays, SNI_RUN_ARRAYS, word);
      if (strcmp(word, "recursive") == 0 && next_word(&p, word, sizeof word)) {
        a = array_find(sni_recursive_arrays, SNI_RECURSIVE_ARRAYS, word);
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
