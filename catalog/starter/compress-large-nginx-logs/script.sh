#!/usr/bin/env bash
# Compress logs larger than 100 MB in /var/log/nginx; a file that is still open is left alone.
set -euo pipefail

if ((EUID != 0)); then
  echo "Run this as root" >&2
  exit 1
fi
find /var/log/nginx -xdev -type f -name '*.log*' ! -name '*.gz' -size +100000000c -print0 |
  while IFS= read -r -d '' file; do
    # nginx would go on writing to the deleted original and the space would stay taken.
    if fuser --silent "$file"; then
      echo "skipped, still open: $file"
    else
      gzip --verbose -- "$file"
    fi
  done
