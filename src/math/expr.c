/* expr.c: from text to a postfix program, by recursive descent.
 *
 *     choice   := or ['?' choice ':' choice]
 *     or       := and {('or' | '||') and}
 *     and      := not {('and' | '&&') not}
 *     not      := 'not' not | compare
 *     compare  := sum [('<' | '<=' | '>' | '>=') sum]
 *     sum      := product {('+' | '-') product}
 *     product  := signed {('*' | '/') signed}
 *     signed   := ('-' | '+' | '!') signed | power
 *     power    := primary ['^' signed]
 *     primary  := number | name | name '(' [choice {',' choice}] ')' | '(' choice ')'
 *
 * Operations on constants are done while compiling, and have to give finite numbers. */
#include "math/expr_program.h"
#include "base/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
  const char *text;
  int pos; /* next character                                            */
  const char *const *names;
  int nname;
  sni_expr *expr; /* room for `capacity` operations                            */
  int capacity;
  int stack;   /* height of the stack behind the last operation             */
  int landing; /* the last target of a jump: constants before it stay apart */
  int nesting;
  sn_error *err;
  sn_status status;
} parser;

static bool parse_choice(parser *p);
static bool parse_signed(parser *p);

static bool fail_at(parser *p, int pos, sn_status code, const char *format, ...) SN_PRINTF(4, 5);

static bool fail_at(parser *p, int pos, sn_status code, const char *format, ...) {
  char text[SN_ERROR_TEXT_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  p->status = sni_fail(p->err, code, "%s", text);
  if (p->err) {
    p->err->column = pos + 1;
  }
  return false;
}

/* ---- Characters and words */

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static void skip_blanks(parser *p) {
  p->pos += (int)strspn(p->text + p->pos, " \t\r\n");
}

static char peek(parser *p) {
  skip_blanks(p);
  return p->text[p->pos];
}

static int word_length(const char *text) {
  int n = 0;
  while (is_letter(text[n]) || (n > 0 && is_digit(text[n]))) {
    n++;
  }
  return n;
}

static bool word_is(const char *text, int length, const char *word) {
  return (size_t)length == strlen(word) && strncmp(text, word, (size_t)length) == 0;
}

/* Takes a word operator or a sign if it comes next. */
static bool take(parser *p, const char *token) {
  const char *text = p->text + (skip_blanks(p), p->pos);
  const int length = (int)strlen(token);
  if (is_letter(token[0]) ? !word_is(text, word_length(text), token)
                          : strncmp(text, token, (size_t)length) != 0) {
    return false;
  }
  p->pos += length;
  return true;
}

static bool is_operator_word(const char *text, int length) {
  return word_is(text, length, "and") || word_is(text, length, "or") ||
         word_is(text, length, "not");
}

/* What stands at the current position, for messages: a word, a number, or one character. */
typedef struct token_text {
  char text[48];
} token_text;

static token_text describe(parser *p) {
  const char *s = p->text + (skip_blanks(p), p->pos);
  token_text t;
  double value;
  int length = word_length(s);
  if (length == 0) {
    length = (int)(sni_number_read(s, &value) - s);
  }
  if (length == 0 || *s == '+' || *s == '-') {
    length = 1;
    while ((s[length] & 0xc0) == 0x80) { /* the rest of a UTF-8 character */
      length++;
    }
  }
  if (length == 1 && ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f)) {
    snprintf(t.text, sizeof t.text, "\\x%02x", (unsigned)(unsigned char)*s);
  } else {
    const int shown = length <= 40 ? length : 37;
    snprintf(t.text, sizeof t.text, "%.*s%s", shown, s, shown < length ? "..." : "");
  }
  return t;
}

/* ---- Operations */

