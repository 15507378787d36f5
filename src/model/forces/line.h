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
