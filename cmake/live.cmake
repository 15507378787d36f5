# The live view, `sinew view`, needs libwebsockets:
#
#   SINEW_LIVE=AUTO  (the default) the command has it where libwebsockets is there, and says so where
#                    it is not
#   SINEW_LIVE=ON    without libwebsockets nothing is built
#   SINEW_LIVE=OFF   no live view
set(SINEW_LIVE AUTO CACHE STRING "The live view in the command: AUTO, ON or OFF")
set_property(CACHE SINEW_LIVE PROPERTY STRINGS AUTO ON OFF)

set(live_files ${PROJECT_SOURCE_DIR}/src/cli/view_app.c ${PROJECT_SOURCE_DIR}/src/cli/view_server.c)
if(SINEW_LIVE STREQUAL "ON")
  pkg_check_modules(WEBSOCKETS REQUIRED IMPORTED_TARGET libwebsockets)
elseif(SINEW_LIVE)
  pkg_check_modules(WEBSOCKETS IMPORTED_TARGET libwebsockets)
endif()
if(SINEW_LIVE AND WEBSOCKETS_FOUND)
  target_link_libraries(sinew PRIVATE PkgConfig::WEBSOCKETS)
  target_compile_definitions(sinew PRIVATE SINEW_LIVE=1)
else()
  message(STATUS "There is no libwebsockets: the command is built without the live view")
  get_target_property(sources sinew SOURCES)
  list(REMOVE_ITEM sources ${live_files})
  set_target_properties(sinew PROPERTIES SOURCES "${sources}")
  target_compile_definitions(sinew PRIVATE SINEW_LIVE=0)
endif()
target_compile_definitions(sinew PRIVATE SINEW_SCENES_DIR="${PROJECT_SOURCE_DIR}/scenes")
