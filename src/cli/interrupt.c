/* interrupt.c: Ctrl-C ends a run cleanly; a second one ends it at once. */
#define _POSIX_C_SOURCE 200809L
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

/* The one thing that a signal handler may write to. */
static volatile sig_atomic_t seen;

static void remember(int number) {
  seen = number;
}

void cli_interrupt_watch(void) {
  struct sigaction action = {.sa_handler = remember, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int cli_interrupt_seen(void) {
  return (int)seen;
}