/* Appends one operation; pos is where a message about it points. */
static bool append(parser *p, int pos, sni_expr_op op) {
  const sni_expr_code_info *info = sni_expr_code_get(op.code);
  if (p->expr->nop >= p->capacity) { /* a program is never longer than its text */
    return fail_at(p, pos, SN_E_LIMIT, "expression is too large");
  }
  op.branch = -1;
  if (info->branches) {
    if (p->expr->nbranch >= SNI_EXPR_SWITCH_MAX) {
      return fail_at(p, pos, SN_E_LIMIT,
                     "more than %d comparisons and other switches in one expression",
                     SNI_EXPR_SWITCH_MAX);
    }
    op.branch = (int16_t)p->expr->nbranch++;
  }
  /* a jump leaves nothing: what stands on the stack at JUMP belongs to the other way */
  const bool jumps = op.code == SNI_EXPR_JUMP || op.code == SNI_EXPR_JUMP_UNLESS;
  p->stack += jumps ? -1 : 1 - info->nargs;
  if (p->stack > SNI_EXPR_STACK_MAX) {
    return fail_at(p, pos, SN_E_LIMIT, "more than %d intermediate values in one expression",
                   SNI_EXPR_STACK_MAX);
  }
  p->expr->op[p->expr->nop++] = op;
  return true;
}

static bool push_number(parser *p, int pos, double value) {
  return append(p, pos, (sni_expr_op){.code = SNI_EXPR_CONST, .value = value});
}

static const char *operator_sign(int code) {
  switch (code) {
  case SNI_EXPR_ADD:
    return "+";
  case SNI_EXPR_SUB:
    return "-";
  case SNI_EXPR_MUL:
    return "*";
  case SNI_EXPR_DIV:
    return "/";
  default: /* the others stay finite, or are written as functions too */
    return "^";
  }
}

static bool fail_not_finite(parser *p, int pos, int code, bool as_function, const double *x) {
  const sni_expr_code_info *info = sni_expr_code_get(code);
  if (!as_function) {
    return fail_at(p, pos, SN_E_VALUE, "%g %s %g is not a finite number", x[0], operator_sign(code),
                   x[1]);
  }
  if (info->nargs == 1) {
    return fail_at(p, pos, SN_E_VALUE, "%s(%g) is not a finite number", info->name, x[0]);
  }
  return fail_at(p, pos, SN_E_VALUE, "%s(%g, %g) is not a finite number", info->name, x[0], x[1]);
}

/* Appends an operation, or does it now if its arguments are constants. */
static bool operate(parser *p, int pos, int code, bool as_function) {
  const int nargs = sni_expr_code_get(code)->nargs;
  const int first = p->expr->nop - nargs;
  double x[SNI_EXPR_ARGS_MAX] = {0};
  bool constant = first >= p->landing;
  for (int k = 0; constant && k < nargs; k++) {
    constant = p->expr->op[first + k].code == SNI_EXPR_CONST;
    x[k] = p->expr->op[first + k].value;
  }
  if (!constant) {
    return append(p, pos, (sni_expr_op){.code = (int16_t)code});
  }
  double branch = 0;
  if (sni_expr_code_get(code)->branches) {
    branch = sni_expr_branch(code, x);
  }
  const double value = sni_expr_apply(code, x, branch);
  if (!isfinite(value)) {
    return fail_not_finite(p, pos, code, as_function, x);
  }
  p->expr->nop = first;
  p->stack -= nargs;
  return push_number(p, pos, value);
}

/* The two jumps of a choice: if(c, a, b) and c ? a : b alike. */
typedef struct choice {
  int to_else, to_end;
} choice;

static bool choice_then(parser *p, int pos, choice *c) {
  c->to_else = p->expr->nop;
  return append(p, pos, (sni_expr_op){.code = SNI_EXPR_JUMP_UNLESS});
}

static bool choice_else(parser *p, int pos, choice *c) {
  c->to_end = p->expr->nop;
  if (!append(p, pos, (sni_expr_op){.code = SNI_EXPR_JUMP})) {
    return false;
  }
  p->expr->op[c->to_else].arg = p->expr->nop;
  return true;
}

