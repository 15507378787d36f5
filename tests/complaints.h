/* complaints.h: models that must be refused, with exactly what is said about them. */
#ifndef SINEW_COMPLAINTS_H
#define SINEW_COMPLAINTS_H

#include "trees.h"

typedef struct complaint {
  const char *path, *text;
} complaint;

/* Finishes b, which must be refused with exactly these complaints, in any order, and frees it. */
static inline void expect(sn_builder *b, const complaint *list, int n) {
  sn_model *m = (sn_model *)1;
  sn_error err = {0};
  const sn_status status = sn_builder_finish(b, &m, &err);
  CHECK(status == SN_E_VALUE && !m, "status %d", status);
  CHECK(strcmp(err.text, sn_builder_error(b, 0)->text) == 0 && err.code == SN_E_VALUE,
        "the first problem is not the one that is given out");
  bool bad = sn_builder_error_count(b) != n;
  for (int k = 0; k < n; k++) {
    int found = 0, wanted = 0;
    for (int i = 0; i < sn_builder_error_count(b); i++) {
      const sn_error *e = sn_builder_error(b, i);
      found += strcmp(e->path, list[k].path) == 0 && strcmp(e->text, list[k].text) == 0;
    }
    for (int i = 0; i < n; i++) {
      wanted += strcmp(list[i].path, list[k].path) == 0 && strcmp(list[i].text, list[k].text) == 0;
    }
    if (found != wanted) {
      print_error("missing: %s: %s\n", list[k].path, list[k].text);
      bad = true;
    }
  }
  for (int i = 0; bad && i < sn_builder_error_count(b); i++) {
    print_error("found: %s: %s\n", sn_builder_error(b, i)->path, sn_builder_error(b, i)->text);
  }
  sn_builder_free(&b);
  CHECK(!bad, "other complaints than expected");
}
#define EXPECT(b, ...)                                                                             \
  expect(b, (const complaint[]){__VA_ARGS__},                                                      \
         (int)(sizeof((const complaint[]){__VA_ARGS__}) / sizeof(complaint)))

static inline void add(sn_builder *b, const sn_body_def *def) {
  CHECK(sn_builder_add_body(b, def) == SN_OK, "out of memory");
}

static inline sn_force_def force_of(const char *name, const char *type) {
  sn_force_def f = sn_force_def_default();
  f.name = name;
  f.type = type;
  return f;
}

#endif
