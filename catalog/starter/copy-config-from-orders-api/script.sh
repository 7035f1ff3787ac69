#!/usr/bin/env bash
# Copy the configuration of orders-api to the current directory, under a name with the time.
set -euo pipefail

target="orders-config-$(date +%Y%m%d-%H%M%S).yaml"
(
  umask 077 # the configuration may hold passwords
  docker cp orders-api:/etc/orders/config.yaml - | tar --extract --to-stdout >"$target"
)
ls -l "$target"
