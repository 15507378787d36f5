/* view_request.c: reads what a page asks for, by a table of keys.
 *
 * The text comes from outside: the reader of scene files takes it, with narrow limits, and
 * everything that the table does not know is refused. */
#include "cli/view_request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/doc.h"
#include "io/words.h"

typedef enum kind { COUNT, NUMBER, WORD, POINT } kind;

typedef struct key {
  const char *name;
  kind kind;
  size_t offset;
  double least, most; /* of counts and numbers */
  bool optional;
} key;

enum { KEYS_MAX = 5 };

typedef struct form {
  const char *name;
  bool drives;
  key key[KEYS_MAX]; /* those with a name */
} form;

#define AT(member) offsetof(view_request, member)
#define BIG        1e15 /* counts beyond it are no whole numbers any more */

static const form forms[VIEW_DO_COUNT] = {
    [VIEW_ACK] = {"ack", false, {{"count", COUNT, AT(count), 0, BIG, false}}},
    [VIEW_PAUSE] = {"pause", true, {{0}}},
    [VIEW_PLAY] = {"play", true, {{0}}},
    [VIEW_STEP] = {"step", true, {{"count", COUNT, AT(count), 1, 1000, true}}},
    [VIEW_RESET] = {"reset", true, {{0}}},
    [VIEW_SPEED] = {"speed", true, {{"value", NUMBER, AT(value), 1e-3, 1e3, false}}},
    [VIEW_METHOD] = {"method", true, {{"value", WORD, AT(word), 0, 0, false}}},
    [VIEW_STEP_SIZE] = {"step_size",
                        true,
                        {{"value", NUMBER, AT(value), -INFINITY, INFINITY, false}}},
    [VIEW_SET] = {"set",
                  true,
                  {{"path", WORD, AT(word), 0, 0, false},
                   {"value", NUMBER, AT(value), -INFINITY, INFINITY, false}}},
    [VIEW_GRAB] = {"grab",
                   true,
                   {{"body", WORD, AT(word), 0, 0, false},
                    {"point", POINT, AT(point), 0, 0, false},
                    {"at", POINT, AT(at), 0, 0, false},
                    {"stiffness", NUMBER, AT(stiffness), 0, INFINITY, true},
                    {"damping", NUMBER, AT(damping), 0, INFINITY, true}}},
    [VIEW_DRAG] = {"drag", true, {{"at", POINT, AT(at), 0, 0, false}}},
    [VIEW_RELEASE] = {"release", true, {{0}}},
    [VIEW_OPEN] = {"open", true, {{"scene", WORD, AT(word), 0, 0, false}}},
    [VIEW_ROLE] = {"role", false, {{"value", WORD, AT(word), 0, 0, false}}},
    [VIEW_PARAMETERS] = {"parameters",
                         false,
                         {{"filter", WORD, AT(word), 0, 0, true},
                          {"all", COUNT, AT(all), 0, 1, true},
                          {"first", COUNT, AT(first), 0, BIG, true}}},
    [VIEW_STILL] = {"still", false, {{"scene", WORD, AT(word), 0, 0, false}}}};

bool view_request_drives(view_do what) {
  return forms[what].drives;
}

static sn_status read_number(const sni_node *node, const key *k, double *out, sn_error *err) {
  if (!sni_node_number(node, out) || !(*out >= k->least && *out <= k->most)) {
    return sni_fail(err, SN_E_VALUE, "%s: needs a number from %g to %g", k->name, k->least,
                    k->most);
  }
  return SN_OK;
}

static sn_status read_key(const sni_node *node, const key *k, view_request *out, sn_error *err) {
  void *to = (char *)out + k->offset;
  double number = 0;
  switch (k->kind) {
  case COUNT:
    if (read_number(node, k, &number, err) || number != floor(number)) {
      return sni_fail(err, SN_E_VALUE, "%s: needs a whole number from %g to %g", k->name, k->least,
                      k->most);
    }
    *(int64_t *)to = (int64_t)number;
    return SN_OK;
  case NUMBER:
    return read_number(node, k, to, err);
  case WORD:
    if (node->kind != SNI_NODE_SCALAR || !node->quoted || node->count >= VIEW_WORD_MAX) {
      return sni_fail(err, SN_E_VALUE, "%s: needs a text of at most %d bytes", k->name,
                      VIEW_WORD_MAX - 1);
    }
    memcpy(to, node->text, node->count + 1);
    return SN_OK;
  default: {
    sn_vec3 *x = to;
    const bool three = node->kind == SNI_NODE_SEQUENCE && sni_node_count(node) == 3;
    if (!three || !sni_node_number(sni_node_at(node, 0), &x->x) ||
        !sni_node_number(sni_node_at(node, 1), &x->y) ||
        !sni_node_number(sni_node_at(node, 2), &x->z)) {
      return sni_fail(err, SN_E_VALUE, "%s: needs a list of three numbers", k->name);
    }
    return SN_OK;
  }
  }
}

static const key *find_key(const form *f, const char *name) {
  for (int k = 0; k < KEYS_MAX && f->key[k].name; k++) {
    if (strcmp(f->key[k].name, name) == 0) {
      return &f->key[k];
    }
  }
  return NULL;
}

static sn_status read_keys(const sni_node *root, const form *f, view_request *out, sn_error *err) {
  for (size_t i = 0; i < sni_node_count(root); i++) {
    const sni_node *node = sni_node_at(root, i);
    const key *k = find_key(f, node->key);
    if (!k && strcmp(node->key, "do") != 0) {
      return sni_fail(err, SN_E_VALUE, "there is no key '%s'", sni_show(node->key).text);
    }
    const sn_status status = k ? read_key(node, k, out, err) : SN_OK;
    if (status) {
      return status;
    }
  }
  for (int k = 0; k < KEYS_MAX && f->key[k].name; k++) {
    if (!f->key[k].optional && !sni_node_get(root, f->key[k].name)) {
      return sni_fail(err, SN_E_VALUE, "the key '%s' is missing", f->key[k].name);
    }
  }
  return SN_OK;
}

static sn_status read_root(const sni_node *root, view_request *out, char *name, sn_error *err) {
  const sni_node *what = sni_node_get(root, "do");
  if (!what || what->kind != SNI_NODE_SCALAR || !what->quoted) {
    return sni_fail(err, SN_E_VALUE, "needs an object with the key 'do', a text");
  }
  snprintf(name, VIEW_WORD_MAX, "%s", sni_show(what->text).text);
  for (int k = 0; k < VIEW_DO_COUNT; k++) {
    if (strcmp(forms[k].name, what->text) == 0) {
      *out = (view_request){.what = (view_do)k, .count = 1, .stiffness = -1, .damping = -1};
      return read_keys(root, &forms[k], out, err);
    }
  }
  return sni_fail(err, SN_E_VALUE, "there is nothing to do that is called '%s'", name);
}

sn_status view_request_read(const char *text, size_t n, view_request *out, char *name,
                            sn_error *err) {
  const sni_doc_limits limits = {
      .file_size = VIEW_REQUEST_MAX, .depth = 3, .nodes = 32, .memory = 64u << 10};
  sni_doc *doc = NULL;
  name[0] = 0;
  if (n == 0 || text[0] != '{') {
    return sni_fail(err, SN_E_SYNTAX, "a message must be a JSON object");
  }
  sn_status status = sni_doc_read_text(text, n, "message", &limits, &doc, err);
  status = status ? status : read_root(sni_doc_root(doc), out, name, err);
  sni_doc_free(&doc);
  return status;
}
