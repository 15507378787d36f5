/* snr_head.c: the header of a recording: everything that does not change from frame to frame. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/snr.h"
#include "methods/sim.h"
#include "sinew_version.h"

/* A header in the making. */
typedef struct head {
  const sn_sim *sim;
  const sn_model *m;
  sni_json json;
  int *first, *next; /* nbody + 1, nshape: the shapes of each body as lists, -1: end   */
  int *mesh_of;      /* nshape  which mesh, -1: none                                    */
  int *mesh;         /* nmesh  a shape that has it                                      */
  int nmesh;
} head;

double sni_snr_metres(const char *units) {
  static const struct {
    const char *name;
    double metres;
  } known[] = {{"m", 1},     {"km", 1000},   {"dm", 0.1},    {"cm", 0.01}, {"mm", 1e-3},
               {"um", 1e-6}, {"in", 0.0254}, {"ft", 0.3048}, {"nm", 1e-9}, {"mi", 1609.344}};
  const size_t n = strcspn(units, " ,/");
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strlen(known[k].name) == n && strncmp(units, known[k].name, n) == 0) {
      return known[k].metres;
    }
  }
  return NAN;
}

/* ---- small things ---- */

static void put_vec3(sni_json *j, const char *key, sn_vec3 v) {
  sni_json_numbers(j, key, (double[]){v.x, v.y, v.z}, 3);
}

static void put_pose(sni_json *j, const char *key, sn_se3 E) {
  const sn_quat q = sn_quat_from_mat3(E.R);
  sni_json_numbers(j, key, (double[]){E.p.x, E.p.y, E.p.z, q.x, q.y, q.z, q.w}, 7);
}

static void put_int(sni_json *j, const char *key, int value) {
  sni_json_raw(j, key, "%d", value);
}

/* The pose of a joint's child in its parent, all coordinates 0. */
static sn_se3 joint_rest(sni_joint_set set, int joint) {
  const double zero[SN_NV_MAX] = {0};
  sn_se3 E;
  sn_vec6 S[SN_NV_MAX], Sdot[SN_NV_MAX];
  sni_joint_ops_of(set, joint)->calc(set, joint, 1, zero, zero, (sni_joint_out){&E, S, Sdot});
  return E;
}

/* ---- bodies ---- */

/* Columns of S that are constant are axes fixed in the body.  [RMS 16] */
static void put_axes(head *h, int body) {
  const sni_tree *t = &h->m->tree;
  const bool fixed = sni_joint_ops_of(sni_tree_joints(t), body)->constant_S;
  sni_json_open(&h->json, "axes", "[");
  for (int k = t->vadr[body]; fixed && k < t->vadr[body + 1]; k++) {
    const sn_vec6 S = t->S0[k];
    const double w = sn_vec3_norm(S.w), v = sn_vec3_norm(S.v);
    sni_json_open(&h->json, NULL, "{");
    if (w > 0) {
      put_vec3(&h->json, "turn", sn_vec3_scale(S.w, 1 / w));
    }
    if (v > 0) {
      put_vec3(&h->json, "slide", sn_vec3_scale(S.v, 1 / v));
    }
    sni_json_close(&h->json, "}");
  }
  sni_json_close(&h->json, "]");
}

/* The keys of a shape are those of its table. */
static void put_shape(head *h, int shape) {
  sni_json *j = &h->json;
  const sn_shape_def *def = &h->m->shape[shape].def;
  const sni_kind *kind = &sni_shape_kind(sni_shape_kind_find(def->type))->kind;
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "type", def->type);
  for (int k = 0; k < kind->count; k++) {
    const sni_field *f = &kind->field[k];
    const void *at = (const char *)def + f->offset;
    if (f->type == SNI_F_POSE) {
      put_pose(j, f->key, *(const sn_se3 *)at);
    } else if (f->type == SNI_F_VEC3) {
      put_vec3(j, f->key, *(const sn_vec3 *)at);
    } else if (f->type == SNI_F_NUMBER) {
      sni_json_number(j, f->key, *(const double *)at);
    }
  }
  if (h->mesh_of[shape] >= 0) {
    put_int(j, "mesh", h->mesh_of[shape]);
  }
  if (def->color.x >= 0) {
    put_vec3(j, "color", def->color);
  }
  sni_json_close(j, "}");
}

