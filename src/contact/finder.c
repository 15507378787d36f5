/* finder.c: from poses to points that touch. */
#include "contact/finder.h"

#include "base/memory.h"
#include "contact/hull.h"
#include "contact/sweep.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static int default_capacity(int ncollider) {
  const int crowded = 24;
  return ncollider > 10000 / crowded ? crowded * ncollider : 10000;
}

static bool is_collider(const sn_model *m, int shape) {
  return m->shape[shape].material >= 0;
}

typedef struct counts {
  int collider, plane, soup, hull;
} counts;

static counts count(const sn_model *m) {
  counts n = {0};
  for (int s = 0; s < m->nshape; s++) {
    if (is_collider(m, s)) {
      const sni_solid solid = sni_shape_solid(&m->shape[s].def);
      n.collider++;
      n.plane += solid.form == SNI_FORM_PLANE;
      n.soup += solid.form == SNI_FORM_TRIANGLES;
      n.hull += solid.form == SNI_FORM_CONVEX && solid.core == SNI_CORE_HULL;
    }
  }
  return n;
}

/* Takes pieces one after the other, at the places that a first round has counted. */
typedef struct cutter {
  char *at; /* NULL: only counts */
  size_t used;
} cutter;

static void *cut(cutter *c, size_t count, size_t size) {
  void *piece = c->at ? c->at + c->used : NULL;
  c->used += sni_memory_room(count, size);
  return piece;
}

static void lay_out(sni_finder *f, cutter *c, const sn_model *m, counts n, int capacity) {
  const size_t nc = (size_t)n.collider;
  (void)cut(c, 1, sizeof *f); /* itself */
  void *kin = cut(c, 1, sni_kin_size(m));
  f->collider = cut(c, nc, sizeof *f->collider);
  f->collider_of = cut(c, (size_t)m->nshape, sizeof *f->collider_of);
  f->plane = cut(c, (size_t)n.plane, sizeof *f->plane);
  f->soup = cut(c, (size_t)n.soup, sizeof *f->soup);
  f->hull = cut(c, (size_t)n.hull, sizeof *f->hull);
  f->piece = cut(c, (size_t)n.soup + (size_t)n.hull + 1, sizeof *f->piece);
  f->E_ws = cut(c, nc, sizeof *f->E_ws);
  f->phi = cut(c, nc, sizeof *f->phi);
  f->arm = cut(c, nc, sizeof *f->arm);
  f->swing = cut(c, nc, sizeof *f->swing);
  f->box = cut(c, nc, sizeof *f->box);
  f->twist = cut(c, nc, sizeof *f->twist);
  void *tubes = cut(c, 1, sni_tubes_size(m));
  void *moving = cut(c, 1, sni_box_tree_size(n.collider));
  void *still = cut(c, 1, sni_box_tree_size(n.collider));
  f->contact = cut(c, (size_t)capacity, sizeof *f->contact);
  f->sorted = cut(c, (size_t)capacity, sizeof *f->sorted);
  f->spare = cut(c, (size_t)capacity, sizeof *f->spare);
  f->order = cut(c, 2 * (size_t)capacity, sizeof *f->order);
  f->capacity = capacity;
  if (c->at) {
    sni_kin_place(&f->kin, m, kin);
    sni_tubes_place(&f->tubes, m, tubes);
    sni_box_tree_place(&f->moving, n.collider, moving);
    sni_box_tree_place(&f->still, n.collider, still);
  }
}

/* About the centre of the solid: points of the file may be far from its origin. */
static sn_status add_hull(sni_finder *f, sni_collider *c, const sni_solid *solid, sn_error *err) {
  const sni_mesh *mesh = f->m->shape[c->shape].mesh;
  const sn_vec3 centre = sn_vec3_scale(mesh->solid.com, solid->scale);
  sni_hull *h = &f->hull[f->nhull++];
  c->E_bs.p = sn_se3_point(solid->at, centre);
  return sni_hull_build(h, mesh, solid->scale, centre, &f->piece[f->npiece++], err);
}

/* What flies turns about its centre of mass, what hangs on a joint about that. */
static sn_vec3 pivot_of(const sn_model *m, int body) {
  const char *type = sn_model_joint_type(m, body);
  const bool flies = strcmp(type, "free") == 0 || strcmp(type, "free_rt") == 0;
  return flies ? sni_params_inertia(&m->params, body).com : (sn_vec3){0, 0, 0};
}

