/* kkt_fill.c: the values of the graph.  What never changes has none (sni_ldl_kind), and nothing is
 * cleared that will be written anyway: large graphs do not fit into any cache. */
#include "base/memory.h"
#include "dynamics/doubt.h"
#include "dynamics/kkt_parts.h"

#include <string.h>

#define AHEAD 4 /* bodies, and constraints, of what is expected */

/* ---- bodies ---- */

/* The upper triangle of 6x6 out of lanes, row by row. */
static void store_art(double *out, const sni_art *a) {
  for (int i = 0; i < 3; i++) {
    for (int j = i; j < 3; j++) {
      *out++ = a->A[j][i];
    }
    for (int j = 0; j < 3; j++) {
      *out++ = a->Bt[i][j];
    }
  }
  for (int i = 0; i < 3; i++) {
    for (int j = i; j < 3; j++) {
      *out++ = a->C[j][i];
    }
  }
}

static void add_art(sni_art *sum, const sni_art *a) {
  for (int j = 0; j < 3; j++) {
    sum->A[j] += a->A[j];
    sum->Bt[j] += a->Bt[j];
    sum->C[j] += a->C[j];
  }
}

static void fill_joint(sni_kkt *k, const sni_aba_in *in, int i) {
  const sni_tree *t = &k->d->m->tree;
  const sni_work *w = &k->d->w;
  const int adr = t->vadr[i], nv = t->joint[i].nv;
  double *S = sni_ldl_block(k->ldl, k->joint[i]), *own = sni_ldl_block(k->ldl, k->own[i]);
  for (int c = 0; c < nv; c++) {
    for (int j = 0; j < 3; j++) {
      S[j * nv + c] = -w->S[adr + c].w[j];
      S[(j + 3) * nv + c] = -w->S[adr + c].v[j];
    }
  }
  if (in->joint_matrix) {
    memcpy(own, in->joint_matrix + t->factor[i], (size_t)(nv * nv) * sizeof(double));
    return;
  }
  memset(own, 0, (size_t)(nv * nv) * sizeof(double));
  for (int c = 0; c < nv; c++) {
    own[c * nv + c] = in->armature[adr + c];
  }
}

static void fill_body(sni_kkt *k, const sni_aba_in *in, int i) {
  const sni_work *w = &k->d->w;
  sni_art block;
  sni_mass_block(&in->mass[i], &w->link[i], &block);
  sni_brace_add(in, i, block.A);
  if (in->extra && in->extra_of[i] >= 0) {
    add_art(&block, &in->extra[in->extra_of[i]]);
  }
  store_art(sni_ldl_block(k->ldl, k->mass[i]), &block);
  if (k->shift[i] >= 0) {
    double *arm = sni_ldl_block(k->ldl, k->shift[i]);
    for (int j = 0; j < 3; j++) {
      arm[j] = w->r[i][j];
    }
  }
  if (k->qd[i] >= 0) {
    fill_joint(k, in, i);
  }
}

SNI_EXPECT_FN void expect_body(const sni_kkt *k, const sni_aba_in *in, int i) {
  const sni_work *w = &k->d->w;
  sni_memory_expect(&w->link[i], sizeof w->link[i].R);
  sni_memory_expect(&in->mass[i], sizeof in->mass[i]);
  sni_memory_expect(&w->S[k->d->m->tree.vadr[i]], 3 * sizeof *w->S);
  if (k->phi[i] >= 0) {
    sni_ldl_expect(k->ldl, k->mass[i], 21);
  }
  if (k->shift[i] >= 0) {
    sni_ldl_expect(k->ldl, k->shift[i], 3);
  }
}

/* ---- constraints ---- */

/* Line l of a constraint's blocks from one of its rows; NULL: nothing. */
static void fill_line(sni_kkt *k, int c, int l, const sni_row *row) {
  const sni_tree *t = &k->d->m->tree;
  for (int side = 0; side < 2; side++) {
    if (k->con_side[2 * c + side] >= 0) {
      double *out = sni_ldl_block(k->ldl, k->con_side[2 * c + side]) + 6 * l;
      const sn_vec6 p = row ? row->p[side] : (sn_vec6){{0, 0, 0}, {0, 0, 0}};
      const double x[6] = {p.w.x, p.w.y, p.w.z, p.v.x, p.v.y, p.v.z};
      memcpy(out, x, sizeof x);
    }
  }
  for (int j = 0; row && j < row->ncoord; j++) {
    const int i = sni_tree_body_of(t, row->coord[j]), nv = t->joint[i].nv;
    double *out = sni_ldl_block(k->ldl, k->con_coord[SNI_COORD_MAX * c + j]);
    out[l * nv + row->coord[j] - t->vadr[i]] += row->coef[j];
  }
}

/* Its blocks with rates: a line has few of these. */
static void clear_coords(sni_kkt *k, int c) {
  const sni_tree *t = &k->d->m->tree;
  const sni_constraint *con = &k->d->rows->constraint[c];
  for (int j = 0; j < con->ncoord; j++) {
    const int nv = t->joint[sni_tree_body_of(t, con->coord[j])].nv;
    double *out = sni_ldl_block(k->ldl, k->con_coord[SNI_COORD_MAX * c + j]);
    memset(out, 0, (size_t)(con->nrow * nv) * sizeof *out);
  }
}

