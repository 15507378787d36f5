/* touch.h: contact in the step of `redmax`: where bodies touch, what may pass between them, and
 * what that does to the rates [RM 5.1].
 *
 * Contacts are rows over the same matrix A as springs and joints, so that a stiff spring pressing a
 * body on the floor is one system with the floor.  Trees of bodies that no force and no constraint
 * binds to others are rows in the coordinates that their recursion makes orthonormal (staggered.h):
 * numbers along the way from the body to the ground, and nothing else.  All trees that are bound
 * share one block, with a column of A^-1 each. */
#ifndef SNI_TOUCH_H
#define SNI_TOUCH_H

#include "contact/contact.h"
#include "linear/staggered.h"
#include "methods/redmax/rub.h"
#include "methods/redmax/sleep.h"
#include "methods/redmax/system.h"
#include "methods/sim.h"

/* What belongs to a group of the solver. */
typedef struct sni_touch_group {
  int contact;        /* -1: a row of a constraint, or of friction in a joint              */
  const sni_row *row; /* that one; of friction, perhaps several                            */
  int slide;          /* of the joints that rub (rub.h); -1: it is not one                 */
  const double *arm;  /* of each row, where there are several; NULL: 1                      */
  double ease; /* how its bodies would answer alone, 1/mass; 0: they are free, and so they do */
  sn_vec3 frame[3]; /* normal and tangents                                                 */
  double lever; /* m: couples are forces with this arm, and turning is in m/s, as sliding is     */
  sni_material material;
  double start[SNI_GROUP_ROWS]; /* H qd: rates at the start of the step                        */
  double free[SNI_GROUP_ROWS];  /* H qd1 without impulses of contacts                          */
  double came[SNI_GROUP_ROWS];  /* rates before the last blow, of those that it strikes; then, what
                                   blows alone made of them                                    */
  double swung[SNI_GROUP_ROWS]; /* what it changed of these with all of its restitution        */
  double blow[SNI_GROUP_ROWS];  /* impulses of what bounces                                    */
  double opened; /* by what the step has moved it apart, if all went straight, m               */
  double trust;  /* part of what is asked for there: joints may hold it: touch_part.c      */
  double sticks; /* at rates below this: touch_carry.c; below 0: nobody knows              */
  bool parted;   /* it is moved apart: touch_part.c                                          */
  bool bore;     /* in the step before, too                                                  */
  double gap;    /* at the start of the step                                                   */
  double gained; /* along the normal, by forces: what is not much faster is no blow.  Of either body
                    alone: what falls beside another that lies on the floor gains it, too      */
} sni_touch_group;

/* Impulses of the last step, in the order of contacts: a part of the state. */
typedef struct sni_touch_memory {
  int32_t shape[2];
  uint32_t feature;
  float depth; /* at the start of that step; 0: apart                                       */
  double normal;
  double tangent[3];   /* world axes                                                         */
  double couple[3];    /* likewise: spinning and rolling                                     */
  float opened, trust; /* see sni_touch_group                                                 */
} sni_touch_memory;
enum { SNI_TOUCH_NUMBERS = sizeof(sni_touch_memory) / sizeof(double) };

/* Who moves smoothly in a step that is put together from a whole one (0) and two halves (1, 2):
 * touch_smooth.c. */
typedef struct sni_smooth {
  int *link;           /* ntree  union and find of trees that push each other, or are bound     */
  uint64_t *acting[3]; /* ntree  a word for what pushes a tree, and whether it sleeps           */
  double *most;        /* ntree  the largest impulse on one                                     */
  bool *broken;        /* ntree  it is struck, moved apart or sleeps; then: it does not go on
                          smoothly, nor does what it touches                                    */
  bool any, all;       /* there are such, and nothing else                                      */
  bool touches, soft;  /* something pushes, and keeps energy that nobody counts                 */
  double *state;       /* of contacts, at the start of the whole step                           */
} sni_smooth;

