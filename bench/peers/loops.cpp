#include "loops.h"

#include "answers.h"

#include <cmath>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace loops {
namespace {

/* The same as `sinew make fourbar`: equal rods of 1 m on the ground, others join their tips. */
Mechanism make_fourbar(int n) {
  Mechanism m;
  m.flat = true;
  for (int k = 0; k <= n; k++) {
    m.body.push_back({-1, false, {double(k), 0, 0}, {0, 0, 0.5}, {1. / 12, 1. / 12, 1e-4}, 1});
  }
  for (int k = 1; k <= n; k++) {
    m.body.push_back({k - 1, false, {0, 0, 1}, {0.5, 0, 0}, {1e-4, 1. / 12, 1. / 12}, -1});
    m.pin.push_back({n + k, k, {1, 0, 0}, {0, 0, 1}});
  }
  return m;
}

/* The same as `sinew make ladder`: two strings of bars, and rungs that join them. */
Mechanism make_ladder(int n) {
  constexpr double bar = 0.25, rung = 0.5, thin = 2e-4;
  const double along = bar * bar / 12;
  Mechanism m;
  m.flat = false;
  for (int k = 0; k < 2 * n; k++) {
    const Vector3d at = k == 0   ? Vector3d(0, 0, 0)
                        : k == n ? Vector3d(0, rung, 0)
                                 : Vector3d(bar, 0, 0);
    m.body.push_back({k % n ? k - 1 : -1, true, at, {bar / 2, 0, 0}, {thin, along, along}, 0});
  }
  for (int k = 0; k < n; k++) {
    m.body.push_back({k, true, {bar, 0, 0}, {0, rung / 2, 0}, {1. / 48, thin, 1. / 48}, 0});
    m.pin.push_back({n + k, 2 * n + k, {bar, 0, 0}, {0, rung, 0}});
  }
  return m;
}

Mechanism make_mechanism(const std::string &scene, int size) {
  if (size < 1 || size > 100000) {
    throw std::runtime_error("size needs 1 to 100000");
  }
  if (scene == "fourbar") {
    return make_fourbar(size);
  }
  if (scene == "ladder") {
    return make_ladder(size);
  }
  throw std::runtime_error("no scene '" + scene + "': fourbar or ladder");
}

struct Seen {
  double energy = 0, gap = 0;
  Vector3d tip = Vector3d::Zero(); /* of the first body */
};

Seen see(const Mechanism &m, Runner &runner) {
  Seen seen;
  runner.look();
  std::vector<Motion> all;
  for (size_t i = 0; i < m.body.size(); i++) {
    all.push_back(runner.motion(int(i)));
    const Motion &now = all.back();
    const Vector3d w = now.R.transpose() * now.omega;
    seen.energy += 0.5 * now.v_com.squaredNorm() + 0.5 * w.dot(m.body[i].moments.cwiseProduct(w)) -
                   gravity.dot(now.p + now.R * m.body[i].com);
  }
  for (const Pin &pin : m.pin) {
    const Motion &a = all[size_t(pin.a)], &b = all[size_t(pin.b)];
    seen.gap = std::max(seen.gap, (a.p + a.R * pin.at_a - b.p - b.R * pin.at_b).norm());
  }
  seen.tip = all[0].p + all[0].R * 2 * m.body[0].com;
  return seen;
}

std::string answer(const Peer &peer, const std::string &line) {
  std::istringstream in(line);
  std::string verb, scene, setting;
  int size = 0, steps = 0, done = 0;
  double most = 0, spent = 0, gap = 0, energy = 0;
  in >> verb >> scene >> size >> steps >> setting >> most;
  if (!in || verb != "run") {
    throw std::runtime_error("needs `run SCENE SIZE STEPS SETTING CPU_SECONDS`");
  }
  const Mechanism m = make_mechanism(scene, size);
  const std::unique_ptr<Runner> runner = peer.make(m, setting);
  const double start = see(m, *runner).energy;
  Seen seen;
  for (; done < steps && spent < most; done++) {
    const double before = answers::cpu_seconds();
    runner->advance();
    spent += answers::cpu_seconds() - before;
    seen = see(m, *runner);
    gap = std::max(gap, seen.gap);
    energy = std::max(energy, std::fabs(seen.energy - start));
    if (!std::isfinite(seen.energy)) {
      throw std::runtime_error("not finite after " + std::to_string(done + 1) + " steps");
    }
  }
  std::ostringstream out;
  out << "\"steps\": " << done << ", \"seconds\": " << answers::number(spent)
      << ", \"gap\": " << answers::number(gap) << ", \"energy\": " << answers::number(energy)
      << ", \"tip\": [" << answers::number(seen.tip.x()) << ", " << answers::number(seen.tip.z())
      << "]";
  return out.str();
}

} // namespace

int run(const Peer &peer) {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::string body;
    try {
      body = answer(peer, line);
    } catch (const std::exception &e) {
      body = "\"error\": " + answers::quote(e.what());
    }
    std::cout << "{\"peer\": " << answers::quote(peer.name)
              << ", \"version\": " << answers::quote(peer.version)
              << ", \"build\": " << answers::quote(peer.build) << ", " << body << "}" << std::endl;
  }
  return 0;
}

} // namespace loops
