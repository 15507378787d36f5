/* plot.c: `sinew plot`: channels of a table or a recording as curves, in SVG. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/series.h"
#include "cli/svg.h"
#include "io/choice.h"
#include "io/words.h"

typedef struct settings {
  const char *out, *x, *title;
  bool quiet;
} settings;

#define AT(member) offsetof(settings, member)
static const cli_option options[] = {
    {"-o", "FILE.svg", CLI_TEXT, AT(out), "the picture; must be given"},
    {"--x", "CHANNEL", CLI_TEXT, AT(x), "along the horizontal axis, instead of t"},
    {"--title", "TEXT", CLI_TEXT, AT(title), "above the picture, instead of the file's name"},
    {"--quiet", NULL, CLI_FLAG, AT(quiet), "no summary"}};

typedef struct job {
  const cli_command *self;
  const settings *s;
  cli_series data;
  int x;                      /* column */
  int column[SVG_SERIES_MAX]; /* of the curves */
  svg_panel panel;
} job;

static int fail_channel(const job *j, const char *name) {
  sni_suggestion s = {.word = name};
  for (int k = 0; k < j->data.ncol; k++) {
    sni_suggest(&s, cli_series_name(&j->data, k));
  }
  return cli_fail(j->self, "%s has no channel '%s'%s%s%s", j->data.path, sni_show(name).text,
                  s.best ? ": did you mean '" : "", s.best ? s.best : "", s.best ? "'?" : "");
}

static int add_curve(job *j, int column) {
  for (int k = 0; k < j->panel.count; k++) {
    if (j->column[k] == column) {
      return CLI_DONE;
    }
  }
  if (j->panel.count == SVG_SERIES_MAX) {
    return cli_fail(j->self, "more than %d curves cannot be told apart: choose fewer channels",
                    SVG_SERIES_MAX);
  }
  const int k = j->panel.count++;
  j->column[k] = column;
  j->panel.series[k].name = cli_series_name(&j->data, column);
  j->panel.series[k].color = k;
  return CLI_DONE;
}

/* Names, or patterns with * and ?. */
static int choose(job *j, const char *pattern) {
  bool found = false;
  int code = CLI_DONE;
  for (int k = 0; k < j->data.ncol && !code; k++) {
    const char *name = cli_series_name(&j->data, k);
    const bool same = strcmp(name, pattern) == 0;
    if (same || (k != j->x && sni_choice_fits(pattern, name))) {
      found = true;
      code = add_curve(j, k);
    }
  }
  return code || found ? code : fail_channel(j, pattern);
}

static int read_curves(job *j) {
  double *row = malloc((size_t)j->data.ncol * sizeof *row);
  sn_error err = {0};
  sn_status status = row ? SN_OK : SN_E_MEMORY;
  for (int64_t k = 0; !status && k < j->data.nrow; k++) {
    status = cli_series_row(&j->data, k, row, &err);
    for (int c = 0; !status && c < j->panel.count; c++) {
      const bool good = svg_add(&j->panel.series[c], row[j->x], row[j->column[c]]);
      status = good ? SN_OK : SN_E_MEMORY;
    }
  }
  free(row);
  if (status == SN_E_MEMORY) {
    snprintf(err.text, sizeof err.text, "no memory for the curves");
  }
  if (status) {
    cli_print_error(&err);
  }
  return cli_code(status);
}

static int draw(job *j) {
  const char *slash = strrchr(j->data.path, '/');
  const svg_style style = {.title = j->s->title ? j->s->title
                                    : slash     ? slash + 1
                                                : j->data.path,
                           .x_label = cli_series_name(&j->data, j->x),
                           .y_label = j->panel.count == 1 ? j->panel.series[0].name : "",
                           .width = 900,
                           .height = 460,
                           .beside = true};
  sni_text text = {0};
  j->panel.title = "";
  svg_write(&j->panel, 1, &style, &text);
  char *svg = sni_text_take(&text);
  errno = 0;
  FILE *to = svg ? fopen(j->s->out, "w") : NULL;
  bool good = to && fputs(svg, to) >= 0;
  good = to && fclose(to) == 0 && good;
  free(svg);
  return good ? CLI_DONE
              : cli_fail(j->self, "cannot write '%s': %s", j->s->out,
                         errno ? strerror(errno) : "out of memory");
}

static int plot(job *j, const cli_list *plain) {
  sn_error err = {0};
  if (cli_series_open(&j->data, plain->item[0], &err)) {
    cli_print_error(&err);
    return cli_code(err.code);
  }
  j->x = cli_series_find(&j->data, j->s->x ? j->s->x : "t");
  int code = j->x >= 0 ? CLI_DONE : fail_channel(j, j->s->x ? j->s->x : "t");
  for (int k = 1; k < plain->count && !code; k++) {
    code = choose(j, plain->item[k]);
  }
  if (!code && j->data.nrow < 2) {
    code = cli_fail(j->self, "%s has %lld row%s, a curve needs two", j->data.path,
                    (long long)j->data.nrow, j->data.nrow == 1 ? "" : "s");
  }
  code = code ? code : read_curves(j);
  code = code ? code : draw(j);
  if (!code && !j->s->quiet) {
    printf("%s: %d curve%s of %lld points\n", j->s->out, j->panel.count,
           j->panel.count == 1 ? "" : "s", (long long)j->data.nrow);
  }
  return code;
}

static int run(const cli_command *self, int argc, char **argv) {
  settings s = {0};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  if (code == CLI_GO && !s.out) {
    code = cli_fail(self, "-o FILE.svg is missing: where should the picture go?");
  }
  code = code == CLI_GO ? cli_check_output(self, "-o", s.out, plain.item, 1) : code;
  if (code == CLI_GO) {
    job j = {.self = self, .s = &s};
    code = plot(&j, &plain);
    cli_series_close(&j.data);
    svg_panel_free(&j.panel);
  }
  cli_list_free(&plain);
  return code;
}

const cli_command cli_plot = {
    .name = "plot",
    .arguments = "FILE CHANNEL... -o PLOT.svg",
    .least = 2,
    .most = 1000,
    .doc = "draw channels of a recording or a table",
    .about =
        "Draws channels of a table (.csv) or a recording (.snr) as curves over time.  Channels\n"
        "may be patterns with * and ?; at most eight curves fit into a picture.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew run scenes/double_pendulum.yaml --out swing.snr\n"
                "  sinew plot swing.snr '*.q' -o angles.svg\n"
                "  sinew plot swing.snr upper.qd --x upper.q -o phase.svg\n",
    .run = run};
