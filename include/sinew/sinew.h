/* sinew.h: simulate articulated mechanisms.
 *
 *     definitions -> sn_builder -> sn_model -> sn_sim -> sn_state
 *
 * A builder takes definitions by value, checks them once and reports every problem by name.  A
 * model never changes and may be shared by any number of sims and threads.  A sim is a method bound
 * to a model, with all the memory that a step needs.  A state is what must be saved to resume
 * exactly.  The library never prints and never exits. */
#ifndef SINEW_SINEW_H
#define SINEW_SINEW_H

#include "sinew/function.h"
#include "sinew/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Definitions: what a mechanism is made of ------------------------------------------------ */

#define SN_NV_MAX 6 /* a joint has at most six coordinates */

/* A number for each coordinate of a joint.  n = 0: not given; n = 1: the same for all. */
typedef struct sn_per_dof {
  int n;
  double v[SN_NV_MAX];
} sn_per_dof;

/* tau = stiffness (target - q) + damping (rate - qd), within +-max_force.  On rotations that have
 * no axis of their own the difference is taken on the group. */
typedef struct sn_drive_def {
  bool enabled;
  int ntarget; /* 0: no position target; 1 or one for each coordinate */
  sn_function_def target[SN_NV_MAX];
  int nrate; /* 0: the target's own rate */
  sn_function_def rate[SN_NV_MAX];
  sn_per_dof stiffness, damping;
  sn_per_dof max_force; /* default: no limit */
} sn_drive_def;

/* Friction inside the joint.  coulomb: grows with the load of the joint, on surfaces of a given
 * size.  dry: a constant.  stribeck: breakaway at rest, falling to force with speed.  viscous, and
 * the others with damping: grows with the rate. */
typedef struct sn_joint_friction_def {
  bool enabled;
  const char *law;               /* "coulomb", "dry", "viscous", "stribeck"                       */
  double mu;                     /* coulomb: -1 means not given                                   */
  double pin_radius, pin_length; /* coulomb, on pins; a ball has a radius                         */
  sn_vec3 size;   /* coulomb, prismatic: edges of the slider, z along the axis                    */
  sn_vec3 across; /* of these: where the first one points, in the joint's frame; 0: all around    */
  int points;     /* coulomb: contacts around a pin, at each end; 0: all around      */
  sn_per_dof force;     /* dry, stribeck: a number for each coordinate                   */
  sn_per_dof breakaway; /* stribeck: at rest                                             */
  sn_per_dof speed;     /* stribeck: at which a third of the difference is left          */
  sn_per_dof damping;   /* viscous, stribeck                                             */
} sn_joint_friction_def;

/* A gap in a joint: free within gap/2 of where it should be, a spring beyond. */
typedef struct sn_backlash_def {
  bool enabled;
  double gap, stiffness, damping;
} sn_backlash_def;

/* How far a rotation without an axis goes: its direction `axis` leaves where it is at q = 0 by at
 * most `swing`, and about it the body turns from twist_lower to twist_upper. */
typedef struct sn_cone_def {
  bool enabled;
  double swing;                        /* > 0, at most pi; pi: no limit */
  sn_per_dof twist_lower, twist_upper; /* one number each; n = 0: no limit */
  sn_vec3 axis;                        /* in the body's frame; any length > 0 */
} sn_cone_def;

/* What happens at limits. */
typedef struct sn_stop_def {
  double restitution;        /* 0: nothing comes back; 1: all of the speed does */
  double stiffness, damping; /* stiffness > 0: a spring beyond the limit instead of a hard stop */
} sn_stop_def;

typedef struct sn_joint_def sn_joint_def;
struct sn_joint_def {
  const char *type;          /* "revolute", "free", ...                                         */
  sn_se3 at;                 /* pose of the joint in the parent's frame, at q = 0               */
  sn_vec3 axis;              /* revolute, prismatic, cylindrical, screw; any length > 0         */
  double pitch;              /* screw: advance per radian                                       */
  const sn_joint_def *parts; /* composite: first to last, from parent to child                  */
  int npart;
  const sn_se3 *frames; /* spline_curve: control frames, in the joint's frame                   */
  int nframe;
  bool cyclic;
  const double *grid; /* spline_surface: rows x columns x (x, y, z, rx, ry, rz)                 */
  int grid_rows, grid_columns;

