#!/usr/bin/env bash
# Show the ten largest files under a directory, on that filesystem only, largest first.
set -euo pipefail

: "${DIRECTORY:?directory to look in}"

find "$DIRECTORY" -xdev -type f -printf '%s\t%p\n' |
  sort -rn |
  sed -n '1,10p' |
  numfmt --delimiter=$'\t' --field=1 --to=iec
