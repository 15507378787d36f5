/* joints/composite.c: a chain of joints with nothing between them.
 *
 *     Q = Q1 Q2 ...     S = (Ad(Q2^-1) S1, S2)
 *     Sdot = (Ad(Q2^-1) Sdot1 - ad(S2 qd2) Ad(Q2^-1) S1, Sdot2)                     [RMS 45-51]
 *
 * nested for more than two.  The columns must be independent: a hinge in front of a ball adds
 * nothing and makes the mass matrix singular, so it is refused. */
#include "math/dense.h"
#include "model/joint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 8
#define DEPTH_MAX 4

/* In the pool: E_pb0, then the constant columns S0 of every coordinate. */
#define S0_OFFSET ((int)(sizeof(sn_se3) / sizeof(double)))

static int reserve_parts(sni_joint_builder *b, int n) {
  if (b->npart + n > b->part_capacity) {
    const int capacity = 2 * b->part_capacity + n + 16;
    sni_joint *part = realloc(b->part, (size_t)capacity * sizeof *part);
    if (!part) {
      b->out_of_memory = true;
      return -1;
    }
    b->part = part;
    b->part_capacity = capacity;
  }
  b->npart += n;
  return b->npart - n;
}

/* One part added to the chain: the columns so far move into its frame, its own are appended. */
static int append(sn_se3 Qk, int nk, const sn_vec6 *Sk, const sn_vec6 *Sdotk, const double *qdk,
                  int n, sn_vec6 *S, sn_vec6 *Sdot) {
  sn_vec6 phi = {0};
  for (int c = 0; c < nk; c++) {
    phi = sn_vec6_addscaled(phi, qdk[c], Sk[c]);
  }
  for (int c = 0; c < n; c++) {
    S[c] = sn_Adinv_mul(Qk, S[c]);
    Sdot[c] = sn_vec6_sub(sn_Adinv_mul(Qk, Sdot[c]), sn_ad_mul(phi, S[c]));
  }
  for (int c = 0; c < nk; c++) {
    S[n + c] = Sk[c];
    Sdot[n + c] = Sdotk[c];
  }
  return n + nk;
}

static void composite_calc(sni_joint_set set, int first, int count, const double *q,
                           const double *qd, sni_joint_out out) {
  int adr = 0; /* composites of one run may differ in the number of coordinates */
  for (int k = 0; k < count; k++) {
    const sni_joint *joint = &set.joint[first + k];
    const double *data = set.pool + joint->data;
    sn_se3 E = sni_joint_load_pose(data);
    sn_vec6 *S = out.S + adr, *Sdot = out.Sdot + adr;
    int n = 0;
    for (int p = joint->part_first; p < joint->part_first + joint->npart; p++) {
      const int nk = set.joint[p].nv;
      const double *qk = q + adr + n, *qdk = qd + adr + n;
      sn_se3 Qk;
      sn_vec6 Sk[SN_NV_MAX], Sdotk[SN_NV_MAX];
      memcpy(Sk, data + S0_OFFSET + 6 * n, (size_t)nk * sizeof *Sk);
      memset(Sdotk, 0, sizeof Sdotk);
      sni_joint_ops_of(set, p)->calc(set, p, 1, qk, qdk, (sni_joint_out){&Qk, Sk, Sdotk});
      E = sn_se3_mul(E, Qk);
      n = append(Qk, nk, Sk, Sdotk, qdk, n, S, Sdot);
    }
    out.E_pb[k] = E;
    adr += joint->nv;
  }
}

static void composite_range(sni_joint_set set, int j, double far, sni_range *out) {
  const sni_joint *joint = &set.joint[j];
  for (int p = joint->part_first, n = 0; p < joint->part_first + joint->npart; p++) {
    sni_joint_range(set, p, far, out + n);
    n += set.joint[p].nv;
  }
}

