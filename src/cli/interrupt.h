/* interrupt.h: Ctrl-C ends a run cleanly; a second one ends it at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

void cli_interrupt_watch(void);
int cli_interrupt_seen(void); /* number of the signal; 0: none */

#endif
