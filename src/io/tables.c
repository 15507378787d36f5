/* tables.c: the keys of a scene file that stand beside the model's definitions. */
#include "io/keys.h"

#define AT(type, member) offsetof(type, member)
#define TABLE(table_name, table_doc, fields)                                                       \
  { .name = table_name, .doc = table_doc, .field = fields, .count = SNI_COUNT(fields) }

static const sni_field head_field[] = {
    {.key = "units",
     .type = SNI_F_TEXT,
     .offset = AT(sni_head_def, units),
     .doc = "a label for people and exporters, such as m kg s; any consistent set works"},
    {.key = "up",
     .type = SNI_F_WORD,
     .offset = AT(sni_head_def, up),
     .choices = "z|y",
     .doc = "the axis that points up"},
    {.key = "gravity",
     .type = SNI_F_VEC3,
     .offset = AT(sni_head_def, gravity),
     .unit = "m/s^2",
     .doc = "acceleration of gravity; where y is up the default is [0, -9.81, 0]"}};
const sni_table sni_head_table = TABLE("scene", "the scene as a whole", head_field);

static const sni_field use_field[] = {
    {.key = "file",
     .type = SNI_F_FILE,
     .flags = SNI_REQUIRED,
     .offset = AT(sni_use_def, file),
     .doc = "a scene file, inside the folder of this one"},
    {.key = "prefix",
     .type = SNI_F_TEXT,
     .offset = AT(sni_use_def, prefix),
     .doc = "stands before every name of the file, such as left/; default: nothing"},
    {.key = "parent",
     .type = SNI_F_NAME,
     .offset = AT(sni_use_def, parent),
     .doc = "the body that is the ground for the file; default: world"},
    {.key = "at",
     .type = SNI_F_POSE,
     .offset = AT(sni_use_def, at),
     .unit = "m, rad",
     .doc = "where the file's ground is on parent"}};
const sni_table sni_use_table = TABLE("use", "another scene file as a part of this one", use_field);

static const sni_field repeat_field[] = {
    {.key = "count",
     .type = SNI_F_INTEGER,
     .flags = SNI_REQUIRED | SNI_POSITIVE,
     .offset = AT(sni_repeat_def, count),
     .doc = "how many bodies: NAME_1 hangs on parent, each next one on the one before"}};
const sni_table sni_repeat_table = TABLE("repeat", "a chain of equal bodies", repeat_field);

#define MOMENT(name, needed, text)                                                                 \
  {                                                                                                \
    .key = #name, .type = SNI_F_NUMBER, .flags = needed, .offset = AT(sni_inertia_def, name),      \
    .unit = "kg m^2", .doc = text                                                                  \
  }
static const sni_field inertia_field[] = {
    {.key = "mass",
     .type = SNI_F_NUMBER,
     .flags = SNI_REQUIRED | SNI_NOT_NEGATIVE,
     .offset = AT(sni_inertia_def, mass),
     .unit = "kg",
     .doc = "mass"},
    {.key = "at",
     .type = SNI_F_POSE,
     .offset = AT(sni_inertia_def, at),
     .unit = "m, rad",
     .doc = "centre of mass, or inertial frame, in the body's frame"},
    MOMENT(xx, SNI_REQUIRED, "moment of inertia about the x axis of `at`"),
    MOMENT(yy, SNI_REQUIRED, "about the y axis"),
    MOMENT(zz, SNI_REQUIRED, "about the z axis"),
    MOMENT(xy, 0, "entry of the tensor (the negative of the product of inertia)"),
    MOMENT(xz, 0, "likewise"),
    MOMENT(yz, 0, "likewise")};
const sni_table sni_inertia_table = TABLE("inertia", "mass and inertia of a body", inertia_field);

static const sni_field point_field[] = {{.key = "body",
                                         .type = SNI_F_NAME,
                                         .flags = SNI_REQUIRED,
                                         .offset = AT(sn_point_def, body),
                                         .doc = "the body; world: the ground"},
                                        {.key = "at",
                                         .type = SNI_F_POSE,
                                         .offset = AT(sn_point_def, at),
                                         .unit = "m, rad",
                                         .doc = "where on it, in its frame"}};
const sni_table sni_point_table = TABLE("point", "a point or frame fixed to a body", point_field);

