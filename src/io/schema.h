/* schema.h: the scene format for editors and for people, from the same tables as the reader. */
#ifndef SNI_SCHEMA_H
#define SNI_SCHEMA_H

/* Both give a text that the caller frees; NULL: out of memory. */
char *sni_schema_json(void);     /* JSON Schema, draft 7              */
char *sni_schema_markdown(void); /* the reference tables of the manual */

#endif