static void put_body(head *h, int body) {
  sni_json *j = &h->json;
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "name", h->m->name[body]);
  put_int(j, "parent", h->m->tree.parent[body]);
  sni_json_open(j, "joint", "{");
  sni_json_text(j, "type", sn_model_joint_type(h->m, body));
  put_int(j, "dofs", sn_model_joint_dofs(h->m, body));
  put_pose(j, "at", joint_rest(sni_tree_joints(&h->m->tree), body));
  put_axes(h, body);
  sni_json_close(j, "}");
  sni_json_open(j, "shapes", "[");
  for (int s = h->first[body]; s >= 0; s = h->next[s]) {
    put_shape(h, s);
  }
  sni_json_close(j, "]");
  if (h->first[body] < 0) {
    put_vec3(j, "com", sni_params_inertia(&h->sim->d.params, body).com);
  }
  sni_json_close(j, "}");
}

/* ---- what is between bodies ---- */

static void put_point(sni_json *j, int body, sn_vec3 at) {
  sni_json_open(j, NULL, "{");
  put_int(j, "body", body);
  put_vec3(j, "at", at);
  sni_json_close(j, "}");
}

/* A cable has its points in a list, a spring has two ends. */
static void put_line(head *h, int line) {
  sni_json *j = &h->json;
  const sni_force *f = &h->m->force[h->m->line[line]];
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "name", h->m->force_name[h->m->line[line]]);
  sni_json_text(j, "type", sni_force_kind(f->kind)->kind.keyword);
  sni_json_raw(j, "tension_only", f->pulls_only ? "true" : "false");
  sni_json_open(j, "points", "[");
  for (int k = 0; k < f->npoint; k++) {
    put_point(j, f->via[k].member < 0 ? -1 : f->member[f->via[k].member], f->via[k].at);
  }
  for (int k = 0; k < 2 && f->npoint == 0; k++) {
    put_point(j, f->body[k], f->at[k]);
  }
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}

static void put_frame(sni_json *j, const char *key, int body, sn_se3 at) {
  sni_json_open(j, key, "{");
  put_int(j, "body", body);
  put_pose(j, "at", at);
  sni_json_close(j, "}");
}

static void put_constraint(head *h, int k, const char *type) {
  sni_json *j = &h->json;
  const sni_constraint *c = &h->m->constraint[k];
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "name", h->m->constraint_name[k]);
  sni_json_text(j, "type", type);
  put_frame(j, "a", c->body[0], c->at[0]);
  put_frame(j, "b", c->body[1], c->at[1]);
  sni_json_close(j, "}");
}

bool sni_snr_is_link(const sn_model *m, int k) {
  if (k < m->nloop) {
    return true;
  }
  const char *type = sni_constraint_kind(m->constraint[k].kind)->kind.keyword;
  return strcmp(type, "distance") == 0 || strcmp(type, "weld") == 0 || strcmp(type, "point") == 0;
}

static void put_constraints(head *h) {
  const sn_model *m = h->m;
  sni_json_open(&h->json, "loops", "[");
  for (int k = 0; k < m->nloop; k++) {
    put_constraint(h, k, sni_joint_ops_of(m->loop_joints, m->constraint[k].joint)->kind.keyword);
  }
  sni_json_close(&h->json, "]");
  sni_json_open(&h->json, "constraints", "[");
  for (int k = m->nloop; k < m->nloop + m->nbond; k++) {
    if (sni_snr_is_link(m, k)) {
      put_constraint(h, k, sni_constraint_kind(m->constraint[k].kind)->kind.keyword);
    }
  }
  sni_json_close(&h->json, "]");
}

