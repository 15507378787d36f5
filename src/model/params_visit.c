/* params_visit.c: all numbers that may change during a run, one after the other, with their paths.
 */
#include <stdio.h>
#include <string.h>

#include "model/params_path.h"

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

static bool show_array(tour *t, const sni_named_array *a, int first, const char *in) {
  snprintf(t->item.path, sizeof t->item.path, "%s.%s", in, a->key);
  return show(t, sni_array_ref(t->m, a, first, 1), a->unit, a->doc);
}

static bool show_run(tour *t) {
  bool go = show_array(t, &sni_run_arrays[0], 0, "run");
  for (int k = 0; go && k < 3; k++) {
    snprintf(t->item.path, sizeof t->item.path, "gravity[%d]", k);
    go = show(t, sni_array_ref(t->m, &sni_gravity_array, k, 1), sni_gravity_array.unit,
              sni_gravity_array.doc);
  }
  for (int k = 0; go && k < SNI_RECURSIVE_ARRAYS; k++) {
    go = show_array(t, &sni_recursive_arrays[k], 0, "run.recursive");
  }
  return go;
}

/* What the coordinates of a joint from first on are measured in: a column of S without a turn is a
 * length.  Where columns change or are of both kinds, nothing is said. */
static const char *unit_of(const sn_model *m, const sni_named_array *a, int body, int first,
                           int n) {
  const sni_joint_ops *ops = sni_joint_ops_of(sni_tree_joints(&m->tree), body);
  int slides = 0;
  for (int k = first; k < first + n; k++) {
    slides += sn_vec3_norm(m->tree.S0[k].w) == 0;
  }
  return !ops->constant_S || (slides > 0 && slides < n) ? "" : slides > 0 ? a->slides : a->unit;
}

/* All coordinates of a joint at once, then each. */
static bool show_joint(tour *t, int body, const sni_named_array *a, const char *in) {
  const int adr = t->m->tree.vadr[body], nv = t->m->tree.vadr[body + 1] - adr;
  char *path = t->item.path;
  const size_t size = sizeof t->item.path;
  snprintf(path, size, "bodies.%.256s.%s.%s", t->m->name[body], in, a->key);
  bool go =
      nv == 0 || show(t, sni_array_ref(t->m, a, adr, nv), unit_of(t->m, a, body, adr, nv), a->doc);
  for (int k = 0; go && nv > 1 && k < nv; k++) {
    snprintf(path, size, "bodies.%.256s.%s.%s[%d]", t->m->name[body], in, a->key, k);
    go = show(t, sni_array_ref(t->m, a, adr + k, 1), unit_of(t->m, a, body, adr + k, 1), a->doc);
  }
  return go;
}

/* n entries at once, then each; path: without the key. */
static bool show_numbers(tour *t, const sni_named_array *a, const void *base, int n,
                         const char *in) {
  char *path = t->item.path;
  const size_t size = sizeof t->item.path;
  sni_param_ref ref = sni_number_ref(t->m, a, base, n);
  snprintf(path, size, "%s.%s", in, a->key);
  bool go = show(t, ref, a->unit, a->doc);
  ref.count = 1;
  for (int k = 0; go && n > 1 && k < n; k++, ref.index++) {
    snprintf(path, size, "%s.%s[%d]", in, a->key, k);
    go = show(t, ref, a->unit, a->doc);
  }
  return go;
}

static bool show_rub(tour *t, int rub) {
  const sni_rub *own = &t->m->rub[rub];
  char in[300];
  bool go = true;
  snprintf(in, sizeof in, own->loop >= 0 ? "loops.%.256s.friction" : "bodies.%.256s.joint.friction",
           own->loop >= 0 ? t->m->constraint_name[own->loop] : t->m->name[own->body]);
  for (int k = 0, n; go && k < SNI_RUB_ARRAYS; k++) {
    go = !sni_law_has(t->m, rub, &sni_rub_arrays[k], &n) ||
         show_numbers(t, &sni_rub_arrays[k], &t->m->params.rub[rub], n, in);
  }
  return go;
}

static bool show_loop(tour *t, int spring) {
  const sni_loop_spring *own = &t->m->loop_spring[spring];
  const sni_loop_numbers *base = &t->m->params.loop[spring];
  const int nv = t->m->constraint[own->loop].nv;
  char in[300];
  bool go = true;
  snprintf(in, sizeof in, "loops.%.256s", t->m->constraint_name[own->loop]);
  for (int k = 0; go && k < SNI_LOOP_ARRAYS; k++) {
    go = show_numbers(t, &sni_loop_arrays[k], base, nv, in);
  }
  snprintf(in, sizeof in, "loops.%.256s.drive", t->m->constraint_name[own->loop]);
  for (int k = 0; go && own->driven && k < SNI_LOOP_DRIVE_ARRAYS; k++) {
    go = show_numbers(t, &sni_loop_drive_arrays[k], base, nv, in);
  }
  return go;
}

static bool show_contact(tour *t, int contact) {
  static const char *const docs[SNI_MATERIAL_PARAMS] = {
      "coefficient of friction", "share of the speed that comes back",
      "rolling friction",        "friction against spinning",
      "thickness of the skin",   "of the surface; 0: rigid",
      "of the surface"};
  static const char *const units[SNI_MATERIAL_PARAMS] = {"", "", "m", "m", "m", "N/m", "N s/m"};
  bool go = true;
  for (int k = 0; go && k < SNI_MATERIAL_PARAMS; k++) {
    snprintf(t->item.path, sizeof t->item.path, "contacts.%.256s.%s", t->m->contact_name[contact],
             sni_material_key(k));
    go = show(t, sni_contact_ref(t->m, contact, k), units[k], docs[k]);
  }
  return go;
}

static bool show_body(tour *t, int body) {
  char in[300];
  bool go = true;
  for (int k = 0; go && k < SNI_JOINT_ARRAYS; k++) {
    go = show_joint(t, body, &sni_joint_arrays[k], "joint");
  }
  for (int k = 0; go && k < SNI_DRIVE_ARRAYS && sni_has_drive(t->m, body); k++) {
    go = show_joint(t, body, &sni_drive_arrays[k], "joint.drive");
  }
  snprintf(in, sizeof in, "bodies.%.256s.damping", t->m->name[body]);
  for (int k = 0; go && k < SNI_DRAG_ARRAYS; k++) {
    go = show_array(t, &sni_drag_arrays[k], body, in);
  }
  for (int k = 0; go && k < SNI_INERTIA_COUNT; k++) {
    snprintf(t->item.path, sizeof t->item.path, "bodies.%.256s.inertia.%s", t->m->name[body],
             sni_inertia_keys[k].key);
    go = show(t, sni_inertia_ref(t->m, body, k), sni_inertia_keys[k].unit, sni_inertia_keys[k].doc);
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
    go = show(t, sni_force_ref(t->m, force, n), unit, doc);
  }
  return go;
}

void sni_params_visit(const sn_model *m, sni_param_visit visit, void *user) {
  tour t = {.m = m, .visit = visit, .user = user};
  bool go = show_run(&t);
  for (int k = 0; go && k < m->nforce; k++) {
    go = show_force(&t, k);
  }
  for (int k = 0; go && k < m->ncontact; k++) {
    go = show_contact(&t, k);
  }
  for (int k = 0; go && k < m->nloop_spring; k++) {
    go = show_loop(&t, k);
  }
  for (int k = 0; go && k < m->nrub; k++) {
    go = show_rub(&t, k);
  }
  for (int k = 0; go && k < m->tree.nbody; k++) {
    go = show_body(&t, k);
  }
}
