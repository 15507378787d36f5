/* Contact together with everything else: joints that rub and have limits, loops, springs, and
 * bodies that are in each other from the start, some of them for ever.  Whatever it is, a step goes
 * on; what has only kinetic energy gains none; and the solvers agree. */
#include "mixed.h"
#include "stage.h"

#include "methods/redmax/redmax.h"

/* Those that once gained energy, stopped or took minutes, among scenes of mixed_write. */
static const int hard[] = {6, 22, 31, 83, 99, 123, 127, 130, 187, 226, 236, 383, 402};

static stage mixed_stage(int number, mixed *m, sn_solver solver) {
  dice d = {.seed = (uint64_t)number * 7919 + 17};
  mixed_write(m, &d);
  const double spin = roll(&d) < 0.6 ? between(&d, 0.1, 5) : 0;
  sn_options o = redmax_options(m->h);
  o.redmax.solver = solver;
  stage b = stage_set(m->p.text, o);
  sn_error err = {0};
  for (int i = 0; i < b.m->tree.nv; i++) {
    sn_state_qd(b.s)[i] = spin * test_random(&d.seed, -1, 1);
  }
  CHECK(sn_sim_assemble(b.sim, b.s, &err) == SN_OK, "%s", err.text);
  return b;
}

static void run_on(int number, int steps) {
  mixed m;
  stage b = mixed_stage(number, &m, SN_SOLVER_AUTO);
  double before = stage_energy(&b), most = before + 1e-3;
  for (int k = 0; k < steps; k++) {
    sn_error err = {0};
    /* loads and friction in joints that do not agree are a reservation, and no end */
    CHECK(sn_sim_step(b.sim, b.s, NULL, NULL, &err) >= SN_OK, "scene %d, step %d: %s\n%s", number,
          k, err.text, m.p.text);
    const double now = stage_energy(&b);
    CHECK(isfinite(now), "scene %d, step %d: energy %g\n%s", number, k, now, m.p.text);
    CHECK(!m.quiet || now <= before + 1e-9 * most, "scene %d, step %d: of %g J gains %g\n%s",
          number, k, most, now - before, m.p.text);
    before = now;
  }
  stage_clear(&b);
}

/* SINEW_SOAK: a thousand of them. */
TEST(whatever_touches_goes_on_and_gains_nothing) {
  const int scenes = getenv("SINEW_SOAK") ? 1000 : 20;
  for (int k = 0; k < SNI_COUNT(hard); k++) {
    run_on(hard[k], 40);
  }
  for (int k = 0; k < scenes; k++) {
    run_on(500 + k, 30);
  }
}

int main(void) {
  RUN_TESTS(T(whatever_touches_goes_on_and_gains_nothing));
}
