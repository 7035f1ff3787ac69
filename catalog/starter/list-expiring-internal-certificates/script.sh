#!/usr/bin/env bash
# List certificates in /etc/ssl/internal with less than 30 days to live, each with its end date.
set -euo pipefail
shopt -s nullglob

for certificate in /etc/ssl/internal/*.pem; do
  if ! openssl x509 -noout -checkend "$((30 * 86400))" -in "$certificate" >/dev/null; then
    printf '%s %s\n' "$certificate" "$(openssl x509 -noout -enddate -in "$certificate")"
  fi
done
