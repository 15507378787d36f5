/* loops.h: mechanisms with loops that a peer runs for a while, and what is seen of its motion.
 *
 * A peer program builds the mechanism in its own terms and answers requests read from standard
 * input, one JSON line each:
 *
 *     run SCENE SIZE STEPS SETTING CPU_SECONDS
 *
 * It steps 1 ms at a time until it has done STEPS or used CPU_SECONDS.  Only the steps are timed,
 * not the looks in between: the gaps of the loops, the energy, the place of the first tip. */
#ifndef BENCH_PEERS_LOOPS_H
#define BENCH_PEERS_LOOPS_H

#include <Eigen/Dense>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace loops {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double step = 0.001;
const Vector3d gravity(0, 0, -9.81);

/* At the start all frames are parallel; a body turns about its frame's origin. */
struct Body {
  int parent;       /* -1: the ground */
  bool ball;        /* else a hinge about y */
  Vector3d at;      /* in the parent's frame */
  Vector3d com;     /* of a bar: half way to its end */
  Vector3d moments; /* about the centre of mass */
  double qd;        /* of the hinge */
};
struct Pin { /* two points that are one */
  int a, b;
  Vector3d at_a, at_b;
};
struct Mechanism { /* every body has 1 kg */
  std::vector<Body> body;
  std::vector<Pin> pin;
  bool flat; /* everything turns about y */
};

/* A body as the peer has it now, in world axes. */
struct Motion {
  Vector3d p; /* of its frame */
  Matrix3d R;
  Vector3d v_com, omega;
};

class Runner {
public:
  virtual ~Runner() = default;
  virtual void advance() = 0; /* by one step */
  virtual void look() {}      /* brings up to date what motion() reads */
  virtual Motion motion(int i) = 0;
};

struct Peer {
  std::string name, version, build;
  std::function<std::unique_ptr<Runner>(const Mechanism &, const std::string &setting)> make;
};

/* The main function of a peer program. */
int run(const Peer &peer);

} // namespace loops
#endif
