#!/usr/bin/env bash
# Ask several DNS servers for the same record and print each answer.
set -euo pipefail

: "${NAME:?name to look up}"
: "${RECORD_TYPE:=A}"
: "${SERVERS:?DNS servers, separated by spaces}"

read -ra servers <<<"$SERVERS"
for server in "${servers[@]}"; do
  if answer=$(dig +short +time=2 +tries=1 "@$server" "$NAME" "$RECORD_TYPE"); then
    printf '%s: %s\n' "$server" "$(sort <<<"$answer" | paste -sd ' ')"
  else
    printf '%s: no answer\n' "$server"
  fi
done
