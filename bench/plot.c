/* plot.c: the pictures of benches. */
#include "bench/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool bench_plot(FILE *to, const svg_panel *panel, int count, const svg_style *style) {
  sni_text text = {0};
  svg_write(panel, count, style, &text);
  char *svg = sni_text_take(&text);
  errno = 0;
  const bool good = svg && fputs(svg, to) >= 0 && fflush(to) == 0;
  free(svg);
  if (!good) {
    fprintf(stderr, "sinew bench: cannot write the plot: %s\n",
            errno ? strerror(errno) : "out of memory");
  }
  return good;
}