/* Rank of S, the best over a few unspecial configurations.  b->part is the joint list here. */
static int best_rank(const sni_joint_builder *b, const sni_joint *joint) {
  int best = 0;
  const sni_joint_set set = {b->part, b->pool};
  for (int trial = 0; trial < 4; trial++) {
    double q[SN_NV_MAX], qd[SN_NV_MAX] = {0}, A[6 * SN_NV_MAX];
    for (int i = 0; i < SN_NV_MAX; i++) {
      q[i] = 0.37 + 0.71 * i + 0.53 * trial - 0.09 * i * trial;
    }
    sn_se3 E;
    sn_vec6 S[SN_NV_MAX], Sdot[SN_NV_MAX];
    /* the joint itself is not in the list: evaluate it from a list of one that shares the pool */
    sni_joint *list = malloc((size_t)(b->npart + 1) * sizeof *list);
    if (!list) {
      return joint->nv;
    }
    memcpy(list, b->part, (size_t)b->npart * sizeof *list);
    list[b->npart] = *joint;
    composite_calc((sni_joint_set){list, set.pool}, b->npart, 1, q, qd,
                   (sni_joint_out){&E, S, Sdot});
    free(list);
    for (int c = 0; c < joint->nv; c++) {
      for (int r = 0; r < 6; r++) {
        A[r * joint->nv + c] = sn_vec6_get(S[c], r);
      }
    }
    const int rank = sni_column_rank(6, joint->nv, A, 1e-8);
    best = rank > best ? rank : best;
  }
  return best;
}

static int nesting(const sn_joint_def *def) {
  int deepest = 0;
  for (int p = 0; p < def->npart && deepest <= DEPTH_MAX; p++) {
    if (def->parts[p].npart > 0) {
      const int depth = nesting(&def->parts[p]);
      deepest = depth > deepest ? depth : deepest;
    }
  }
  return deepest + 1;
}

static bool same_pose(sn_se3 a, sn_se3 b) {
  double x[sizeof a / sizeof(double)], y[sizeof x / sizeof *x];
  bool same = true;
  memcpy(x, &a, sizeof x);
  memcpy(y, &b, sizeof y);
  for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
    same = same && x[k] == y[k];
  }
  return same;
}

static bool is_placed(const sn_joint_def *part) {
  return !same_pose(part->at, sn_se3_identity()) && !same_pose(part->at, (sn_se3){0});
}

/* Fixed parts are there to be placed. */
static bool is_fixed(const sn_joint_def *part) {
  return part->type && strcmp(part->type, "fixed") == 0;
}

/* What belongs to the joint as a whole; the key that a part has none the less, or NULL. */
static const char *not_of_a_part(const sn_joint_def *part) {
  return is_placed(part) && !is_fixed(part)       ? "at"
         : part->stiffness.n > 0                  ? "stiffness"
         : part->damping.n > 0                    ? "damping"
         : part->rest.n > 0                       ? "rest"
         : part->armature.n > 0                   ? "armature"
         : part->lower.n > 0 || part->upper.n > 0 ? "limits"
         : part->cone.enabled                     ? "cone"
         : part->friction.enabled                 ? "friction"
         : part->backlash.enabled                 ? "backlash"
         : part->drive.enabled                    ? "drive"
                                                  : NULL;
}

