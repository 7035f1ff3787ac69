#!/usr/bin/env bash
# Count failed SSH authentications for each source address, most first.
set -euo pipefail

: "${SINCE:=24 hours ago}"

journalctl -t sshd -t sshd-session --since "$SINCE" --output cat --quiet --no-pager |
  awk '
    /^Failed / {
      for (i = 1; i < NF; i++) if ($i == "from") address = $(i + 1)
      count[address]++
    }
    END {for (address in count) print count[address], address}' |
  sort -rn