static const sni_field bead_field[] = {{.key = "body",
                                        .type = SNI_F_NAME,
                                        .flags = SNI_REQUIRED,
                                        .offset = AT(sn_bead_def, point.body),
                                        .doc = "the body; world: the ground"},
                                       {.key = "at",
                                        .type = SNI_F_POSE,
                                        .offset = AT(sn_bead_def, point.at),
                                        .unit = "m, rad",
                                        .doc = "where on it, in its frame"},
                                       {.key = "radius",
                                        .type = SNI_F_NUMBER,
                                        .flags = SNI_REQUIRED | SNI_POSITIVE,
                                        .offset = AT(sn_bead_def, radius),
                                        .unit = "m",
                                        .doc = "of the tube there"}};
const sni_table sni_bead_table = TABLE("bead", "a point of a tube", bead_field);

static const sni_field term_field[] = {{.key = "joint",
                                        .type = SNI_F_NAME,
                                        .flags = SNI_REQUIRED,
                                        .offset = AT(sn_term_def, joint),
                                        .doc = "the joint (a joint bears its body's name)"},
                                       {.key = "coordinate",
                                        .type = SNI_F_INTEGER,
                                        .flags = SNI_NOT_NEGATIVE,
                                        .offset = AT(sn_term_def, coordinate),
                                        .doc = "which of its coordinates, counted from 0"},
                                       {.key = "factor",
                                        .type = SNI_F_NUMBER,
                                        .offset = AT(sn_term_def, factor),
                                        .doc = "how much it counts"}};
const sni_table sni_term_table = TABLE("term", "a coordinate and its factor", term_field);

static const sni_field coordinate_field[] = {
    {.key = "name",
     .type = SNI_F_TEXT,
     .flags = SNI_REQUIRED,
     .offset = AT(sn_coordinate_def, name),
     .doc = "what expressions call it"},
    {.key = "q",
     .type = SNI_F_PER_DOF,
     .offset = AT(sn_coordinate_def, q),
     .unit = "rad, m",
     .doc = "where it starts; without it and qd: as the joints start"},
    {.key = "qd",
     .type = SNI_F_PER_DOF,
     .offset = AT(sn_coordinate_def, qd),
     .unit = "rad/s, m/s",
     .doc = "how fast it starts"},
    {.key = "motion",
     .type = SNI_F_FUNCTIONS,
     .offset = AT(sn_coordinate_def, motion),
     .offset2 = AT(sn_coordinate_def, nmotion),
     .unit = "rad, m",
     .doc = "it follows this function of time"},
    {.key = "force",
     .type = SNI_F_FUNCTIONS,
     .offset = AT(sn_coordinate_def, force),
     .offset2 = AT(sn_coordinate_def, nforce),
     .unit = "N m, N",
     .doc = "a force along it"}};
const sni_table sni_coordinate_table =
    TABLE("map_coordinate", "a coordinate of a map's own", coordinate_field);

static const sni_field driven_field[] = {{.key = "joint",
                                          .type = SNI_F_NAME,
                                          .flags = SNI_REQUIRED,
                                          .offset = AT(sn_driven_def, joint),
                                          .doc = "the joint (a joint bears its body's name)"},
                                         {.key = "coordinate",
                                          .type = SNI_F_INTEGER,
                                          .flags = SNI_NOT_NEGATIVE,
                                          .offset = AT(sn_driven_def, coordinate),
                                          .doc = "which of its coordinates, counted from 0"},
                                         {.key = "value",
                                          .type = SNI_F_TEXT,
                                          .flags = SNI_REQUIRED,
                                          .offset = AT(sn_driven_def, value),
                                          .doc = "a smooth expression of the map's coordinates"}};
const sni_table sni_driven_table =
    TABLE("map_joint", "a coordinate of a joint that a map drives", driven_field);

static const sni_field damping_field[] = {{.key = "angular",
                                           .type = SNI_F_NUMBER,
                                           .flags = SNI_NOT_NEGATIVE,
                                           .offset = AT(sni_damping_def, angular),
                                           .unit = "N m s/rad",
                                           .doc = "torque against turning"},
                                          {.key = "linear",
                                           .type = SNI_F_NUMBER,
                                           .flags = SNI_NOT_NEGATIVE,
                                           .offset = AT(sni_damping_def, linear),
                                           .unit = "N s/m",
                                           .doc = "force against moving"}};
const sni_table sni_damping_table = TABLE("damping", "drag on a body", damping_field);
