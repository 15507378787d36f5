/* glb_json.c: the JSON of an animation in glTF 2.0: nodes, meshes, materials, and where their
 * numbers are.
 *
 *     view 0  vertices: places and normals, one primitive after the other
 *     view 1  indices
 *     view 2  times, then the tracks of bodies and segments */
#include <math.h>

#include "io/glb.h"
#include "sinew_version.h"

enum { VIEW_VERTEX, VIEW_INDEX, VIEW_MOTION };
enum { FLOAT = 5126, UNSIGNED_INT = 5125, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };

static void put_floats(sni_json *j, const char *key, const float *x, int n) {
  double wide[4];
  for (int c = 0; c < n; c++) {
    wide[c] = (double)x[c];
  }
  sni_json_numbers(j, key, wide, n);
}

static void put_int(sni_json *j, const char *key, int64_t value) {
  sni_json_raw(j, key, "%lld", (long long)value);
}

/* ---- nodes ---- */

static const sn_mat3 y_up_from_z_up = {{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}};

/* Node 0 turns the scene's axes and units to y up and metres; its children are the tracks. */
static void put_root(const sni_glb *g, sni_json *j) {
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "name", "world");
  if (!g->y_up) {
    const sn_quat q = sn_quat_from_mat3(y_up_from_z_up);
    sni_json_numbers(j, "rotation", (double[]){q.x, q.y, q.z, q.w}, 4);
  }
  if (g->metres != 1) {
    sni_json_numbers(j, "scale", (double[]){g->metres, g->metres, g->metres}, 3);
  }
  if (sni_glb_tracks(g) > 0) {
    sni_json_open(j, "children", "[");
    for (int k = 0; k < sni_glb_tracks(g); k++) {
      put_int(j, NULL, k + 1);
    }
    sni_json_close(j, "]");
  }
  sni_json_close(j, "}");
}

static void put_node(const sni_glb *g, int track, const sn_recorded *f, sni_json *j) {
  const bool is_body = track < g->nbody;
  const int mesh = is_body ? g->body[track].mesh : g->nmesh - 1;
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "name",
                is_body ? sn_recording_body_name(g->r, track)
                        : sn_recording_line_name(g->r, g->segment[track - g->nbody].line));
  if (mesh >= 0) {
    put_int(j, "mesh", mesh);
  }
  if (is_body && f) { /* where it is while nothing plays */
    put_floats(j, "translation", f->pose + 7 * (size_t)track, 3);
    put_floats(j, "rotation", f->pose + 7 * (size_t)track + 3, 4);
  }
  sni_json_close(j, "}");
}

static sn_status put_nodes(const sni_glb *g, sni_json *j, sn_error *err) {
  sn_recorded f;
  const sn_status status = g->nframe > 0 ? sn_recording_read(g->r, g->frame[0], &f, err) : SN_OK;
  if (status) {
    return status;
  }
  sni_json_open(j, "nodes", "[");
  put_root(g, j);
  for (int k = 0; k < sni_glb_tracks(g); k++) {
    put_node(g, k, g->nframe > 0 ? &f : NULL, j);
  }
  sni_json_close(j, "]");
  return SN_OK;
}

/* ---- meshes ---- */

/* Accessors are numbered primitive by primitive: places, normals where there are any, indices. */
static void put_meshes(const sni_glb *g, sni_json *j) {
  int accessor = 0;
  sni_json_open(j, "meshes", "[");
  for (int k = 0; k < g->nmesh; k++) {
    sni_json_open(j, NULL, "{");
    sni_json_open(j, "primitives", "[");
    for (int p = 0; p < g->mesh[k].nprimitive; p++) {
      const sni_glb_primitive *primitive = &g->primitive[g->mesh[k].first + p];
      sni_json_open(j, NULL, "{");
      sni_json_open(j, "attributes", "{");
      put_int(j, "POSITION", accessor++);
      if (primitive->smooth) {
        put_int(j, "NORMAL", accessor++);
      }
      sni_json_close(j, "}");
      put_int(j, "indices", accessor++);
      put_int(j, "material", primitive->color);
      sni_json_close(j, "}");
    }
    sni_json_close(j, "]");
    sni_json_close(j, "}");
  }
  sni_json_close(j, "]");
}

