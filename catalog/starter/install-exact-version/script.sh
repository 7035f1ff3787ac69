#!/usr/bin/env bash
# Install one version of a package, even an older one, and hold it.
set -euo pipefail

: "${PACKAGE:?name of the package}"
: "${VERSION:?exact version, as apt-cache madison shows it}"

apt-cache madison "$PACKAGE"
sudo apt-get install --yes --allow-downgrades --allow-change-held-packages "$PACKAGE=$VERSION"
sudo apt-mark hold "$PACKAGE"
dpkg-query --show "$PACKAGE"
