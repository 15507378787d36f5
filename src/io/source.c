/* source.c: the files of a scene: the one that was asked for, and those that it uses. */
#include "io/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/change.h"
#include "io/words.h"
#include "math/se3.h"

#define VERSION 1

sni_decoder sni_source_decoder(sni_sources *s, sni_source *source, sni_pool *pool) {
  return (sni_decoder){.doc = source->doc,
                       .pool = pool,
                       .errors = &s->errors,
                       .defaults = &source->defaults,
                       .root = &s->root,
                       .folder = source->folder,
                       .prefix = source->prefix,
                       .ground = source->ground,
                       .E_ground = source->E_ground};
}

void sni_source_warn(sni_sources *s, const sni_source *source, const sni_node *node,
                     const char *path, const char *format, ...) {
  sn_error err = {.code = SN_E_VALUE};
  sni_decode_locate(source->doc, node, &err);
  snprintf(err.path, sizeof err.path, "%s", path);
  va_list args;
  va_start(args, format);
  vsnprintf(err.text, sizeof err.text, format, args);
  va_end(args);
  sni_error_list_add(&s->warnings, &err);
}

/* ---- one file -------------------------------------------------------------------------------- */

static sni_source *add_source(sni_sources *s, sni_doc *doc) {
  sni_source *source = sni_pool_take(&s->pool, 1, sizeof *source);
  if (!source) {
    sni_doc_free(&doc);
    return NULL;
  }
  *source = (sni_source){.doc = doc,
                         .folder = s->root.real,
                         .prefix = "",
                         .ground = "world",
                         .E_ground = sn_se3_identity()};
  if (s->last) {
    s->last->next = source;
  } else {
    s->first = source;
  }
  s->last = source;
  s->count++;
  return source;
}

/* Is it a scene that can be understood at all? */
static void check_head(sni_sources *s, sni_source *source) {
  sni_decoder d = sni_source_decoder(s, source, &s->pool);
  const sni_node *root = sni_doc_root(source->doc), *version = sni_node_get(root, "sinew");
  source->readable = false;
  if (root->kind != SNI_NODE_MAPPING) {
    sni_decode_fail_type(&d, root, "a map that begins with sinew: 1");
    return;
  }
  source->readable = true;
  if (!version) {
    sni_decode_fail(&d, SN_E_SYNTAX, root,
                    "needs the key 'sinew', the version of the format: write sinew: %d at the top",
                    VERSION);
    return;
  }
  double value;
  const size_t before = sni_path_key(&d, "sinew");
  if (!sni_node_number(version, &value)) {
    sni_decode_fail_type(&d, version, "the version of the format: write sinew: 1");
  } else if (value != VERSION) {
    sni_decode_fail(&d, SN_E_SYNTAX, version,
                    "is %s, but only version %d is known: write sinew: %d", version->text, VERSION,
                    VERSION);
    source->readable = false; /* who knows what its keys mean */
  }
  sni_path_back(&d, before);
}

/* ---- use ------------------------------------------------------------------------------------- */

static bool is_in_use(const sni_source *source, const char *real) {
  for (; source; source = source->user) {
    if (source->real && strcmp(source->real, real) == 0) {
      return true;
    }
  }
  return false;
}

/* Reads one used file. */
static void use_file(sni_sources *s, sni_source *user, const sni_node *entry, int index,
                     sni_decoder *d) {
  sni_use_def def = {.prefix = "", .parent = "world", .at = sn_se3_identity()};
  bool good = sni_decode_table(d, &sni_use_table, entry, &def);
  const sni_node *prefix = sni_node_get(entry, "prefix"), *file = sni_node_get(entry, "file");
  if (def.prefix[0] && !sni_name_is_prefix(def.prefix)) {
    const size_t before = sni_path_key(d, "prefix");
    sni_decode_fail(d, SN_E_SYNTAX, prefix, "is '%s', needs a name and a slash, such as left/",
                    sni_show(def.prefix).text);
    sni_path_back(d, before);
    good = false;
  }
  if (!good) {
    return;
  }
  const size_t before = sni_path_key(d, "file");
  const char *path, *real;
  sn_error err = {0};
  const sn_status status =
      sni_folder_find(&s->pool, &s->root, user->folder, file->text, &path, &real, &err);
  sni_doc *doc = NULL;
  if (status != SN_OK) {
    sni_decode_fail(d, status, file, "%s", err.text);
  } else if (is_in_use(user, real)) {
    sni_decode_fail(d, SN_E_VALUE, file, "'%s' uses itself, through the files that it uses",
                    sni_show(file->text).text);
  } else if (user->depth >= SNI_USE_DEPTH_MAX) {
    sni_decode_fail(d, SN_E_LIMIT, file, "files use files deeper than %d", SNI_USE_DEPTH_MAX);
  } else if (s->count >= SNI_USE_COUNT_MAX) {
    sni_decode_fail(d, SN_E_LIMIT, file, "more than %d files are used", SNI_USE_COUNT_MAX);
  } else if (sni_doc_read_file(path, &s->limits, &doc, &err) != SN_OK) {
    sni_error_list_add(&s->errors, &err);
  }
  sni_path_back(d, before);
  sni_folder folder;
  if (!doc) {
    return;
  }
  sni_source *source = add_source(s, doc);
  if (!source || sni_folder_of_file(&s->pool, real, &folder, &err) != SN_OK) {
    return; /* out of memory */
  }
  const bool on_ground = strcmp(def.parent, "world") == 0;
  source->user = user;
  source->real = real;
  source->folder = folder.real;
  source->prefix = sni_pool_join(&s->pool, user->prefix, def.prefix);
  source->ground = on_ground ? user->ground : def.parent;
  source->E_ground = on_ground ? sn_se3_mul(user->E_ground, def.at) : def.at;
  source->entry = entry;
  source->index = index;
  source->depth = user->depth + 1;
  check_head(s, source);
}

