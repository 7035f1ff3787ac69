#!/usr/bin/env bash
# Show the newest entries of the slow log; the third line of each is its time in microseconds.
set -euo pipefail

: "${HOST:=127.0.0.1}"
: "${PORT:=6379}"
: "${COUNT:=20}"

redis-cli -h "$HOST" -p "$PORT" CONFIG GET slowlog-log-slower-than
redis-cli -h "$HOST" -p "$PORT" SLOWLOG GET "$COUNT"