static void choice_end(parser *p, const choice *c) {
  p->expr->op[c->to_end].arg = p->expr->nop;
  p->landing = p->expr->nop;
}

/* ---- Grammar */

/* One rule inside another: all recursion passes here, so that its depth is bounded. */
static bool nested(parser *p, bool (*rule)(parser *)) {
  if (p->nesting == SNI_EXPR_NESTING_MAX) {
    skip_blanks(p);
    return fail_at(p, p->pos, SN_E_LIMIT, "nested deeper than %d", SNI_EXPR_NESTING_MAX);
  }
  p->nesting++;
  const bool ok = rule(p);
  p->nesting--;
  return ok;
}

static bool fail_no_value(parser *p) {
  const char c = peek(p);
  if (c == '\0') {
    return fail_at(p, p->pos, SN_E_SYNTAX, "a value is missing at the end");
  }
  if (strchr("+-*/^<>)?:,&|!", c) || is_letter(c)) {
    return fail_at(p, p->pos, SN_E_SYNTAX, "a value is missing before '%s'", describe(p).text);
  }
  return fail_at(p, p->pos, SN_E_SYNTAX, "unexpected character '%s'", describe(p).text);
}

/* Behind a complete expression comes something that cannot go on with it. */
static bool fail_unexpected(parser *p) {
  const char c = peek(p);
  const char *hint = "";
  if (is_letter(c) || is_digit(c) || c == '.' || c == '(') {
    hint = ": write * between factors";
  } else if (c == '=' || strncmp(p->text + p->pos, "!=", 2) == 0) {
    hint = ": compare with <, <=, > or >=";
  } else if (c == '<' || c == '>') {
    hint = ": write a < b and b < c instead of a < b < c";
  } else if (!strchr("),:!&|", c)) {
    return fail_at(p, p->pos, SN_E_SYNTAX, "unexpected character '%s'", describe(p).text);
  }
  return fail_at(p, p->pos, SN_E_SYNTAX, "unexpected '%s'%s", describe(p).text, hint);
}

/* ')' where one has to stand; other things there get their own message. */
static bool close_parenthesis(parser *p, int open) {
  if (take(p, ")")) {
    return true;
  }
  if (peek(p) != '\0' && peek(p) != ',' && peek(p) != ':') {
    return fail_unexpected(p);
  }
  return fail_at(p, p->pos, SN_E_SYNTAX, "missing ')' for the '(' at column %d", open + 1);
}

static bool fail_unknown(parser *p, int pos, const char *name, int length, bool function) {
  char known[SN_ERROR_TEXT_MAX];
  size_t used = 0;
  known[0] = '\0';
  const int shown = length <= 40 ? length : 40;
  for (int k = 0; !function && k < p->nname && used < sizeof known; k++) {
    used += (size_t)snprintf(known + used, sizeof known - used, "%s, ", p->names[k]);
  }
  for (int code = 0; function && code < SNI_EXPR_CODE_COUNT; code++) {
    const char *word = sni_expr_code_get(code)->name;
    if (word[0]) {
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", word);
    }
  }
  return fail_at(p, pos, SN_E_SYNTAX, "unknown %s '%.*s' (known here: %s%s)",
                 function ? "function" : "name", shown, name, known, function ? "" : "pi, deg, e");
}

static int find_variable(const parser *p, const char *name, int length) {
  for (int k = 0; k < p->nname; k++) {
    if (word_is(name, length, p->names[k])) {
      return k;
    }
  }
  return -1;
}

static int find_function(const char *name, int length) {
  for (int code = 0; code < SNI_EXPR_CODE_COUNT; code++) {
    if (word_is(name, length, sni_expr_code_get(code)->name)) {
      return code;
    }
  }
  return -1;
}

static bool is_repeatable(int code) {
  return code == SNI_EXPR_MIN || code == SNI_EXPR_MAX;
}

