/* builder.h: the inside of a builder: definitions as they were given, copied. */
#ifndef SNI_BUILDER_H
#define SNI_BUILDER_H

#include "base/arena.h"
#include "base/error.h"
#include "sinew/sinew.h"

/* A growing array of definitions. */
typedef struct sni_list {
  void *item;
  int count, capacity;
} sni_list;

struct sn_builder {
  sni_arena arena;     /* all that definitions point to */
  sni_list body;       /* sn_body_def    */
  sni_list force;      /* sn_force_def   */
  sni_list motion;     /* sn_motion_def  */
  sni_list loop;       /* sn_loop_def    */
  sni_list constraint; /* sn_constraint_def */
  sni_list contact;    /* sn_contact_def */
  sni_list tube;       /* sn_tube_def    */
  sni_list initial;    /* sn_initial_def */
  sni_list unknown;    /* int: bodies of which only the name is known */
  sn_vec3 gravity;
  sn_run_def run;
  const char *units, *up;
  sni_error_list errors, warnings;
  bool finished;
};

/* A body whose definition could not be read, but for its name and (NULL: not even that) its parent:
 * others may refer to it, nothing else of it is checked, and the model is for finding further
 * problems only. */
sn_status sni_builder_add_unknown_body(sn_builder *builder, const char *name, const char *parent);

#endif
