#!/usr/bin/env bash
# List failed units with their result, their exit status and the time at which they failed.
set -euo pipefail

mapfile -t units < <(systemctl list-units --state=failed --plain --no-legend --no-pager |
  awk '{print $1}')
if ((${#units[@]} == 0)); then
  echo "No unit has failed"
  exit 0
fi
systemctl show --property=Id,Result,ExecMainStatus,StateChangeTimestamp -- "${units[@]}"
