/* channels.c: the registry of named channels: everything that can be recorded.
 *
 * Channels are numbered group by group; names are made when asked for, so that a model with 100,000
 * bodies has no table of a million names.  A new channel = one row in the table of groups. */
#include "methods/channels_constraints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What must be computed before a group can be read. */
enum { NEEDS_NOTHING, NEEDS_KINEMATICS, NEEDS_FORCES };

typedef struct reading {
  sn_sim *sim;
  const sn_state *state;
  sn_energy energy;
  bool led_here; /* the last step of the sim ended in this state */
} reading;

typedef struct group {
  const char *suffix; /* after the name of a body or motion; NULL: a name of its own         */
  const char *const *component;
  int ncomponent; /* per body; 0: one for each coordinate of its joint                       */
  bool usual;     /* recorded unless asked otherwise                                         */
  int needs;
  /* lines: springs and cables; rubs: joints with friction, and their ways */
  enum {
    OF_BODIES,
    OF_TOUCHING,
    OF_MOTIONS,
    OF_COURSES, /* the same by the names of all motions: motions.NAME.force */
    OF_LINES,
    OF_MAPS,
    OF_RUBS,
    OF_SLIDES,
    OF_CONSTRAINTS
  } of;
  double (*value)(const reading *r, int body, int component, int coordinate);
} group;

static double value_q(const reading *r, int body, int component, int coordinate) {
  (void)body;
  (void)component;
  return r->state->data[coordinate];
}
static double value_qd(const reading *r, int body, int component, int coordinate) {
  (void)body;
  (void)component;
  return r->state->data[r->state->nv + coordinate];
}
static double value_qdd(const reading *r, int body, int component, int coordinate) {
  (void)body;
  (void)component;
  return r->sim->qdd[coordinate];
}
static double value_tau(const reading *r, int body, int component, int coordinate) {
  (void)body;
  (void)component;
  return r->sim->tau[coordinate];
}
/* What the motion adds to everything else in its joint. */
static double value_motor(const reading *r, int body, int component, int coordinate) {
  (void)component;
  const sni_dynamics *d = &r->sim->d;
  if (!d->rows) {
    return d->any_prescribed && d->prescribed[body]
               ? r->sim->tau[coordinate] - r->sim->acting[coordinate]
               : 0;
  }
  for (int i = 0; i < d->rows->nrow; i++) { /* it is a constraint: its row has the force */
    if (d->rows->of[i] >= r->sim->m->nconstraint && d->rows->row[i].coord[0] == coordinate) {
      return -d->rows->lambda[i];
    }
  }
  return 0;
}
static double value_position(const reading *r, int body, int component, int coordinate) {
  (void)coordinate;
  return r->sim->d.w.link[body].o[component];
}
static double value_rotation(const reading *r, int body, int component, int coordinate) {
  (void)coordinate;
  const sn_quat q = sn_quat_from_mat3(sni_link_R(&r->sim->d.w.link[body]));
  return component == 0 ? q.w : component == 1 ? q.x : component == 2 ? q.y : q.z;
}
static double value_reaction(const reading *r, int body, int component, int coordinate) {
  (void)coordinate;
  const sn_vec6 F = sn_vec6_unrotate(sni_link_R(&r->sim->d.w.link[body]), r->sim->F[body]);
  return sn_vec6_get(F, component);
}

static double value_line(const reading *r, int line, int component, int coordinate) {
  (void)coordinate;
  const sni_dynamics *d = &r->sim->d;
  const sni_force *f = &d->m->force[d->m->line[line]];
  const sni_force_eval e = sni_dynamics_force_eval(d, r->state->t, r->state->t, false);
  const sni_measure x = sni_force_kind(f->kind)->measure(&e, f, d->params.force + f->param);
  return component == 0               ? x.length
         : component == 1             ? x.rate
         : sni_force_is_active(&e, f) ? x.tension
                                      : 0;
}

