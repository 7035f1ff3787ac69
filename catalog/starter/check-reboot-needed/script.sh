#!/usr/bin/env bash
# Tell whether a reboot is pending: by the packages' own flag and by the kernel's version.
set -euo pipefail

newest=$(find /boot -maxdepth 1 -name 'vmlinuz-*' -printf '%f\n' |
  sed 's/^vmlinuz-//' |
  sort -V |
  tail -n 1)
echo "running kernel $(uname -r), newest installed ${newest:-none}"
if [[ -e /run/reboot-required ]]; then
  echo "A reboot is required by:"
  sort -u /run/reboot-required.pkgs 2>/dev/null || echo "(the packages are not recorded)"
else
  echo "No package asks for a reboot"
fi
