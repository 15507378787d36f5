#!/usr/bin/env bash
# Runs the same models in Sinew and in Debian's other engines: scripts/bench_peers.sh [OPTION...]
#
# Installs the engines (several hundred megabytes; this is the only place that does), builds the
# programs of bench/peers into build/peers, and hands the options on to bench/peers/compare.py:
# --rounds N, --seconds S, --models chain:100,...  Results: bench/results/peers.json, for mechanisms
# with loops bench/results/peers_loops.json, for a heap bench/results/peers_contact.json, and for
# dense matrices against LAPACK bench/results/cholesky.json.  An engine that cannot be had is left out, and named.
#
# Environment: SINEW_NO_INSTALL=1 installs nothing.  SINEW_BUILD (default build) holds the command.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${SINEW_BUILD:-build}
tools=(g++ cmake pkg-config python3 libeigen3-dev)
engines=(libbullet-dev libmujoco-dev libsimbody-dev libdart-dev libopenblas-dev)

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  else
    sudo "$@"
  fi
}

there() { # package
  [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null) == ii* ]]
}

get=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600)
echo "bench_peers: needs the Debian packages ${tools[*]} ${engines[*]}"
missing=()
for package in "${tools[@]}" "${engines[@]}"; do
  there "$package" || missing+=("$package")
done
if [[ ${#missing[@]} != 0 && ${SINEW_NO_INSTALL:-0} != 0 ]]; then
  echo "bench_peers: installs nothing here (SINEW_NO_INSTALL); missing: ${missing[*]}"
elif [[ ${#missing[@]} != 0 ]]; then
  echo "bench_peers: installs ${missing[*]}"
  as_root "${get[@]}" update
  # One by one: an engine that cannot be had must not keep the others away.
  for package in "${missing[@]}"; do
    as_root "${get[@]}" install --no-install-recommends "$package" ||
      echo "bench_peers: cannot install $package, goes on without"
  done
fi

# The variables of an outer make are not for the inner one.
unset MAKEFLAGS MFLAGS MAKELEVEL
cmake -S bench/peers -B "$build/peers"
cmake --build "$build/peers" -j "${JOBS:-$(nproc)}"
if [[ -x $build/peers/peer_cholesky ]]; then
  OPENBLAS_NUM_THREADS=1 "$build/peers/peer_cholesky" >"$build/peers/cholesky.json"
  cp "$build/peers/cholesky.json" bench/results/cholesky.json
  echo "written: bench/results/cholesky.json"
else
  echo "bench_peers: LAPACK is left out, libopenblas-dev is not installed here"
fi
/usr/bin/python3 bench/peers/compare.py --programs "$build/peers" --sinew "$build/sinew" "$@"
/usr/bin/python3 bench/peers/compare_loops.py --programs "$build/peers" --sinew "$build/sinew"
exec /usr/bin/python3 bench/peers/compare_contact.py --programs "$build/peers" --sinew "$build/sinew"
