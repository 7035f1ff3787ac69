#!/usr/bin/env bash
# Search a log file and its rotated generations, compressed or not, for a literal text.
set -euo pipefail
shopt -s nullglob

: "${TEXT:?text to look for, taken literally}"
: "${LOG_FILE:?path of the current log file}"

files=("$LOG_FILE" "$LOG_FILE"[.-]*)
if zgrep -F -H -e "$TEXT" -- "${files[@]}"; then
  exit 0
fi
echo "No line with that text in ${#files[@]} files" >&2
exit 1
