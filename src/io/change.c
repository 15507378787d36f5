/* change.c: --set: values of a scene that are changed before anything is checked. */
#include "io/change.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/words.h"

static void fail(sni_sources *s, const char *path, const char *format, ...) SN_PRINTF(3, 4);

static void fail(sni_sources *s, const char *path, const char *format, ...) {
  sn_error err = {.code = SN_E_ARGUMENT, .file = "--set"};
  sni_show_into(path, err.path, sizeof err.path);
  va_list args;
  va_start(args, format);
  vsnprintf(err.text, sizeof err.text, format, args);
  va_end(args);
  sni_error_list_add(&s->errors, &err);
}

/* The part of a text before `end`. */
static char *copy_until(sni_sources *s, const char *text, const char *end) {
  char *copy = sni_pool_text(&s->pool, text);
  if (copy) {
    copy[end - text] = 0;
  }
  return copy;
}

static void read_change(sni_sources *s, const char *text, sni_change *out) {
  const char *equal = strchr(text, '=');
  if (!equal) {
    fail(s, text, "has no value: write path=value");
    return;
  }
  out->path = copy_until(s, text, equal);
  out->value = equal + 1;
  const char *dot = out->path ? strchr(out->path, '.') : NULL;
  if (!dot) {
    return;
  }
  for (int id = 0; id < SNI_SECTION_COUNT; id++) {
    const char *key = sni_section_get(id)->key;
    const size_t n = strlen(key);
    if (n == (size_t)(dot - out->path) && strncmp(out->path, key, n) == 0) {
      out->rest = dot + 1 + strcspn(dot + 1, ".[");
      out->name = copy_until(s, dot + 1, out->rest);
      out->section = out->name ? key : NULL;
    }
  }
}

void sni_changes_read(sni_sources *s, const sn_scene_options *options, sni_changes *out) {
  *out = (sni_changes){0};
  out->item = sni_pool_take(&s->pool, (size_t)options->nset, sizeof *out->item);
  if (!out->item) {
    return;
  }
  out->count = options->nset;
  for (int k = 0; k < out->count; k++) {
    read_change(s, options->set[k], &out->item[k]);
  }
}

static void set_value(sni_sources *s, sni_source *source, const char *path, const char *value) {
  sn_error err = {0};
  if (sni_doc_set(source->doc, path, value, &err) != SN_OK) {
    sni_error_list_add(&s->errors, &err);
  }
}

/* Looks for the file that has the thing.  *name: what the thing is called in this file, and
 * afterwards in the one that has it.  NULL: none has it. */
static sni_source *find_thing(sni_source *source, const char *section, const char **name) {
  if (sni_node_get(sni_node_get(sni_doc_root(source->doc), section), *name)) {
    return source;
  }
  for (sni_source *used = source->next; used; used = used->next) {
    const char *prefix = used->prefix + strlen(source->prefix);
    if (used->user == source && used->readable && strncmp(prefix, *name, strlen(prefix)) == 0) {
      const char *inside = *name + strlen(prefix);
      sni_source *owner = find_thing(used, section, &inside);
      if (owner) {
        *name = inside;
        return owner;
      }
    }
  }
  return NULL;
}

static bool set_thing(sni_sources *s, const sni_change *c) {
  const char *name = c->name;
  sni_source *owner = find_thing(s->first, c->section, &name);
  if (!owner) {
    return false;
  }
  char path[SN_ERROR_WHERE_MAX];
  if (snprintf(path, sizeof path, "%s.%s%s", c->section, name, c->rest) >= (int)sizeof path) {
    fail(s, c->path, "is too long a path");
  } else {
    set_value(s, owner, path, c->value);
  }
  return true;
}

/* rope_3 is no thing of a file if rope has a repeat: the name of rope, or NULL. */
static const char *repeated_name(sni_sources *s, const sni_change *c) {
  const char *end = strrchr(c->name, '_');
  const char *base = end ? copy_until(s, c->name, end) : NULL, *inside = base;
  sni_source *owner = base ? find_thing(s->first, c->section, &inside) : NULL;
  const sni_node *things = owner ? sni_node_get(sni_doc_root(owner->doc), c->section) : NULL;
  return things && sni_node_get(sni_node_get(things, inside), "repeat") ? base : NULL;
}

void sni_changes_make(sni_sources *s, const sni_changes *changes, bool things) {
  for (int k = 0; k < changes->count; k++) {
    const sni_change *c = &changes->item[k];
    if (!c->path || (c->section != NULL) != things) {
      continue;
    }
    if (!c->section) {
      set_value(s, s->first, c->path, c->value);
      continue;
    }
    if (set_thing(s, c)) {
      continue;
    }
    /* a new thing of the first file, unless its name says that it should be elsewhere */
    const char *base = repeated_name(s, c);
    if (base) {
      fail(s, c->path, "'%s' is made by repeat: set bodies.%s%s for all of them",
           sni_show(c->name).text, sni_show(base).text, sni_show(c->rest).text);
    } else if (strchr(c->name, '/') && strcmp(c->section, "initial") != 0) {
      fail(s, c->path, "no file that is used has '%s' under %s", sni_show(c->name).text,
           c->section);
    } else {
      set_value(s, s->first, c->path, c->value);
    }
  }
}
