#!/usr/bin/env bash
# Draws every scene of scenes/ into docs/gallery/ and lists them in docs/gallery.md: scripts/gallery.sh [BUILD_DIR]
#
# Pictures are the same bytes on every run of one binary, so only what looks different changes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sinew=${1:-build}/sinew
mkdir -p docs/gallery

# A moment at which there is something to see, where one second is none.
moment() { # scene
  case $1 in
  scenes/characters.yaml) echo 4 ;;
  scenes/contact/coil.yaml) echo 6 ;;
  scenes/contact/dominoes.yaml) echo 0.8 ;;
  scenes/contact/gripper.yaml) echo 2.5 ;;
  scenes/contact/heap.yaml) echo 3 ;;
  scenes/demo.yaml) echo 6.5 ;;
  scenes/humanoid.yaml) echo 0.5 ;;
  scenes/pendulum.yaml) echo 0.3 ;;
  scenes/redmax/free_cube.yaml) echo 0.2 ;;
  scenes/redmax/friction_loop.yaml | scenes/redmax/friction_walker.yaml) echo 0.5 ;;
  scenes/redmax/hagfish.yaml) echo 20 ;;
  scenes/redmax/klann.yaml) echo 0.3 ;;
  scenes/seaweed.yaml) echo 4 ;;
  scenes/surface.yaml) echo 3 ;;
  *) echo 1 ;;
  esac
}

# The first sentence of the comment at its top, without where it comes from.
title() { # scene
  awk '/^#/ { sub(/^# ?/, ""); if ($0 ~ /^Made by/ || $0 == "") next; text = text (text == "" ? "" : " ") $0; next } { exit }
    END { sub(/^Reference scene [^:]*: /, "", text); if (match(text, /[.:] /)) text = substr(text, 1, RSTART - 1)
      sub(/\.$/, "", text); print toupper(substr(text, 1, 1)) substr(text, 2) }' "$1"
}

name() { # scene
  local rest=${1#scenes/}
  rest=${rest%.yaml}
  echo "${rest//\//_}"
}

page=docs/gallery.md
{
  echo "# Gallery"
  echo
  echo "Every scene that comes with Sinew, as \`sinew render\` draws it. \`sinew view SCENE\` shows it in motion;"
  echo "\`scripts/gallery.sh\` makes this page."
  echo
  echo "| | |"
  echo "| --- | --- |"
} >"$page"

row=""
while read -r scene; do
  picture=docs/gallery/$(name "$scene").png
  "$sinew" render "$scene" -o "$picture" --size 480x300 --time "$(moment "$scene")" --quiet
  cell="![$(title "$scene")](gallery/$(name "$scene").png)<br>$(title "$scene")<br>[$scene](../$scene)"
  if [[ -z $row ]]; then
    row=$cell
  else
    echo "| $row | $cell |" >>"$page"
    row=""
  fi
done < <(find scenes -name '*.yaml' -not -path 'scenes/use/*' | LC_ALL=C sort)
[[ -z $row ]] || echo "| $row | |" >>"$page"
echo "$(find docs/gallery -name '*.png' | wc -l) pictures in docs/gallery/"