/* Files that this one uses.  Those that they use come later: the list grows while it is read. */
static void use_files(sni_sources *s, sni_source *source) {
  const sni_node *list = sni_node_get(sni_doc_root(source->doc), "use");
  if (!list || !source->readable) {
    return;
  }
  sni_decoder d = sni_source_decoder(s, source, &s->pool);
  const size_t before = sni_path_key(&d, "use");
  if (list->kind != SNI_NODE_SEQUENCE) {
    sni_decode_fail_type(&d, list, "a list of {file, prefix, parent, at}");
  }
  for (size_t i = 0; list->kind == SNI_NODE_SEQUENCE && i < sni_node_count(list); i++) {
    const size_t in_list = sni_path_index(&d, i);
    use_file(s, source, sni_node_at(list, i), (int)i, &d);
    sni_path_back(&d, in_list);
  }
  sni_path_back(&d, before);
}

/* ---- defaults -------------------------------------------------------------------------------- */

static void check_default_keys(sni_decoder *d, const sni_node *map) {
  for (size_t i = 0; i < sni_node_count(map); i++) {
    const sni_node *entry = sni_node_at(map, i);
    bool known = false;
    for (int id = 0; id < SNI_DEFAULT_COUNT; id++) {
      known = known || strcmp(entry->key, sni_default_key(id)) == 0;
    }
    if (!known) {
      sni_decode_fail_key(d, SN_E_SYNTAX, entry,
                          "unknown key '%s', known: body, joint, shape, force",
                          sni_show(entry->key).text);
    }
  }
}

static void read_defaults(sni_sources *s, sni_source *source) {
  const sni_node *map = sni_node_get(sni_doc_root(source->doc), "defaults");
  if (!map || !source->readable) {
    return;
  }
  sni_decoder d = sni_source_decoder(s, source, &s->pool);
  sni_path_key(&d, "defaults");
  if (map->kind != SNI_NODE_MAPPING) {
    sni_decode_fail_type(&d, map, "a map with the keys body, joint, shape, force");
    return;
  }
  check_default_keys(&d, map);
  for (int k = SNI_DEFAULT_COUNT - 1; k >= 0; k--) { /* bodies last: they have joints, shapes */
    const sni_node *node = sni_node_get(map, sni_default_key(k));
    if (node) {
      const size_t before = sni_path_key(&d, sni_default_key(k));
      source->defaults.broken[k] = !sni_decode_default(&d, k, node);
      source->defaults.node[k] = node;
      source->defaults.used[k] = sni_pool_take(&s->pool, sni_node_count(node), sizeof(bool));
      sni_path_back(&d, before);
    }
  }
}

/* ---- all files ------------------------------------------------------------------------------- */

static void set_limits(sni_sources *s, const sn_scene_options *options) {
  s->limits = sni_doc_limits_default();
  s->limits.file_size = options->max_file_size ? options->max_file_size : s->limits.file_size;
  s->limits.nodes = options->max_values ? options->max_values : s->limits.nodes;
  s->limits.depth = options->max_depth ? options->max_depth : s->limits.depth;
  const bool given = options->max_bodies > 0 && options->max_bodies < SNI_BODIES_MAX;
  s->max_bodies = given ? (int)options->max_bodies : SNI_BODIES_MAX;
}

static void read_all(sni_sources *s, sni_doc *doc, const char *real,
                     const sn_scene_options *options) {
  sni_source *first = add_source(s, doc);
  if (!first) {
    return;
  }
  first->real = real;
  sni_changes changes = {0};
  sni_changes_read(s, options, &changes);
  sni_changes_make(s, &changes, false);
  check_head(s, first);
  for (sni_source *source = first; source && !s->pool.out_of_memory; source = source->next) {
    use_files(s, source);
  }
  if (first->readable) {
    sni_changes_make(s, &changes, true);
  }
  for (sni_source *source = first; source && !s->pool.out_of_memory; source = source->next) {
    read_defaults(s, source);
  }
}

void sni_sources_read_file(sni_sources *s, const char *path, const sn_scene_options *options) {
  sn_error err = {0};
  sni_doc *doc = NULL;
  set_limits(s, options);
  sn_status status = sni_doc_read_file(path, &s->limits, &doc, &err);
  if (status == SN_OK) {
    status = sni_folder_of_file(&s->pool, path, &s->root, &err);
  }
  s->root.open = options->allow_outside;
  if (status == SN_OK) {
    read_all(s, doc, sni_folder_real(&s->pool, path), options);
  } else {
    sni_doc_free(&doc);
    sni_error_list_add(&s->errors, &err);
  }
}

void sni_sources_read_text(sni_sources *s, const char *text, size_t n, const char *name,
                           const sn_scene_options *options) {
  sn_error err = {0};
  sni_doc *doc = NULL;
  set_limits(s, options);
  sn_status status = sni_doc_read_text(text, n, name, &s->limits, &doc, &err);
  if (status == SN_OK) {
    status = sni_folder_of_text(&s->pool, options->folder ? options->folder : "", &s->root, &err);
  }
  s->root.open = options->allow_outside;
  if (status == SN_OK) {
    read_all(s, doc, NULL, options);
  } else {
    sni_doc_free(&doc);
    sni_error_list_add(&s->errors, &err);
  }
}

void sni_sources_free(sni_sources *s) {
  for (sni_source *source = s->first; source; source = source->next) {
    sni_doc_free(&source->doc);
  }
  sni_pool_free(&s->pool);
  sni_error_list_free(&s->errors);
  sni_error_list_free(&s->warnings);
}
