/* schema_value.h: the parts of the JSON Schema that describe one value each. */
#ifndef SNI_SCHEMA_VALUE_H
#define SNI_SCHEMA_VALUE_H

#include "io/json.h"
#include "io/keys.h"

/* Into an object that is open. */
void sni_schema_value(sni_json *j, const sni_field *field);
void sni_schema_integer(sni_json *j, unsigned flags, int most);
void sni_schema_ref(sni_json *j, const char *name);

/* A property: description, default (from def, which may be NULL) and value. */
void sni_schema_field(sni_json *j, const sni_field *field, const void *def);

/* Definitions of the values that have one: pose, limits, function, functions, ... */
void sni_schema_value_definitions(sni_json *j);

#endif
