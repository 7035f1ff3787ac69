#!/usr/bin/env bash
# Deny 198.51.100.23 in /etc/nginx/conf.d/deny.conf and reload; take the rule back if it is not valid.
set -euo pipefail

rule='deny 198.51.100.23;'
list=/etc/nginx/conf.d/deny.conf

if sudo grep -qsxF -- "$rule" "$list"; then
  echo "The address is denied already"
  exit 0
fi
printf '%s\n' "$rule" | sudo tee -a "$list"
if ! sudo nginx -t; then
  sudo sed -i '$d' "$list"
  echo "The configuration is not valid with the rule; it was removed" >&2
  exit 1
fi
sudo systemctl reload nginx
