/* render.c: `sinew render`: a picture or a film of a scene or of a recording, without a screen. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/drawing.h"
#include "cli/format.h"
#include "cli/image.h"
#include "cli/progress.h"
#include "io/words.h"

typedef struct settings {
  cli_scene_settings scene;
  const char *out, *size, *method;
  cli_list show;
  double time, duration, step, fps, azimuth, elevation, zoom;
  bool dark, quiet;
} settings;

#define AT(member) offsetof(settings, member)
static const cli_option options[] = {
    {"-o", "FILE", CLI_TEXT, AT(out), "what to make: .png is a picture, .webp and .mp4 are films"},
    {"--size", "WxH", CLI_TEXT, AT(size), "in pixels; default 1280x720"},
    {"--time", "T", CLI_NUMBER, AT(time), "which moment a picture shows; default: the last one"},
    {"--duration", "S", CLI_NUMBER, AT(duration), "how long to simulate"},
    {"--fps", "N", CLI_NUMBER, AT(fps), "pictures of a film in a second; default 30"},
    {"--azimuth", "DEG", CLI_NUMBER, AT(azimuth),
     "where the eye is: 0 in front, 90 to the right; default: where most is seen"},
    {"--elevation", "DEG", CLI_NUMBER, AT(elevation), "and how far above; default 19"},
    {"--zoom", "F", CLI_NUMBER, AT(zoom),
     "1: all of it fills the picture (of a film: the whole motion); 2: twice as near"},
    {"--show", "LAYERS", CLI_WORDS, AT(show),
     "what is drawn, of bodies, lines, loops, contacts, forces, axes, trails; default: the first "
     "five, as in the page"},
    {"--dark", NULL, CLI_FLAG, AT(dark), "on a dark ground"},
    {"--method", "M", CLI_TEXT, AT(method), "method instead of the scene's run.method"},
    {"--step", "H", CLI_NUMBER, AT(step), "time from one state to the next"},
    CLI_SCENE_OPTIONS(settings, scene),
    {"--quiet", NULL, CLI_FLAG, AT(quiet), "no summary, no warnings, no progress"}};

enum { SIZE_LEAST = 16, SIZE_MOST = 16384, PATH_SIZE = 4096, RUN_ARGUMENTS = 16 };
#define FPS_DEFAULT 30.0
#define TRAIL_RATE  60.0 /* frames a second for a picture with trails */
#define SAMPLE_RATE 10.0 /* frames a second for a picture: its camera looks at the whole motion */

typedef struct job {
  const cli_command *self;
  const settings *s;
  int width, height;
  bool film;
  unsigned layers;
  sn_recording *recording;
  cli_drawing drawing;
  cli_triangles triangles;
  cli_picture picture;
  char spool[PATH_SIZE]; /* the recording of a scene; "": none */
} job;

/* ---- options ---- */

static int read_size(job *j) {
  const char *text = j->s->size ? j->s->size : "1280x720";
  int end = 0;
  if (sscanf(text, "%dx%d%n", &j->width, &j->height, &end) != 2 || text[end] ||
      j->width < SIZE_LEAST || j->height < SIZE_LEAST || j->width > SIZE_MOST ||
      j->height > SIZE_MOST) {
    return cli_fail(j->self, "--size: is '%s', needs two numbers from %d to %d, such as 1920x1080",
                    text, SIZE_LEAST, SIZE_MOST);
  }
  return CLI_GO;
}

static int read_layers(job *j) {
  static const char *const names[] = {"bodies", "lines", "loops", "contacts",
                                      "forces", "axes",  "trails"};
  const cli_list *show = &j->s->show;
  j->layers = show->count ? 0 : CLI_LAYERS_USUAL;
  for (int k = 0; k < show->count; k++) {
    unsigned layer = 0;
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
      layer |= strcmp(names[n], show->item[k]) == 0 ? 1u << n : 0;
    }
    if (!layer) {
      return cli_fail(j->self,
                      "--show: there is no layer '%s'; there are bodies, lines, loops, contacts, "
                      "forces, axes, trails",
                      sni_show(show->item[k]).text);
    }
    j->layers |= layer;
  }
  return CLI_GO;
}

static int check(job *j, const char *in) {
  const settings *s = j->s;
  if (!s->out) {
    return cli_fail(j->self, "-o FILE.png, FILE.webp or FILE.mp4 says what to make");
  }
  if (!isnan(s->fps) && !(s->fps >= 0.1 && s->fps <= 1000)) {
    return cli_fail(j->self, "--fps: is %g, needs 0.1 to 1000", s->fps);
  }
  if (!isnan(s->zoom) && !(s->zoom > 0)) {
    return cli_fail(j->self, "--zoom: is %g, needs a number > 0", s->zoom);
  }
  if (!isnan(s->elevation) && !(fabs(s->elevation) <= 89)) {
    return cli_fail(j->self, "--elevation: is %g, needs -89 to 89", s->elevation);
  }
  j->film = !cli_has_suffix(s->out, ".png");
  sn_error err = {0};
  if (j->film && cli_film_possible(s->out, &err)) {
    return cli_fail(j->self, "%s", err.text);
  }
  int code = cli_check_output(j->self, "-o", s->out, &in, 1);
  code = code == CLI_GO ? read_layers(j) : code;
  return code == CLI_GO ? read_size(j) : code;
}