static sn_status add_collider(sni_finder *f, int shape, sn_error *err) {
  const sn_model *m = f->m;
  const sni_shape *s = &m->shape[shape];
  const sni_solid solid = sni_shape_solid(&s->def);
  const int k = f->ncollider++;
  sni_collider *c = &f->collider[k];
  f->collider_of[shape] = k;
  *c = (sni_collider){.shape = shape,
                      .frame = s->body,
                      .body = f->kin.root[s->body] < 0 ? -1 : s->body,
                      .material = s->material,
                      .form = solid.form,
                      .E_bs = solid.at,
                      .pivot = pivot_of(m, s->body)};
  sn_error why = {0};
  sn_status status = SN_OK;
  const sni_hull *hull = NULL;
  if (c->form == SNI_FORM_PLANE) {
    f->plane[f->nplane++] = k;
  } else if (c->form == SNI_FORM_TRIANGLES) {
    c->part = f->nsoup;
    status =
        sni_soup_build(&f->soup[f->nsoup++], s->mesh, solid.scale, &f->piece[f->npiece++], &why);
  } else if (solid.core == SNI_CORE_HULL) {
    hull = &f->hull[f->nhull];
    status = add_hull(f, c, &solid, &why);
  }
  if (status) {
    return sni_fail(err, status, "a mesh of body '%s' %s", m->name[s->body], why.text);
  }
  c->convex = sni_convex_make(&solid, hull);
  return SN_OK;
}

/* Who is beside whom does not change: what is fixed to each other is so at the start. */
static sn_status add_seams(sni_finder *f, sn_error *err) {
  sn_se3 *E_wb = malloc((size_t)f->m->tree.nbody * sizeof *E_wb + 1);
  if (!E_wb) {
    return sni_fail(err, SN_E_MEMORY, "no memory for poses of %d bodies", f->m->tree.nbody);
  }
  sni_model_poses(f->m, f->m->q0, E_wb);
  for (int k = 0; k < f->ncollider; k++) {
    f->E_ws[k] = sn_se3_mul(E_wb[f->collider[k].frame], f->collider[k].E_bs);
  }
  free(E_wb);
  return sni_seams_build(&f->seams, &f->kin, f->collider, f->ncollider, f->E_ws,
                         &f->piece[f->npiece++], err);
}

sn_status sni_finder_create(const sn_model *m, int capacity, sni_finder **finder, sn_error *err) {
  const counts n = count(m);
  sni_finder plan = {.m = m};
  cutter c = {0};
  capacity = capacity > 0 ? capacity : default_capacity(n.collider + m->nbead);
  lay_out(&plan, &c, m, n, capacity);
  c.at = sni_memory_take(c.used);
  if (!c.at) {
    return sni_fail(err, SN_E_MEMORY, "no memory to find contacts of %d shapes", n.collider);
  }
  sni_finder *f = (void *)c.at;
  *f = plan;
  c.used = 0;
  lay_out(f, &c, m, n, capacity);
  sn_status status = SN_OK;
  for (int s = 0; s < m->nshape && !status; s++) {
    if (is_collider(m, s)) {
      status = add_collider(f, s, err);
    }
  }
  status = status ? status : add_seams(f, err);
  if (status) {
    sni_finder_free(&f);
  }
  *finder = f;
  return status;
}

void sni_finder_free(sni_finder **finder) {
  if (*finder) {
    for (int k = 0; k < (*finder)->npiece; k++) {
      free((*finder)->piece[k]);
    }
  }
  free(*finder);
  *finder = NULL;
}

sni_moving sni_finder_shape(const sni_finder *f, int shape) {
  const int k = f->collider_of[shape];
  return (sni_moving){{&f->collider[k].convex, f->E_ws[k]}, f->phi[k], f->arm[k], f->swing[k]};
}

static bool comes_before(const sni_contact *a, const sni_contact *b) {
  return a->shape[0] != b->shape[0]   ? a->shape[0] < b->shape[0]
         : a->shape[1] != b->shape[1] ? a->shape[1] < b->shape[1]
                                      : a->feature < b->feature;
}

