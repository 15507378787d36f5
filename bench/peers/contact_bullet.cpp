/* Bullet on a heap: rigid bodies of a scene of `sinew make heap`, which comes as lines
 *
 *     box SX SY SZ | sphere R | cylinder R LENGTH | capsule R LENGTH     (bars along z)
 *     MASS X Y Z QX QY QZ QW                                            (mass 0: it does not move)
 *     plane NX NY NZ D                                                  (n . x >= d is free)
 *     run STEP STEPS ITERATIONS EVERY
 *
 * The answer is one JSON line: CPU time of the steps, the deepest penetration as Bullet sees it,
 * the kinetic energy after the last of them, and the poses of all that moves (x y z qx qy qz qw)
 * after every EVERY steps. */
#include "answers.h"

#include <btBulletDynamicsCommon.h>

#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr double friction = 0.5;

class Heap {
public:
  Heap() : dispatcher(&configuration), world(&dispatcher, &broadphase, &solver, &configuration) {
    world.setGravity({0, 0, -9.81});
  }
  ~Heap() {
    for (const auto &body : bodies) {
      world.removeRigidBody(body.get());
    }
  }

  void add(std::unique_ptr<btCollisionShape> shape, double mass, const btTransform &at) {
    btVector3 moments(0, 0, 0);
    if (mass > 0) {
      shape->calculateLocalInertia(mass, moments);
    }
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape.get(), moments);
    info.m_startWorldTransform = at;
    info.m_friction = friction;
    bodies.push_back(std::make_unique<btRigidBody>(info));
    shapes.push_back(std::move(shape));
    world.addRigidBody(bodies.back().get());
  }

  std::string run(double step, int steps, int iterations, int every) {
    std::ostringstream seen;
    world.getSolverInfo().m_numIterations = iterations;
    double spent = 0, deepest = 0, late = 0;
    for (int k = 0; k < steps; k++) {
      const double before = answers::cpu_seconds();
      world.stepSimulation(step, 0, step);
      const double each = answers::cpu_seconds() - before;
      spent += each;
      late += k >= steps / 2 ? each : 0;
      deepest = std::max(deepest, depth());
      if ((k + 1) % every == 0) {
        seen << (k + 1 == every ? "" : ", ");
        show_poses(seen);
      }
    }
    std::ostringstream out;
    out << "{\"steps\": " << steps << ", \"seconds\": " << answers::number(spent)
        << ", \"late_seconds\": " << answers::number(late)
        << ", \"deepest\": " << answers::number(deepest)
        << ", \"deepest_at_end\": " << answers::number(depth())
        << ", \"kinetic\": " << answers::number(kinetic()) << ", \"points\": " << points
        << ", \"poses\": [" << seen.str() << "]}";
    return out.str();
  }

private:
  double depth() {
    double most = 0;
    points = 0;
    for (int i = 0; i < dispatcher.getNumManifolds(); i++) {
      const btPersistentManifold *m = dispatcher.getManifoldByIndexInternal(i);
      for (int k = 0; k < m->getNumContacts(); k++) {
        points++;
        most = std::max(most, -double(m->getContactPoint(k).getDistance()));
      }
    }
    return most;
  }

  void show_poses(std::ostream &out) const {
    const char *comma = "[";
    for (const auto &body : bodies) {
      if (body->getInvMass() > 0) {
        const btTransform &at = body->getWorldTransform();
        const btVector3 x = at.getOrigin();
        const btQuaternion q = at.getRotation();
        for (const double number : {double(x.x()), double(x.y()), double(x.z()), double(q.x()),
                                    double(q.y()), double(q.z()), double(q.w())}) {
          out << comma << answers::number(number);
          comma = ", ";
        }
      }
    }
    out << "]";
  }

  double kinetic() const {
    double sum = 0;
    for (const auto &body : bodies) {
      if (body->getInvMass() > 0) {
        const btVector3 w =
            body->getWorldTransform().getBasis().transpose() * body->getAngularVelocity();
        const btVector3 I = body->getLocalInertia();
        sum +=
            0.5 * body->getLinearVelocity().length2() / body->getInvMass() + 0.5 * (I * w).dot(w);
      }
    }
    return sum;
  }

  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher;
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world;
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  int points = 0;
};

std::unique_ptr<btCollisionShape> read_shape(const std::string &kind, std::istream &in) {
  double a = 0, b = 0, c = 0;
  if (kind == "box" && in >> a >> b >> c) {
    return std::make_unique<btBoxShape>(btVector3(a / 2, b / 2, c / 2));
  }
  if (kind == "sphere" && in >> a) {
    return std::make_unique<btSphereShape>(a);
  }
  if (kind == "cylinder" && in >> a >> b) {
    return std::make_unique<btCylinderShapeZ>(btVector3(a, a, b / 2));
  }
  if (kind == "capsule" && in >> a >> b) {
    return std::make_unique<btCapsuleShapeZ>(a, b);
  }
  throw std::runtime_error("no shape '" + kind + "'");
}

} // namespace

int main() {
  Heap heap;
  std::string word;
  try {
    while (std::cin >> word && word != "run") {
      if (word == "plane") {
        double n[3], d = 0;
        std::cin >> n[0] >> n[1] >> n[2] >> d;
        heap.add(std::make_unique<btStaticPlaneShape>(btVector3(n[0], n[1], n[2]), d), 0,
                 btTransform::getIdentity());
        continue;
      }
      std::unique_ptr<btCollisionShape> shape = read_shape(word, std::cin);
      double mass = 0, p[3], q[4];
      std::cin >> mass >> p[0] >> p[1] >> p[2] >> q[0] >> q[1] >> q[2] >> q[3];
      heap.add(std::move(shape), mass,
               btTransform(btQuaternion(q[0], q[1], q[2], q[3]), btVector3(p[0], p[1], p[2])));
    }
    double step = 0;
    int steps = 0, iterations = 0, every = 1;
    std::cin >> step >> steps >> iterations >> every;
    std::cout << heap.run(step, steps, iterations, every) << std::endl;
  } catch (const std::exception &e) {
    std::cerr << e.what() << std::endl;
    return 1;
  }
  return 0;
}
