/* The method `structured`: no solver allocates in a step, and none leaks when memory is refused. */
#include "heap.h"
#include "structured.h"

TEST(steps_never_allocate) {
  sn_model *m = structured_ladder(1, 12); /* enough rows for a graph */
  for (int k = 0; k < STRUCTURED_SOLVERS; k++) {
    sn_options o = structured_options(0.01, 1e-6);
    o.structured.solver = structured_solver[k].option;
    o.structured.budget = k == 0 ? 50 : 0;
    sn_sim *sim = test_sim(m, &o);
    sn_state *s = test_state(m);
    sn_status status = SN_OK;
    heap_watch(0);
    for (int n = 0; n < 20 && status >= 0; n++) {
      status = sn_sim_step(sim, s, NULL, NULL, NULL);
    }
    const long calls = heap_stop();
    CHECK(status >= 0, "'%s': %s", structured_solver[k].name, sn_status_text(status));
    CHECK(calls == 0, "'%s' calls the allocator %ld times", structured_solver[k].name, calls);
    sn_state_free(&s);
    sn_sim_free(&sim);
  }
  sn_model_free(&m);
}

TEST(refused_requests_are_survived) {
  if (!HEAP_REFUSES) {
    return;
  }
  sn_model *m = structured_ladder(1, 12);
  for (int k = 0; k < STRUCTURED_SOLVERS; k++) {
    sn_status status = SN_E_MEMORY;
    for (long n = 1; status == SN_E_MEMORY; n++) {
      sn_options o = structured_options(0.01, 1e-6);
      o.structured.solver = structured_solver[k].option;
      sn_sim *sim = NULL;
      sn_error err = {0};
      heap_watch(n);
      status = sn_sim_create(m, &o, &sim, &err);
      sn_sim_free(&sim);
      heap_stop();
      CHECK(heap.alive == 0, "'%s', request %ld: %ld blocks are left", structured_solver[k].name, n,
            heap.alive);
      CHECK(status == SN_OK || status == SN_E_MEMORY, "'%s', request %ld: %s",
            structured_solver[k].name, n, err.text);
    }
  }
  sn_model_free(&m);
}

int main(void) {
  heap_ready();
  RUN_TESTS(T(steps_never_allocate), T(refused_requests_are_survived));
}
