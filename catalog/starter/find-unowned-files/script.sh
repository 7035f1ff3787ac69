#!/usr/bin/env bash
# List files whose user or group id belongs to no account or group, with both ids.
set -euo pipefail

: "${DIRECTORY:?directory to look in}"

sudo find "$DIRECTORY" -xdev \( -nouser -o -nogroup \) -printf '%U:%G %M %p\n'
