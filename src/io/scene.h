/* scene.h: from the files of a scene to the definitions of a model. */
#ifndef SNI_SCENE_H
#define SNI_SCENE_H

#include "io/item.h"

/* What a scene says beside its model. */
typedef struct sni_scene_head {
  const char *units, *up; /* units may be NULL; both live as long as the documents */
} sni_scene_head;

/* Decodes everything that was read and adds it to the builder.  Problems and warnings are in s. */
void sni_scene_define(sni_sources *s, sni_items *items, sn_builder *builder, sni_scene_head *head);

/* Most bodies of a scene with errors that is built all the same, to find further ones. */
#define SNI_SCENE_LOOK_ON 100000

#endif
