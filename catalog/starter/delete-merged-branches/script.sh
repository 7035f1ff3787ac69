#!/usr/bin/env bash
# Delete local branches that the main branch contains; the current one and the main one stay.
set -euo pipefail

: "${REPOSITORY:=.}"
: "${MAIN_BRANCH:=main}"

cd -- "$REPOSITORY"
current=$(git branch --show-current)
git for-each-ref --format='%(refname:short)' --merged "$MAIN_BRANCH" refs/heads |
  while read -r branch; do
    if [[ $branch != "$MAIN_BRANCH" && $branch != "$current" ]]; then
      git branch --delete -- "$branch" || echo "kept: $branch"
    fi
  done