  sn_per_dof stiffness, damping, rest, armature;
  sn_per_dof lower, upper; /* limits */
  sn_cone_def cone;        /* limits of spherical joints, and of free ones */
  sn_stop_def stop;
  sn_joint_friction_def friction;
  sn_backlash_def backlash;
  sn_drive_def drive;
};

typedef struct sn_shape_def {
  const char *type;    /* box, sphere, cylinder, capsule, ellipsoid, mesh, plane,
                          convex, height_field */
  sn_se3 at;           /* pose of the shape in the body's frame           */
  sn_vec3 size;        /* box: full edge lengths                          */
  sn_vec3 radii;       /* ellipsoid: half axes                            */
  double radius;       /* sphere, cylinder, capsule                       */
  sn_vec3 from, to;    /* cylinder, capsule: ends of the axis             */
  const char *file;    /* mesh: OBJ or STL                                */
  double scale;        /* mesh                                            */
  double extent;       /* plane: edge of the square that is drawn         */
  double density;      /* < 0: none given                                 */
  const char *contact; /* name of a contact material, or NULL: does not collide */
  sn_vec3 color;       /* 0..1; negative: none given                      */
} sn_shape_def;

typedef struct sn_body_def {
  const char *name;
  const char *parent; /* "world" or NULL: the ground */
  sn_joint_def joint; /* without a type, and without a parent: it hangs by a loop, and the builder
                         chooses by which (see priority in sn_loop_def) */
  bool has_inertia;   /* then shapes carry no mass */
  sn_inertia inertia;
  const sn_shape_def *shapes;
  int nshape;
  double damping_angular, damping_linear; /* wrench -d twist of the centre-of-mass frame */
  const char *const *ignore;              /* nignore  bodies that it does not touch; world: the
                                             ground */
  int nignore;
} sn_body_def;

typedef enum sn_frame { SN_FRAME_WORLD, SN_FRAME_BODY } sn_frame;

/* A point fixed to a body, in the body's frame. */
typedef struct sn_point_def {
  const char *body; /* NULL or "world": the ground */
  sn_se3 at;
} sn_point_def;

typedef struct sn_force_def {
  const char *name;
  const char *type;       /* spring, cable, string, point_force, body_torque, joint_torque,
                             grab */
  sn_function_def active; /* acts while > 0 */
  bool implicit;          /* its stiffness and damping are taken at the end of the step, where the
                             method can */
  sn_point_def a, b;      /* spring: its ends */
  double stiffness, damping;
  double rest_length;      /* spring, cable: < 0 means the length in the initial pose */
  bool allow_negative;     /* spring, cable: a stiffness below 0 is meant */
  int nvia;                /* cable: the points that it passes */
  const sn_point_def *via; /* nvia */
  int nodes;               /* string: point masses between its ends, bodies NAME_1 .. NAME_nodes */
  double mass;             /* string: of all nodes together */
  bool tension_only;       /* cable: slack while shorter than rest_length */
  const char *body;        /* point_force, body_torque, grab */
  sn_vec3 at;              /* point_force, grab: where, in the body's frame */
  sn_frame frame;          /* axes in which the vector is given */
  sn_function_def vector[3]; /* grab: where the hand is, in the world */
  double hand_damping;       /* grab: < 0 means critical for the mass of the model */
  const char *joint;         /* joint_torque */
  int ntorque;
  sn_function_def torque[SN_NV_MAX];
} sn_force_def;

