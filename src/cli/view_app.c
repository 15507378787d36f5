/* view_app.c: `sinew view`: what the pages ask for, what they are told, and the one loop. */
#define _POSIX_C_SOURCE 200809L
#include "cli/view_app.h"

#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/format.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/view_gallery.h"
#include "cli/view_parameters.h"
#include "cli/view_request.h"
#include "cli/view_server.h"
#include "cli/view_watch.h"
#include "methods/sim.h"

#define FRAME_TIME  (1.0 / 60)
#define SLICE       0.008 /* seconds of physics before pages get their turn */
#define STATUS_TIME 0.25
#define WATCH_TIME  0.2
#define IDLE        0.1

extern char **environ;

typedef struct app {
  const view_settings *s;
  const char *file; /* that is open, or should be; NULL: none yet, "-": standard input */
  char name[128];   /* of the scene */
  view_gallery gallery;
  bool in_gallery;
  bool met;      /* some page has come */
  bool recorded; /* the file is a recording: the page has it, and nothing is simulated */
  view_sim sim;
  view_server *server;
  view_watch watch;
  sni_error_list problems; /* of the scene as it is saved now; the one that runs may be older */
  const char *reason;      /* of the last recording */
  bool keep_camera;
  struct {
    char path[VIEW_WORD_MAX];
    double value;
  } change;     /* of a parameter, the last one */
  bool stopped; /* as the pages know it */
  double next_frame, next_status, next_watch;
} app;

/* ---- scenes ---- */

/* What comes with a new recording. */
static void tell_scene(app *a, const char *reason, bool keep_camera) {
  a->reason = reason;
  a->keep_camera = keep_camera;
  a->stopped = false;
  view_server_tell(a->server,
                   VIEW_DUE_SCENE | VIEW_DUE_HEAD | VIEW_DUE_PARAMETERS | VIEW_DUE_STATUS);
}

static void print_problem(const app *a, const sn_error *err) {
  if (!a->s->quiet) {
    cli_print_error(err);
  }
}

static void watch_files(app *a, const sn_scene *scene) {
  const int n = scene ? sn_scene_file_count(scene) : 0;
  const char **path = calloc((size_t)n + 1, sizeof *path);
  if (path && strcmp(a->file, "-") != 0) {
    path[0] = a->file;
    for (int k = 0; k < n; k++) {
      path[k + 1] = sn_scene_file(scene, k);
    }
    view_watch_set(&a->watch, path, n + 1);
  }
  free(path);
}

static void keep_problem(app *a, const sn_error *err) {
  sn_error own = *err;
  if (!own.file[0]) {
    snprintf(own.file, sizeof own.file, "%s", a->file);
  }
  sni_error_list_add(&a->problems, &own);
  print_problem(a, &own);
}

/* The scene of a->file.  Where that is not to be had, what was open stays and the problems say
 * why. */
static bool load(app *a) {
  sn_scene_options options = sn_scene_options_default();
  options.set = a->s->scene.set.item;
  options.nset = a->s->scene.set.count;
  options.allow_outside = a->s->scene.allow_outside;
  sn_scene *scene = NULL;
  sn_error err = {0};
  sni_error_list_free(&a->problems);
  sn_scene_load(a->file, &options, &scene, &err);
  watch_files(a, scene);
  if (!scene) {
    keep_problem(a, &err);
  }
  for (int k = 0; scene && k < sn_scene_error_count(scene); k++) {
    keep_problem(a, sn_scene_error(scene, k));
  }
  for (int k = 0; scene && !a->s->quiet && k < sn_scene_warning_count(scene); k++) {
    cli_print_warning(sn_scene_warning(scene, k));
  }
  if (a->problems.count == 0 && view_sim_open(&a->sim, &scene, a->file, &a->s->over, &err)) {
    keep_problem(a, &err);
  }
  sn_scene_free(&scene);
  return a->problems.count == 0;
}

static void name_scene(app *a, const char *name) {
  const char *slash = strrchr(name, '/');
  snprintf(a->name, sizeof a->name, "%.*s", (int)sizeof a->name - 1, slash ? slash + 1 : name);
}

static void load_again(app *a) {
  const bool was_bad = a->problems.count > 0;
  if (!load(a)) {
    view_server_tell(a->server, VIEW_DUE_ERROR);
    return;
  }
  if (was_bad) {
    view_server_tell(a->server, VIEW_DUE_GOOD);
  }
  tell_scene(a, "reload", true);
}

/* ---- what pages are told ---- */

static void write_type(sni_json *j, const char *type) {
  sni_json_text(j, "type", type);
}

