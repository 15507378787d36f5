#!/usr/bin/env bash
# The page of a recording, in a browser.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
cd "$here" && node --test page.test.mjs