/* Something that follows functions of time: a joint, components of a body's twist, or a point. */
typedef struct sn_motion_def {
  const char *name;
  const char *joint;
  int nq;
  sn_function_def q[SN_NV_MAX];
  int nrate; /* instead of q: how fast, wherever it is */
  sn_function_def rate[SN_NV_MAX];
  const char *body; /* instead of joint: with twist or with point */
  bool twist_given[6];
  sn_function_def twist[6]; /* angular, then linear: of the point at */
  sn_frame frame;           /* axes of the twist */
  sn_vec3 at;               /* in the body's frame: the point that follows */
  bool has_point;
  sn_function_def point[3]; /* where it goes, in the world */
  sn_function_def active;
  double weight; /* structured: see sn_loop_def */
} sn_motion_def;

/* A joint between two bodies that closes a loop. */
typedef struct sn_loop_def {
  const char *name;
  sn_joint_def joint; /* its `at` does not count: each side has its own */
  sn_point_def a, b;
  sn_function_def active; /* closed while > 0 */
  double weight;          /* structured: how much its error counts where not all can be had; 0: 1 */
  double priority;        /* bodies without a joint hang by the loops of highest priority */
} sn_loop_def;

/* A coordinate of a joint, and how much it counts. */
typedef struct sn_term_def {
  const char *joint;
  int coordinate;
  double factor;
} sn_term_def;

/* A coordinate of a map's own. */
typedef struct sn_coordinate_def {
  const char *name;
  sn_per_dof q, qd; /* at the start; n is 0: as the joints start, or 0 */
  int nmotion;      /* 1: it follows motion[0] */
  sn_function_def motion[SN_NV_MAX];
  int nforce; /* 1: force[0] acts along it */
  sn_function_def force[SN_NV_MAX];
} sn_coordinate_def;

/* A coordinate of a joint as an expression of the coordinates of a map. */
typedef struct sn_driven_def {
  const char *joint;
  int coordinate;
  const char *value;
} sn_driven_def;

/* Something that always holds exactly. */
typedef struct sn_constraint_def {
  const char *name;
  const char *type;         /* distance, weld, point, couple, roll, knife_edge, half_space, map */
  sn_function_def active;   /* holds while > 0 */
  double weight;            /* structured: see sn_loop_def */
  sn_point_def a, b;        /* distance, weld, point */
  double length;            /* distance: < 0 means that in the initial pose */
  int nterm;                /* couple: sum factor q = offset */
  const sn_term_def *terms; /* nterm */
  sn_function_def offset;
  const char *body;  /* roll, knife_edge, half_space */
  sn_vec3 at;        /* roll: centre of the sphere or disc; others: the point; in its frame */
  double radius;     /* roll; half_space: of a ball about the point */
  sn_vec3 axis;      /* roll: of a disc, in the body's frame; 0: a sphere */
  sn_point_def on;   /* roll, half_space: the plane, x and y of this frame, z to where it is free */
  sn_stop_def stop;  /* half_space */
  sn_vec3 direction; /* knife_edge: along this, in the body's frame, the point does not move */
  int ncoordinate;   /* map: joints driven by fewer coordinates */
  const sn_coordinate_def *coordinates; /* ncoordinate */
  int ndriven;
  const sn_driven_def *driven; /* ndriven */
} sn_constraint_def;

/* Which shapes of one mechanism touch each other; two materials: what both allow. */
typedef enum sn_self { SN_SELF_NONE, SN_SELF_DISTANT, SN_SELF_ALL } sn_self;

/* A contact material. */
typedef struct sn_contact_def {
  const char *name;
  double friction, restitution;
  double rolling, torsional; /* m: couple against rolling, and against turning on the spot, for each
                                unit of normal force */
  double margin;             /* m: surfaces touch while they are still so far apart */
  double stiffness, damping; /* stiffness > 0: gives way; 0: rigid */
  sn_self self;
  int apart; /* SN_SELF_DISTANT: joints between them, at least so many and one more */
} sn_contact_def;

/* A point of a body that a tube goes along, and how thick the tube is there. */
typedef struct sn_bead_def {
  sn_point_def point;
  double radius;
} sn_bead_def;

/* A round tube along bodies, which touches itself and other tubes. */
typedef struct sn_tube_def {
  const char *name;
  const char *contact; /* its material                                                        */
  int apart;           /* places of it that are no more than so many beads apart do not touch */
  int nbead;
  const sn_bead_def *beads; /* nbead, 2 or more */
} sn_tube_def;

