#!/usr/bin/env bash
# Extend a logical volume and the filesystem on it; a test run comes first.
set -euo pipefail

: "${LOGICAL_VOLUME:?device of the volume, for example /dev/data/postgres}"
: "${SIZE:?size to add, for example 10G}"

group=$(sudo lvs --noheadings -o vg_name "$LOGICAL_VOLUME" | tr -d ' ')
echo "Free in volume group $group: $(sudo vgs --noheadings -o vg_free "$group" | tr -d ' ')"
sudo lvextend --test --size "+$SIZE" "$LOGICAL_VOLUME"
sudo lvextend --resizefs --size "+$SIZE" "$LOGICAL_VOLUME"
df -h "$LOGICAL_VOLUME"
