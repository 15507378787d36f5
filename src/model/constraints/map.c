/* constraints/map.c: joints that are driven by fewer coordinates (map.h).  Every row is a
 * constraint of its own: first those of joints that follow, then one for each z that follows a
 * motion:
 *
 *     z_l(q) - m(t) = 0     zd_l - m' = 0     zdd_l - m'' = 0 */
#include "model/constraint.h"

#include "model/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- while a model is built ---- */

typedef struct entry {
  int coord;
  sni_expr *value;
  double slope[SNI_MAP_Z_MAX], offset; /* if it is linear */
  bool linear;
} entry;

static bool check_names(sni_part_builder *b, const sn_constraint_def *def, const char **name) {
  bool good = true;
  for (int j = 0; j < def->ncoordinate; j++) {
    char key[48];
    snprintf(key, sizeof key, "coordinates[%d].name", j);
    name[j] = def->coordinates[j].name ? def->coordinates[j].name : "";
    sni_expr *alone = NULL;
    const bool sound =
        sni_expr_compile(name[j], &name[j], 1, &alone, NULL) == SN_OK && sni_expr_uses(alone, 0);
    sni_expr_free(&alone);
    if (!sound) {
      b->fail(b, key, "'%s' is no name that an expression can use: letters, digits and _", name[j]);
      good = false;
    }
    for (int i = 0; i < j; i++) {
      if (strcmp(name[i], name[j]) == 0) {
        b->fail(b, key, "'%s' is there already", name[j]);
        good = false;
      }
    }
  }
  return good;
}

static bool check_sizes(sni_part_builder *b, const sn_constraint_def *def) {
  if (def->ncoordinate < 1 || def->ncoordinate > SNI_MAP_Z_MAX) {
    b->fail(b, "coordinates", "has %d, needs 1 to %d", def->ncoordinate, SNI_MAP_Z_MAX);
    return false;
  }
  if (def->ndriven < def->ncoordinate) {
    b->fail(b, "joints",
            "drives %d coordinate%s of joints by %d of its own: needs at least as many as it has",
            def->ndriven, def->ndriven == 1 ? "" : "s", def->ncoordinate);
    return false;
  }
  return true;
}

/* Smooth and with the same slope wherever one looks: linear. */
static void look_at_slopes(int nz, entry *e) {
  static const double at[3] = {0, 0.7390851332, -1.3247179572};
  const sni_map one = {.nz = nz, .nq = 1, .value = (const sni_expr *const *)&e->value};
  double zero[SNI_MAP_Z_MAX] = {0};
  e->linear = true;
  e->offset = sni_map_value(&one, 0, zero, NULL).v;
  for (int j = 0; j < nz; j++) {
    e->slope[j] = sni_map_slope(&one, 0, j, zero);
    for (int k = 0; k < 3; k++) {
      double z[SNI_MAP_Z_MAX], along[SNI_MAP_Z_MAX];
      for (int i = 0; i < nz; i++) {
        z[i] = at[k] * (1 + 0.3 * i);
        along[i] = 1 - 0.17 * (i + j);
      }
      const double slope = sni_map_slope(&one, 0, j, z);
      e->linear = e->linear && fabs(slope - e->slope[j]) <= 1e-14 * fabs(slope) &&
                  sni_map_value(&one, 0, z, along).dd == 0 && isfinite(e->offset);
    }
  }
}

static bool add_entry(sni_part_builder *b, const sn_constraint_def *def, int k,
                      const char *const *name, entry *e) {
  const sn_driven_def *d = &def->driven[k];
  char key[48];
  snprintf(key, sizeof key, "joints[%d].joint", k);
  const int body = b->body(b, key, d->joint);
  int vadr = 0;
  if (body == -1) {
    b->fail(b, key, "is the world, which has none: needs the name of a body");
  }
  const int nv = body < 0 ? -1 : b->joint_dofs(b, body, &vadr);
  if (nv < 0) {
    return false;
  }
  snprintf(key, sizeof key, "joints[%d].coordinate", k);
  if (d->coordinate < 0 || d->coordinate >= nv) {
    b->fail(b, key, "is %d, the joint '%s' has %d coordinate%s, counted from 0", d->coordinate,
            d->joint, nv, nv == 1 ? "" : "s");
    return false;
  }
  if (b->is_turn(b, body, d->coordinate)) {
    b->fail(b, key,
            "is %d, part of a rotation vector of '%s', which is no angle: needs a joint with axes",
            d->coordinate, d->joint);
    return false;
  }
  e->coord = vadr + d->coordinate;
  snprintf(key, sizeof key, "joints[%d].value", k);
  sn_error err = {0};
  if (sni_expr_compile(d->value ? d->value : "", name, def->ncoordinate, &e->value, &err)) {
    b->fail(b, key, "column %d: %s", err.column, err.text);
    return false;
  }
  if (!sni_expr_is_smooth(e->value)) {
    b->fail(b, key,
            "has a step or a corner in it (a comparison, abs, min, ...): needs to be smooth");
    return false;
  }
  if (b->claim(b, e->coord, k) == false) {
    return false; /* reported */
  }
  look_at_slopes(def->ncoordinate, e);
  return true;
}