void sni_finder_keep(sni_finder *f, const sni_contact *list, int count) {
  if (list == f->sorted) {
    sni_contact *swap = f->sorted;
    f->sorted = f->spare;
    f->spare = swap;
  }
  for (int k = 0; k < count; k++) {
    f->spare[k].fresh = false;
  }
}

bool sni_finder_add(sni_finder *f, int *count, const sni_contact *c) {
  if (*count == f->capacity) {
    return false;
  }
  f->spare[*count] = *c;
  f->spare[(*count)++].fresh = true;
  return true;
}

void sni_finder_merge(sni_finder *f, int before, int count) {
  int i = before - 1, j = count - before - 1;
  memcpy(f->contact, f->spare + before, (size_t)(count - before) * sizeof *f->spare);
  for (int k = count - 1; j >= 0; k--) {
    const bool second = i < 0 || !comes_before(&f->contact[j], &f->spare[i]);
    f->spare[k] = second ? f->contact[j--] : f->spare[i--];
  }
}

int sni_finder_capacity(const sni_finder *f) {
  return f->capacity;
}

/* ---- boxes ---- */

static sni_aabb mesh_bounds(const sni_soup *s, sn_se3 E) {
  const sni_aabb b = s->node[0].box;
  const sn_vec3 h = sn_vec3_scale(sn_vec3_sub(b.hi, b.lo), 0.5);
  sn_se3 at = E;
  at.p = sn_se3_point(E, sn_vec3_add(b.lo, h));
  const sni_convex box = {.core = SNI_CORE_BOX, .half = h};
  return sni_convex_bounds(&box, at);
}

/* What has a margin is touched as if it were so much thicker. */
static void put_on_coat(const sni_finder *f, sni_collider *c) {
  const double own = f->params->contact[(ptrdiff_t)c->material * SNI_MATERIAL_PARAMS + SNI_MARGIN];
  c->convex.radius += own - c->coat;
  c->convex.reach += own - c->coat;
  c->coat = own;
}

static void place(sni_finder *f, int k, const sn_se3 *E_wb, const sn_vec6 *phi) {
  sni_collider *c = &f->collider[k];
  put_on_coat(f, c);
  f->E_ws[k] = sn_se3_mul(E_wb[c->frame], c->E_bs);
  f->phi[k] = f->twist[k] = (sn_vec6){0};
  f->arm[k] = (sn_vec3){0, 0, 0};
  f->swing[k] = 0;
  if (phi && c->body >= 0) {
    const sn_vec6 b = f->twist[k] = phi[c->body];
    const sn_vec3 arm = sn_vec3_sub(f->E_ws[k].p, E_wb[c->frame].p);
    f->phi[k] = (sn_vec6){b.w, sn_vec3_add(b.v, sn_vec3_cross(b.w, arm))};
    f->arm[k] = sn_vec3_sub(f->E_ws[k].p, sn_se3_point(E_wb[c->frame], c->pivot));
    f->swing[k] = sni_swing(b.w, f->arm[k], f->h);
  }
}

/* What it is, grown by half of the margin of a pair, and by the way that it goes. */
static void box_in(sni_finder *f, int k) {
  const sni_collider *c = &f->collider[k];
  if (c->form == SNI_FORM_PLANE) {
    return;
  }
  if (c->form == SNI_FORM_TRIANGLES) {
    f->box[k] =
        sni_aabb_grow(mesh_bounds(&f->soup[c->part], f->E_ws[k]), 0.5 * f->margin + c->coat);
  } else {
    const sn_vec3 way = sn_vec3_scale(f->phi[k].v, f->h);
    const double turning = f->h * sn_vec3_norm(f->phi[k].w) * (c->convex.reach - c->convex.radius) +
                           f->h * f->swing[k];
    const sni_aabb tight = sni_convex_bounds(&c->convex, f->E_ws[k]);
    f->box[k] = sni_aabb_grow(sni_aabb_sweep(tight, way), 0.5 * f->margin + turning);
  }
  const double slack = 0.1 * c->convex.reach;
  sni_box_tree_update(c->body < 0 ? &f->still : &f->moving, k, f->box[k],
                      sni_aabb_grow(f->box[k], c->body < 0 ? 0 : slack));
}

