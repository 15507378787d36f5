/* number.h: decimal numbers from text, the same whatever the locale of the program around us. */
#ifndef SNI_NUMBER_H
#define SNI_NUMBER_H

/* Reads a number such as -1, .5, 2., 1e-3 at the start of text, correctly rounded, and returns the
 * first character behind it; returns text itself and leaves *out alone when there is no number.
 * No blanks before it, no hexadecimal, no "inf" and "nan".  A number too large for a double comes
 * out as infinity: the caller tests isfinite. */
const char *sni_number_read(const char *text, double *out);

#endif
