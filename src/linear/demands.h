/* demands.h: nodes taking their turns, as far as the demands on their order let them. */
#ifndef SNI_DEMANDS_H
#define SNI_DEMANDS_H

#include "linear/ordering.h"

typedef struct sni_turns sni_turns;

/* In the arena; NULL when out of memory. */
sni_turns *sni_turns_build(sni_arena *arena, int n, const sni_order_demands *demands);

/* order <- `from`, in which a node whose turn comes too early waits, and takes its turn as soon as
 * it may.  strict: closers come last in their rings.  Returns the number of nodes that had to wait.
 */
int sni_turns_take(sni_turns *turns, bool strict, const int *from, int *order);

#endif