/* Gauss-Jordan with the largest pivot of all rows that are left; *lead: which rows.  False: there
 * are not enough. */
static bool find_leaders(int nz, int nq, const entry *e, int *lead, double *inverse) {
  double work[SNI_MAP_Z_MAX][2 * SNI_MAP_Z_MAX];
  /* which rows: Gram-Schmidt, the most independent first */
  double unit[SNI_MAP_Z_MAX][SNI_MAP_Z_MAX];
  for (int k = 0; k < nz; k++) {
    double best = 1e-6;
    lead[k] = -1;
    for (int i = 0; i < nq; i++) {
      double x[SNI_MAP_Z_MAX], own = 0, left = 0;
      for (int j = 0; j < nz; j++) {
        x[j] = e[i].slope[j];
        own += x[j] * x[j];
      }
      for (int l = 0; l < k; l++) {
        double part = 0;
        for (int j = 0; j < nz; j++) {
          part += unit[l][j] * x[j];
        }
        for (int j = 0; j < nz; j++) {
          x[j] -= part * unit[l][j];
        }
      }
      for (int j = 0; j < nz; j++) {
        left += x[j] * x[j];
      }
      if (e[i].linear && own > 0 && sqrt(left / own) > best * (1 + 1e-9)) {
        best = sqrt(left / own);
        lead[k] = i;
        for (int j = 0; j < nz; j++) {
          unit[k][j] = x[j] / sqrt(left);
        }
      }
    }
    if (lead[k] < 0) {
      return false;
    }
  }
  for (int i = 0; i < nz; i++) {
    for (int j = 0; j < nz; j++) {
      work[i][j] = e[lead[i]].slope[j];
      work[i][nz + j] = i == j;
    }
  }
  for (int k = 0; k < nz; k++) {
    int pivot = k;
    for (int i = k + 1; i < nz; i++) {
      pivot = fabs(work[i][k]) > fabs(work[pivot][k]) ? i : pivot;
    }
    for (int j = 0; j < 2 * nz; j++) {
      const double x = work[k][j];
      work[k][j] = work[pivot][j];
      work[pivot][j] = x;
    }
    const double scale = work[k][k];
    for (int j = 0; j < 2 * nz; j++) {
      work[k][j] /= scale;
    }
    for (int i = 0; i < nz; i++) {
      const double part = i == k ? 0 : work[i][k];
      for (int j = 0; part != 0 && j < 2 * nz; j++) {
        work[i][j] -= part * work[k][j];
      }
    }
  }
  for (int i = 0; i < nz; i++) {
    memcpy(inverse + i * nz, &work[i][nz], (size_t)nz * sizeof *inverse);
  }
  return true;
}

