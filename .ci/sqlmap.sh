#!/bin/sh
# Runs sqlmap (the Debian package of that name) against every string that a request of the API can hold. The server, its
# Postgres and the sample log are made for it and thrown away. SQLMAP_LEVEL (1) says how thorough sqlmap is, SQLMAP_ONLY
# which strings, by a part of their names.
set -eu
cd "$(dirname "$0")/.."
command -v sqlmap >/dev/null || { echo "sqlmap is not installed: apt-get install sqlmap" >&2; exit 1; }
exec go test -tags sqlmap -run TestSQLMap -count 1 -timeout 6h -v .
