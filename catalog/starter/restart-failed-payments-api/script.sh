#!/usr/bin/env bash
# Clear the failed state of payments-api.service and start it; do nothing when it has not failed.
set -euo pipefail

unit=payments-api.service

if ! systemctl is-failed --quiet "$unit"; then
  echo "$unit has not failed: $(systemctl is-active "$unit")"
  exit 0
fi
journalctl --unit "$unit" --lines 20 --no-pager
sudo systemctl reset-failed "$unit"
sudo systemctl start "$unit"
systemctl status --no-pager --lines 5 "$unit"
