/* MuJoCo.  Inertias are given by principal axes: MuJoCo's own diagonalisation of full tensors costs
 * digits. */
#include "contest.h"
#include "frames.h"
#include "mujoco_files.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using mjcf::attribute;

Eigen::Vector4d quaternion(const Eigen::Matrix3d &R) {
  const Eigen::Quaterniond q(R);
  return {q.w(), q.x(), q.y(), q.z()};
}

mjcf::Model load(const bench_model &m) {
  mjcf::Tree tree;
  tree.parent.assign(m.parent, m.parent + m.nbody);
  tree.head = "<compiler angle=\"radian\"/><option" + attribute("gravity", frames::vec(m.gravity)) +
              "><flag constraint=\"disable\" contact=\"disable\" sensor=\"disable\" "
              "warmstart=\"disable\"/></option>";
  tree.place = [&m](int i) {
    return attribute("pos", frames::vec(m.p_pb0[i])) +
           attribute("quat", quaternion(frames::mat(m.R_pb0[i])));
  };
  tree.parts = [&m](int i) {
    const frames::Principal p = frames::principal(m, i);
    return (m.joint[i] == BENCH_FREE
                ? "<freejoint/>"
                : "<joint type=\"hinge\"" + attribute("axis", frames::vec(m.axis[i])) + "/>") +
           "<inertial" + attribute("pos", frames::vec(m.com[i])) +
           attribute("quat", quaternion(p.R_bc)) + " mass=\"" + answers::number(m.mass[i]) + "\"" +
           attribute("diaginertia", p.moments) + "/>";
  };
  return mjcf::Files(tree).load();
}

class Mujoco : public contest::Entry {
public:
  explicit Mujoco(const bench_model &m) : nv(m.nv) {
    model = load(m);
    data.reset(mj_makeData(model.get()));
    if (!data) {
      throw std::runtime_error("out of memory");
    }
    /* MuJoCo numbers bodies depth first, its worldbody is 0. */
    order_bodies(m);
    qpos.resize(static_cast<size_t>(model->nq));
    qvel.resize(static_cast<size_t>(nv));
    force.resize(static_cast<size_t>(nv));
    for (int i = 0; i < m.nbody; i++) {
      const int adr = vadr[static_cast<size_t>(i)], own = m.vadr[i];
      const int count = m.joint[i] == BENCH_FREE ? 6 : 1;
      std::copy_n(m.qd + own, count, &qvel[static_cast<size_t>(adr)]);
      std::copy_n(m.tau + own, count, &force[static_cast<size_t>(adr)]);
      if (m.joint[i] == BENCH_REVOLUTE) {
        qpos[static_cast<size_t>(model->jnt_qposadr[model->dof_jntid[adr]])] = m.q[own];
      }
    }
    if (frames::has_base(m)) {
      base = frames::base(m);
      frames::store(base.p_wb, qpos.data());
      const Eigen::Vector4d turn = quaternion(base.R_wb);
      std::copy_n(turn.data(), 4, qpos.begin() + 3);
      frames::store(base.v_w, qvel.data());
    }
    own_adr.assign(m.vadr, m.vadr + m.nbody);
    free_base = frames::has_base(m);
  }

  void call() override {
    std::copy(qpos.begin(), qpos.end(), data->qpos);
    std::copy(qvel.begin(), qvel.end(), data->qvel);
    std::copy(force.begin(), force.end(), data->qfrc_applied);
    mj_forward(model.get(), data.get());
  }

  void read_qdd(double *qdd) override {
    for (size_t i = 0; i < vadr.size(); i++) {
      qdd[own_adr[i]] = data->qacc[vadr[i]];
    }
    if (free_base) {
      frames::store(base.R_wf.transpose() * frames::vec(data->qacc), qdd);
      std::copy_n(data->qacc + 3, 3, qdd + 3);
    }
  }

private:
  /* Depth first from the root, children in order: the way the file was written. */
  void order_bodies(const bench_model &m) {
    std::vector<std::vector<int>> children(static_cast<size_t>(m.nbody));
    for (int i = 1; i < m.nbody; i++) {
      children[static_cast<size_t>(m.parent[i])].push_back(i);
    }
    vadr.resize(static_cast<size_t>(m.nbody));
    std::vector<int> stack{0};
    for (int id = 1; !stack.empty(); id++) {
      const int i = stack.back();
      stack.pop_back();
      vadr[static_cast<size_t>(i)] = model->body_dofadr[id];
      const std::vector<int> &own = children[static_cast<size_t>(i)];
      stack.insert(stack.end(), own.rbegin(), own.rend());
    }
  }

  int nv;
  mjcf::Model model;
  mjcf::Data data;
  std::vector<mjtNum> qpos, qvel, force;
  std::vector<int> vadr, own_adr; /* of each body: first dof here and in bench_model */
  frames::Base base;
  bool free_base = false;
};

} // namespace

int main() {
  return contest::run(
      {"mujoco", mj_versionString(),
       "set q, qd, tau; mj_forward with constraints, contacts and sensors off (composite rigid "
       "bodies, sparse factorisation of the mass matrix)",
       "Debian libmujoco-dev, double, generic x86-64",
       [](const bench_model &m) { return std::make_unique<Mujoco>(m); }});
}
