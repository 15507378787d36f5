#!/usr/bin/env bash
# Reads the sources with clang-format, clang-tidy and cppcheck, and fails on any finding:
# scripts/lint.sh [--fix-format]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t formatted < <(find include src bench tests -name '*.[ch]' -o -name '*.cpp' | sort)
if [[ ${1:-} == --fix-format ]]; then
  clang-format -i "${formatted[@]}"
  exit 0
fi
status=0

echo "== clang-format"
clang-format --dry-run -Werror "${formatted[@]}" || status=1

# Configured with clang, so that every flag in compile_commands.json is one that clang-tidy knows.
echo "== clang-tidy"
read -ra cmake_args <<<"${CMAKE_ARGS:-}"
cmake -S . -B build-lint -DCMAKE_C_COMPILER=clang -DSINEW_TESTS=ON "${cmake_args[@]}" >/dev/null
grep -o '"file": "[^"]*"' build-lint/compile_commands.json | cut -d '"' -f 4 | grep -v /build-lint/ | sort -u |
  xargs -P "${JOBS:-$(nproc)}" -n 4 clang-tidy --quiet -p build-lint 2> >(grep -v "warnings\? generated" >&2) || status=1

# Not the tests: it does not parse a compound literal between ? and :, and takes what CHECK guards for
# uninitialised.
echo "== cppcheck"
cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr -j "${JOBS:-$(nproc)}" \
  --enable=warning,performance,portability --suppress=missingIncludeSystem \
  -I include -I src -I . -I build-lint/generated -i bench/peers src bench || status=1

exit $status
