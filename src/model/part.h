/* part.h: what the kinds of forces and constraints are given while a model is built. */
#ifndef SNI_PART_H
#define SNI_PART_H

#include "base/error.h"
#include "sinew/sinew.h"

/* Help that a kind needs while a model is built. */
typedef struct sni_part_builder sni_part_builder;
struct sni_part_builder {
  void *model;
  /* -1: the world; -2: no such body, and the problem has been reported */
  int (*body)(sni_part_builder *b, const char *key, const char *name);
  /* reports a point that is not finite; a pose that is none */
  void (*point)(sni_part_builder *b, const char *key, sn_vec3 x);
  void (*pose)(sni_part_builder *b, const char *key, sn_se3 E);
  /* index of the compiled function; -1 and reported if it is bad */
  int (*function)(sni_part_builder *b, const char *key, const sn_function_def *def);
  /* coordinates of a body's joint; -1: it is broken, which has been reported */
  int (*joint_dofs)(sni_part_builder *b, int body, int *vadr);
  /* is this coordinate of a body's joint one of a rotation vector? */
  bool (*is_turn)(sni_part_builder *b, int body, int coordinate);
  /* of the whole model */
  double (*mass)(sni_part_builder *b);
  /* a coordinate that a map drives, by its entry `joints[k]`; false, and reported: another map or a
   * motion has it */
  bool (*claim)(sni_part_builder *b, int coordinate, int k);
  /* zeroed memory that lives as long as the model; NULL: there is none, which is known */
  void *(*take)(sni_part_builder *b, size_t count, size_t size);
  void (*fail)(sni_part_builder *b, const char *key, const char *format, ...) SN_PRINTF(3, 4);
};

#endif
