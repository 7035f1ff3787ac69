#!/usr/bin/env bash
# Show the processes that listen on a TCP or UDP port.
set -euo pipefail

: "${PORT:?port number}"

listeners=$(sudo ss -H -lntup "sport = :$PORT")
if [[ -z $listeners ]]; then
  echo "Nothing listens on port $PORT"
  exit 0
fi
printf '%s\n' "$listeners"
