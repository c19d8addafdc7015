#!/bin/sh
# Starts three CockroachDB nodes with TLS on this machine, to try what a cluster does when a node dies. Makes the
# certificates and the database once, prints the URL for KLOIGOS_DATABASE_URL, then stays in the foreground; Ctrl-C drains
# and stops the nodes. Not for production: three nodes on one machine die together.
#
#   crdb/start-cluster.sh DIRECTORY            start, or start again
#   crdb/start-cluster.sh DIRECTORY kill N     kill -9 node N (1 to 3) of a cluster that runs
#   crdb/start-cluster.sh DIRECTORY start N    start node N again
#
# KLOIGOS_CRDB_PORT (26257): SQL of node N is at this port + 10 * (N - 1), its HTTP at the port after that.
# KLOIGOS_CRDB_MEMORY (256MiB): cache of each node, and as much again for SQL.
set -eu

nodes='1 2 3'
dir=${1:?usage: start-cluster.sh DIRECTORY [kill N | start N]}
port=${KLOIGOS_CRDB_PORT:-26257}
memory=${KLOIGOS_CRDB_MEMORY:-256MiB}
command -v cockroach >/dev/null 2>&1 || { echo "no cockroach on the PATH: https://www.cockroachlabs.com/docs/releases/" >&2; exit 1; }
case $port in *[!0-9]* | '') echo "KLOIGOS_CRDB_PORT: '$port' is no port" >&2; exit 2 ;; esac
umask 077
mkdir -p "$dir/certs"
dir=$(cd "$dir" && pwd)
certs=$dir/certs

sql_port() { echo $((port + 10 * ($1 - 1))); }
address() { echo "127.0.0.1:$(sql_port "$1")"; }

join=''
for n in $nodes; do join="${join:+$join,}$(address "$n")"; done

start_node() {
    cockroach start --certs-dir="$certs" --store="path=$dir/node$1" --listen-addr="$(address "$1")" \
        --http-addr="127.0.0.1:$(($(sql_port "$1") + 1))" --join="$join" --locality="zone=$1" \
        --cache="$memory" --max-sql-memory="$memory" --pid-file="$dir/node$1.pid" \
        >>"$dir/node$1.log" 2>&1 </dev/null &
}

# runs N: whether a node runs, by the file it wrote, if that process is a cockroach still; p is its pid then. It starts no
# process: a signal that comes while the shell waits for one makes its output look empty, and all nodes gone.
runs() {
    p='' comm=''
    { read -r p <"$dir/node$1.pid" && read -r comm <"/proc/$p/comm"; } 2>/dev/null || return 1
    [ "$comm" = cockroach ]
}

if [ $# -gt 1 ]; then
    n=${3:-}
    case $n in 1 | 2 | 3) ;; *) echo "which node: 1, 2 or 3?" >&2; exit 2 ;; esac
    case $2 in
        kill)
            runs "$n" || { echo "node $n does not run" >&2; exit 1; }
            kill -9 "$p"
            ;;
        start)
            if runs "$n"; then echo "node $n runs" >&2; exit 1; fi
            start_node "$n"
            ;;
        *) echo "kill or start?" >&2; exit 2 ;;
    esac
    exit 0
fi

for n in $nodes; do
    if runs "$n"; then echo "node $n runs already" >&2; exit 1; fi
done
[ -e "$certs/ca.crt" ] || cockroach cert create-ca --certs-dir="$certs" --ca-key="$dir/ca.key"
[ -e "$certs/node.crt" ] || cockroach cert create-node localhost 127.0.0.1 --certs-dir="$certs" --ca-key="$dir/ca.key"
for user in root kloigos; do
    [ -e "$certs/client.$user.crt" ] || cockroach cert create-client "$user" --certs-dir="$certs" --ca-key="$dir/ca.key"
done

stop() {
    trap '' INT TERM EXIT
    for n in $nodes; do
        if runs "$n"; then kill -TERM "$p" 2>/dev/null || true; fi
    done
    # A node that is stopped hands its leases over first; the last two can't, so that is bounded.
    seconds=0
    while [ "$seconds" -lt 60 ]; do
        running=no
        for n in $nodes; do if runs "$n"; then running=yes; fi; done
        [ $running = yes ] || return 0
        sleep 1
        seconds=$((seconds + 1))
    done
    for n in $nodes; do
        if runs "$n"; then kill -9 "$p" 2>/dev/null || true; fi
    done
}
trap 'stop; exit 0' INT TERM
trap stop EXIT
for n in $nodes; do start_node "$n"; done

# until_ok SECONDS COMMAND...: tries once a second.
until_ok() {
    seconds=$1
    shift
    while ! "$@" >"$dir/start.log" 2>&1; do
        seconds=$((seconds - 1))
        [ "$seconds" -gt 0 ] || { tail -n 20 "$dir/start.log" "$dir"/node*.log >&2; return 1; }
        sleep 1
    done
}
initialized() {
    cockroach init --certs-dir="$certs" --host="$(address 1)" && return
    grep -q 'already been initialized' "$dir/start.log"
}
sql() { cockroach sql --certs-dir="$certs" --host="$(address 1)" --execute="$1"; }
until_ok 60 initialized
until_ok 60 sql 'CREATE DATABASE IF NOT EXISTS kloigos; CREATE USER IF NOT EXISTS kloigos; ALTER DATABASE kloigos OWNER TO kloigos;'

cat <<END
Three nodes run; their logs are $dir/node*.log. Now:
  export KLOIGOS_DATABASE_URL='postgresql://kloigos@$join/kloigos?sslmode=verify-full&sslrootcert=$certs/ca.crt&sslcert=$certs/client.kloigos.crt&sslkey=$certs/client.kloigos.key&connect_timeout=3'
  $0 $dir kill 2       and later: $0 $dir start 2
END
# Nodes are killed and started on purpose: this ends when none is left, or when it is told to.
while :; do
    alive=no
    for n in $nodes; do if runs "$n"; then alive=yes; fi; done
    [ $alive = yes ] || { echo "no node is left" >&2; exit 1; }
    sleep 1
done