/* name '(' ... ')' with pos at the name and the '(' next */
static bool parse_call(parser *p, int pos, int length) {
  const char *name = p->text + pos;
  const int code = find_function(name, length);
  if (code < 0) {
    if (find_variable(p, name, length) >= 0) {
      return fail_at(p, pos, SN_E_SYNTAX, "'%.*s' is a variable: write %.*s*(...)", length, name,
                     length, name);
    }
    return fail_unknown(p, pos, name, length, true);
  }
  const bool is_if = code == SNI_EXPR_JUMP_UNLESS;
  const int nargs = is_if ? 3 : sni_expr_code_get(code)->nargs;
  const int open = p->pos;
  int count = 0;
  choice c = {0, 0};
  take(p, "(");
  if (peek(p) != ')') {
    do {
      if (!nested(p, parse_choice)) {
        return false;
      }
      count++;
      if (is_if && count == 1 && !choice_then(p, pos, &c)) {
        return false;
      }
      if (is_if && count == 2 && !choice_else(p, pos, &c)) {
        return false;
      }
      if (is_repeatable(code) && count >= 2 && !operate(p, pos, code, true)) {
        return false;
      }
    } while (take(p, ","));
  }
  if (!close_parenthesis(p, open)) {
    return false;
  }
  if (count < nargs || (count > nargs && !is_repeatable(code))) {
    return fail_at(p, pos, SN_E_SYNTAX, "%s needs %d%s argument%s, got %d",
                   sni_expr_code_get(code)->name, nargs, is_repeatable(code) ? " or more" : "",
                   nargs == 1 ? "" : "s", count);
  }
  if (is_if) {
    choice_end(p, &c);
    return true;
  }
  return is_repeatable(code) || operate(p, pos, code, true);
}

static bool parse_name(parser *p) {
  static const struct {
    const char *name;
    double value;
  } constants[] = {{"pi", 3.14159265358979323846},
                   {"deg", 0.017453292519943295769},
                   {"e", 2.71828182845904523536}};
  const int pos = p->pos;
  const char *name = p->text + pos;
  const int length = word_length(name);
  if (is_operator_word(name, length)) {
    return fail_no_value(p);
  }
  p->pos += length;
  if (peek(p) == '(') {
    return parse_call(p, pos, length);
  }
  const int variable = find_variable(p, name, length);
  if (variable >= 0) {
    return append(p, pos, (sni_expr_op){.code = SNI_EXPR_VAR, .arg = variable});
  }
  for (size_t k = 0; k < sizeof constants / sizeof constants[0]; k++) {
    if (word_is(name, length, constants[k].name)) {
      return push_number(p, pos, constants[k].value);
    }
  }
  if (find_function(name, length) >= 0) {
    return fail_at(p, pos, SN_E_SYNTAX, "'%.*s' is a function: write %.*s(...)", length, name,
                   length, name);
  }
  return fail_unknown(p, pos, name, length, false);
}

static bool parse_number(parser *p) {
  const int pos = p->pos;
  double value;
  const char *end = sni_number_read(p->text + pos, &value);
  if (end == p->text + pos) { /* a lone point */
    return fail_at(p, pos, SN_E_SYNTAX, "unexpected character '.'");
  }
  const int length = (int)(end - (p->text + pos));
  if (!isfinite(value)) {
    return fail_at(p, pos, SN_E_VALUE, "'%s' is too large for a number", describe(p).text);
  }
  p->pos += length;
  return push_number(p, pos, value);
}

static bool parse_primary(parser *p) {
  const char c = peek(p);
  if (is_digit(c) || c == '.') {
    return parse_number(p);
  }
  if (is_letter(c)) {
    return parse_name(p);
  }
  if (c == '(') {
    const int open = p->pos++;
    return nested(p, parse_choice) && close_parenthesis(p, open);
  }
  return fail_no_value(p);
}

