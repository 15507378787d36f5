/* view_server.c: HTTP and WebSocket on 127.0.0.1, by libwebsockets. */
#define _GNU_SOURCE /* getrandom */
#include "cli/view_server.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli/view_request.h"

#define PROTOCOL    "sinew-live-1"
#define RATE_MAX    2000 /* messages of a page in a second              */
#define CONNECTIONS 64   /* that are open at once, pages and others      */
#define HTTP_PIECE  16384

/* A page, or a request for it: libwebsockets keeps one for each connection. */
typedef struct session {
  struct lws *wsi;
  int number; /* 0: no page (yet), but a plain request */
  unsigned due;
  int64_t sent, acknowledged; /* binary messages      */
  int64_t frame;              /* the last one it got  */
  sni_text answers;           /* to its requests: lines */
  int64_t requests;           /* dealt with           */
  int64_t second, in_second;  /* how many requests it sends             */
  char request[VIEW_REQUEST_MAX];
  size_t request_size;
  size_t body; /* of the page: how much has been sent */
} session;

struct view_server {
  struct lws_context *context;
  struct lws_vhost *vhost;
  lws_sorted_usec_list_t alarm;
  view_host host;
  char token[VIEW_TOKEN_DIGITS + 1], nonce[VIEW_TOKEN_DIGITS + 1];
  char hosts[2][32]; /* what Host may be */
  char policy[512];
  int port;
  char *page;
  size_t page_size;
  session *page_of[VIEW_PAGES_MAX]; /* in the order in which they came */
  int npage, last_number, driver;
  char *frame; /* with LWS_PRE bytes before it */
  size_t frame_size, frame_capacity;
  int64_t frame_number; /* 0: none */
};

/* ---- who may come in ---- */

static bool random_digits(char *out) {
  unsigned char byte[VIEW_TOKEN_DIGITS / 2];
  if (getrandom(byte, sizeof byte, 0) != (ssize_t)sizeof byte) {
    return false;
  }
  for (size_t k = 0; k < sizeof byte; k++) {
    snprintf(out + 2 * k, 3, "%02x", byte[k]);
  }
  return true;
}

/* In a time that does not depend on where they differ. */
static bool same_token(const char *a, const char *b) {
  unsigned different = 0;
  for (int k = 0; k < VIEW_TOKEN_DIGITS; k++) {
    different |= (unsigned)(a[k] ^ b[k]);
  }
  return different == 0;
}

static bool is_host(const view_server *s, const char *text) {
  return strcmp(text, s->hosts[0]) == 0 || strcmp(text, s->hosts[1]) == 0;
}

/* 200, or with which status a request is turned away.  *rest: of the path, behind the token. */
static unsigned admit(const view_server *s, struct lws *wsi, char *path, size_t path_size,
                      const char **rest) {
  char text[128];
  if (lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HOST) <= 0 || !is_host(s, text)) {
    return HTTP_STATUS_FORBIDDEN;
  }
  if (lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) > 0) {
    const int n = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_ORIGIN);
    if (n <= 7 || strncmp(text, "http://", 7) != 0 || !is_host(s, text + 7)) {
      return HTTP_STATUS_FORBIDDEN;
    }
  }
  if (lws_hdr_copy(wsi, path, (int)path_size, WSI_TOKEN_GET_URI) <= 0) {
    return HTTP_STATUS_FORBIDDEN; /* too long, or another method */
  }
  if (strlen(path) < VIEW_TOKEN_DIGITS + 2 || path[0] != '/' || !same_token(path + 1, s->token) ||
      path[VIEW_TOKEN_DIGITS + 1] != '/') {
    return HTTP_STATUS_FORBIDDEN;
  }
  *rest = path + VIEW_TOKEN_DIGITS + 2;
  return HTTP_STATUS_OK;
}

/* ---- plain requests ---- */

typedef struct header {
  const char *name, *value;
} header;

static int add_headers(struct lws *wsi, const header *h, int n, unsigned char **at,
                       unsigned char *end) {
  for (int k = 0; k < n; k++) {
    if (lws_add_http_header_by_name(wsi, (const unsigned char *)h[k].name,
                                    (const unsigned char *)h[k].value, (int)strlen(h[k].value), at,
                                    end)) {
      return 1;
    }
  }
  return 0;
}