/* Colours of scenes are those of screens (sRGB); here they are linear. */
static double linear(double c) {
  return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static void put_materials(const sni_glb *g, sni_json *j) {
  sni_json_open(j, "materials", "[");
  for (int k = 0; k < g->ncolor; k++) {
    const sn_vec3 c = g->color[k];
    sni_json_open(j, NULL, "{");
    sni_json_open(j, "pbrMetallicRoughness", "{");
    sni_json_numbers(j, "baseColorFactor", (double[]){linear(c.x), linear(c.y), linear(c.z), 1}, 4);
    sni_json_raw(j, "metallicFactor", "0.1");
    sni_json_raw(j, "roughnessFactor", "0.6");
    sni_json_close(j, "}");
    sni_json_close(j, "}");
  }
  sni_json_close(j, "]");
}

/* ---- accessors ---- */

typedef struct accessor {
  int view, component;
  const char *type;
  uint64_t offset;
  int64_t count;
} accessor;

static void open_accessor(sni_json *j, accessor a) {
  sni_json_open(j, NULL, "{");
  put_int(j, "bufferView", a.view);
  put_int(j, "byteOffset", (int64_t)a.offset);
  put_int(j, "componentType", a.component);
  put_int(j, "count", a.count);
  sni_json_text(j, "type", a.type);
}

static void put_accessor(sni_json *j, accessor a) {
  open_accessor(j, a);
  sni_json_close(j, "}");
}

static void put_mesh_accessors(const sni_glb *g, sni_json *j) {
  uint64_t vertex = 0, index = 0;
  for (int k = 0; k < g->nprimitive; k++) {
    const sni_glb_primitive *p = &g->primitive[k];
    const uint64_t size = 12 * (uint64_t)p->nvertex;
    open_accessor(j, (accessor){VIEW_VERTEX, FLOAT, "VEC3", vertex, p->nvertex});
    put_floats(j, "min", p->least, 3);
    put_floats(j, "max", p->most, 3);
    sni_json_close(j, "}");
    vertex += size;
    if (p->smooth) {
      put_accessor(j, (accessor){VIEW_VERTEX, FLOAT, "VEC3", vertex, p->nvertex});
      vertex += size;
    }
    put_accessor(j, (accessor){VIEW_INDEX, UNSIGNED_INT, "SCALAR", index, p->nindex});
    index += 4 * (uint64_t)p->nindex;
  }
}

static void put_motion_accessors(const sni_glb *g, int view, sni_json *j) {
  const int64_t n = g->nframe;
  uint64_t at = 4 * (uint64_t)n;
  open_accessor(j, (accessor){view, FLOAT, "SCALAR", 0, n});
  put_floats(j, "min", &g->time[0], 1);
  put_floats(j, "max", &g->time[n - 1], 1);
  sni_json_close(j, "}");
  for (int k = 0; k < sni_glb_tracks(g); k++) {
    put_accessor(j, (accessor){view, FLOAT, "VEC3", at, n});
    put_accessor(j, (accessor){view, FLOAT, "VEC4", at + 12 * (uint64_t)n, n});
    if (sni_glb_width(g, k) > 7) {
      put_accessor(j, (accessor){view, FLOAT, "VEC3", at + 28 * (uint64_t)n, n});
    }
    at += 4 * (uint64_t)sni_glb_width(g, k) * (uint64_t)n;
  }
}

/* ---- animation ---- */

static int paths_of(const sni_glb *g, int track) {
  return sni_glb_width(g, track) > 7 ? 3 : 2;
}

static void put_animation(const sni_glb *g, int first, sni_json *j) {
  static const char *const path[] = {"translation", "rotation", "scale"};
  int sampler = 0;
  sni_json_open(j, "animations", "[");
  sni_json_open(j, NULL, "{");
  sni_json_text(j, "name", "motion");
  sni_json_open(j, "samplers", "[");
  for (int k = 0; k < sni_glb_tracks(g); k++) {
    for (int p = 0; p < paths_of(g, k); p++) {
      sni_json_open(j, NULL, "{");
      put_int(j, "input", first);
      put_int(j, "output", first + 1 + sampler++);
      sni_json_close(j, "}");
    }
  }
  sni_json_close(j, "]");
  sampler = 0;
  sni_json_open(j, "channels", "[");
  for (int k = 0; k < sni_glb_tracks(g); k++) {
    for (int p = 0; p < paths_of(g, k); p++) {
      sni_json_open(j, NULL, "{");
      put_int(j, "sampler", sampler++);
      sni_json_open(j, "target", "{");
      put_int(j, "node", k + 1);
      sni_json_text(j, "path", path[p]);
      sni_json_close(j, "}");
      sni_json_close(j, "}");
    }
  }
  sni_json_close(j, "]");
  sni_json_close(j, "}");
  sni_json_close(j, "]");
}

/* ---- the whole ---- */

static void put_view(sni_json *j, uint64_t offset, uint64_t length, int stride, int target) {
  sni_json_open(j, NULL, "{");
  put_int(j, "buffer", 0);
  put_int(j, "byteOffset", (int64_t)offset);
  put_int(j, "byteLength", (int64_t)length);
  if (stride) {
    put_int(j, "byteStride", stride);
  }
  if (target) {
    put_int(j, "target", target);
  }
  sni_json_close(j, "}");
}

static void put_buffers(const sni_glb *g, sni_json *j) {
  const uint64_t index = g->vertex_bytes, motion = index + g->index_bytes;
  sni_json_open(j, "bufferViews", "[");
  if (g->nmesh > 0) {
    put_view(j, 0, g->vertex_bytes, 12, ARRAY_BUFFER);
    put_view(j, index, g->index_bytes, 0, ELEMENT_ARRAY_BUFFER);
  }
  if (g->motion_bytes > 0) {
    put_view(j, motion, g->motion_bytes, 0, 0);
  }
  sni_json_close(j, "]");
  sni_json_open(j, "buffers", "[");
  sni_json_open(j, NULL, "{");
  put_int(j, "byteLength", (int64_t)(motion + g->motion_bytes));
  sni_json_close(j, "}");
  sni_json_close(j, "]");
}

static int mesh_accessors(const sni_glb *g) {
  int n = 0;
  for (int k = 0; k < g->nprimitive; k++) {
    n += g->primitive[k].smooth ? 3 : 2;
  }
  return n;
}

sn_status sni_glb_json(const sni_glb *g, sni_json *j, sn_error *err) {
  sni_json_open(j, NULL, "{");
  sni_json_open(j, "asset", "{");
  sni_json_text(j, "version", "2.0");
  sni_json_text(j, "generator", "sinew " SINEW_VERSION);
  sni_json_close(j, "}");
  put_int(j, "scene", 0);
  sni_json_open(j, "scenes", "[");
  sni_json_open(j, NULL, "{");
  sni_json_raw(j, "nodes", "[0]");
  sni_json_close(j, "}");
  sni_json_close(j, "]");
  const sn_status status = put_nodes(g, j, err);
  if (g->nmesh > 0) {
    put_meshes(g, j);
    put_materials(g, j);
  }
  if (g->motion_bytes > 0) {
    put_animation(g, mesh_accessors(g), j);
  }
  if (g->nmesh > 0 || g->motion_bytes > 0) { /* lists may not be empty */
    sni_json_open(j, "accessors", "[");
    put_mesh_accessors(g, j);
    if (g->motion_bytes > 0) {
      put_motion_accessors(g, g->nmesh > 0 ? VIEW_MOTION : 0, j);
    }
    sni_json_close(j, "]");
    put_buffers(g, j);
  }
  sni_json_close(j, "}");
  return status;
}
