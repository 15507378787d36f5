#!/usr/bin/env bash
# Tries the last commit on a bare Debian 12: scripts/clean_room.sh [TARGET...]   (default: demo test)
#
# Makes a minimal Debian 12 with git, make and ca-certificates and nothing else in a directory of its
# own, clones this repository into it, and runs `make TARGET` there, one after the other.  Needs root,
# debootstrap, and a network.  The bare system is kept for the next time; the room is new each time.
#
# Environment: SINEW_ROOM (where, default below TMPDIR), SINEW_MIRROR (of Debian).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

place=${SINEW_ROOM:-${TMPDIR:-/tmp}/sinew-clean-room}
mirror=${SINEW_MIRROR:-http://deb.debian.org/debian}
targets=("$@")
[[ $# != 0 ]] || targets=(demo test)

if [[ $(id -u) != 0 ]]; then
  echo "clean_room: needs root, for debootstrap and chroot" >&2
  exit 1
fi
if ! command -v debootstrap >/dev/null; then
  echo "clean_room: needs debootstrap (apt-get install debootstrap)" >&2
  exit 1
fi
if [[ -n $(git status --porcelain) ]]; then
  echo "clean_room: takes the last commit, so what is not committed is left out"
fi

base=$place/base
if [[ ! -d $base ]]; then
  echo "== a bare Debian 12 in $base"
  mkdir -p "$place"
  rm -rf --one-file-system "$base.part"
  debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$base.part" "$mirror" \
    >"$place/debootstrap.log" || {
    tail "$place/debootstrap.log" >&2
    exit 1
  }
  mv "$base.part" "$base"
fi

root=$place/root
echo "== a fresh room in $root"
rm -rf --one-file-system "$root"
cp -a --reflink=auto "$base" "$root"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
git clone --quiet --no-hardlinks . "$root/root/sinew"

# Where this machine trusts certificates of its own, as behind a proxy, the room must too; npm looks
# at them only if it is told so.
room_env=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin)
shopt -s nullglob
own=(/usr/local/share/ca-certificates/*.crt)
if [[ ${#own[@]} != 0 ]]; then
  cp "${own[@]}" "$root/usr/local/share/ca-certificates/"
  chroot "$root" update-ca-certificates >/dev/null 2>&1
  room_env+=(NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt)
fi

# A mount namespace of its own: /proc and /dev (the sanitizers want them) go away with the last
# process, whatever happens.
ROOM_ENV="${room_env[*]}" unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
  root=$1
  shift
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  for target in "$@"; do
    echo "== make $target"
    start=$SECONDS
    chroot "$root" env -i $ROOM_ENV make -C /root/sinew "$target"
    echo "== make $target: done in $((SECONDS - start)) s"
  done
' clean_room "$root" "${targets[@]}"
