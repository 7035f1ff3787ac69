#!/usr/bin/env bash
# List every active cron line: of each user, of /etc/crontab and of /etc/cron.d.
set -euo pipefail
shopt -s nullglob

if ((EUID != 0)); then
  echo "Run this as root" >&2
  exit 1
fi
getent passwd | cut -d: -f1 | while read -r account; do
  # crontab fails for an account that has none.
  { crontab -l -u "$account" 2>/dev/null || true; } |
    awk -v account="$account" '!/^[[:space:]]*(#|$)/ {print account ": " $0}'
done
awk '!/^[[:space:]]*(#|$)/ {print FILENAME ": " $0}' /etc/crontab /etc/cron.d/*
