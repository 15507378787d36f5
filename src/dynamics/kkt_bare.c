/* kkt_bare.c: balls whose rates need not be unknowns of the graph. */
#include "dynamics/kkt_bare.h"

#include "dynamics/rows.h"

static bool is_bare(const sni_dynamics *d, int i) {
  const sni_tree *t = &d->m->tree;
  const sni_params *p = &d->params;
  bool alone = sni_tree_ball_alone(t, i);
  for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
    alone = alone && p->stiffness[k] == 0 && p->damping[k] == 0 && p->armature[k] == 0;
  }
  return alone;
}

void sni_bare_find(const sni_dynamics *d, bool *bare) {
  const sn_model *m = d->m;
  const sni_tree *t = &m->tree;
  for (int i = 0; i < t->nbody; i++) {
    bare[i] = !d->user_tangent && is_bare(d, i);
  }
  for (int k = 0; k < m->ndrive; k++) {
    bare[m->drive[k].body] = false;
  }
  for (int k = 0; k < m->nrub; k++) { /* what sticks is heavy where gaps close */
    if (m->rub[k].body >= 0) {
      bare[m->rub[k].body] = false;
    }
  }
  for (int c = 0; d->rows && c < d->rows->nconstraint; c++) {
    const sni_constraint *con = &d->rows->constraint[c];
    for (int j = 0; j < con->ncoord; j++) {
      bare[sni_tree_body_of(t, con->coord[j])] = false;
    }
  }
}

bool sni_bare_stays(const sni_tree *t, const sni_aba_in *in, int i) {
  const int n = in->joint_matrix ? 9 : 3;
  const double *own =
      in->joint_matrix ? in->joint_matrix + t->factor[i] : in->armature + t->vadr[i];
  bool none = true;
  for (int k = 0; k < n; k++) {
    none = none && own[k] == 0;
  }
  return none;
}

/* S = (W, 0), P = (W^-1, 0) */
void sni_bare_look(const sni_dynamics *d, int i, sni_bare *out) {
  const sni_lane6 *S = d->w.S + d->m->tree.vadr[i];
  const sn_vec3 a = sni_lane_vec3(S[0].w), b = sni_lane_vec3(S[1].w), c = sni_lane_vec3(S[2].w);
  const sn_vec3 bc = sn_vec3_cross(b, c);
  const double over = 1 / sn_vec3_dot(a, bc);
  out->P[0] = sn_vec3_scale(bc, over);
  out->P[1] = sn_vec3_scale(sn_vec3_cross(c, a), over);
  out->P[2] = sn_vec3_scale(sn_vec3_cross(a, b), over);
}

void sni_bare_push(const sni_bare *bare, const double *b, double *out_i, double *out_p) {
  sn_vec3 torque = {0};
  for (int k = 0; k < 3; k++) {
    torque = sn_vec3_addscaled(torque, b[k], bare->P[k]);
  }
  const double f[3] = {torque.x, torque.y, torque.z};
  for (int k = 0; k < 3; k++) {
    out_i[k] += f[k];
    if (out_p) {
      out_p[k] -= f[k];
    }
  }
}

void sni_bare_rates(const sni_bare *bare, const double *phi, const double *phi_p, double *x) {
  sn_vec3 w = {phi[0], phi[1], phi[2]};
  if (phi_p) {
    w = sn_vec3_sub(w, (sn_vec3){phi_p[0], phi_p[1], phi_p[2]});
  }
  for (int k = 0; k < 3; k++) {
    x[k] = sn_vec3_dot(bare->P[k], w);
  }
}
