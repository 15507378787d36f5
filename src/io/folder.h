/* folder.h: files that a scene names, kept inside the scene's folder.
 *
 * A scene may come from anywhere, so the files it names must lie beside or below it: no absolute
 * path, no way out through `..`, none through a link. */
#ifndef SNI_FOLDER_H
#define SNI_FOLDER_H

#include "sinew/types.h"
#include "io/pool.h"

/* The folder of a scene. */
typedef struct sni_folder {
  const char *given; /* as the user called it, up to the last slash: "hands/", or ""      */
  const char *real;  /* without links                                                     */
  bool open;         /* files outside are allowed                                         */
} sni_folder;

/* Of a file, or of a folder (given without its last slash, or with). */
sn_status sni_folder_of_file(sni_pool *pool, const char *file, sni_folder *out, sn_error *err);
sn_status sni_folder_of_text(sni_pool *pool, const char *folder, sni_folder *out, sn_error *err);

/* A path without links; NULL: no such file, or out of memory. */
char *sni_folder_real(sni_pool *pool, const char *path);

/* Looks for the file that a scene in `from` calls `name`; from is `root` or a folder inside it.
 * *path: how to open it, in the user's words where it is inside.  *real (may be NULL): without
 * links.  Fails with a text that goes on from the name: "'../a.obj' leads out of ...". */
sn_status sni_folder_find(sni_pool *pool, const sni_folder *root, const char *from_real,
                          const char *name, const char **path, const char **real, sn_error *err);

#endif
