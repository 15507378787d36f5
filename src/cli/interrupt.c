/* interrupt.c: Ctrl-C ends a run cleanly; a second one ends it at once. */
#define _POSIX_C_SOURCE 200809L
#include "cli/interrupt.h"

#include <signal.h>
#include <time.h>

/* Some senders send twice: timeout(1) signals its child, and then the group in which the child is.
 * What follows this soon is no second wish. */
#define ECHO_SECONDS 0.2

/* All that a signal handler may write to: the first signal, and when it came. */
static volatile sig_atomic_t seen;
static struct timespec first;

static double seconds_since_first(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec);
}

static void remember(int number) {
  if (!seen) {
    clock_gettime(CLOCK_MONOTONIC, &first);
    seen = number;
  } else if (seconds_since_first() > ECHO_SECONDS) {
    signal(number, SIG_DFL);
    raise(number);
  }
}

void cli_interrupt_watch(void) {
  struct sigaction action = {.sa_handler = remember};
  /* One at a time: the two signals share what is remembered. */
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int cli_interrupt_seen(void) {
  return (int)seen;
}
