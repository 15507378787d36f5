#!/usr/bin/env bash
# The page's parts that need no browser: the compiler finds no fault with its types, and the tests in
# viewer/test pass.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
viewer=$SINEW_SOURCE_DIR/viewer
out=$SINEW_BUILD_DIR/viewer/tests
mkdir -p "$out"

"$here/node_modules/.bin/tsc" -p "$viewer"
"$viewer/node_modules/.bin/esbuild" "$viewer"/test/*.test.ts --bundle --platform=node --format=esm \
  --external:three --outdir="$out" --out-extension:.js=.mjs --log-level=warning
cd "$viewer" && ln -sfn "$viewer/node_modules" "$out/node_modules" && node --test "$out"/*.mjs
