/* bearing.h: where the surfaces of a joint rub on each other [RM 5.2].
 *
 * A bearing is a pin, a slider or a ball: contacts at fixed places, each with one or two normals
 * and one or two tangents.  The normals bear the reaction w of the joint, the tangents rub:
 *
 *     N^T alpha = -w     |beta| <= mu sum |alpha|     friction = -T^T beta
 *
 * Rows of N and T are wrenches (n^T Gamma(x)) in the frame of the bearing: that of the body, or one
 * that turns with a part of the joint.  There are many alpha for one w; the one of least length is
 *
 *     alpha = -N y,     (N^T N) y = w                                                     [RM 16]
 *
 * which needs no masses.  With the paper's eps it is (N^T N + eps W^-1) y = w, W being the inverse
 * inertia of both bodies together: the same for eps -> 0.
 *
 * Contacts are at a few points, as in the paper, or all around: their limit for many points, whose
 * sums are known.  Then friction is that of Coulomb's disc in every direction at once: what slides
 * both around a pin and along it rubs no more than what does one of them. */
#ifndef SNI_BEARING_H
#define SNI_BEARING_H

#include "math/se3.h"
#include "sinew/sinew.h"

enum { SNI_DIRECTIONS_MAX = 3, SNI_NORMALS_MAX = 2 };

typedef struct sni_rub_tangent {
  sn_vec6 T;
  int direction;     /* of those of the bearing: T = arm direction, as far as the joint moves   */
  double arm;        /* the radius; 1 for what slides                                           */
  int first, normal; /* the normals that press on it: so many, from the first                   */
} sni_rub_tangent;

/* Where contacts are all around, and how: around both ends of a pin, which bear along it or let it
 * slide; at the corners of a square slider, however it is turned about its axis: the mean of all
 * ways; or all over a ball. */
typedef enum sni_surface_kind {
  SNI_AT_POINTS,
  SNI_AROUND_PIN,
  SNI_AROUND_SLEEVE,
  SNI_AROUND_SLIDER,
  SNI_AROUND_BALL
} sni_surface_kind;

typedef struct sni_bearing {
  sni_surface_kind kind;
  sn_mat3 frame; /* z along the pin                                                           */
  double radius, half_length; /* of a slider: half of its edges                                 */
  int points; /* around each end: as many as N and T have                           */
  double arm[SNI_DIRECTIONS_MAX]; /* all around: of friction in each direction                */
  int nnormal, ntangent, ndirection;
  sn_vec6 *N; /* nnormal                                                              */
  sni_rub_tangent *tangent;              /* ntangent              */
  sn_vec6 direction[SNI_DIRECTIONS_MAX]; /* in which it moves; N across them is 0              */
  double square[36];                     /* N^T N                                              */
  /* (sum |alpha|)^2 / |alpha|^2 under a load across it, by that of a pin with contacts all around:
   * the more, the more contacts bear it */
  double evenness;
  double inverse[36]; /* of the same, with the directions added so that it has one             */
} sni_bearing;

/* Room for one joint's bearings while a model is built. */
typedef struct sni_bearing_builder {
  void *user;
  void *(*take)(void *user, size_t count, size_t size); /* zeroed; NULL: no memory             */
  sni_bearing *bearing; /* SNI_BEARINGS_MAX                                                     */
  int count;
} sni_bearing_builder;
enum { SNI_BEARINGS_MAX = 2, SNI_POINTS_MAX = 128, SNI_POINTS_AROUND = 32, SNI_POLES = 6 };

/* What a kind of joint needs to be told. */
enum { SNI_NEEDS_RADIUS = 1, SNI_NEEDS_LENGTH = 2, SNI_NEEDS_SIZE = 4 };

/* A pin about an axis of any length: contacts at `points` angles at both ends, 0: all around.  Its
 * ends bear along the axis, or it slides. */
void sni_bearing_pin(sni_bearing_builder *b, const sn_joint_friction_def *def, sn_vec3 axis,
                     bool slides);
/* A box that slides along an axis of any length: contacts at its eight corners, with the first edge
 * across the axis where def->across points; or as they are in the mean, if that is not given. */
void sni_bearing_slider(sni_bearing_builder *b, const sn_joint_friction_def *def, sn_vec3 axis);
/* A ball: contacts all over, or at its six poles. */
void sni_bearing_ball(sni_bearing_builder *b, const sn_joint_friction_def *def);

/* y, for the reaction w in the frame of the bearing.  K: instead of N^T N with the directions
 * (NULL), its factor by sni_cholesky. */
sn_vec6 sni_bearing_press(const sni_bearing *b, const double *K, sn_vec6 w);

/* limit (ntangent): mu sum |alpha| of the normals on each tangent; bound (ndirection): those times
 * the arm, together.  Returns the sum of all |alpha|. */
double sni_bearing_limits(const sni_bearing *b, double mu, sn_vec6 y, double *limit, double *bound);

/* The same all around.  side: the wrench of friction in the first direction, at its bound, apart
 * from that along it: where the ends of a pin are pressed unevenly, they also rub sideways. */
double sni_bearing_around(const sni_bearing *b, double mu, sn_vec6 y, double *bound, sn_vec6 *side);

/* The wrench on the body of friction at the part rho of its bound in each direction. */
sn_vec6 sni_bearing_rub(const sni_bearing *b, const double *limit, const double *rho);

/* K of the paper's formula, as a factor.  mobility: W, in the frame of the bearing.  relative: eps
 * is a part of the mean diagonal of N W N^T. */
void sni_bearing_soften(const sni_bearing *b, double eps, bool relative, const double *mobility,
                        double *K);

#endif
