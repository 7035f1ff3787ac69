#!/usr/bin/env bash
# Comment out the only active line of a user's crontab that contains a text; keep a backup.
set -euo pipefail

: "${ACCOUNT:?user whose crontab is changed}"
: "${TEXT:?text that only the line to disable contains}"
export TEXT

backup=$(mktemp "/var/tmp/crontab-$ACCOUNT.XXXXXX")
sudo crontab -l -u "$ACCOUNT" | tee "$backup" >/dev/null
matches=$(awk '!/^[[:space:]]*#/ && index($0, ENVIRON["TEXT"]) {n++} END {print n + 0}' "$backup")
if ((matches != 1)); then
  echo "$matches active lines contain that text, not one; nothing changed" >&2
  exit 1
fi
awk '!/^[[:space:]]*#/ && index($0, ENVIRON["TEXT"]) {$0 = "#" $0} {print}' "$backup" |
  sudo crontab -u "$ACCOUNT" -
echo "Backup: $backup"
sudo crontab -l -u "$ACCOUNT" | diff "$backup" - || true
