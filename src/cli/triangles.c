/* triangles.c: bars, cones, discs and balls as triangles. */
#include "cli/triangles.h"

#include <math.h>
#include <stdlib.h>

#include "cli/shade.h"
#include "model/surface.h"

enum { BAR_SIDES = 8, BALL_SIDES = 12, BALL_ROWS = 6 };

sn_vec3 cli_linear(sn_vec3 srgb) {
  return (sn_vec3){cli_to_linear(srgb.x), cli_to_linear(srgb.y), cli_to_linear(srgb.z)};
}

static cli_triangle *new_triangle(cli_triangles *t) {
  if (t->count == t->capacity) {
    const size_t capacity = t->capacity ? 2 * t->capacity : 4096;
    cli_triangle *item = realloc(t->item, capacity * sizeof *item);
    if (!item) {
      return NULL;
    }
    t->item = item;
    t->capacity = capacity;
  }
  return &t->item[t->count++];
}

static void put(float to[3], sn_vec3 x) {
  to[0] = (float)x.x;
  to[1] = (float)x.y;
  to[2] = (float)x.z;
}

bool cli_add_triangle(cli_triangles *t, const sn_vec3 x[3], const sn_vec3 *n, sn_vec3 color) {
  const sn_vec3 face = sn_vec3_cross(sn_vec3_sub(x[1], x[0]), sn_vec3_sub(x[2], x[0]));
  const double area = sn_vec3_norm(face);
  if (!(area > 0)) {
    return true;
  }
  cli_triangle *to = new_triangle(t);
  if (!to) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    put(to->x[k], x[k]);
    put(to->n[k], n ? n[k] : sn_vec3_scale(face, 1 / area));
  }
  put(to->color, color);
  return true;
}

/* Unit vectors across z of R, all the way around. */
static sn_vec3 around(sn_mat3 R, int k, int sides) {
  const double angle = 2 * SN_PI * k / sides;
  return sn_mat3_mul_vec(R, (sn_vec3){cos(angle), sin(angle), 0});
}

bool cli_add_bar(cli_triangles *t, sn_vec3 a, sn_vec3 b, double ra, double rb, sn_vec3 color) {
  const sn_vec3 along = sn_vec3_sub(b, a);
  const double length = sn_vec3_norm(along);
  bool good = true;
  if (!(length > 0)) {
    return true;
  }
  const sn_vec3 axis = sn_vec3_scale(along, 1 / length);
  const sn_mat3 R = sni_surface_frame(a, axis).R;
  for (int k = 0; good && k < BAR_SIDES; k++) {
    sn_vec3 n[2], from[2], to[2];
    for (int i = 0; i < 2; i++) {
      const sn_vec3 out = around(R, k + i, BAR_SIDES);
      from[i] = sn_vec3_addscaled(a, ra, out);
      to[i] = sn_vec3_addscaled(b, rb, out);
      n[i] = sn_vec3_addscaled(out, (ra - rb) / length, axis); /* leans as the side does */
      n[i] = sn_vec3_scale(n[i], 1 / sn_vec3_norm(n[i]));
    }
    good = cli_add_triangle(t, (sn_vec3[]){from[0], from[1], to[1]}, (sn_vec3[]){n[0], n[1], n[1]},
                            color) &&
           cli_add_triangle(t, (sn_vec3[]){from[0], to[1], to[0]}, (sn_vec3[]){n[0], n[1], n[0]},
                            color);
  }
  return good;
}

bool cli_add_disc(cli_triangles *t, sn_vec3 centre, sn_vec3 normal, double radius, sn_vec3 color) {
  const sn_mat3 R = sni_surface_frame(centre, normal).R;
  bool good = true;
  for (int k = 0; good && k < BALL_SIDES; k++) {
    const sn_vec3 x[3] = {centre, sn_vec3_addscaled(centre, radius, around(R, k, BALL_SIDES)),
                          sn_vec3_addscaled(centre, radius, around(R, k + 1, BALL_SIDES))};
    good = cli_add_triangle(t, x, NULL, color);
  }
  return good;
}

static sn_vec3 on_ball(int row, int k) {
  const double down = SN_PI * row / BALL_ROWS, angle = 2 * SN_PI * k / BALL_SIDES;
  return (sn_vec3){sin(down) * cos(angle), cos(down), sin(down) * sin(angle)};
}

bool cli_add_ball(cli_triangles *t, sn_vec3 centre, double radius, sn_vec3 color) {
  bool good = true;
  for (int k = 0; good && k < BALL_ROWS * BALL_SIDES; k++) {
    const int row = k / BALL_SIDES, side = k % BALL_SIDES;
    const sn_vec3 n[4] = {on_ball(row, side), on_ball(row + 1, side), on_ball(row + 1, side + 1),
                          on_ball(row, side + 1)};
    sn_vec3 x[4];
    for (int i = 0; i < 4; i++) {
      x[i] = sn_vec3_addscaled(centre, radius, n[i]);
    }
    good =
        cli_add_triangle(t, (sn_vec3[]){x[0], x[1], x[2]}, (sn_vec3[]){n[0], n[1], n[2]}, color) &&
        cli_add_triangle(t, (sn_vec3[]){x[0], x[2], x[3]}, (sn_vec3[]){n[0], n[2], n[3]}, color);
  }
  return good;
}
