/* view_gallery.h: the scenes that come with the program. */
#ifndef CLI_VIEW_GALLERY_H
#define CLI_VIEW_GALLERY_H

#include "base/error.h"
#include "io/json.h"

#define VIEW_GALLERY_MAX 200

typedef struct view_exhibit {
  char name[128];  /* "pendulum", "redmax/net"          */
  char title[256]; /* the first sentence of its file    */
  char path[1024];
  char still[1100]; /* its picture, "": none             */
} view_exhibit;

/* Begins as {0}. */
typedef struct view_gallery {
  view_exhibit *item; /* sorted by name */
  int count;
} view_gallery;

/* Looks for them: in $SINEW_SCENES, where they are installed, and where they were when the program
 * was built. */
sn_status view_gallery_find(view_gallery *g, sn_error *err);
void view_gallery_free(view_gallery *g);

const view_exhibit *view_gallery_get(const view_gallery *g, const char *name); /* NULL: none */
/* The picture of a scene as a text, in base64, to be freed; NULL: there is none. */
char *view_gallery_still(const view_exhibit *e);
/* "scenes" of an open object. */
void view_gallery_json(const view_gallery *g, sni_json *j);

#endif
