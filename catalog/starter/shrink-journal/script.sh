#!/usr/bin/env bash
# Drop the oldest archived journal files until the journal is no larger than a given size.
set -euo pipefail

: "${SIZE:=500M}"

journalctl --disk-usage
# Rotating first archives the active files, so that they can be dropped as well.
sudo journalctl --rotate
sudo journalctl --vacuum-size "$SIZE"
journalctl --disk-usage
