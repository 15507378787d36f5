/* view_request.h: what a page asks for: one JSON object a message.  See docs/live.md. */
#ifndef CLI_VIEW_REQUEST_H
#define CLI_VIEW_REQUEST_H

#include "base/error.h"
#include "math/vec3.h"

#define VIEW_REQUEST_MAX 4096 /* bytes of a message                     */
#define VIEW_WORD_MAX    320  /* of a name or a path, with its final 0  */

typedef enum view_do {
  VIEW_ACK,
  VIEW_PAUSE,
  VIEW_PLAY,
  VIEW_STEP,
  VIEW_RESET,
  VIEW_SPEED,
  VIEW_METHOD,
  VIEW_STEP_SIZE,
  VIEW_SET,
  VIEW_GRAB,
  VIEW_DRAG,
  VIEW_RELEASE,
  VIEW_OPEN,
  VIEW_ROLE,
  VIEW_PARAMETERS,
  VIEW_STILL,
  VIEW_DO_COUNT
} view_do;

typedef struct view_request {
  view_do what;
  int64_t count;            /* ack, step                      */
  int64_t first, all;       /* parameters                     */
  double value;             /* speed, step_size, set          */
  char word[VIEW_WORD_MAX]; /* method, set, grab, open, role, parameters */
  sn_vec3 point, at;        /* grab, drag                     */
  double stiffness, damping;
} view_request;

/* Reads and checks a message; err says what is wrong with it.  name: VIEW_WORD_MAX bytes for what
 * it asked for, "": not even that is known. */
sn_status view_request_read(const char *text, size_t n, view_request *out, char *name,
                            sn_error *err);

/* Only the page that drives may ask for it. */
bool view_request_drives(view_do what);

#endif
