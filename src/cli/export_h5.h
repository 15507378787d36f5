/* export_h5.h: recordings as HDF5, where the command was built with it. */
#ifndef CLI_EXPORT_H5_H
#define CLI_EXPORT_H5_H

#include "sinew/recording.h"

/* SN_OK, or SN_E_UNSUPPORTED: it was built without. */
sn_status cli_export_h5_possible(sn_error *err);

/*     /t         frames                   float64
 *     /channels  frames x channels        float64     /channel_names
 *     /poses     frames x bodies x 7      float32     /body_names      x, y, z, qx, qy, qz, qw
 *     /tensions  frames x lines           float32     /line_names
 *
 * and the header, JSON, as the attribute `header` of /. */
sn_status cli_export_h5(sn_recording *r, const char *path, sn_error *err);

#endif
