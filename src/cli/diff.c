/* diff.c: `sinew diff`: how far two recordings or tables are apart, where and when. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/series.h"
#include "io/choice.h"

#define SHOWN      10   /* of the things that differ */
#define FLOAT_STEP 1e-6 /* of their size: what float32 poses may differ by if anything may */
#define SAME_TIME  1e-9 /* relative */

typedef struct settings {
  double abs, rel;
  cli_list channels;
  bool common, quiet, json;
} settings;

#define AT(member) offsetof(settings, member)
static const cli_option options[] = {
    {"--abs", "X", CLI_NUMBER, AT(abs), "differences up to X do not count; default 0"},
    {"--rel", "X", CLI_NUMBER, AT(rel),
     "nor do those up to X times the largest value of the channel; default 0"},
    {"--channels", "PATTERNS", CLI_WORDS, AT(channels),
     "compare these alone, separated by commas, with * and ?; poses are left out then"},
    {"--common", NULL, CLI_FLAG, AT(common),
     "times that only one file has do not count as a difference"},
    {"--quiet", NULL, CLI_FLAG, AT(quiet), "say nothing, only the exit status"},
    {"--json", NULL, CLI_FLAG, AT(json), "print everything as JSON"}};

/* Something that both files have. */
typedef struct thing {
  const char *name;
  const char *kind;  /* "channel", "place", "turn" */
  int a, b;          /* columns, or bodies */
  double largest, t; /* difference, and when */
  double in_a, in_b; /* values there; of channels */
  double size;       /* largest value */
  bool differs;
} thing;

typedef struct job {
  const cli_command *self;
  const settings *s;
  cli_series a, b;
  double *row_a, *row_b;
  thing *thing;
  int nthing, nchannel, ndiffers;
  int only_a, only_b;     /* channels and bodies */
  int64_t rows, alone[2]; /* times in both, and in one file only */
  bool other_model;
  char made[2][96]; /* method and step of recordings; "": not known */
} job;

/* ---- what there is to compare ---- */

static bool wanted(const job *j, const char *name) {
  bool fits = j->s->channels.count == 0;
  for (int k = 0; k < j->s->channels.count; k++) {
    fits = fits || sni_choice_fits(j->s->channels.item[k], name);
  }
  return fits;
}

static void pair_channels(job *j) {
  int shared = 0, in_b = 0;
  for (int k = 0; k < j->a.ncol; k++) {
    const char *name = cli_series_name(&j->a, k);
    const int other = cli_series_find(&j->b, name);
    if (strcmp(name, "t") != 0 && wanted(j, name)) {
      if (other < 0) {
        j->only_a++;
      } else {
        j->thing[j->nthing++] = (thing){.name = name, .kind = "channel", .a = k, .b = other};
        shared++;
      }
    }
  }
  for (int k = 0; k < j->b.ncol; k++) {
    const char *name = cli_series_name(&j->b, k);
    in_b += strcmp(name, "t") != 0 && wanted(j, name);
  }
  j->nchannel = shared;
  j->only_b += in_b - shared;
}

static int find_body(const sn_recording *r, const char *name, int hint) {
  const int n = sn_recording_body_count(r);
  for (int k = 0; k < n; k++) { /* nearly always at the same place */
    const int body = (hint + k) % n;
    if (strcmp(sn_recording_body_name(r, body), name) == 0) {
      return body;
    }
  }
  return -1;
}

static void pair_bodies(job *j) {
  int shared = 0;
  for (int k = 0; k < sn_recording_body_count(j->a.snr); k++) {
    const char *name = sn_recording_body_name(j->a.snr, k);
    const int other = find_body(j->b.snr, name, k);
    if (other < 0) {
      j->only_a++;
      continue;
    }
    shared++;
    j->thing[j->nthing++] = (thing){.name = name, .kind = "place", .a = k, .b = other};
    j->thing[j->nthing++] = (thing){.name = name, .kind = "turn", .a = k, .b = other, .size = 1};
  }
  j->only_b += sn_recording_body_count(j->b.snr) - shared;
}

