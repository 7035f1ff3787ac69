#!/usr/bin/env bash
# List packages that an upgrade would take from a security archive; nothing is installed.
set -euo pipefail

apt-get --simulate --quiet=2 dist-upgrade |
  awk '/^Inst/ && /[Ss]ecurity/ {print $2, $3, "->", substr($4, 2)}'
