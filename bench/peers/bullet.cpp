/* Bullet's btMultiBody, double precision.
 *
 * A link's frame sits at its centre of mass along its principal axes (c), so poses, axis and the
 * base's motion are moved there and the base's acceleration back.  Gravity is a force on each link,
 * as Bullet's own world applies it.  Forces stay from call to call: Bullet is spared setting them.
 */
#include "contest.h"
#include "frames.h"

#include <BulletDynamics/Featherstone/btMultiBody.h>

#include <string>

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

btVector3 vector(const Vector3d &v) {
  return {v.x(), v.y(), v.z()};
}
btQuaternion rotation(const Matrix3d &R) {
  const Eigen::Quaterniond q(R);
  return {q.x(), q.y(), q.z(), q.w()};
}

class Bullet : public contest::Entry {
public:
  explicit Bullet(const bench_model &m)
      : model(m), first(frames::has_base(m) ? 1 : 0),
        body(m.nbody - first, first ? m.mass[0] : 0.0, base_moments(m), !first, false) {
    body.setLinearDamping(0.0);
    body.setAngularDamping(0.0);
    for (int i = first; i < m.nbody; i++) {
      setup_link(i);
    }
    body.finalizeMultiDof();
    body.setBasePos(btVector3(0, 0, 0));
    body.setWorldToBaseRot(btQuaternion::getIdentity());
    if (first) {
      setup_base();
    }
    for (int i = first; i < m.nbody; i++) {
      body.addLinkForce(i - first, vector(frames::vec(m.gravity) * m.mass[i]));
      body.addJointTorque(i - first, m.tau[m.vadr[i]]);
    }
    /* The first call sizes the scratch memory. */
    call();
  }

  void call() override {
    if (first) {
      body.setBasePos(base_pos);
      body.setWorldToBaseRot(base_rot);
      body.setBaseOmega(base_omega);
      body.setBaseVel(base_vel);
    }
    for (int i = first; i < model.nbody; i++) {
      body.setJointPos(i - first, model.q[model.vadr[i]]);
      body.setJointVel(i - first, model.qd[model.vadr[i]]);
    }
    /* A step of 0 leaves the velocities alone; the accelerations stay in scratch_r,
     * after one number a joint: six of the base in world axes, then the joints. */
    body.computeAccelerationsArticulatedBodyAlgorithmMultiDof(0.0, scratch_r, scratch_v, scratch_m,
                                                              false, false, false);
  }

  void read_qdd(double *qdd) override {
    const btScalar *acc = &scratch_r[body.getNumDofs()];
    for (int i = first; i < model.nbody; i++) {
      qdd[model.vadr[i]] = acc[6 + i - first];
    }
    if (first) {
      const frames::Base b = frames::base(model);
      const Vector3d alpha(acc[0], acc[1], acc[2]);
      const Vector3d a_com(acc[3], acc[4], acc[5]);
      const Vector3d arm = b.R_wb * frames::vec(model.com[0]);
      const Vector3d a = a_com - alpha.cross(arm) - b.omega_w.cross(b.omega_w.cross(arm));
      frames::store(b.R_wf.transpose() * a, qdd);
      frames::store(b.R_wb.transpose() * alpha, qdd + 3);
    }
  }

private:
  static btVector3 base_moments(const bench_model &m) {
    return frames::has_base(m) ? vector(frames::principal(m, 0).moments) : btVector3(0, 0, 0);
  }

  void setup_link(int i) {
    const int parent = model.parent[i];
    const frames::Principal own = frames::principal(model, i);
    const Matrix3d R_pc = parent < 0 ? Matrix3d::Identity() : frames::principal(model, parent).R_bc;
    const Vector3d com_p = parent < 0 ? Vector3d::Zero() : frames::vec(model.com[parent]);
    const Matrix3d R_pb = frames::mat(model.R_pb0[i]);
    body.setupRevolute(i - first, model.mass[i], vector(own.moments), parent - first,
                       rotation((R_pb * own.R_bc).transpose() * R_pc),
                       vector(own.R_bc.transpose() * frames::vec(model.axis[i])),
                       vector(R_pc.transpose() * (frames::vec(model.p_pb0[i]) - com_p)),
                       vector(own.R_bc.transpose() * frames::vec(model.com[i])), true);
  }

  void setup_base() {
    const frames::Base b = frames::base(model);
    const Vector3d arm = b.R_wb * frames::vec(model.com[0]);
    base_pos = vector(b.p_wb + arm);
    base_rot = rotation((b.R_wb * frames::principal(model, 0).R_bc).transpose());
    base_omega = vector(b.omega_w);
    base_vel = vector(b.v_w + b.omega_w.cross(arm));
    body.addBaseForce(vector(frames::vec(model.gravity) * model.mass[0]));
  }

  const bench_model &model;
  const int first; /* body of link 0: 1 when body 0 is the base itself */
  btMultiBody body;
  btVector3 base_pos, base_omega, base_vel;
  btQuaternion base_rot;
  btAlignedObjectArray<btScalar> scratch_r;
  btAlignedObjectArray<btVector3> scratch_v;
  btAlignedObjectArray<btMatrix3x3> scratch_m;
};

} // namespace

int main() {
  const int v = btGetVersion();
  return contest::run(
      {"bullet", std::to_string(v / 100) + "." + std::to_string(v % 100),
       "set q, qd; btMultiBody::computeAccelerationsArticulatedBodyAlgorithmMultiDof "
       "(articulated-body algorithm; forces set once)",
       "Debian libbullet-dev, float64 libraries, generic x86-64",
       [](const bench_model &m) { return std::make_unique<Bullet>(m); }});
}
