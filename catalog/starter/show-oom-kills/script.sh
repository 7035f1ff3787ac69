#!/usr/bin/env bash
# Show out-of-memory kills in the kernel's messages since a given time.
set -euo pipefail

: "${SINCE:=24 hours ago}"

journalctl _TRANSPORT=kernel --since "$SINCE" --output short-iso --quiet --no-pager |
  awk -v since="$SINCE" '
    /Out of memory|oom-kill:|Killed process/ {print; found = 1}
    END {if (!found) print "No out-of-memory kill since", since}'
