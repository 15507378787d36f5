/* make.c: `sinew make`: scenes that are made by rule, in any size. */
#include "cli/make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/words.h"
#include "math/so3.h"

static const make_generator *const generators[] = {
    &make_bridge,     &make_deck,         &make_net,     &make_tensegrity, &make_arm,
    &make_hand,       &make_umbrella,     &make_ring,    &make_fourbar,    &make_ladder,
    &make_gear,       &make_slider_crank, &make_hagfish, &make_stack,      &make_heap,
    &make_dominoes,   &make_ramp,         &make_gripper, &make_seaweed,    &make_pendulum_strings,
    &make_characters, &make_surface,      &make_chain,   &make_klann};
enum { GENERATORS = sizeof generators / sizeof *generators };

const make_generator *make_find(const char *name) {
  for (int k = 0; k < GENERATORS; k++) {
    if (strcmp(generators[k]->name, name) == 0) {
      return generators[k];
    }
  }
  return NULL;
}

/* ---- settings ---- */

static sn_status complete_number(const make_number *n, double *value, sn_error *err) {
  if (isnan(*value)) {
    *value = n->usual;
    return SN_OK;
  }
  const bool whole = !n->whole || floor(*value) == *value;
  return *value >= n->least && *value <= n->most && whole
             ? SN_OK
             : sni_fail(err, SN_E_VALUE, "%s: is %g, needs a %snumber from %g to %g", n->option,
                        *value, n->whole ? "whole " : "", n->least, n->most);
}

static sn_status complete_word(const make_word *w, const char **value, sn_error *err) {
  if (!*value) {
    *value = w->word[0];
  }
  return strcmp(*value, w->word[0]) == 0 || strcmp(*value, w->word[1]) == 0
             ? SN_OK
             : sni_fail(err, SN_E_VALUE, "%s: is '%s', needs %s or %s", w->option,
                        sni_show(*value).text, w->word[0], w->word[1]);
}

sn_status make_complete(const make_generator *g, make_settings *s, sn_error *err) {
  sn_status status = SN_OK;
  for (int k = 0; k < g->nnumber && status == SN_OK; k++) {
    double *value = (double *)(void *)((char *)s + g->number[k].offset);
    status = complete_number(&g->number[k], value, err);
  }
  for (int k = 0; k < g->nword && status == SN_OK; k++) {
    const char **value = (const char **)(void *)((char *)s + g->word[k].offset);
    status = complete_word(&g->word[k], value, err);
  }
  return status;
}

char *make_scene(const make_generator *g, const make_settings *s) {
  sni_text out = {0};
  g->write(s, &out);
  return sni_text_take(&out);
}

/* ---- for the generators ---- */

make_text make_show(double x) {
  make_text t;
  snprintf(t.text, sizeof t.text, "%.10g", fabs(x) < 1e-12 ? 0.0 : x);
  return t;
}

make_text make_show3(sn_vec3 x) {
  make_text t;
  snprintf(t.text, sizeof t.text, "[%.24s, %.24s, %.24s]", make_show(x.x).text, make_show(x.y).text,
           make_show(x.z).text);
  return t;
}

make_text make_show_rod(sn_vec3 x, sn_vec3 z) {
  const sn_vec3 up = {0, 0, 1}, axis = sn_vec3_cross(up, z);
  const double sine = sn_vec3_norm(axis), angle = atan2(sine, z.z);
  const sn_vec3 half_turn = {sine > 0 ? 0 : angle, 0, 0}; /* 0, or pi when z is straight down */
  make_text t;
  snprintf(t.text, sizeof t.text, "{pos: %.80s, rotvec: %.80s}", make_show3(x).text,
           make_show3(sine > 0 ? sn_vec3_scale(axis, angle / sine) : half_turn).text);
  return t;
}

make_text make_show_pose(sn_se3 E) {
  make_text t;
  snprintf(t.text, sizeof t.text, "{pos: %.80s, rotvec: %.80s}", make_show3(E.p).text,
           make_show3(sn_so3_log(E.R)).text);
  return t;
}

