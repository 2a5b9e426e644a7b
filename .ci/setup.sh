#!/usr/bin/env bash
# Gives this machine what `make run` and `make test` need, and says what it does. What is there is left as it is.
#
# usage: .ci/setup.sh [tools] [postgres] [compiler] [python] [browser] [faults]
#
# Packages come from the distribution, as root or through sudo. Where that is no Debian or a relative of it, the
# script says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

oldest_postgres=15
oldest_pgvector=0.8

# The release of Debian whose pgvector source package is built where there is no binary package.
source_release=trixie

say() { printf 'set-up: %s\n' "$*"; }
fail() { printf 'set-up: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# As root, directly or through sudo.
root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif have sudo; then sudo "$@"
  else fail "needs root for: $* (there is no sudo)"
  fi
}

apt_install() {
  if [ -z "${lists_updated:-}" ]; then
    say "apt-get update"
    root apt-get update -qq
    lists_updated=1
  fi
  say "apt-get install $*"
  root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# The version of a package that apt would install; nothing if there is none.
candidate() { apt-cache policy "$1" | sed -n 's/^  Candidate: \([^(].*\)/\1/p'; }

tools() {
  have go || fail "Go is missing: install the version that go.mod names, or a newer one"
  have node || fail "Node.js is missing: install version 20.19 or newer"
  have npm || fail "npm is missing: it comes with Node.js"
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
    fail "Node.js $(node --version) is too old: install version 20.19 or newer"
}

postgres() {
  local found find=.build/find-postgres
  go build -o $find ./db/local/find-postgres
  if found=$($find); then
    say "$found"
    return
  fi
  say "no Postgres $oldest_postgres or newer with pgvector $oldest_pgvector or newer yet"
  have apt-get || fail "cannot install it on this system: install Postgres $oldest_postgres or newer, its contrib" \
    "modules and pgvector $oldest_pgvector or newer, or set DATABASE_URL to a Postgres that has them"
  local major
  major=$(newest_server)
  if [ "${major:-0}" -lt $oldest_postgres ]; then
    install_server
    major=$(newest_server)
  fi
  install_pgvector "$major"
  found=$($find) || fail "$found"
  say "$found"
}

# The newest major version of Postgres that is installed as the distribution does it.
newest_server() {
  local programs=(/usr/lib/postgresql/*/bin/postgres)
  [ -e "${programs[0]}" ] || return 0
  printf '%s\n' "${programs[@]}" | cut -d/ -f5 | sort -n | tail -n 1
}

# Installs the distribution's Postgres, without the cluster on port 5432 that the package would start with it.
install_server() {
  apt_install postgresql-common
  local version major conf=/etc/postgresql-common/createcluster.conf
  version=$(candidate postgresql)
  major=${version%%[!0-9]*}
  [ "${major:-0}" -ge $oldest_postgres ] || fail "this system's Postgres is ${version:-missing}: install" \
    "$oldest_postgres or newer from elsewhere, or set DATABASE_URL to one that has pgvector $oldest_pgvector or newer"
  root cp -p $conf $conf.before
  root sed -i 's/^#\?create_main_cluster *=.*/create_main_cluster = false/' $conf
  local status=0
  apt_install "postgresql-$major" || status=$?
  root mv $conf.before $conf
  return $status
}

install_pgvector() {
  local package=postgresql-$1-pgvector version
  version=$(candidate "$package")
  if [ -n "$version" ] && dpkg --compare-versions "$version" ge $oldest_pgvector; then
    apt_install "$package"
  else
    say "there is no package of pgvector $oldest_pgvector for Postgres $1 here"
    build_pgvector "$1"
  fi
}

# Builds the source package of pgvector from a newer Debian, out of apt's lists and caches: this machine's stay as
# they are. apt checks the signature and the sums.
build_pgvector() {
  apt_install "postgresql-server-dev-$1" make gcc libc6-dev dpkg-dev debian-archive-keyring
  local mirror dir
  mirror=$(apt-get indextargets 'Created-By: Packages' 'Label: Debian' --format '$(REPO_URI)' | sort -u | head -n 1)
  [ -n "$mirror" ] || fail "no mirror of Debian among apt's sources: install pgvector $oldest_pgvector or newer for" \
    "Postgres $1 from elsewhere, or set DATABASE_URL to a Postgres that has it"
  dir=$(mktemp -d)
  mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $source_release main" >"$dir/sources.list"
  local apt=(apt-get -qq -o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$dir/lists" -o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=)
  say "fetching the source package of pgvector from Debian $source_release"
  "${apt[@]}" update
  (cd "$dir" && "${apt[@]}" source pgvector >/dev/null)
  say "building pgvector against Postgres $1"
  local build=(make -s -C "$(echo "$dir"/pgvector-*/)" PG_CONFIG="/usr/lib/postgresql/$1/bin/pg_config" with_llvm=no)
  "${build[@]}" >/dev/null
  root "${build[@]}" install >/dev/null
  rm -rf "$dir"
}

# The race detector needs a C compiler.
compiler() {
  if have gcc || have clang; then return; fi
  have apt-get || fail "a C compiler is missing, which Go's race detector needs: install gcc or clang"
  apt_install gcc libc6-dev
}

# docs/verify.py is tested: it needs Python's standard library and nothing else.
python() {
  if have python3; then
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || fail "$(python3 --version) is too old: install Python 3.8 or newer"
    return
  fi
  have apt-get || fail "python3 is missing: install Python 3.8 or newer"
  apt_install python3
}

browser() {
  local name
  for name in chromium chromium-browser google-chrome; do
    if have $name; then
      say "browser for tests: $(command -v $name)"
      return
    fi
  done
  have apt-get || fail "a browser for the tests is missing: install chromium"
  apt_install chromium
}

# What the tests of faults take: PgBouncer, slow clients, system calls that fail, and clocks that are wrong.
faults() {
  local program missing=()
  for program in strace pgbouncer slowhttptest faketime; do
    have $program || [ -x /usr/sbin/$program ] || missing+=($program)
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  have apt-get || fail "the tests of faults need ${missing[*]}: install them"
  # PgBouncer's package would start it, on a port that may be somebody's.
  local policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | root tee $policy >/dev/null
    trap "root rm -f $policy" EXIT
    root chmod +x $policy
  fi
  apt_install "${missing[@]}"
}

for step in "$@"; do
  case $step in
    tools | postgres | compiler | python | browser | faults) $step ;;
    *) fail "no such step: $step" ;;
  esac
done