/* ---- the recording ---- */

/* Simulates the scene as `sinew run` does, into a recording beside the result. */
static int run_scene(job *j, const char *scene) {
  const settings *s = j->s;
  char wished[32], duration[32], step[32];
  if (snprintf(j->spool, sizeof j->spool, "%s.XXXXXX.snr", s->out) >= (int)sizeof j->spool) {
    j->spool[0] = 0;
    return cli_fail(j->self, "-o: the name is too long");
  }
  const int file = mkstemps(j->spool, 4);
  if (file < 0) {
    j->spool[0] = 0;
    return cli_fail(j->self, "cannot write beside '%s'", s->out);
  }
  close(file);
  const double still = j->layers & CLI_LAYER_TRAILS ? TRAIL_RATE : SAMPLE_RATE;
  const double rate = j->film ? (isnan(s->fps) ? FPS_DEFAULT : s->fps) : still;
  const double until = !j->film && !isnan(s->time) ? s->time : s->duration;
  snprintf(wished, sizeof wished, "%.17g", rate);
  snprintf(duration, sizeof duration, "%.17g", until);
  snprintf(step, sizeof step, "%.17g", s->step);
  const char **argv = calloc(RUN_ARGUMENTS + 2 * (size_t)s->scene.set.count, sizeof *argv);
  if (!argv) {
    return cli_fail(j->self, "out of memory");
  }
  int n = 0;
  argv[n++] = scene;
  argv[n++] = "--out";
  argv[n++] = j->spool;
  argv[n++] = "--rate";
  argv[n++] = wished;
  argv[n++] = "--bundle";
  argv[n++] = "none";
  argv[n++] = "--quiet";
  if (!isnan(until)) {
    argv[n++] = "--duration";
    argv[n++] = duration;
  }
  if (!isnan(s->step)) {
    argv[n++] = "--step";
    argv[n++] = step;
  }
  if (s->method) {
    argv[n++] = "--method";
    argv[n++] = s->method;
  }
  if (s->scene.allow_outside) {
    argv[n++] = "--allow-outside";
  }
  for (int k = 0; k < s->scene.set.count; k++) {
    argv[n++] = "--set";
    argv[n++] = s->scene.set.item[k];
  }
  const int code = cli_run.run(&cli_run, n, (char **)argv);
  free(argv);
  return code;
}

static int open_recording(job *j, const char *in) {
  sn_error err = {0};
  int code = CLI_DONE;
  const bool recorded = cli_has_suffix(in, ".snr");
  if (!recorded) {
    code = run_scene(j, in);
  }
  if (code == CLI_DONE && (sn_recording_open(recorded ? in : j->spool, &j->recording, &err) ||
                           cli_drawing_open(&j->drawing, j->recording, &err))) {
    cli_print_error(&err);
    code = cli_code(err.code);
  }
  j->drawing.layers = j->layers;
  j->drawing.dark = j->s->dark;
  return code;
}

