/* scene.h: models from scene files.
 *
 *     sn_model *model = NULL;
 *     sn_error err;
 *     if (sn_model_load("hammer.yaml", &model, &err) != SN_OK) ...
 *
 * or, to see every problem and warning of a file, in the order of its lines:
 *
 *     sn_scene *scene = NULL;
 *     sn_scene_load("hammer.yaml", NULL, &scene, NULL);
 *     for (int k = 0; k < sn_scene_error_count(scene); k++) ... sn_scene_error(scene, k) ...
 */
#ifndef SINEW_SCENE_H
#define SINEW_SCENE_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sn_scene sn_scene;

typedef struct sn_scene_options {
  const char *const *set; /* nset changes, "path=value", such as "run.step=0.01" or
                             "bodies.hammer.joint.damping=3": made before anything is checked */
  int nset;
  bool allow_outside; /* the scene may name files outside its own folder         */
  const char *folder; /* of a text: where its files are; NULL: where we are now  */
  /* Limits; 0: the usual ones. */
  size_t max_file_size; /* of each file, in bytes: 64 MiB                          */
  size_t max_values;    /* in each file: 5 million                                 */
  size_t max_depth;     /* lists and maps inside one another: 64                   */
  size_t max_bodies;    /* of the scene: 1 million, which is also the most         */
} sn_scene_options;

SN_API sn_scene_options sn_scene_options_default(void);

/* Reads and checks a scene and builds its model.  options may be NULL.  Returns the status of the
 * first problem, which is also in err; even then *scene holds the list of all problems, without a
 * model.  Only when out of memory *scene stays as it was.  A path that is NULL or empty is such a
 * problem. */
SN_API sn_status sn_scene_load(const char *path, const sn_scene_options *options, sn_scene **scene,
                               sn_error *err);
/* The same from n bytes of text; name stands for the file in messages, NULL: "text". */
SN_API sn_status sn_scene_load_text(const char *text, size_t n, const char *name,
                                    const sn_scene_options *options, sn_scene **scene,
                                    sn_error *err);
SN_API void sn_scene_free(sn_scene **scene);

/* Structural problems (which the JSON Schema sees too) have the code SN_E_SYNTAX. */
SN_API int sn_scene_error_count(const sn_scene *scene);
SN_API const sn_error *sn_scene_error(const sn_scene *scene, int k);
SN_API int sn_scene_warning_count(const sn_scene *scene);
SN_API const sn_error *sn_scene_warning(const sn_scene *scene, int k);

/* NULL if there are errors.  `take` leaves the model to the caller. */
SN_API const sn_model *sn_scene_model(const sn_scene *scene);
SN_API sn_model *sn_scene_take_model(sn_scene *scene);
SN_API const char *sn_scene_units(const sn_scene *scene); /* "" if not given */
SN_API const char *sn_scene_up(const sn_scene *scene);    /* "y" or "z"      */
/* The scene files that it was read from, as full paths; none for a text that uses none. */
SN_API int sn_scene_file_count(const sn_scene *scene);
SN_API const char *sn_scene_file(const sn_scene *scene, int k);

/* A scene file's model.  err: the first problem. */
SN_API sn_status sn_model_load(const char *path, sn_model **model, sn_error *err);

#ifdef __cplusplus
}
#endif

#endif
