#!/usr/bin/env bash
# Print the end date of a certificate; exit with 1 when it is closer than a number of days.
set -euo pipefail

: "${CERTIFICATE:?path of the certificate in PEM format}"
: "${DAYS:=21}"

openssl x509 -noout -subject -enddate -in "$CERTIFICATE"
openssl x509 -noout -checkend "$((DAYS * 86400))" -in "$CERTIFICATE"