/* Everything of the map that the definition says; the arrays are the model's. */
static sni_map *take_map(sni_part_builder *b, const sn_constraint_def *def, const entry *e,
                         const char *const *name) {
  const int nz = def->ncoordinate, nq = def->ndriven;
  const size_t z = (size_t)nz, q = (size_t)nq;
  sni_map *map = b->take(b, 1, sizeof *map);
  int *number = b->take(b, 2 * q + 4 * z, sizeof *number);
  double *real = b->take(b, z * z + 3 * z, sizeof *real);
  const sni_expr **value = b->take(b, q, sizeof *value);
  const char **own_name = b->take(b, z, sizeof *own_name);
  bool good = map && number && real && value && own_name;
  for (int i = 0; good && i < nq; i++) {
    void *copy = b->take(b, 1, sni_expr_size(e[i].value));
    good = copy != NULL;
    if (good) {
      memcpy(copy, e[i].value, sni_expr_size(e[i].value));
      value[i] = copy;
      number[i] = e[i].coord;
    }
  }
  for (int j = 0; good && j < nz; j++) {
    char *copy = b->take(b, strlen(name[j]) + 1, 1);
    good = copy != NULL;
    if (good) {
      memcpy(copy, name[j], strlen(name[j]) + 1);
      own_name[j] = copy;
    }
  }
  if (!good) {
    return NULL;
  }
  int *lead = number + q, *rest = lead + z, *motion = number + 2 * q, *force = motion + z,
      *driven = force + z;
  *map = (sni_map){.nz = nz,
                   .nq = nq,
                   .name = own_name,
                   .coord = number,
                   .value = value,
                   .led = find_leaders(nz, nq, e, lead, real),
                   .lead = lead,
                   .rest = rest,
                   .inverse = real,
                   .offset = real + z * z,
                   .start = real + z * z + z,
                   .motion = motion,
                   .force = force,
                   .driven = driven};
  int nrest = 0;
  for (int i = 0; map->led && i < nq; i++) {
    bool leads = false;
    for (int j = 0; j < nz; j++) {
      leads = leads || lead[j] == i;
    }
    if (!leads) {
      rest[nrest++] = i;
    }
  }
  for (int j = 0; j < nz; j++) {
    const sn_coordinate_def *own = &def->coordinates[j];
    char key[48];
    real[z * z + (size_t)j] = map->led ? e[lead[j]].offset : 0;
    real[z * z + z + (size_t)j] = own->q.n > 0 ? own->q.v[0] : 0;
    real[z * z + 2 * z + (size_t)j] = own->qd.n > 0 ? own->qd.v[0] : 0;
    map->start_given = map->start_given || own->q.n > 0 || own->qd.n > 0;
    motion[j] = force[j] = -1;
    if (own->q.n > 1 || own->qd.n > 1 || own->nmotion > 1 || own->nforce > 1) {
      snprintf(key, sizeof key, "coordinates[%d]", j);
      b->fail(b, key, "'%s' is one coordinate: needs one number or function for each key", name[j]);
    }
    if (own->nmotion > 0) {
      snprintf(key, sizeof key, "coordinates[%d].motion", j);
      motion[j] = b->function(b, key, &own->motion[0]);
      driven[map->ndriven++] = j;
    }
    if (own->nforce > 0) {
      snprintf(key, sizeof key, "coordinates[%d].force", j);
      force[j] = b->function(b, key, &own->force[0]);
      if (!map->led) {
        b->fail(b, key,
                "needs as many joints as there are coordinates that follow them linearly: put "
                "torques into the joints instead");
      }
    }
  }
  return map;
}

static void map_finish(sni_part_builder *b, const sn_constraint_def *def, sni_constraint *c) {
  const char *name[SNI_MAP_Z_MAX];
  if (!check_sizes(b, def) || !check_names(b, def, name)) {
    return;
  }
  entry *e = calloc((size_t)def->ndriven, sizeof *e);
  bool good = e != NULL;
  for (int k = 0; e && k < def->ndriven; k++) {
    good = add_entry(b, def, k, name, &e[k]) && good;
  }
  const sni_map *map = good ? take_map(b, def, e, name) : NULL;
  for (int k = 0; e && k < def->ndriven; k++) {
    sni_expr_free(&e[k].value);
  }
  free(e);
  if (!map) {
    return;
  }
  if (!map->led && map->nq > SNI_MAP_DENSE_MAX) {
    b->fail(b, "joints",
            "drives %d coordinates of joints, at most %d are possible where no joints follow the "
            "coordinates linearly: make several maps",
            map->nq, SNI_MAP_DENSE_MAX);
    return;
  }
  c->map = map;
  c->nv = map->nz;
  c->parts = map->nq - map->nz + map->ndriven;
}

/* The coordinates that a row stands on, whatever the pose. */
static void map_part(sni_constraint *c) {
  const sni_map *map = c->map;
  const int follower = c->part < map->nq - map->nz ? c->part : -1;
  c->nrow = 1;
  c->ncoord = 0;
  if (!map->led) {
    for (int i = 0; i < map->nq; i++) {
      c->coord[c->ncoord++] = map->coord[i];
    }
    return;
  }
  if (follower >= 0) {
    c->coord[c->ncoord++] = map->coord[map->rest[follower]];
  }
  for (int j = 0; j < map->nz; j++) {
    bool counts = false;
    for (int l = 0; l < map->nz; l++) {
      const bool asked = follower >= 0 ? sni_expr_uses(map->value[map->rest[follower]], l)
                                       : l == map->driven[c->part - (map->nq - map->nz)];
      counts = counts || (asked && map->inverse[l * map->nz + j] != 0);
    }
    if (counts) {
      c->coord[c->ncoord++] = map->coord[map->lead[j]];
    }
  }
}

/* ---- rows ---- */

static int leader_at(const sni_map *map, int coordinate) {
  int j = 0;
  while (map->coord[map->lead[j]] != coordinate) {
    j++;
  }
  return j;
}

