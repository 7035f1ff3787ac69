#!/usr/bin/env bash
# Count requests by client address, most first.
set -euo pipefail

: "${LOG_FILE:=/var/log/nginx/access.log}"
: "${COUNT:=20}"

awk '{count[$1]++} END {for (client in count) print count[client], client}' "$LOG_FILE" |
  sort -rn |
  sed -n "1,${COUNT}p"
