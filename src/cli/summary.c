/* summary.c: a valid scene explained: bodies, joints, freedom, size, methods. */
#include "cli/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/method.h"
#include "methods/sim.h"
#include "model/shape.h"

/* Joints of one kind with the same number of coordinates. */
typedef struct joint_group {
  const char *type;
  int dofs, count;
} joint_group;

#define GROUPS_MAX 64 /* kinds times numbers of coordinates; only composites vary in these */

typedef struct summary {
  const sn_model *m;
  cli_freedom freedom;
  joint_group group[GROUPS_MAX];
  int ngroup;
  int following, sometimes; /* coordinates that follow a motion: always, while it is active    */
  bool has_box;
  sni_aabb box; /* of all shapes, in the start pose                                           */
} summary;

/* ---- gathering ---- */

/* Of a body that hangs by a loop the loop's, which stands between two fixed parts that place it. */
static const char *type_of(const sn_model *m, int body) {
  const sni_joint *joint = &m->tree.joint[body];
  const sni_joint_set joints = sni_tree_joints(&m->tree);
  bool hangs = false;
  for (int k = 0; m->hung_by && k < m->tree.nbody; k++) {
    hangs = hangs || (m->given[k] == body && m->hung_by[k]);
  }
  int moving = -1, count = 0;
  for (int p = joint->part_first; p < joint->part_first + joint->npart; p++) {
    if (joints.joint[p].nv > 0) {
      moving = p;
      count++;
    }
  }
  return hangs && count == 1 ? sni_joint_ops_of(joints, moving)->kind.keyword
                             : sn_model_joint_type(m, body);
}

static void count_joint(summary *s, int body) {
  const char *type = type_of(s->m, body);
  const int dofs = sn_model_joint_dofs(s->m, body);
  int k = 0;
  while (k < s->ngroup && (s->group[k].type != type || s->group[k].dofs != dofs)) {
    k++;
  }
  if (k == s->ngroup && k < GROUPS_MAX) {
    s->group[s->ngroup++] = (joint_group){type, dofs, 0};
  }
  if (k < GROUPS_MAX) {
    s->group[k].count++;
  }
}

static void count_motions(summary *s) {
  for (int k = 0; k < s->m->nmotion; k++) {
    const int dofs = sn_model_joint_dofs(s->m, s->m->motion[k].body);
    if (s->m->motion[k].active < 0) {
      s->following += dofs;
    } else {
      s->sometimes += dofs;
    }
  }
}

/* Rounding of poses leaves 1e-16 where people expect 0. */
static double clean(double x, double scale) {
  return fabs(x) < 1e-12 * scale ? 0 : x;
}

static sni_aabb clean_box(sni_aabb b) {
  const double scale = fmax(fmax(b.hi.x - b.lo.x, b.hi.y - b.lo.y), b.hi.z - b.lo.z);
  return (sni_aabb){{clean(b.lo.x, scale), clean(b.lo.y, scale), clean(b.lo.z, scale)},
                    {clean(b.hi.x, scale), clean(b.hi.y, scale), clean(b.hi.z, scale)}};
}

static bool find_box(summary *s, const double *q) {
  const sn_model *m = s->m;
  sn_se3 *E_wb = malloc(((size_t)m->tree.nbody + 1) * sizeof *E_wb);
  if (!E_wb) {
    return false;
  }
  sni_model_poses(m, q, E_wb);
  for (int k = 0; k < m->nshape; k++) {
    const sni_shape *shape = &m->shape[k];
    const sni_aabb box = sni_shape_bounds(&shape->def, shape->mesh, E_wb[shape->body]);
    s->box = s->has_box ? sni_aabb_join(s->box, box) : box;
    s->has_box = true;
  }
  s->box = clean_box(s->box);
  free(E_wb);
  return true;
}

static bool gather(const sn_scene *scene, const cli_start *start, summary *s) {
  *s = (summary){.m = sn_scene_model(scene), .freedom = start->freedom};
  for (int i = 0; i < s->m->tree.nbody; i++) {
    count_joint(s, i);
  }
  count_motions(s);
  return find_box(s, start->state ? sn_state_q(start->state) : s->m->q0);
}

