#!/usr/bin/env bash
# Show Redis's memory figures, its policy at the limit and how many keys it has evicted.
set -euo pipefail

: "${HOST:=127.0.0.1}"
: "${PORT:=6379}"

for section in memory stats; do
  redis-cli -h "$HOST" -p "$PORT" INFO "$section"
done |
  tr -d '\r' |
  grep -E '^(used_memory_(peak_)?human|maxmemory_(human|policy)|mem_fragmentation_ratio|evicted_keys):'
