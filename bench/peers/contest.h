/* contest.h: what a peer provides to take part, and the loop that times it.
 *
 * A peer program builds a model of bench/models.h in its own terms and answers requests read from
 * standard input, one JSON line each, until the input ends:
 *
 *     time SCENE SIZE SECONDS    {"us_per_call": least CPU time of a call, ...}
 *     qdd SCENE SIZE             {"qdd": [...], ...} in the conventions of models.h
 *
 * Models stay built between requests, so that a driver can give many short turns to all peers. */
#ifndef BENCH_PEERS_CONTEST_H
#define BENCH_PEERS_CONTEST_H

#include "../models.h"

#include <functional>
#include <memory>
#include <string>

namespace contest {

/* A model inside a peer.  Errors are thrown as std::exception and reported in the answer. */
class Entry {
public:
  virtual ~Entry() = default;

  /* One forward dynamics: give the peer q, qd and tau, let it compute the accelerations. */
  virtual void call() = 0;

  /* The accelerations of the model's state in the conventions of models.h. */
  virtual void read_qdd(double *qdd) = 0;
};

struct Peer {
  std::string name;    /* "bullet" */
  std::string version; /* of the library that runs, as it says itself */
  std::string call;    /* what one call computes */
  std::string build;   /* how the library was built */
  std::function<std::unique_ptr<Entry>(const bench_model &)> make;
};

/* The main function of a peer program. */
int run(const Peer &peer);

} // namespace contest
#endif
