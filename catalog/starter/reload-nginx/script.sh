#!/usr/bin/env bash
# Test the configuration of nginx, then let new workers take over while old ones finish.
set -euo pipefail

sudo nginx -t
sudo systemctl reload nginx
journalctl --unit nginx --since '1 minute ago' --no-pager
