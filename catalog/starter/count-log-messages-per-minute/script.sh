#!/usr/bin/env bash
# Count a service's journal messages minute by minute, to see when a burst began.
set -euo pipefail

: "${SERVICE:?name of the service}"
: "${SINCE:=1 hour ago}"

journalctl --unit "$SERVICE" --since "$SINCE" --output short-iso --quiet --no-pager |
  awk '{count[substr($1, 1, 16)]++} END {for (minute in count) print minute, count[minute]}' |
  sort
