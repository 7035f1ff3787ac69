#!/usr/bin/env bash
# Enable a service at boot and start it now; refuse a unit that does not exist.
set -euo pipefail

: "${SERVICE:?name of the service, for example node-exporter}"

if ! systemctl cat -- "$SERVICE" >/dev/null; then
  echo "There is no unit $SERVICE" >&2
  exit 1
fi
sudo systemctl enable --now -- "$SERVICE"
echo "at boot: $(systemctl is-enabled -- "$SERVICE")"
echo "now: $(systemctl is-active -- "$SERVICE")"
