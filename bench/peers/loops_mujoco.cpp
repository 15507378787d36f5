/* MuJoCo: loops are `connect` constraints.  By default these are soft; `euler` and `rk4` ask for
 * the stiffest that a step of 1 ms takes, `cg` too but by conjugate gradients, `soft` leaves them
 * as they are. */
#include "loops.h"
#include "mujoco_files.h"

namespace {

using mjcf::attribute;

mjcf::Model load(const loops::Mechanism &m, const std::string &setting) {
  mjcf::Tree tree;
  for (const loops::Body &b : m.body) {
    tree.parent.push_back(b.parent);
  }
  const std::string integrator = setting == "rk4" ? "RK4" : "Euler";
  const std::string stiff =
      setting == "soft" ? "" : " solref=\"0.002 1\" solimp=\"0.9999 0.9999 0.001\"";
  /* room for the rows of the loops, and for the dense matrices of its solver */
  tree.head = "<size njmax=\"" + std::to_string(3 * m.pin.size() + 1) +
              "\" nstack=\"20000000\"/><compiler angle=\"radian\"/><option timestep=\"" +
              answers::number(loops::step) + "\" integrator=\"" + integrator + "\"" +
              (setting == "cg" ? " solver=\"CG\"" : "") + attribute("gravity", loops::gravity) +
              "><flag contact=\"disable\"/></option>";
  tree.place = [&m](int i) { return attribute("pos", m.body[size_t(i)].at); };
  tree.parts = [&m](int i) {
    const loops::Body &b = m.body[size_t(i)];
    return std::string(b.ball ? "<joint type=\"ball\"/>"
                              : "<joint type=\"hinge\" axis=\"0 1 0\"/>") +
           "<inertial mass=\"1\"" + attribute("pos", b.com) + attribute("diaginertia", b.moments) +
           "/>";
  };
  tree.tail = "<equality>";
  for (const loops::Pin &p : m.pin) {
    tree.tail += "<connect body1=\"b" + std::to_string(p.a) + "\" body2=\"b" + std::to_string(p.b) +
                 "\"" + attribute("anchor", p.at_a) + stiff + "/>";
  }
  tree.tail += "</equality>";
  return mjcf::Files(tree).load();
}

class Mujoco : public loops::Runner {
public:
  Mujoco(const loops::Mechanism &m, const std::string &setting) : model(load(m, setting)) {
    data.reset(mj_makeData(model.get()));
    if (!data) {
      throw std::runtime_error("out of memory");
    }
    for (size_t i = 0; i < m.body.size(); i++) {
      const std::string name = "b" + std::to_string(i);
      id.push_back(mj_name2id(model.get(), mjOBJ_BODY, name.c_str()));
      if (!m.body[i].ball) {
        data->qvel[model->body_dofadr[id.back()]] = m.body[i].qd;
      }
    }
  }

  void advance() override { mj_step(model.get(), data.get()); }

  void look() override {
    mj_kinematics(model.get(), data.get());
    mj_comPos(model.get(), data.get());
    mj_comVel(model.get(), data.get());
  }

  loops::Motion motion(int i) override {
    const int b = id[size_t(i)];
    mjtNum v[6];
    mj_objectVelocity(model.get(), data.get(), mjOBJ_BODY, b, v, 0);
    return {Eigen::Map<Eigen::Vector3d>(data->xpos + 3 * b),
            Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(data->xmat + 9 * b),
            {v[3], v[4], v[5]},
            {v[0], v[1], v[2]}};
  }

private:
  mjcf::Model model;
  mjcf::Data data;
  std::vector<int> id;
};

} // namespace

int main() {
  return loops::run({"mujoco", mj_versionString(), "Debian libmujoco-dev, double, generic x86-64",
                     [](const loops::Mechanism &m, const std::string &setting) {
                       return std::make_unique<Mujoco>(m, setting);
                     }});
}
