#!/usr/bin/env bash
# Make a 4 GB swap file at /swapfile, switch it on and enter it in /etc/fstab.
set -euo pipefail

if ((EUID != 0)); then
  echo "Run this as root" >&2
  exit 1
fi
if [[ -e /swapfile ]]; then
  echo "/swapfile exists already; nothing changed" >&2
  exit 1
fi
# dd rather than fallocate: a swap file must not have holes.
dd if=/dev/zero of=/swapfile bs=1M count=4096 status=progress
chmod 600 /swapfile
mkswap /swapfile
swapon /swapfile
cp --archive /etc/fstab "/etc/fstab.$(date +%Y%m%d-%H%M%S)"
printf '/swapfile none swap sw 0 0\n' >>/etc/fstab
swapon --show
