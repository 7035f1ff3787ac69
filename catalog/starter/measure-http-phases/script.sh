#!/usr/bin/env bash
# Request a URL once and print the time until the end of each phase, in seconds.
set -euo pipefail

: "${URL:?address to request}"

curl --silent --show-error --output /dev/null --max-time 30 --write-out '
status        %{http_code}
name resolved %{time_namelookup}
connected     %{time_connect}
TLS ready     %{time_appconnect}
first byte    %{time_starttransfer}
done          %{time_total}
' -- "$URL"
