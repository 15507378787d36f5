/* forces/grab.c: a hand that holds a point of a body and goes where functions of time say.
 *
 *     f = k (x* - x) + d (x*' - x')                                      V = k |x* - x|^2 / 2
 *
 * A spring of length 0 to the ground, whose other end moves: what it has in common with one is left
 * to spring.c. */
#include "model/forces/line.h"

extern const sni_force_ops sni_force_spring;

enum { STIFFNESS, DAMPING, PARAMS };

static void grab_finish(sni_part_builder *b, const sn_force_def *def, sni_force *force,
                        double *param) {
  force->body[0] = b->body(b, "body", def->body);
  if (force->body[0] == -1) {
    b->fail(b, "body", "is the world, which does not move: needs a body");
  }
  b->point(b, "at", def->at);
  force->at[0] = def->at;
  force->nterm = 3 + SNI_LEVER_TERMS + SNI_TURNING_TERMS;
  sni_force_vector(b, "to", def->vector, force);
  if (def->stiffness < 0) {
    b->fail(b, "stiffness", "is %g, needs a number >= 0", def->stiffness);
  }
  param[STIFFNESS] = def->stiffness;
  param[DAMPING] =
      def->hand_damping < 0 ? 2 * sqrt(fmax(def->stiffness, 0) * b->mass(b)) : def->hand_damping;
}

/* The spring at e->t; rate: of its end in the world. */
typedef struct held {
  sni_force spring;
  double param[SNI_LINE_PARAMS];
  sn_vec3 rate;
} held;

static held hold(const sni_force_eval *e, const sni_force *f, const double *param) {
  held h = {
      .spring = *f,
      .param = {[SNI_LINE_STIFFNESS] = param[STIFFNESS], [SNI_LINE_DAMPING] = param[DAMPING]}};
  double x[3][3];
  for (int c = 0; c < 3; c++) {
    sni_function_eval(e->function[f->function[c]], e->t, e->t_ref, x[c]);
  }
  h.spring.at[1] = (sn_vec3){x[0][0], x[1][0], x[2][0]};
  h.rate = (sn_vec3){x[0][1], x[1][1], x[2][1]};
  return h;
}

static void grab_apply(const sni_force_eval *e, const sni_force *f, const double *param) {
  const held h = hold(e, f, param);
  sni_force_spring.apply(e, &h.spring, h.param);
  /* what the hand's own rate adds is not in any matrix */
  sni_force_push(e, f->body[0], sni_force_point(e->E_wb, f->body[0], f->at[0]),
                 sn_vec3_scale(h.rate, param[DAMPING]));
}

static int grab_tangent(const sni_force_eval *e, const sni_force *f, const double *param,
                        sni_tangent tangent, sni_term *term) {
  const held h = hold(e, f, param);
  return sni_force_spring.tangent(e, &h.spring, h.param, tangent, term);
}

static double grab_potential(const sni_force_eval *e, const sni_force *f, const double *param) {
  const held h = hold(e, f, param);
  return sni_force_spring.potential(e, &h.spring, h.param);
}

/* From the point to the hand. */
static sni_force_arrow grab_arrow(const sni_force_eval *e, const sni_force *f,
                                  const double *param) {
  const held h = hold(e, f, param);
  const sn_vec3 x = sni_force_point(e->E_wb, f->body[0], f->at[0]);
  return (sni_force_arrow){.body = f->body[0],
                           .kind = SNI_ARROW_HAND,
                           .point = x,
                           .vector = sn_vec3_sub(h.spring.at[1], x)};
}

static const char *const grab_param[PARAMS] = {"stiffness", "damping"};

static const sni_field grab_field[] = {
    {.key = "body",
     .type = SNI_F_NAME,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_force_def, body),
     .doc = "the body that is held"},
    {.key = "at",
     .type = SNI_F_VEC3,
     .offset = offsetof(sn_force_def, at),
     .unit = "m",
     .doc = "where, in the body's frame; default: its origin"},
    {.key = "to",
     .type = SNI_F_FUNCTION3,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_force_def, vector),
     .unit = "m",
     .doc = "where the hand is, in the world: three time functions"},
    {.key = "stiffness",
     .type = SNI_F_NUMBER,
     .flags = SNI_REQUIRED | SNI_NOT_NEGATIVE | SNI_TUNABLE,
     .offset = offsetof(sn_force_def, stiffness),
     .unit = "N/m",
     .doc = "pull for each unit of distance from the hand"},
    {.key = "damping",
     .type = SNI_F_NUMBER,
     .flags = SNI_NOT_NEGATIVE | SNI_TUNABLE,
     .offset = offsetof(sn_force_def, hand_damping),
     .unit = "N s/m",
     .doc = "pull for each unit of speed relative to the hand; default: critical for the mass of "
            "the whole model"}};

const sni_force_ops sni_force_grab = {.kind = {"grab", "a hand that pulls a point of a body along",
                                               grab_field, SNI_COUNT(grab_field)},
                                      .nparam = PARAMS,
                                      .param_key = grab_param,
                                      .finish = grab_finish,
                                      .apply = grab_apply,
                                      .tangent = grab_tangent,
                                      .potential = grab_potential,
                                      .arrow = grab_arrow};
