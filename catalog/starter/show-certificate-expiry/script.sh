#!/usr/bin/env bash
# Show subject, issuer and validity of the certificate that a server presents.
set -euo pipefail

: "${HOST:?name of the server}"
: "${PORT:=443}"

timeout 10 openssl s_client -connect "$HOST:$PORT" -servername "$HOST" </dev/null 2>/dev/null |
  openssl x509 -noout -subject -issuer -startdate -enddate
