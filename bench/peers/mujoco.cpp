/* MuJoCo: the model is written as MJCF into its virtual file system.
 *
 * The XML reader under Debian's MuJoCo refuses elements nested deeper than 100, so a long branch is
 * cut into files that include one another.  Inertias are given by principal axes: MuJoCo's own
 * diagonalisation of full tensors costs digits. */
#include "contest.h"
#include "frames.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int file_depth = 60; /* bodies nested in one file */

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

std::string attribute(const char *name, const Eigen::VectorXd &v) {
  std::string out = std::string(" ") + name + "=\"";
  for (Eigen::Index k = 0; k < v.size(); k++) {
    out += (k ? " " : "") + number(v[k]);
  }
  return out + "\"";
}

Eigen::Vector4d quaternion(const Eigen::Matrix3d &R) {
  const Eigen::Quaterniond q(R);
  return {q.w(), q.x(), q.y(), q.z()};
}

class Files {
public:
  explicit Files(const bench_model &m) : model(m), vfs(std::make_unique<mjVFS>()) {
    mj_defaultVFS(vfs.get());
    children.resize(static_cast<size_t>(m.nbody));
    for (int i = 1; i < m.nbody; i++) {
      if (m.parent[i] >= 0) {
        children[static_cast<size_t>(m.parent[i])].push_back(i);
      }
    }
    std::string xml = "<mujoco><compiler angle=\"radian\"/><option" +
                      attribute("gravity", frames::vec(m.gravity)) +
                      "><flag constraint=\"disable\" contact=\"disable\" sensor=\"disable\" "
                      "warmstart=\"disable\"/></option><worldbody>";
    write_body(0, 0, xml);
    add("model.xml", xml + "</worldbody></mujoco>");
  }
  Files(const Files &) = delete;
  Files &operator=(const Files &) = delete;
  ~Files() { mj_deleteVFS(vfs.get()); }

  mjModel *load() const {
    char error[500] = "";
    mjModel *m = mj_loadXML("model.xml", vfs.get(), error, sizeof error);
    if (!m) {
      throw std::runtime_error(error);
    }
    return m;
  }

private:
  void add(const std::string &name, const std::string &text) {
    if (mj_makeEmptyFileVFS(vfs.get(), name.c_str(), static_cast<int>(text.size())) != 0) {
      throw std::runtime_error("virtual file system is full");
    }
    std::memcpy(vfs->filedata[mj_findFileVFS(vfs.get(), name.c_str())], text.data(), text.size());
  }

  void write_body(int i, int depth, std::string &out) {
    const frames::Principal p = frames::principal(model, i);
    out += "<body" + attribute("pos", frames::vec(model.p_pb0[i])) +
           attribute("quat", quaternion(frames::mat(model.R_pb0[i]))) + ">";
    out += model.joint[i] == BENCH_FREE
               ? "<freejoint/>"
               : "<joint type=\"hinge\"" + attribute("axis", frames::vec(model.axis[i])) + "/>";
    out += "<inertial" + attribute("pos", frames::vec(model.com[i])) +
           attribute("quat", quaternion(p.R_bc)) + " mass=\"" + number(model.mass[i]) + "\"" +
           attribute("diaginertia", p.moments) + "/>";
    for (const int child : children[static_cast<size_t>(i)]) {
      if (depth + 1 < file_depth) {
        write_body(child, depth + 1, out);
        continue;
      }
      const std::string name = "body" + std::to_string(child) + ".xml";
      std::string text = "<mujocoinclude>";
      write_body(child, 0, text);
      add(name, text + "</mujocoinclude>");
      out += "<include file=\"" + name + "\"/>";
    }
    out += "</body>";
  }

  const bench_model &model;
  std::unique_ptr<mjVFS> vfs;
  std::vector<std::vector<int>> children;
};

class Mujoco : public contest::Entry {
public:
  explicit Mujoco(const bench_model &m) : nv(m.nv) {
    model.reset(Files(m).load());
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
  struct Delete {
    void operator()(mjModel *m) const { mj_deleteModel(m); }
    void operator()(mjData *d) const { mj_deleteData(d); }
  };

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
  std::unique_ptr<mjModel, Delete> model;
  std::unique_ptr<mjData, Delete> data;
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
