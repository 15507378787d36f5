/* view_sim.h: a simulation that somebody watches: it keeps to a clock, and can be paused, stepped,
 * changed and grabbed.  It knows nothing of pages. */
#ifndef CLI_VIEW_SIM_H
#define CLI_VIEW_SIM_H

#include "sinew/recording.h"
#include "sinew/scene.h"

typedef struct view_sim {
  sn_scene *scene; /* NULL: none is open, and nothing below is there */
  sn_sim *sim;
  sn_state *state;
  sn_state *drawn; /* the last one that could be shown */
  sn_recorder *recorder;
  char *file;     /* name of the scene's file                                        */
  int64_t number; /* of the recording: another one begins with each change of it     */
  bool playing;   /* kept from scene to scene, as is the speed                       */
  double speed;   /* simulated time by time                                          */
  bool stopped;   /* cannot go on: trouble says why                                  */
  sn_error trouble;
  int64_t steps; /* since the start */
  bool moved;    /* since the last frame */
  double now;    /* of the clock, at the last advance                                 */
  double owed;   /* simulated time that the clock has asked for and that is not done  */
  struct {
    double since, t; /* of the clock, and simulated then   */
    double value;    /* the last one: simulated time by time */
  } ratio;
} view_sim;

/* What the command line puts over the scene. */
typedef struct view_overrides {
  const char *method; /* NULL: the scene's */
  double step;        /* NaN: the scene's  */
} view_overrides;

void view_sim_close(view_sim *v);

/* Takes over a scene without errors, on success; else *scene stays the caller's and what was open
 * goes on. */
sn_status view_sim_open(view_sim *v, sn_scene **scene, const char *file, const view_overrides *o,
                        sn_error *err);

/* Brings the simulation to where the clock says it should be; returns after about `slice` seconds
 * all the same.  True: there is more to do. */
bool view_sim_advance(view_sim *v, double now, double slice);
/* So many steps, whatever the clock says; it pauses. */
void view_sim_step(view_sim *v, int64_t count);

sn_status view_sim_reset(view_sim *v, sn_error *err);
sn_status view_sim_method(view_sim *v, const char *method, sn_error *err);

/* The state as a frame of the recording.  It belongs to the recorder.  A state that cannot be
 * shown, a body is farther away than a float32 can say, is trouble, and the last one that could
 * takes its place. */
sn_status view_sim_frame(view_sim *v, sn_bytes *out, sn_error *err);

#endif
