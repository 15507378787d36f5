/* sim.h: the inside of states and sims, and the table that a method fills. */
#ifndef SNI_SIM_H
#define SNI_SIM_H

#include "dynamics/rows.h"
#include "sinew/recording.h"

/* One block: this head, q, qd, then the method's private part.  Everything that must be saved to
 * resume exactly is in it. */
struct sn_state {
  uint64_t magic;
  uint64_t size; /* of the whole block, in bytes                                       */
  uint64_t model_hash;
  uint64_t method; /* whose private part it is; 0: nobody's yet                          */
  double t;
  double t_start, step; /* t = t_start + count * step: no rounding adds up                   */
  int64_t count;
  int64_t nv;
  double data[]; /* q, qd, private part                                                      */
};

static inline double *sni_state_q(sn_state *s) {
  return s->data;
}
static inline double *sni_state_qd(sn_state *s) {
  return s->data + s->nv;
}
static inline double *sni_state_private(sn_state *s) {
  return s->data + 2 * s->nv;
}
/* Of time, coordinates and rates: where and when it is, whatever its method keeps beside. */
uint64_t sni_state_mark(const sn_state *s);

typedef struct sni_method {
  const char *name;
  const char *doc;
  /* Another method that these options ask for; may change the options.  NULL: none ever. */
  const struct sni_method *(*instead)(sn_options *options);
  /* SN_OK, or in words what it cannot do with this model. */
  sn_status (*supports)(const sn_model *m, sn_error *err);
  int (*state_count)(const sn_model *m); /* doubles of its private part in a state     */
  size_t (*work_size)(const sn_model *m, const sn_options *o); /* bytes of work memory */
  /* After the work memory is there and zeroed.  NULL: nothing to do. */
  sn_status (*create)(sn_sim *sim, sn_error *err);
  void (*destroy)(sn_sim *sim); /* what create took; NULL: nothing */
  bool smooth; /* goes by accelerations: what jumps has none                          */
  /* See sn_sim_describe.  NULL: nothing was chosen. */
  void (*describe)(const sn_sim *sim, char *out, size_t out_size);
  /* True: many constraints come as a graph, which create builds into sim->rows.kkt.            */
  bool (*wants_graph)(const sn_model *m, const sn_options *o);
  bool implicit;         /* stiff forces do not limit its step                                */
  bool motions_are_rows; /* a motion is a constraint like others, not a prescribed joint     */
  bool gives_way;        /* constraints that cannot all be met are met as well as they can be   */
  /* True: states at any times come out of one and the same motion, whatever options.step is. */
  bool (*dense)(const sn_options *options);
  /* Where it keeps the coordinates of loops in its private part.  NULL: at the beginning. */
  double *(*loops)(const sn_sim *sim, sn_state *state);
  /* What a state keeps of friction in joints (see sni_rubbing_save); and its forces and those of
   * contacts, in the pose of the kinematics, into d.friction.  NULL: there is none. */
  const double *(*rubbing)(const sn_model *m, const sn_state *state);
  void (*rub)(sn_sim *sim, const sn_state *state);
  /* Of one-sided rows, which have pushed in the step that led here: sni_unilateral_load_pressed.
   * NULL: where rows are says it. */
  double *(*pressed)(const sn_model *m, sn_state *state);
  /* After `rub`: what friction does to side b of a loop, as its rows have it.                   */
  sn_vec6 (*rub_in_loop)(const sn_sim *sim, int loop);
  /* Advances state to t_end.  On failure the state is untouched. */
  sn_status (*step)(sn_sim *sim, sn_state *state, const sn_input *input, double t_end,
                    sn_info *info, sn_error *err);
} sni_method;

const sni_method *sni_method_find(const char *name); /* NULL: none */
const sni_method *sni_method_at(int k);              /* NULL past the end */

/* What a point of contact bears. */
typedef struct sni_contact_force {
  sn_vec3 force; /* on the first body of a point                                              */
  double normal; /* its part along the normal                                                 */
} sni_contact_force;

/* All contacts of a body in a step. */
typedef struct sni_contact_sum {
  sn_vec3 force; /* on it, world axes               */
  double normal; /* sum of what presses             */
  int points;    /* that press                       */
} sni_contact_sum;

