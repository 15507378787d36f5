#!/usr/bin/env bash
# Animations of all scenes, looked at by the validator of the Khronos Group: no errors, no warnings.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

find "$SINEW_SOURCE_DIR/scenes" -name '*.yaml' | sort | while read -r scene; do
  name=${scene#"$SINEW_SOURCE_DIR/scenes/"}
  "$SINEW" run "$scene" --set run.duration=0.2 --quiet --out "$out/${name//\//-}.glb"
done
cd "$here" && node validate.mjs "$out"/*.glb
