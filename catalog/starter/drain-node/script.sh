#!/usr/bin/env bash
# Cordon a node and evict its pods; pods with local data or without a controller stop the drain.
set -euo pipefail

: "${NODE:?name of the node}"
: "${TIMEOUT:=10m}"

kubectl get pods --all-namespaces --field-selector "spec.nodeName=$NODE" --output wide
kubectl cordon "$NODE"
kubectl drain "$NODE" --ignore-daemonsets --timeout "$TIMEOUT"
kubectl get node "$NODE"
