#!/usr/bin/env bash
# List pods that are not running with all containers ready; completed ones are left out.
set -euo pipefail

: "${NAMESPACE:?namespace}"

kubectl get pods --namespace "$NAMESPACE" --output wide --no-headers |
  awk '{split($2, ready, "/")} $3 != "Completed" && ($3 != "Running" || ready[1] != ready[2])'
