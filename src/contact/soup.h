/* soup.h: the triangles of a mesh that stands still, to be found by where they are. */
#ifndef SNI_SOUP_H
#define SNI_SOUP_H

#include "contact/sweep.h"

#define SNI_SOUP_MAX (1 << 22) /* triangles: a feature has 22 bits for them */

/* Inner nodes have their second child at `next`; leaves have count triangles of `order` from next
 * on. */
typedef struct sni_soup_node {
  sni_aabb box;
  int next, count;
} sni_soup_node;

typedef struct sni_soup {
  int ntriangle;
  const sn_vec3 *vertex; /* of the mesh, not scaled */
  const sni_triangle *triangle;
  double scale;
  int *order; /* ntriangle                                        */
  sni_soup_node *node;
  int (*beside)[3]; /* ntriangle  the triangle behind edge k, which goes from corner k on; -1:
                       none                                             */
} sni_soup;

/* One piece of memory in *memory, to be freed; SN_E_MEMORY, SN_E_LIMIT. */
sn_status sni_soup_build(sni_soup *s, const sni_mesh *mesh, double scale, void **memory,
                         sn_error *err);

/* The triangles behind the edges of each; false: out of memory. */
bool sni_soup_beside(const sni_triangle *triangle, int ntriangle, int (*beside)[3]);

typedef void (*sni_soup_fn)(void *user, int triangle);
/* Those whose boxes overlap `box`, in the frame of the mesh. */
void sni_soup_visit(const sni_soup *s, sni_aabb box, sni_soup_fn f, void *user);

/* A triangle with what is beside it. */
typedef struct sni_facet {
  const sni_soup *soup;
  int triangle;
  sn_vec3 v[3];
  sn_vec3 beyond[3]; /* the far corner of the triangle behind edge k */
  bool open[3];      /* there is none */
} sni_facet;

sni_facet sni_soup_facet(const sni_soup *s, int triangle);

/* Does n lead into none of the triangles around corner k of a triangle: is it in the normal cone of
 * the surface there? */
bool sni_soup_is_outward(const sni_soup *s, int triangle, int k, sn_vec3 n);

/* The point of the facet that is nearest to x. */
sn_vec3 sni_facet_nearest(const sni_facet *f, sn_vec3 x);

/* A moving convex shape and a facet that stands still, in one frame.  The facet has one side: what
 * is behind it does not touch it, and its edges touch only where nothing beside it is nearer. coat:
 * how thick it is. */
void sni_touch_facet(const sni_moving *a, const sni_facet *f, double coat, double h, double margin,
                     sni_manifold *out);

#endif
