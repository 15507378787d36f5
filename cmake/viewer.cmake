# The page of the viewer: viewer/ is built by npm into one HTML file, and that becomes a C file of the
# command.
#
#   SINEW_VIEWER=AUTO  as well as it goes: without npm, or without a network for its packages, the command
#                      is built without the page and says so when it is asked for one
#   SINEW_VIEWER=ON    a page that cannot be built is an error
#   SINEW_VIEWER=OFF   no page
#
# Packages go to viewer/node_modules, once for all build directories.
set(SINEW_VIEWER AUTO CACHE STRING "The viewer's page in the command: AUTO, ON or OFF")
set_property(CACHE SINEW_VIEWER PROPERTY STRINGS AUTO ON OFF)

set(viewer_dir ${PROJECT_SOURCE_DIR}/viewer)
set(SINEW_PAGE_C ${PROJECT_BINARY_DIR}/viewer/page.c)
set(SINEW_PAGE_HTML ${PROJECT_BINARY_DIR}/viewer/page.html)

set(viewer_tools FALSE)
if(SINEW_VIEWER)
  find_program(NODE_PROGRAM node)
  find_program(NPM_PROGRAM npm)
  if(NODE_PROGRAM AND NPM_PROGRAM)
    set(viewer_tools TRUE)
  elseif(SINEW_VIEWER STREQUAL "AUTO")
    message(STATUS "There is no npm: the command is built without the viewer's page")
  else()
    message(FATAL_ERROR "SINEW_VIEWER=ON needs node and npm (Debian: nodejs npm)")
  endif()
endif()

if(viewer_tools)
  file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS ${viewer_dir}/src/*)
  add_custom_command(OUTPUT ${SINEW_PAGE_C} BYPRODUCTS ${SINEW_PAGE_HTML}
    COMMAND ${CMAKE_COMMAND} -DVIEWER=${SINEW_VIEWER} -DDIR=${viewer_dir} -DNODE=${NODE_PROGRAM}
      -DNPM=${NPM_PROGRAM} -DHTML=${SINEW_PAGE_HTML} -DC_FILE=${SINEW_PAGE_C}
      -P ${PROJECT_SOURCE_DIR}/cmake/build_viewer.cmake
    DEPENDS ${viewer_sources} ${viewer_dir}/build.mjs ${viewer_dir}/package-lock.json
      ${PROJECT_SOURCE_DIR}/cmake/build_viewer.cmake
    COMMENT "Building the viewer's page" VERBATIM)
else()
  set(SINEW_PAGE_C ${PROJECT_SOURCE_DIR}/cmake/no_page.c)
endif()