/* Can this method simulate the scene?  If not, err says why. */
static bool method_can(const sni_method *method, const sn_model *m, sn_error *err) {
  *err = (sn_error){0};
  return method->supports(m, err) == SN_OK;
}

/* ---- for people ---- */

static void print_joints(const summary *s, FILE *to) {
  fputs("  joints              ", to);
  for (int k = 0; k < s->ngroup; k++) {
    fprintf(to, "%s%d %s", k ? ", " : "", s->group[k].count, s->group[k].type);
  }
  fputs(s->ngroup ? "\n" : "none\n", to);
}

/* "loops and constraints": what the rows come from. */
static void print_sources(const sn_model *m, FILE *to) {
  const struct {
    int count;
    const char *name;
  } source[] = {{m->nloop, "loops"}, {m->nbond, "constraints"}, {m->nguide, "motions"}};
  const char *between = "";
  for (size_t k = 0; k < sizeof source / sizeof *source; k++) {
    if (source[k].count > 0) {
      fprintf(to, "%s%s", between, source[k].name);
      between = " and ";
    }
  }
}

/* " - 3 (loops: 5 rows, 2 redundant)" */
static void print_constraints(const summary *s, FILE *to) {
  const cli_freedom *f = &s->freedom;
  if (f->rows > 0) {
    if (f->counted) {
      fprintf(to, " - %d (", f->rank);
    } else {
      fputs(", less what is taken away (", to);
    }
    print_sources(s->m, to);
    fprintf(to, ": %d row%s", f->rows, f->rows == 1 ? "" : "s");
    if (f->counted && f->rank < f->rows) {
      fprintf(to, ", %d redundant", f->rows - f->rank);
    }
    fputc(')', to);
  }
}

/* "27 = 6 (1 free joint) + 21 (21 revolute joints); 1 follows a motion, 26 are free to move" */
static void print_freedom(const summary *s, FILE *to) {
  const int n = sn_model_dof_count(s->m) - s->freedom.rank;
  const int left = s->freedom.counted ? s->freedom.free : n - s->following;
  fprintf(to, "  degrees of freedom  %d", n);
  const char *sign = " = ";
  for (int k = 0; k < s->ngroup; k++) {
    const joint_group *g = &s->group[k];
    if (g->dofs > 0) {
      fprintf(to, "%s%d (%d %s joint%s", sign, g->count * g->dofs, g->count, g->type,
              g->count == 1 ? "" : "s");
      if (g->dofs > 1 && g->count > 1) {
        fprintf(to, " with %d each", g->dofs);
      }
      fputc(')', to);
      sign = " + ";
    }
  }
  print_constraints(s, to);
  if (s->following > 0) {
    const int anyway = s->following + left - n; /* what others move already */
    fprintf(to, "; %d follow%s a motion", s->following, s->following == 1 ? "s" : "");
    if (anyway > 0) {
      fprintf(to, " (%d of them would anyway)", anyway);
    }
    fprintf(to, ", %d %s free to move", left, left == 1 ? "is" : "are");
  }
  if (s->sometimes > 0) {
    fprintf(to, "; %d follow%s a motion while it is active", s->sometimes,
            s->sometimes == 1 ? "s" : "");
  }
  fputc('\n', to);
}

/* "  redundant           rows of pin_1, pin_2 and 38 more follow from others" */
static void print_redundant(const summary *s, FILE *to) {
  const cli_freedom *f = &s->freedom;
  const int shown = f->involved < CLI_NAMES_MAX ? f->involved : CLI_NAMES_MAX;
  if (shown > 0) {
    fputs("  redundant           rows of", to);
    for (int k = 0; k < shown; k++) {
      fprintf(to, "%s %s", k ? "," : "", s->m->constraint_name[f->name[k]]);
    }
    if (f->involved > shown) {
      fprintf(to, " and %d more", f->involved - shown);
    }
    fputs(" say what others say\n", to);
  }
  if (f->nearby >= 0 && f->nearby != f->rank) {
    fputs("  singular            this pose: nearby the constraints take ", to);
    if (f->lowest < f->nearby) { /* branches that differ */
      fprintf(to, "%d to ", f->lowest);
    }
    fprintf(to, "%d, here %d, so that the motion may branch\n", f->nearby, f->rank);
  } else if (f->astray && f->followed < f->begin) {
    fprintf(
        to,
        "  singular            this pose: of %d motions that can begin here poses follow %d, so "
        "that a run may stop\n",
        f->begin, f->followed);
  } else if (f->astray) {
    fputs("  singular            this pose: motions can begin here that no pose follows, so that a "
          "run may stop or branch\n",
          to);
  }
}

