#!/usr/bin/env bash
# Test the configuration of nginx and restart it only when the test passes.
set -euo pipefail

if ! sudo nginx -t; then
  echo "The configuration is not valid; nginx was not restarted" >&2
  exit 1
fi
sudo systemctl restart nginx
systemctl is-active nginx
