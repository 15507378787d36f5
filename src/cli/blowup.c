/* blowup.c: has a motion blown up although its numbers are finite, and what may be to blame.
 *
 * Without drives, motions and functions of time, the energy of a mechanism does not rise.
 * Integrators err, by a part of the energies that come into play: the kinetic one of the start, the
 * one stored there, and that of the weight over the size of the mechanism.  A rise to FAR times the
 * largest of these is no error of that kind.  Where a step has failed as well, a rise to a multiple
 * is none.
 *
 * An explicit force in a step of redmax goes wrong where  h^2 k/m > 4  or  h d/m > 2,  with 1/m =
 * p^T J M_r^-1 J^T p  for the direction p in which it acts; rk4 bears 8 and 2.78. */
#include "cli/blowup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/sim.h"

#define FAR         1e3
#define FAR_STOPPED 2
enum { NAMED_MAX = 3 };

typedef struct look {
  sn_sim *sim;
  sn_state *start;
  double h;
  sn_se3 *E_wb;
  sn_vec6 *p; /* nbody  in the frames of the bodies, 0 between uses */
  double *x, *y;
  sni_term *term;
} look;

/* ---- what could explain it ---- */

/* Something feeds energy in: what, and how much, is not for us to say. */
static bool is_driven(const sn_model *m) {
  bool driven = m->nmotion > 0 || m->nguide > 0 || m->ndrive > 0;
  for (int f = 0; f < m->nforce; f++) {
    driven = driven || m->force[f].nfunction > 0 || m->force[f].active >= 0;
  }
  return driven;
}

/* m g L: the whole weight over the distance of the body that is farthest from the centre. */
static double weight_energy(const look *l) {
  const sn_model *m = l->sim->m;
  const double *g = l->sim->d.params.gravity;
  double mass = 0, size = 0;
  sn_vec3 centre = {0, 0, 0};
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < m->tree.nbody; i++) {
      const sn_inertia I = sni_params_inertia(&l->sim->d.params, i);
      const sn_vec3 x = sn_se3_point(l->E_wb[i], I.com);
      if (pass == 0) {
        mass += I.mass;
        centre = sn_vec3_addscaled(centre, I.mass, x);
      } else {
        const double arm = sn_vec3_norm(sn_vec3_sub(x, l->E_wb[i].p));
        size = fmax(size, sn_vec3_norm(sn_vec3_sub(x, centre)) + arm);
      }
    }
    centre = pass == 0 && mass > 0 ? sn_vec3_scale(centre, 1 / mass) : centre;
  }
  return mass * sn_vec3_norm((sn_vec3){g[0], g[1], g[2]}) * size;
}

/* ---- what is to blame ---- */

/* Every force is explicit in methods and integrators that know no tangents. */
static bool all_explicit(const sn_sim *sim) {
  return strcmp(sim->method->name, "redmax") != 0;
}

/* 1/m in the direction of a term. */
static double lightness(look *l, const sni_term *t) {
  const sn_model *m = l->sim->m;
  sn_error err;
  double sum = 0;
  for (int end = 0; end < 2; end++) {
    if (t->body[end] >= 0) {
      const sn_mat3 R = l->E_wb[t->body[end]].R;
      const sn_vec6 p = {sn_mat3_tmul_vec(R, t->p[end].w), sn_mat3_tmul_vec(R, t->p[end].v)};
      l->p[t->body[end]] = sn_vec6_add(l->p[t->body[end]], p);
    }
  }
  if (sn_sim_Jt_mul(l->sim, l->start, l->p, l->x) == SN_OK &&
      sn_sim_Minv_mul(l->sim, l->start, l->x, l->y, &err) == SN_OK) {
    for (int k = 0; k < m->tree.nv; k++) {
      sum += l->x[k] * l->y[k];
    }
  }
  for (int end = 0; end < 2; end++) {
    if (t->body[end] >= 0) {
      l->p[t->body[end]] = (sn_vec6){{0, 0, 0}, {0, 0, 0}};
    }
  }
  return sum;
}

