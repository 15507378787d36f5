#!/usr/bin/env bash
# Runs the demo scenes, shows how they went and says where the results are: scripts/demo.sh [BUILD_DIR]
#
# In a terminal it ends with a live view of the bridge, until Ctrl-C (SINEW_DEMO_VIEW=0: without).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-build}
out=$build/demo
mkdir -p "$out"

echo "A robot arm swings a wand with a ribbon of sixty links; behind it a spinning wheel hangs by one end of its axle."
echo "The scene is scenes/demo.yaml:"
echo
"$build/sinew" check scenes/demo.yaml
echo
channels='T,V,E,*.q,*.q?,*.tau,*.tau?,*.pos.*'
echo "\$ $build/sinew run scenes/demo.yaml --out $out/demo.csv --channels '$channels'"
"$build/sinew" run scenes/demo.yaml --out "$out/demo.csv" --channels "$channels"

# One line a channel: its course in 64 characters, and its range.
course() { # channel, what it is
  awk -F , -v name="$1" -v what="$2" '
    NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) column = k; next }
    { value[n++] = $column + 0 }
    END {
      split("▁ ▂ ▃ ▄ ▅ ▆ ▇ █", block, " ")
      low = high = value[0]
      for (k = 0; k < n; k++) { if (value[k] < low) low = value[k]; if (value[k] > high) high = value[k] }
      for (k = 0; k < 64; k++) text = text block[1 + int(7.999 * (value[int(k * (n - 1) / 63)] - low) / (high - low + 1e-300))]
      printf "  %-27s %s  %.3g to %.3g\n", what, text, low, high
    }' "$out/demo.csv"
}
echo
echo "Ten seconds, from left to right:"
course turret.q "turret, rad"
course upper_arm.tau "torque of the shoulder, N m"
course wand.pos.z "height of the wand, m"
course ribbon_60.pos.z "end of the ribbon, m"
course ribbon_60.pos.y "the same, sideways"
course wheel.pos.x "wheel, forth and back, m"
course wheel.pos.z "height of the wheel, m"

awk -v title="The ribbon dancer" \
  -v lines="#5b6b80 9 tower,turret,upper_arm,forearm,wand;#9fb0c5 3 wand,ribbon_1;#ff5d73 4 ribbon_*;#5b6b80 5 turret,thread_1;#c9d4e3 1.5 thread_*,axle,wheel" \
  -v trails="#ff5d73 ribbon_60;#ffd166 ribbon_1;#4cc9f0 wheel" -v dots="#4cc9f0 13 wheel" \
  -f scripts/draw.awk "$out/demo.csv" >"$out/demo.svg"
# A page: the recording of the bridge, with the story of scripts/demo_panel.json beside it.
echo
echo "A cable-stayed bridge: thirty stiff cables, and a load that crosses it. The scene is scenes/redmax/bridge.yaml:"
echo
bridge() { # how the page was made, or why not
  "$build/sinew" run scenes/redmax/bridge.yaml --out "$out/bridge.html" || return
  awk -v file=scripts/demo_panel.json '
    BEGIN { mark = "<script type=\"application/json\" id=\"panel\">"; while ((getline line < file) > 0) story = story line "\n" }
    { at = index($0, mark "</script>") }
    at { print substr($0, 1, at + length(mark) - 1) story substr($0, at + length(mark)); next }
    { print }' "$out/bridge.html" >"$out/page.part" && mv "$out/page.part" "$out/bridge.html"
}
have_page=1
bridge || have_page=0

echo
echo "Results:"
echo "  $out/demo.csv   energies, coordinates, torques and places at $(($(wc -l <"$out/demo.csv") - 1)) moments"
echo "  $out/demo.svg   the motion as a moving picture: open it in a browser"
view=("$build/sinew" view scenes/redmax/bridge.yaml --panel scripts/demo_panel.json)
if [[ $have_page == 1 ]]; then
  echo "  $out/bridge.html   the bridge, to be turned and played: open file://$(cd "$out" && pwd)/bridge.html in a browser"
  echo "To pull at the bridge and to change its cables while it moves: ${view[*]} --open"
  if [[ -t 0 && -t 1 && ${SINEW_DEMO_VIEW:-1} != 0 ]]; then
    exec "${view[@]}" --open
  fi
fi