/* Where a body starts, relative to its parent. */
typedef struct sn_initial_def {
  const char *body;
  sn_per_dof q, qd;
  bool has_pose; /* then q follows from the pose; for joints without an axis */
  sn_se3 pose;
} sn_initial_def;

typedef enum sn_integrator { SN_DOPRI5, SN_RK4 } sn_integrator;

typedef enum sn_implicit {
  SN_EULER,
  SN_EXTRAPOLATED,
  SN_IMPLICIT_DOPRI5,
  SN_IMPLICIT_RK4
} sn_implicit;
typedef enum sn_unconverged { SN_RETRY, SN_ACCEPT, SN_STOP } sn_unconverged;
typedef enum sn_solver {
  SN_SOLVER_AUTO,
  SN_SOLVER_TREE,
  SN_SOLVER_PCG,
  SN_SOLVER_GRAPH,
  SN_SOLVER_REDUCED,
  SN_SOLVER_REDUCED_KKT
} sn_solver;
typedef enum sn_inertia_term { SN_INERTIA_PROJECTED, SN_INERTIA_PAPER } sn_inertia_term;
typedef enum sn_closure { SN_CLOSURE_PROJECT, SN_CLOSURE_BAUMGARTE } sn_closure;
typedef enum sn_structured_solver {
  SN_STRUCTURED,
  SN_STRUCTURED_DENSE,
  SN_FULL_DENSE,
  SN_FULL_ITERATIVE,
  SN_STRUCTURED_GRAPH
} sn_structured_solver;
/* margin: what would pass its limit within the step stops there; penetration: what is beyond it
 * comes back by gain times the distance. */
typedef enum sn_activation { SN_ACTIVATION_MARGIN, SN_ACTIVATION_PENETRATION } sn_activation;
/* Which friction problem a step solves: one unknown for each way that joints can slide, or one for
 * each tangent of each contact, with the bodies on their own, as the paper has it. */
typedef enum sn_friction_problem { SN_FRICTION_REDUCED, SN_FRICTION_MAXIMAL } sn_friction_problem;
/* Staggered Projections, which end at Coulomb's law, or the convex model of Anitescu and Hart. */
typedef enum sn_contact_model { SN_CONTACT_STAGGERED, SN_CONTACT_ANITESCU } sn_contact_model;
typedef enum sn_cone { SN_CONE_EXACT, SN_CONE_POLYHEDRAL, SN_CONE_BOX } sn_cone;
typedef enum sn_tangent { SN_TANGENT_CLAMPED, SN_TANGENT_MATERIAL, SN_TANGENT_EXACT } sn_tangent;

/* A user's force: adds wrenches (world axes, at the origin of the body's frame) and joint forces.
 * Called for every evaluation of the accelerations, possibly many times in a step. */
typedef struct sn_force_context {
  double t;
  int nbody, nv;
  const sn_se3 *E_wb; /* nbody: poses                                             */
  const sn_vec6 *phi; /* nbody: twists in world axes at the origin of the frame   */
  const double *q, *qd;
  sn_vec6 *wrench;      /* nbody: add to it */
  double *tau;          /* nv: add to it    */
  bool without_damping; /* leave out what sn_tangent_fn gives as damping: the matrix has it */
} sn_force_context;
typedef void (*sn_force_fn)(const sn_force_context *context, void *user);

/* How a user's force changes with the motion, for implicit methods: a sum of squares
 *
 *     -df/dx = sum k p p^T     -df/dv = sum d p p^T
 *
 * each over the twists of one body or of two (body[1] = -1: one); p in the axes of the wrenches. */
typedef struct sn_force_term {
  double k, d;
  int body[2];
  sn_vec6 p[2];
} sn_force_term;
/* Fills at most max_terms terms and returns how many; adds to joint_k and joint_d (nv, zero before)
 * stiffness and damping of joint forces.  Called once in a step; wrench and tau are NULL. */
typedef int (*sn_tangent_fn)(const sn_force_context *context, void *user, sn_force_term *term,
                             double *joint_k, double *joint_d);