typedef struct sni_touch {
  sni_sleep sleep;
  sni_smooth smooth;
  sn_sim *sim;
  sni_system *s;
  const sni_rubbing *rub; /* friction in joints, which takes part, within its bounds          */
  sni_finder *finder;
  sni_staggered st;
  void *memory;
  const sni_contact *contact; /* of this step                                                  */
  int count;
  double margin;            /* that they were looked for with                                  */
  sn_vec6 *phi;             /* nbody  twists that the step has led to                           */
  sn_se3 *then;             /* nbody  where these lead                                          */
  double *back;             /* a number a group, scratch                                        */
  sn_se3 *began;            /* nbody  poses at the start of the step                            */
  sn_vec6 *seen;            /* nbody  twists with which it was looked for whom it meets         */
  bool *keeps;              /* nbody  they are enough to know that                              */
  sn_vec6 *turned;          /* nbody  twists with which pairs that turn were looked at          */
  bool *other;              /* nbody  they have changed                                         */
  int looks;                /* of these, in this step                                           */
  double *reach;            /* nbody  of its shapes, about its origin or its centre of mass */
  double thinnest;          /* shape of all */
  double slowest;           /* rates below this are nothing, m/s                                */
  sni_touch_group *group;   /* as in st                                                          */
  sn_contact_point *point;  /* of contacts that push, for those who look                       */
  sni_contact_force *force; /* of these                                                       */
  sni_contact_sum *sum, *whole, *half; /* nbody each  impulses of parts of a step: touch_sum.c   */
  double (*least)[SNI_GROUP_ROWS];     /* of groups: the least impulses that move as theirs do    */
  double (*shift_x)[SNI_GROUP_ROWS];   /* of groups: impulses that move, but give no speed       */
  bool *led;   /* nbody  it hangs on what touches: touch_drift.c                              */
  bool *bound; /* nbody  something binds its tree to others, or to itself                     */
  bool *hinge; /* nbody  its factor is kept as that of a hinge                                */
  sni_touched *run; /* nbody  coordinates that rows have in one segment with its own          */
  int *big;     /* nv  place of a bound coordinate in the common block; -1: loose              */
  int *big_ind; /* nbig                                                                        */
  int nbig;
  int *parts; /* of groups: how many they have; scratch                                     */
  double *column, *solution; /* nv                                                             */
  double *zero;              /* a number a row of constraints                                  */
  double *shift;             /* nv  moves positions out of each other, and gives no speed      */
  double *parted;            /* nv  what of that moves apart what is in each other               */
  double *straight;          /* nv  where masses go straight on: touch_drift.c                   */
  sn_vec6 *driven;           /* nbody  what functions of time move besides the rates: as a twist */
  sni_touch_memory *kept;    /* scratch of the next state                                      */
  sni_touch_memory *before;  /* impulses of a solve of this step without those who were missed */
  int nbefore;
  sni_group *late; /* nlate  scratch: groups on their way to their places                      */
  sni_touch_group *late_group;
  int nlate;
  bool bounces;   /* something did, or may have, in the last solve                       */
  double work[2]; /* J, in the last solve: of normals and of friction, without blows; not above 0 */
  double residual; /* of the last solve: how far rates are from the law                     */
  bool shifts;     /* it is not 0                                                    */
  bool feels;      /* joints rub by what contacts do: the next step begins with the least ones */
  bool pushes;     /* something does                                                 */
} sni_touch;

sn_status sni_touch_create(sn_sim *sim, sni_system *s, const sni_rubbing *rub, sni_touch **out,
                           sn_error *err);
void sni_touch_free(sni_touch **touch);
/* Numbers in the private part of a state. */
int sni_touch_state_count(const sn_model *m);

/* x = A^-1 b with all constraints that hold both ways, as they were factorised. */
typedef sn_status (*sni_touch_solver)(void *user, const double *b, double *x);

/* At the start of a step; needs the kinematics. */
sn_status sni_touch_find(sni_touch *touch, double h, const double *q, const double *qd,
                         const sn_input *input, double *state, sn_error *err);
