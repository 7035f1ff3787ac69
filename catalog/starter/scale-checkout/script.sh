#!/usr/bin/env bash
# Scale checkout in the namespace shop to 6 replicas; refuse where an autoscaler would undo it.
set -euo pipefail

scaled=$(kubectl get hpa --namespace shop --output jsonpath='{.items[*].spec.scaleTargetRef.name}')
if [[ " $scaled " == *" checkout "* ]]; then
  echo "An autoscaler owns checkout: change its minimum instead" >&2
  exit 1
fi
kubectl scale deployment/checkout --namespace shop --replicas 6
kubectl rollout status deployment/checkout --namespace shop --timeout 5m
