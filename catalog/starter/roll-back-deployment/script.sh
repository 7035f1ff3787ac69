#!/usr/bin/env bash
# Roll a deployment back by one revision and wait for the rollout.
set -euo pipefail

: "${NAMESPACE:?namespace}"
: "${DEPLOYMENT:?name of the deployment}"
: "${TIMEOUT:=5m}"

kubectl rollout history "deployment/$DEPLOYMENT" --namespace "$NAMESPACE"
kubectl rollout undo "deployment/$DEPLOYMENT" --namespace "$NAMESPACE"
kubectl rollout status "deployment/$DEPLOYMENT" --namespace "$NAMESPACE" --timeout "$TIMEOUT"
kubectl get deployment "$DEPLOYMENT" --namespace "$NAMESPACE" --output wide
