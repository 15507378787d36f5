/* change.h: --set: values of a scene that are changed before anything is checked. */
#ifndef SNI_CHANGE_H
#define SNI_CHANGE_H

#include "io/source.h"

/* One change, and for a path like bodies.left/arm.joint what it is about. */
typedef struct sni_change {
  const char *path, *value;   /* path NULL: could not be read                  */
  const char *section, *name; /* NULL: something else than a thing with a name */
  const char *rest;           /* behind the name: ".joint"                     */
} sni_change;

typedef struct sni_changes {
  sni_change *item;
  int count;
} sni_changes;

void sni_changes_read(sni_sources *s, const sn_scene_options *options, sni_changes *out);

/* things: changes of things with a name, which may be in any file, so all must have been read
 * before.  Otherwise all other changes: they concern the first file, and may change what is
 * used. */
void sni_changes_make(sni_sources *s, const sni_changes *changes, bool things);

#endif
