/* Simbody: Pin mobilizers turn about z, so the joint's frames carry a rotation from z to the axis.
 * A Free mobilizer's speeds are (omega, v), both in axes of the joint's frame F. */
#include "contest.h"
#include "frames.h"

#include <Simbody.h>

#include <string>
#include <vector>

namespace {

SimTK::Vec3 st(const Eigen::Vector3d &v) {
  return {v.x(), v.y(), v.z()};
}
SimTK::Rotation st(const Eigen::Matrix3d &R) {
  return SimTK::Rotation(
      SimTK::Mat33(R(0, 0), R(0, 1), R(0, 2), R(1, 0), R(1, 1), R(1, 2), R(2, 0), R(2, 1), R(2, 2)),
      true);
}
Eigen::Vector3d eigen(const SimTK::Vec3 &v) {
  return {v[0], v[1], v[2]};
}

class Simbody : public contest::Entry {
public:
  explicit Simbody(const bench_model &m)
      : model(m), matter(system), forces(system),
        gravity(forces, matter, st(frames::vec(m.gravity))), torques(forces, matter) {
    for (int i = 0; i < m.nbody; i++) {
      add_body(i);
    }
    state = system.realizeTopology();
    system.realizeModel(state);
    for (int i = 0; i < m.nbody; i++) {
      set_body(i);
    }
    q = state.getQ();
    u = state.getU();
    tau.resize(state.getNU());
    tau = 0.0;
    for (int i = 0; i < m.nbody; i++) {
      if (m.joint[i] == BENCH_REVOLUTE) {
        tau[matter_index(i)] = m.tau[m.vadr[i]];
      }
    }
  }

  void call() override {
    state.updQ() = q;
    state.updU() = u;
    torques.setAllMobilityForces(state, tau);
    system.realize(state, SimTK::Stage::Acceleration);
  }

  void read_qdd(double *qdd) override {
    const SimTK::Vector &udot = state.getUDot();
    for (int i = 0; i < model.nbody; i++) {
      qdd[model.vadr[i]] = udot[matter_index(i)];
    }
    if (frames::has_base(model)) {
      const frames::Base b = frames::base(model);
      const SimTK::Vec3 alpha(udot[0], udot[1], udot[2]), a(udot[3], udot[4], udot[5]);
      frames::store(eigen(a), qdd);
      frames::store(b.R_fb.transpose() * eigen(alpha), qdd + 3);
    }
  }

private:
  int matter_index(int i) const { return bodies[static_cast<size_t>(i)].getFirstUIndex(state); }

  void add_body(int i) {
    const Eigen::Vector3d com = frames::vec(model.com[i]);
    const Eigen::Matrix3d I =
        frames::inertia(model, i) +
        model.mass[i] * (com.squaredNorm() * Eigen::Matrix3d::Identity() - com * com.transpose());
    const SimTK::Body::Rigid rigid(SimTK::MassProperties(
        model.mass[i], st(com),
        SimTK::Inertia(I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2))));
    SimTK::MobilizedBody &parent = model.parent[i] < 0
                                       ? static_cast<SimTK::MobilizedBody &>(matter.updGround())
                                       : bodies[static_cast<size_t>(model.parent[i])];
    const SimTK::Transform F(st(frames::mat(model.R_pb0[i])), st(frames::vec(model.p_pb0[i])));
    if (model.joint[i] == BENCH_FREE) {
      bodies.push_back(SimTK::MobilizedBody::Free(parent, F, rigid, SimTK::Transform()));
      return;
    }
    const SimTK::Transform to_axis(
        SimTK::Rotation(SimTK::UnitVec3(st(frames::vec(model.axis[i]))), SimTK::ZAxis));
    bodies.push_back(SimTK::MobilizedBody::Pin(parent, F * to_axis, rigid, to_axis));
  }

  void set_body(int i) {
    const SimTK::MobilizedBody &b = bodies[static_cast<size_t>(i)];
    if (model.joint[i] == BENCH_REVOLUTE) {
      b.setOneQ(state, 0, model.q[model.vadr[i]]);
      b.setOneU(state, 0, model.qd[model.vadr[i]]);
      return;
    }
    const frames::Base base = frames::base(model);
    b.setQToFitTransform(state, SimTK::Transform(st(base.R_fb), st(frames::vec(model.q))));
    b.setUToFitVelocity(
        state, SimTK::SpatialVec(st(Eigen::Vector3d(base.R_fb * base.omega_b)), st(base.v_f)));
  }

  const bench_model &model;
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter;
  SimTK::GeneralForceSubsystem forces;
  SimTK::Force::UniformGravity gravity;
  SimTK::Force::DiscreteForces torques;
  std::vector<SimTK::MobilizedBody> bodies;
  SimTK::State state;
  SimTK::Vector q, u, tau;
};

} // namespace

int main() {
  int major = 0, minor = 0, patch = 0;
  SimTK_version_simbody(&major, &minor, &patch);
  return contest::run(
      {"simbody", std::to_string(major) + "." + std::to_string(minor),
       "set q, u, tau; MultibodySystem::realize(Stage::Acceleration) "
       "(articulated-body algorithm; also realises positions and velocities of bodies)",
       "Debian libsimbody-dev, double, generic x86-64, assertions on",
       [](const bench_model &m) { return std::make_unique<Simbody>(m); }});
}