/* At its end: what rests falls asleep, and what has to be known for the next step is saved. */
void sni_touch_end(sni_touch *touch, double h, const double *q, double *q1, double *qd1,
                   double *state);

/* The impulses of a step whose rates would be qd1, and s->b with them: to be solved with again if
 * touch->pushes.  state: numbers of the last step; NULL: once more in the same step, from the
 * impulses as they are, with other qd1.  factors: those of the recursion are in the work memory. */
sn_status sni_touch_solve(sni_touch *touch, double h, const double *qd, const double *qd1,
                          const double *state, bool factors, sni_touch_solver solve, void *user,
                          sn_info *info, sn_error *err);

/* After the last solve of a step: what is in each other is moved apart, and who looks sees it. */
sn_status sni_touch_finish(sni_touch *touch, double h, sni_touch_solver solve, void *user);

/* Rates below this are those of rest. */
double sni_touch_resting(const sni_touch *touch);

/* Could sni_touch_mend do what sni_touch_solve would have to do again? */
bool sni_touch_may_mend(const sni_touch *touch);
/* The same once more, with the contacts that are fresh.  free: the rates without
 * impulses, as they were; s->b without them. */
sn_status sni_touch_mend(sni_touch *touch, double h, const double *qd, const double *free,
                         const double *state, sni_touch_solver solve, void *user, sn_info *info,
                         sn_error *err);

/* All impulses of the last solve, into touch->shift_x and touch->pushes. */
void sni_touch_take_impulses(sni_touch *touch);

/* Does something drive bodies into each other? */
sn_status sni_touch_check(const sni_touch *touch, double t, sn_error *err);

/* touch_fast.c: what is known of shapes beforehand, for the next one. */
void sni_touch_measure(sni_touch *touch);
/* The twists of bodies at the rates that sni_touch_solve has led to, for the next two. */
void sni_touch_twists(sni_touch *touch, const double *qd1);
/* Points of those who meet at these, and are not known yet; true: there are, and the step has to be
 * solved with them. */
bool sni_touch_add_missed(sni_touch *touch, double h);
/* How fast a contact opens, by the twists of sni_touch_twists. */
double sni_touch_closing(const sni_touch *touch, const sni_contact *c);
/* Do bodies go where nothing keeps them apart? */
bool sni_touch_outruns(sni_touch *touch, double h);

/* ---- touch_memory.c ---- */

/* Impulses that the state has room for. */
int sni_touch_memory_count(const sn_model *m);
/* Impulses of the last step, for groups from `first` on; both lists are in the same order. */
void sni_touch_remember(sni_touch *touch, const double *state, int first);
/* The next solve begins with the impulses of the last one. */
void sni_touch_keep_impulses(sni_touch *touch);
/* Those, which are nearer than the last step's. */
void sni_touch_recall(sni_touch *touch);
void sni_touch_save(sni_touch *touch, double *state);

/* ---- touch_blows.c ---- */

/* A blow is one whose speed is this many times what a step of its forces gives. */
#define SNI_SUDDEN 2.0

/* Impulses of what bounces, into the groups' `blow` and the solver's v. */
void sni_touch_bounce(sni_touch *touch, double h, const sni_staggered_options *o);
/* What the solver starts from: blows stay. */
void sni_touch_start_from_blows(sni_touch *touch);
/* All groups take part again. */
void sni_touch_restore_parts(sni_touch *touch, const int *parts);

/* ---- touch_part.c ---- */

/* The way out of each other, into touch->shift, after a solve. */
sn_status sni_touch_part(sni_touch *touch, double h, const sni_staggered_options *o,
                         sni_touch_solver solve, void *user);

/* ---- touch_drift.c ---- */

/* What joints lead into others along curves is moved back, and what sticks goes where it is
 * carried, by touch->shift: q1 and qd1 as sni_move_begin leaves them, after sni_touch_twists.
 * driven: what coordinates do in this step besides h qd1, since functions of time say so; NULL:
 * nothing.  *lost: not to where it should be, the step is too long for these curves. */
