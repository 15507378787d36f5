/* new.c: `sinew new`: a scene to start from. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const char starter[] =
    "# A scene for sinew: an arm on a hinge, a hand on a ball joint, a spring that pulls it back.\n"
    "#\n"
    "#     sinew check FILE                    what is in it\n"
    "#     sinew run FILE --out motion.csv     simulate it\n"
    "#\n"
    "# Metres, kilograms, seconds; angles in radians, or 30*deg. Every number may be an expression "
    "of\n"
    "# constants; a time function may also use t. `sinew schema` lists all keys.\n"
    "sinew: 1                          # version of the format\n"
    "units: m kg s                     # a label: any consistent set of units works\n"
    "up: z\n"
    "gravity: [0, 0, -9.81]\n"
    "\n"
    "defaults:\n"
    "  shape: {density: 1000}          # for every shape that does not say its own\n"
    "\n"
    "# A body hangs on its parent by one joint, which bears the body's name. `at` is the place of "
    "the\n"
    "# joint in the parent's frame; the body's own frame is the joint's, after it has moved. The\n"
    "# drawing is q = 0 everywhere.\n"
    "bodies:\n"
    "  arm:\n"
    "    parent: world                 # the ground\n"
    "    joint: {type: revolute, at: [0, 0, 1], axis: [0, 1, 0], damping: 0.02}\n"
    "    shapes:\n"
    "      - {type: capsule, from: [0, 0, 0], to: [0, 0, -0.5], radius: 0.03}\n"
    "  hand:\n"
    "    parent: arm\n"
    "    joint: {type: spherical, at: [0, 0, -0.5], stiffness: 0.2, damping: 0.01}\n"
    "    shapes:\n"
    "      - {type: box, size: [0.03, 0.08, 0.18], at: [0, 0, -0.1]}\n"
    "      - {type: sphere, radius: 0.03, at: [0, 0.06, -0.05]}\n"
    "\n"
    "# What pushes and pulls. Ends of a spring are points of bodies, in the bodies' frames.\n"
    "forces:\n"
    "  cord:\n"
    "    type: spring\n"
    "    stiffness: 20                 # N/m\n"
    "    damping: 0.5                  # N s/m\n"
    "    rest_length: 0.4\n"
    "    a: {body: world, at: [0.6, 0, 1]}\n"
    "    b: {body: hand, at: [0, 0, -0.19]}\n"
    "\n"
    "# A motion makes a joint follow a function of time exactly. Take the # away to try it: it "
    "starts\n"
    "# where the arm does, as it must.\n"
    "# motions:\n"
    "#   swing: {joint: arm, q: 60*deg*cos(2*pi*t)}\n"
    "\n"
    "# Where bodies start; the rest is at q = 0, at rest.\n"
    "initial:\n"
    "  arm: {q: 60*deg}\n"
    "  hand: {qd: [0, 0, 5]}           # as many numbers as the joint has coordinates\n"
    "\n"
    "run:\n"
    "  method: recursive\n"
    "  step: 0.01                      # from one state to the next\n"
    "  duration: 5\n"
    "  record: {every: 0.02}           # and channels: [\"hand.*\", E] to choose what is recorded\n"
    "  recursive: {integrator: dopri5, rel_tol: 1e-8, abs_tol: 1e-10}\n";

typedef struct settings {
  bool force, quiet;
} settings;

static const cli_option options[] = {
    {"--force", NULL, CLI_FLAG, offsetof(settings, force), "overwrite a file that is there"},
    {"--quiet", NULL, CLI_FLAG, offsetof(settings, quiet), "say nothing when done"}};

static bool has_suffix(const char *name) {
  const char *slash = strrchr(name, '/');
  return strchr(slash ? slash + 1 : name, '.') != NULL;
}

static int write_file(const cli_command *self, const char *name, const settings *s) {
  char path[4096];
  const char *suffix = has_suffix(name) ? "" : ".yaml";
  if (snprintf(path, sizeof path, "%s%s", name, suffix) >= (int)sizeof path) {
    return cli_fail(self, "the name of the file is too long");
  }
  FILE *f = fopen(path, s->force ? "w" : "wx"); /* x: fails if it is there */
  if (!f && errno == EEXIST) {
    return cli_fail(self, "'%s' is there already: take another name, or --force to overwrite it",
                    path);
  }
  bool good = f && fputs(starter, f) >= 0;
  good = f && fclose(f) == 0 && good;
  if (!good) {
    return cli_fail(self, "cannot write '%s': %s", path, strerror(errno));
  }
  if (!s->quiet) {
    printf("written: %s\nnext:    sinew check %s\n         sinew run %s --out motion.csv\n", path,
           path, path);
  }
  return CLI_DONE;
}

static int new (const cli_command *self, int argc, char **argv) {
  settings s = {0};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  if (code == CLI_GO) {
    if (plain.count > 0 && strcmp(plain.item[0], "-") != 0) {
      code = write_file(self, plain.item[0], &s);
    } else {
      fputs(starter, stdout);
      code = fflush(stdout) == 0 ? CLI_DONE : cli_fail(self, "cannot write to standard output");
    }
  }
  cli_list_free(&plain);
  return code;
}

const cli_command cli_new = {
    .name = "new",
    .arguments = "[FILE] [--force]",
    .most = 1,
    .doc = "write a commented scene to start from",
    .about =
        "Writes a small scene that explains itself and runs as it is: to FILE (which gets the\n"
        "suffix .yaml if it has none), or to standard output.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples =
        "  sinew new arm\n  sinew new scenes/arm.yaml --force\n  sinew new | sinew check -\n",
    .run = new};