/* Coordinates of maps: number `z` of all. */
static int map_of(const sn_model *m, int *z) {
  int k = 0;
  for (; *z >= m->map[k]->nz; k++) {
    *z -= m->map[k]->nz;
  }
  return k;
}
static double value_z(const reading *r, int z, int component, int coordinate) {
  (void)component;
  (void)coordinate;
  const int k = map_of(r->sim->m, &z);
  return r->sim->rows.loop_q[r->sim->m->map[k]->first + z];
}
static double value_zd(const reading *r, int z, int component, int coordinate) {
  (void)component;
  (void)coordinate;
  const int k = map_of(r->sim->m, &z);
  return r->sim->rows.loop_qd[r->sim->m->map[k]->first + z];
}
/* What makes it follow its motion. */
static double value_ztau(const reading *r, int z, int component, int coordinate) {
  (void)component;
  (void)coordinate;
  const sni_map *map = r->sim->m->map[map_of(r->sim->m, &z)];
  const sni_rows *rows = r->sim->d.rows;
  for (int i = 0; i < rows->nrow; i++) {
    const sni_constraint *c = &rows->constraint[rows->of[i]];
    const int driven = c->part - (map->nq - map->nz);
    if (c->map == map && driven >= 0 && map->driven[driven] == z) {
      return -rows->lambda[i];
    }
  }
  return 0;
}

/* Friction of the step that led here: forces, bounds, rates, powers, loads. */
static const double *rubbing(const reading *r) {
  return r->sim->method->rubbing && r->state->method == sni_sim_private_id(r->sim)
             ? r->sim->method->rubbing(r->sim->m, r->state)
             : NULL;
}
/* The joint that slides in this way. */
static const sni_rub *rub_of(const sn_model *m, int slide) {
  const sni_rub *own = m->rub;
  while (own->first + own->nslide <= slide) {
    own++;
  }
  return own;
}
/* Damping by the friction of a joint, along its c-th coordinate. */
static double drag_of(const reading *r, const sni_rub *own, int c) {
  const sn_model *m = r->sim->m;
  const sni_params *p = &r->sim->d.params;
  if (own->body >= 0) {
    return own->drag[c] * p->damping[m->tree.vadr[own->body] + c];
  }
  double damping = 0;
  for (int k = 0; k < m->nloop_spring; k++) {
    damping += m->loop_spring[k].loop == own->loop ? p->loop[k].damping[c] : 0;
  }
  return own->drag[c] * damping;
}
/* How fast it slides in its c-th way. */
static double rate_of(const reading *r, const sni_rub *own, int c) {
  const sn_model *m = r->sim->m;
  if (own->law != SNI_VISCOUS) {
    const double *x = rubbing(r);
    return x ? x[2 * m->nslide + own->first + c] : 0;
  }
  const int at = own->body >= 0 ? m->tree.vadr[own->body] : m->constraint[own->loop].first;
  const double *q = own->body >= 0 ? r->state->data : r->sim->rows.loop_q;
  const double *qd = own->body >= 0 ? r->state->data + r->state->nv : r->sim->rows.loop_qd;
  return sni_rub_rate(own, c, q + at, qd + at);
}
/* What is damped, and all that it does against that: what sticks or slips too. */
static double drag_of_friction(const reading *r, const sni_rub *own, int c) {
  return own->drag[c] > 0 ? drag_of(r, own, c) * rate_of(r, own, c) : 0;
}
static double friction_of(const reading *r, const sni_rub *own, int c) {
  const double *x = rubbing(r);
  return drag_of_friction(r, own, c) + (x && own->law != SNI_VISCOUS ? x[own->first + c] : 0);
}
/* The power of what sticks or slips. */
static double taken(const reading *r, const sni_rub *own) {
  const int n = r->sim->m->nslide;
  const double *x = own->law != SNI_VISCOUS ? rubbing(r) : NULL;
  double power = 0;
  for (int k = own->first; x && k < own->first + own->nslide; k++) {
    power += x[3 * n + k];
  }
  return power;
}
static double value_rub(const reading *r, int rub, int component, int coordinate) {
  (void)coordinate;
  const sn_model *m = r->sim->m;
  const sni_rub *own = &m->rub[rub];
  const double *x = rubbing(r);
  double power = 0;
  if (component == 0) {
    return x && rub < m->nrub ? x[4 * m->nslide + rub] : 0;
  }
  for (int c = 0; c < own->nslide; c++) {
    power += drag_of_friction(r, own, c) * rate_of(r, own, c);
  }
  return power + taken(r, own);
}
static double value_friction(const reading *r, int slide, int component, int coordinate) {
  (void)component;
  (void)coordinate;
  const sni_rub *own = rub_of(r->sim->m, slide);
  const double friction = friction_of(r, own, slide - own->first);
  return friction != 0 ? -friction : 0;
}

