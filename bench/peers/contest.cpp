#include "contest.h"

#include "answers.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace contest {
namespace {

using answers::cpu_seconds;
using answers::number;
using answers::quote;

/* Long enough for the clock, short enough to fall between disturbances of a shared machine. */
constexpr double batch_seconds = 0.005;

struct Model {
  bench_model *model = nullptr;
  std::unique_ptr<Entry> entry;
  double build_seconds = 0.0;

  Model() = default;
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;
  ~Model() { bench_model_free(&model); }
};

double time_calls(Entry &entry, long count) {
  const double start = cpu_seconds();
  for (long i = 0; i < count; i++) {
    entry.call();
  }
  return (cpu_seconds() - start) / static_cast<double>(count);
}

/* The least time of a call over batches that fill `seconds`. */
std::string answer_time(Model &m, double seconds) {
  double best = time_calls(*m.entry, 1);
  long count = 1, batches = 1;
  double spent = best;
  while (spent < seconds) {
    count = std::max(1L, std::lround(batch_seconds / std::max(best, 1e-9)));
    const double each = time_calls(*m.entry, count);
    best = std::min(best, each);
    spent += each * static_cast<double>(count);
    batches++;
  }
  std::ostringstream out;
  out << "\"us_per_call\": " << number(1e6 * best) << ", \"batches\": " << batches
      << ", \"calls_per_batch\": " << count
      << ", \"model_build_seconds\": " << number(m.build_seconds);
  return out.str();
}

std::string answer_qdd(Model &m) {
  std::vector<double> qdd(static_cast<size_t>(m.model->nv));
  m.entry->call();
  m.entry->read_qdd(qdd.data());
  double sum = 0.0, largest = 0.0;
  std::string list;
  for (const double x : qdd) {
    sum += x;
    largest = std::max(largest, std::fabs(x));
    list += (list.empty() ? "" : ", ") + number(x);
  }
  return "\"checksum\": " + number(sum) + ", \"max_qdd\": " + number(largest) + ", \"qdd\": [" +
         list + "]";
}

using Cache = std::map<std::pair<std::string, int>, std::unique_ptr<Model>>;

Model &find_model(const Peer &peer, Cache &cache, const std::string &scene, int size) {
  std::unique_ptr<Model> &slot = cache[{scene, size}];
  if (!slot) {
    auto m = std::make_unique<Model>();
    m->model = bench_model_build(scene.c_str(), size);
    if (!m->model) {
      throw std::runtime_error("no model '" + scene + "' of size " + std::to_string(size));
    }
    const double start = cpu_seconds();
    m->entry = peer.make(*m->model);
    m->build_seconds = cpu_seconds() - start;
    slot = std::move(m);
  }
  return *slot;
}

std::string answer(const Peer &peer, Cache &cache, const std::string &line) {
  std::istringstream in(line);
  std::string verb, scene;
  int size = 0;
  double seconds = 0.0;
  in >> verb >> scene >> size;
  if (in && verb == "qdd") {
    return answer_qdd(find_model(peer, cache, scene, size));
  }
  if (in && verb == "time" && in >> seconds) {
    return answer_time(find_model(peer, cache, scene, size), seconds);
  }
  throw std::runtime_error("request '" + line +
                           "': needs `time SCENE SIZE SECONDS` or `qdd SCENE SIZE`");
}

} // namespace

int run(const Peer &peer) {
  Cache cache;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    std::string verb, scene;
    int size = 0;
    in >> verb >> scene >> size;
    std::string body;
    try {
      body = answer(peer, cache, line);
    } catch (const std::exception &e) {
      body = "\"error\": " + quote(e.what());
    }
    std::cout << "{\"peer\": " << quote(peer.name) << ", \"version\": " << quote(peer.version)
              << ", \"model\": " << quote(scene) << ", \"n\": " << size
              << ", \"call\": " << quote(peer.call) << ", \"build\": " << quote(peer.build) << ", "
              << body << "}" << std::endl;
  }
  return 0;
}

} // namespace contest
