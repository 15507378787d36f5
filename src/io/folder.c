/* folder.c: files that a scene names, kept inside the scene's folder. */
#define _DEFAULT_SOURCE /* realpath */
#include "io/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "io/words.h"

static sn_status no_memory(sn_error *err) {
  return sni_fail(err, SN_E_MEMORY, "out of memory");
}

char *sni_folder_real(sni_pool *pool, const char *path) {
  char *real = realpath(path, NULL);
  char *copy = real ? sni_pool_text(pool, real) : NULL;
  free(real);
  return copy;
}

/* given: ends in a slash, or is "". */
static sn_status make_folder(sni_pool *pool, const char *given, sni_folder *out, sn_error *err) {
  if (!given) {
    return no_memory(err);
  }
  const char *real = sni_folder_real(pool, given[0] ? given : ".");
  if (!real) {
    return pool->out_of_memory
               ? no_memory(err)
               : sni_fail(err, SN_E_FILE, "folder '%s': %s", sni_show(given).text, strerror(errno));
  }
  *out = (sni_folder){.given = given, .real = real};
  return SN_OK;
}

sn_status sni_folder_of_file(sni_pool *pool, const char *file, sni_folder *out, sn_error *err) {
  const char *slash = strrchr(file, '/');
  char *given = sni_pool_text(pool, file);
  if (given) {
    given[slash ? slash + 1 - file : 0] = 0;
  }
  return make_folder(pool, given, out, err);
}

sn_status sni_folder_of_text(sni_pool *pool, const char *folder, sni_folder *out, sn_error *err) {
  const size_t n = strlen(folder);
  const bool ready = n == 0 || folder[n - 1] == '/';
  return make_folder(pool, sni_pool_join(pool, folder, ready ? "" : "/"), out, err);
}

/* What is left of path inside folder, from the slash on; NULL: it is outside. */
static const char *rest_inside(const char *folder, const char *path) {
  const size_t n = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
  return strncmp(folder, path, n) == 0 && path[n] == '/' ? path + n : NULL;
}

/* folder/name without `.`, `..` and double slashes, by the letters alone: a link followed by `..`
 * means what it says, not where the link leads. */
static char *normal_path(sni_pool *pool, const char *folder, const char *name) {
  char *joined = sni_pool_join(pool, folder, "/");
  char *path = joined ? sni_pool_join(pool, name[0] == '/' ? "" : joined, name) : NULL;
  if (!path) {
    return NULL;
  }
  size_t n = 0;
  for (const char *s = path; *s;) {
    const char *part = s + strspn(s, "/");
    const size_t length = strcspn(part, "/");
    s = part + length;
    if (length == 2 && part[0] == '.' && part[1] == '.') {
      while (n > 0 && path[--n] != '/') {
      }
    } else if (length > 0 && !(length == 1 && part[0] == '.')) {
      path[n++] = '/'; /* a slash stood before each part, so this never overtakes the reading */
      memmove(path + n, part, length);
      n += length;
    }
  }
  if (n == 0) {
    path[n++] = '/';
  }
  path[n] = 0;
  return path;
}

sn_status sni_folder_find(sni_pool *pool, const sni_folder *root, const char *from_real,
                          const char *name, const char **path, const char **real, sn_error *err) {
  const sni_shown shown = sni_show(name);
  if (name[0] == '/' && !root->open) {
    return sni_fail(err, SN_E_VALUE,
                    "'%s' is an absolute path: write it relative to the scene's folder",
                    shown.text);
  }
  const char *normal = normal_path(pool, from_real, name);
  if (!normal) {
    return no_memory(err);
  }
  if (!root->open && !rest_inside(root->real, normal)) {
    return sni_fail(err, SN_E_VALUE, "'%s' leads out of the scene's folder: move the file there",
                    shown.text);
  }
  const char *found = sni_folder_real(pool, normal);
  if (!found) {
    return pool->out_of_memory ? no_memory(err)
                               : sni_fail(err, SN_E_FILE, "'%s': %s", shown.text,
                                          errno == ENOENT ? "no such file" : strerror(errno));
  }
  const char *rest = rest_inside(root->real, found);
  if (!root->open && !rest) {
    return sni_fail(err, SN_E_VALUE,
                    "'%s' is a link that leads out of the scene's folder: move the file there",
                    shown.text);
  }
  struct stat info;
  if (stat(found, &info) != 0 || !S_ISREG(info.st_mode)) {
    return sni_fail(err, SN_E_FILE, "'%s' is not a file", shown.text);
  }
  const char *inside = rest ? sni_pool_join(pool, root->given, rest + 1) : found;
  if (!inside) {
    return no_memory(err);
  }
  *path = inside;
  if (real) {
    *real = found;
  }
  return SN_OK;
}
