/* frames.h: the arrays of bench_model as Eigen matrices, and principal axes for the peers that
 * want diagonal inertias (Bullet) or are more exact with them (MuJoCo). */
#ifndef BENCH_PEERS_FRAMES_H
#define BENCH_PEERS_FRAMES_H

#include "../models.h"

#include <Eigen/Dense>

namespace frames {

inline Eigen::Vector3d vec(const double v[3]) {
  return {v[0], v[1], v[2]};
}

inline Eigen::Matrix3d mat(const double R[3][3]) {
  Eigen::Matrix3d out;
  out << R[0][0], R[0][1], R[0][2], R[1][0], R[1][1], R[1][2], R[2][0], R[2][1], R[2][2];
  return out;
}

/* About the centre of mass, axes of the body. */
inline Eigen::Matrix3d inertia(const bench_model &m, int i) {
  const double *I = m.inertia[i];
  Eigen::Matrix3d out;
  out << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
  return out;
}

struct Principal {
  Eigen::Matrix3d R_bc; /* columns: principal axes in the body's frame, right-handed */
  Eigen::Vector3d moments;
};

/* Axes of the body are kept when the tensor is diagonal already. */
inline Principal principal(const bench_model &m, int i) {
  const Eigen::Matrix3d I = inertia(m, i);
  if (I(0, 1) == 0.0 && I(0, 2) == 0.0 && I(1, 2) == 0.0) {
    return {Eigen::Matrix3d::Identity(), I.diagonal()};
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(I);
  Eigen::Matrix3d R = solver.eigenvectors();
  if (R.determinant() < 0.0) {
    R.col(2) = -R.col(2);
  }
  return {R, solver.eigenvalues()};
}

/* A free base at the model's state, seen from the world. */
struct Base {
  Eigen::Matrix3d R_wf;       /* axes of the joint's frame F */
  Eigen::Matrix3d R_fb, R_wb; /* of the body in F and in the world */
  Eigen::Vector3d p_wb;
  Eigen::Vector3d omega_b, omega_w;
  Eigen::Vector3d v_f, v_w; /* velocity of the body's origin */
};

inline Base base(const bench_model &m) {
  double R[3][3];
  bench_rotvec_matrix(m.q + 3, R);
  Base b;
  b.R_wf = mat(m.R_pb0[0]);
  b.R_fb = mat(R);
  b.R_wb = b.R_wf * b.R_fb;
  b.p_wb = vec(m.p_pb0[0]) + b.R_wf * vec(m.q);
  b.omega_b = vec(m.qd + 3);
  b.omega_w = b.R_wb * b.omega_b;
  b.v_f = vec(m.qd);
  b.v_w = b.R_wf * b.v_f;
  return b;
}

inline bool has_base(const bench_model &m) {
  return m.joint[0] == BENCH_FREE;
}

inline void store(const Eigen::Vector3d &v, double *out) {
  for (int k = 0; k < 3; k++) {
    out[k] = v[k];
  }
}

} // namespace frames
#endif
