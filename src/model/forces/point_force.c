/* forces/point_force.c: a force at a point of a body, and a torque on a body, in world or body
 * axes, as functions of time. */
#include "model/forces/line.h"

static void on_body(sni_part_builder *b, const sn_force_def *def, sni_force *force,
                    const char *key) {
  force->body[0] = b->body(b, "body", def->body);
  force->body[1] = -1;
  force->frame = def->frame;
  if (force->body[0] == -1) {
    b->fail(b, "body", "is the world, which does not move: needs a body");
  }
  sni_force_vector(b, key, def->vector, force);
}

static void point_force_finish(sni_part_builder *b, const sn_force_def *def, sni_force *force,
                               double *param) {
  (void)param;
  on_body(b, def, force, "force");
  b->point(b, "at", def->at);
  force->at[0] = def->at;
  force->nterm = SNI_LEVER_TERMS + SNI_TURNING_TERMS;
}

static void point_force_apply(const sni_force_eval *e, const sni_force *f, const double *param) {
  (void)param;
  sni_force_push(e, f->body[0], sni_force_point(e->E_wb, f->body[0], f->at[0]),
                 sni_force_vector_value(e, f));
}

/* A force of constant direction has an arm that turns with the body.  One that turns with the body
 * too has no such part, and no potential. */
static int point_force_tangent(const sni_force_eval *e, const sni_force *f, const double *param,
                               sni_tangent tangent, sni_term *term) {
  (void)param;
  int n = 0;
  if (f->frame == SN_FRAME_WORLD && tangent != SNI_TANGENT_MATERIAL) {
    const int body = f->body[0];
    const sn_vec3 push = sni_force_vector_value(e, f);
    const sn_vec3 arm = sn_mat3_mul_vec(e->E_wb[body].R, f->at[0]);
    sni_line_levers(body, arm, push, term, &n);
    if (tangent == SNI_TANGENT_EXACT) {
      sni_line_turning(body, push, term, &n);
    }
  }
  return n;
}

static sni_force_arrow point_force_arrow(const sni_force_eval *e, const sni_force *f,
                                         const double *param) {
  (void)param;
  return (sni_force_arrow){.body = f->body[0],
                           .point = sni_force_point(e->E_wb, f->body[0], f->at[0]),
                           .vector = sni_force_vector_value(e, f)};
}

static void body_torque_finish(sni_part_builder *b, const sn_force_def *def, sni_force *force,
                               double *param) {
  (void)param;
  on_body(b, def, force, "torque");
}

static void body_torque_apply(const sni_force_eval *e, const sni_force *f, const double *param) {
  (void)param;
  sn_vec6 *wrench = &e->wrench[f->body[0]];
  wrench->w = sn_vec3_add(wrench->w, sni_force_vector_value(e, f));
}

static sni_force_arrow body_torque_arrow(const sni_force_eval *e, const sni_force *f,
                                         const double *param) {
  (void)param;
  return (sni_force_arrow){.body = f->body[0],
                           .kind = SNI_ARROW_TORQUE,
                           .point = e->E_wb[f->body[0]].p,
                           .vector = sni_force_vector_value(e, f)};
}

#define FIELD_BODY                                                                                 \
  {                                                                                                \
    .key = "body", .type = SNI_F_NAME, .flags = SNI_REQUIRED,                                      \
    .offset = offsetof(sn_force_def, body), .doc = "the body that it acts on"                      \
  }
#define FIELD_FRAME                                                                                \
  {                                                                                                \
    .key = "frame", .type = SNI_F_CHOICE, .offset = offsetof(sn_force_def, frame),                 \
    .choices = "world|body", .doc = "the axes in which the vector is given"                        \
  }

static const sni_field point_force_field[] = {
    FIELD_BODY,
    {.key = "at",
     .type = SNI_F_VEC3,
     .offset = offsetof(sn_force_def, at),
     .unit = "m",
     .doc = "where, in the body's frame; default: its origin"},
    {.key = "force",
     .type = SNI_F_FUNCTION3,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_force_def, vector),
     .unit = "N",
     .doc = "three time functions"},
    FIELD_FRAME};

static const sni_field body_torque_field[] = {FIELD_BODY,
                                              {.key = "torque",
                                               .type = SNI_F_FUNCTION3,
                                               .flags = SNI_REQUIRED,
                                               .offset = offsetof(sn_force_def, vector),
                                               .unit = "N m",
                                               .doc = "three time functions"},
                                              FIELD_FRAME};

const sni_force_ops sni_force_point_force = {.kind = {"point_force", "a force at a point of a body",
                                                      point_force_field,
                                                      SNI_COUNT(point_force_field)},
                                             .finish = point_force_finish,
                                             .apply = point_force_apply,
                                             .tangent = point_force_tangent,
                                             .arrow = point_force_arrow};

const sni_force_ops sni_force_body_torque = {
    .kind = {"body_torque", "a torque on a body", body_torque_field, SNI_COUNT(body_torque_field)},
    .finish = body_torque_finish,
    .apply = body_torque_apply,
    .arrow = body_torque_arrow};