/* How to run: what is not the mechanism. */
typedef struct sn_options {
  const char *method; /* "recursive" */
  double step;        /* time from one state to the next */
  bool report_energy; /* sn_info.energy_change is computed, at the price of two evaluations */
  struct {
    sn_integrator integrator;
    double rel_tol, abs_tol; /* dopri5 */
    int max_steps;           /* dopri5: substeps within one step */
  } recursive;
  struct {
    sn_implicit integrator;
    sn_solver solver;
    sn_inertia_term inertia;
    sn_tangent tangent;
    double tolerance;   /* pcg: |b - A x| <= tolerance |b| */
    int max_iterations; /* pcg */
    sn_unconverged on_unconverged;
    sn_closure closure;       /* how loops stay closed */
    double gain;              /* baumgarte, penetration: 1/s, the rate at which gaps shrink */
    sn_activation activation; /* when limits and contacts act */
    struct {
      sn_friction_problem problem;
      double tolerance;      /* by which limits of friction may still change                      */
      int max_iterations;    /* between loads and friction                                        */
      double regularization; /* 0: loads of least length; > 0: the paper's eps, as part of the mean
                                diagonal                                                          */
      bool absolute;         /* eps as printed, in units of 1/mass                                */
    } friction;
    struct {
      sn_contact_model model;
      sn_cone cone;       /* of friction                                                        */
      int sides;          /* of the polyhedral cone                                             */
      double tolerance;   /* how far rates may be from the law, by the largest without contact  */
      int max_iterations; /* sweeps over the contacts of an island                              */
      double sleep; /* seconds after which what rests is left alone; 0: never                */
    } contact;
    sn_tangent_fn force_tangent; /* of the force of sn_sim_set_force, with the same user data;
                                    NULL: that force is explicit */
    int max_terms;
    int npair; /* pairs of bodies that its terms may couple */
    const int (*pair)[2];
  } redmax;
  struct {
    sn_structured_solver solver;
    double precision;      /* enough for the rates of loops and for their gaps */
    int iterations;        /* at most, in a solve */
    double budget;         /* milliseconds for a step; 0: as long as it takes */
    bool warm_start;       /* from the forces of the last step */
    double regularization; /* what loops give way, relative to how easily they move: > 0 */
  } structured;
} sn_options;

typedef struct sn_run_def {
  sn_options options;
  double duration;
  double record_every;                /* 0: every step */
  const char *const *record_channels; /* patterns with * and ?; none: the usual ones */
  int nrecord_channel;
} sn_run_def;

SN_API sn_per_dof sn_per_dof_all(double value);
SN_API sn_function_def sn_constant(double value);
SN_API sn_joint_def sn_joint_def_default(void);
SN_API sn_shape_def sn_shape_def_default(void);
SN_API sn_body_def sn_body_def_default(void);
SN_API sn_force_def sn_force_def_default(void);
SN_API sn_motion_def sn_motion_def_default(void);
SN_API sn_loop_def sn_loop_def_default(void);
SN_API sn_constraint_def sn_constraint_def_default(void);
SN_API sn_contact_def sn_contact_def_default(void);
SN_API sn_tube_def sn_tube_def_default(void);
SN_API sn_initial_def sn_initial_def_default(void);
SN_API sn_options sn_options_default(void);
SN_API sn_run_def sn_run_def_default(void);
SN_API sn_se3 sn_pose(double x, double y, double z);
SN_API sn_se3 sn_pose_rotvec(sn_vec3 position, sn_vec3 rotation_vector);
SN_API sn_se3 sn_pose_quat(sn_vec3 position, sn_quat quaternion);

/* ---- Builder --------------------------------------------------------------------------------- */

typedef struct sn_builder sn_builder;
typedef struct sn_model sn_model;

SN_API sn_builder *sn_builder_create(void); /* NULL: out of memory */
SN_API void sn_builder_free(sn_builder **builder);

/* Definitions are copied with all that they point to.  Only lack of memory fails here: everything
 * else is collected and reported by finish. */
