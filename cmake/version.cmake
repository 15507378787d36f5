# sinew_version.h: version, commit, compiler and flags, for `sinew version` and the benches.
#
# Everything but the commit is known when the tree is configured.  The commit is looked up again at
# each build by this same file, run as a script: cmake -D SOURCE=... -D BUILD=... -P version.cmake.
# The header is rewritten only if it changed.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  set(SINEW_FLAGS ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}} ${SINEW_NUMERIC_FLAGS})
  if(SINEW_SANITIZE)
    list(APPEND SINEW_FLAGS ${SINEW_SANITIZE_FLAGS} -O1)
  endif()
  list(JOIN SINEW_FLAGS " " SINEW_FLAGS)
  string(REPLACE "\\" "\\\\" SINEW_FLAGS "${SINEW_FLAGS}")
  string(REPLACE "\"" "\\\"" SINEW_FLAGS "${SINEW_FLAGS}")
  set(SINEW_COMPILER "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
  set(SINEW_COMMIT "@SINEW_COMMIT@") # left for the second pass
  configure_file(${PROJECT_SOURCE_DIR}/cmake/sinew_version.h.in
    ${PROJECT_BINARY_DIR}/generated/sinew_version.h.in @ONLY)

  set(command ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D BUILD=${PROJECT_BINARY_DIR}
    -P ${PROJECT_SOURCE_DIR}/cmake/version.cmake)
  execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
  add_custom_target(sinew_version ALL COMMAND ${command} VERBATIM
    BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/sinew_version.h
    COMMENT "Looking up the commit")
  return()
endif()

# Only the commit of this very tree counts: an unpacked archive may lie inside another repository.
set(SINEW_COMMIT unknown)
find_program(GIT git)
if(GIT)
  # No optional locks: a build must not disturb a commit that is being made at the same time.
  set(git ${GIT} --no-optional-locks -C ${SOURCE})
  execute_process(COMMAND ${git} rev-parse --show-toplevel
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE}" source)
  if(top STREQUAL source)
    execute_process(COMMAND ${git} rev-parse --short=12 --verify HEAD RESULT_VARIABLE failed
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed)
      set(SINEW_COMMIT ${commit})
      execute_process(COMMAND ${git} diff --quiet HEAD -- RESULT_VARIABLE changed ERROR_QUIET)
      if(changed)
        string(APPEND SINEW_COMMIT "-changed")
      endif()
    endif()
  endif()
endif()
configure_file(${BUILD}/generated/sinew_version.h.in ${BUILD}/generated/sinew_version.h @ONLY)