static bool prepare(job *j) {
  const bool poses = j->a.snr && j->b.snr && j->s->channels.count == 0;
  const size_t n =
      (size_t)j->a.ncol + (poses ? 2 * (size_t)sn_recording_body_count(j->a.snr) : 0) + 1;
  j->thing = calloc(n, sizeof *j->thing);
  j->row_a = calloc((size_t)j->a.ncol + 1, sizeof *j->row_a);
  j->row_b = calloc((size_t)j->b.ncol + 1, sizeof *j->row_b);
  if (!j->thing || !j->row_a || !j->row_b) {
    return false;
  }
  pair_channels(j);
  if (poses) {
    pair_bodies(j);
  }
  return true;
}

/* ---- comparing ---- */

static void note(thing *x, double difference, double size, double t, double in_a, double in_b) {
  x->size = fmax(x->size, size);
  if (difference > x->largest) {
    x->largest = difference;
    x->t = t;
    x->in_a = in_a;
    x->in_b = in_b;
  }
}

/* q and -q are the same turn: the nearer one counts. */
static double turn_between(const float *p, const float *q) {
  double minus = 0, plus = 0;
  for (int c = 0; c < 4; c++) {
    const double a = (double)p[c], b = (double)q[c];
    minus += (a - b) * (a - b);
    plus += (a + b) * (a + b);
  }
  return 4 * asin(fmin(1, 0.5 * sqrt(fmin(minus, plus))));
}

static void compare_pose(thing *x, const float *p, const float *q, double t) {
  if (strcmp(x->kind, "turn") == 0) {
    note(x, turn_between(p + 3, q + 3), 1, t, NAN, NAN);
    return;
  }
  double square = 0, size = 0;
  for (int c = 0; c < 3; c++) {
    const double a = (double)p[c], b = (double)q[c];
    square += (a - b) * (a - b);
    size = fmax(size, fmax(fabs(a), fabs(b)));
  }
  note(x, sqrt(square), size, t, NAN, NAN);
}

static void compare_row(job *j, double t) {
  for (int k = 0; k < j->nthing; k++) {
    thing *x = &j->thing[k];
    if (k < j->nchannel) {
      const double a = j->row_a[x->a], b = j->row_b[x->b];
      note(x, fabs(a - b), fmax(fabs(a), fabs(b)), t, a, b);
    } else {
      compare_pose(x, j->a.frame.pose + 7 * (size_t)x->a, j->b.frame.pose + 7 * (size_t)x->b, t);
    }
  }
}

/* Goes through both files by time; times that only one has are counted. */
static sn_status compare_rows(job *j, sn_error *err) {
  const int ta = cli_series_find(&j->a, "t"), tb = cli_series_find(&j->b, "t");
  int64_t ka = 0, kb = 0;
  while (ka < j->a.nrow && kb < j->b.nrow) {
    sn_status status = cli_series_row(&j->a, ka, j->row_a, err);
    status = status ? status : cli_series_row(&j->b, kb, j->row_b, err);
    if (status) {
      return status;
    }
    const double a = j->row_a[ta], b = j->row_b[tb];
    if (fabs(a - b) <= SAME_TIME * fmax(1, fabs(a))) {
      compare_row(j, a);
      j->rows++;
      ka++;
      kb++;
    } else if (a < b) {
      j->alone[0]++;
      ka++;
    } else {
      j->alone[1]++;
      kb++;
    }
  }
  j->alone[0] += j->a.nrow - ka;
  j->alone[1] += j->b.nrow - kb;
  return SN_OK;
}

/* Poses are float32, so a tolerance below that of float32 means nothing for them; none at all means
 * every bit. */
static void judge(job *j) {
  const settings *s = j->s;
  for (int k = 0; k < j->nthing; k++) {
    thing *x = &j->thing[k];
    const bool any = s->abs > 0 || s->rel > 0;
    const double rel = k >= j->nchannel && any ? fmax(s->rel, FLOAT_STEP) : s->rel;
    x->differs = !(x->largest <= s->abs + rel * x->size);
    j->ndiffers += x->differs;
  }
}

/* ---- the answer ---- */

static double relative(const thing *x) {
  return x->size > 0 ? x->largest / x->size : 0;
}

