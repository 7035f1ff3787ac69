#!/usr/bin/env bash
# Open a TCP connection to a host and port, and say whether it worked within the time limit.
set -euo pipefail

: "${HOST:?name or address of the host}"
: "${PORT:?port number}"
: "${TIMEOUT:=5}"

if timeout "$TIMEOUT" bash -s -- "$HOST" "$PORT" <<'PROBE'; then
exec 3<>"/dev/tcp/$1/$2"
PROBE
  echo "$HOST:$PORT accepts connections"
else
  echo "$HOST:$PORT cannot be reached within $TIMEOUT s" >&2
  exit 1
fi
