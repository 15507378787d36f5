#!/usr/bin/env bash
# Configures, builds and runs suites of tests: scripts/test.sh SUITE...
#
#   native  everything, as shipped                                    in build
#   asan    everything, under AddressSanitizer and UBSan, assertions  in build-asan
#   clang   the second compiler: all compiles, unit tests run         in build-clang
#   soak    the long ones, in full                                    in build
#
# All suites run even if one fails.  The last line is `N passed, N failed`, over all suites; a suite
# that does not build counts as one failed test.
#
# Environment: CMAKE_ARGS (further arguments of cmake), JOBS, TEST_JOBS, CTEST_ARGS (such as -R name).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=${JOBS:-$(nproc)}
test_jobs=${TEST_JOBS:-2}
read -ra cmake_args <<<"${CMAKE_ARGS:-}"
read -ra ctest_args <<<"${CTEST_ARGS:-}"
passed=0
failed=0

# The variables of an outer make are not for the inner one.
unset MAKEFLAGS MFLAGS MAKELEVEL

build() { # directory, cmake arguments...
  local dir=$1
  shift
  cmake -S . -B "$dir" -DSINEW_TESTS=ON "$@" "${cmake_args[@]}" && cmake --build "$dir" -j "$jobs"
}

run() { # directory, ctest arguments...
  local dir=$1 log=$1/suite.log summary
  shift
  ctest --test-dir "$dir" --output-on-failure -j "$test_jobs" "$@" "${ctest_args[@]}" 2>&1 | tee "$log" || true
  # "90% tests passed, 1 tests failed out of 10"
  summary=$(grep -E 'tests failed out of [0-9]+' "$log" || true)
  if [[ $summary =~ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    failed=$((failed + BASH_REMATCH[1]))
    passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1]))
  elif ! grep -q 'No tests were found' "$log"; then
    echo "$dir: ctest gave no summary"
    failed=$((failed + 1))
  else
    echo "$dir: there are no tests of this kind"
  fi
}

suite() { # name
  echo "== suite $1"
  local dir=build args=() select=(--timeout 600)
  case $1 in
  native) ;;
  asan)
    dir=build-asan
    args=(-DSINEW_SANITIZE=address,undefined)
    ;;
  clang)
    if ! command -v clang >/dev/null; then
      echo "there is no clang: the second compiler is left out"
      return
    fi
    dir=build-clang
    args=(-DCMAKE_C_COMPILER=clang -DSINEW_ASSERT=ON)
    select+=(-L '^unit$')
    ;;
  soak)
    export SINEW_SOAK=1
    select=(--timeout 20000 -C Soak -L '^soak$')
    ;;
  *)
    echo "test.sh: unknown suite '$1', needs native, asan, clang or soak" >&2
    exit 2
    ;;
  esac
  if ! build "$dir" "${args[@]}"; then
    echo "suite $1: did not build"
    failed=$((failed + 1))
    return
  fi
  run "$dir" "${select[@]}"
}

for name in "$@"; do
  suite "$name"
done
echo
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
