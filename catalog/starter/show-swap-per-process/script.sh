#!/usr/bin/env bash
# Show the processes that use swap, in KiB, largest first.
# No pipefail: processes end while /proc is read, so awk's exit status says nothing.
set -eu

: "${COUNT:=15}"

awk '
  /^Name:/ {name = $2}
  /^Pid:/ {pid = $2}
  /^VmSwap:/ && $2 > 0 {print $2, pid, name}' /proc/[0-9]*/status 2>/dev/null |
  sort -rn |
  sed -n "1,${COUNT}p"