static bool parse_power(parser *p) {
  if (!parse_primary(p)) {
    return false;
  }
  if (peek(p) != '^') {
    return true;
  }
  const int pos = p->pos++;
  return nested(p, parse_signed) && operate(p, pos, SNI_EXPR_POW, false);
}

static bool parse_signed(parser *p) {
  const char c = peek(p);
  if (c != '-' && c != '+' && c != '!') {
    return parse_power(p);
  }
  const int pos = p->pos++;
  return nested(p, parse_signed) &&
         (c == '+' || operate(p, pos, c == '-' ? SNI_EXPR_NEG : SNI_EXPR_NOT, false));
}

static bool parse_product(parser *p) {
  if (!parse_signed(p)) {
    return false;
  }
  for (char c = peek(p); c == '*' || c == '/'; c = peek(p)) {
    const int pos = p->pos++;
    if (c == '*' && p->text[p->pos] == '*') {
      return fail_at(p, pos, SN_E_SYNTAX, "unexpected '**': write ^ for powers");
    }
    if (!parse_signed(p) || !operate(p, pos, c == '*' ? SNI_EXPR_MUL : SNI_EXPR_DIV, false)) {
      return false;
    }
  }
  return true;
}

static bool parse_sum(parser *p) {
  if (!parse_product(p)) {
    return false;
  }
  for (char c = peek(p); c == '+' || c == '-'; c = peek(p)) {
    const int pos = p->pos++;
    if (!parse_product(p) || !operate(p, pos, c == '+' ? SNI_EXPR_ADD : SNI_EXPR_SUB, false)) {
      return false;
    }
  }
  return true;
}

static bool parse_compare(parser *p) {
  if (!parse_sum(p)) {
    return false;
  }
  const char c = peek(p);
  if (c != '<' && c != '>') {
    return true;
  }
  const int pos = p->pos++;
  const bool or_equal = p->text[p->pos] == '=';
  p->pos += or_equal;
  const int code =
      c == '<' ? (or_equal ? SNI_EXPR_LE : SNI_EXPR_LT) : (or_equal ? SNI_EXPR_GE : SNI_EXPR_GT);
  return parse_sum(p) && operate(p, pos, code, false);
}

static bool parse_not(parser *p) {
  skip_blanks(p);
  const int pos = p->pos;
  if (!take(p, "not")) {
    return parse_compare(p);
  }
  return nested(p, parse_not) && operate(p, pos, SNI_EXPR_NOT, false);
}

static bool parse_and(parser *p) {
  if (!parse_not(p)) {
    return false;
  }
  for (;;) {
    skip_blanks(p);
    const int pos = p->pos;
    if (!take(p, "and") && !take(p, "&&")) {
      return true;
    }
    if (!parse_not(p) || !operate(p, pos, SNI_EXPR_AND, false)) {
      return false;
    }
  }
}

static bool parse_or(parser *p) {
  if (!parse_and(p)) {
    return false;
  }
  for (;;) {
    skip_blanks(p);
    const int pos = p->pos;
    if (!take(p, "or") && !take(p, "||")) {
      return true;
    }
    if (!parse_and(p) || !operate(p, pos, SNI_EXPR_OR, false)) {
      return false;
    }
  }
}

static bool parse_choice(parser *p) {
  if (!parse_or(p)) {
    return false;
  }
  if (peek(p) != '?') {
    return true;
  }
  choice c;
  const int pos = p->pos++;
  if (!choice_then(p, pos, &c) || !nested(p, parse_choice)) {
    return false;
  }
  if (!take(p, ":")) {
    return fail_at(p, p->pos, SN_E_SYNTAX, "missing ':' for the '?' at column %d", pos + 1);
  }
  if (!choice_else(p, pos, &c) || !nested(p, parse_choice)) {
    return false;
  }
  choice_end(p, &c);
  return true;
}

/* ---- Whole expressions */

