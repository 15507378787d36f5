/* view_server.h: the pages of a live view: a server on 127.0.0.1 and nowhere else, a token in the
 * address, and for each page what it has been told and what it is due.
 *
 * One thread does everything: nothing here waits for a page.  What a page is due is kept as marks,
 * not as messages, and becomes a message when the page can take one: so a page that does not read
 * costs nothing, and what it gets then is the newest. */
#ifndef CLI_VIEW_SERVER_H
#define CLI_VIEW_SERVER_H

#include "base/error.h"
#include "io/json.h"
#include "sinew/recording.h"

#define VIEW_TOKEN_DIGITS 32
#define VIEW_PAGES_MAX    16
#define VIEW_WINDOW       3 /* binary messages on their way to a page, at most */

/* In the order in which a page gets them. */
typedef enum view_due {
  VIEW_DUE_HELLO = 1,
  VIEW_DUE_ROLE = 2,
  VIEW_DUE_GALLERY = 4,
  VIEW_DUE_SCENE = 8,
  VIEW_DUE_HEAD = 16, /* binary */
  VIEW_DUE_PARAMETERS = 32,
  VIEW_DUE_GOOD = 64,
  VIEW_DUE_ERROR = 128,   /* of the scene    */
  VIEW_DUE_TROUBLE = 256, /* of the simulation */
  VIEW_DUE_CHANGES = 512, /* parameters that were changed */
  VIEW_DUE_STATUS = 1024,
  /* a page that has just come */
  VIEW_DUE_NEW = 2047 - VIEW_DUE_GOOD - VIEW_DUE_CHANGES
} view_due;

typedef struct view_page {
  int number; /* from 1 */
  bool drives;
  int pages, driver; /* how many there are, and which of them drives; 0: none */
  int64_t requests;  /* of this page, dealt with */
} view_page;

/* What the server asks for. */
typedef struct view_host {
  void *user;
  /* Writes a text message into the object j, "type" included.  False: there is nothing to say. */
  bool (*write)(void *user, view_due due, const view_page *page, sni_json *j);
  /* Begins a recording. */
  bool (*head)(void *user, sn_bytes *out);
  /* The text of a request, complete.  What it is answered, problems above all, goes into j, as a
   * message; false: there is no answer. */
  bool (*request)(void *user, int page, const char *text, size_t n, sni_json *j);
  void (*left)(void *user, int page, bool drove); /* a page has gone */
} view_host;

typedef struct view_server view_server;

typedef struct view_server_options {
  int port; /* 0: any that is free */
  const char *page;
  size_t page_size;
} view_server_options;

sn_status view_server_open(const view_server_options *o, const view_host *host, view_server **out,
                           sn_error *err);
void view_server_free(view_server **server);

int view_server_port(const view_server *server);
const char *view_server_token(const view_server *server);

/* Handles what there is to handle.  wait: seconds that it may sleep if there is nothing. */
void view_server_serve(view_server *server, double wait);

/* Every page is due this.  A new head makes the frames before it void. */
void view_server_tell(view_server *server, unsigned due);
/* Some page is due this, and has not been told yet. */
bool view_server_owes(const view_server *server, unsigned due);
/* There are pages, and no frame for them. */
bool view_server_wants_frame(const view_server *server);
/* The newest frame, copied. */
void view_server_frame(view_server *server, sn_bytes frame);

int view_server_driver(const view_server *server); /* 0: nobody */
int view_server_pages(const view_server *server);
/* Takes the wheel, or gives it back.  False: there is no such page. */
bool view_server_drive(view_server *server, int page, bool takes);
void view_server_acknowledge(view_server *server, int page, int64_t count);

#endif
