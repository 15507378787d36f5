/* jacobian.c: products with J, dJ/dt, J^T and M^-1 in linear time, and small dense matrices.
 *
 * J takes rates to the bodies' twists, in the bodies' frames [RMS 11].  Inside, everything is in
 * world axes at o:
 *     y = shift(y_p) + S x
 *     z = shift(z_p) + (0; y_p,w x rdot) + Sdot_w x,    Sdot_w = w x S + R Sdot_b
 * and the derivative of the body-frame twist is R^T (z - w x y) for each half. */
#include "dynamics/recursion.h"

#include <string.h>

static sni_lane6 shifted(sni_lane6 y, sni_lane r) {
  return (sni_lane6){y.w, y.v + sni_lane_cross(y.w, r)};
}

/* A wrench at o, added at the parent's origin. */
static void add_to_parent(sni_lane6 *parent, sni_lane6 f, sni_lane r) {
  parent->v += f.v;
  parent->w += f.w + sni_lane_cross(r, f.v);
}

static sn_vec6 in_body_axes(const sni_link *l, sni_lane6 y) {
  return (sn_vec6){
      {sni_lane_dot(l->R[0], y.w), sni_lane_dot(l->R[1], y.w), sni_lane_dot(l->R[2], y.w)},
      {sni_lane_dot(l->R[0], y.v), sni_lane_dot(l->R[1], y.v), sni_lane_dot(l->R[2], y.v)}};
}

static sni_lane6 in_world_axes(const sni_link *l, sn_vec6 y) {
  return (sni_lane6){sni_lane_mul(l->R, y.w.x, y.w.y, y.w.z),
                     sni_lane_mul(l->R, y.v.x, y.v.y, y.v.z)};
}

void sni_J_mul_block(const sni_tree *t, const sni_block *block, sni_work *w, const double *x) {
  w->a[-1] = (sni_lane6){0};
  for (int i = block->first; i < block->end; i++) {
    sni_lane6 y = shifted(w->a[t->parent[i]], w->r[i]);
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      y = sni_lane6_addscaled(y, x[k], w->S[k]);
    }
    w->a[i] = y;
  }
}

void sni_J_mul_world(const sni_tree *t, sni_work *w, const double *x) {
  for (int k = 0; k < t->nblock; k++) {
    sni_J_mul_block(t, &t->block[k], w, x);
  }
}

void sni_J_mul(const sni_tree *t, sni_work *w, const double *x, sn_vec6 *y) {
  sni_J_mul_world(t, w, x);
  for (int i = 0; i < t->nbody; i++) {
    y[i] = in_body_axes(&w->link[i], w->a[i]);
  }
}

void sni_Jdot_mul(const sni_tree *t, sni_work *w, const double *x, sn_vec6 *z) {
  sni_J_mul_world(t, w, x);
  const sni_lane6 *y = w->a;
  for (int i = 0; i < t->nbody; i++) {
    const int p = t->parent[i];
    const sni_link *l = &w->link[i], *lp = &w->link[p];
    sni_lane6 d = {0};
    if (p >= 0) {
      d = shifted(sni_lane6_from(z[p]), w->r[i]);
      d.v += sni_lane_cross(y[p].w, l->v - lp->v);
    }
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      const sni_lane6 S = w->S[k];
      const sni_lane6 turning = {sni_lane_cross(l->w, S.w), sni_lane_cross(l->w, S.v)};
      d = sni_lane6_addscaled(d, x[k], sni_lane6_add(turning, w->Sdot[k]));
    }
    z[i] = sni_lane6_vec6(d);
  }
  for (int i = 0; i < t->nbody; i++) {
    const sni_link *l = &w->link[i];
    const sni_lane6 turning = {sni_lane_cross(l->w, y[i].w), sni_lane_cross(l->w, y[i].v)};
    z[i] = in_body_axes(l, sni_lane6_addscaled(sni_lane6_from(z[i]), -1, turning));
  }
}

void sni_Jt_mul(const sni_tree *t, sni_work *w, const sn_vec6 *y, double *x) {
  sni_lane6 *f = w->a;
  for (int i = 0; i < t->nbody; i++) {
    f[i] = in_world_axes(&w->link[i], y[i]);
  }
  for (int i = t->nbody - 1; i >= 0; i--) {
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      x[k] = sni_lane6_dot(w->S[k], f[i]);
    }
    if (t->parent[i] >= 0) {
      add_to_parent(&f[t->parent[i]], f[i], w->r[i]);
    }
  }
}

sni_lane6 sni_momentum(const sni_mass *m, const sni_link *l, sni_lane6 y) {
  const sni_lane h = sni_lane_mul(l->R, m->mc.x, m->mc.y, m->mc.z);
  const sn_vec3 w = in_body_axes(l, y).w;
  const sni_lane spin = sni_lane_mul(l->R, m->xx * w.x + m->xy * w.y + m->xz * w.z,
                                     m->xy * w.x + m->yy * w.y + m->yz * w.z,
                                     m->xz * w.x + m->yz * w.y + m->zz * w.z);
  return (sni_lane6){spin + sni_lane_cross(h, y.v),
                     sni_lane_all(m->m) * y.v + sni_lane_cross(y.w, h)};
}

/* Column k of M: the joint forces for qdd = e_k, without motion, gravity and loads.  O(nv nbody):
 * for small models. */
void sni_mass_matrix(const sni_tree *t, const sni_aba_in *in, sni_work *w, double *M) {
  const int nv = t->nv;
  sni_lane6 *y = w->a;
  for (int body = 0; body < t->nbody; body++) {
    for (int k = t->vadr[body]; k < t->vadr[body + 1]; k++) {
      w->a[-1] = (sni_lane6){0};
      for (int i = 0; i < t->nbody; i++) {
        y[i] = i == body ? w->S[k] : shifted(y[t->parent[i]], w->r[i]);
        if (i < body) {
          y[i] = (sni_lane6){0};
        }
      }
      for (int i = 0; i < t->nbody; i++) {
        y[i] = sni_momentum(&in->mass[i], &w->link[i], y[i]);
      }
      for (int i = t->nbody - 1; i >= 0; i--) {
        for (int j = t->vadr[i]; j < t->vadr[i + 1]; j++) {
          M[j * nv + k] = sni_lane6_dot(w->S[j], y[i]);
        }
        if (t->parent[i] >= 0) {
          add_to_parent(&y[t->parent[i]], y[i], w->r[i]);
        }
      }
      const int adr = t->vadr[body], own = t->vadr[body + 1] - adr;
      for (int j = 0; j < own; j++) {
        M[(adr + j) * nv + k] += in->joint_matrix
                                     ? in->joint_matrix[t->factor[body] + j * own + k - adr]
                                     : (adr + j == k ? in->armature[k] : 0);
      }
    }
  }
}

void sni_point_jacobian(const sni_tree *t, const sni_work *w, int body, sn_vec3 point, double *J) {
  const int nv = t->nv;
  memset(J, 0, 3 * (size_t)nv * sizeof *J);
  if (body < 0) {
    return; /* a point of the ground does not move */
  }
  const sni_lane x = sni_lane_from(sn_se3_point(sni_link_pose(&w->link[body]), point));
  for (int i = body; i >= 0; i = t->parent[i]) {
    for (int k = t->vadr[i]; k < t->vadr[i + 1]; k++) {
      const sni_lane v = w->S[k].v + sni_lane_cross(w->S[k].w, x - w->link[i].o);
      for (int c = 0; c < 3; c++) {
        J[c * nv + k] = v[c];
      }
    }
  }
}
