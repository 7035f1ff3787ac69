#!/usr/bin/env bash
# List deleted files that processes still hold open on a filesystem.
set -euo pipefail

: "${MOUNT_POINT:=/}"

# lsof ends with 1 when it has found nothing, too.
if ! sudo lsof -nP +aL1 "$MOUNT_POINT"; then
  echo "lsof found no deleted file held open on $MOUNT_POINT"
fi