/* "  hang by loops       crank (main), coupler (knee) and 3 more" */
static void print_hung(const sn_model *m, FILE *to) {
  int count = 0;
  for (int k = 0; m->hung_by && k < m->tree.nbody; k++) {
    if (m->hung_by[k] && count++ < CLI_NAMES_MAX) {
      fprintf(to, "%s%s (%s)", count == 1 ? "  hang by loops       " : ", ", m->name[m->given[k]],
              m->hung_by[k]);
    }
  }
  if (count > CLI_NAMES_MAX) {
    fprintf(to, " and %d more", count - CLI_NAMES_MAX);
  }
  fputs(count > 0 ? "\n" : "", to);
}

static void print_acting(const sn_model *m, FILE *to) {
  const struct {
    int count;
    const char *one, *many;
  } part[] = {{m->nforce, "force", "forces"},
              {m->ndrive + m->nloop_drive, "drive", "drives"},
              {m->nmotion + m->nguide, "motion", "motions"},
              {m->nloop, "loop", "loops"},
              {m->nbond - m->nmap_part, "constraint", "constraints"}};
  const char *between = "  what acts           ";
  for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
    if (part[k].count > 0) {
      fprintf(to, "%s%d %s", between, part[k].count,
              part[k].count == 1 ? part[k].one : part[k].many);
      between = ", ";
    }
  }
  fputs(between[0] == ',' ? "\n" : "", to);
}

static void print_methods(const sn_model *m, FILE *to) {
  sn_error err;
  for (int k = 0; sni_method_at(k); k++) {
    const sni_method *method = sni_method_at(k);
    const bool can = method_can(method, m, &err);
    fprintf(to, "%s%s: %s%s\n", k == 0 ? "  methods             " : "                      ",
            method->name, can ? "can simulate it" : "cannot: ", can ? "" : err.text);
  }
}

static void print_run(const sn_run_def *run, FILE *to) {
  fputs("  run                 ", to);
  cli_method_print(run, to);
  fprintf(to, "\n                      step %g, duration %g, ", run->options.step, run->duration);
  if (run->record_every > 0) {
    fprintf(to, "records every %g\n", run->record_every);
  } else {
    fputs("records every step\n", to);
  }
}

bool cli_summary_print(const sn_scene *scene, const cli_start *start, FILE *to) {
  summary s;
  if (!gather(scene, start, &s)) {
    return false;
  }
  const sn_model *m = s.m;
  const double *g = m->params.gravity;
  fprintf(to, "  bodies              %d, mass %.6g\n", m->tree.nbody, m->mass);
  print_joints(&s, to);
  print_hung(m, to);
  print_freedom(&s, to);
  print_redundant(&s, to);
  print_acting(m, to);
  if (s.has_box) {
    fprintf(to,
            "  bounding box        x %.4g to %.4g, y %.4g to %.4g, z %.4g to %.4g at the start\n",
            s.box.lo.x, s.box.hi.x, s.box.lo.y, s.box.hi.y, s.box.lo.z, s.box.hi.z);
  } else {
    fputs("  bounding box        none: there are no shapes\n", to);
  }
  fprintf(to, "  units               %s, up %s, gravity (%g, %g, %g)\n",
          sn_scene_units(scene)[0] ? sn_scene_units(scene) : "not said", sn_scene_up(scene), g[0],
          g[1], g[2]);
  print_methods(m, to);
  print_run(&m->run, to);
  return true;
}

/* ---- for machines ---- */

static void json_vector(sni_json *j, const char *key, sn_vec3 v) {
  sni_json_raw(j, key, "[%.17g, %.17g, %.17g]", v.x, v.y, v.z);
}

