/* params_path.h: the tables of numbers that may change during a run, and where they lie. */
#ifndef SNI_PARAMS_PATH_H
#define SNI_PARAMS_PATH_H

#include "model/model.h"

typedef struct sni_named_array {
  const char *key;
  size_t member; /* offset in sni_params of the pointer */
  unsigned flags;
  const char *unit, *slides; /* and where the coordinate is a length; NULL: the same */
  const char *doc;
} sni_named_array;

enum {
  SNI_JOINT_ARRAYS = 4,
  SNI_DRIVE_ARRAYS = 3,
  SNI_DRAG_ARRAYS = 2,
  SNI_RUN_ARRAYS = 1,
  SNI_RECURSIVE_ARRAYS = 2,
  SNI_LOOP_ARRAYS = 3,
  SNI_LOOP_DRIVE_ARRAYS = 3,
  SNI_RUB_ARRAYS = 4,
  SNI_INERTIA_COUNT = 10
};

extern const sni_named_array sni_joint_arrays[SNI_JOINT_ARRAYS], sni_drive_arrays[SNI_DRIVE_ARRAYS],
    sni_drag_arrays[SNI_DRAG_ARRAYS], sni_run_arrays[SNI_RUN_ARRAYS],
    sni_recursive_arrays[SNI_RECURSIVE_ARRAYS], sni_gravity_array;
/* Of what acts in loops; member: offset in sni_loop_numbers. */
extern const sni_named_array sni_loop_arrays[SNI_LOOP_ARRAYS],
    sni_loop_drive_arrays[SNI_LOOP_DRIVE_ARRAYS];
/* Of joints that rub; member: offset in sni_rub_numbers. */
extern const sni_named_array sni_rub_arrays[SNI_RUB_ARRAYS];

typedef struct sni_inertia_key {
  const char *key, *word; /* as it is written, and as a path is read */
  const char *unit, *doc;
} sni_inertia_key;

extern const sni_inertia_key sni_inertia_keys[SNI_INERTIA_COUNT];

/* Entries first..first+n of an array of the block. */
sni_param_ref sni_array_ref(const sn_model *m, const sni_named_array *a, int first, int n);
/* Numbers of a loop's spring or of what rubs, which begin at `base`. */
sni_param_ref sni_number_ref(const sn_model *m, const sni_named_array *a, const void *base, int n);
sni_param_ref sni_inertia_ref(const sn_model *m, int body, int k);
sni_param_ref sni_force_ref(const sn_model *m, int force, int k);
sni_param_ref sni_contact_ref(const sn_model *m, int contact, int k);
bool sni_has_drive(const sn_model *m, int body);
/* What the law of a joint that rubs has; n: of each. */
bool sni_law_has(const sn_model *m, int rub, const sni_named_array *a, int *n);

#endif
