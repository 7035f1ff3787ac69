#!/usr/bin/env bash
# List the commits that are in the newer tag and not in the older one, merges left out.
set -euo pipefail

: "${REPOSITORY:=.}"
: "${OLD_TAG:?older tag}"
: "${NEW_TAG:?newer tag}"

git -C "$REPOSITORY" --no-pager log --no-merges --date=short \
  --format='%h %ad %an: %s' "refs/tags/$OLD_TAG..refs/tags/$NEW_TAG"
