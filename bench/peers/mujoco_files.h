/* mujoco_files.h: a tree of bodies as MJCF in MuJoCo's virtual file system.
 *
 * The XML reader under Debian's MuJoCo refuses elements nested deeper than 100, so a long branch is
 * cut into files that include one another. */
#ifndef BENCH_PEERS_MUJOCO_FILES_H
#define BENCH_PEERS_MUJOCO_FILES_H

#include "answers.h"

#include <Eigen/Dense>
#include <mujoco/mujoco.h>

#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace mjcf {

inline std::string attribute(const char *name, const Eigen::VectorXd &v) {
  std::string out = std::string(" ") + name + "=\"";
  for (Eigen::Index k = 0; k < v.size(); k++) {
    out += (k ? " " : "") + answers::number(v[k]);
  }
  return out + "\"";
}

struct Delete {
  void operator()(mjModel *m) const { mj_deleteModel(m); }
  void operator()(mjData *d) const { mj_deleteData(d); }
};
using Model = std::unique_ptr<mjModel, Delete>;
using Data = std::unique_ptr<mjData, Delete>;

struct Tree {
  std::vector<int> parent;               /* -1: the world */
  std::function<std::string(int)> place; /* attributes of a body's element */
  std::function<std::string(int)> parts; /* its joint and inertia */
  std::string head, tail;                /* before and after the bodies */
};

class Files {
public:
  explicit Files(const Tree &t) : tree(t), vfs(std::make_unique<mjVFS>()) {
    mj_defaultVFS(vfs.get());
    children.resize(t.parent.size());
    std::string xml = "<mujoco>" + t.head + "<worldbody>";
    for (size_t i = 0; i < t.parent.size(); i++) {
      if (t.parent[i] >= 0) {
        children[size_t(t.parent[i])].push_back(int(i));
      }
    }
    for (size_t i = 0; i < t.parent.size(); i++) {
      if (t.parent[i] < 0) {
        write_body(int(i), 0, xml);
      }
    }
    add("model.xml", xml + "</worldbody>" + t.tail + "</mujoco>");
  }
  Files(const Files &) = delete;
  Files &operator=(const Files &) = delete;
  ~Files() { mj_deleteVFS(vfs.get()); }

  Model load() const {
    char error[500] = "";
    Model m(mj_loadXML("model.xml", vfs.get(), error, sizeof error));
    if (!m) {
      throw std::runtime_error(error);
    }
    return m;
  }

private:
  static constexpr int file_depth = 60; /* bodies nested in one file */

  void add(const std::string &name, const std::string &text) {
    if (mj_makeEmptyFileVFS(vfs.get(), name.c_str(), static_cast<int>(text.size())) != 0) {
      throw std::runtime_error("virtual file system is full");
    }
    std::memcpy(vfs->filedata[mj_findFileVFS(vfs.get(), name.c_str())], text.data(), text.size());
  }

  void write_body(int i, int depth, std::string &out) {
    out += "<body name=\"b" + std::to_string(i) + "\"" + tree.place(i) + ">" + tree.parts(i);
    for (const int child : children[size_t(i)]) {
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

  const Tree &tree;
  std::unique_ptr<mjVFS> vfs;
  std::vector<std::vector<int>> children;
};

} // namespace mjcf
#endif
