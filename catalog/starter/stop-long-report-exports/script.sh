#!/usr/bin/env bash
# Send SIGTERM to report-export workers older than 6 hours, after showing them.
set -euo pipefail

pattern='^/opt/reports/bin/report-export( |$)'
six_hours=$((6 * 60 * 60))

if ! pgrep --older "$six_hours" --list-full --full "$pattern"; then
  echo "No report-export worker has run longer than 6 hours"
  exit 0
fi
sudo pkill --older "$six_hours" --signal TERM --full "$pattern"
