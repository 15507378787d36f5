/* export.h: what can be made of a recording.  One file a format. */
#ifndef SNI_EXPORT_H
#define SNI_EXPORT_H

#include "sinew/recording.h"

/* All replace the file at path, and take it away again if they fail. */

/* The channels, as a run writes them. */
sn_status sni_export_csv(sn_recording *r, const char *path, sn_error *err);

/* An animation in glTF 2.0, binary: metres, y up. */
sn_status sni_export_glb(sn_recording *r, const char *path, sn_error *err);

/* A page with the recording in it.  page: n bytes of HTML with the empty element that is its
 * place. */
sn_status sni_export_html(sn_recording *r, const char *page, size_t n, const char *path,
                          sn_error *err);

/* In base64 (RFC 4648), with filling: 4 characters for each 3 bytes that are begun; how many.  No
 * zero behind them. */
size_t sni_base64(const unsigned char *from, size_t n, char *to);

#endif
