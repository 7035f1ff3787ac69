#!/usr/bin/env bash
# Show each service that systemd has restarted automatically, most restarts first.
set -euo pipefail

systemctl list-units --type=service --all --plain --no-legend --no-pager |
  awk '{print $1}' |
  xargs --no-run-if-empty --delimiter='\n' systemctl show --property=Id,NRestarts |
  awk -F= '
    function report() { if (restarts > 0) print restarts, id; id = ""; restarts = 0 }
    $1 == "Id" { id = $2 }
    $1 == "NRestarts" { restarts = $2 }
    /^$/ { report() }
    END { report() }' |
  sort -rn
