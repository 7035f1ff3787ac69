#!/usr/bin/env bash
# Append a public key to a user's authorized_keys, unless it is there already.
set -euo pipefail

: "${ACCOUNT:?name of the account}"
: "${KEY_FILE:?path of the public key}"

key=$(<"$KEY_FILE")
case $key in
  ssh-* | ecdsa-* | sk-*) ssh-keygen -l -f "$KEY_FILE" ;;
  *) echo "$KEY_FILE holds no public key" >&2 && exit 1 ;;
esac
home=$(getent passwd "$ACCOUNT" | cut -d: -f6)
group=$(id -gn "$ACCOUNT")
sudo install -d -m 700 -o "$ACCOUNT" -g "$group" "$home/.ssh"
if sudo grep -qsxF -- "$key" "$home/.ssh/authorized_keys"; then
  echo "The key is there already"
  exit 0
fi
printf '%s\n' "$key" | sudo tee -a "$home/.ssh/authorized_keys" >/dev/null
sudo chown "$ACCOUNT:$group" "$home/.ssh/authorized_keys"
sudo chmod 600 "$home/.ssh/authorized_keys"
