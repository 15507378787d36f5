/* convert.c: `sinew convert`: makes other files of a recording. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"

typedef struct settings {
  bool quiet, json;
} settings;

#define AT(member) offsetof(settings, member)
static const cli_option options[] = {
    {"--quiet", NULL, CLI_FLAG, AT(quiet), "no summary, no warnings"},
    {"--json", NULL, CLI_FLAG, AT(json), "print the summary as JSON"}};

static int check_names(const cli_command *self, const char *in, const char *out) {
  if (!cli_format_of(out) || strcmp(out, "-") == 0) {
    char known[128] = "";
    for (int k = 0; cli_format_at(k); k++) {
      strncat(known, k ? ", " : "", sizeof known - strlen(known) - 1);
      strncat(known, cli_format_at(k)->suffix, sizeof known - strlen(known) - 1);
    }
    return cli_fail(self, "'%s' has no suffix that says what to make; known: %s", out, known);
  }
  return cli_check_output(self, "the result", out, &in, 1);
}

static int print_json(const cli_command *self, sn_recording *r, const char *out) {
  sni_json j = {0};
  sni_json_open(&j, NULL, "{");
  sni_json_text(&j, "file", out);
  sni_json_raw(&j, "frames", "%lld", (long long)sn_recording_frame_count(r));
  sni_json_raw(&j, "channels", "%d", sn_recording_channel_count(r));
  sni_json_raw(&j, "bodies", "%d", sn_recording_body_count(r));
  cli_json_bool(&j, "complete", sn_recording_complete(r, NULL));
  sni_json_close(&j, "}");
  return cli_json_print(&j, stdout) ? CLI_DONE : cli_fail(self, "cannot print the summary");
}

static int convert(const cli_command *self, const settings *s, const char *in, const char *out) {
  const cli_format *format = cli_format_of(out);
  sn_recording *r = NULL;
  sn_error err = {0};
  const char *why = "";
  sn_status status = format->possible ? format->possible(&err) : SN_OK;
  status = status ? status : sn_recording_open(in, &r, &err);
  if (!status && !sn_recording_complete(r, &why) && !s->quiet) {
    fprintf(stderr, "warning: %s\n", why);
  }
  status = status ? status : format->write(r, out, &err);
  int code = cli_code(status);
  if (status) {
    cli_print_error(&err);
  } else if (s->json) {
    code = print_json(self, r, out);
  } else if (!s->quiet) {
    const long long frames = sn_recording_frame_count(r);
    const int bodies = sn_recording_body_count(r), channels = sn_recording_channel_count(r);
    printf("%s: %lld frame%s, %d bod%s, %d channel%s\n", out, frames, frames == 1 ? "" : "s",
           bodies, bodies == 1 ? "y" : "ies", channels, channels == 1 ? "" : "s");
  }
  sn_recording_free(&r);
  return code;
}

static int run(const cli_command *self, int argc, char **argv) {
  settings s = {0};
  cli_list plain = {0};
  int code = cli_parse(self, argc, argv, &s, &plain);
  code = code == CLI_GO ? check_names(self, plain.item[0], plain.item[1]) : code;
  code = code == CLI_GO ? convert(self, &s, plain.item[0], plain.item[1]) : code;
  cli_list_free(&plain);
  return code;
}

const cli_command cli_convert = {
    .name = "convert",
    .arguments = "RECORDING.snr RESULT",
    .least = 2,
    .most = 2,
    .doc = "make a table, an animation or a page of a recording",
    .about =
        "Makes another file of a recording; its suffix says which: .csv is the table that the run\n"
        "would have written, .glb an animation in glTF 2.0, .html one page that plays in any "
        "browser.\n"
        "A recording that was cut short gives what there is, and a warning.",
    .option = options,
    .noption = sizeof options / sizeof *options,
    .examples = "  sinew run scenes/pendulum.yaml --out pendulum.snr\n"
                "  sinew convert pendulum.snr pendulum.csv\n"
                "  sinew convert pendulum.snr pendulum.glb\n",
    .run = run};