static int by_size(const void *a, const void *b) {
  const thing *x = a, *y = b;
  if (x->differs != y->differs) {
    return y->differs - x->differs;
  }
  const double p = relative(x), q = relative(y);
  return (p < q) - (p > q);
}

static void print_thing(const thing *x) {
  char name[80];
  snprintf(name, sizeof name, "%.60s%s", x->name,
           strcmp(x->kind, "channel") == 0 ? ""
           : strcmp(x->kind, "place") == 0 ? " (place)"
                                           : " (turn)");
  printf("  %-24s %.3g at t = %g", name, x->largest, x->t);
  if (strcmp(x->kind, "turn") != 0) {
    printf(", %.2g of the largest", relative(x));
  }
  if (!isnan(x->in_a)) {
    printf(": %.9g and %.9g", x->in_a, x->in_b);
  }
  putchar('\n');
}

static bool same(const job *j) {
  const bool times = j->s->common || (j->alone[0] == 0 && j->alone[1] == 0);
  return j->ndiffers == 0 && j->only_a == 0 && j->only_b == 0 && times;
}

static void print_result(const job *j) {
  const thing *worst = j->nthing > 0 ? &j->thing[0] : NULL;
  printf("%s and %s: %s\n", j->a.path, j->b.path,
         !same(j)                      ? "different"
         : worst && worst->largest > 0 ? "the same, within the tolerance"
                                       : "the same");
  printf("  compared                 %lld times, %d channels, %d bodies\n", (long long)j->rows,
         j->nchannel, (j->nthing - j->nchannel) / 2);
  if (strcmp(j->made[0], j->made[1]) != 0) {
    printf("  made with                %s and %s\n", j->made[0], j->made[1]);
  }
  if (j->other_model) {
    puts("  mechanisms               are not the same");
  }
  if (j->alone[0] || j->alone[1]) {
    printf("  times in one file only   %lld and %lld\n", (long long)j->alone[0],
           (long long)j->alone[1]);
  }
  if (j->only_a || j->only_b) {
    printf("  names in one file only   %d and %d\n", j->only_a, j->only_b);
  }
  if (j->ndiffers > 0) {
    printf("  differ                   %d\n", j->ndiffers);
  }
  if (worst && worst->largest == 0) {
    puts("  largest difference       0: every number is the same");
  }
  for (int k = 0; k < j->nthing && k < SHOWN && j->thing[k].largest > 0; k++) {
    print_thing(&j->thing[k]);
  }
}

static int print_json(const job *j) {
  sni_json json = {0};
  sni_json_open(&json, NULL, "{");
  cli_json_bool(&json, "same", same(j));
  sni_json_raw(&json, "times", "%lld", (long long)j->rows);
  sni_json_raw(&json, "times_only", "[%lld, %lld]", (long long)j->alone[0], (long long)j->alone[1]);
  sni_json_raw(&json, "names_only", "[%d, %d]", j->only_a, j->only_b);
  cli_json_bool(&json, "same_model", !j->other_model);
  sni_json_open(&json, "compared", "[");
  for (int k = 0; k < j->nthing; k++) {
    const thing *x = &j->thing[k];
    sni_json_open(&json, NULL, "{");
    sni_json_text(&json, "name", x->name);
    sni_json_text(&json, "kind", x->kind);
    cli_json_bool(&json, "differs", x->differs);
    cli_json_number(&json, "largest", x->largest);
    cli_json_number(&json, "t", x->t);
    cli_json_number(&json, "size", x->size);
    sni_json_close(&json, "}");
  }
  sni_json_close(&json, "]");
  sni_json_close(&json, "}");
  return cli_json_print(&json, stdout) ? CLI_DONE : cli_fail(j->self, "cannot print the result");
}

static int report(job *j) {
  qsort(j->thing, (size_t)j->nthing, sizeof *j->thing, by_size);
  int code = CLI_DONE;
  if (j->s->json) {
    code = print_json(j);
  } else if (!j->s->quiet) {
    print_result(j);
  }
  return code ? code : same(j) ? CLI_DONE : CLI_DIFFERENT;
}

/* ---- the command ---- */

