/* line.h: what forces along straight lines between points share: the parts of their tangents.
 *
 * A pull f (world axes) acts on a body at the arm r from its origin.  With the line's direction n,
 * its length l and its tension T, the parts of -K are
 *
 *     material   k    along the line
 *     across     T/l  along two directions across n
 *     lever      (r.f) 1 - (r f^T + f r^T)/2 for turning the body about its origin: the torque of
 *                a constant pull changes as its arm turns
 *     turning    in the body's own axes, where the exact derivative is defined, the components of a
 *                constant pull turn against the body: -[f] between moving and turning */
#ifndef SNI_LINE_H
#define SNI_LINE_H

#include "model/force.h"

/* ---- the numbers that they have ---- */

enum { SNI_LINE_STIFFNESS, SNI_LINE_DAMPING, SNI_LINE_REST_LENGTH, SNI_LINE_PARAMS };
extern const char *const sni_line_param[SNI_LINE_PARAMS];

/* Of its rest length: what is shorter has a direction by rounding alone. */
#define SNI_LINE_SQUEEZED 1e-9

/* Checks and stores them. */
void sni_line_finish(sni_part_builder *b, const sn_force_def *def, sni_force *force, double *param);

/* In the matrix of a step; one below 0 pushes, and stays out of it where that is wished. */
static inline double sni_line_stiffness(const double *param, sni_tangent tangent) {
  const double k = param[SNI_LINE_STIFFNESS];
  return tangent == SNI_TANGENT_CLAMPED ? fmax(k, 0) : k;
}

#define SNI_LINE_ENDS                                                                              \
  {.key = "a",                                                                                     \
   .type = SNI_F_POINT,                                                                            \
   .flags = SNI_REQUIRED,                                                                          \
   .offset = offsetof(sn_force_def, a),                                                            \
   .unit = "m",                                                                                    \
   .doc = "one end: a body and a point on it"},                                                    \
  {                                                                                                \
    .key = "b", .type = SNI_F_POINT, .flags = SNI_REQUIRED, .offset = offsetof(sn_force_def, b),   \
    .unit = "m", .doc = "the other end"                                                            \
  }

#define SNI_LINE_FIELDS                                                                            \
  {.key = "stiffness",                                                                             \
   .type = SNI_F_NUMBER,                                                                           \
   .flags = SNI_REQUIRED | SNI_TUNABLE,                                                            \
   .offset = offsetof(sn_force_def, stiffness),                                                    \
   .unit = "N/m",                                                                                  \
   .doc = "tension for each unit of stretch"},                                                     \
      {.key = "damping",                                                                           \
       .type = SNI_F_NUMBER,                                                                       \
       .flags = SNI_NOT_NEGATIVE | SNI_TUNABLE,                                                    \
       .offset = offsetof(sn_force_def, damping),                                                  \
       .unit = "N s/m",                                                                            \
       .doc = "tension for each unit of stretching rate"},                                         \
      {.key = "rest_length",                                                                       \
       .type = SNI_F_NUMBER,                                                                       \
       .flags = SNI_NOT_NEGATIVE | SNI_TUNABLE,                                                    \
       .offset = offsetof(sn_force_def, rest_length),                                              \
       .unit = "m",                                                                                \
       .doc = "length without tension; default: the length in the initial pose"},                  \
  {                                                                                                \
    .key = "allow_negative", .type = SNI_F_BOOL, .offset = offsetof(sn_force_def, allow_negative), \
    .doc = "true: a stiffness below 0, which pushes away from the rest length, is meant"           \
  }

/* ---- their tangents ---- */

/* Appends a term, unless it is nothing. */
void sni_line_term(sni_term *term, int *n, sni_term add);

/* Two unit vectors across the unit vector n. */
void sni_line_across(sn_vec3 n, sn_vec3 out[2]);

/* How fast the point at arm r of a body moves along e, as a row for the body's twist. */
static inline sn_vec6 sni_line_row(sn_vec3 r, sn_vec3 e) {
  return (sn_vec6){sn_vec3_cross(r, e), e};
}

/* The lever and turning parts of a pull f at arm r of a body. */
void sni_line_levers(int body, sn_vec3 r, sn_vec3 f, sni_term *term, int *n);
void sni_line_turning(int body, sn_vec3 f, sni_term *term, int *n);

/* At most so many terms of each. */
enum { SNI_LEVER_TERMS = 3, SNI_TURNING_TERMS = 4 };

#endif
