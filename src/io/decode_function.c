/* decode_function.c: time functions: a number, an expression of t, keyframes or a CSV column. */
#include "io/decode.h"

#include <math.h>
#include <string.h>

#include "io/words.h"
#include "math/expr.h"

#define FUNCTION_WORDS                                                                             \
  "a time function: a number, an expression of t, {keyframes, interpolation} or {csv, column}"

static bool decode_expression(sni_decoder *d, const sni_node *node, sn_function_def *out) {
  static const char *const names[] = {"t"};
  sni_expr *expr = NULL;
  sn_error err = {0};
  if (sni_expr_compile(node->text, names, 1, &expr, &err) != SN_OK) {
    sni_decode_fail_expression(d, node, &err);
    return false;
  }
  sni_expr_free(&expr);
  out->expression = node->text;
  return true;
}

static bool decode_keys(sni_decoder *d, const sni_node *node, sn_function_def *out) {
  const size_t n = sni_node_count(node);
  if (node->kind != SNI_NODE_SEQUENCE || n == 0) {
    if (node->kind == SNI_NODE_SEQUENCE) {
      sni_decode_fail(d, SN_E_SYNTAX, node, "is an empty list, needs pairs [t, value]");
    } else {
      sni_decode_fail_type(d, node, "a list of pairs [t, value]");
    }
    return false;
  }
  double *time = sni_pool_take(d->pool, n, sizeof *time);
  double *value = sni_pool_take(d->pool, n, sizeof *value);
  bool good = time && value;
  for (size_t i = 0; i < n && time && value; i++) {
    double pair[2] = {0};
    const size_t before = sni_path_index(d, i);
    good = sni_decode_numbers(d, sni_node_at(node, i), 2, 0, pair) && good;
    sni_path_back(d, before);
    time[i] = pair[0];
    value[i] = pair[1];
  }
  out->key_time = time;
  out->key_value = value;
  out->nkey = (int)n;
  return good;
}

static bool check_map(sni_decoder *d, const sni_node *map) {
  bool good = true;
  for (size_t i = 0; i < sni_node_count(map); i++) {
    const sni_node *entry = sni_node_at(map, i);
    if (strcmp(entry->key, "keyframes") != 0 && strcmp(entry->key, "interpolation") != 0 &&
        strcmp(entry->key, "csv") != 0 && strcmp(entry->key, "column") != 0) {
      sni_decode_fail_key(d, SN_E_SYNTAX, entry, "unknown key '%s', needs " FUNCTION_WORDS,
                          sni_show(entry->key).text);
      good = false;
    }
  }
  const bool keys = sni_node_get(map, "keyframes"), csv = sni_node_get(map, "csv");
  const bool column = sni_node_get(map, "column");
  if (keys == csv) {
    sni_decode_fail(d, SN_E_SYNTAX, map, "has %s, needs one of them",
                    csv ? "keyframes and csv" : "neither keyframes nor csv");
    good = false;
  } else if (csv != column) {
    sni_decode_fail(d, SN_E_SYNTAX, map, "%s",
                    csv ? "needs the key 'column': the name of a column of the file"
                        : "has a column, but only a csv has columns");
    good = false;
  }
  return good;
}

static bool decode_map(sni_decoder *d, const sni_node *map, sn_function_def *out) {
  bool good = check_map(d, map);
  for (size_t i = 0; i < sni_node_count(map); i++) {
    const sni_node *entry = sni_node_at(map, i);
    const size_t before = sni_path_key(d, entry->key);
    if (strcmp(entry->key, "keyframes") == 0) {
      good = decode_keys(d, entry, out) && good;
    } else if (strcmp(entry->key, "interpolation") == 0) {
      int k = 0;
      good = sni_decode_choice(d, entry, SNI_INTERPOLATION_CHOICES, &k) && good;
      out->interpolation = (sn_interpolation)k;
    } else if (strcmp(entry->key, "csv") == 0) {
      good = sni_decode_file(d, entry, &out->csv_file) && good;
    } else if (strcmp(entry->key, "column") == 0) {
      good = sni_decode_text(d, entry, "the name of a column", &out->csv_column) && good;
    }
    sni_path_back(d, before);
  }
  return good;
}

bool sni_decode_function(sni_decoder *d, const sni_node *node, sn_function_def *out) {
  sn_function_def def = {0};
  bool good;
  if (node->kind == SNI_NODE_MAPPING) {
    good = decode_map(d, node, &def);
  } else if (node->kind == SNI_NODE_SEQUENCE || sni_node_is_null(node) || sni_node_is_bool(node)) {
    sni_decode_fail_type(d, node, FUNCTION_WORDS);
    good = false;
  } else if (sni_node_is_literal(node)) {
    good = sni_decode_number(d, node, 0, &def.value);
  } else {
    good = decode_expression(d, node, &def);
  }
  if (good) {
    *out = def;
  }
  return good;
}

static bool decode_list(sni_decoder *d, const sni_node *list, size_t n, sn_function_def *out) {
  bool good = true;
  for (size_t i = 0; i < n; i++) {
    const size_t before = sni_path_index(d, i);
    good = sni_decode_function(d, sni_node_at(list, i), &out[i]) && good;
    sni_path_back(d, before);
  }
  return good;
}

bool sni_decode_functions(sni_decoder *d, const sni_node *node, int most, sn_function_def *out,
                          int *count) {
  *count = 1;
  if (node->kind != SNI_NODE_SEQUENCE) {
    return sni_decode_function(d, node, out);
  }
  const size_t n = sni_node_count(node);
  if (n == 0 || n > (size_t)most) {
    sni_decode_fail(d, SN_E_SYNTAX, node,
                    "has %zu entries, needs a time function for each coordinate, at most %d", n,
                    most);
    return false;
  }
  *count = (int)n;
  return decode_list(d, node, n, out);
}

bool sni_decode_function3(sni_decoder *d, const sni_node *node, sn_function_def *out) {
  if (node->kind != SNI_NODE_SEQUENCE) {
    sni_decode_fail_type(d, node, "a list of 3 time functions");
    return false;
  }
  const size_t n = sni_node_count(node);
  if (n != 3) {
    sni_decode_fail(d, SN_E_SYNTAX, node, "has %zu %s, needs 3 time functions", n,
                    n == 1 ? "entry" : "entries");
  }
  return decode_list(d, node, n < 3 ? n : 3, out) && n == 3;
}

bool sni_decode_twist(sni_decoder *d, const sni_node *node, sn_function_def *out, bool *given) {
  if (node->kind != SNI_NODE_SEQUENCE) {
    sni_decode_fail_type(d, node, "a list of 6 time functions or null");
    return false;
  }
  const size_t n = sni_node_count(node);
  if (n != 6) {
    sni_decode_fail(d, SN_E_SYNTAX, node, "has %zu %s, needs 6: time functions or null", n,
                    n == 1 ? "entry" : "entries");
  }
  bool good = n == 6;
  for (size_t i = 0; i < n && i < 6; i++) {
    const size_t before = sni_path_index(d, i);
    given[i] = !sni_node_is_null(sni_node_at(node, i));
    good = (!given[i] || sni_decode_function(d, sni_node_at(node, i), &out[i])) && good;
    sni_path_back(d, before);
  }
  return good;
}