/* The largest h^2 k/m and h d/m of an explicit force, in the initial pose. */
static void find_ratios(look *l, int f, double *stiff, double *damped) {
  sn_sim *sim = l->sim;
  const sn_model *m = sim->m;
  const sni_force *force = &m->force[f];
  const sni_force_ops *ops = sni_force_kind(force->kind);
  const double h = l->h;
  *stiff = *damped = 0;
  if (!ops->tangent || (force->implicit && !all_explicit(sim))) {
    return;
  }
  sni_dynamics_kinematics(&sim->d, sn_state_q(l->start), sn_state_qd(l->start));
  sni_dynamics_poses(&sim->d);
  const sni_force_eval e = sni_dynamics_force_eval(&sim->d, 0, 0, false);
  const int n =
      ops->tangent(&e, force, sim->d.params.force + force->param, SNI_TANGENT_MATERIAL, l->term);
  for (int k = 0; k < n; k++) {
    const double a = lightness(l, &l->term[k]);
    *stiff = fmax(*stiff, h * h * l->term[k].k * a);
    *damped = fmax(*damped, h * l->term[k].d * a);
  }
}

static void add(char *out, size_t size, const char *format, ...) SN_PRINTF(3, 4);
static void add(char *out, size_t size, const char *format, ...) {
  const size_t used = strlen(out);
  va_list args;
  va_start(args, format);
  vsnprintf(out + used, size - used, format, args);
  va_end(args);
}

/* Names the forces that are too stiff, or too strongly damped, for explicit steps of this length.
 * Returns how many there are. */
static int name_forces(look *l, char *out, size_t size) {
  const sn_model *m = l->sim->m;
  const bool rk4 = all_explicit(l->sim);
  const double most_stiff = rk4 ? 8 : 4, most_damped = rk4 ? 2.78 : 2;
  int n = 0;
  for (int f = 0; f < m->nforce; f++) {
    double stiff, damped;
    find_ratios(l, f, &stiff, &damped);
    if (stiff <= most_stiff && damped <= most_damped) {
      continue;
    }
    if (n < NAMED_MAX) {
      const bool k = stiff > most_stiff;
      add(out, size, "%sthe explicit force '%.40s' has %s = %.3g, stable below %g", n ? "; " : ": ",
          m->force_name[f], k ? "k h^2/m" : "d h/m", k ? stiff : damped,
          k ? most_stiff : most_damped);
    }
    n++;
  }
  if (n > NAMED_MAX) {
    add(out, size, "; %d more", n - NAMED_MAX);
  }
  return n;
}

/* ---- all of it ---- */

static bool look_begin(look *l, sn_sim *sim, double h) {
  const sni_tree *t = &sim->m->tree;
  int nterm = 1;
  for (int f = 0; f < sim->m->nforce; f++) {
    nterm = sim->m->force[f].nterm > nterm ? sim->m->force[f].nterm : nterm;
  }
  *l = (look){.sim = sim,
              .h = h,
              .E_wb = calloc((size_t)t->nbody + 1, sizeof *l->E_wb),
              .p = calloc((size_t)t->nbody + 1, sizeof *l->p),
              .x = calloc((size_t)t->nv + 1, sizeof *l->x),
              .y = calloc((size_t)t->nv + 1, sizeof *l->y),
              .term = calloc((size_t)nterm, sizeof *l->term)};
  return l->E_wb && l->p && l->x && l->y && l->term &&
         sn_state_create(sim->m, &l->start, NULL) == SN_OK &&
         sn_sim_poses(sim, l->start, l->E_wb, NULL) == SN_OK;
}

static void look_end(look *l) {
  sn_state_free(&l->start);
  free(l->E_wb);
  free(l->p);
  free(l->x);
  free(l->y);
  free(l->term);
}

bool cli_blowup(sn_sim *sim, double step, const cli_energies *e, sn_error *warning) {
  look l;
  bool blown = false;
  if (look_begin(&l, sim, step)) {
    const double scale = fmax(fmax(e->T0, fabs(e->V0)), weight_energy(&l));
    blown = scale > 0 && e->rise > (e->stopped ? FAR_STOPPED : FAR) * scale;
  }
  if (blown) {
    *warning = (sn_error){.code = SN_E_DIVERGED};
    char *out = warning->text;
    const size_t size = sizeof warning->text;
    add(out, size,
        "the energy rose by %.3g, which nothing explains: the motion has probably blown up",
        e->rise);
    const int named = name_forces(&l, out, size);
    blown = named > 0 || !is_driven(sim->m);
    add(out, size, "; take a smaller step%s",
        all_explicit(sim) ? ", or the method redmax with its implicit integrators"
        : named > 0       ? ", or say implicit: true"
                          : "");
  }
  look_end(&l);
  return blown;
}
