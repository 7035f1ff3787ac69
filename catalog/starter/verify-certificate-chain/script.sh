#!/usr/bin/env bash
# Verify a certificate with its intermediates up to a root that this host trusts.
set -euo pipefail

: "${CERTIFICATE:?path of the server certificate in PEM format}"
: "${CHAIN:?path of the file with the intermediate certificates}"

openssl crl2pkcs7 -nocrl -certfile "$CHAIN" | openssl pkcs7 -print_certs -noout
openssl verify -purpose sslserver -untrusted "$CHAIN" "$CERTIFICATE"
