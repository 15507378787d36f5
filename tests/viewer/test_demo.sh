#!/usr/bin/env bash
# The page of the demo, in a browser.
set -euo pipefail
if "$SINEW" view 'no such file' 2>&1 | grep -q libwebsockets; then
  echo "built without libwebsockets: nothing to test"
  exit 0
fi
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
cd "$here" && node --test demo.test.mjs
