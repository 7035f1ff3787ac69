#!/usr/bin/env bash
# Lock an account's password, expire the account so that keys fail too, and end its sessions.
set -euo pipefail

: "${ACCOUNT:?name of the account}"

if [[ $ACCOUNT == root || $ACCOUNT == "$(id -un)" ]]; then
  echo "Will not lock $ACCOUNT" >&2
  exit 1
fi
sudo usermod --lock --expiredate 1 -- "$ACCOUNT"
if loginctl show-user "$ACCOUNT" >/dev/null 2>&1; then
  sudo loginctl terminate-user "$ACCOUNT"
fi
sudo passwd --status "$ACCOUNT"
sudo chage --list "$ACCOUNT"
