#!/usr/bin/env bash
# Restart a deployment pod by pod and wait until the new pods have taken over.
set -euo pipefail

: "${NAMESPACE:?namespace}"
: "${DEPLOYMENT:?name of the deployment}"
: "${TIMEOUT:=5m}"

kubectl rollout restart "deployment/$DEPLOYMENT" --namespace "$NAMESPACE"
kubectl rollout status "deployment/$DEPLOYMENT" --namespace "$NAMESPACE" --timeout "$TIMEOUT"
