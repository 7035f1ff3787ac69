#!/usr/bin/env bash
# List stopped containers whose exit code is not 0.
set -euo pipefail

: "${ENGINE:=docker}"

"$ENGINE" ps --all --filter status=exited --format '{{.Names}}\t{{.Status}}\t{{.Image}}' |
  awk -F '\t' '$2 !~ /^Exited \(0\)/'
