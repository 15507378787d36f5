/* test_recording_fuzz.c: recordings damaged at random.
 *
 * Whatever is in the file, reading gives a recording whose frames can be read or are refused one by
 * one, or a message; it never crashes, never reads beyond its bytes and never leaks (under
 * AddressSanitizer).  Each seed is a file of its own; a failure prints it. */
#define _POSIX_C_SOURCE 200809L
#include "recordings.h"

#include <unistd.h>

#include "io/export.h"
#include "io/snr_reader.h"

enum { SEEDS = 4000 };

/* Lengths and counts are worth more attention than other bytes. */
static void damage(recorded_bytes *b, uint64_t *seed) {
  const int times = 1 + (int)(test_random_u64(seed) % 4);
  for (int k = 0; k < times; k++) {
    static const uint32_t nasty[] = {0,          1,          7,          8,          0x7fffffff,
                                     0x80000000, 0xffffffff, 0xfffffff8, 0x40000000, 0x3ffffff8};
    const size_t at = test_random_u64(seed) % b->size;
    switch (test_random_u64(seed) % 5) {
    case 0:
      b->data[at] = (char)test_random_u64(seed);
      break;
    case 1: { /* a count of some record */
      size_t record = 0;
      uint32_t n = 0;
      for (size_t next = 0; next + 8 <= b->size && next <= at; next += 8 + (size_t)n) {
        record = next;
        memcpy(&n, b->data + next + 4, 4);
      }
      const size_t word = record + 4 * (test_random_u64(seed) % 14);
      if (word + 4 <= b->size) {
        memcpy(b->data + word, &nasty[test_random_u64(seed) % 10], 4);
      }
      break;
    }
    case 2:
      b->size = at + 1;
      break;
    case 3: { /* a piece moves */
      const size_t from = test_random_u64(seed) % b->size;
      const size_t most = b->size - (from > at ? from : at);
      memmove(b->data + at, b->data + from, test_random_u64(seed) % (most + 1));
      break;
    }
    default: { /* words of the header */
      static const char *const word[] = {"null", "[]", "{}", "-1", "1e999", "\"\"", "99", "]", "}"};
      const char *w = word[test_random_u64(seed) % 9];
      const size_t early = at % 4096;
      if (early + strlen(w) < b->size) {
        memcpy(b->data + early, w, strlen(w));
      }
    }
    }
  }
}

static void read_everything(sn_recording *r) {
  sn_error err = {0};
  sn_recorded f;
  double sum = 0;
  for (int64_t k = 0; k < sn_recording_frame_count(r); k++) {
    if (sn_recording_read(r, k, &f, &err)) {
      CHECK(err.text[0], "no message");
      continue;
    }
    for (int c = 0; c < sn_recording_channel_count(r); c++) {
      sum += f.channel[c];
    }
    for (int c = 0; c < 7 * sn_recording_body_count(r); c++) {
      sum += (double)f.pose[c];
    }
    for (int c = 0; c < sn_recording_line_count(r); c++) {
      sum += isnan(f.tension[c]) ? 0 : (double)f.tension[c];
    }
    for (int c = 0; c < f.narrow; c++) {
      sum += (double)f.arrow[c].vector[2];
    }
  }
  for (int k = 0; k < r->nmesh; k++) {
    sni_snr_mesh mesh;
    if (!sni_recording_mesh(r, k, &mesh, &err)) {
      for (int i = 0; i < 3 * mesh.ntriangle; i++) {
        sum += (double)mesh.vertex[3 * mesh.triangle[i]];
      }
    }
  }
  for (int k = 0; k < r->nnote; k++) {
    sni_doc *note = NULL;
    sni_recording_note(r, k, &note, &err);
    sni_doc_free(&note);
  }
  volatile double used = sum;
  (void)used;
}

TEST(damaged_files_do_no_harm) {
  recorded_bytes good = recorded_whole(3);
  int read = 0;
  char path[] = "/tmp/test_recording_fuzz_XXXXXX";
  const int fd = mkstemp(path);
  CHECK(fd >= 0, "no file");
  close(fd);
  for (uint64_t s = 1; s <= SEEDS; s++) {
    uint64_t seed = s;
    recorded_bytes bad = {malloc(good.size), good.size};
    CHECK(bad.data != NULL, "out of memory");
    memcpy(bad.data, good.data, good.size);
    damage(&bad, &seed);
    bad.data = realloc(bad.data, bad.size);
    FILE *f = fmemopen(bad.data, bad.size, "rb");
    CHECK(f != NULL, "no stream");
    sn_recording *r = NULL;
    sn_error err = {0};
    if (!sni_recording_from(f, "damaged.snr", &r, &err)) {
      read_everything(r);
      if (sni_export_glb(r, path, &err)) {
        CHECK(err.text[0], "seed %d: no message", (int)s);
      }
      read++;
    } else {
      CHECK(err.text[0] && !r, "seed %d: no message", (int)s);
    }
    sn_recording_free(&r);
    free(bad.data);
  }
  CHECK(read > SEEDS / 10 && read < SEEDS, "%d of %d could be read", read, SEEDS);
  remove(path);
  free(good.data);
}

int main(void) {
  RUN_TESTS(T(damaged_files_do_no_harm));
}