/* ---- pairs ---- */

void sni_finder_let_sleep(sni_finder *f, const bool *asleep) {
  f->asleep = asleep;
}

/* Neither of them moves. */
static bool sleeps(const sni_finder *f, int a, int b) {
  const int x = f->collider[a].body, y = f->collider[b].body;
  return f->asleep && (x < 0 || f->asleep[x]) && (y < 0 || f->asleep[y]);
}

void sni_finder_skip(sni_finder *f, const sni_contact *known, int count) {
  f->known = known;
  f->nknown = count;
}

const sni_contact *sni_finder_known(const sni_finder *f, int shape0, int shape1, int *count) {
  int lo = 0, hi = f->nknown;
  while (lo < hi) { /* the first that does not come before those of the two */
    const int mid = (lo + hi) / 2;
    const sni_contact *m = &f->known[mid];
    const bool before = m->shape[0] != shape0 ? m->shape[0] < shape0 : m->shape[1] < shape1;
    lo = before ? mid + 1 : lo;
    hi = before ? hi : mid;
  }
  for (hi = lo;
       hi < f->nknown && f->known[hi].shape[0] == shape0 && f->known[hi].shape[1] == shape1;) {
    hi++;
  }
  *count = hi - lo;
  return f->known + lo;
}

static bool has_points(const sni_finder *f, int shape0, int shape1) {
  int n;
  sni_finder_known(f, shape0, shape1, &n);
  return n > 0;
}

/* Whichever comes first.  Surfaces are known triangle by triangle (pair.c). */
static bool is_known(const sni_finder *f, int a, int b) {
  const sni_collider *x = &f->collider[a], *y = &f->collider[b];
  return f->nknown > 0 && x->form != SNI_FORM_TRIANGLES && y->form != SNI_FORM_TRIANGLES &&
         (has_points(f, x->shape, y->shape) || has_points(f, y->shape, x->shape));
}

static bool may_meet(const sni_finder *f, int a, int b) {
  return !sleeps(f, a, b) && sni_kin_may_touch(&f->kin, &f->collider[a], &f->collider[b]) &&
         !is_known(f, a, b);
}

static void look_at(void *user, int a, int b) {
  sni_finder *f = user;
  if (!f->full && sni_aabb_overlap(&f->box[a], &f->box[b]) && may_meet(f, a, b)) {
    sni_find_pair(f, a, b);
  }
}

static void look_at_planes(sni_finder *f) {
  for (int i = 0; i < f->nplane; i++) {
    for (int k = 0; k < f->ncollider; k++) {
      if (f->collider[k].form == SNI_FORM_CONVEX && may_meet(f, k, f->plane[i])) {
        sni_find_pair(f, k, f->plane[i]);
      }
    }
  }
}

/* A point that touches at the end, seen from the start: each side with the arm that it has then,
 * from where the body is now, and the gap such that these points are there by then. */
static void take_back(const sni_finder *f, double h, sni_contact *c) {
  double rate = 0;
  for (int side = 0; side < 2; side++) {
    const sni_moving now = sni_finder_shape(f, c->shape[side]);
    const sn_vec3 v = sn_vec3_sub(now.phi.v, sn_vec3_cross(now.phi.w, now.arm));
    const sn_vec3 pivot = sn_vec3_addscaled(sn_vec3_sub(now.s.E.p, now.arm), h, v);
    const sn_vec3 turning = sn_vec3_cross(now.phi.w, sn_vec3_sub(c->x, pivot));
    rate += (side == 0 ? 1 : -1) * sn_vec3_dot(c->n, sn_vec3_add(v, turning));
    c->at[side] = sn_vec3_addscaled(c->x, -h, v);
  }
  c->x = sn_vec3_scale(sn_vec3_add(c->at[0], c->at[1]), 0.5);
  c->gap -= h * rate;
}

