#!/usr/bin/env bash
# List all timers, active or not, and any service that has failed.
set -euo pipefail

systemctl list-timers --all --no-pager
echo
systemctl list-units --type=service --state=failed --no-pager
