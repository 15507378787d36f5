/* DART: the velocity of a FreeJoint is the twist (omega, v) in axes of the body, its acceleration
 * the derivative of these numbers.
 *
 * DART keeps what it computed for a joint whose position is set to the value it has already, and
 * would be timed for half the work.  So calls alternate between the state and one next to it. */
#include "contest.h"
#include "frames.h"

#include <dart/config.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>

#include <string>

namespace {

using dart::dynamics::BodyNode;
using dart::dynamics::FreeJoint;
using dart::dynamics::RevoluteJoint;
using dart::dynamics::Skeleton;

Eigen::Isometry3d pose(const Eigen::Matrix3d &R, const Eigen::Vector3d &p) {
  Eigen::Isometry3d T = Eigen::Isometry3d::Identity();
  T.linear() = R;
  T.translation() = p;
  return T;
}

class Dart : public contest::Entry {
public:
  explicit Dart(const bench_model &m) : model(m), skeleton(Skeleton::create()) {
    skeleton->setGravity(frames::vec(m.gravity));
    for (int i = 0; i < m.nbody; i++) {
      add_body(i);
    }
    const auto n = static_cast<Eigen::Index>(m.nv);
    q.resize(n);
    qd.resize(n);
    tau.setZero(n);
    for (int i = 0; i < m.nbody; i++) {
      if (m.joint[i] == BENCH_REVOLUTE) {
        q[adr(i)] = m.q[m.vadr[i]];
        qd[adr(i)] = m.qd[m.vadr[i]];
        tau[adr(i)] = m.tau[m.vadr[i]];
      } else {
        const frames::Base b = frames::base(m);
        q.segment<6>(adr(i)) = FreeJoint::convertToPositions(pose(b.R_fb, frames::vec(m.q)));
        qd.segment<6>(adr(i)) << b.omega_b, b.R_fb.transpose() * b.v_f;
      }
    }
    q_beside = q.array() + 1e-9;
    qd_beside = qd.array() + 1e-9;
  }

  void call() override {
    beside = !beside;
    skeleton->setPositions(beside ? q_beside : q);
    skeleton->setVelocities(beside ? qd_beside : qd);
    skeleton->setForces(tau);
    skeleton->computeForwardDynamics();
  }

  void read_qdd(double *qdd) override {
    while (beside) {
      call();
    }
    const Eigen::VectorXd a = skeleton->getAccelerations();
    for (int i = 0; i < model.nbody; i++) {
      if (model.joint[i] == BENCH_REVOLUTE) {
        qdd[model.vadr[i]] = a[adr(i)];
        continue;
      }
      const frames::Base b = frames::base(model);
      const Eigen::Vector3d alpha = a.segment<3>(adr(i)), vd = a.segment<3>(adr(i) + 3);
      const Eigen::Vector3d v = b.R_fb.transpose() * b.v_f;
      frames::store(b.R_fb * (vd + b.omega_b.cross(v)), qdd);
      frames::store(alpha, qdd + 3);
    }
  }

private:
  Eigen::Index adr(int i) const {
    return static_cast<Eigen::Index>(
        skeleton->getBodyNode(static_cast<size_t>(i))->getParentJoint()->getIndexInSkeleton(0));
  }

  void add_body(int i) {
    BodyNode::Properties body;
    body.mName = "body" + std::to_string(i);
    body.mInertia = dart::dynamics::Inertia(model.mass[i], frames::vec(model.com[i]),
                                            frames::inertia(model, i));
    BodyNode *parent =
        model.parent[i] < 0 ? nullptr : skeleton->getBodyNode(static_cast<size_t>(model.parent[i]));
    const Eigen::Isometry3d T = pose(frames::mat(model.R_pb0[i]), frames::vec(model.p_pb0[i]));
    if (model.joint[i] == BENCH_FREE) {
      FreeJoint::Properties joint;
      joint.mName = "joint" + std::to_string(i);
      joint.mT_ParentBodyToJoint = T;
      skeleton->createJointAndBodyNodePair<FreeJoint>(parent, joint, body);
      return;
    }
    RevoluteJoint::Properties joint;
    joint.mName = "joint" + std::to_string(i);
    joint.mT_ParentBodyToJoint = T;
    joint.mAxis = frames::vec(model.axis[i]);
    skeleton->createJointAndBodyNodePair<RevoluteJoint>(parent, joint, body);
  }

  const bench_model &model;
  dart::dynamics::SkeletonPtr skeleton;
  Eigen::VectorXd q, qd, tau, q_beside, qd_beside;
  bool beside = true;
};

} // namespace

int main() {
  return contest::run(
      {"dart", DART_VERSION,
       "set q, qd, tau; Skeleton::computeForwardDynamics (articulated-body algorithm)",
       "Debian libdart-dev, double, generic x86-64, assertions on",
       [](const bench_model &m) { return std::make_unique<Dart>(m); }});
}