static void json_joints(const summary *s, sni_json *j) {
  sni_json_open(j, "joints", "[");
  for (int k = 0; k < s->ngroup; k++) {
    sni_json_open(j, NULL, "{");
    sni_json_text(j, "type", s->group[k].type);
    sni_json_raw(j, "count", "%d", s->group[k].count);
    sni_json_raw(j, "dofs", "%d", s->group[k].dofs);
    sni_json_close(j, "}");
  }
  sni_json_close(j, "]");
}

static void json_methods(const sn_model *m, sni_json *j) {
  sn_error err;
  sni_json_open(j, "methods", "[");
  for (int k = 0; sni_method_at(k); k++) {
    const bool can = method_can(sni_method_at(k), m, &err);
    sni_json_open(j, NULL, "{");
    sni_json_text(j, "name", sni_method_at(k)->name);
    cli_json_bool(j, "can", can);
    if (!can) {
      sni_json_text(j, "why", err.text);
    }
    sni_json_close(j, "}");
  }
  sni_json_close(j, "]");
}

static void json_hung(const sn_model *m, sni_json *j) {
  if (!m->hung_by) {
    return;
  }
  sni_json_open(j, "hang_by_loops", "{");
  for (int k = 0; k < m->tree.nbody; k++) {
    if (m->hung_by[k]) {
      sni_json_text(j, m->name[m->given[k]], m->hung_by[k]);
    }
  }
  sni_json_close(j, "}");
}

static void json_run(const sn_run_def *run, sni_json *j) {
  sni_json_open(j, "run", "{");
  cli_method_json(run, j);
  cli_json_number(j, "step", run->options.step);
  cli_json_number(j, "duration", run->duration);
  cli_json_number(j, "record_every", run->record_every);
  sni_json_close(j, "}");
}

bool cli_summary_json(const sn_scene *scene, const cli_start *start, sni_json *j) {
  const cli_freedom *freedom = &start->freedom;
  summary s;
  if (!gather(scene, start, &s)) {
    return false;
  }
  const sn_model *m = s.m;
  const double *g = m->params.gravity;
  sni_json_raw(j, "bodies", "%d", m->tree.nbody);
  cli_json_number(j, "mass", m->mass);
  json_joints(&s, j);
  json_hung(m, j);
  sni_json_raw(j, "dofs", "%d", sn_model_dof_count(m));
  sni_json_raw(j, "dofs_following_motions", "%d", s.following);
  sni_json_raw(j, "dofs_following_sometimes", "%d", s.sometimes);
  if (freedom->rows > 0) {
    sni_json_raw(j, "constraint_rows", "%d", freedom->rows);
  }
  if (freedom->counted) {
    sni_json_raw(j, "constraint_rows_redundant", "%d", freedom->rows - freedom->rank);
    sni_json_raw(j, "dofs_free", "%d", freedom->free);
    if (freedom->nearby >= 0) {
      sni_json_raw(j, "constraint_rank_nearby", "%d", freedom->nearby);
    }
    if (freedom->astray) {
      sni_json_raw(j, "motions_followed", "%d", freedom->followed);
    }
    sni_json_open(j, "redundant", "[");
    for (int k = 0; k < freedom->involved && k < CLI_NAMES_MAX; k++) {
      sni_json_text(j, NULL, m->constraint_name[freedom->name[k]]);
    }
    sni_json_close(j, "]");
  }
  sni_json_raw(j, "forces", "%d", m->nforce);
  sni_json_raw(j, "drives", "%d", m->ndrive + m->nloop_drive);
  sni_json_raw(j, "motions", "%d", m->nmotion + m->nguide);
  sni_json_raw(j, "loops", "%d", m->nloop);
  sni_json_raw(j, "constraints", "%d", m->nbond - m->nmap_part);
  if (s.has_box) {
    sni_json_open(j, "bounding_box", "{");
    json_vector(j, "min", s.box.lo);
    json_vector(j, "max", s.box.hi);
    sni_json_close(j, "}");
  }
  sni_json_text(j, "units", sn_scene_units(scene));
  sni_json_text(j, "up", sn_scene_up(scene));
  json_vector(j, "gravity", (sn_vec3){g[0], g[1], g[2]});
  json_methods(m, j);
  json_run(&m->run, j);
  return true;
}
