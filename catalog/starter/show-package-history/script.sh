#!/usr/bin/env bash
# Show a package's installations, upgrades and removals from all of dpkg's logs, oldest first.
set -euo pipefail

: "${PACKAGE:?name of the package}"
export PACKAGE

zcat -f /var/log/dpkg.log* |
  awk '$3 ~ /^(install|upgrade|remove|purge)$/ && index($4, ENVIRON["PACKAGE"] ":") == 1' |
  sort