SN_API sn_status sn_builder_add_body(sn_builder *builder, const sn_body_def *def);
SN_API sn_status sn_builder_add_force(sn_builder *builder, const sn_force_def *def);
SN_API sn_status sn_builder_add_motion(sn_builder *builder, const sn_motion_def *def);
SN_API sn_status sn_builder_add_loop(sn_builder *builder, const sn_loop_def *def);
SN_API sn_status sn_builder_add_constraint(sn_builder *builder, const sn_constraint_def *def);
SN_API sn_status sn_builder_add_contact(sn_builder *builder, const sn_contact_def *def);
SN_API sn_status sn_builder_add_tube(sn_builder *builder, const sn_tube_def *def);
SN_API sn_status sn_builder_set_initial(sn_builder *builder, const sn_initial_def *def);
SN_API void sn_builder_set_gravity(sn_builder *builder, sn_vec3 gravity);
SN_API sn_status sn_builder_set_run(sn_builder *builder, const sn_run_def *def);
SN_API sn_status sn_builder_set_units(sn_builder *builder, const char *units, const char *up);

/* Checks everything and makes the model.  On failure *model stays NULL, err has the first problem
 * and the builder has them all.  The builder can be finished once. */
SN_API sn_status sn_builder_finish(sn_builder *builder, sn_model **model, sn_error *err);
SN_API int sn_builder_error_count(const sn_builder *builder);
SN_API const sn_error *sn_builder_error(const sn_builder *builder, int k);
SN_API int sn_builder_warning_count(const sn_builder *builder);
SN_API const sn_error *sn_builder_warning(const sn_builder *builder, int k);

/* ---- Model ----------------------------------------------------------------------------------- */

SN_API void sn_model_free(sn_model **model);
SN_API int sn_model_body_count(const sn_model *model);
SN_API int sn_model_dof_count(const sn_model *model);
SN_API double sn_model_mass(const sn_model *model);
SN_API uint64_t sn_model_hash(const sn_model *model);
SN_API const sn_run_def *sn_model_run(const sn_model *model);

/* Bodies are numbered in the order of the tree: a parent comes before its children. */
SN_API int sn_model_body_find(const sn_model *model, const char *name); /* -1: none */
SN_API const char *sn_model_body_name(const sn_model *model, int body);
SN_API int sn_model_body_parent(const sn_model *model, int body); /* -1: the ground */
SN_API const char *sn_model_joint_type(const sn_model *model, int body);
SN_API int sn_model_joint_first(const sn_model *model, int body); /* first entry in q and qd */
SN_API int sn_model_joint_dofs(const sn_model *model, int body);

/* ---- State ----------------------------------------------------------------------------------- */

typedef struct sn_state sn_state; /* one block: a copy is a snapshot */

SN_API sn_status sn_state_create(const sn_model *model, sn_state **state, sn_error *err);
SN_API sn_status sn_state_clone(const sn_state *from, sn_state **state);
SN_API sn_status sn_state_copy(sn_state *to, const sn_state *from); /* of the same model */
SN_API void sn_state_free(sn_state **state);
SN_API bool sn_state_equal(const sn_state *a, const sn_state *b); /* bit for bit */
SN_API uint64_t sn_state_hash(const sn_state *state);
SN_API sn_status sn_state_save(const sn_state *state, const char *path, sn_error *err);
SN_API sn_status sn_state_load(const sn_model *model, const char *path, sn_state **state,
                               sn_error *err);
SN_API double *sn_state_time(sn_state *state);
SN_API double *sn_state_q(sn_state *state);
SN_API double *sn_state_qd(sn_state *state);

/* ---- Simulation ------------------------------------------------------------------------------ */

typedef struct sn_sim sn_sim;

/* What the outside adds during a step.  Any pointer may be NULL. */
typedef struct sn_input {
  const double *tau;          /* one for each coordinate                                  */
  const sn_vec6 *wrench;      /* one for each body: torque and force at the origin of its
                                 frame, in world axes                                     */
  const double *drive_target; /* one for each coordinate: replaces the drives' targets    */
  const double *drive_rate;   /* one for each coordinate                                  */
} sn_input;