int sni_finder_look_then(sni_finder *f, const int shape[2], const sn_se3 *E_wb, const sn_vec6 *phi,
                         double h, const sni_contact **contact, double *depth) {
  const int pair[2] = {f->collider_of[shape[0]], f->collider_of[shape[1]]};
  const double margin = f->margin;
  f->h = h;
  for (int side = 0; side < 2; side++) {
    const int k = pair[side];
    place(f, k, E_wb, phi);
    const sni_moving now = sni_finder_shape(f, shape[side]);
    f->E_ws[k] = sni_moving_at(&now, h).s.E;
    f->phi[k] = (sn_vec6){0};
    f->swing[k] = 0;
  }
  f->h = f->margin = 0;
  f->count = 0;
  sni_find_pair(f, pair[0], pair[1]);
  f->h = h;
  f->margin = margin;
  for (int side = 0; side < 2; side++) {
    place(f, pair[side], E_wb, phi);
  }
  *depth = 0;
  for (int k = 0; k < f->count; k++) {
    *depth = fmax(*depth, -f->contact[k].gap);
    take_back(f, h, &f->contact[k]);
  }
  *contact = f->contact;
  return f->count;
}

/* ---- tubes ---- */

/* The bead that a place is nearest to. */
static int bead_at(const sn_model *m, int tube, double u) {
  return m->tube[tube].first + (int)(u + 0.5);
}

/* Each side belongs to the body of the bead that is nearest. */
static void put_tube(sni_finder *f, const sni_tube_touch *p) {
  const sn_model *m = f->m;
  const sni_axes_gap *at = &p->near.at;
  sni_contact c = {.n = at->n, .gap = at->gap};
  int root[2];
  for (int k = 0; k < 2; k++) {
    const int bead = bead_at(m, p->tube[k], p->near.u[k]), body = m->bead[bead].body;
    root[k] = body < 0 ? -1 : f->kin.root[body];
    c.shape[k] = m->nshape + bead;
    c.body[k] = root[k] < 0 ? -1 : body;
    c.material[k] = m->tube[p->tube[k]].material;
  }
  if (root[0] == root[1] || (f->asleep && (c.body[0] < 0 || f->asleep[c.body[0]]) &&
                             (c.body[1] < 0 || f->asleep[c.body[1]]))) {
    return;
  }
  if (f->count == f->capacity) {
    f->full = true;
    return;
  }
  const sn_vec3 x0 = sn_vec3_addscaled(at->x[0], -at->r[0], at->n);
  const sn_vec3 x1 = sn_vec3_addscaled(at->x[1], at->r[1], at->n);
  c.x = sn_vec3_scale(sn_vec3_add(x0, x1), 0.5);
  c.at[0] = c.gap > 0 ? x0 : c.x; /* see sni_manifold_reach */
  c.at[1] = c.gap > 0 ? x1 : c.x;
  if (c.body[0] < 0) { /* the ground is the second */
    c = (sni_contact){.shape = {c.shape[1], c.shape[0]},
                      .body = {c.body[1], c.body[0]},
                      .material = {c.material[1], c.material[0]},
                      .x = c.x,
                      .at = {c.at[1], c.at[0]},
                      .n = sn_vec3_neg(c.n),
                      .gap = c.gap};
  }
  if (!has_points(f, c.shape[0], c.shape[1])) {
    f->contact[f->count++] = c;
  }
}

static void look_at_tubes(sni_finder *f, const sn_se3 *E_wb, const sn_vec6 *phi) {
  f->full = !sni_tubes_find(&f->tubes, f->params, E_wb, phi, f->h, f->margin) || f->full;
  for (int k = 0; k < f->tubes.count; k++) {
    put_tube(f, &f->tubes.touch[k]);
  }
}

/* ---- order ---- */

/* A merge sort of places, then one pass over the points: which pairs come first depends on the
 * history of the trees, and nothing else may. */
static void sort(sni_finder *f) {
  int *from = f->order, *to = f->order + f->capacity;
  for (int k = 0; k < f->count; k++) {
    from[k] = k;
  }
  for (int width = 1; width < f->count; width *= 2) {
    for (int lo = 0; lo < f->count; lo += 2 * width) {
      const int mid = lo + width < f->count ? lo + width : f->count;
      const int hi = mid + width < f->count ? mid + width : f->count;
      int i = lo, j = mid;
      for (int k = lo; k < hi; k++) {
        const bool second =
            i == mid || (j < hi && comes_before(&f->contact[from[j]], &f->contact[from[i]]));
        to[k] = from[second ? j++ : i++];
      }
    }
    int *swap = from;
    from = to;
    to = swap;
  }
  for (int k = 0; k < f->count; k++) {
    f->sorted[k] = f->contact[from[k]];
  }
}