/* dz_l/dq along the coordinates of the row. */
static double lead_slope(const sni_map *map, int l, int coordinate) {
  return map->inverse[l * map->nz + leader_at(map, coordinate)];
}

static void row_of_follower(const sni_constraint_eval *e, const sni_constraint *c, const double *z,
                            const double *zd, sni_row *row) {
  const sni_map *map = c->map;
  const int i = map->rest[c->part];
  const sni_jet f = sni_map_value(map, i, z, zd);
  row->g = e->q[map->coord[i]] - f.v;
  row->bias = -f.dd;
  row->coef[0] = 1;
  for (int l = 0; l < map->nz; l++) {
    const double slope = sni_map_slope(map, i, l, z);
    for (int k = 1; k < c->ncoord && slope != 0; k++) {
      row->coef[k] -= slope * lead_slope(map, l, c->coord[k]);
    }
  }
}

static void row_across(const sni_constraint_eval *e, const sni_constraint *c, const double *z,
                       const double *zd, const sni_map_frame *frame, sni_row *row) {
  const sni_map *map = c->map;
  const double *n = frame->B[map->nz + c->part];
  for (int i = 0; i < map->nq; i++) {
    const sni_jet f = sni_map_value(map, i, z, zd);
    row->coef[i] = n[i];
    row->g += n[i] * (e->q[map->coord[i]] - f.v);
    row->bias -= n[i] * f.dd;
  }
  /* no row holds q along the tangents, but it must not be missed unseen */
  row->g = frame->missed > 0 ? copysign(hypot(row->g, frame->missed), row->g) : row->g;
}

/* z_l, with the slopes of its fit: B^T R^-T of e_l. */
static void row_of_motion(const sni_constraint_eval *e, const sni_constraint *c, const double *z,
                          const double *zd, const sni_map_frame *frame, sni_row *row) {
  const sni_map *map = c->map;
  const int nz = map->nz, l = map->driven[c->part - (map->nq - nz)];
  double m[3], y[SNI_MAP_Z_MAX];
  sni_function_eval(e->function[map->motion[l]], e->t, e->t_ref, m);
  row->g = z[l] - m[0];
  row->rate = -m[1];
  row->bias = row->timed = -m[2];
  if (map->led) {
    for (int k = 0; k < c->ncoord; k++) {
      row->coef[k] = lead_slope(map, l, c->coord[k]);
    }
    return;
  }
  for (int k = 0; k < nz; k++) {
    y[k] = k == l;
    for (int j = 0; j < k; j++) {
      y[k] -= frame->R[j][k] * y[j];
    }
    y[k] = frame->R[k][k] != 0 ? y[k] / frame->R[k][k] : 0;
  }
  for (int i = 0; i < map->nq; i++) {
    for (int k = 0; k < nz; k++) {
      row->coef[i] += frame->B[k][i] * y[k];
    }
    row->bias -= row->coef[i] * sni_map_value(map, i, z, zd).dd;
  }
}

static int map_rows(const sni_constraint_eval *e, const sni_constraint *c, sni_row *row) {
  const sni_map *map = c->map;
  double *z = e->loop_q + map->first, *zd = e->loop_qd + map->first;
  sni_map_frame frame;
  sni_map_invert(map, e->q, e->qd, z, zd, &frame);
  if (c->parts == 0) {
    return 0; /* as many coordinates as joints, and no motions: it only reads them */
  }
  *row = (sni_row){.body = {-1, -1}, .ncoord = c->ncoord};
  memcpy(row->coord, c->coord, (size_t)c->ncoord * sizeof *c->coord);
  if (c->part >= map->nq - map->nz) {
    row_of_motion(e, c, z, zd, &frame, row);
  } else if (map->led) {
    row_of_follower(e, c, z, zd, row);
  } else {
    row_across(e, c, z, zd, &frame, row);
  }
  return 1;
}

static const sni_field map_field[] = {
    {.key = "coordinates",
     .type = SNI_F_COORDINATES,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_constraint_def, coordinates),
     .offset2 = offsetof(sn_constraint_def, ncoordinate),
     .doc = "coordinates of its own, and what is known of them"},
    {.key = "joints",
     .type = SNI_F_DRIVEN,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_constraint_def, driven),
     .offset2 = offsetof(sn_constraint_def, ndriven),
     .doc = "coordinates of joints, each a smooth expression of those"}};

const sni_constraint_ops sni_constraint_map = {
    .kind = {"map", "joints are driven by fewer coordinates, through expressions of them",
             map_field, SNI_COUNT(map_field)},
    .finish = map_finish,
    .part = map_part,
    .rows = map_rows};
