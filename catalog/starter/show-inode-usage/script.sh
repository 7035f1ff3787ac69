#!/usr/bin/env bash
# Show inode use of a filesystem and its directories with the most entries.
set -euo pipefail

: "${MOUNT_POINT:?mount point of the filesystem}"

df -i "$MOUNT_POINT"
echo
sudo du --inodes --one-file-system --separate-dirs -- "$MOUNT_POINT" |
  sort -rn |
  sed -n '1,20p'
