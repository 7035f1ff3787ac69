#!/usr/bin/env bash
# Show the processes with the largest resident memory, in MiB.
set -euo pipefail

: "${COUNT:=10}"

ps -eo rss=,pid=,user:16=,etime=,comm= --sort=-rss |
  awk -v count="$COUNT" '
    NR == 1 {printf "%9s %8s %-16s %12s %s\n", "MiB", "PID", "USER", "RUNNING", "COMMAND"}
    NR <= count {printf "%9.1f %8d %-16s %12s %s\n", $1 / 1024, $2, $3, $4, $5}'