sn_status sni_touch_lead(sni_touch *touch, double h, const double *q, const double *q1,
                         const double *qd1, const double *driven, sni_touch_solver solve,
                         void *user, bool *lost);
/* Where coordinates lead that end at q1, moved on by `more`, into touch->then. */
void sni_touch_place_end(sni_touch *touch, double h, const double *q, const double *q1,
                         const double *qd1, const double *more);

/* ---- touch_carry.c ---- */

/* After the solve: at what rates groups stick. */
void sni_touch_note_sticking(sni_touch *touch);
/* `driven` (see sni_touch_lead) as twists of the bodies, into touch->driven. */
void sni_touch_find_driven(sni_touch *touch, const double *driven, const double *qd1);
/* By how much that moves group k apart, where it is not carried. */
double sni_touch_left_to_others(const sni_touch *touch, int k, double h);
/* The impulses that move what sticks to where it is carried, into touch->shift_x; false: it is
 * there.  Groups have other parts after that, and belong to no other solve of this step. */
bool sni_touch_carry(sni_touch *touch, double h, const double *q, const double *q1,
                     const double *qd1, const double *driven);

/* ---- touch_sum.c: what channels say of a step, sim->contact_of ---- */

void sni_touch_sum_clear(sni_touch *touch);
/* Impulses of the last part, of length h, by itself. */
void sni_touch_sum_part(sni_touch *touch, double h);
/* It is the whole step (0), or its first half (1); the last part is then the second one, and all of
 * them together are taken for it: `less` of both halves, and, of what goes on smoothly, `part` of
 * what these did otherwise than the whole step. */
void sni_touch_sum_keep(sni_touch *touch, int k);
void sni_touch_sum_combine(sni_touch *touch, double part, double less);
/* The part counts. */
void sni_touch_sum_add(sni_touch *touch);
/* As forces of a step of length h. */
void sni_touch_sum_end(sni_touch *touch, double h);

/* ---- touch_smooth.c: who may be extrapolated ---- */

/* Before the whole step, which only rehearses: nobody falls asleep in it.  state: the numbers of
 * contacts in the state. */
void sni_smooth_begin(sni_touch *touch, const double *state);
/* They are as they were, and what comes counts. */
void sni_smooth_go_back(sni_touch *touch, double *state);
/* After part k of the step. */
void sni_smooth_note(sni_touch *touch, int k);
/* After all three. */
void sni_smooth_end(sni_touch *touch);
/* Does the tree of body i go on smoothly? */
static inline bool sni_goes_smoothly(const sni_touch *touch, int i) {
  return !touch->smooth.broken[touch->sleep.tree_of[i]];
}

/* ---- touch_rows.c: groups of the solver ---- */

/* One for each contact and each one-sided row; SN_E_LIMIT: there is no room. */
sn_status sni_touch_build(sni_touch *touch, bool factors, sni_touch_solver solve, void *user,
                          sn_error *err);
/* One for each contact that is fresh, behind those that there are. */
sn_status sni_touch_build_fresh(sni_touch *touch, sni_touch_solver solve, void *user,
                                sn_error *err);
/* out = H x of each group from `first` on, by the member of sni_touch_group at this offset. */
void sni_touch_rates(sni_touch *touch, const double *x, size_t offset, int first);
/* What forces add to the rates of contacts, between start and free; false: nothing could bounce. */
bool sni_touch_gains(sni_touch *touch, const double *qd, const double *qd1);
/* The wrenches of the last solve on all bodies (nbody), world axes at their origins; after: where
 * bodies are at the end of the step, which is where the kinematics are. */
void sni_touch_wrenches(const sni_touch *touch, double h, bool after, sn_vec6 *out);
/* b += H^T impulses; x: of groups, one after the other. */
void sni_touch_push(sni_touch *touch, const double (*x)[SNI_GROUP_ROWS], double *b);

#endif
