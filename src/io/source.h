/* source.h: the files of a scene: the one that was asked for, and those that it uses.
 *
 * A file is read once for each time that it is used, because --set may change each of them.  A used
 * file is a scene like any other; what it calls world is a frame on a body of its user. */
#ifndef SNI_SOURCE_H
#define SNI_SOURCE_H

#include "io/decode.h"
#include "sinew/scene.h"

#define SNI_USE_DEPTH_MAX 16    /* files that use files that use ... */
#define SNI_USE_COUNT_MAX 10000 /* files of a scene                  */

typedef struct sni_source sni_source;
struct sni_source {
  sni_source *next; /* in the order of reading        */
  sni_source *user; /* NULL: the one asked for        */
  sni_doc *doc;
  const char *real;   /* path without links; NULL: a text            */
  const char *folder; /* without links                               */
  const char *prefix, *ground;
  sn_se3 E_ground;
  const sni_node *entry; /* of `use` in the document of the user      */
  int index;             /* of that entry                             */
  int depth;
  bool readable; /* is a map, of a version that is known      */
  sni_defaults defaults;
};

typedef struct sni_sources {
  sni_pool pool; /* for all that lives as long as this */
  sni_source *first, *last;
  int count;
  sni_folder root;
  sni_doc_limits limits; /* of each file */
  int max_bodies;        /* of the scene */
  sni_error_list errors, warnings;
} sni_sources;

/* Read everything, with the changes that the options ask for.  Problems are in errors. */
void sni_sources_read_file(sni_sources *s, const char *path, const sn_scene_options *options);
void sni_sources_read_text(sni_sources *s, const char *text, size_t n, const char *name,
                           const sn_scene_options *options);
void sni_sources_free(sni_sources *s);

/* A decoder for one of the files; definitions go to pool. */
sni_decoder sni_source_decoder(sni_sources *s, sni_source *source, sni_pool *pool);

/* A warning at a node of a file. */
void sni_source_warn(sni_sources *s, const sni_source *source, const sni_node *node,
                     const char *path, const char *format, ...) SN_PRINTF(5, 6);

#endif
