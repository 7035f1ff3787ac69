#!/usr/bin/env bash
# List the largest blobs that any commit of the repository reaches, with their paths.
set -euo pipefail

: "${REPOSITORY:=.}"
: "${COUNT:=15}"

git -C "$REPOSITORY" rev-list --objects --all |
  git -C "$REPOSITORY" cat-file --batch-check='%(objecttype) %(objectsize) %(rest)' |
  awk '$1 == "blob"' |
  sort -k2,2nr |
  sed -n "1,${COUNT}p" |
  numfmt --field=2 --to=iec