/* The last frame that is not later than t. */
static sn_status find_frame(job *j, double t, int64_t *out, sn_error *err) {
  int64_t low = 0, high = sn_recording_frame_count(j->recording);
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    sn_recorded f;
    const sn_status status = sn_recording_read(j->recording, middle, &f, err);
    if (status) {
      return status;
    }
    if (f.t <= t * (1 + 1e-12)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  *out = low;
  return SN_OK;
}

/* ---- pictures ---- */

static sn_status draw(job *j, const cli_stage *stage, int64_t frame, sn_error *err) {
  const sn_status status = cli_drawing_frame(&j->drawing, frame, &j->triangles, err);
  return status ? status : cli_shade(stage, &j->triangles, &j->picture, err);
}

static void set_stage(const job *j, cli_stage *stage) {
  const cli_look look = {j->s->azimuth, j->s->elevation, j->s->zoom, j->s->dark};
  cli_drawing_stage(&j->drawing, &look, j->width, j->height, stage);
}

static sn_status make_picture(job *j, sn_error *err) {
  int64_t frame = sn_recording_frame_count(j->recording) - 1;
  cli_stage stage;
  sn_status status = isnan(j->s->time) ? SN_OK : find_frame(j, j->s->time, &frame, err);
  if (!(j->layers & CLI_LAYER_TRAILS)) {
    status = status ? status : cli_drawing_focus(&j->drawing, frame, err);
  }
  set_stage(j, &stage);
  status = status ? status : draw(j, &stage, frame, err);
  return status ? status : cli_write_png(&j->picture, j->s->out, err);
}

/* Time of the film's k-th picture: the recording's own frames, or those nearest to a wished rate.
 */
static sn_status make_film(job *j, int64_t *pictures, sn_error *err) {
  cli_stage stage;
  set_stage(j, &stage);
  const double fps = isnan(j->s->fps) ? FPS_DEFAULT : j->s->fps;
  sn_recorded first, last;
  double t0 = 0, t1 = 0;
  sn_status status = sn_recording_read(j->recording, 0, &first, err);
  t0 = status ? 0 : first.t;
  status = status ? status
                  : sn_recording_read(j->recording, sn_recording_frame_count(j->recording) - 1,
                                      &last, err);
  t1 = status ? 0 : last.t;
  *pictures = (int64_t)floor((t1 - t0) * fps * (1 + 1e-9)) + 1;
  cli_film *film = NULL;
  status = status ? status : cli_film_begin(&film, j->s->out, j->width, j->height, fps, err);
  cli_progress p = cli_progress_begin(j->s->quiet);
  for (int64_t k = 0; !status && k < *pictures; k++) {
    int64_t frame = 0;
    status = find_frame(j, t0 + ((double)k + 1e-6) / fps, &frame, err);
    status = status ? status : draw(j, &stage, frame, err);
    status = status ? status : cli_film_add(film, &j->picture, err);
    if (cli_progress_due(&p)) {
      char what[64];
      snprintf(what, sizeof what, "picture %lld of %lld", (long long)k + 1, (long long)*pictures);
      cli_progress_show(&p, (double)k / (double)*pictures, what);
    }
  }
  cli_progress_end(&p);
  const sn_status ended = cli_film_end(&film, status ? NULL : err);
  return status ? status : ended;
}

static int render(job *j) {
  sn_error err = {0};
  int64_t pictures = 1;
  j->picture = (cli_picture){j->width, j->height, NULL};
  j->picture.rgb = malloc(3 * (size_t)j->width * (size_t)j->height);
  if (!j->picture.rgb) {
    return cli_fail(j->self, "out of memory");
  }
  const sn_status status = j->film ? make_film(j, &pictures, &err) : make_picture(j, &err);
  if (status) {
    cli_print_error(&err);
    return cli_code(status);
  }
  if (!j->s->quiet) {
    printf("%s: %dx%d", j->s->out, j->width, j->height);
    printf(j->film ? ", %lld pictures\n" : "\n", (long long)pictures);
  }
  return CLI_DONE;
}

static int run(const cli_command *self, int argc, char **argv) {
  settings s = {.time = NAN,
                .duration = NAN,
                .step = NAN,
                .fps = NAN,
                .azimuth = NAN,
                .elevation = NAN,
                .zoom = NAN};
  cli_list plain = {0};
  job j = {.self = self, .s = &s};
  int code = cli_parse(self, argc, argv, &s, &plain);
  code = code == CLI_GO ? check(&j, plain.item[0]) : code;
  if (code == CLI_GO) {
    code = open_recording(&j, plain.item[0]);
    code = code == CLI_DONE ? render(&j) : code;
  }
  cli_drawing_free(&j.drawing);
  sn_recording_free(&j.recording);
  if (j.spool[0]) {
    remove(j.spool);
  }
  free(j.triangles.item);
  free(j.picture.rgb);
  cli_list_free(&plain);
  cli_list_free(&s.scene.set);
  cli_list_free(&s.show);
  return code;
}

const cli_command cli_render = {
    .name = "render",
    .arguments = "SCENE|RECORDING.snr -o FILE [OPTION...]",
    .least = 1,
    .most = 1,
    .doc = "make a picture or a film of a scene or a recording",
    .about =
        "Simulates a scene, or takes a recording (.snr), and draws it: no screen and no graphics\n"
        "card are needed.  The suffix of the result decides: .png is a picture of one moment,\n"
        ".webp a moving picture for web pages, .mp4 a film (through ffmpeg).",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples =
        "  sinew render scenes/pendulum.yaml -o pendulum.png --time 0.5\n"
        "  sinew render scenes/demo.yaml -o demo.webp --duration 4 --size 640x360 --fps 20\n"
        "  sinew run scenes/pendulum.yaml --out pendulum.snr\n"
        "  sinew render scenes/redmax/fourbar.yaml -o axes.png --show bodies,loops,axes\n"
        "  sinew render pendulum.snr -o dark.png --dark --azimuth 40 --size 1920x1080\n",
    .run = run};
