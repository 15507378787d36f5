/* mass.c: mass and inertia of a body, from its shapes or as given, and which of them can exist. */
#include "model/mass.h"

#include <stdio.h>

static sn_status check_shape(const sn_shape_def *shape, const sni_mesh *mesh, sn_error *err) {
  const sn_status status = sni_shape_check(shape, err);
  if (status) {
    return status;
  }
  const bool needs_mesh = sni_shape_kind(sni_shape_kind_find(shape->type))->needs_mesh;
  return needs_mesh && !mesh && shape->density > 0 ? sni_fail_key(err, "file", "is not loaded")
                                                   : SN_OK;
}

sn_status sni_body_inertia(const sn_body_def *def, const sni_mesh *const *mesh, sn_inertia *out,
                           sn_error *err) {
  sn_inertia sum = {0};
  for (int k = 0; k < def->nshape && !def->has_inertia; k++) {
    const sni_mesh *loaded = mesh ? mesh[k] : NULL;
    sn_error inner = {0};
    const sn_status status = check_shape(&def->shapes[k], loaded, &inner);
    if (status) {
      sni_fail(err, status, "%s", inner.text);
      if (err) {
        snprintf(err->path, sizeof err->path, "shapes[%d].%.200s", k, inner.path);
      }
      return status;
    }
    sum = sn_inertia_add(sum, sni_shape_mass(&def->shapes[k], loaded));
  }
  *out = def->has_inertia ? def->inertia : sum;
  return SN_OK;
}

static sn_status check_finite(const sn_inertia *I, sn_error *err) {
  const struct {
    const char *name;
    double value;
  } number[] = {{"mass", I->mass}, {"xx", I->xx}, {"yy", I->yy}, {"zz", I->zz},
                {"xy", I->xy},     {"xz", I->xz}, {"yz", I->yz}};
  for (int k = 0; k < SNI_COUNT(number); k++) {
    if (!isfinite(number[k].value)) {
      return sni_fail(err, SN_E_VALUE, "%s is %g, needs a finite number", number[k].name,
                      number[k].value);
    }
  }
  if (!sn_vec3_finite(I->com)) {
    return sni_fail(err, SN_E_VALUE, "centre of mass is [%g, %g, %g], needs finite numbers",
                    I->com.x, I->com.y, I->com.z);
  }
  return SN_OK;
}

/* A lamina, whose largest moment equals the sum of the others, must pass although its numbers are
 * rounded: to six digits, as people type them and as robot descriptions print them. */
#define ROUNDING       1e-9 /* of a moment that should be zero */
#define TYPED_ROUNDING 1e-5 /* of the triangle inequality      */

sn_status sni_inertia_check(const sn_inertia *I, bool may_be_massless, sn_error *err) {
  if (check_finite(I, err)) {
    return SN_E_VALUE;
  }
  if (I->mass < 0 || (I->mass == 0 && !may_be_massless)) {
    return sni_fail(err, SN_E_VALUE, "mass is %g, needs > 0", I->mass);
  }
  double moment[3];
  sn_sym3_eigen(sn_inertia_tensor(*I), moment, NULL);
  const double scale = fmax(fabs(moment[0]), fabs(moment[2]));
  const double others = moment[0] + moment[1];
  if (!(moment[0] >= -ROUNDING * scale)) { /* this way round so that NaN fails too */
    return sni_fail(err, SN_E_VALUE, "principal moments %.10g, %.10g, %.10g: none may be negative",
                    moment[0], moment[1], moment[2]);
  }
  if (I->mass == 0 && moment[2] > 0) {
    return sni_fail(err, SN_E_VALUE,
                    "principal moments %.10g, %.10g, %.10g without mass: needs mass > 0, or "
                    "moments 0",
                    moment[0], moment[1], moment[2]);
  }
  if (!(moment[2] <= others + TYPED_ROUNDING * scale)) {
    return sni_fail(err, SN_E_VALUE,
                    "principal moments %.10g, %.10g, %.10g break the triangle inequality (largest "
                    "must be <= sum of the others %.10g): no body has such an inertia",
                    moment[0], moment[1], moment[2], others);
  }
  return SN_OK;
}
