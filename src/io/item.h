/* item.h: the things of a scene that have a name, from all of its files. */
#ifndef SNI_ITEM_H
#define SNI_ITEM_H

#include "io/source.h"

typedef struct sni_item {
  sni_section_id section;
  const char *name; /* in the whole scene: with the prefix of its file  */
  sni_source *source;
  const sni_node *node;
  int repeat;                   /* bodies NAME_1 .. NAME_repeat; 0: just NAME      */
  const sni_node *repeat_joint; /* laid over the joint from the second on, or NULL */
} sni_item;

typedef struct sni_items {
  sni_item *item; /* file by file, in the order of the lines */
  int count;
  sni_item **sorted; /* by section and name */
  int body_count;    /* with all repeats    */
} sni_items;

/* Lists all things and checks their names.  Memory comes from s->pool. */
void sni_items_list(sni_sources *s, sni_items *out);

/* The thing with a name; a body made by repeat belongs to the item that it was made of, and
 * *number is its place in the chain, else 0.  NULL: none. */
sni_item *sni_items_find(const sni_items *items, sni_section_id section, const char *name,
                         int *number);

/* File, line and column for a path like bodies.left/arm.joint.axis; where the file has nothing like
 * that, those of the nearest thing around it. */
void sni_items_locate(const sni_items *items, const sni_sources *s, const char *path,
                      sn_error *err);

#endif