/* Between bodies that are fixed to the ground: it has nobody to push. */
static bool is_idle(const sni_kkt *k, int c, const sni_row *row) {
  return k->con_side[2 * c] < 0 && k->con_side[2 * c + 1] < 0 && row->ncoord == 0;
}

/* Which of its rows, `first` on, have nothing to say; none of those that give way. */
static void doubt(sni_kkt *k, int c, const sni_rows *rows, int first, bool soft) {
  int n = 0;
  while (first + n < k->nrow && rows->of[first + n] == c) {
    n++;
  }
  const unsigned out = soft ? 0 : sni_doubt_rows(k->d, rows->row + first, n, k->doubted);
  for (int i = 0; i < n; i++) {
    k->out[first + i] = out >> i & 1;
    k->nout += k->out[first + i];
  }
}

/* From its rows that are active, `first` on; returns where these end. */
static int fill_constraint(sni_kkt *k, int c, const sni_rows *rows, int first, const double *soft) {
  const int n = k->con_size[c];
  double *own = n > 0 ? sni_ldl_block(k->ldl, k->con_own[c]) : NULL;
  int i = first;
  if (k->con_coord[SNI_COORD_MAX * c] >= 0) {
    clear_coords(k, c);
  }
  for (int l = 0; l < n; l++) {
    const bool active = i < k->nrow && rows->of[i] == c;
    const bool sided = active && rows->row[i].one_sided;
    const bool in =
        active && !k->out[i] && !is_idle(k, c, &rows->row[i]) && (!sided || rows->u.in[i]);
    fill_line(k, c, l, in ? &rows->row[i] : NULL);
    /* where it is not in, lambda is 0 */
    own[l] = !in ? -1 : soft ? -soft[i] : sided ? -rows->u.soft[i] : 0;
    if (active) {
      k->row_at[i++] = k->con_row[c] + l;
    }
  }
  return i;
}

SNI_EXPECT_FN void expect_constraint(const sni_kkt *k, int c) {
  const int n = k->con_size[c];
  if (n > 0) {
    sni_ldl_expect(k->ldl, k->con_own[c], n);
  }
  for (int side = 0; side < 2; side++) {
    if (k->con_side[2 * c + side] >= 0) {
      sni_ldl_expect(k->ldl, k->con_side[2 * c + side], 6 * n);
    }
  }
}

static void fill_rows(sni_kkt *k, const sni_rows *rows, const double *soft) {
  k->nout = 0;
  for (int c = 0, i = 0; c < k->ncon; c++) {
    doubt(k, c, rows, i, soft != NULL);
    if (c + AHEAD < k->ncon) {
      expect_constraint(k, c + AHEAD);
    }
    i = fill_constraint(k, c, rows, i, soft);
  }
}

/* ---- all of it ---- */

void sni_kkt_set_rows(sni_kkt *k, const sni_rows *rows) {
  k->begun = false;
  k->nrow = rows ? rows->nrow : 0;
  if (k->reduced) {
    sni_kkt_reduced_set_rows(k->reduced, rows);
  } else if (!k->lost) {
    fill_rows(k, rows, NULL);
  }
}

void sni_kkt_add_pair(sni_kkt *k, int pair, double c, sni_lane6 p, sni_lane6 q) {
  if (k->reduced) {
    sni_kkt_reduced_add_pair(k->reduced, pair, c, p, q);
    return;
  }
  if (k->lost) {
    return;
  }
  double *out = sni_ldl_block(k->ldl, k->pair[pair]);
  for (int i = 0; i < 6; i++) {
    const double x = c * (i < 3 ? p.w[i] : p.v[i - 3]);
    for (int j = 0; j < 3; j++) {
      out[6 * i + j] += x * q.w[j];
      out[6 * i + 3 + j] += x * q.v[j];
    }
  }
}

void sni_kkt_fill(sni_kkt *k, const sni_aba_in *in, const sni_rows *rows, const double *soft) {
  k->begun = false;
  k->nrow = rows ? rows->nrow : 0;
  if (k->reduced) {
    sni_kkt_reduced_fill(k->reduced, in, rows);
    return;
  }
  const sni_tree *t = &k->d->m->tree;
  bool outgrown = false;
  for (int i = 0; !in->bare_joints && i < t->nbody; i++) {
    if (k->is_bare[i] && !sni_bare_stays(t, in, i)) {
      k->is_bare[i] = false;
      outgrown = true;
    }
  }
  if (outgrown) {
    sni_kkt_build_anew(k);
  }
  if (k->lost) {
    return;
  }
  for (int n = 0; n < k->npairs; n++) {
    if (k->pair[n] >= 0) {
      memset(sni_ldl_block(k->ldl, k->pair[n]), 0, 36 * sizeof(double));
    }
  }
  for (int i = 0; i < t->nbody; i++) {
    if (i + AHEAD < t->nbody) {
      expect_body(k, in, i + AHEAD);
    }
    if (k->phi[i] >= 0) {
      fill_body(k, in, i);
    }
    if (k->is_bare[i]) {
      sni_bare_look(k->d, i, &k->bare[i]);
    }
  }
  fill_rows(k, rows, soft);
}