void make_head_in(sni_text *out, const char *name, const char *units, double gravity,
                  const char *comment) {
  sni_text_add(out, "# Made by 'sinew make %s'.\n#\n%s", name, comment);
  sni_text_add(out, "sinew: 1\nunits: %s\nup: z\ngravity: [0, 0, %s]\n", units,
               make_show(-gravity).text);
}

void make_head(sni_text *out, const char *name, double gravity, const char *comment) {
  make_head_in(out, name, "m kg s", gravity, comment);
}

void make_foot_at(sni_text *out, double step, double duration, const char *channels) {
  sni_text_add(out,
               "\nrun:\n  method: redmax\n  step: %s\n  duration: %s\n"
               "  record: {every: 0.02, channels: %s}\n",
               make_show(step).text, make_show(duration).text, channels);
}

void make_foot_structured(sni_text *out, double duration, const char *channels,
                          const char *options) {
  sni_text_add(out,
               "\nrun:\n  method: structured\n  step: 0.01\n  duration: %s\n"
               "  record: {every: 0.02, channels: %s}\n  structured: {%s}\n",
               make_show(duration).text, channels, options);
}

void make_foot(sni_text *out, double duration, const char *channels) {
  make_foot_at(out, 0.01, duration, channels);
}

/* ---- the command ---- */

static int print_scene(const cli_command *self, const make_generator *g, make_settings *s) {
  sn_error err = {0};
  if (make_complete(g, s, &err) != SN_OK) {
    return cli_fail(self, "%s", err.text);
  }
  char *text = make_scene(g, s);
  if (!text) {
    return cli_fail(self, "out of memory");
  }
  const bool good = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
  free(text);
  return good ? CLI_DONE : cli_fail(self, "cannot write to standard output");
}

int make_run(const cli_command *self, int argc, char **argv) {
  make_settings s = MAKE_USUAL;
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  for (int k = 0; k < GENERATORS && code == CLI_GO; k++) {
    if (&generators[k]->command == self) {
      code = print_scene(self, generators[k], &s);
    }
  }
  cli_list_free(&plain);
  return code;
}

static int fail_unknown(const cli_command *self, const char *name) {
  sni_suggestion guess = {.word = name};
  for (int k = 0; k < GENERATORS; k++) {
    sni_suggest(&guess, generators[k]->name);
  }
  return guess.best ? cli_fail(self, "there is no generator '%s': did you mean '%s'?",
                               sni_show(name).text, guess.best)
                    : cli_fail(self, "there is no generator '%s': 'sinew make' lists them",
                               sni_show(name).text);
}

static int make(const cli_command *self, int argc, char **argv) {
  if (argc == 0) {
    for (int k = 0; k < GENERATORS; k++) {
      printf("%-17s%s\n", generators[k]->name, generators[k]->command.doc);
    }
    return CLI_DONE;
  }
  if (argv[0][0] == '-') { /* --help, or a mistake */
    cli_list plain = {0};
    const int code = cli_parse(self, argc, argv, NULL, &plain);
    cli_list_free(&plain);
    return code == CLI_GO ? cli_fail(self, "the name comes first: sinew make NAME [OPTION...]")
                          : code;
  }
  const make_generator *g = make_find(argv[0]);
  return g ? g->command.run(&g->command, argc - 1, argv + 1) : fail_unknown(self, argv[0]);
}

const cli_command cli_make = {
    .name = "make",
    .arguments = "[NAME [OPTION...]]",
    .most = 1,
    .doc = "write a scene by rule, in any size: bridge, ladder, ring, ...",
    .about =
        "Writes a scene with springs or loops between many bodies to standard output; the same\n"
        "options give the same text.  Without a name it lists what there is; 'sinew make NAME\n"
        "--help' has the options of each.",
    .examples = "  sinew make\n"
                "  sinew make bridge --count 40 > bridge.yaml\n"
                "  sinew make ladder --count 20 | sinew run - --duration 1\n",
    .run = make};
