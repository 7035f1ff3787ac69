#!/usr/bin/env bash
# Restart a systemd service; succeed once it has been active for five seconds, else show its log.
set -euo pipefail

: "${SERVICE:?name of the service, for example payments-api}"
: "${TIMEOUT:=30}"

sudo systemctl restart -- "$SERVICE" || true # the log below says why it failed
steady=0
for ((waited = 0; waited < TIMEOUT; waited++)); do
  sleep 1
  if systemctl is-active --quiet -- "$SERVICE"; then
    steady=$((steady + 1))
  else
    steady=0
  fi
  if ((steady == 5)); then
    echo "$SERVICE has been active for 5 s"
    exit 0
  fi
done
echo "$SERVICE is not active after $TIMEOUT s" >&2
journalctl --unit "$SERVICE" --lines 30 --no-pager >&2
exit 1