/* Status line and headers; nothing stays anywhere, and the address goes nowhere. */
static int write_head(const view_server *s, struct lws *wsi, unsigned status, const char *type,
                      size_t size) {
  unsigned char buffer[LWS_PRE + 2048], *start = buffer + LWS_PRE, *at = start;
  unsigned char *end = buffer + sizeof buffer - 1;
  const header headers[] = {{"cache-control:", "no-store"},
                            {"referrer-policy:", "no-referrer"},
                            {"x-content-type-options:", "nosniff"},
                            {"x-frame-options:", "DENY"},
                            {"cross-origin-opener-policy:", "same-origin"},
                            {"cross-origin-resource-policy:", "same-origin"},
                            {"content-security-policy:", s->policy}};
  return lws_add_http_common_headers(wsi, status, type, (lws_filepos_t)size, &at, end) ||
         add_headers(wsi, headers, (int)(sizeof headers / sizeof *headers), &at, end) ||
         lws_finalize_write_http_header(wsi, start, &at, end);
}

static int turn_away(const view_server *s, struct lws *wsi, unsigned status) {
  char text[LWS_PRE + 64];
  const int n = snprintf(text + LWS_PRE, sizeof text - LWS_PRE, "%u\n", status);
  if (write_head(s, wsi, status, "text/plain", (size_t)n) ||
      lws_write(wsi, (unsigned char *)text + LWS_PRE, (size_t)n, LWS_WRITE_HTTP_FINAL) < n) {
    return -1;
  }
  return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int on_http(view_server *s, struct lws *wsi, session *own) {
  char path[128];
  const char *rest = "";
  unsigned status = admit(s, wsi, path, sizeof path, &rest);
  status = status == HTTP_STATUS_OK && rest[0] ? HTTP_STATUS_NOT_FOUND : status;
  if (status != HTTP_STATUS_OK) {
    return turn_away(s, wsi, status);
  }
  own->body = 0;
  if (write_head(s, wsi, HTTP_STATUS_OK, "text/html; charset=utf-8", s->page_size)) {
    return -1;
  }
  lws_callback_on_writable(wsi);
  return 0;
}

static int on_http_writeable(view_server *s, struct lws *wsi, session *own) {
  unsigned char buffer[LWS_PRE + HTTP_PIECE];
  const size_t left = s->page_size - own->body, n = left < HTTP_PIECE ? left : HTTP_PIECE;
  const bool last = n == left;
  memcpy(buffer + LWS_PRE, s->page + own->body, n);
  if (lws_write(wsi, buffer + LWS_PRE, n, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)n) {
    return -1;
  }
  own->body += n;
  if (last) {
    return lws_http_transaction_completed(wsi) ? -1 : 0;
  }
  lws_callback_on_writable(wsi);
  return 0;
}

/* Before it becomes a stream.  0: it may; > 0: it has been told that it may not. */
static int on_upgrade(const view_server *s, struct lws *wsi, const char *to) {
  char path[128], protocol[64];
  const char *rest = "";
  unsigned status = admit(s, wsi, path, sizeof path, &rest);
  if (status == HTTP_STATUS_OK && strcmp(rest, "live") != 0) {
    status = HTTP_STATUS_NOT_FOUND;
  }
  if (status == HTTP_STATUS_OK &&
      (strcmp(to, "websocket") != 0 ||
       lws_hdr_copy(wsi, protocol, sizeof protocol, WSI_TOKEN_PROTOCOL) <= 0 ||
       strcmp(protocol, PROTOCOL) != 0)) {
    status = HTTP_STATUS_BAD_REQUEST;
  }
  if (status == HTTP_STATUS_OK && s->npage == VIEW_PAGES_MAX) {
    status = HTTP_STATUS_SERVICE_UNAVAILABLE;
  }
  return status == HTTP_STATUS_OK ? 0 : turn_away(s, wsi, status) < 0 ? -1 : 1;
}

/* ---- pages ---- */

static session *find_page(const view_server *s, int number) {
  for (int k = 0; k < s->npage; k++) {
    if (s->page_of[k]->number == number) {
      return s->page_of[k];
    }
  }
  return NULL;
}

void view_server_tell(view_server *s, unsigned due) {
  if (due & VIEW_DUE_HEAD) {
    s->frame_size = 0;
  }
  for (int k = 0; k < s->npage; k++) {
    s->page_of[k]->due |= due;
    lws_callback_on_writable(s->page_of[k]->wsi);
  }
}

bool view_server_owes(const view_server *s, unsigned due) {
  bool owes = false;
  for (int k = 0; k < s->npage; k++) {
    owes = owes || (s->page_of[k]->due & due);
  }
  return owes;
}

bool view_server_wants_frame(const view_server *s) {
  return s->npage > 0 && s->frame_size == 0;
}

int view_server_driver(const view_server *s) {
  return s->driver;
}

int view_server_pages(const view_server *s) {
  return s->npage;
}

bool view_server_drive(view_server *s, int page, bool takes) {
  if (!find_page(s, page)) {
    return false;
  }
  if (takes) {
    s->driver = page;
  } else if (s->driver == page) {
    s->driver = 0;
  }
  view_server_tell(s, VIEW_DUE_ROLE);
  return true;
}

void view_server_acknowledge(view_server *s, int page, int64_t count) {
  session *own = find_page(s, page);
  if (own && count >= own->acknowledged && count <= own->sent) {
    own->acknowledged = count;
    lws_callback_on_writable(own->wsi);
  }
}

static void on_established(view_server *s, struct lws *wsi, session *own) {
  *own = (session){.wsi = wsi, .number = ++s->last_number, .due = VIEW_DUE_NEW};
  s->page_of[s->npage++] = own;
  if (!s->driver) {
    s->driver = own->number;
  }
  view_server_tell(s, VIEW_DUE_ROLE | VIEW_DUE_STATUS);
}

static void on_closed(view_server *s, session *own) {
  const int number = own->number;
  const bool drove = s->driver == number;
  int n = 0;
  for (int k = 0; k < s->npage; k++) {
    if (s->page_of[k] != own) {
      s->page_of[n++] = s->page_of[k];
    }
  }
  s->npage = n;
  free(own->answers.text);
  *own = (session){0};
  if (drove) {
    s->driver = n > 0 ? s->page_of[0]->number : 0;
  }
  s->host.left(s->host.user, number, drove);
  view_server_tell(s, VIEW_DUE_ROLE | VIEW_DUE_STATUS);
}

/* ---- what pages get ---- */

/* With room before it for what libwebsockets puts there. */
static int write_message(struct lws *wsi, const void *data, size_t size, bool binary) {
  unsigned char *buffer = malloc(LWS_PRE + size);
  if (!buffer) {
    return -1;
  }
  memcpy(buffer + LWS_PRE, data, size);
  const int n = lws_write(wsi, buffer + LWS_PRE, size, binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
  free(buffer);
  return n < (int)size ? -1 : 0;
}

/* Browsers end a stream with a text that is not UTF-8, and names of files can be anything. */
static void clean_text(char *text) {
  for (unsigned char *p = (unsigned char *)text; *p;) {
    const int more = *p < 0x80 ? 0 : *p >= 0xc2 && *p < 0xe0 ? 1 : *p >= 0xe0 && *p < 0xf0 ? 2 : 3;
    bool good = *p < 0x80 || (*p >= 0xc2 && *p < 0xf5);
    for (int k = 1; k <= more && good; k++) {
      good = (p[k] & 0xc0) == 0x80;
    }
    /* too long for what they say, halves of pairs, beyond the last */
    good = good && !(p[0] == 0xe0 && p[1] < 0xa0) && !(p[0] == 0xed && p[1] > 0x9f) &&
           !(p[0] == 0xf0 && p[1] < 0x90) && !(p[0] == 0xf4 && p[1] > 0x8f);
    if (!good) {
      *p = '?';
    }
    p += good ? more + 1 : 1;
  }
}

static int write_json(struct lws *wsi, sni_json *j) {
  char *text = sni_text_take(&j->out);
  if (!text) {
    return -1;
  }
  clean_text(text);
  const int result = write_message(wsi, text, strlen(text), false);
  free(text);
  return result;
}

static int write_due(view_server *s, session *own, view_due due) {
  const view_page page = {.number = own->number,
                          .drives = own->number == s->driver,
                          .pages = s->npage,
                          .driver = s->driver,
                          .requests = own->requests};
  sni_json j = {.compact = true};
  sni_json_open(&j, NULL, "{");
  if (!s->host.write(s->host.user, due, &page, &j)) {
    free(j.out.text);
    return 0;
  }
  sni_json_close(&j, "}");
  return write_json(own->wsi, &j);
}

static int write_answer(session *own) {
  const size_t n = strcspn(own->answers.text, "\n"), rest = own->answers.length - n - 1;
  const int result = write_message(own->wsi, own->answers.text, n, false);
  memmove(own->answers.text, own->answers.text + n + 1, rest + 1);
  own->answers.length = rest;
  return result;
}

static int write_binary(view_server *s, session *own) {
  if (own->due & VIEW_DUE_HEAD) {
    sn_bytes head;
    own->due &= ~(unsigned)VIEW_DUE_HEAD;
    own->frame = 0;
    if (!s->host.head(s->host.user, &head)) {
      return 0;
    }
    own->sent++;
    return write_message(own->wsi, head.data, head.size, true);
  }
  own->sent++;
  own->frame = s->frame_number;
  const int n =
      lws_write(own->wsi, (unsigned char *)s->frame + LWS_PRE, s->frame_size, LWS_WRITE_BINARY);
  return n < (int)s->frame_size ? -1 : 0;
}

/* Is there something, and may it be sent?  Marks in their order, then frames. */
static int on_writeable(view_server *s, session *own) {
  const bool room = own->sent - own->acknowledged < VIEW_WINDOW;
  const unsigned first = own->due & (~own->due + 1);
  int result = 0;
  if (first == VIEW_DUE_HEAD && room) {
    result = write_binary(s, own);
  } else if (first && first != VIEW_DUE_HEAD) {
    own->due &= ~first;
    result = write_due(s, own, (view_due)first);
  } else if (own->answers.length > 0) {
    result = write_answer(own);
  } else if (!first && room && s->frame_size > 0 && own->frame < s->frame_number) {
    result = write_binary(s, own);
  } else {
    return 0;
  }
  lws_callback_on_writable(own->wsi);
  return result;
}

void view_server_frame(view_server *s, sn_bytes frame) {
  if (frame.size > s->frame_capacity) {
    char *grown = realloc(s->frame, LWS_PRE + frame.size);
    if (!grown) {
      return;
    }
    s->frame = grown;
    s->frame_capacity = frame.size;
  }
  memcpy(s->frame + LWS_PRE, frame.data, frame.size);
  s->frame_size = frame.size;
  s->frame_number++;
  view_server_tell(s, 0);
}

/* ---- what pages ask for ---- */

static int close_with(struct lws *wsi, enum lws_close_status why, const char *text) {
  lws_close_reason(wsi, why, (unsigned char *)text, strlen(text));
  return -1;
}

static int on_request(view_server *s, session *own) {
  sni_json j = {.compact = true};
  sni_json_open(&j, NULL, "{");
  own->requests++;
  if (s->host.request(s->host.user, own->number, own->request, own->request_size, &j)) {
    sni_json_close(&j, "}");
    char *text = sni_text_take(&j.out);
    if (text && own->answers.length < 65536) {
      clean_text(text);
      sni_text_add(&own->answers, "%s\n", text);
      lws_callback_on_writable(own->wsi);
    }
    free(text);
  } else {
    free(j.out.text);
  }
  return 0;
}

static int on_receive(view_server *s, struct lws *wsi, session *own, const char *in, size_t n) {
  const int64_t second = (int64_t)(lws_now_usecs() / LWS_US_PER_SEC);
  if (lws_frame_is_binary(wsi)) {
    return close_with(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, "text only");
  }
  if (lws_is_first_fragment(wsi)) {
    own->request_size = 0;
    own->in_second = own->second == second ? own->in_second + 1 : 1;
    own->second = second;
    if (own->in_second > RATE_MAX) {
      return close_with(wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, "too many messages");
    }
  }
  if (n > sizeof own->request - own->request_size) {
    return close_with(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "message too long");
  }
  if (n > 0) {
    memcpy(own->request + own->request_size, in, n);
  }
  own->request_size += n;
  return lws_is_final_fragment(wsi) ? on_request(s, own) : 0;
}

/* ---- libwebsockets ---- */

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t n) {
  const struct lws_context *context = lws_get_context(wsi);
  view_server *s = context ? lws_context_user((struct lws_context *)context) : NULL;
  session *own = user;
  switch (reason) {
  case LWS_CALLBACK_HTTP:
    return on_http(s, wsi, own);
  case LWS_CALLBACK_HTTP_WRITEABLE:
    return on_http_writeable(s, wsi, own);
  case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
    return on_upgrade(s, wsi, in);
  case LWS_CALLBACK_ESTABLISHED:
    on_established(s, wsi, own);
    return 0;
  case LWS_CALLBACK_CLOSED:
    if (own && own->number) {
      on_closed(s, own);
    }
    return 0;
  case LWS_CALLBACK_SERVER_WRITEABLE:
    return on_writeable(s, own);
  case LWS_CALLBACK_RECEIVE:
    return on_receive(s, wsi, own, in, n);
  default:
    return 0;
  }
}

static const struct lws_protocols protocols[] = {
    {"http", on_event, sizeof(session), VIEW_REQUEST_MAX, 0, NULL, 0},
    {PROTOCOL, on_event, sizeof(session), VIEW_REQUEST_MAX, 0, NULL, 0},
    {0}};

/* The page with the mark by which its own script is known. */
static bool take_page(view_server *s, const view_server_options *o) {
  static const char mark[] = "\n<script>";
  const size_t length = strlen(mark);
  sni_text text = {0};
  size_t done = 0;
  for (size_t k = 0; k + length <= o->page_size; k++) {
    if (memcmp(o->page + k, mark, length) == 0) {
      sni_text_add(&text, "%.*s\n<script nonce=\"%s\">", (int)(k - done), o->page + done, s->nonce);
      done = k + length;
    }
  }
  sni_text_add(&text, "%.*s", (int)(o->page_size - done), o->page + done);
  s->page_size = text.length;
  s->page = sni_text_take(&text);
  return s->page != NULL;
}

static void be_silent(int level, const char *line) {
  (void)level;
  (void)line;
}

static sn_status start(view_server *s, const view_server_options *o, sn_error *err) {
  struct lws_context_creation_info info = {0};
  lws_set_log_level(0, be_silent);
  info.port = o->port;
  info.iface = "127.0.0.1";
  info.protocols = protocols;
  info.user = s;
  info.gid = (gid_t)-1;
  info.uid = (uid_t)-1;
  /* without it, libwebsockets would listen on all interfaces, by way of IPv6 */
  info.options = LWS_SERVER_OPTION_DISABLE_IPV6 | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                 LWS_SERVER_OPTION_VALIDATE_UTF8;
  info.fd_limit_per_thread = CONNECTIONS;
  info.timeout_secs = 10;
  info.keepalive_timeout = 30;
  s->context = lws_create_context(&info);
  s->vhost = s->context ? lws_create_vhost(s->context, &info) : NULL;
  if (!s->vhost) {
    return sni_fail(err, SN_E_FILE,
                    "cannot listen on 127.0.0.1 port %d: another program may have it; take another "
                    "one with --port, or 0 for any",
                    o->port);
  }
  s->port = lws_get_vhost_listen_port(s->vhost);
  return SN_OK;
}

sn_status view_server_open(const view_server_options *o, const view_host *host, view_server **out,
                           sn_error *err) {
  view_server *s = calloc(1, sizeof *s);
  if (!s) {
    return sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  s->host = *host;
  sn_status status = SN_OK;
  if (!random_digits(s->token) || !random_digits(s->nonce)) {
    status = sni_fail(err, SN_E_FILE, "the system gives no random numbers");
  } else if (!take_page(s, o)) {
    status = sni_fail(err, SN_E_MEMORY, "out of memory");
  }
  status = status ? status : start(s, o, err);
  if (status) {
    view_server_free(&s);
    return status;
  }
  snprintf(s->hosts[0], sizeof s->hosts[0], "127.0.0.1:%d", s->port);
  snprintf(s->hosts[1], sizeof s->hosts[1], "localhost:%d", s->port);
  snprintf(s->policy, sizeof s->policy,
           "default-src 'none'; script-src 'nonce-%s'; style-src 'unsafe-inline'; "
           "img-src data: blob:; font-src data:; connect-src ws://%s ws://%s; base-uri 'none'; "
           "form-action 'none'; frame-ancestors 'none'",
           s->nonce, s->hosts[0], s->hosts[1]);
  *out = s;
  return SN_OK;
}

void view_server_free(view_server **server) {
  view_server *s = *server;
  if (s) {
    if (s->context) {
      lws_context_destroy(s->context);
    }
    free(s->page);
    free(s->frame);
    free(s);
  }
  *server = NULL;
}

int view_server_port(const view_server *s) {
  return s->port;
}

const char *view_server_token(const view_server *s) {
  return s->token;
}

static void ring(lws_sorted_usec_list_t *alarm) {
  (void)alarm; /* it has woken libwebsockets, which is all */
}

void view_server_serve(view_server *s, double wait) {
  if (wait > 0) {
    lws_sul_schedule(s->context, 0, &s->alarm, ring, (lws_usec_t)(wait * LWS_US_PER_SEC));
  }
  lws_service(s->context, wait > 0 ? 0 : -1);
}
