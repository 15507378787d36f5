# One CTest entry for each tests/*/test_*.c (a cmocka program), test_*.py and test_*.sh.
# tests/unit/test_math.c is `unit_test_math`, tests/cli/test_run.py is `cli_test_run.py`; the label
# is the directory.
#
# tests/soak/ belongs to the CTest configuration Soak and runs only with `ctest -C Soak`, which is
# what `make soak` does.  A test elsewhere that runs longer when SINEW_SOAK is set in its
# environment gets the label soak too, so `make soak` runs it in full.

# No TIMEOUT property on the tests: the command line (ctest --timeout) could not lengthen it.
set(DART_TESTING_TIMEOUT 600)
include(CTest)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
# Debian's interpreter: another python3 that comes first on PATH lacks the modules.
set(SINEW_PYTHON /usr/bin/python3 CACHE FILEPATH "Interpreter of the tests in Python")

file(GLOB test_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/test_*.c
  ${PROJECT_SOURCE_DIR}/tests/*/test_*.py ${PROJECT_SOURCE_DIR}/tests/*/test_*.sh)

set(test_environment
  SINEW=${PROJECT_BINARY_DIR}/sinew
  SINEW_SOURCE_DIR=${PROJECT_SOURCE_DIR}
  SINEW_BUILD_DIR=${PROJECT_BINARY_DIR}
  SINEW_CC=${CMAKE_C_COMPILER}
  SINEW_SANITIZE=${SINEW_SANITIZE}
  PYTHONDONTWRITEBYTECODE=1)
if(SINEW_SANITIZE)
  # A refused allocation is something that the library must survive, so it is not an error in itself.
  list(APPEND test_environment
    ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1:strict_string_checks=1
    UBSAN_OPTIONS=print_stacktrace=1)
endif()

foreach(file ${test_files})
  cmake_path(GET file STEM stem)
  cmake_path(GET file EXTENSION LAST_ONLY extension)
  cmake_path(GET file PARENT_PATH directory)
  cmake_path(GET directory FILENAME kind)

  # The page is the same whatever the command was compiled with, and there is none without npm.
  if(kind STREQUAL "viewer" AND (SINEW_SANITIZE OR NOT viewer_tools))
    continue()
  endif()

  set(configurations)
  if(kind STREQUAL "soak")
    set(configurations CONFIGURATIONS Soak)
  endif()

  if(extension STREQUAL ".c")
    set(name ${kind}_${stem})
    add_executable(${name} ${file})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${name} PRIVATE
      SINEW_SOURCE_DIR="${PROJECT_SOURCE_DIR}" SINEW_BUILD_DIR="${PROJECT_BINARY_DIR}")
    target_link_libraries(${name} PRIVATE sinew_build sinew_static PkgConfig::CMOCKA ${SINEW_LIBRARIES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name} ${configurations})
  else()
    set(name ${kind}_${stem}${extension})
    if(extension STREQUAL ".py")
      set(interpreter ${SINEW_PYTHON})
    else()
      set(interpreter bash)
    endif()
    add_test(NAME ${name} COMMAND ${interpreter} ${file} ${configurations})
  endif()

  set(labels ${kind})
  file(STRINGS ${file} soak REGEX "SINEW_SOAK" LIMIT_COUNT 1)
  if(soak AND NOT kind STREQUAL "soak")
    list(APPEND labels soak)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" ENVIRONMENT "${test_environment}")
endforeach()