static void write_hello(const view_page *page, sni_json *j) {
  write_type(j, "hello");
  sni_json_number(j, "protocol", 1);
  sni_json_text(j, "sinew", sn_version());
  sni_json_open(j, "methods", "[");
  for (int k = 0; sni_method_at(k); k++) {
    sni_json_text(j, NULL, sni_method_at(k)->name);
  }
  sni_json_close(j, "]");
  sni_json_number(j, "window", VIEW_WINDOW);
  sni_json_number(j, "page", page->number);
}

static void write_role(const view_page *page, sni_json *j) {
  write_type(j, "role");
  sni_json_text(j, "role", page->drives ? "driver" : "watcher");
  sni_json_number(j, "pages", page->pages);
  sni_json_number(j, "driver", page->driver);
}

static void write_scene(const app *a, sni_json *j) {
  char chosen[256];
  double step = 0;
  sn_sim_get(a->sim.sim, "run.step", &step, NULL);
  write_type(j, "scene");
  sni_json_text(j, "name", a->name);
  sni_json_text(j, "file", a->sim.file);
  sni_json_text(j, "method", a->sim.sim->method->name);
  sni_json_number(j, "step", step);
  sni_json_text(j, "solver", sn_sim_describe(a->sim.sim, chosen, sizeof chosen));
  sni_json_number(j, "duration", sn_model_run(sn_scene_model(a->sim.scene))->duration);
  sni_json_text(j, "reason", a->reason);
  cli_json_bool(j, "keep_camera", a->keep_camera);
}

static void write_problem(sni_json *j, const sn_error *err) {
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "file", err->file);
  sni_json_number(j, "line", err->line);
  sni_json_number(j, "column", err->column);
  sni_json_text(j, "path", err->path);
  sni_json_text(j, "text", err->text);
  sni_json_close(j, "}");
}

static void write_error(sni_json *j, const char *kind, const sn_error *err, int n) {
  write_type(j, "error");
  sni_json_text(j, "kind", kind);
  sni_json_open(j, "problems", "[");
  for (int k = 0; k < n && k < 100; k++) {
    write_problem(j, &err[k]);
  }
  sni_json_close(j, "]");
}

static void write_point(sni_json *j, const char *key, sn_vec3 x) {
  sni_json_numbers(j, key, (const double[]){x.x, x.y, x.z}, 3);
}

static void write_status(const app *a, const view_page *page, sni_json *j) {
  const view_sim *v = &a->sim;
  sn_energy e = {0};
  sn_grab_def hand;
  double step = 0, gap = 0;
  write_type(j, "status");
  sni_json_number(j, "t", *sn_state_time(v->state));
  cli_json_bool(j, "playing", v->playing);
  sni_json_number(j, "speed", v->speed);
  sni_json_number(j, "ratio", v->ratio.value);
  sni_json_number(j, "steps", (double)v->steps);
  cli_json_bool(j, "stopped", v->stopped);
  sni_json_text(j, "method", v->sim->method->name);
  sn_sim_get(v->sim, "run.step", &step, NULL);
  sni_json_number(j, "step", step);
  sni_json_number(j, "pages", page->pages);
  sni_json_number(j, "requests", (double)page->requests);
  sn_sim_energy(v->sim, v->state, &e);
  sni_json_open(j, "energy", "{");
  sni_json_number(j, "T", e.kinetic);
  sni_json_number(j, "V", e.potential);
  sni_json_close(j, "}");
  sn_sim_gap(v->sim, v->state, &gap);
  sni_json_number(j, "gap", gap);
  sni_json_open(j, "grabs", "[");
  if (sn_sim_held(v->sim, &hand)) {
    sni_json_open(j, NULL, "{");
    sni_json_text(j, "body", sn_model_body_name(sn_scene_model(v->scene), hand.body));
    write_point(j, "point", hand.point);
    write_point(j, "at", hand.target);
    sni_json_close(j, "}");
  }
  sni_json_close(j, "]");
}

static void write_parameters(const app *a, const view_query *query, sni_json *j) {
  write_type(j, "parameters");
  view_parameters_json(a->sim.sim, query, j);
}

