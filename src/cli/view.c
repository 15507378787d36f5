/* view.c: `sinew view`: a scene in the browser, live. */
#include <math.h>

#include "cli/view_app.h"

#define AT(member) offsetof(view_settings, member)
static const cli_option options[] = {
    {"--open", NULL, CLI_FLAG, AT(open), "open the address in the browser (with xdg-open)"},
    {"--port", "N", CLI_NUMBER, AT(port), "of the server; 0, the default: any that is free"},
    {"--paused", NULL, CLI_FLAG, AT(paused), "do not start yet"},
    {"--speed", "X", CLI_NUMBER, AT(speed), "simulated time by time, 0.001 to 1000; default: 1"},
    {"--panel", "FILE.json", CLI_TEXT, AT(panel), "a story and sliders beside the picture"},
    {"--method", "M", CLI_TEXT, AT(over.method), "method instead of the scene's run.method"},
    {"--step", "H", CLI_NUMBER, AT(over.step), "time from one state to the next"},
    CLI_SCENE_OPTIONS(view_settings, scene),
    {"--quiet", NULL, CLI_FLAG, AT(quiet), "no errors and warnings here, only in the page"}};

static int check(const cli_command *self, const view_settings *s) {
  if (!isnan(s->port) && !(s->port >= 0 && s->port <= 65535 && s->port == floor(s->port))) {
    return cli_fail(self, "--port: is %g, needs a whole number from 0 to 65535", s->port);
  }
  if (!isnan(s->speed) && !(s->speed >= 1e-3 && s->speed <= 1e3)) {
    return cli_fail(self, "--speed: is %g, needs a number from 0.001 to 1000", s->speed);
  }
  if (!isnan(s->over.step) && !(s->over.step > 0)) {
    return cli_fail(self, "--step: is %g, needs a number > 0", s->over.step);
  }
  return CLI_GO;
}

#if !SINEW_LIVE
int view_app_run(const cli_command *self, const view_settings *s, const char *file) {
  (void)s;
  (void)file;
  return cli_fail(self, "this command was built without libwebsockets: install libwebsockets-dev "
                        "and build it again");
}
#endif

static int run(const cli_command *self, int argc, char **argv) {
  view_settings s = {.port = NAN, .speed = NAN, .over = {.step = NAN}};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  code = code == CLI_GO ? check(self, &s) : code;
  if (code == CLI_GO) {
    code = view_app_run(self, &s, plain.count > 0 ? plain.item[0] : NULL);
  }
  cli_list_free(&plain);
  cli_list_free(&s.scene.set);
  return code;
}

const cli_command cli_view = {
    .name = "view",
    .arguments = "[FILE] [OPTION...]",
    .least = 0,
    .most = 1,
    .doc = "simulate a scene live, in the browser",
    .about =
        "Simulates a scene (-: from standard input) in real time and shows it in a browser, at "
        "the\n"
        "address that it prints.  There you can pause, step, change method, step and parameters, "
        "and\n"
        "grab bodies with the mouse.  A scene that is saved is loaded again.  Without a scene it\n"
        "opens the gallery.  A recording (.snr) is shown as it is.\n\n"
        "The server is on this machine only (127.0.0.1), and the address has a secret in it: "
        "whoever\n"
        "has it can watch and drive.  Ctrl-C ends it.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew view scenes/pendulum.yaml --open\n"
                "  sinew view scenes/rope.yaml --speed 0.25 --set run.step=0.002\n"
                "  sinew make bridge | sinew view -\n"
                "  sinew run scenes/pendulum.yaml --out pendulum.snr\n"
                "  sinew view pendulum.snr --open\n"
                "  sinew view\n",
    .run = run};
