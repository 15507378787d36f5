/* Shapes as triangles: closed, the right way round, as large as they should be, with normals that
 * point outwards. */
#include "model/shape.h"
#include "test.h"

static const sn_se3 somewhere = {{{{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}}},
                                 {3, -2, 1}};

static sn_shape_def shape(const char *type) {
  sn_shape_def d = sn_shape_def_default();
  d.type = type;
  return d;
}

/* One of each kind but meshes. */
static int samples(sn_shape_def *d) {
  int n = 0;
  d[n] = shape("box");
  d[n].size = (sn_vec3){1, 2, 3};
  d[n++].at = somewhere;
  d[n] = shape("sphere");
  d[n].radius = 1.5;
  d[n++].at = somewhere;
  d[n] = shape("ellipsoid");
  d[n].radii = (sn_vec3){1, 0.5, 2};
  d[n++].at = somewhere;
  const sn_vec3 from[] = {{0, 0, 0}, {1, 2, 3}, {0, 1, 0}, {0, 0, 2}};
  const sn_vec3 to[] = {{0, 0, 1}, {3, 3, 3}, {0, -1, 0}, {1e-3, 0, -2}};
  for (int k = 0; k < 8; k++) {
    d[n] = shape(k % 2 ? "capsule" : "cylinder");
    d[n].from = from[k / 2];
    d[n].to = to[k / 2];
    d[n++].radius = 0.4;
  }
  return n;
}

static double volume(const sni_surface *s) {
  double v = 0;
  for (int k = 0; k < s->nindex; k += 3) {
    const sn_vec3 a = s->vertex[s->index[k]], b = s->vertex[s->index[k + 1]],
                  c = s->vertex[s->index[k + 2]];
    v += sn_vec3_dot(a, sn_vec3_cross(b, c)) / 6;
  }
  return v;
}

/* The area vectors of a closed surface cancel. */
static double openness(const sni_surface *s) {
  sn_vec3 sum = {0};
  double area = 0;
  for (int k = 0; k < s->nindex; k += 3) {
    const sn_vec3 a = s->vertex[s->index[k]], b = s->vertex[s->index[k + 1]],
                  c = s->vertex[s->index[k + 2]];
    const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(b, a), sn_vec3_sub(c, a));
    CHECK(sn_vec3_norm(n) > 1e-12, "triangle %d has no area", k / 3);
    sum = sn_vec3_add(sum, n);
    area += sn_vec3_norm(n);
  }
  return sn_vec3_norm(sum) / area;
}

static void check_normals(const sn_shape_def *d, const sni_surface *s) {
  for (int k = 0; k < s->nindex; k += 3) {
    const sn_vec3 a = s->vertex[s->index[k]], b = s->vertex[s->index[k + 1]],
                  c = s->vertex[s->index[k + 2]];
    const sn_vec3 n = sn_vec3_cross(sn_vec3_sub(b, a), sn_vec3_sub(c, a));
    for (int i = 0; i < 3; i++) {
      const sn_vec3 own = s->normal[s->index[k + i]];
      CHECK(fabs(sn_vec3_norm(own) - 1) < 1e-12, "%s: a normal of length %g", d->type,
            sn_vec3_norm(own));
      /* 32 corners and 16 rings: half of 11.25 degrees on a ball; a long ellipsoid bends more */
      const double cosine = sn_vec3_dot(own, n) / sn_vec3_norm(n);
      CHECK(cosine > 0.85, "%s: a normal is %g degrees off", d->type, acos(cosine) * 180 / SN_PI);
    }
  }
}

/* A chord's polygon of 32 corners covers sin(2 pi/32)/(2 pi/32) = 0.9936 of its circle; over 16
 * rings of a ball about the same is lost again. */
TEST(surfaces_enclose_their_shapes) {
  sn_shape_def d[16];
  const int n = samples(d);
  for (int k = 0; k < n; k++) {
    sni_surface s = {0};
    d[k].density = 1;
    sni_shape_surface(&d[k], NULL, &s);
    const double want = sni_shape_mass(&d[k], NULL).mass, got = volume(&s);
    CHECK(!s.out_of_memory && s.smooth && s.nindex > 0, "%s: nothing", d[k].type);
    CHECK(got <= want * (1 + 1e-12) && got > 0.98 * want, "%s: volume %g, not %g", d[k].type, got,
          want);
    CHECK(k > 0 || fabs(got - want) < 1e-12, "a box is exact, not %g of %g", got, want);
    CHECK(openness(&s) < 1e-14, "%s %d is open", d[k].type, k);
    check_normals(&d[k], &s);
    const sni_aabb box = sni_shape_bounds(&d[k], NULL, sn_se3_identity());
    for (int v = 0; v < s.nvertex; v++) {
      const sn_vec3 x = s.vertex[v];
      CHECK(x.x > box.lo.x - 1e-12 && x.y > box.lo.y - 1e-12 && x.z > box.lo.z - 1e-12 &&
                x.x < box.hi.x + 1e-12 && x.y < box.hi.y + 1e-12 && x.z < box.hi.z + 1e-12,
            "%s: a vertex is outside", d[k].type);
    }
    sni_surface_free(&s);
  }
}

TEST(meshes_are_placed_and_scaled) {
  sni_mesh *mesh = NULL;
  sn_error err = {0};
  CHECK(!sni_mesh_load(SINEW_SOURCE_DIR "/tests/data/meshes/gear.obj", &mesh, &err), "%s",
        err.text);
  sn_shape_def d = shape("mesh");
  d.file = "gear.obj";
  d.at = somewhere;
  d.scale = 2;
  d.density = 1;
  sni_surface s = {0};
  sni_shape_surface(&d, mesh, &s);
  const double want = sni_shape_mass(&d, mesh).mass;
  CHECK(!s.smooth && s.nvertex == mesh->nvertex && s.nindex == 3 * mesh->ntriangle, "counts");
  CHECK(fabs(volume(&s) - want) < 1e-10 * want, "volume %g, not %g", volume(&s), want);
  sni_surface_free(&s);
  sni_mesh_free(&mesh);
}

TEST(every_kind_has_a_surface) {
  for (int k = 0; k < sni_shape_kind_count(); k++) {
    CHECK(sni_shape_kind(k)->surface != NULL, "%s", sni_shape_kind(k)->kind.keyword);
  }
}

int main(void) {
  RUN_TESTS(T(surfaces_enclose_their_shapes), T(meshes_are_placed_and_scaled),
            T(every_kind_has_a_surface));
}