struct sn_sim {
  const sn_model *m;
  const sni_method *method;
  sn_options options;
  sni_dynamics d;
  sni_rows rows; /* d.rows points here, where there are constraints */
  void *method_work;
  /* what sn_sim_forward and the channels need */
  double *q, *qd, *qdd, *tau; /* nv each    */
  sn_vec6 *F;                 /* nbody      */
  double *acting;             /* nv  joint forces of springs, drives, forces and input       */
  double bounded[2];          /* between these times no function of time has a pole          */
  double unbroken[2];         /* the same: none that says where something is has a break     */
  /* Where bodies touch, at the end of the last step: the method that finds contacts points to its
   * own list.  Recordings show it. */
  const sn_contact_point *touch;
  int ntouch;
  uint64_t touch_mark;         /* the state of that end: sni_state_mark                       */
  sni_contact_sum *contact_of; /* nbody  sums in the whole of that step, where something touches */
  int open_one;                /* the constraint that this step could not close; -1: none, so far */
};

/* Whose private part a state has, and for which rows: with more motions or fewer, which are no
 * reason to refuse a state, its numbers stand elsewhere.  sn_state.method. */
uint64_t sni_sim_private_id(const sn_sim *sim);
sn_status sni_sim_check_state(const sn_sim *sim, const sn_state *state, sn_error *err);
/* Is everything finite in it?  Names what is not. */
sn_status sni_sim_check_numbers(const sn_sim *sim, const sn_state *state, sn_error *err);

/* Everything at a state: kinematics, forces (sim->acting), accelerations (sim->qdd), joint forces
 * (sim->tau, those of motions included), reactions (sim->F, world axes). */
sn_status sni_sim_evaluate(sn_sim *sim, const sn_state *state, const sn_input *input,
                           sn_error *err);

/* After a solve with limits: do others stand against one? */
sn_status sni_sim_check_limits(sn_sim *sim, double t, sn_error *err);
/* Do rows that follow from others, as far as directions go, want the rates (rows.rhs) that those
 * give?  With the rows at hand. */
sn_status sni_sim_check_rates(sn_sim *sim, double t, const double *qd, sn_error *err);
/* Moves sim->q beside where it is, by at most `way` (rad or m): numbers without pattern, the same
 * in every run, others for each `which`. */
void sni_sim_step_aside(sn_sim *sim, int which, double way);
/* Where a constraint stands in a scene: "loops", "constraints", "motions" or "bodies". */
const char *sni_sim_section(const sn_model *m, int constraint);
/* q and qd onto the constraints at t; a loop that stays open is named. */
sn_status sni_sim_project(sn_sim *sim, double t, double t_ref, double *q, double *qd,
                          sn_error *err);
/* The same onto what has just been switched on, which may be far away. */
sn_status sni_sim_hold(sn_sim *sim, double t, double t_ref, double *q, double *qd, sn_error *err);
/* Is any constraint switched on, or off, between two times? */
bool sni_sim_switched(const sn_sim *sim, double t_before, double t, bool on);
/* What is switched on until t_end, in a step that takes functions of time at its end: the same with
 * the state that it begins with, as if it were on there already; if that fails, it stays. */
sn_status sni_sim_switch(sn_sim *sim, double t_end, sn_state *state, sn_error *err);
/* q alone: see sni_rows_close. */
sn_status sni_sim_close(sn_sim *sim, double t, bool near, double *q, const double *qd,
                        sn_error *err);
/* The private part of a state becomes that of this method: zeros, where another had it. */
void sni_sim_own(sn_sim *sim, sn_state *state);
/* Whatever pushed in the step that led to this state: only what touches there presses. */
void sni_sim_let_go(const sn_sim *sim, sn_state *state);
/* The coordinates of loops as the state has them; of one that no step of this method has been at,
 * wherever they are. */
void sni_sim_see_loops(sn_sim *sim, const sn_state *state);
/* Where the states of this method keep them. */
double *sni_sim_loops_of(const sn_sim *sim, sn_state *state);
/* Coordinates of loops, out of the private part of a state and back. */
void sni_sim_load_loops(sn_sim *sim, const double *from);
void sni_sim_save_loops(const sn_sim *sim, double *to);

/* Changes with all that somebody holds. */
uint64_t sni_hand_hash(uint64_t seed, const sni_hand *hand);

/* Checks and sets a parameter; sni_dynamics_refresh is still to come, once for any number of them.
 */
sn_status sni_sim_put(sn_sim *sim, const char *path, const sni_param_ref *ref, double value,
                      sn_error *err);

sn_status sni_fail_body(const sn_sim *sim, sn_error *err, sn_status code, int body, double t,
                        const char *what);
/* Why a recursion stopped at a body, with the kinematics there: its joint is singular in this pose,
 * or nothing resists the motion. */
sn_status sni_fail_singular(const sn_sim *sim, sn_error *err, int body, double t);

#endif