static sn_status composite_finish(sni_joint_builder *b, const sn_joint_def *def, sni_joint *joint,
                                  sn_vec6 *S0, sn_error *err) {
  (void)S0;
  if (def->npart < 1 || def->npart > PARTS_MAX) {
    return sni_fail_key(err, "parts", "has %d parts, needs 1 to %d", def->npart, PARTS_MAX);
  }
  if (nesting(def) > DEPTH_MAX) {
    return sni_fail_key(err, "parts", "nested deeper than %d", DEPTH_MAX);
  }
  joint->part_first = reserve_parts(b, def->npart);
  joint->npart = def->npart;
  joint->nv = 0;
  if (b->out_of_memory) {
    return SN_E_MEMORY;
  }
  sn_vec6 columns[PARTS_MAX * SN_NV_MAX] = {0};
  for (int p = 0; p < def->npart; p++) {
    sni_joint part;
    sn_joint_def part_def = def->parts[p];
    const char *extra = not_of_a_part(&part_def);
    if (extra) {
      char key[SN_ERROR_WHERE_MAX];
      snprintf(key, sizeof key, "parts[%d].%s", p, extra);
      return sni_fail_key(err, key, "a part has none of its own: give it to the whole joint%s",
                          strcmp(extra, "at") == 0 ? ", or to a fixed part before it"
                                                   : ", a number for each coordinate");
    }
    if (!is_placed(&part_def)) {
      part_def.at = sn_se3_identity();
    } else if (!sn_se3_is_pose(part_def.at)) {
      char key[SN_ERROR_WHERE_MAX];
      snprintf(key, sizeof key, "parts[%d].at", p);
      return sni_fail_key(err, key, "is not a pose: needs finite numbers and a rotation");
    }
    sn_error part_err = {0};
    const sn_status status = sni_joint_finish(b, &part_def, &part, columns + joint->nv, &part_err);
    if (status) {
      char key[SN_ERROR_WHERE_MAX];
      snprintf(key, sizeof key, "parts[%d].%.200s", p, part_err.path);
      return status == SN_E_MEMORY ? status : sni_fail_key(err, key, "%s", part_err.text);
    }
    b->part[joint->part_first + p] = part;
    joint->nv += part.nv;
    if (joint->nv > SN_NV_MAX) {
      return sni_fail_key(err, "parts", "have more than %d coordinates together", SN_NV_MAX);
    }
  }
  if (!sni_joint_store_pose(b, def->at, &joint->data)) {
    return SN_E_MEMORY;
  }
  int at = 0;
  double *S0_pool = sni_joint_pool(b, 6 * joint->nv, &at);
  if (!S0_pool) {
    return SN_E_MEMORY;
  }
  memcpy(S0_pool, columns, (size_t)joint->nv * sizeof(sn_vec6));
  const int rank = best_rank(b, joint);
  if (rank < joint->nv) {
    return sni_fail_key(err, "parts",
                        "have %d coordinates but only %d independent motions: leave out the "
                        "part that repeats another",
                        joint->nv, rank);
  }
  return SN_OK;
}

static bool composite_reparam(sni_joint_set set, int j, double *q, double *qd) {
  bool changed = false;
  const sni_joint *joint = &set.joint[j];
  for (int p = joint->part_first, n = 0; p < joint->part_first + joint->npart; p++) {
    const sni_joint_ops *ops = sni_joint_ops_of(set, p);
    changed |= ops->reparam && ops->reparam(set, p, q + n, qd + n);
    n += set.joint[p].nv;
  }
  return changed;
}

/* The part of a spring that acts on the coordinates from n on. */
static sni_spring part_of(const sni_spring *s, int n) {
  return (sni_spring){s->q + n,
                      s->qd + n,
                      s->q_to + n,
                      s->qd_to + n,
                      s->stiffness + n,
                      s->damping + n,
                      s->max_force ? s->max_force + n : NULL};
}

static double composite_spring(sni_joint_set set, int j, const sni_spring *s, double *tau) {
  double energy = 0;
  const sni_joint *joint = &set.joint[j];
  for (int p = joint->part_first, n = 0; p < joint->part_first + joint->npart; p++) {
    const sni_spring part = part_of(s, n);
    energy += sni_joint_spring(set, p, &part, tau + n);
    n += set.joint[p].nv;
  }
  return energy;
}

static void composite_matrix(sni_joint_set set, int j, const sni_spring *s, double h, double *out,
                             int ld) {
  const sni_joint *joint = &set.joint[j];
  for (int p = joint->part_first, n = 0; p < joint->part_first + joint->npart; p++) {
    const sni_spring part = part_of(s, n);
    sni_joint_spring_matrix(set, p, &part, h, out + n * ld + n, ld);
    n += set.joint[p].nv;
  }
}

static const sni_field composite_field[] = {
    {.key = "parts",
     .type = SNI_F_PARTS,
     .flags = SNI_REQUIRED,
     .offset = offsetof(sn_joint_def, parts),
     .offset2 = offsetof(sn_joint_def, npart),
     .doc = "joints in a row, from the parent to the body: [{type: revolute, axis: ...}, ...]; "
            "one of type fixed has an at, and places what comes after it"}};

const sni_joint_ops sni_joint_composite = {
    .kind = {"composite", "joints in a row with nothing between them; q = theirs in order",
             composite_field, SNI_COUNT(composite_field)},
    .nv = -1,
    .finish = composite_finish,
    .calc = composite_calc,
    .range = composite_range,
    .reparam = composite_reparam,
    .spring = composite_spring,
    .spring_matrix = composite_matrix};
