#!/usr/bin/env bash
# Runs the demo scene and says where the results are: scripts/demo.sh [BUILD_DIR]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-build}
out=$build/demo
mkdir -p "$out"
command=("$build/sinew" run scenes/demo.yaml --out "$out/demo.csv")
echo "demo: ${command[*]}"
"${command[@]}"
echo "demo: the motion is in $out/demo.csv, $(wc -l <"$out/demo.csv") lines, one a moment:"
head -n 1 "$out/demo.csv"
