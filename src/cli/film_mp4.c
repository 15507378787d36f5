/* film_mp4.c: H.264 in MP4, by the program ffmpeg: pictures go into its standard input. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/film.h"

extern char **environ;

typedef struct state {
  pid_t child;
  int to;                    /* its standard input */
  struct sigaction old_pipe; /* a child that dies early must not end this process */
} state;

static pid_t spawn(char *const argv[], int in, int other_end) {
  pid_t child = -1;
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions)) {
    return -1;
  }
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_addclose(&actions, in);
  if (other_end >= 0) {
    posix_spawn_file_actions_addclose(&actions, other_end);
  }
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  if (posix_spawnp(&child, argv[0], &actions, NULL, argv, environ)) {
    child = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

static bool ended_well(pid_t child) {
  int how = 0;
  while (waitpid(child, &how, 0) < 0) {
    if (errno != EINTR) {
      return false;
    }
  }
  return WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

static sn_status possible(sn_error *err) {
  char *const argv[] = {"ffmpeg", "-version", NULL};
  const int in = open("/dev/null", O_RDONLY);
  const pid_t child = in >= 0 ? spawn(argv, in, -1) : -1;
  if (in >= 0) {
    close(in);
  }
  return child > 0 && ended_well(child)
             ? SN_OK
             : sni_fail(err, SN_E_UNSUPPORTED,
                        "there is no ffmpeg, which writes .mp4: install it, or write .webp");
}

static sn_status begin(cli_film *f, sn_error *err) {
  char size[32], rate[32], path[4096];
  snprintf(size, sizeof size, "%dx%d", f->width, f->height);
  snprintf(rate, sizeof rate, "%.9g", f->fps);
  snprintf(path, sizeof path, "file:%s", f->path); /* whatever it begins with, it is a file */
  char *const argv[] = {"ffmpeg",
                        "-loglevel",
                        "error",
                        "-y",
                        "-f",
                        "rawvideo",
                        "-pix_fmt",
                        "rgb24",
                        "-s",
                        size,
                        "-r",
                        rate,
                        "-i",
                        "-",
                        "-an",
                        "-c:v",
                        "libx264",
                        "-pix_fmt",
                        "yuv420p",
                        "-crf",
                        "18",
                        "-vf",
                        "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                        "-movflags",
                        "+faststart",
                        path,
                        NULL};
  int ends[2];
  state *s = calloc(1, sizeof *s);
  f->own = s;
  if (!s || pipe(ends)) {
    free(s);
    return sni_fail(err, SN_E_MEMORY, "no memory for a film");
  }
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignore, &s->old_pipe);
  s->child = spawn(argv, ends[0], ends[1]);
  s->to = ends[1];
  close(ends[0]);
  if (s->child < 0) {
    close(ends[1]);
    sigaction(SIGPIPE, &s->old_pipe, NULL);
    free(s);
    return possible(err) ? err->code : sni_fail(err, SN_E_FILE, "ffmpeg cannot be started");
  }
  return SN_OK;
}

static sn_status add(cli_film *f, const cli_picture *p, sn_error *err) {
  const state *s = f->own;
  const size_t size = 3 * (size_t)p->width * (size_t)p->height;
  for (size_t done = 0; done < size;) {
    const ssize_t n = write(s->to, p->rgb + done, size - done);
    if (n < 0 && errno != EINTR) {
      return sni_fail(err, SN_E_FILE, "ffmpeg does not take picture %lld", (long long)f->count);
    }
    done += n > 0 ? (size_t)n : 0;
  }
  return SN_OK;
}

static sn_status end(cli_film *f, sn_error *err) {
  state *s = f->own;
  close(s->to);
  const bool good = ended_well(s->child);
  sigaction(SIGPIPE, &s->old_pipe, NULL);
  free(s);
  return good ? SN_OK : sni_fail(err, SN_E_FILE, "ffmpeg cannot write '%s': see above", f->path);
}

const cli_film_ops cli_film_mp4 = {".mp4", possible, begin, add, end};
