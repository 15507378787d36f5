#!/usr/bin/env bash
# Installs the package into a directory of its own, moves it, and builds and runs a user's program
# against it: with pkg-config and with find_package(Sinew), against the shared and the static library.
# The shared library may export names that start with sn_ and nothing else.
set -euo pipefail

user=$SINEW_SOURCE_DIR/tests/data/install
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# A library full of sanitizer calls needs a program that brings the sanitizers.
flags=()
if [[ -n $SINEW_SANITIZE ]]; then
  flags=("-fsanitize=$SINEW_SANITIZE")
fi

# Moved after installing, so that a path baked in at that time is found out.
cmake --install "$SINEW_BUILD_DIR" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix
lib=$(dirname "$(find "$prefix" -name libsinew.so)")
export PKG_CONFIG_PATH=$lib/pkgconfig

for header in "$SINEW_SOURCE_DIR"/include/sinew/*.h; do
  cmp "$header" "$prefix/include/sinew/$(basename "$header")"
done
[[ -f $lib/libsinew.a ]] || fail "no libsinew.a"
if [[ -x $SINEW ]]; then
  cmp "$SINEW" "$prefix/bin/sinew"
fi

# Each public header stands alone.
for header in "$prefix"/include/sinew/*.h; do
  echo "#include <sinew/$(basename "$header")>" >"$scratch/alone.c"
  "$SINEW_CC" -std=c17 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags sinew) "$scratch/alone.c" ||
    fail "$(basename "$header") needs another header before it"
done

echo "pkg-config, shared"
"$SINEW_CC" -std=c17 -Wall -Werror "${flags[@]}" "$user/main.c" -o "$scratch/user_shared" \
  $(pkg-config --cflags --libs sinew)
LD_LIBRARY_PATH=$lib "$scratch/user_shared"
loaded=$(LD_LIBRARY_PATH=$lib ldd "$scratch/user_shared")
[[ $loaded == *"$lib/libsinew.so"* ]] || fail "user_shared does not load $lib/libsinew.so: $loaded"

echo "pkg-config, static"
"$SINEW_CC" -std=c17 -Wall -Werror "${flags[@]}" "$user/main.c" -o "$scratch/user_static" \
  $(pkg-config --static --cflags --libs sinew | sed 's/-lsinew/-l:libsinew.a/')
"$scratch/user_static"

# Everything static, down to the C library: then nothing but the .pc file knows what libsinew.a needs.
# Sanitizers do not go with that.
if [[ -z $SINEW_SANITIZE ]]; then
  echo "pkg-config, all static"
  "$SINEW_CC" -std=c17 -Wall -Werror -static "$user/main.c" -o "$scratch/user_all_static" \
    $(pkg-config --static --cflags --libs sinew)
  "$scratch/user_all_static"
  readelf -d "$scratch/user_all_static" | grep -q NEEDED && fail "user_all_static loads libraries"
fi

echo "find_package"
cmake -S "$user" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$SINEW_CC" \
  -DCMAKE_C_FLAGS="${flags[*]}" >/dev/null
cmake --build "$scratch/build" >/dev/null
"$scratch/build/user_shared"
"$scratch/build/user_static"

# Sanitizers add names of their own.
exported=$(nm -D --defined-only "$lib/libsinew.so" | awk '{print $NF}')
extra=$(grep -v '^sn_' <<<"$exported" || true)
if [[ -n $SINEW_SANITIZE ]]; then
  extra=$(grep -Ev '^__(odr_)?(asan|ubsan)' <<<"$extra" || true)
fi
[[ -z $extra ]] || fail "libsinew.so exports names that do not start with sn_: $extra"
grep -qx sn_status_text <<<"$exported" || fail "libsinew.so does not export sn_status_text"
