/* forces/line.c: the parts of the tangent of a force along a straight line. */
#include "model/forces/line.h"

const char *const sni_line_param[SNI_LINE_PARAMS] = {"stiffness", "damping", "rest_length"};

void sni_line_finish(sni_part_builder *b, const sn_force_def *def, sni_force *force,
                     double *param) {
  if (def->stiffness < 0 && !def->allow_negative) {
    b->fail(b, "stiffness",
            "is %g, needs a number >= 0; if it is meant to push away from its rest length, say "
            "allow_negative: true",
            def->stiffness);
  }
  if (def->damping < 0) {
    b->fail(b, "damping", "is %g, needs a number >= 0", def->damping);
  }
  force->negative = def->allow_negative;
  param[SNI_LINE_STIFFNESS] = def->stiffness;
  param[SNI_LINE_DAMPING] = def->damping;
  param[SNI_LINE_REST_LENGTH] = def->rest_length;
}

void sni_line_term(sni_term *term, int *n, sni_term add) {
  if (add.k != 0 || add.d != 0) {
    term[(*n)++] = add;
  }
}

void sni_line_across(sn_vec3 n, sn_vec3 out[2]) {
  const sn_vec3 least = fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z) ? (sn_vec3){1, 0, 0}
                        : fabs(n.y) <= fabs(n.z)                         ? (sn_vec3){0, 1, 0}
                                                                         : (sn_vec3){0, 0, 1};
  out[0] = sn_vec3_cross(n, least);
  out[0] = sn_vec3_scale(out[0], 1 / sn_vec3_norm(out[0]));
  out[1] = sn_vec3_cross(n, out[0]);
}

/* The axes of the lever part for unit vectors e along the pull and u along the arm: e + u, e - u
 * and their normal, made so that all is well when e and u are parallel. */
static void lever_axes(sn_vec3 e, sn_vec3 u, sn_vec3 axis[3]) {
  const int longer = sn_vec3_dot(e, u) >= 0 ? 0 : 1;
  const sn_vec3 sum = longer == 0 ? sn_vec3_add(e, u) : sn_vec3_sub(e, u);
  const sn_vec3 first = sn_vec3_scale(sum, 1 / sn_vec3_norm(sum));
  sn_vec3 normal = sn_vec3_cross(e, u), any[2];
  normal = sn_vec3_addscaled(normal, -sn_vec3_dot(normal, first), first);
  const double length = sn_vec3_norm(normal);
  sni_line_across(first, any);
  axis[longer] = first;
  axis[2] = length > 0 ? sn_vec3_scale(normal, 1 / length) : any[0];
  axis[1 - longer] = sn_vec3_cross(first, axis[2]);
}

/* The eigenvectors are known: with u+- halfway between n and +-r, the eigenvalues are
 * T ((r.n) -+ |r|)/2 along u+- and T (r.n) across both. */
void sni_line_levers(int body, sn_vec3 r, sn_vec3 f, sni_term *term, int *n) {
  const double T = sn_vec3_norm(f), arm = sn_vec3_norm(r);
  if (body < 0 || !(T > 0) || !(arm > 0)) {
    return;
  }
  const sn_vec3 e = sn_vec3_scale(f, 1 / T), u = sn_vec3_scale(r, 1 / arm);
  const double c = sn_vec3_dot(e, u); /* cosine between pull and arm */
  const double value[SNI_LEVER_TERMS] = {0.5 * T * arm * (c - 1), 0.5 * T * arm * (c + 1),
                                         T * arm * c};
  sn_vec3 axis[3];
  lever_axes(e, u, axis);
  for (int k = 0; k < SNI_LEVER_TERMS; k++) {
    sni_line_term(
        term, n,
        (sni_term){
            .k = value[k], .p = {{.w = axis[k]}}, .part = SNI_PART_LEVER, .body = {body, -1}});
  }
}

/* With u0, u1 across f the part is |f| ((v.u0)(w.u1) - (v.u1)(w.u0)), and a product is a difference
 * of two squares:  sum over s = +-1 of s (w + s v)^2 / 4  is  w v. */
void sni_line_turning(int body, sn_vec3 f, sni_term *term, int *n) {
  const double T = sn_vec3_norm(f);
  if (body < 0 || !(T > 0)) {
    return;
  }
  sn_vec3 u[2];
  sni_line_across(sn_vec3_scale(f, 1 / T), u);
  const struct {
    sn_vec3 v, w;
    double sign;
  } product[2] = {{u[0], u[1], 1}, {u[1], u[0], -1}};
  for (int k = 0; k < 2; k++) {
    for (int s = -1; s <= 1; s += 2) {
      const sn_vec6 p = {product[k].w, sn_vec3_scale(product[k].v, s)};
      sni_line_term(term, n,
                    (sni_term){.k = product[k].sign * s * T / 4,
                               .p = {p},
                               .part = SNI_PART_ACROSS,
                               .body = {body, -1}});
    }
  }
}
