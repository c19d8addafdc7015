#!/bin/sh
# Starts one CockroachDB node with TLS on this machine, for development: makes its certificates once, then stays in the
# foreground. Prints the URL for KLOIGOS_DATABASE_URL. Not for production: one node has no second copy of anything.
#
#   crdb/start-single-node.sh [directory]       default: ${XDG_DATA_HOME:-~/.local/share}/kloigos/crdb
set -eu

command -v cockroach >/dev/null 2>&1 || { echo "no cockroach on the PATH: https://www.cockroachlabs.com/docs/releases/" >&2; exit 1; }
dir=${1:-${XDG_DATA_HOME:-$HOME/.local/share}/kloigos/crdb}
port=${KLOIGOS_CRDB_PORT:-26257}
http_port=${KLOIGOS_CRDB_HTTP_PORT:-26258}
certs=$dir/certs

umask 077
mkdir -p "$certs"
[ -e "$certs/ca.crt" ] || cockroach cert create-ca --certs-dir="$certs" --ca-key="$dir/ca.key"
[ -e "$certs/node.crt" ] || cockroach cert create-node localhost 127.0.0.1 "$(hostname)" --certs-dir="$certs" --ca-key="$dir/ca.key"
[ -e "$certs/client.root.crt" ] || cockroach cert create-client root --certs-dir="$certs" --ca-key="$dir/ca.key"

cat <<END
Create the database once it runs:
  cockroach sql --certs-dir=$certs --host=127.0.0.1:$port --execute='CREATE DATABASE IF NOT EXISTS kloigos'
Then:
  export KLOIGOS_DATABASE_URL='postgresql://root@127.0.0.1:$port/kloigos?sslmode=verify-full&sslrootcert=$certs/ca.crt&sslcert=$certs/client.root.crt&sslkey=$certs/client.root.key'
END
exec cockroach start-single-node --certs-dir="$certs" --store="path=$dir/data" \
    --listen-addr="127.0.0.1:$port" --http-addr="127.0.0.1:$http_port" --cache=.25 --max-sql-memory=.25
