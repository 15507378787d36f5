/* types.h: the small values that everything else is made of, and how errors travel.
 *
 * Right-handed frames, radians, any consistent units.  E_ab is the pose of frame b seen from frame
 * a: it takes coordinates of b to a.  Twists and wrenches are angular first. */
#ifndef SINEW_TYPES_H
#define SINEW_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) || !defined(__GNUC__)
#define SN_API
#else
#define SN_API __attribute__((visibility("default")))
#endif

#ifdef __GNUC__
#define SN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define SN_PRINTF(fmt, args)
#endif

typedef struct sn_vec3 {
  double x, y, z;
} sn_vec3;

typedef struct sn_mat3 {
  double m[3][3]; /* m[row][col] */
} sn_mat3;

typedef struct sn_se3 {
  sn_mat3 R;
  sn_vec3 p;
} sn_se3;

typedef struct sn_vec6 {
  sn_vec3 w; /* angular part: angular velocity, or torque */
  sn_vec3 v; /* linear part: velocity, or force           */
} sn_vec6;

typedef struct sn_quat {
  double w, x, y, z;
} sn_quat;

/* Mass properties of a body in its own frame b. */
typedef struct sn_inertia {
  double mass;
  sn_vec3 com;                   /* centre of mass, in b                                 */
  double xx, yy, zz, xy, xz, yz; /* tensor about the centre of mass, in the axes of b */
} sn_inertia;

/* One list, so that names, values and messages cannot disagree.  Negative: nothing usable was
 * produced.  Positive: usable, with a reservation that sn_info describes. */
#define SN_STATUS_LIST(X)                                                                          \
  X(SN_OK, 0, "ok")                                                                                \
  X(SN_NOT_CONVERGED, 1, "the solver did not converge")                                            \
  X(SN_E_MEMORY, -1, "out of memory")                                                              \
  X(SN_E_ARGUMENT, -2, "bad argument")                                                             \
  X(SN_E_VALUE, -3, "bad value")                                                                   \
  X(SN_E_SYNTAX, -4, "bad syntax")                                                                 \
  X(SN_E_FILE, -5, "cannot read or write a file")                                                  \
  X(SN_E_LIMIT, -6, "a limit was passed")                                                          \
  X(SN_E_UNSUPPORTED, -7, "not possible with this method")                                         \
  X(SN_E_SINGULAR, -8, "singular system")                                                          \
  X(SN_E_DIVERGED, -9, "the motion is not finite")                                                 \
  X(SN_E_MISMATCH, -10, "things that do not belong together")                                      \
  X(SN_E_UNCONVERGED, -11, "the solver did not converge")

typedef enum sn_status {
#define SN_X(name, value, text) name = value,
  SN_STATUS_LIST(SN_X)
#undef SN_X
} sn_status;

SN_API const char *sn_status_text(sn_status status);

#define SN_ERROR_TEXT_MAX  512
#define SN_ERROR_WHERE_MAX 256

/* What went wrong and where.  `text` names the thing, the value found and what would be right. */
typedef struct sn_error {
  sn_status code;
  int line, column;              /* in the file, from 1; 0: not from a file                 */
  char file[SN_ERROR_WHERE_MAX]; /* "" if none                                              */
  char path[SN_ERROR_WHERE_MAX]; /* such as bodies.hammer.joint.axis; "" if none            */
  char text[SN_ERROR_TEXT_MAX];
} sn_error;

/* "scene.yaml: line 31, bodies.hammer.joint.axis: length 0, needs a direction" */
SN_API void sn_error_format(const sn_error *err, char *out, size_t out_size);

#endif
