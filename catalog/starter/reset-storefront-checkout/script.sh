#!/usr/bin/env bash
# Set /srv/deploy/storefront to origin/production; refuse when somebody has edited files there.
set -euo pipefail

cd /srv/deploy/storefront
if [[ -n $(git status --porcelain) ]]; then
  git status --short
  echo "There are local changes; nothing done" >&2
  exit 1
fi
git fetch origin production
echo "before: $(git rev-parse HEAD)"
git reset --hard origin/production
echo "after: $(git rev-parse HEAD)"
