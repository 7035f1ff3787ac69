#!/usr/bin/env bash
# Unlink the keys that match a pattern, a hundred at a time; a pattern that fits everything is refused.
set -euo pipefail

: "${HOST:=127.0.0.1}"
: "${PORT:=6379}"
: "${PATTERN:?pattern of the keys, for example session:eu:*}"

if [[ $PATTERN =~ ^[*?]+$ ]]; then
  echo "The pattern $PATTERN would delete everything" >&2
  exit 2
fi
redis-cli -h "$HOST" -p "$PORT" --scan --pattern "$PATTERN" |
  xargs --no-run-if-empty --delimiter='\n' --max-args=100 redis-cli -h "$HOST" -p "$PORT" UNLINK