static double value_constraint(const reading *r, int n, int component, int coordinate) {
  (void)component;
  (void)coordinate;
  return sni_constraint_channel_value(r->sim, n, r->state->t, rubbing(r) != NULL);
}

/* ---- contacts ---- */

/* Of the step that led to this state; of others nothing is known. */
static double value_contact(const reading *r, int body, int component, int coordinate) {
  (void)coordinate;
  const sni_contact_sum *sum = &r->sim->contact_of[body];
  if (!r->led_here) {
    return 0;
  }
  return component < 3    ? sn_vec3_get(sum->force, component)
         : component == 3 ? sum->normal
                          : sum->points;
}

static const char *const touching[] = {".fx", ".fy", ".fz", ".normal", ".points"};
static const char *const line[] = {".length", ".rate", ".tension"};
static const char *const rub[] = {".normal", ".dissipation"};
static const char *const xyz[] = {".x", ".y", ".z"};
static const char *const wxyz[] = {".w", ".x", ".y", ".z"};
static const char *const wrench[] = {".tx", ".ty", ".tz", ".fx", ".fy", ".fz"};

static const group groups[] = {
    {".q", NULL, 0, true, NEEDS_NOTHING, OF_BODIES, value_q},
    {".qd", NULL, 0, true, NEEDS_NOTHING, OF_BODIES, value_qd},
    {".tau", NULL, 0, true, NEEDS_FORCES, OF_BODIES, value_tau},
    {".tau", NULL, 0, true, NEEDS_FORCES, OF_MOTIONS, value_motor},
    {".qdd", NULL, 0, false, NEEDS_FORCES, OF_BODIES, value_qdd},
    {".pos", xyz, 3, false, NEEDS_KINEMATICS, OF_BODIES, value_position},
    {".quat", wxyz, 4, false, NEEDS_KINEMATICS, OF_BODIES, value_rotation},
    {".reaction", wrench, 6, false, NEEDS_FORCES, OF_BODIES, value_reaction},
    {".contact", touching, 5, false, NEEDS_NOTHING, OF_TOUCHING, value_contact},
    {"", line, 3, false, NEEDS_FORCES, OF_LINES, value_line},
    {".q", NULL, 0, true, NEEDS_FORCES, OF_MAPS, value_z},
    {".qd", NULL, 0, true, NEEDS_FORCES, OF_MAPS, value_zd},
    {".tau", NULL, 0, true, NEEDS_FORCES, OF_MAPS, value_ztau},
    {"", rub, 2, true, NEEDS_NOTHING, OF_RUBS, value_rub},
    {".friction", NULL, 0, true, NEEDS_NOTHING, OF_SLIDES, value_friction},
    {"", NULL, 0, false, NEEDS_FORCES, OF_CONSTRAINTS, value_constraint},
    {".force", NULL, 0, false, NEEDS_FORCES, OF_COURSES, value_motor}};

/* Channels of the whole: these names, in this order, come first. */
static const char *const whole[] = {"t",
                                    "T",
                                    "V",
                                    "E",
                                    "momentum.x",
                                    "momentum.y",
                                    "momentum.z",
                                    "angular_momentum.x",
                                    "angular_momentum.y",
                                    "angular_momentum.z",
                                    "com.x",
                                    "com.y",
                                    "com.z"};
enum { WHOLE_USUAL = 4 };

static double value_whole(const reading *r, int k) {
  const sn_energy *e = &r->energy;
  switch (k) {
  case 0:
    return r->state->t;
  case 1:
    return e->kinetic;
  case 2:
    return e->potential;
  case 3:
    return e->kinetic + e->potential;
  default:
    return sn_vec3_get(k < 7    ? e->momentum
                       : k < 10 ? e->angular_momentum
                                : e->center_of_mass,
                       (k - 4) % 3);
  }
}

/* ---- numbering ---- */

static bool is_of_motions(const group *g) {
  return g->of == OF_MOTIONS || g->of == OF_COURSES;
}

/* Channels of a motion.  No MOTION.tau if it bears the name of its joint, whose NAME.tau is there
 * already. */
static int motion_channels(const sn_model *m, const group *g, int k) {
  const int body = m->motion[k].body;
  const bool taken = g->of == OF_MOTIONS && strcmp(m->motion_name[k], m->name[body]) == 0;
  return taken ? 0 : sn_model_joint_dofs(m, body);
}

static int motion_coordinates(const sn_model *m, const group *g) {
  int n = 0;
  for (int k = 0; k < m->nmotion; k++) {
    n += motion_channels(m, g, k);
  }
  return n;
}

