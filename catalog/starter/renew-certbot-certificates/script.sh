#!/usr/bin/env bash
# Renew the certificates that are due; certbot runs the hook only after a renewal.
set -euo pipefail

sudo certbot renew --deploy-hook 'nginx -t && systemctl reload nginx'
sudo certbot certificates
