/* block_ldl_parts.h: what the files of block_ldl share.
 *
 * A tile is one node, or a few that are eliminated one after the other and have nearly the same
 * column below, up to 8 scalars together.  Column t of U = L^T is a row of blocks: for each tile i
 * below t, size[t] rows of `lanes` scalars, lanes being 4 or 8, what i needs, and the rest zero. So
 * every inner loop runs along the scalars of i, in whole vectors.
 *
 * Vectors by tiles have the scalars of a tile at tile.vector, `lanes` of them; vectors by nodes are
 * those of the caller. */
#ifndef SNI_BLOCK_LDL_PARTS_H
#define SNI_BLOCK_LDL_PARTS_H

#include "linear/block_ldl.h"

#define TILE_MAX 8

typedef struct sni_ldl_tile { /* each "first" up to the one of the next tile       */
  uint8_t size;               /* scalars                                           */
  uint8_t lanes;              /* 4 or 8                                            */
  uint8_t negative;           /* bit p: pivot p is of a node of sign -1            */
  uint8_t turned;             /* by factorise: its own block has W, see there      */
  int vector;                 /* its place in vectors by tiles                     */
  int below;                  /* first of its column in sni_ldl.below              */
  int before;                 /* first of its row in sni_ldl.before                */
  int input;                  /* first of its column in sni_ldl.input              */
  uint32_t diagonal;          /* its own block, from the start of the column       */
  size_t column;              /* start of its column in U                          */
  size_t value;               /* start of the values of its inputs                 */
} sni_ldl_tile;

typedef struct sni_ldl_below { /* a block of column t under the diagonal               */
  int tile;                    /* its row                                              */
  uint32_t at;                 /* from the start of the column: size[t] rows of lanes  */
} sni_ldl_below;

typedef struct sni_ldl_before { /* a block of row t left of the diagonal               */
  int tile;                     /* its column                                          */
  int below;                    /* its entry in sni_ldl.below                          */
} sni_ldl_before;

/* A block of A as it is given. */
typedef struct sni_ldl_input {
  int row, col;       /* its first scalars in vectors by tiles                         */
  uint32_t to;        /* its first scalar in U, from the start of the column           */
  uint32_t mirror;    /* the same for its transpose, in a diagonal tile; 0: none       */
  uint8_t rows, cols; /* its size                                                      */
  uint8_t kind;       /* SNI_LDL_...                                                   */
  uint8_t lanes;      /* of the block of U that it goes to                             */
  bool transposed;    /* in U                                                          */
  bool row_told;      /* the size m of its rows follows from that of its columns       */
  bool col_told;      /* or the other way round                                        */
} sni_ldl_input;

struct sni_ldl {
  sni_arena arena;
  sni_ldl_options options;
  sni_ldl_counts counts;
  int node_count, tile_count, block_count, scalar_count, vector_count;
  size_t U_count;
  int ahead; /* tiles, of what is fetched before it is needed; 0: all stays in a near cache */
  /* structure */
  sni_ldl_tile *tile;     /* tile_count + 1, in the order of elimination                */
  sni_ldl_below *below;   /* by columns, ascending                                      */
  sni_ldl_before *before; /* by rows, ascending                                         */
  sni_ldl_input *input;   /* block_count, by the column that they go to                 */
  int *reach;             /* tile_count: the last tile that inputs up to this column touch */
  size_t *block_at;       /* block_count: values of block k                             */
  int *node_row;          /* node_count + 1: first scalar of a node in vectors by nodes */
  int *scalar_at;         /* scalar_count: place in vectors by tiles                    */
  int *scalar_of;         /* vector_count: the other way round; -1: there is none       */
  /* A */
  double *value; /* in the order of input    by the caller                 */
  double *unit;  /* vector_count: m; 0: no scalar         by factorise                  */
  int begun;     /* tiles that have the diagonal of A in D                               */
  /* factor, by factorise */
  double *U;       /* U_count                                                           */
  double *D;       /* vector_count; 1 where there is no scalar                          */
  uint32_t *place; /* tile_count: of the block of a row in the column at work           */
  int *noise;      /* noise_count: places by tiles of multipliers whose pivots were noise  */
  int noise_count;
  int *weak;         /* weak_count: places of multipliers of which little was left, or noise     */
  double *weak_part; /* and how much: the pivot as part of its terms                     */
  int weak_count;
  bool rest_known; /* r has the largest entry of each row: see block_ldl_assemble.c     */
  /* solve, vectors by tiles */
  double *b, *y, *x, *x_next, *r, *z; /* factorise: z has the terms of the pivots */
  int room;            /* places of r and z that are enough at a time; 0: take all of them     */
  double *passage;     /* 2 x room                                                             */
  const double *found; /* the last solution                                              */
  int begun_y;         /* places of y that have been filled from b                       */
  double error;        /* that the factors left in the first solution; INFINITY: not known     */
  bool ready;          /* y is L^-1 b for the b given to factorise                              */
};

static inline double sni_ldl_row(int n, const double *a, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * x[i];
  }
  return sum;
}

/* How many values a block has. */
static inline int sni_ldl_values(int kind, int rows, int cols) {
  switch (kind) {
  case SNI_LDL_SYMMETRIC:
    return 21;
  case SNI_LDL_DIAGONAL:
    return rows;
  case SNI_LDL_TIE:
    return 0;
  case SNI_LDL_LEVER:
    return 3;
  default:
    return rows * cols;
  }
}
static inline int sni_ldl_input_values(const sni_ldl_input *in) {
  return sni_ldl_values(in->kind, in->rows, in->cols);
}

/* block_ldl_assemble.c: column t of A into U, its diagonal into D, and the sizes m of its rows.
 * Columns in their order, after `start`.  SN_E_SINGULAR, SN_E_DIVERGED; bad: the place by tiles of
 * the row at fault. */
void sni_ldl_assemble_start(sni_ldl *ldl);
sn_status sni_ldl_assemble(sni_ldl *ldl, int t, int *bad);

/* block_ldl_solve.c: y_t <- L(t,t)^-1 y_t, y_i -= L(i,t) y_t for the tiles i below t. */
void sni_ldl_forward(const sni_ldl *ldl, int t, double *y);

/* b from a right-hand side by nodes, or as it is there; y is to follow. */
void sni_ldl_begin(sni_ldl *ldl, const double *b);

/* The same with ldl->y, which begins as b: as far as column t touches it, while that is at hand. */
void sni_ldl_forward_begun(sni_ldl *ldl, int t);

#endif
