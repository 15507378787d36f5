/* item.c: the things of a scene that have a name, from all of its files. */
#include "io/item.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/words.h"

/* ---- finding --------------------------------------------------------------------------------- */

static int compare(sni_section_id a_section, const char *a, const sni_item *b) {
  return a_section != b->section ? (a_section < b->section ? -1 : 1) : strcmp(a, b->name);
}

static int compare_items(const void *a, const void *b) {
  const sni_item *x = *(sni_item *const *)a, *y = *(sni_item *const *)b;
  const int order = compare(x->section, x->name, y);
  return order ? order : (x > y) - (x < y);
}

static sni_item *find(const sni_items *items, sni_section_id section, const char *name) {
  int low = 0, high = items->count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (compare(section, name, items->sorted[middle]) > 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool found = low < items->count && compare(section, name, items->sorted[low]) == 0;
  return found ? items->sorted[low] : NULL;
}

/* The item whose repeat makes a body of this name. */
static sni_item *find_repeat(const sni_items *items, const char *name, int *number) {
  const char *end = strrchr(name, '_');
  char base[SN_ERROR_WHERE_MAX];
  if (!end || end[1] < '1' || end[1] > '9' || strlen(end) > 8 ||
      (size_t)(end - name) >= sizeof base || end[1 + strspn(end + 1, "0123456789")] != 0) {
    return NULL;
  }
  snprintf(base, sizeof base, "%.*s", (int)(end - name), name);
  sni_item *item = find(items, SNI_BODIES, base);
  *number = (int)strtol(end + 1, NULL, 10);
  return item && *number <= item->repeat ? item : NULL;
}

sni_item *sni_items_find(const sni_items *items, sni_section_id section, const char *name,
                         int *number) {
  *number = 0;
  sni_item *item = find(items, section, name);
  if (item && item->repeat == 0) {
    return item;
  }
  return section == SNI_BODIES ? find_repeat(items, name, number) : NULL;
}

/* ---- listing --------------------------------------------------------------------------------- */

static size_t count_entries(const sni_sources *s) {
  size_t n = 0;
  for (const sni_source *source = s->first; source; source = source->next) {
    for (int id = 0; source->readable && id < SNI_SECTION_COUNT; id++) {
      n += sni_node_count(sni_node_get(sni_doc_root(source->doc), sni_section_get(id)->key));
    }
  }
  return n;
}

static bool check_name(sni_decoder *d, sni_section_id section, const sni_node *entry) {
  const char *name = entry->key;
  if (strcmp(name, "world") == 0 && section == SNI_BODIES) {
    sni_decode_fail_key(d, SN_E_VALUE, entry, "'world' is the ground: give the body another name");
    return false;
  }
  if (section == SNI_INITIAL ? sni_name_is_reference(name) : sni_name_is_plain(name)) {
    return true;
  }
  sni_decode_fail_key(d, SN_E_SYNTAX, entry, "'%s' is no name: %s", sni_show(name).text,
                      sni_name_is_reference(name)
                          ? "only the prefix of a used file brings a /"
                          : "letters, digits, _ and -, a letter or _ first");
  return false;
}

static void list_section(sni_sources *s, sni_source *source, sni_section_id id, sni_items *out) {
  const sni_section *section = sni_section_get((int)id);
  const sni_node *map = sni_node_get(sni_doc_root(source->doc), section->key);
  if (!map) {
    return;
  }
  sni_decoder d = sni_source_decoder(s, source, &s->pool);
  sni_path_key(&d, section->key);
  if (map->kind != SNI_NODE_MAPPING) {
    char what[64];
    snprintf(what, sizeof what, "a map with a name for each %s", section->thing);
    sni_decode_fail_type(&d, map, what);
    return;
  }
  for (size_t i = 0; i < sni_node_count(map); i++) {
    const sni_node *entry = sni_node_at(map, i);
    const char *name = sni_pool_join(&s->pool, source->prefix, entry->key);
    if (check_name(&d, id, entry) && name) {
      out->item[out->count++] =
          (sni_item){.section = id, .name = name, .source = source, .node = entry};
    }
  }
}

/* `repeat` of the bodies, and how many bodies there are in all. */
static void read_repeats(sni_sources *s, sni_items *out) {
  bool said = false;
  for (int k = 0; k < out->count; k++) {
    sni_item *item = &out->item[k];
    const sni_node *repeat =
        item->section == SNI_BODIES ? sni_node_get(item->node, "repeat") : NULL;
    if (repeat) {
      sni_decoder d = sni_source_decoder(s, item->source, &s->pool);
      sni_repeat_def def = {.count = 1};
      sni_path_key(&d, "bodies");
      sni_path_key(&d, item->node->key);
      sni_path_key(&d, "repeat");
      const bool good = sni_decode_repeat(&d, repeat, &def, &item->repeat_joint);
      item->repeat = good ? def.count : 1;
    }
    out->body_count += item->section == SNI_BODIES ? item->repeat + (item->repeat == 0) : 0;
    if (out->body_count > s->max_bodies && !said) {
      sni_decoder d = sni_source_decoder(s, item->source, &s->pool);
      sni_path_key(&d, "bodies");
      sni_path_key(&d, item->node->key);
      sni_decode_fail_key(&d, SN_E_LIMIT, item->node, "more than %d bodies, counted up to here",
                          s->max_bodies);
      said = true;
    }
    out->body_count = out->body_count > SNI_BODIES_MAX ? SNI_BODIES_MAX + 1 : out->body_count;
  }
}

/* Names that come from two places.  What the user of a file says about the start counts, so there
 * the second one is just dropped. */
static void check_doubles(sni_sources *s, sni_items *items) {
  for (int k = 0; k < items->count; k++) {
    const sni_item *item = items->sorted[k];
    const sni_item *other = k > 0 ? items->sorted[k - 1] : NULL;
    if (other && compare(other->section, other->name, item) != 0) {
      other = NULL;
    }
    int number;
    if (!other && item->section == SNI_BODIES && item->repeat == 0) {
      other = find_repeat(items, item->name, &number);
    }
    if (!other || item->section == SNI_INITIAL) {
      continue;
    }
    sni_decoder d = sni_source_decoder(s, item->source, &s->pool);
    sni_path_key(&d, sni_section_get((int)item->section)->key);
    sni_path_key(&d, item->node->key);
    sni_decode_fail_key(&d, SN_E_VALUE, item->node, "the name '%s' is taken, by line %d of %s",
                        sni_show(item->name).text, other->node->key_line,
                        sni_show(sni_doc_name(other->source->doc)).text);
  }
}

void sni_items_list(sni_sources *s, sni_items *out) {
  const size_t n = count_entries(s);
  *out = (sni_items){0};
  out->item = sni_pool_take(&s->pool, n, sizeof *out->item);
  out->sorted = sni_pool_take(&s->pool, n, sizeof *out->sorted);
  if (!out->item || !out->sorted || n > INT_MAX) {
    return;
  }
  for (sni_source *source = s->first; source; source = source->next) {
    for (int id = 0; source->readable && id < SNI_SECTION_COUNT; id++) {
      list_section(s, source, (sni_section_id)id, out);
    }
  }
  for (int k = 0; k < out->count; k++) {
    out->sorted[k] = &out->item[k];
  }
  if (out->count > 0) {
    qsort(out->sorted, (size_t)out->count, sizeof *out->sorted, compare_items);
  }
  read_repeats(s, out);
  check_doubles(s, out);
}

/* ---- locating -------------------------------------------------------------------------------- */

/* The next step of a path, .name or [3], and the node it leads to; NULL: no such node. */
static const sni_node *walk(const sni_node *node, const char **path) {
  const char *s = *path + (**path == '.');
  if (*s == '[' || (node->kind == SNI_NODE_SEQUENCE && *s >= '0' && *s <= '9')) {
    char *end;
    const unsigned long index = strtoul(s + (*s == '['), &end, 10);
    *path = end + (*end == ']');
    return node->kind == SNI_NODE_SEQUENCE ? sni_node_at(node, index) : NULL;
  }
  char key[SN_ERROR_WHERE_MAX];
  const size_t n = strcspn(s, ".[");
  snprintf(key, sizeof key, "%.*s", (int)n, s);
  *path = s + n;
  return sni_node_get(node, key);
}

/* How much of the path is there. */
static const sni_node *walk_all(const sni_node *node, const char *path, const char **rest) {
  *rest = path;
  while (**rest) {
    const char *next = *rest;
    const sni_node *down = walk(node, &next);
    if (!down) {
      return node;
    }
    node = down;
    *rest = next;
  }
  return node;
}

/* What a body has from elsewhere: keys laid over its joint, and defaults. */
static const sni_node *walk_body(const sni_item *item, int number, const char *path) {
  static const char joint[] = ".joint.";
  const sni_defaults *defaults = &item->source->defaults;
  const char *rest, *below = NULL;
  if (number > 1 && item->repeat_joint && strncmp(path, joint, strlen(joint)) == 0) {
    const sni_node *over = walk_all(item->repeat_joint, path + strlen(joint) - 1, &rest);
    if (!*rest) {
      return over;
    }
  }
  const sni_node *node = walk_all(item->node, path, &rest);
  if (!*rest) {
    return node;
  }
  int id = SNI_DEFAULT_BODY;
  if (strncmp(path, joint, strlen(joint)) == 0) {
    id = SNI_DEFAULT_JOINT;
    below = path + strlen(joint) - 1;
  } else if (strncmp(path, ".shapes[", 8) == 0 && strchr(path, ']')) {
    id = SNI_DEFAULT_SHAPE;
    below = strchr(path, ']') + 1;
  }
  const sni_node *given =
      below && *below && defaults->node[id] ? walk_all(defaults->node[id], below, &rest) : NULL;
  if (given && !*rest) {
    return given;
  }
  given = defaults->node[SNI_DEFAULT_BODY] ? walk_all(defaults->node[SNI_DEFAULT_BODY], path, &rest)
                                           : NULL;
  return given && !*rest ? given : node;
}

static const sni_node *walk_item(const sni_item *item, int number, const char *path) {
  const char *rest;
  if (item->section == SNI_BODIES) {
    return walk_body(item, number, path);
  }
  /* in a file the keys of the joint of a loop stand in the loop itself */
  if (item->section == SNI_LOOPS && strncmp(path, ".joint.", 7) == 0) {
    path += 6;
  }
  const sni_node *node = walk_all(item->node, path, &rest);
  const sni_node *given = item->source->defaults.node[SNI_DEFAULT_FORCE];
  if (*rest && item->section == SNI_FORCES && given) {
    given = walk_all(given, path, &rest);
    return *rest ? node : given;
  }
  return node;
}

void sni_items_locate(const sni_items *items, const sni_sources *s, const char *path,
                      sn_error *err) {
  for (int id = 0; id < SNI_SECTION_COUNT; id++) {
    const char *key = sni_section_get(id)->key;
    const size_t n = strlen(key);
    if (strncmp(path, key, n) != 0 || path[n] != '.') {
      continue;
    }
    char name[SN_ERROR_WHERE_MAX];
    const size_t length = strcspn(path + n + 1, ".[");
    snprintf(name, sizeof name, "%.*s", (int)length, path + n + 1);
    int number;
    const sni_item *item = sni_items_find(items, (sni_section_id)id, name, &number);
    if (item) {
      sni_decode_locate(item->source->doc, walk_item(item, number, path + n + 1 + length), err);
      return;
    }
  }
  const char *rest;
  const sni_node *root = sni_doc_root(s->first->doc);
  const sni_node *node = walk_all(root, path, &rest);
  sni_decode_locate(s->first->doc, node, err);
  if (node == root) { /* the first line has nothing to do with it */
    err->line = err->column = 0;
  }
}