/* ---- the whole ---- */

static void put_facts(head *h, const sni_snr_about *a) {
  sni_json *j = &h->json;
  const sn_model *m = h->m;
  const char *scene = a->options->scene ? a->options->scene : "";
  const char *slash = strrchr(scene, '/');
  sni_json_text(j, "format", "sinew recording");
  put_int(j, "version", 1);
  sni_json_text(j, "sinew", SINEW_VERSION);
  sni_json_text(j, "scene", slash ? slash + 1 : scene);
  sni_json_raw(j, "model", "\"%016llx\"", (unsigned long long)m->hash);
  sni_json_text(j, "units", m->units);
  sni_json_number(j, "metres", sni_snr_metres(m->units));
  sni_json_text(j, "up", m->up);
  sni_json_numbers(j, "gravity", h->sim->d.params.gravity, 3);
  sni_json_text(j, "method", h->sim->method->name);
  sni_json_number(j, "step", *h->sim->d.params.step);
  sni_json_number(j, "every", a->options->every);
  sni_json_number(j, "start", a->start);
  sni_json_number(j, "duration", a->options->duration);
}

static void put_all(head *h, const sni_snr_about *a) {
  sni_json *j = &h->json;
  sni_json_open(j, NULL, "{");
  put_facts(h, a);
  sni_json_open(j, "bodies", "[");
  for (int k = 0; k < h->m->tree.nbody; k++) {
    put_body(h, k);
  }
  sni_json_close(j, "]");
  sni_json_open(j, "lines", "[");
  for (int k = 0; k < h->m->nline; k++) {
    put_line(h, k);
  }
  sni_json_close(j, "]");
  put_constraints(h);
  put_int(j, "meshes", h->nmesh);
  sni_json_open(j, "channels", "[");
  for (int k = 0; k < a->nchannel; k++) {
    sni_json_text(j, NULL, a->channel[k]);
  }
  sni_json_close(j, "]");
  sni_json_open(j, "soft", "[");
  sni_json_close(j, "]");
  sni_json_close(j, "}");
}

/* ---- shapes and meshes ---- */

static bool same_mesh(const sn_shape_def *a, const sn_shape_def *b) {
  return strcmp(a->file, b->file) == 0 && strcmp(a->type, b->type) == 0 && a->size.x == b->size.x &&
         a->size.y == b->size.y && a->size.z == b->size.z;
}

/* Shapes of one file share a mesh. */
static void number_meshes(head *h) {
  for (int s = 0; s < h->m->nshape; s++) {
    h->mesh_of[s] = -1;
    for (int k = 0; h->m->shape[s].mesh && k < h->nmesh && h->mesh_of[s] < 0; k++) {
      const bool same = same_mesh(&h->m->shape[s].def, &h->m->shape[h->mesh[k]].def);
      h->mesh_of[s] = same ? k : -1;
    }
    if (h->m->shape[s].mesh && h->mesh_of[s] < 0) {
      h->mesh_of[s] = h->nmesh;
      h->mesh[h->nmesh++] = s;
    }
  }
}

static bool list_shapes(head *h) {
  const size_t nbody = (size_t)h->m->tree.nbody, nshape = (size_t)h->m->nshape;
  h->first = malloc((nbody + 1) * sizeof *h->first);
  h->next = malloc((nshape + 1) * sizeof *h->next);
  h->mesh_of = malloc((nshape + 1) * sizeof *h->mesh_of);
  h->mesh = malloc((nshape + 1) * sizeof *h->mesh);
  if (!h->first || !h->next || !h->mesh_of || !h->mesh) {
    return false;
  }
  for (size_t k = 0; k <= nbody; k++) {
    h->first[k] = -1;
  }
  for (int s = h->m->nshape - 1; s >= 0; s--) { /* backwards, so that lists run forwards */
    const int body = h->m->shape[s].body;
    h->next[s] = h->first[body];
    h->first[body] = s;
  }
  number_meshes(h);
  return true;
}

