/* A user's program: what it needs comes from the installed package alone. */
#include <sinew/types.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  const sn_error err = {.code = SN_E_VALUE,
                        .line = 31,
                        .file = "scene.yaml",
                        .path = "bodies.hammer.joint.axis",
                        .text = "length 0, needs a direction"};
  char text[1024];
  sn_error_format(&err, text, sizeof text);
  printf("%s (%s)\n", text, sn_status_text(err.code));
  return strcmp(text,
                "scene.yaml: line 31, bodies.hammer.joint.axis: length 0, needs a direction") ||
         strcmp(sn_status_text(SN_OK), "ok");
}
