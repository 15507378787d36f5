/* Simbody: flat mechanisms are closed by points on lines, two rows a loop, since redundant rows are
 * not its strength; others by balls.  Semi-explicit Euler with projection. */
#include "loops.h"

#include <Simbody.h>

#include <string>

namespace {

SimTK::Vec3 st(const Eigen::Vector3d &v) {
  return {v.x(), v.y(), v.z()};
}
Eigen::Vector3d eigen(const SimTK::Vec3 &v) {
  return {v[0], v[1], v[2]};
}

class Simbody : public loops::Runner {
public:
  explicit Simbody(const loops::Mechanism &m)
      : matter(system), forces(system), gravity(forces, matter, st(loops::gravity)) {
    for (const loops::Body &b : m.body) {
      add_body(b);
    }
    for (const loops::Pin &p : m.pin) {
      SimTK::MobilizedBody &a = bodies[size_t(p.a)], &b = bodies[size_t(p.b)];
      if (m.flat) {
        SimTK::Constraint::PointOnLine(a, SimTK::UnitVec3(0, 1, 0), st(p.at_a), b, st(p.at_b));
      } else {
        SimTK::Constraint::Ball(a, st(p.at_a), b, st(p.at_b));
      }
    }
    SimTK::State state = system.realizeTopology();
    system.realizeModel(state);
    for (size_t i = 0; i < m.body.size(); i++) {
      if (!m.body[i].ball) {
        bodies[i].setOneU(state, 0, m.body[i].qd);
      }
    }
    integrator = std::make_unique<SimTK::SemiExplicitEulerIntegrator>(system, loops::step);
    integrator->setConstraintTolerance(1e-6);
    integrator->initialize(state);
    for (const loops::Body &b : m.body) {
      com.push_back(b.com);
    }
  }

  void advance() override {
    done++;
    integrator->stepTo(double(done) * loops::step);
  }

  void look() override { system.realize(integrator->getState(), SimTK::Stage::Velocity); }

  loops::Motion motion(int i) override {
    const SimTK::State &now = integrator->getState();
    const SimTK::MobilizedBody &b = bodies[size_t(i)];
    const SimTK::Transform &X = b.getBodyTransform(now);
    Eigen::Matrix3d R;
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) {
        R(r, c) = X.R()[r][c];
      }
    }
    /* the frame of the body is that of its joint */
    const Eigen::Vector3d w = eigen(b.getBodyAngularVelocity(now));
    return {eigen(X.p()), R, eigen(b.getBodyOriginVelocity(now)) + w.cross(R * com[size_t(i)]), w};
  }

private:
  void add_body(const loops::Body &b) {
    const Eigen::Matrix3d I = Eigen::Matrix3d(b.moments.asDiagonal()) +
                              b.com.squaredNorm() * Eigen::Matrix3d::Identity() -
                              b.com * b.com.transpose();
    const SimTK::Body::Rigid rigid(SimTK::MassProperties(
        1, st(b.com), SimTK::Inertia(I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2))));
    SimTK::MobilizedBody &parent = b.parent < 0
                                       ? static_cast<SimTK::MobilizedBody &>(matter.updGround())
                                       : bodies[size_t(b.parent)];
    if (b.ball) {
      bodies.push_back(SimTK::MobilizedBody::Ball(parent, st(b.at), rigid, SimTK::Vec3(0)));
      return;
    }
    /* pins turn about z */
    const SimTK::Rotation to_y(SimTK::UnitVec3(0, 1, 0), SimTK::ZAxis);
    bodies.push_back(SimTK::MobilizedBody::Pin(parent, SimTK::Transform(to_y, st(b.at)), rigid,
                                               SimTK::Transform(to_y)));
  }

  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter;
  SimTK::GeneralForceSubsystem forces;
  SimTK::Force::UniformGravity gravity;
  std::vector<SimTK::MobilizedBody> bodies;
  std::unique_ptr<SimTK::SemiExplicitEulerIntegrator> integrator;
  std::vector<Eigen::Vector3d> com;
  long done = 0;
};

} // namespace

int main() {
  int major = 0, minor = 0, patch = 0;
  SimTK_version_simbody(&major, &minor, &patch);
  return loops::run({"simbody", std::to_string(major) + "." + std::to_string(minor),
                     "Debian libsimbody-dev, double, generic x86-64, assertions on",
                     [](const loops::Mechanism &m, const std::string &) {
                       return std::make_unique<Simbody>(m);
                     }});
}