static int group_count(const sn_model *m, const group *g) {
  return is_of_motions(g)          ? motion_coordinates(m, g)
         : g->of == OF_TOUCHING    ? (m->touching ? m->tree.nbody * g->ncomponent : 0)
         : g->of == OF_LINES       ? m->nline * g->ncomponent
         : g->of == OF_MAPS        ? m->nmap_z
         : g->of == OF_RUBS        ? (m->nrub + m->ndrag) * g->ncomponent
         : g->of == OF_SLIDES      ? m->nslide + m->ndragged
         : g->of == OF_CONSTRAINTS ? m->constraint_channel[m->nconstraint]
         : g->ncomponent           ? m->tree.nbody * g->ncomponent
                                   : m->tree.nv;
}

typedef struct place {
  const group *g;                  /* NULL: of the whole */
  int k;                           /* of the whole: which */
  int body, component, coordinate; /* body: or line */
  int motion;                      /* -1: none */
} place;

static bool locate(const sn_model *m, int channel, place *p) {
  *p = (place){.k = channel, .motion = -1};
  if (channel < 0) {
    return false;
  }
  if (channel < SNI_COUNT(whole)) {
    return true;
  }
  channel -= SNI_COUNT(whole);
  for (int k = 0; k < SNI_COUNT(groups); k++) {
    const group *g = &groups[k];
    const int n = group_count(m, g);
    if (channel >= n) {
      channel -= n;
      continue;
    }
    p->g = g;
    if (is_of_motions(g)) {
      for (p->motion = 0; channel >= motion_channels(m, g, p->motion); p->motion++) {
        channel -= motion_channels(m, g, p->motion);
      }
      p->body = m->motion[p->motion].body;
      p->component = channel;
      p->coordinate = m->tree.vadr[p->body] + channel;
    } else if (g->of == OF_MAPS || g->of == OF_SLIDES || g->of == OF_CONSTRAINTS) {
      p->body = channel;
    } else if (g->ncomponent) {
      p->body = channel / g->ncomponent;
      p->component = channel % g->ncomponent;
    } else {
      p->coordinate = channel;
      p->body = sni_tree_body_of(&m->tree, channel);
      p->component = channel - m->tree.vadr[p->body];
    }
    return true;
  }
  return false;
}

/* The name of the body or loop whose joint rubs. */
static const char *rub_section(const sni_rub *own) {
  return own->body >= 0 ? "" : "loops.";
}
static const char *rub_name(const sn_model *m, const sni_rub *own) {
  return own->body >= 0 ? m->name[own->body] : m->constraint_name[own->loop];
}

/* The joint or loop of whose friction a channel's name tells, and what follows its own name;
 * NULL: none. */
static const sni_rub *find_rub(const sn_model *m, const char *name, const char **rest) {
  for (int k = 0; k < m->nrub + m->ndrag; k++) {
    const char *section = rub_section(&m->rub[k]), *own = rub_name(m, &m->rub[k]);
    const size_t before = strlen(section), n = strlen(own);
    if (strncmp(name, section, before) == 0 && strncmp(name + before, own, n) == 0 &&
        name[before + n] == '.') {
      *rest = name + before + n;
      return &m->rub[k];
    }
  }
  return NULL;
}

int sn_sim_channel_count(const sn_sim *sim) {
  int n = SNI_COUNT(whole);
  for (int k = 0; k < SNI_COUNT(groups); k++) {
    n += group_count(sim->m, &groups[k]);
  }
  return n;
}

