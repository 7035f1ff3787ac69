#!/usr/bin/env bash
# Delete compressed logs in /var/log/app that were last written more than 14 days ago.
set -euo pipefail

find /var/log/app -xdev -type f -name '*.gz' -mtime +14 -print -delete
