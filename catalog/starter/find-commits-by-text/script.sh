#!/usr/bin/env bash
# List the commits on any branch that changed the number of occurrences of a text.
set -euo pipefail

: "${REPOSITORY:=.}"
: "${TEXT:?text to look for, taken literally}"

git -C "$REPOSITORY" --no-pager log --all -S "$TEXT" --name-only --date=iso \
  --format='%h %ad %an: %s'