/* What happened in a step.  Plain numbers. */
typedef struct sn_info {
  int substeps;            /* accepted steps of the integrator                        */
  int rejected;            /* steps that it had to repeat                             */
  int evaluations;         /* of the accelerations                                    */
  double error;            /* largest local error estimate, relative to the tolerance */
  double last_substep;     /* size of the last substep                                */
  int solves;              /* of a linear system: more than one where a step is looked at again */
  int iterations;          /* of the linear solver; 0 of those that need none          */
  int friction_iterations; /* between loads and friction in joints, the most in a substep */
  int friction_unsettled;  /* solves in which these did not agree and the best was taken     */
  double friction_disagreement; /* then: by how much bounds and loads differ, of the largest   */
  double residual;         /* of the linear system, relative to its right-hand side; structured:
                              the largest error in the rates of loops, m/s or rad/s, what
                              they gave way included                                      */
  double energy_change;    /* over the step, if options.report_energy asks for it          */
  int retries;             /* times that the step was divided because a solve did not converge */
  double gap;              /* structured: the largest gap that loops are left with, m or rad; of
                              a gap in space its largest component along the loop's axes      */
  int contacts;            /* points that touch, or might have within the step             */
  int contact_iterations;  /* sweeps over the contacts, the most of an island              */
  double contact_residual; /* how far rates are from the law of contact, by the largest without */
  double deepest;          /* how far things are in each other at the start of the step, m     */
} sn_info;

SN_API sn_status sn_sim_create(const sn_model *model, const sn_options *options, sn_sim **sim,
                               sn_error *err);
SN_API void sn_sim_free(sn_sim **sim);

/* What the method has chosen by itself and why, in a few words; "" if there was nothing to choose.
 * Returns out. */
SN_API const char *sn_sim_describe(const sn_sim *sim, char *out, size_t out_size);

/* Moves the state onto the constraints of the model, by the least motion of its masses: loops
 * closed, motions where they are at the state's time.  SN_E_UNCONVERGED names what stays open, or
 * what is at odds with the others.  The method structured goes on where not all can be had: then
 * the state is as near as can be, in the least squares, and err says what stays open, with the
 * status SN_NOT_CONVERGED. */
SN_API sn_status sn_sim_assemble(sn_sim *sim, sn_state *state, sn_error *err);
/* The largest gap of all constraints, m or rad; of a gap in space its largest component. */
SN_API sn_status sn_sim_gap(sn_sim *sim, const sn_state *state, double *gap);

/* Advances the state by options.step.  Allocates nothing.  On failure the state is the last good
 * one and err names the culprit. */
SN_API sn_status sn_sim_step(sn_sim *sim, sn_state *state, const sn_input *input, sn_info *info,
                             sn_error *err);

/* Parameters by path, such as "forces.return.stiffness" or "gravity.2". */
SN_API sn_status sn_sim_set(sn_sim *sim, const char *path, double value, sn_error *err);
SN_API sn_status sn_sim_get(const sn_sim *sim, const char *path, double *value, sn_error *err);
SN_API void sn_sim_set_force(sn_sim *sim, sn_force_fn force, void *user);

/* A hand that holds a point of a body and pulls it to a target, with a spring of length 0: stable
 * at any stiffness in implicit methods, an ordinary force in others.  It belongs to the sim, as
 * parameters do, and not to the state: to go on from a saved state exactly, grab again. */
typedef struct sn_grab_def {
  int body;
  sn_vec3 point;  /* in the body's frame */
  sn_vec3 target; /* in the world        */
  /* < 0: the usual ones.  stiffness: mass of the model times (20 for each unit of time)^2; damping:
   * critical for that mass, so that whatever hangs on it comes without swinging.  In explicit
   * methods not more than their step bears for the inertia that the point has at the state. */
  double stiffness, damping;
} sn_grab_def;
SN_API sn_grab_def sn_grab_def_default(void);

