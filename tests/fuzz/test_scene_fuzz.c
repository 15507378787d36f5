/* test_scene_fuzz.c: good scenes, damaged at random.
 *
 * Whatever comes in, loading gives either a model or problems that can be printed, a line each; it
 * never crashes, never leaks (under AddressSanitizer) and never takes long.  Each seed is a scene
 * of its own; a failure prints it. */
#include "sinew/scene.h"
#include "test.h"

#define FOLDER SINEW_SOURCE_DIR "/tests/data/good/"

static const char *const files[] = {"hammer.yaml",    "everything.yaml", "use.yaml",
                                    "rope.yaml",      "defaults.yaml",   "parts/arm.yaml",
                                    "parts/foot.yaml"};
enum { NFILE = sizeof files / sizeof *files, SIZE_MAX_TEXT = 1 << 16 };

static const char *const words[] = {"{",
                                    "}",
                                    "[",
                                    "]",
                                    ": ",
                                    ", ",
                                    "- ",
                                    "#",
                                    "'",
                                    "\"",
                                    "|",
                                    "\n",
                                    "\n  ",
                                    "\t",
                                    "&a",
                                    "*a",
                                    "!x",
                                    "<<: ",
                                    "~",
                                    "null",
                                    "true",
                                    "no",
                                    ".nan",
                                    "-.inf",
                                    "1e999",
                                    "-1",
                                    "0",
                                    "0.5",
                                    "1e300",
                                    "1000000",
                                    "99999999999999999999",
                                    "2*pi",
                                    "sqrt(",
                                    "t",
                                    "world",
                                    "type: ",
                                    "revolute",
                                    "free",
                                    "composite",
                                    "parts: ",
                                    "at: ",
                                    "joint: ",
                                    "repeat: ",
                                    "count: ",
                                    "defaults:",
                                    "use: ",
                                    "file: ",
                                    "prefix: ",
                                    "left/",
                                    "../",
                                    "/dev/zero",
                                    "parts/arm.yaml",
                                    "everything.yaml",
                                    "parent: ",
                                    "shapes: ",
                                    "keyframes: ",
                                    "csv: ",
                                    "\xff",
                                    "\xc3\xa4",
                                    "\x01",
                                    "sinew: 1\n"};
enum { NWORD = sizeof words / sizeof *words };

static const char *const changes[] = {"gravity=[0,0,1]",
                                      "bodies.arm.joint.damping=3",
                                      "bodies.rope.repeat.count=7",
                                      "bodies.l/lower.joint.axis=[0,0,0]",
                                      "run.step=-1",
                                      "use[0].prefix=x/",
                                      "use[9].at=1",
                                      "forces.new={type: spring}",
                                      "bodies.rope_3.joint={}",
                                      "sinew=2",
                                      "bodies=[]",
                                      "=",
                                      "a..b=1",
                                      "defaults.joint.type=free",
                                      "initial.a/b/c.q=1"};
enum { NCHANGE = sizeof changes / sizeof *changes };

static size_t pick(uint64_t *seed, size_t n) {
  return n > 0 ? (size_t)(test_random_u64(seed) % n) : 0;
}

static size_t read_file(const char *name, char *out) {
  char path[512];
  snprintf(path, sizeof path, FOLDER "%s", name);
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL, "%s", path);
  const size_t n = fread(out, 1, SIZE_MAX_TEXT / 2, file);
  fclose(file);
  return n;
}

/* Replaces `cut` bytes at `at` by others. */
static size_t replace(char *text, size_t n, size_t at, size_t cut, const char *with,
                      size_t length) {
  if (n - cut + length > SIZE_MAX_TEXT) {
    return n;
  }
  memmove(text + at + length, text + at + cut, n - at - cut);
  memcpy(text + at, with, length);
  return n - cut + length;
}

static size_t damage(char *text, size_t n, uint64_t *seed) {
  const size_t at = pick(seed, n + 1), rest = n - at;
  const size_t span = pick(seed, rest < 40 ? rest + 1 : 40);
  char copy[64];
  const char *word = words[pick(seed, NWORD)];
  switch (pick(seed, 7)) {
  case 0:
    return replace(text, n, at, span, "", 0);
  case 1:
    return replace(text, n, at, 0, word, strlen(word));
  case 2:
    return replace(text, n, at, span, word, strlen(word));
  case 3: { /* the same again, elsewhere */
    memcpy(copy, text + at, span);
    return replace(text, n, pick(seed, n + 1), 0, copy, span);
  }
  case 4: { /* a word instead of a word */
    size_t end = at;
    while (end < n && strchr(" ,:{}[]\n", text[end]) == NULL) {
      end++;
    }
    return replace(text, n, at, end - at, word, strlen(word));
  }
  case 5:
    if (rest > 0) {
      text[at] ^= (char)(1 << pick(seed, 8));
    }
    return n;
  default:
    return pick(seed, 8) == 0 ? at : n;
  }
}

static void check_list(uint64_t seed, const sn_error *err) {
  char line[2048];
  CHECK(err->code < 0, "seed %llu: code %d", (unsigned long long)seed, err->code);
  CHECK(err->text[0] != 0, "seed %llu: a problem without words", (unsigned long long)seed);
  sn_error_format(err, line, sizeof line);
  CHECK(strlen(line) < sizeof line - 1, "seed %llu: too long", (unsigned long long)seed);
  CHECK(strpbrk(line, "\n\r") == NULL, "seed %llu: two lines in '%s'", (unsigned long long)seed,
        line);
}

static void load(uint64_t seed, const char *text, size_t n, const sn_scene_options *options) {
  sn_scene *scene = NULL;
  sn_error err = {0};
  const sn_status status = sn_scene_load_text(text, n, "fuzz", options, &scene, &err);
  CHECK(scene != NULL, "seed %llu: no scene: %s", (unsigned long long)seed, err.text);
  const int count = sn_scene_error_count(scene);
  CHECK((count == 0) == (status == SN_OK), "seed %llu: status %d with %d problems",
        (unsigned long long)seed, status, count);
  CHECK((count == 0) == (sn_scene_model(scene) != NULL), "seed %llu", (unsigned long long)seed);
  for (int k = 0; k < count; k++) {
    check_list(seed, sn_scene_error(scene, k));
  }
  for (int k = 0; k < sn_scene_warning_count(scene); k++) {
    check_list(seed, sn_scene_warning(scene, k));
  }
  sn_scene_free(&scene);
}

TEST(damaged_scenes) {
  const uint64_t count = getenv("SINEW_SOAK") ? 200000 : 5000;
  static char original[NFILE][SIZE_MAX_TEXT];
  size_t size[NFILE];
  for (int k = 0; k < NFILE; k++) {
    size[k] = read_file(files[k], original[k]);
  }
  char *text = malloc(SIZE_MAX_TEXT + 1);
  for (uint64_t seed = 0; seed < count; seed++) {
    uint64_t random = seed;
    const size_t file = pick(&random, NFILE);
    size_t n = size[file];
    memcpy(text, original[file], n);
    for (size_t k = 1 + pick(&random, 4); k > 0; k--) {
      n = damage(text, n, &random);
    }
    sn_scene_options options = sn_scene_options_default();
    options.folder = FOLDER;
    options.max_bodies = 300;
    const char *set[3];
    for (int k = 0; k < 3; k++) {
      set[k] = changes[pick(&random, NCHANGE)];
    }
    options.set = set;
    options.nset = pick(&random, 4) == 0 ? (int)pick(&random, 4) : 0;
    load(seed, text, n, &options);
  }
  free(text);
}

int main(void) {
  RUN_TESTS(T(damaged_scenes));
}
