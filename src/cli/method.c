/* method.c: the options of methods, from the tables by which scenes are read. */
#include "cli/method.h"

#include <string.h>

#include "base/error.h"
#include "io/describe.h"
#include "io/words.h"

/* The options of a method: the table behind its name in `run`; NULL: none. */
static const sni_table *method_table(const char *method) {
  for (int k = 0; k < sni_run_table.count; k++) {
    const sni_field *field = &sni_run_table.field[k];
    if (field->type == SNI_F_TABLE && strcmp(field->key, method) == 0) {
      return field->table;
    }
  }
  return NULL;
}

/* Place of a word in "dopri5|rk4"; -1: it is not there. */
static int find_choice(const char *choices, const char *word) {
  sni_choice choice;
  for (int k = 0; sni_choice_get(choices, k, &choice); k++) {
    if (strcmp(choice.word, word) == 0) {
      return k;
    }
  }
  return -1;
}

sn_status cli_method_integrator(sn_run_def *run, const char *integrator, sn_error *err) {
  const sni_table *table = method_table(run->options.method);
  for (int k = 0; table && k < table->count; k++) {
    const sni_field *field = &table->field[k];
    if (field->type != SNI_F_CHOICE || strcmp(field->key, "integrator") != 0) {
      continue;
    }
    const int choice = find_choice(field->choices, integrator);
    if (choice < 0) {
      return sni_fail(err, SN_E_VALUE, "--integrator: the method '%s' has no '%s', but %s",
                      run->options.method, sni_show(integrator).text, field->choices);
    }
    *(int *)((char *)run + field->offset) = choice;
    return SN_OK;
  }
  return sni_fail(err, SN_E_VALUE, "--integrator: the method '%s' has no choice of integrators",
                  run->options.method);
}

bool cli_method_get_integrator(const sn_run_def *run, char *out, size_t out_size) {
  const sni_table *table = method_table(run->options.method);
  for (int k = 0; table && k < table->count; k++) {
    const sni_field *field = &table->field[k];
    if (field->type == SNI_F_CHOICE && strcmp(field->key, "integrator") == 0) {
      return sni_describe_default(field, run, out, out_size);
    }
  }
  return false;
}

void cli_method_print(const sn_run_def *run, FILE *to) {
  const sni_table *table = method_table(run->options.method);
  const char *before = " (";
  fputs(run->options.method, to);
  for (int k = 0; table && k < table->count; k++) {
    char value[128];
    if (sni_describe_default(&table->field[k], run, value, sizeof value)) {
      fprintf(to, "%s%s %s", before, table->field[k].key, value);
      before = ", ";
    }
  }
  fputs(before[0] == ',' ? ")" : "", to);
}

void cli_method_json(const sn_run_def *run, sni_json *j) {
  const sni_table *table = method_table(run->options.method);
  sni_json_text(j, "method", run->options.method);
  if (!table) {
    return;
  }
  sni_json_open(j, run->options.method, "{");
  for (int k = 0; k < table->count; k++) {
    const sni_field *field = &table->field[k];
    char value[128];
    if (!sni_describe_default(field, run, value, sizeof value)) {
      continue;
    }
    if (field->type == SNI_F_CHOICE || field->type == SNI_F_WORD) {
      sni_json_text(j, field->key, value);
    } else {
      sni_json_raw(j, field->key, "%s", value);
    }
  }
  sni_json_close(j, "}");
}