static sni_snr_mesh_head mesh_head(const head *h, int k) {
  const sni_mesh *mesh = h->m->shape[h->mesh[k]].mesh;
  return (sni_snr_mesh_head){.which = (uint32_t)k,
                             .nvertex = (uint32_t)mesh->nvertex,
                             .ntriangle = (uint32_t)mesh->ntriangle};
}

static char *write_mesh(const head *h, int k, char *to) {
  const sni_mesh *mesh = h->m->shape[h->mesh[k]].mesh;
  const sni_snr_mesh_head about = mesh_head(h, k);
  const sni_snr_record record = {SNI_SNR_MESH, (uint32_t)sni_snr_mesh_size(&about)};
  memcpy(to, &record, sizeof record);
  memcpy(to + sizeof record, &about, sizeof about);
  char *at = to + sizeof record + sizeof about;
  for (int v = 0; v < mesh->nvertex; v++, at += 12) {
    const sn_vec3 x = mesh->vertex[v];
    memcpy(at, (float[]){(float)x.x, (float)x.y, (float)x.z}, 12);
  }
  for (int t = 0; t < mesh->ntriangle; t++, at += 12) {
    const int *v = mesh->triangle[t].v;
    memcpy(at, (uint32_t[]){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]}, 12);
  }
  return to + sizeof record + record.size;
}

/* Sizes in bytes of the JSON, filled up, and of all records together. */
static sn_status measure(const head *h, size_t *text, size_t *all, sn_error *err) {
  *text = sni_snr_padded(h->json.out.length);
  *all = sizeof(sni_snr_record) + *text;
  bool good = *text <= SNI_SNR_RECORD_MAX;
  for (int k = 0; k < h->nmesh; k++) {
    const sni_snr_mesh_head about = mesh_head(h, k);
    const size_t size = sni_snr_mesh_size(&about);
    good = good && size <= SNI_SNR_RECORD_MAX && about.nvertex <= SNI_SNR_MESH_MAX &&
           about.ntriangle <= SNI_SNR_MESH_MAX;
    *all += sizeof(sni_snr_record) + size;
  }
  return good ? SN_OK : sni_fail(err, SN_E_LIMIT, "the scene is too large for a recording");
}

static sn_status write_records(const head *h, char **out, size_t *size, sn_error *err) {
  size_t text;
  const sn_status status = measure(h, &text, size, err);
  char *to = status ? NULL : calloc(1, *size);
  if (!to) {
    return status ? status : sni_fail(err, SN_E_MEMORY, "no memory for the head of a recording");
  }
  const sni_snr_record record = {SNI_SNR_HEAD, (uint32_t)text};
  memcpy(to, &record, sizeof record);
  char *at = to + sizeof record;
  memset(at, ' ', text);
  memcpy(at, h->json.out.text, h->json.out.length);
  at += text;
  for (int k = 0; k < h->nmesh; k++) {
    at = write_mesh(h, k, at);
  }
  *out = to;
  return SN_OK;
}

sn_status sni_snr_head_make(const sn_sim *sim, const sni_snr_about *about, char **out, size_t *size,
                            sn_error *err) {
  head h = {.sim = sim, .m = sim->m, .json = {.compact = true}};
  sn_status status = SN_E_MEMORY;
  if (list_shapes(&h)) {
    put_all(&h, about);
    status = h.json.out.out_of_memory ? SN_E_MEMORY : write_records(&h, out, size, err);
  }
  free(h.json.out.text);
  free(h.first);
  free(h.next);
  free(h.mesh_of);
  free(h.mesh);
  return status == SN_E_MEMORY ? sni_fail(err, SN_E_MEMORY, "no memory for the head of a recording")
                               : status;
}
