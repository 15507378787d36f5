#!/usr/bin/env bash
# Sees to the packages: scripts/setup.sh LIST..., with the lists run, test and lint.
#
# Says what is needed, and installs what is missing with apt-get (as root, or through sudo).  A
# package counts as there when dpkg knows it or when what we want from it works, so other
# distributions and hand-made installations do as well.  If nothing is missing, nothing is
# downloaded.  SINEW_NO_INSTALL=1: install nothing, only say what is missing.
#
# Exit status 0: everything that must be there is there.
set -euo pipefail

# list, package, how to see that it works without asking dpkg.  A `?` marks what can be left out.
table() {
  cat <<'TABLE'
run   build-essential     compiles
run   cmake               cmake --version
run   pkg-config          pkg-config --version
run   libyaml-dev         pkg-config --exists yaml-0.1
run   libsuitesparse-dev  compiles suitesparse/amd.h
run   libhdf5-dev?        pkg-config --exists hdf5
run   zlib1g-dev          pkg-config --exists zlib
run   libwebp-dev?        pkg-config --exists libwebp libwebpmux
run   libwebsockets-dev?  pkg-config --exists libwebsockets
run   nodejs?             node --version
run   npm?                npm --version
test  libcmocka-dev       pkg-config --exists cmocka
test  python3             /usr/bin/python3 --version
test  python3-jsonschema  /usr/bin/python3 -c import\ jsonschema
test  python3-yaml        /usr/bin/python3 -c import\ yaml
test  python3-h5py?       /usr/bin/python3 -c import\ h5py
test  python3-numpy       /usr/bin/python3 -c import\ numpy
test  nodejs              node --version
test  npm                 npm --version
test  chromium            chromium --version
test  libwebp-dev         pkg-config --exists libwebp libwebpmux
test  clang?              clang --version
lint  clang               clang --version
lint  clang-tidy          clang-tidy --version
lint  clang-format        clang-format --version
lint  cppcheck            cppcheck --version
TABLE
}

compiles() { # header
  echo "#include <${1:-stdio.h}>" | "${CC:-cc}" -E -
}

say() { echo "setup: $*"; }

there() { # package, probe...
  local package=$1 state
  shift
  if command -v dpkg-query >/dev/null; then
    state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    [[ $state == ii* ]] && return 0
  fi
  "$@" >/dev/null 2>&1
}

# Fills needed, missing (everything) and required (what cannot be left out).
look() { # list...
  needed=() missing=() required=()
  local list package probe wanted=" $* "
  while read -r list package probe; do
    [[ $wanted == *" $list "* ]] || continue
    [[ " ${needed[*]} " == *" ${package%\?} "* ]] || needed+=("${package%\?}")
    eval "there ${package%\?} $probe" && continue
    missing+=("${package%\?}")
    [[ $package == *\? ]] || required+=("$package")
  done <<<"$(table)"
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  else
    sudo "$@"
  fi
}

install_missing() {
  local get=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0
    -o DPkg::Lock::Timeout=600)
  as_root "${get[@]}" update && as_root "${get[@]}" install --no-install-recommends "${missing[@]}"
}

if [[ $# == 0 ]]; then
  echo "usage: scripts/setup.sh LIST...   (run, test, lint)" >&2
  exit 2
fi
for list in "$@"; do
  if [[ ! $list =~ ^(run|test|lint)$ ]]; then
    echo "setup: unknown list '$list', needs run, test or lint" >&2
    exit 2
  fi
done

look "$@"
say "needs the Debian packages ${needed[*]}"
if [[ ${#missing[@]} == 0 ]]; then
  say "all of them are there"
  exit 0
fi
say "missing: ${missing[*]}"

if [[ ${SINEW_NO_INSTALL:-0} != 0 ]]; then
  say "installs nothing here (SINEW_NO_INSTALL); do: apt-get install ${missing[*]}"
elif ! command -v apt-get >/dev/null; then
  say "there is no apt-get here: please install what these packages are called on your system"
elif [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
  say "cannot install without root or sudo: run 'apt-get install ${missing[*]}' as root"
else
  say "installs them now (SINEW_NO_INSTALL=1 turns this off)"
  install_missing || say "apt-get failed, see above"
  look "$@"
  if [[ ${#missing[@]} == 0 ]]; then
    say "all of them are there now"
    exit 0
  fi
fi

if [[ ${#required[@]} != 0 ]]; then
  echo "setup: cannot go on without ${required[*]}" >&2
  exit 1
fi
say "goes on without ${missing[*]}"
