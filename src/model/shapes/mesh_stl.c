/* shapes/mesh_stl.c: meshes from STL files, in text and in binary. */
#include "model/mesh_file.h"

#include <stdint.h>
#include <string.h>

/* To the next word, on whatever line. */
static void stl_next(sni_mesh_cursor *c) {
  for (; sni_mesh_is_blank(*c->p) || *c->p == '\n'; c->p++) {
    c->line += *c->p == '\n';
  }
}

static sn_status stl_word(sni_mesh_cursor *c, const char *word, sn_error *err) {
  stl_next(c);
  if (!sni_mesh_word_is(c, word)) {
    return sni_mesh_bad(c, err, "expected '%s', found %s", word, sni_mesh_quote(c).text);
  }
  c->p += strlen(word);
  return SN_OK;
}

static sn_status stl_vertex(sni_mesh_parts *parts, sni_mesh_cursor *at, sn_error *err) {
  double x[3];
  sn_status status = stl_word(at, "vertex", err);
  for (int i = 0; i < 3 && status == SN_OK; i++) {
    stl_next(at);
    status = sni_mesh_read_number(at, &x[i], err);
  }
  return status ? status : sni_mesh_add_vertex(parts, x, err);
}

/* The normal is skipped: it follows from the corners, and in many files it is 0 or NaN. */
static sn_status stl_facet(sni_mesh_parts *parts, sni_mesh_cursor *at, sn_error *err) {
  static const char *const before[] = {"facet", "normal", NULL, NULL, NULL, "outer", "loop"};
  static const char *const behind[] = {"endloop", "endfacet"};
  sn_status status = SN_OK;
  for (size_t k = 0; k < sizeof before / sizeof before[0] && status == SN_OK; k++) {
    if (before[k]) {
      status = stl_word(at, before[k], err);
    } else {
      stl_next(at);
      at->p += sni_mesh_word_length(at);
    }
  }
  for (int k = 0; k < 3 && status == SN_OK; k++) {
    status = stl_vertex(parts, at, err);
  }
  for (int k = 0; k < 2 && status == SN_OK; k++) {
    status = stl_word(at, behind[k], err);
  }
  return status ? status
                : sni_mesh_add_triangle(parts, parts->nvertex - 3, parts->nvertex - 2,
                                        parts->nvertex - 1, err);
}

/* Any number of solids; all that is said about them is their names. */
static sn_status stl_read_text(sni_mesh_parts *parts, const char *text, size_t size,
                               sn_error *err) {
  sni_mesh_cursor at = {.p = text, .end = text + size, .line = 1, .name = parts->name};
  for (;;) {
    stl_next(&at);
    if (at.p >= at.end) {
      return SN_OK;
    }
    if (sni_mesh_word_is(&at, "solid") || sni_mesh_word_is(&at, "endsolid")) {
      sni_mesh_skip_line(&at);
      continue;
    }
    const sn_status status = stl_facet(parts, &at, err);
    if (status) {
      return status;
    }
  }
}

#define STL_HEADER 84 /* 80 bytes of anything, number of facets */
#define STL_FACET  50 /* normal and three corners as floats, 2 bytes of anything */

static uint32_t little_endian(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool begins_with_solid(const char *text, size_t size) {
  sni_mesh_cursor at = {.p = text, .end = text + size};
  stl_next(&at);
  return sni_mesh_word_is(&at, "solid");
}

static sn_status stl_read_binary(sni_mesh_parts *parts, const char *text, size_t size,
                                 sn_error *err) {
  const unsigned char *data = (const unsigned char *)text;
  const uint32_t count = size < STL_HEADER ? 0 : little_endian(data + 80);
  const uint64_t needed = STL_HEADER + STL_FACET * (uint64_t)count;
  if (size != needed) {
    return sni_fail(err, SN_E_SYNTAX,
                    "%s: %s: a header with %lu facets needs %llu bytes, file has %zu", parts->name,
                    begins_with_solid(text, size)
                        ? "begins with 'solid' as STL in text, but has bytes of 0 as in binary, "
                          "and that is damaged"
                        : "neither STL in text (begins with 'solid') nor in binary",
                    (unsigned long)count, (unsigned long long)needed, size);
  }
  for (uint32_t k = 0; k < count; k++) {
    const unsigned char *facet = data + STL_HEADER + STL_FACET * (size_t)k + 12;
    for (int corner = 0; corner < 3; corner++, facet += 12) {
      double x[3];
      for (int i = 0; i < 3; i++) {
        const uint32_t bits = little_endian(facet + 4 * i);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
          return sni_fail(err, SN_E_SYNTAX, "%s facet %lu: a coordinate is %g, needs to be finite",
                          parts->name, (unsigned long)k + 1, (double)value);
        }
        x[i] = value;
      }
      const sn_status status = sni_mesh_add_vertex(parts, x, err);
      if (status) {
        return status;
      }
    }
    const sn_status status = sni_mesh_add_triangle(parts, parts->nvertex - 3, parts->nvertex - 2,
                                                   parts->nvertex - 1, err);
    if (status) {
      return status;
    }
  }
  return SN_OK;
}

/* A binary file may begin with "solid" as well.  But byte 83, the highest of its count, is 0 in any
 * file below 800 MiB, and most headers end with zeros; no text has a 0. */
sn_status sni_mesh_read_stl(sni_mesh_parts *parts, const char *text, size_t size, sn_error *err) {
  const bool zero = size >= STL_HEADER && memchr(text, 0, STL_HEADER);
  return begins_with_solid(text, size) && !zero ? stl_read_text(parts, text, size, err)
                                                : stl_read_binary(parts, text, size, err);
}
