/* bench.c: `sinew bench`: remakes the tables of the manual on this machine. */
#include "bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "io/words.h"
#include "sinew_version.h"

static const bench_entry *const benches[] = {&bench_dynamics,  &bench_redmax,    &bench_loops,
                                             &bench_friction,  &bench_collision, &bench_contact,
                                             &bench_structured};
enum { BENCHES = sizeof benches / sizeof *benches };

typedef struct settings {
  const char *only, *json, *svg, *dump_qdd;
  double seconds;
  bool quick, quiet;
} settings;

static const cli_option options[] = {
    {"--quick", NULL, CLI_FLAG, offsetof(settings, quick), "fewer and shorter measurements"},
    {"--only", "SCENE:SIZE", CLI_TEXT, offsetof(settings, only),
     "one row: chain:100, tree:127, humanoid:22; bridge:80, deck:320; heap:1000"},
    {"--seconds", "S", CLI_NUMBER, offsetof(settings, seconds),
     "CPU time for each row and contestant; 0: check only"},
    {"--json", "FILE", CLI_TEXT, offsetof(settings, json), "write the results as JSON"},
    {"--svg", "FILE", CLI_TEXT, offsetof(settings, svg), "draw the results, where a bench can"},
    {"--dump-qdd", "FILE", CLI_TEXT, offsetof(settings, dump_qdd),
     "write the accelerations that were compared, as JSON"},
    {"--quiet", NULL, CLI_FLAG, offsetof(settings, quiet), "print no table"}};

static void json_head(sni_json *j, const bench_entry *bench) {
  const bench_machine m = bench_machine_find();
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "bench", bench->name);
  sni_json_open(j, "machine", "{");
  sni_json_text(j, "cpu", m.cpu);
  sni_json_raw(j, "cores", "%d", m.cores);
  sni_json_raw(j, "l1d_bytes", "%ld", m.l1d);
  sni_json_raw(j, "l2_bytes", "%ld", m.l2);
  sni_json_raw(j, "l3_bytes", "%ld", m.l3);
  sni_json_text(j, "compiler", SINEW_COMPILER);
  sni_json_text(j, "flags", SINEW_FLAGS);
  sni_json_text(j, "version", SINEW_VERSION);
  sni_json_text(j, "commit", SINEW_COMMIT);
  sni_json_close(j, "}");
}

/* A text that is being made for a file. */
typedef struct document {
  const char *path; /* NULL: nobody wants it */
  sni_json json;
  FILE *file;
} document;

static int document_open(const cli_command *self, document *d, bool list) {
  if (!d->path) {
    return CLI_DONE;
  }
  d->file = fopen(d->path, "w"); /* now, not after minutes of work */
  if (!d->file) {
    return cli_fail(self, "cannot write '%s': %s", d->path, strerror(errno));
  }
  if (list) {
    sni_json_open(&d->json, NULL, "[");
  }
  return CLI_DONE;
}

static int document_close(const cli_command *self, document *d, bool list, int code) {
  if (!d->file) {
    return code;
  }
  if (list) {
    sni_json_close(&d->json, "]");
  }
  errno = 0;
  const bool printed = cli_json_print(&d->json, d->file);
  const bool closed = fclose(d->file) == 0;
  return printed && closed ? code
                           : cli_fail(self, "cannot write '%s': %s", d->path, strerror(errno));
}

static int run_one(const bench_entry *bench, const settings *s, document *json, document *qdd,
                   FILE *svg) {
  const bench_settings b = {.only = s->only,
                            .seconds = s->seconds,
                            .quick = s->quick,
                            .quiet = s->quiet,
                            .svg = bench->draws ? svg : NULL};
  const bench_output out = {json->path ? &json->json : NULL, qdd->path ? &qdd->json : NULL};
  document *const part[] = {json, qdd};
  for (int k = 0; k < 2; k++) {
    if (part[k]->path) {
      json_head(&part[k]->json, bench);
    }
  }
  const int code = bench->run(&b, &out);
  for (int k = 0; k < 2; k++) {
    if (part[k]->path) {
      sni_json_close(&part[k]->json, "}");
    }
  }
  return code;
}

static int run_named(const cli_command *self, const settings *s, const char *name) {
  const bool all = strcmp(name, "all") == 0;
  sni_suggestion guess = {.word = name};
  bool known = all, draws = false;
  for (int k = 0; k < BENCHES; k++) {
    const bool wanted = strcmp(benches[k]->name, name) == 0;
    known = known || wanted;
    draws = draws || (benches[k]->draws && (all || wanted));
    sni_suggest(&guess, benches[k]->name);
  }
  if (!known) {
    return guess.best ? cli_fail(self, "there is no bench '%s': did you mean '%s'?",
                                 sni_show(name).text, guess.best)
                      : cli_fail(self, "there is no bench '%s': 'sinew bench' lists them",
                                 sni_show(name).text);
  }
  if (s->svg && !draws) {
    return cli_fail(self, "--svg: the bench '%s' draws nothing", name);
  }
  FILE *svg = s->svg ? fopen(s->svg, "w") : NULL;
  if (s->svg && !svg) {
    return cli_fail(self, "cannot write '%s': %s", s->svg, strerror(errno));
  }
  document json = {.path = s->json}, qdd = {.path = s->dump_qdd};
  int code = document_open(self, &json, all);
  code = code ? code : document_open(self, &qdd, all);
  for (int k = 0; k < BENCHES && code == CLI_DONE; k++) {
    if (all || strcmp(benches[k]->name, name) == 0) {
      code = run_one(benches[k], s, &json, &qdd, svg);
    }
  }
  if (svg && fclose(svg) != 0) {
    code = cli_fail(self, "cannot write '%s': %s", s->svg, strerror(errno));
  }
  code = document_close(self, &json, all, code);
  return document_close(self, &qdd, all, code);
}

static int bench(const cli_command *self, int argc, char **argv) {
  settings s = {.seconds = NAN};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  if (code == CLI_GO && s.seconds < 0) {
    code = cli_fail(self, "--seconds: is %g, needs a number >= 0", s.seconds);
  }
  if (code == CLI_GO && plain.count == 0) {
    for (int k = 0; k < BENCHES; k++) {
      printf("%-12s%s\n", benches[k]->name, benches[k]->doc);
    }
    printf("%-12severy one of them\n", "all");
    code = CLI_DONE;
  }
  code = code == CLI_GO ? run_named(self, &s, plain.item[0]) : code;
  cli_list_free(&plain);
  return code;
}

const cli_command cli_bench = {
    .name = "bench",
    .arguments = "[NAME|all] [OPTION...]",
    .most = 1,
    .doc = "measure speed on this machine, and check what was measured",
    .about =
        "Remakes a table of the manual on this machine, after checking that what it times is\n"
        "right.  Without a name it lists what there is.  The JSON is an object for each bench,\n"
        "with machine, rows and fits; for `all` it is a list of these.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew bench\n"
                "  sinew bench dynamics --quick\n"
                "  sinew bench redmax --only bridge:80 --svg bridge.svg\n"
                "  sinew bench loops --only umbrella:10\n"
                "  sinew bench dynamics --only chain:1000 --seconds 0.2 --json chain.json\n",
    .run = bench};
