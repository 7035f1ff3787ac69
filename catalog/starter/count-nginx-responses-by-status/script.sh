#!/usr/bin/env bash
# Count responses by status code, most frequent first.
set -euo pipefail

: "${LOG_FILE:=/var/log/nginx/access.log}"

awk '{count[$9]++} END {for (status in count) print count[status], status}' "$LOG_FILE" | sort -rn
