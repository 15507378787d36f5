/* replay_look.h: a state as somebody sees it who wants to know what is wrong with it. */
#ifndef CLI_REPLAY_LOOK_H
#define CLI_REPLAY_LOOK_H

#include <stdio.h>

#include "io/json.h"
#include "sinew/sinew.h"

enum { REPLAY_WORST = 3, REPLAY_FORCES = 12 }; /* how many are shown, at most */

typedef struct replay_entry {
  int index;            /* of a body or a force                                               */
  double size;          /* by which it is among the largest                                   */
  double first, second; /* speed and angular speed, or force and torque                    */
} replay_entry;

/* A look.  Begins as {0}. */
typedef struct replay_look {
  double t, T, V;
  int body;                                /* in question                                    */
  replay_entry velocity[REPLAY_WORST];     /* fastest bodies                                 */
  replay_entry acceleration[REPLAY_WORST]; /* bodies by the accelerations of their joints   */
  replay_entry force[REPLAY_FORCES];       /* largest forces on the body                     */
  replay_entry reaction;                   /* of its joint                                   */
  int nvelocity, nacceleration, nforce;    /* nacceleration 0: they are no numbers           */
} replay_look;

/* body: in question; -1: the fastest.  False: out of memory. */
bool replay_look_at(sn_sim *sim, const sn_state *state, int body, replay_look *look);

void replay_look_print(const replay_look *look, const sn_sim *sim, FILE *to);
void replay_look_json(const replay_look *look, const sn_sim *sim, const char *key, sni_json *j);

#endif
