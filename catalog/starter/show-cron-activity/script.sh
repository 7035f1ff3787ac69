#!/usr/bin/env bash
# Show the commands that cron has started since a given time.
set -euo pipefail

: "${SINCE:=24 hours ago}"

journalctl -t CRON -t CROND --since "$SINCE" --output short-iso --no-pager --quiet |
  awk '/ CMD /'
