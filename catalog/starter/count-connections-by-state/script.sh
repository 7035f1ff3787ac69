#!/usr/bin/env bash
# Count TCP connections by state, the most frequent state first.
set -euo pipefail

ss -H -ant | awk '{count[$1]++} END {for (state in count) print count[state], state}' | sort -rn