const char *sn_sim_channel_name(const sn_sim *sim, int channel, char *out, size_t out_size) {
  const sn_model *m = sim->m;
  place p;
  if (!locate(m, channel, &p)) {
    return NULL;
  }
  if (!p.g) {
    snprintf(out, out_size, "%s", whole[p.k]);
    return out;
  }
  if (p.g->of == OF_MAPS) {
    int z = p.body;
    const int k = map_of(m, &z);
    snprintf(out, out_size, "%s.%s%s", m->map_name[k], m->map[k]->name[z], p.g->suffix);
    return out;
  }
  if (p.g->of == OF_CONSTRAINTS) {
    sni_constraint_channel_name(m, p.body, out, out_size);
    return out;
  }
  if (p.g->of == OF_SLIDES) {
    const sni_rub *own = rub_of(m, p.body);
    snprintf(out, out_size, own->nslide == 1 ? "%s%s%s" : "%s%s%s%d", rub_section(own),
             rub_name(m, own), p.g->suffix, p.body - own->first);
    return out;
  }
  if (p.g->of == OF_RUBS) {
    const sni_rub *own = &m->rub[p.body];
    snprintf(out, out_size, "%s%s%s", rub_section(own), rub_name(m, own),
             p.g->component[p.component]);
    return out;
  }
  const char *name = p.motion >= 0         ? m->motion_name[p.motion]
                     : p.g->of == OF_LINES ? m->force_name[m->line[p.body]]
                                           : m->name[p.body];
  const char *section = p.g->of == OF_COURSES ? "motions." : "";
  if (p.g->ncomponent) {
    snprintf(out, out_size, "%s%s%s", name, p.g->suffix, p.g->component[p.component]);
  } else if (sn_model_joint_dofs(m, p.body) == 1) {
    snprintf(out, out_size, "%s%s%s", section, name, p.g->suffix);
  } else {
    snprintf(out, out_size, "%s%s%s%d", section, name, p.g->suffix, p.component);
  }
  return out;
}

bool sn_sim_channel_usual(const sn_sim *sim, int channel) {
  place p;
  if (!locate(sim->m, channel, &p)) {
    return false;
  }
  if (p.g && p.g->of == OF_LINES) {
    return sni_force_kind(sim->m->force[sim->m->line[p.body]].kind)->recorded;
  }
  return p.g ? p.g->usual : channel < WHOLE_USUAL;
}

/* Channel of group g for a body (or motion) and what follows its suffix. */
static int find_in_group(const sn_model *m, const group *g, int first, int who, const char *rest) {
  int at = first;
  int body = who;
  if (is_of_motions(g)) {
    for (int k = 0; k < who; k++) {
      at += motion_channels(m, g, k);
    }
    body = m->motion[who].body;
  } else {
    at += g->ncomponent ? who * g->ncomponent : m->tree.vadr[who];
  }
  const int n = g->ncomponent ? g->ncomponent : sn_model_joint_dofs(m, body);
  for (int c = 0; c < n; c++) {
    char want[16];
    snprintf(want, sizeof want, "%d", c);
    if (g->ncomponent ? strcmp(g->component[c], rest) == 0
                      : strcmp(n == 1 ? "" : want, rest) == 0) {
      return at + c;
    }
  }
  return -1;
}

/* A way of a joint by what follows its name; -1: none. */
static int find_slide(const sni_rub *own, const group *g, const char *rest) {
  for (int k = 0; k < own->nslide; k++) {
    char want[32];
    snprintf(want, sizeof want, own->nslide == 1 ? "%s" : "%s%d", g->suffix, k);
    if (strcmp(want, rest) == 0) {
      return own->first + k;
    }
  }
  return -1;
}

/* A motion by its name at the start of a channel's, and what follows; -1: none that has channels.
 */
static int find_motion(const sn_model *m, const group *g, const char *name, const char **rest) {
  static const char section[] = "motions.";
  if (g->of == OF_COURSES) {
    if (strncmp(name, section, strlen(section)) != 0) {
      return -1;
    }
    name += strlen(section);
  }
  int found = -1;
  for (int k = 0; k < m->nmotion; k++) {
    const size_t n = strlen(m->motion_name[k]);
    if (motion_channels(m, g, k) > 0 && strncmp(name, m->motion_name[k], n) == 0 &&
        name[n] == '.') {
      found = k;
      *rest = name + n;
    }
  }
  return found;
}

/* Number of a map's coordinate by "NAME.coordinate" and *rest; -1: none. */
static int find_map(const sn_model *m, const char *name, const char **rest) {
  int first = 0;
  for (int k = 0; k < m->nmap; first += m->map[k++]->nz) {
    const size_t n = strlen(m->map_name[k]);
    for (int z = 0; strncmp(name, m->map_name[k], n) == 0 && name[n] == '.' && z < m->map[k]->nz;
         z++) {
      const size_t own = strlen(m->map[k]->name[z]);
      if (strncmp(name + n + 1, m->map[k]->name[z], own) == 0 && name[n + 1 + own] == '.') {
        *rest = name + n + 1 + own;
        return first + z;
      }
    }
  }
  return -1;
}

