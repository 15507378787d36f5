/* DART: one skeleton in a world, loops are ball joint constraints. */
#include "loops.h"

#include <dart/config.hpp>
#include <dart/constraint/BallJointConstraint.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/simulation/World.hpp>

#include <string>

namespace {

using dart::dynamics::BallJoint;
using dart::dynamics::BodyNode;
using dart::dynamics::RevoluteJoint;

class Dart : public loops::Runner {
public:
  explicit Dart(const loops::Mechanism &m)
      : world(dart::simulation::World::create()), skeleton(dart::dynamics::Skeleton::create()) {
    world->setTimeStep(loops::step);
    world->setGravity(loops::gravity);
    for (size_t i = 0; i < m.body.size(); i++) {
      add_body(m.body[i], std::to_string(i));
    }
    world->addSkeleton(skeleton);
    for (const loops::Pin &p : m.pin) {
      BodyNode *a = skeleton->getBodyNode(size_t(p.a)), *b = skeleton->getBodyNode(size_t(p.b));
      world->getConstraintSolver()->addConstraint(
          std::make_shared<dart::constraint::BallJointConstraint>(a, b,
                                                                  a->getWorldTransform() * p.at_a));
    }
  }

  void advance() override { world->step(); }

  loops::Motion motion(int i) override {
    const BodyNode *b = skeleton->getBodyNode(size_t(i));
    const Eigen::Isometry3d T = b->getWorldTransform();
    return {T.translation(), T.linear(), b->getCOMLinearVelocity(), b->getAngularVelocity()};
  }

private:
  template <class Joint>
  void add_joint(const loops::Body &b, typename Joint::Properties joint, const std::string &name) {
    BodyNode::Properties body;
    body.mName = "body" + name;
    body.mInertia = dart::dynamics::Inertia(1, b.com, Eigen::Matrix3d(b.moments.asDiagonal()));
    joint.mName = "joint" + name;
    joint.mT_ParentBodyToJoint.translation() = b.at;
    BodyNode *parent = b.parent < 0 ? nullptr : skeleton->getBodyNode(size_t(b.parent));
    const auto made = skeleton->createJointAndBodyNodePair<Joint>(parent, joint, body);
    if (made.first->getNumDofs() == 1) {
      made.first->setVelocity(0, b.qd);
    }
  }

  void add_body(const loops::Body &b, const std::string &name) {
    if (b.ball) {
      add_joint<BallJoint>(b, BallJoint::Properties(), name);
      return;
    }
    RevoluteJoint::Properties hinge;
    hinge.mAxis = Eigen::Vector3d::UnitY();
    add_joint<RevoluteJoint>(b, hinge, name);
  }

  dart::simulation::WorldPtr world;
  dart::dynamics::SkeletonPtr skeleton;
};

} // namespace

int main() {
  return loops::run(
      {"dart", DART_VERSION, "Debian libdart-dev, double, generic x86-64, assertions on",
       [](const loops::Mechanism &m, const std::string &) { return std::make_unique<Dart>(m); }});
}
