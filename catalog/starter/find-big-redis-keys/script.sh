#!/usr/bin/env bash
# Scan all keys gently and show the biggest of each type.
set -euo pipefail

: "${HOST:=127.0.0.1}"
: "${PORT:=6379}"

# A pause of 0.01 s after every hundred scans keeps the load low.
redis-cli -h "$HOST" -p "$PORT" --bigkeys -i 0.01
