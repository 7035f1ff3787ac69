#!/usr/bin/env bash
# Remove empty directories under /srv/uploads/incoming, the inner ones first, and keep the top one.
set -euo pipefail

find /srv/uploads/incoming -xdev -mindepth 1 -type d -empty -print -delete
