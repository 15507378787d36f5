/* Bullet: one btMultiBody on a fixed base, loops are btMultiBodyPoint2Point.  The setting is the
 * number of iterations, with `+erp` all of a gap is taken back at once.  Without a collider for
 * each link Bullet ignores the constraints without a word. */
#include "loops.h"

#include <BulletCollision/CollisionDispatch/btDefaultCollisionConfiguration.h>
#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyPoint2Point.h>

#include <string>

namespace {

btVector3 vector(const Eigen::Vector3d &v) {
  return {v.x(), v.y(), v.z()};
}
Eigen::Vector3d eigen(const btVector3 &v) {
  return {v.x(), v.y(), v.z()};
}

class Bullet : public loops::Runner {
public:
  Bullet(const loops::Mechanism &m, const std::string &setting)
      : dispatcher(&configuration), world(&dispatcher, &broadphase, &solver, &configuration),
        body(int(m.body.size()), 0, btVector3(0, 0, 0), true, false), ball(0.01) {
    for (size_t i = 0; i < m.body.size(); i++) {
      add_link(m, int(i));
    }
    body.setLinearDamping(0);
    body.setAngularDamping(0);
    body.setHasSelfCollision(false);
    body.finalizeMultiDof();
    body.setBasePos(btVector3(0, 0, 0));
    body.setWorldToBaseRot(btQuaternion::getIdentity());
    for (size_t i = 0; i < m.body.size(); i++) {
      if (!m.body[i].ball) {
        body.setJointVel(int(i), m.body[i].qd);
      }
    }
    world.setGravity(vector(loops::gravity));
    world.addMultiBody(&body);
    add_colliders();
    for (const loops::Pin &p : m.pin) {
      /* points are given from the links' frames, which sit at the centres of mass */
      pins.push_back(std::make_unique<btMultiBodyPoint2Point>(
          &body, p.a, &body, p.b, vector(p.at_a - m.body[size_t(p.a)].com),
          vector(p.at_b - m.body[size_t(p.b)].com)));
      pins.back()->setMaxAppliedImpulse(1e30);
      world.addMultiBodyConstraint(pins.back().get());
    }
    world.getSolverInfo().m_numIterations = std::stoi(setting);
    if (setting.find("erp") != std::string::npos) {
      world.getSolverInfo().m_erp = world.getSolverInfo().m_erp2 = 1;
    }
    for (const loops::Body &b : m.body) {
      com.push_back(b.com);
    }
  }
  ~Bullet() override {
    for (const auto &pin : pins) {
      world.removeMultiBodyConstraint(pin.get());
    }
    for (const auto &collider : colliders) {
      world.removeCollisionObject(collider.get());
    }
    world.removeMultiBody(&body);
  }

  void advance() override { world.stepSimulation(loops::step, 0, loops::step); }

  void look() override {
    omega.resize(com.size() + 1);
    v.resize(com.size() + 1);
    btAlignedObjectArray<btQuaternion> turns;
    btAlignedObjectArray<btVector3> origins;
    body.forwardKinematics(turns, origins);
    body.compTreeLinkVelocities(omega.data(), v.data());
  }

  loops::Motion motion(int i) override {
    const btTransform &T = body.getLink(i).m_cachedWorldTransform;
    const btMatrix3x3 &B = T.getBasis();
    Eigen::Matrix3d R;
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) {
        R(r, c) = B[r][c];
      }
    }
    const size_t k = size_t(i) + 1; /* 0 is the base */
    return {eigen(T.getOrigin()) - R * com[size_t(i)], R, R * eigen(v[k]), R * eigen(omega[k])};
  }

private:
  void add_link(const loops::Mechanism &m, int i) {
    const loops::Body &b = m.body[size_t(i)];
    const Eigen::Vector3d from =
        b.parent < 0 ? b.at : Eigen::Vector3d(b.at - m.body[size_t(b.parent)].com);
    const btQuaternion parallel = btQuaternion::getIdentity();
    if (b.ball) {
      body.setupSpherical(i, 1, vector(b.moments), b.parent, parallel, vector(from), vector(b.com),
                          true);
    } else {
      body.setupRevolute(i, 1, vector(b.moments), b.parent, parallel, btVector3(0, 1, 0),
                         vector(from), vector(b.com), true);
    }
  }

  void add_colliders() {
    for (int i = -1; i < body.getNumLinks(); i++) {
      auto collider = std::make_unique<btMultiBodyLinkCollider>(&body, i);
      collider->setCollisionShape(&ball);
      (i < 0 ? body.setBaseCollider(collider.get())
             : void(body.getLink(i).m_collider = collider.get()));
      world.addCollisionObject(collider.get(), 0, 0);
      colliders.push_back(std::move(collider));
    }
  }

  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher;
  btDbvtBroadphase broadphase;
  btMultiBodyConstraintSolver solver;
  btMultiBodyDynamicsWorld world;
  btMultiBody body;
  btSphereShape ball;
  std::vector<std::unique_ptr<btMultiBodyLinkCollider>> colliders;
  std::vector<std::unique_ptr<btMultiBodyPoint2Point>> pins;
  std::vector<Eigen::Vector3d> com;
  std::vector<btVector3> omega, v;
};

} // namespace

int main() {
  const int v = btGetVersion();
  return loops::run({"bullet", std::to_string(v / 100) + "." + std::to_string(v % 100),
                     "Debian libbullet-dev, float64 libraries, generic x86-64",
                     [](const loops::Mechanism &m, const std::string &setting) {
                       return std::make_unique<Bullet>(m, setting);
                     }});
}
