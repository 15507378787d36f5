/* block_ldl_plan.h: what follows from the pattern of a matrix before memory for values is taken. */
#ifndef SNI_BLOCK_LDL_PLAN_H
#define SNI_BLOCK_LDL_PLAN_H

#include "linear/block_ldl_parts.h"

typedef struct sni_ldl_plan {
  sni_arena arena; /* scratch, gone when the build ends                          */
  sni_graph nodes, tiles;
  int *order;                  /* n  nodes in the order of elimination            */
  int *tile_of;                /* n  by node                                      */
  int *place;                  /* n  first scalar of a node in its tile           */
  int *tile_size, *tile_lanes; /* tile_count                                      */
  int tile_count;
  int *identity;             /* tiles are numbered in the order of elimination  */
  sni_elimination eliminate; /* of tiles                                        */
  sni_elimination lanes;     /* of tiles, counting lanes                        */
  size_t U_count, value_count;
  int below_count, scalar_count, vector_count;
  int *level; /* n  by node: see sni_order_levels */
} sni_ldl_plan;

/* plan: all zero; its arena is the caller's to free, whatever is returned. */
sn_status sni_ldl_plan_make(const sni_ldl_pattern *pattern, sni_ldl_plan *plan,
                            sni_ldl_counts *counts, sn_error *err);

/* SNI_LDL_... of a block. */
int sni_ldl_plan_kind(const sni_ldl_pattern *pattern, int k);

/* The scalars that column t has in U. */
size_t sni_ldl_plan_column(const sni_ldl_plan *plan, int t);

#endif
