/* export_glb.c: an animation in glTF 2.0, binary: a header, a piece of JSON, a piece of numbers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/export.h"
#include "io/glb.h"

#define GLB_MAX 0xffffffffu /* bytes: its length is a u32 */

static bool write_word(FILE *to, uint32_t word) {
  return fwrite(&word, sizeof word, 1, to) == 1;
}

static bool write_vec3(FILE *to, const sn_vec3 *x, int n) {
  bool good = true;
  for (int k = 0; good && k < n; k++) {
    const float out[3] = {(float)x[k].x, (float)x[k].y, (float)x[k].z};
    good = fwrite(out, sizeof out, 1, to) == 1;
  }
  return good;
}

/* All vertices, then all indices: the surfaces are made twice rather than kept. */
static sn_status write_surfaces(sni_glb *g, bool indices, FILE *to, sn_error *err) {
  for (int k = 0; k < g->nmesh; k++) {
    for (int p = 0; p < g->mesh[k].nprimitive; p++) {
      sni_surface s = {0};
      sn_status status = sni_glb_surface(g, &g->mesh[k], p, &s, err);
      bool good = !status;
      if (good && indices) {
        good = fwrite(s.index, sizeof *s.index, (size_t)s.nindex, to) == (size_t)s.nindex;
      } else if (good) {
        good = write_vec3(to, s.vertex, s.nvertex) &&
               (!s.smooth || write_vec3(to, s.normal, s.nvertex));
      }
      sni_surface_free(&s);
      if (!good) {
        return status ? status : SN_E_FILE;
      }
    }
  }
  return SN_OK;
}

static sn_status write_numbers(sni_glb *g, FILE *to, sn_error *err) {
  sn_status status = write_surfaces(g, false, to, err);
  status = status ? status : write_surfaces(g, true, to, err);
  if (!status && g->motion_bytes > 0) {
    const size_t n = (size_t)g->nframe;
    status = fwrite(g->time, sizeof *g->time, n, to) == n ? SN_OK : SN_E_FILE;
    status = status ? status : sni_glb_write_motion(g, to, err);
  }
  return status;
}

/* SN_E_FILE without a message: errno knows. */
static sn_status write_all(sni_glb *g, const char *json, size_t n, uint64_t numbers, FILE *to,
                           sn_error *err) {
  const uint32_t padded = (uint32_t)(n + 3) & ~3u;
  const uint32_t all = 12 + 8 + padded + (numbers ? 8 + (uint32_t)numbers : 0);
  bool good = write_word(to, 0x46546c67) && write_word(to, 2) && write_word(to, all); /* glTF */
  good = good && write_word(to, padded) && write_word(to, 0x4e4f534a);                /* JSON */
  good = good && fwrite(json, 1, n, to) == n && fwrite("   ", 1, padded - n, to) == padded - n;
  if (good && numbers) {
    good = write_word(to, (uint32_t)numbers) && write_word(to, 0x004e4942); /* BIN */
  }
  return !good ? SN_E_FILE : numbers ? write_numbers(g, to, err) : SN_OK;
}

static sn_status write_file(sni_glb *g, const char *path, const char *json, size_t n,
                            uint64_t numbers, sn_error *err) {
  sn_error why = {0};
  errno = 0;
  FILE *to = fopen(path, "wb");
  sn_status status = to ? write_all(g, json, n, numbers, to, &why) : SN_E_FILE;
  int reason = errno;
  if (to && fclose(to) != 0 && !status) {
    status = SN_E_FILE;
    reason = errno;
  }
  if (status && to) {
    remove(path);
  }
  if (status && why.text[0]) {
    return sni_fail(err, status, "%s", why.text);
  }
  return status ? sni_fail(err, status, "cannot write '%s': %s", path, strerror(reason)) : SN_OK;
}

static uint64_t motion_bytes(const sni_glb *g) {
  uint64_t floats = 1;
  for (int k = 0; k < sni_glb_tracks(g); k++) {
    floats += (uint64_t)sni_glb_width(g, k);
  }
  return floats > 1 ? 4 * floats * (uint64_t)g->nframe : 0;
}

sn_status sni_export_glb(sn_recording *r, const char *path, sn_error *err) {
  sni_glb g;
  sni_json j = {.compact = true};
  sn_status status = sni_glb_read(&g, r, err);
  status = status ? status : sni_glb_measure(&g, err);
  g.motion_bytes = status ? 0 : motion_bytes(&g);
  status = status ? status : sni_glb_json(&g, &j, err);
  if (!status && j.out.out_of_memory) {
    status = sni_fail(err, SN_E_MEMORY, "no memory for an animation");
  }
  const uint64_t numbers = g.vertex_bytes + g.index_bytes + g.motion_bytes;
  if (!status && numbers + j.out.length + 64 > GLB_MAX) {
    status = sni_fail(err, SN_E_LIMIT,
                      "the animation has %.3g GB, at most 4.29: record less often (--every)",
                      1e-9 * (double)(numbers + j.out.length));
  }
  status = status ? status : write_file(&g, path, j.out.text, j.out.length, numbers, err);
  free(j.out.text);
  sni_glb_free(&g);
  return status;
}
