#!/usr/bin/env bash
# Compare the public key in a certificate with that of a private key.
set -euo pipefail

: "${CERTIFICATE:?path of the certificate in PEM format}"
: "${KEY:?path of the private key}"

of_certificate=$(openssl x509 -noout -pubkey -in "$CERTIFICATE")
of_key=$(openssl pkey -pubout -in "$KEY")
if [[ $of_certificate == "$of_key" ]]; then
  echo "They belong together"
else
  echo "The key belongs to another certificate" >&2
  exit 1
fi