static bool write_due(void *user, view_due due, const view_page *page, sni_json *j) {
  const app *a = user;
  const bool there = a->sim.scene != NULL;
  switch (due) {
  case VIEW_DUE_HELLO:
    write_hello(page, j);
    return true;
  case VIEW_DUE_ROLE:
    write_role(page, j);
    return true;
  case VIEW_DUE_GALLERY:
    if (a->in_gallery) {
      write_type(j, "gallery");
      view_gallery_json(&a->gallery, j);
    }
    return a->in_gallery;
  case VIEW_DUE_SCENE:
    if (there) {
      write_scene(a, j);
    }
    return there;
  case VIEW_DUE_PARAMETERS:
    if (there) {
      write_parameters(a, &(view_query){.filter = ""}, j);
    }
    return there;
  case VIEW_DUE_GOOD:
    write_type(j, "good");
    return a->problems.count == 0;
  case VIEW_DUE_ERROR:
    write_error(j, "scene", a->problems.item, a->problems.count);
    return a->problems.count > 0;
  case VIEW_DUE_TROUBLE:
    write_error(j, "simulation", &a->sim.trouble, 1);
    return there && a->sim.stopped;
  case VIEW_DUE_CHANGES:
    write_type(j, "parameter");
    sni_json_text(j, "path", a->change.path);
    sni_json_number(j, "value", a->change.value);
    return there;
  default:
    if (there) {
      write_status(a, page, j);
    }
    return there;
  }
}

static bool write_head(void *user, sn_bytes *out) {
  const app *a = user;
  return a->sim.recorder && sn_recorder_head(a->sim.recorder, out, NULL) == SN_OK;
}

/* ---- what pages ask for ---- */

static sn_status open_exhibit(app *a, const char *name, sn_error *err) {
  const view_exhibit *e = a->in_gallery ? view_gallery_get(&a->gallery, name) : NULL;
  if (!e) {
    return sni_fail(err, SN_E_ARGUMENT,
                    a->in_gallery ? "there is no such scene in the gallery"
                                  : "there is no gallery here");
  }
  a->file = e->path;
  if (!load(a)) {
    view_server_tell(a->server, VIEW_DUE_ERROR);
    return SN_OK;
  }
  snprintf(a->name, sizeof a->name, "%s", e->name);
  tell_scene(a, "open", false);
  return SN_OK;
}

static sn_status set(app *a, const char *path, double value, sn_error *err) {
  const sn_status status = view_parameters_set(a->sim.sim, path, value, err);
  if (status) {
    return status;
  }
  const bool another =
      strcmp(path, a->change.path) != 0 && view_server_owes(a->server, VIEW_DUE_CHANGES);
  snprintf(a->change.path, sizeof a->change.path, "%s", path);
  a->change.value = value;
  view_server_tell(a->server, another ? VIEW_DUE_PARAMETERS : VIEW_DUE_CHANGES);
  a->sim.moved = true;
  return SN_OK;
}

static sn_status grab(app *a, const view_request *r, sn_error *err) {
  sn_grab_def hand = {.body = sn_model_body_find(sn_scene_model(a->sim.scene), r->word),
                      .point = r->point,
                      .target = r->at,
                      .stiffness = r->stiffness,
                      .damping = r->damping};
  if (hand.body < 0) {
    return sni_fail(err, SN_E_ARGUMENT, "there is no body '%s'", r->word);
  }
  return sn_sim_grab(a->sim.sim, a->sim.state, &hand, err);
}

static sn_status drive(app *a, int page, const char *role, sn_error *err) {
  const bool takes = strcmp(role, "driver") == 0;
  if (!takes && strcmp(role, "watcher") != 0) {
    return sni_fail(err, SN_E_VALUE, "value: needs driver or watcher");
  }
  if (takes != (view_server_driver(a->server) == page) && a->sim.scene) {
    sn_sim_release(a->sim.sim); /* it was somebody else's hand, or is nobody's now */
    a->sim.moved = true;
  }
  view_server_drive(a->server, page, takes);
  return SN_OK;
}

/* Requests about the simulation that is open. */
static sn_status act(app *a, const view_request *r, sn_error *err) {
  view_sim *v = &a->sim;
  sn_status status = SN_OK;
  switch (r->what) {
  case VIEW_PAUSE:
  case VIEW_PLAY:
    v->playing = r->what == VIEW_PLAY;
    return SN_OK;
  case VIEW_STEP:
    view_sim_step(v, r->count);
    return SN_OK;
  case VIEW_RESET:
    status = view_sim_reset(v, err);
    break;
  case VIEW_SPEED:
    v->speed = r->value;
    return SN_OK;
  case VIEW_METHOD:
    status = view_sim_method(v, r->word, err);
    break;
  case VIEW_STEP_SIZE:
    v->stopped = false;
    a->stopped = false;
    return set(a, "run.step", r->value, err);
  case VIEW_SET:
    return set(a, r->word, r->value, err);
  case VIEW_GRAB:
    v->moved = true;
    return grab(a, r, err);
  case VIEW_DRAG:
    v->moved = true;
    return sn_sim_drag(v->sim, r->at, err);
  default:
    v->moved = true;
    sn_sim_release(v->sim);
    return SN_OK;
  }
  if (status == SN_OK) {
    tell_scene(a, r->what == VIEW_RESET ? "reset" : "method", true);
  }
  return status;
}

