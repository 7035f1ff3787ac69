#!/usr/bin/env bash
# Revert one commit on top of the newest state of a branch, and push; merges are refused by git.
set -euo pipefail

: "${REPOSITORY:=.}"
: "${BRANCH:?branch to change}"
: "${COMMIT:?commit to revert}"

cd -- "$REPOSITORY"
if [[ -n $(git status --porcelain) ]]; then
  echo "There are uncommitted changes; nothing done" >&2
  exit 1
fi
git fetch origin
git switch "$BRANCH"
git merge --ff-only "origin/$BRANCH"
git revert --no-edit "$COMMIT"
git --no-pager show --stat HEAD
git push origin "HEAD:refs/heads/$BRANCH"
