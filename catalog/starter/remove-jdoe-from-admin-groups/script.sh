#!/usr/bin/env bash
# Remove jdoe from the groups docker and sudo, where jdoe is a member.
set -euo pipefail

for group in docker sudo; do
  if id -nG jdoe | tr ' ' '\n' | grep -xF -- "$group" >/dev/null; then
    sudo gpasswd --delete jdoe "$group"
  fi
done
echo "jdoe is now in: $(id -nG jdoe)"
