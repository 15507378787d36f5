/* surface.h: shapes as triangles, for those who draw them. */
#ifndef SNI_SURFACE_H
#define SNI_SURFACE_H

#include "math/se3.h"

/* Begins as {0}; freed with sni_surface_free. */
typedef struct sni_surface {
  sn_vec3 *vertex;
  sn_vec3 *normal; /* unit, outwards; nothing in it if !smooth       */
  int nvertex, vertex_capacity;
  uint32_t *index; /* three for each triangle, counterclockwise seen from outside */
  int nindex, index_capacity;
  bool smooth; /* vertices have normals; else triangles are flat */
  bool out_of_memory;
} sni_surface;

void sni_surface_free(sni_surface *s);

/* Return the index of the new vertex. */
uint32_t sni_surface_vertex(sni_surface *s, sn_vec3 x, sn_vec3 normal);
void sni_surface_triangle(sni_surface *s, uint32_t a, uint32_t b, uint32_t c);

/* A point of a profile that turns about z: its distance from the axis, its height, and the normal
 * there.  Two points in one place make an edge. */
typedef struct sni_profile {
  double r, z, nr, nz;
} sni_profile;

/* The profile goes upwards with the solid on the side of the axis: from a pole or rim to another.
 * E: pose of the axis. */
void sni_surface_turn(sni_surface *s, sn_se3 E, const sni_profile *profile, int n);

/* n + 1 points of a circle about height z of the axis, over the angle: -pi/2 is the pole below. */
enum { SNI_ARC = 16 }; /* parts of half a circle */
void sni_profile_arc(sni_profile *out, double radius, double z, double from, double to, int n);

/* A frame whose z points along the unit vector axis. */
sn_se3 sni_surface_frame(sn_vec3 origin, sn_vec3 axis);

#endif
