# sinew_build: warnings, optimisation, sanitizers and include directories of the sources of this tree.
# Never exported: a user of the installed library compiles as he likes.
include(CheckCCompilerFlag)

add_library(sinew_build INTERFACE)
target_include_directories(sinew_build INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)

target_compile_options(sinew_build INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wpointer-arith $<$<BOOL:${SINEW_WERROR}>:-Werror>)
# Vectors of four doubles are passed between functions of one file only, so it does not matter that
# machines with and without AVX pass them differently.
target_compile_options(sinew_build INTERFACE -Wno-psabi)

# Fused multiply-add is welcome, reordering of sums is not: results are the same bits in every run of
# one binary, so no -ffast-math.  Nobody reads errno after sqrt(), nobody traps on NaN.
set(SINEW_NUMERIC_FLAGS -ffp-contract=fast -fno-math-errno -fno-trapping-math)

# -march=native, or its spelling on other machines; portable: what every x86-64 since 2009 can do.
set(machine_flags)
if(NOT SINEW_PORTABLE)
  check_c_compiler_flag(-march=native SINEW_HAVE_MARCH_NATIVE)
  check_c_compiler_flag(-mcpu=native SINEW_HAVE_MCPU_NATIVE)
  if(SINEW_HAVE_MARCH_NATIVE)
    set(machine_flags -march=native)
  elseif(SINEW_HAVE_MCPU_NATIVE)
    set(machine_flags -mcpu=native)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  check_c_compiler_flag(-march=x86-64-v2 SINEW_HAVE_X86_64_V2)
  if(SINEW_HAVE_X86_64_V2)
    set(machine_flags -march=x86-64-v2)
  endif()
endif()
list(APPEND SINEW_NUMERIC_FLAGS ${machine_flags})
target_compile_options(sinew_build INTERFACE ${SINEW_NUMERIC_FLAGS})

if(SINEW_ASSERT OR SINEW_SANITIZE)
  target_compile_definitions(sinew_build INTERFACE SINEW_ASSERT=1)
else()
  target_compile_definitions(sinew_build INTERFACE $<$<CONFIG:Debug>:SINEW_ASSERT=1>)
endif()

if(SINEW_SANITIZE)
  # Instrumented code defeats gcc's flow analysis, hence no -Wmaybe-uninitialized here: the plain
  # build has it.
  set(SINEW_SANITIZE_FLAGS -fsanitize=${SINEW_SANITIZE} -fno-sanitize-recover=all)
  target_compile_options(sinew_build INTERFACE ${SINEW_SANITIZE_FLAGS} -fno-omit-frame-pointer -O1 -g
    $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(sinew_build INTERFACE ${SINEW_SANITIZE_FLAGS})
  # gcc 12 puts vectors of 64 bytes on the fake stack of AddressSanitizer without their alignment
  # (GCC bug 110027): here they are made of halves.
  check_c_compiler_flag(-mno-avx512f SINEW_HAVE_NO_AVX512)
  if(SINEW_HAVE_NO_AVX512)
    target_compile_options(sinew_build INTERFACE -mno-avx512f)
  endif()
elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # A shared library with holes is found here and not by its first user.
  target_link_options(sinew_build INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:LINKER:-z,defs>)
endif()
