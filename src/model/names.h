/* names.h: finding things by their names. */
#ifndef SNI_NAMES_H
#define SNI_NAMES_H

typedef struct sni_name {
  const char *name; /* not NULL */
  int place;        /* of the thing that bears it */
} sni_name;

/* By name, then by place. */
void sni_names_sort(sni_name *list, int n);
/* The first place of a name in a sorted list; -1: nothing is called so. */
int sni_names_find(const sni_name *list, int n, const char *name);

#endif