static bool is_finite_pose(sn_se3 E) {
  bool good = sn_vec3_finite(E.p);
  for (int i = 0; i < 9; i++) {
    good = good && isfinite(E.R.m[i / 3][i % 3]);
  }
  return good;
}

static bool is_finite_twist(sn_vec6 phi) {
  return sn_vec3_finite(phi.v) && sn_vec3_finite(phi.w);
}

static sn_status nowhere(const sni_finder *f, int body, sn_error *err) {
  return sni_fail(err, SN_E_DIVERGED, "body '%s' is nowhere: its pose or twist is not finite",
                  f->m->name[body]);
}

sn_status sni_contacts_find(sni_finder *f, const sni_params *params, const sn_se3 *E_wb,
                            const sn_vec6 *phi, double h, double margin,
                            const sni_contact **contact, int *count, sn_error *err) {
  f->count = 0;
  f->full = false;
  f->params = params;
  f->h = phi ? h : 0;
  f->margin = margin;
  for (int k = 0; k < f->ncollider; k++) {
    place(f, k, E_wb, phi);
    if (!is_finite_pose(f->E_ws[k]) || !is_finite_twist(f->phi[k])) {
      return nowhere(f, f->collider[k].frame, err);
    }
    box_in(f, k);
  }
  for (int k = 0; k < f->m->nbead; k++) {
    const int body = f->m->bead[k].body;
    if (body >= 0 && (!is_finite_pose(E_wb[body]) || (phi && !is_finite_twist(phi[body])))) {
      return nowhere(f, body, err);
    }
  }
  sni_box_tree_tidy(&f->moving);
  sni_box_tree_pairs(&f->moving, look_at, f);
  sni_box_tree_cross(&f->moving, &f->still, look_at, f);
  look_at_planes(f);
  if (f->m->ntube > 0) {
    look_at_tubes(f, E_wb, phi);
  }
  sort(f);
  sni_finder_skip(f, NULL, 0);
  *contact = f->sorted;
  *count = f->count;
  return f->full ? sni_fail(err, SN_E_LIMIT, "more than %d points touch at once", f->capacity)
                 : SN_OK;
}

/* One of the colliders that stray, and another; each pair of them once. */
static void look_around(void *user, int a, int b) {
  const sni_finder *f = user;
  const int body = f->collider[b].body;
  if (a != b && (b > a || body < 0 || f->asleep[body])) {
    look_at(user, a, b);
  }
}

/* All pairs, or those of the few that stray. */
static void look_at_straying(sni_finder *f, int straying) {
  enum { FEW = 4 };
  if (FEW * straying > f->ncollider) {
    sni_box_tree_pairs(&f->moving, look_at, f);
    sni_box_tree_cross(&f->moving, &f->still, look_at, f);
    return;
  }
  for (int k = 0; k < f->ncollider; k++) {
    const sni_collider *c = &f->collider[k];
    if (c->form != SNI_FORM_PLANE && c->body >= 0 && !f->asleep[c->body]) {
      sni_box_tree_query(&f->moving, &f->box[k], k, look_around, f);
      sni_box_tree_query(&f->still, &f->box[k], k, look_around, f);
    }
  }
}

sn_status sni_contacts_find_again(sni_finder *f, const sn_se3 *E_wb, const sn_vec6 *phi,
                                  const bool *keeps, const sni_contact **contact, int *count) {
  int straying = 0;
  f->count = 0;
  f->full = false;
  sni_finder_let_sleep(f, keeps);
  for (int k = 0; k < f->ncollider; k++) {
    const int body = f->collider[k].body;
    if (body >= 0 && memcmp(&f->twist[k], &phi[body], sizeof *phi) != 0) {
      place(f, k, E_wb, phi);
      box_in(f, k);
      straying += !keeps[body];
    }
  }
  look_at_straying(f, straying);
  look_at_planes(f);
  if (f->m->ntube > 0) {
    look_at_tubes(f, E_wb, phi);
  }
  sort(f);
  sni_finder_skip(f, NULL, 0);
  *contact = f->sorted;
  *count = f->count;
  return f->full ? SN_E_LIMIT : SN_OK;
}
