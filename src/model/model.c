/* model.c: what can be asked of a model. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

void sn_model_free(sn_model **model) {
  sn_model *m = *model;
  if (m) {
    for (int s = 0; s < m->nshape; s++) {
      sni_mesh_free(&m->shape[s].mesh);
    }
    for (int f = 0; f < m->nfunction; f++) {
      sni_function_free(&m->function[f]);
    }
    free(m->function);
    sni_arena_free(&m->arena);
    free(m);
  }
  *model = NULL;
}

int sn_model_body_count(const sn_model *m) {
  return m->tree.nbody;
}
int sn_model_dof_count(const sn_model *m) {
  return m->tree.nv;
}
double sn_model_mass(const sn_model *m) {
  return m->mass;
}
uint64_t sn_model_hash(const sn_model *m) {
  return m->hash;
}
const sn_run_def *sn_model_run(const sn_model *m) {
  return &m->run;
}

int sn_model_body_find(const sn_model *m, const char *name) {
  int lo = 0, hi = m->tree.nbody;
  while (lo < hi) {
    const int mid = (lo + hi) / 2;
    const int order = strcmp(m->name[m->by_name[mid]], name);
    if (order == 0) {
      return m->by_name[mid];
    }
    if (order < 0) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return -1;
}

static bool is_body(const sn_model *m, int body) {
  return body >= 0 && body < m->tree.nbody;
}

const char *sn_model_body_name(const sn_model *m, int body) {
  return is_body(m, body) ? m->name[body] : body == -1 ? "world" : NULL;
}
int sn_model_body_parent(const sn_model *m, int body) {
  return is_body(m, body) ? m->tree.parent[body] : -1;
}
const char *sn_model_joint_type(const sn_model *m, int body) {
  return is_body(m, body) ? sni_joint_kind(m->tree.joint[body].kind)->kind.keyword : NULL;
}
int sn_model_joint_first(const sn_model *m, int body) {
  return is_body(m, body) ? m->tree.vadr[body] : -1;
}
int sn_model_joint_dofs(const sn_model *m, int body) {
  return is_body(m, body) ? m->tree.vadr[body + 1] - m->tree.vadr[body] : 0;
}

void sni_model_poses(const sn_model *m, const double *q, sn_se3 *E_wb) {
  const sni_tree *t = &m->tree;
  const double rest[SN_NV_MAX] = {0};
  for (int i = 0; i < t->nbody; i++) {
    sn_se3 E_pb;
    sn_vec6 S[SN_NV_MAX], Sdot[SN_NV_MAX];
    sni_joint_ops_of(sni_tree_joints(t), i)
        ->calc(sni_tree_joints(t), i, 1, q + t->vadr[i], rest, (sni_joint_out){&E_pb, S, Sdot});
    E_wb[i] = t->parent[i] < 0 ? E_pb : sn_se3_mul(E_wb[t->parent[i]], E_pb);
  }
}

uint64_t sni_hash(uint64_t seed, const void *data, size_t size) {
  const unsigned char *p = data;
  for (size_t k = 0; k < size; k++) {
    seed = (seed ^ p[k]) * 0x100000001b3u;
  }
  return seed;
}