/* Headers say "model":"0123456789abcdef". */
static bool other_model(const job *j) {
  const char *a = j->a.snr ? strstr(sn_recording_header(j->a.snr), "\"model\":\"") : NULL;
  const char *b = j->b.snr ? strstr(sn_recording_header(j->b.snr), "\"model\":\"") : NULL;
  return a && b && strncmp(a, b, strlen("\"model\":\"") + 16) != 0;
}

/* What a recording was made with: a table does not say. */
static void read_made(const cli_series *s, char *out, size_t size) {
  const char *header = s->snr ? sn_recording_header(s->snr) : "";
  const char *method = strstr(header, "\"method\":\""), *step = strstr(header, "\"step\":");
  if (method && step) {
    method += strlen("\"method\":\"");
    snprintf(out, size, "%.*s, step %g", (int)(strcspn(method, "\"") % 64), method,
             strtod(step + strlen("\"step\":"), NULL));
  }
}

static int open_both(job *j, const char *a, const char *b) {
  sn_error err = {0};
  const char *why = "";
  sn_status status = cli_series_open(&j->a, a, &err);
  status = status ? status : cli_series_open(&j->b, b, &err);
  if (status) {
    cli_print_error(&err);
    return cli_code(status);
  }
  cli_series *const both[] = {&j->a, &j->b};
  for (int k = 0; k < 2; k++) {
    if (both[k]->snr && !sn_recording_complete(both[k]->snr, &why) && !j->s->quiet) {
      fprintf(stderr, "warning: %s\n", why);
    }
    if (cli_series_find(both[k], "t") < 0) {
      return cli_fail(j->self, "%s has no column t", both[k]->path);
    }
  }
  j->other_model = other_model(j);
  if (j->a.snr && j->b.snr) {
    read_made(&j->a, j->made[0], sizeof j->made[0]);
    read_made(&j->b, j->made[1], sizeof j->made[1]);
  }
  return CLI_DONE;
}

static int compare(job *j, const char *a, const char *b) {
  sn_error err = {0};
  const int code = open_both(j, a, b);
  if (code) {
    return code;
  }
  if (!prepare(j)) {
    return cli_fail(j->self, "out of memory");
  }
  if (j->nthing == 0) {
    return cli_fail(j->self, "%s and %s have no %s in common", a, b,
                    j->s->channels.count ? "such channel" : "channel but t");
  }
  if (compare_rows(j, &err)) {
    cli_print_error(&err);
    return cli_code(err.code);
  }
  if (j->rows == 0) {
    return cli_fail(j->self, "%s and %s have no time in common", a, b);
  }
  judge(j);
  return report(j);
}

static int check_tolerance(const cli_command *self, const char *name, double value) {
  return value >= 0 ? CLI_GO : cli_fail(self, "%s: is %g, needs a number >= 0", name, value);
}

static int run(const cli_command *self, int argc, char **argv) {
  settings s = {0};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  code = code == CLI_GO ? check_tolerance(self, "--abs", s.abs) : code;
  code = code == CLI_GO ? check_tolerance(self, "--rel", s.rel) : code;
  if (code == CLI_GO) {
    job j = {.self = self, .s = &s};
    code = compare(&j, plain.item[0], plain.item[1]);
    cli_series_close(&j.a);
    cli_series_close(&j.b);
    free(j.thing);
    free(j.row_a);
    free(j.row_b);
  }
  cli_list_free(&plain);
  cli_list_free(&s.channels);
  return code;
}

const cli_command cli_diff = {
    .name = "diff",
    .arguments = "A B [OPTION...]",
    .least = 2,
    .most = 2,
    .doc = "compare two recordings or tables",
    .about =
        "Compares recordings (.snr) or tables (.csv) at the times that both have, channel by\n"
        "channel, two recordings also body by body, and says what differs most, by how much and\n"
        "when.\n"
        "Exit status: 0 the same, within the tolerance; 1 different; 2 bad input.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples =
        "  sinew run scenes/pendulum.yaml --out fine.snr\n"
        "  sinew run scenes/pendulum.yaml --set run.recursive.rel_tol=1e-7 --out coarse.snr\n"
        "  sinew diff fine.snr coarse.snr --channels 'rod.q*' --rel 1e-4\n"
        "  sinew diff fine.snr fine.snr --json\n",
    .run = run};