int sn_sim_channel_find(const sn_sim *sim, const char *name) {
  const sn_model *m = sim->m;
  for (int k = 0; k < SNI_COUNT(whole); k++) {
    if (strcmp(whole[k], name) == 0) {
      return k;
    }
  }
  const char *dot = strchr(name, '.');
  char owner[256];
  if (!dot || (size_t)(dot - name) >= sizeof owner) {
    return -1;
  }
  memcpy(owner, name, (size_t)(dot - name));
  owner[dot - name] = 0;
  const int body = sn_model_body_find(m, owner);
  int number = -1;
  for (int k = 0; k < m->nline; k++) {
    number = strcmp(m->force_name[m->line[k]], owner) == 0 ? k : number;
  }
  const char *rest = "", *of_rub = "";
  const sni_rub *rubs = find_rub(m, name, &of_rub);
  const int z = find_map(m, name, &rest);
  int first = SNI_COUNT(whole);
  for (int k = 0; k < SNI_COUNT(groups); k++) {
    const group *g = &groups[k];
    if (g->of == OF_MAPS) {
      if (z >= 0 && strcmp(rest, g->suffix) == 0) {
        return first + z;
      }
      first += group_count(m, g);
      continue;
    }
    if (g->of == OF_CONSTRAINTS) {
      const int n = sni_constraint_channel_find(m, name);
      if (n >= 0) {
        return first + n;
      }
      first += group_count(m, g);
      continue;
    }
    if (g->of == OF_SLIDES) {
      const int slide = rubs ? find_slide(rubs, g, of_rub) : -1;
      if (slide >= 0) {
        return first + slide;
      }
      first += group_count(m, g);
      continue;
    }
    const char *of_motion = "";
    const int who = is_of_motions(g)                       ? find_motion(m, g, name, &of_motion)
                    : g->of == OF_LINES                    ? number
                    : g->of == OF_TOUCHING && !m->touching ? -1
                    : g->of == OF_RUBS                     ? (rubs ? (int)(rubs - m->rub) : -1)
                                                           : body;
    const char *after = g->of == OF_RUBS ? of_rub : is_of_motions(g) ? of_motion : dot;
    const size_t n = strlen(g->suffix);
    if (who >= 0 && strncmp(after, g->suffix, n) == 0) {
      const int channel = find_in_group(m, g, first, who, after + n);
      if (channel >= 0) {
        return channel;
      }
    }
    first += group_count(m, g);
  }
  return -1;
}

/* What a channel needs: rates of a loop are found with its forces. */
static int needs_of(const sn_model *m, const place *p) {
  const sni_rub *own = !p->g                   ? NULL
                       : p->g->of == OF_RUBS   ? &m->rub[p->body]
                       : p->g->of == OF_SLIDES ? rub_of(m, p->body)
                                               : NULL;
  return !p->g                                             ? NEEDS_NOTHING
         : own && own->law == SNI_VISCOUS && own->body < 0 ? NEEDS_FORCES
                                                           : p->g->needs;
}

sn_status sn_sim_channels(sn_sim *sim, const sn_state *state, const sn_input *input,
                          const int *channel, int n, double *out, sn_error *err) {
  sn_status status = sni_sim_check_state(sim, state, err);
  if (status) {
    return status;
  }
  reading r = {.sim = sim, .state = state};
  int needs = NEEDS_NOTHING;
  bool energy = false, contacts = false;
  for (int k = 0; k < n; k++) {
    place p;
    if (!locate(sim->m, channel[k], &p)) {
      return sni_fail(err, SN_E_ARGUMENT, "there is no channel number %d", channel[k]);
    }
    energy = energy || (!p.g && p.k > 0);
    contacts = contacts || (p.g && p.g->of == OF_TOUCHING);
    const int own = needs_of(sim->m, &p);
    needs = own > needs ? own : needs;
  }
  if (energy) {
    status = sn_sim_energy(sim, state, &r.energy);
  } else if (needs == NEEDS_KINEMATICS) {
    status = sn_sim_poses(sim, state, NULL, NULL);
  }
  if (!status && needs == NEEDS_FORCES) {
    status = sni_sim_evaluate(sim, state, input, err);
  }
  if (status) {
    return status;
  }
  if (contacts) {
    r.led_here = sim->touch_mark == sni_state_mark(state);
  }
  for (int k = 0; k < n; k++) {
    place p;
    locate(sim->m, channel[k], &p);
    out[k] = p.g ? p.g->value(&r, p.body, p.component, p.coordinate) : value_whole(&r, p.k);
  }
  return SN_OK;
}
