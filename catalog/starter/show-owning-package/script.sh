#!/usr/bin/env bash
# Show the package that installed a file, and its version.
set -euo pipefail

: "${FILE:?path of the file}"

owner=$(dpkg-query --search "$FILE" | awk -F': ' '!/^diversion by/ {print $1}')
# Several packages may share a directory: they stand on one line, separated by commas.
tr ',' '\n' <<<"$owner" | tr -d ' ' | xargs --no-run-if-empty dpkg-query --show
