/* answers.h: what the answers of peer programs are made of. */
#ifndef BENCH_PEERS_ANSWERS_H
#define BENCH_PEERS_ANSWERS_H

#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>

namespace answers {

/* CPU time: on a shared machine wall time measures the neighbours. */
inline double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline std::string quote(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

inline std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return std::isfinite(x) ? text : "null";
}

} // namespace answers
#endif