static sn_status handle(app *a, int page, const view_request *r, sn_error *err) {
  if (r->what == VIEW_ACK) {
    view_server_acknowledge(a->server, page, r->count);
    return SN_OK;
  }
  if (r->what == VIEW_ROLE) {
    return drive(a, page, r->word, err);
  }
  if (view_request_drives(r->what) && view_server_driver(a->server) != page) {
    return sni_fail(err, SN_E_ARGUMENT, "another page drives: take the wheel first");
  }
  if (r->what == VIEW_OPEN) {
    return open_exhibit(a, r->word, err);
  }
  if (!a->sim.scene) {
    return sni_fail(err, SN_E_ARGUMENT, "no scene is open");
  }
  const sn_status status = act(a, r, err);
  if (r->what != VIEW_DRAG) { /* they come by the dozen, and the frames show them */
    view_server_tell(a->server, VIEW_DUE_STATUS);
  }
  return status;
}

static sn_status write_still(const app *a, const char *name, sni_json *j, sn_error *err) {
  const view_exhibit *e = a->in_gallery ? view_gallery_get(&a->gallery, name) : NULL;
  char *png = e ? view_gallery_still(e) : NULL;
  if (!png) {
    return sni_fail(err, SN_E_ARGUMENT, "there is no picture of such a scene");
  }
  write_type(j, "still");
  sni_json_text(j, "scene", e->name);
  sni_json_text(j, "png", png);
  free(png);
  return SN_OK;
}

/* Requests that ask for something to read and change nothing.  True: it was one. */
static bool answer(const app *a, const view_request *r, sni_json *j, sn_status *status,
                   sn_error *err) {
  if (r->what == VIEW_PARAMETERS && a->sim.scene) {
    write_parameters(a, &(view_query){r->word, r->all > 0, r->first}, j);
    *status = SN_OK;
    return true;
  }
  if (r->what == VIEW_STILL) {
    *status = write_still(a, r->word, j, err);
    return true;
  }
  return false;
}

static bool on_request(void *user, int page, const char *text, size_t n, sni_json *j) {
  app *a = user;
  view_request r;
  char name[VIEW_WORD_MAX];
  sn_error err = {0};
  sn_status status = view_request_read(text, n, &r, name, &err);
  if (status == SN_OK && answer(a, &r, j, &status, &err)) {
    if (status == SN_OK) {
      return true;
    }
  }
  status = status ? status : handle(a, page, &r, &err);
  if (status == SN_OK) {
    return false;
  }
  write_error(j, "request", &err, 1);
  sni_json_text(j, "do", name);
  return true;
}

static void on_left(void *user, int page, bool drove) {
  app *a = user;
  (void)page;
  if (drove && a->sim.scene) {
    sn_sim_release(a->sim.sim);
    a->sim.moved = true;
  }
}

/* ---- the loop ---- */

static void make_frame(app *a) {
  sn_bytes frame;
  sn_error err = {0};
  const sn_status status = view_sim_frame(&a->sim, &frame, &err);
  if (status == SN_OK) {
    view_server_frame(a->server, frame);
  } else if (!a->sim.stopped) {
    a->sim.stopped = true;
    a->sim.trouble = err;
  }
}

static void tell_trouble(app *a) {
  if (a->sim.stopped && !a->stopped) {
    print_problem(a, &a->sim.trouble);
    view_server_tell(a->server, VIEW_DUE_TROUBLE | VIEW_DUE_STATUS);
  }
  a->stopped = a->sim.stopped;
}

/* Physics by the clock, frames and news at their times, files now and then; the rest of the time is
 * the pages'. */
static void turn(app *a) {
  const double now = cli_wall_seconds();
  a->met = a->met || view_server_pages(a->server) > 0;
  if (!a->met) { /* nobody should miss the beginning */
    a->sim.now = now;
  }
  const bool behind = a->met && view_sim_advance(&a->sim, now, SLICE);
  const bool pages = view_server_pages(a->server) > 0 && a->sim.scene;
  if (pages && (view_server_wants_frame(a->server) || (a->sim.moved && now >= a->next_frame))) {
    a->next_frame = fmax(a->next_frame + FRAME_TIME, now);
    make_frame(a);
  }
  tell_trouble(a);
  if (pages && now >= a->next_status) {
    a->next_status = now + STATUS_TIME;
    view_server_tell(a->server, VIEW_DUE_STATUS);
  }
  if (now >= a->next_watch) {
    a->next_watch = now + WATCH_TIME;
    if (view_watch_changed(&a->watch)) {
      load_again(a);
    }
  }
  const bool running = a->sim.scene && a->sim.playing && !a->sim.stopped;
  view_server_serve(a->server, behind ? 0 : running ? 0.25 * FRAME_TIME : IDLE);
}

