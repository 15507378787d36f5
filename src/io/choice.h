/* choice.h: which channels of a sim are recorded. */
#ifndef SNI_CHOICE_H
#define SNI_CHOICE_H

#include "sinew/sinew.h"

#define SNI_CHANNEL_NAME_MAX 320 /* bytes */

typedef struct sni_choice {
  int *channel; /* count; the first is t */
  int count;
  double *value; /* count  room for their values */
} sni_choice;

/* pattern: names with * and ?; npattern = 0: the usual channels.  A pattern that fits nothing is
 * an error. */
sn_status sni_choice_make(sni_choice *c, const sn_sim *sim, const char *const *pattern,
                          int npattern, sn_error *err);
void sni_choice_free(sni_choice *c);

/* Values at a state into c->value; a number that is not finite is an error. */
sn_status sni_choice_calc(sni_choice *c, sn_sim *sim, const sn_state *state, const sn_input *input,
                          sn_error *err);

/* SN_OK, or what sni_choice_make would say. */
sn_status sni_choice_check(const sn_sim *sim, const char *const *pattern, int npattern,
                           sn_error *err);

/* Does a name fit a pattern, in which * stands for any text and ? for any character? */
bool sni_choice_fits(const char *pattern, const char *name);

#endif
