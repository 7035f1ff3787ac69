#!/usr/bin/env bash
# Show the replication state; exit with 1 when a replica has lost its primary.
set -euo pipefail

: "${HOST:=127.0.0.1}"
: "${PORT:=6379}"

state=$(redis-cli -h "$HOST" -p "$PORT" INFO replication | tr -d '\r')
grep -E '^(role|connected_slaves|slave[0-9]+|master_(host|link_status)|.*repl_offset):' <<<"$state"
if grep -qx 'master_link_status:down' <<<"$state"; then
  echo "The link to the primary is down" >&2
  exit 1
fi
