#!/usr/bin/env bash
# Ask sudo itself about each account, so that groups, aliases and included files all count.
set -euo pipefail
export LC_ALL=C

getent passwd | cut -d: -f1 | while read -r account; do
  rights=$(sudo --list --other-user="$account" || true)
  if [[ $rights == *"may run the following commands"* ]]; then
    echo "$account"
  fi
done
