# To be sourced: sees to the packages of these tests, once, and to those of the page.
# Tests run side by side, so one waits for the other.
here=$(dirname "${BASH_SOURCE[0]}")
install_packages() { # directory
  exec 9>"$1/.lock"
  flock 9
  if [[ ! $1/node_modules/.package-lock.json -nt $1/package-lock.json ]]; then
    (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json)
  fi
  exec 9>&-
}
install_packages "$here"