/* ---- start ---- */

static const char no_page[] =
    "<!doctype html><meta charset=utf-8><title>Sinew</title><p>This command was built without the "
    "page of the viewer: it needs npm.\n";

static void open_browser(const char *address) {
  char *const argv[] = {"xdg-open", (char *)address, NULL};
  pid_t child;
  signal(SIGCHLD, SIG_IGN); /* nobody waits for it */
  if (posix_spawnp(&child, argv[0], NULL, NULL, argv, environ) != 0) {
    fputs("warning: there is no xdg-open: please open the address yourself\n", stderr);
  }
}

static int open_server(const cli_command *self, app *a) {
  sn_error err = {0};
  const view_host host = {
      .user = a, .write = write_due, .head = write_head, .request = on_request, .left = on_left};
  const bool whole = cli_page != NULL;
  view_server_options o = {.port = isnan(a->s->port) ? 0 : (int)a->s->port,
                           .page = whole ? (const char *)cli_page : no_page,
                           .page_size = whole ? cli_page_size : sizeof no_page - 1};
  char *told = NULL;
  sn_status status = SN_OK;
  if (a->recorded) {
    status = cli_page_with_recording(a->file, &told, &o.page_size, &err);
    o.page = told;
  } else if (a->s->panel) {
    status = cli_page_with_story(a->s->panel, &told, &o.page_size, &err);
    o.page = told;
  }
  status = status ? status : view_server_open(&o, &host, &a->server, &err);
  free(told); /* the server has a copy */
  if (status) {
    return cli_fail(self, "%s", err.text);
  }
  char address[128];
  snprintf(address, sizeof address, "http://127.0.0.1:%d/%s/", view_server_port(a->server),
           view_server_token(a->server));
  printf("%s\n", address);
  fflush(stdout);
  if (a->s->open) {
    open_browser(address);
  }
  return CLI_DONE;
}

/* Standard input is read once; what is wrong with it stays wrong. */
static int load_stdin(app *a) {
  sn_scene *scene = NULL;
  sn_error err = {0};
  const int code = cli_load("-", &a->s->scene, a->s->quiet, &scene);
  if (code == CLI_DONE && view_sim_open(&a->sim, &scene, "stdin", &a->s->over, &err)) {
    cli_print_error(&err);
    sn_scene_free(&scene);
    return CLI_BAD_INPUT;
  }
  sn_scene_free(&scene);
  return code;
}

static int load_first(const cli_command *self, app *a) {
  sn_error err = {0};
  if (!a->file) {
    a->in_gallery = true;
    return view_gallery_find(&a->gallery, &err) == SN_OK ? CLI_DONE
                                                         : cli_fail(self, "%s", err.text);
  }
  a->recorded = cli_has_suffix(a->file, ".snr");
  if (a->recorded && a->s->panel) {
    return cli_fail(self, "--panel: is for live scenes, not for recordings");
  }
  if (a->recorded) {
    return CLI_DONE;
  }
  name_scene(a, strcmp(a->file, "-") == 0 ? "stdin" : a->file);
  if (strcmp(a->file, "-") == 0) {
    return load_stdin(a);
  }
  FILE *there = fopen(a->file, "rb");
  if (!there) { /* what is there and wrong is shown in the page */
    load(a);
    return CLI_BAD_INPUT;
  }
  fclose(there);
  load(a);
  return CLI_DONE;
}

int view_app_run(const cli_command *self, const view_settings *s, const char *file) {
  app a = {.s = s, .file = file, .reason = "open"};
  a.sim.speed = isnan(s->speed) ? 1 : s->speed;
  a.sim.playing = !s->paused;
  a.sim.now = cli_wall_seconds();
  cli_interrupt_watch();
  int code = load_first(self, &a);
  code = code ? code : open_server(self, &a);
  if (code == CLI_DONE) {
    a.sim.now = cli_wall_seconds();
    while (!cli_interrupt_seen()) {
      turn(&a);
    }
  }
  view_server_free(&a.server);
  view_sim_close(&a.sim);
  view_watch_free(&a.watch);
  view_gallery_free(&a.gallery);
  sni_error_list_free(&a.problems);
  return code;
}
