/* describe.h: what the field tables say, in words for people: for the schema and the manual. */
#ifndef SNI_DESCRIBE_H
#define SNI_DESCRIBE_H

#include "io/keys.h"

/* The default of a field as it would be written in a scene, from a definition that holds defaults;
 * false: there is none, or it cannot be written.  def may be NULL. */
bool sni_describe_default(const sni_field *field, const void *def, char *out, size_t size);

/* What stands behind the key: "a number > 0". */
void sni_describe_value(const sni_field *field, char *out, size_t size);

/* A definition with the defaults of a role or table, in memory that the caller has; NULL: none. */
typedef union sni_any_def {
  sn_joint_def joint;
  sn_loop_def loop;
  sn_shape_def shape;
  sn_force_def force;
  sn_constraint_def constraint;
  sn_body_def body;
  sn_motion_def motion;
  sn_contact_def contact;
  sn_tube_def tube;
  sn_run_def run;
} sni_any_def;
const void *sni_default_of_role(sni_role role, sni_any_def *room);
const void *sni_default_of_table(const sni_table *table, sni_any_def *room);

#endif