/* A program without variables becomes one number: choices between constants are still in it. */
static bool reduce_constant(parser *p) {
  for (int i = 0; i < p->expr->nop; i++) {
    if (p->expr->op[i].code == SNI_EXPR_VAR) {
      return true;
    }
  }
  const double value = sni_expr_eval(p->expr, NULL);
  if (!isfinite(value)) {
    return fail_at(p, 0, SN_E_VALUE, "the value is not a finite number");
  }
  p->expr->op[0] = (sni_expr_op){.code = SNI_EXPR_CONST, .branch = -1, .value = value};
  p->expr->nop = 1;
  p->expr->nbranch = 0;
  return true;
}

static size_t program_size(int nop) {
  return sizeof(sni_expr) + (size_t)nop * sizeof(sni_expr_op);
}

static bool parse_text(parser *p, size_t length) {
  if (length > SNI_EXPR_LENGTH_MAX) {
    return fail_at(p, SNI_EXPR_LENGTH_MAX, SN_E_LIMIT, "expression is longer than %d characters",
                   SNI_EXPR_LENGTH_MAX);
  }
  if (peek(p) == '\0') {
    return fail_at(p, 0, SN_E_SYNTAX, "empty expression, needs a number or a formula");
  }
  return parse_choice(p) && (peek(p) == '\0' || fail_unexpected(p)) && reduce_constant(p);
}

sn_status sni_expr_compile(const char *text, const char *const *names, int nname, sni_expr **out,
                           sn_error *err) {
  if (!text || !out || nname < 0 || nname > SNI_EXPR_NAME_MAX) {
    return sni_fail(err, SN_E_ARGUMENT, "expression needs a text and at most %d names",
                    SNI_EXPR_NAME_MAX);
  }
  size_t length = 0; /* never looks far behind the limit */
  while (length <= SNI_EXPR_LENGTH_MAX && text[length] != '\0') {
    length++;
  }
  const int capacity = length <= SNI_EXPR_LENGTH_MAX ? (int)length : 0;
  sni_expr *expr = malloc(program_size(capacity));
  if (!expr) {
    return sni_fail(err, SN_E_MEMORY, "out of memory for an expression");
  }
  expr->nop = expr->nbranch = 0;
  parser p = {.text = text,
              .names = names,
              .nname = nname,
              .expr = expr,
              .capacity = capacity,
              .err = err,
              .status = SN_OK};
  if (!parse_text(&p, length)) {
    free(expr);
    return p.status;
  }
  sni_expr *fitted = realloc(expr, program_size(expr->nop));
  *out = fitted ? fitted : expr;
  return SN_OK;
}

void sni_expr_free(sni_expr **expr) {
  free(*expr);
  *expr = NULL;
}

size_t sni_expr_size(const sni_expr *expr) {
  return program_size(expr->nop);
}

bool sni_expr_uses(const sni_expr *expr, int variable) {
  for (int i = 0; i < expr->nop; i++) {
    if (expr->op[i].code == SNI_EXPR_VAR && expr->op[i].arg == variable) {
      return true;
    }
  }
  return false;
}

bool sni_expr_is_smooth(const sni_expr *expr) {
  return expr->nbranch == 0;
}

bool sni_expr_is_constant(const sni_expr *expr) {
  return expr->nop == 1 && expr->op[0].code == SNI_EXPR_CONST;
}

sn_status sni_expr_constant(const char *text, double *out, sn_error *err) {
  if (!text || !out) {
    return sni_fail(err, SN_E_ARGUMENT, "a constant needs a text");
  }
  /* nearly always a plain number */
  const char *start = text + strspn(text, " \t\r\n");
  double value;
  const char *end = sni_number_read(start, &value);
  if (end != start && isfinite(value) && end[strspn(end, " \t\r\n")] == '\0') {
    *out = value;
    return SN_OK;
  }
  sni_expr *expr = NULL;
  const sn_status status = sni_expr_compile(text, NULL, 0, &expr, err);
  if (status == SN_OK) {
    *out = sni_expr_eval(expr, NULL);
    sni_expr_free(&expr);
  }
  return status;
}
