#!/usr/bin/env bash
# Remove a site's link from sites-enabled and reload; put the link back when the test fails.
set -euo pipefail

: "${SITE:?file name of the site in sites-enabled}"

link="/etc/nginx/sites-enabled/$SITE"
if ! [[ -L $link ]]; then
  echo "$link is not a link; nothing changed" >&2
  exit 1
fi
target=$(readlink -- "$link")
sudo rm -- "$link"
if ! sudo nginx -t; then
  sudo ln -s -- "$target" "$link"
  echo "The rest is not valid without $SITE; it is enabled again" >&2
  exit 1
fi
sudo systemctl reload nginx