/* Takes hold, and lets go of what was held before. */
SN_API sn_status sn_sim_grab(sn_sim *sim, const sn_state *state, const sn_grab_def *def,
                             sn_error *err);
SN_API sn_status sn_sim_drag(sn_sim *sim, sn_vec3 target, sn_error *err); /* what is held */
SN_API void sn_sim_release(sn_sim *sim);
/* What is held, with its stiffness and damping; false: nothing.  def may be NULL. */
SN_API bool sn_sim_held(const sn_sim *sim, sn_grab_def *def);

/* Named channels: everything that can be recorded, evaluated at a state. */
SN_API int sn_sim_channel_count(const sn_sim *sim);
SN_API int sn_sim_channel_find(const sn_sim *sim, const char *name); /* -1: none */
SN_API const char *sn_sim_channel_name(const sn_sim *sim, int channel, char *out, size_t out_size);
SN_API bool sn_sim_channel_usual(const sn_sim *sim,
                                 int channel); /* recorded unless asked otherwise */
SN_API sn_status sn_sim_channels(sn_sim *sim, const sn_state *state, const sn_input *input,
                                 const int *channel, int n, double *out, sn_error *err);

/* ---- Dynamics, one call at a time ------------------------------------------------------------ */

typedef enum sn_joint_mode {
  SN_JOINT_FREE,      /* tau is given, qdd follows */
  SN_JOINT_PRESCRIBED /* qdd is given, tau follows */
} sn_joint_mode;

/* qdd from tau, at the state; joint springs, drives, forces, gravity and prescribed motions
 * included, `input` added.  O(n).  [RMS Alg 6] */
SN_API sn_status sn_sim_forward(sn_sim *sim, const sn_state *state, const sn_input *input,
                                double *qdd, sn_error *err);

/* The joint forces that give qdd: what the actuators must add to everything that acts already.
 * reaction (may be NULL): the whole wrench that the parent exerts on each body through its joint,
 * in the body's frame.  Constraints do not count: it is the tree alone that moves so. */
SN_API sn_status sn_sim_inverse(sn_sim *sim, const sn_state *state, const sn_input *input,
                                const double *qdd, double *tau, sn_vec6 *reaction, sn_error *err);

/* Mixed: mode per body decides what is given and what follows; both arrays are completed. */
SN_API sn_status sn_sim_hybrid(sn_sim *sim, const sn_state *state, const sn_input *input,
                               const sn_joint_mode *mode, double *qdd, double *tau,
                               sn_vec6 *reaction, sn_error *err);

SN_API sn_status sn_sim_poses(sn_sim *sim, const sn_state *state, sn_se3 *E_wb, sn_vec6 *phi);
SN_API sn_status sn_sim_mass_matrix(sn_sim *sim, const sn_state *state, double *M); /* nv x nv */

/* y = J x and z = Jdot x: twists in the bodies' frames; x = J^T y; y = M^-1 x. */
SN_API sn_status sn_sim_J_mul(sn_sim *sim, const sn_state *state, const double *x, sn_vec6 *y);
SN_API sn_status sn_sim_Jdot_mul(sn_sim *sim, const sn_state *state, const double *x, sn_vec6 *z);
SN_API sn_status sn_sim_Jt_mul(sn_sim *sim, const sn_state *state, const sn_vec6 *y, double *x);
SN_API sn_status sn_sim_Minv_mul(sn_sim *sim, const sn_state *state, const double *x, double *y,
                                 sn_error *err);

/* 3 x nv, row-major: velocity in world axes of a point fixed to a body. */
SN_API sn_status sn_sim_point_jacobian(sn_sim *sim, const sn_state *state, int body, sn_vec3 point,
                                       double *J);

typedef struct sn_energy {
  double kinetic, potential;
  sn_vec3 momentum;         /* of the whole, world axes       */
  sn_vec3 angular_momentum; /* about the origin of the world  */
  sn_vec3 center_of_mass;
} sn_energy;
SN_API sn_status sn_sim_energy(sn_sim *sim, const sn_state *state, sn_energy *energy);

SN_API const char *sn_version(void);

#ifdef __cplusplus
}
#endif

#endif
