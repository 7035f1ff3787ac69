#!/usr/bin/env bash
# Show what a service has logged at priority err or worse since a given time.
set -euo pipefail

: "${SERVICE:?name of the service}"
: "${SINCE:=1 hour ago}"

journalctl --unit "$SERVICE" --since "$SINCE" --priority err --output short-iso --no-pager
