/* The yardstick in the ring with the peers. */
#include "contest.h"
#include "../aba_textbook.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace {

class Textbook : public contest::Entry {
public:
  explicit Textbook(const bench_model &m)
      : model(m), aba(aba_textbook_build(&m)), qdd(static_cast<size_t>(m.nv)) {
    if (!aba) {
      throw std::runtime_error("out of memory");
    }
  }
  Textbook(const Textbook &) = delete;
  Textbook &operator=(const Textbook &) = delete;
  ~Textbook() override { aba_textbook_free(&aba); }

  void call() override { aba_textbook_calc(aba, model.q, model.qd, model.tau, qdd.data()); }
  void read_qdd(double *out) override { std::copy(qdd.begin(), qdd.end(), out); }

private:
  const bench_model &model;
  aba_textbook *aba;
  std::vector<double> qdd;
};

} // namespace

int main() {
  return contest::run({"textbook", "1",
                       "qdd from q, qd, tau: articulated-body algorithm in body coordinates",
                       "here, " COMPILER ", " C_FLAGS ", double",
                       [](const bench_model &m) { return std::make_unique<Textbook>(m); }});
}
