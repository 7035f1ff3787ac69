#!/usr/bin/env bash
# List real filesystems whose use exceeds a percentage.
set -euo pipefail

: "${PERCENT:=85}"

df -h --output=pcent,avail,size,target -x tmpfs -x devtmpfs -x overlay -x squashfs |
  awk -v limit="$PERCENT" 'NR == 1 || $1 + 0 > limit'
