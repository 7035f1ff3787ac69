#!/usr/bin/env bash
# Show how each container of a pod ended last, and what it logged before that.
set -euo pipefail

: "${NAMESPACE:?namespace}"
: "${POD:?name of the pod}"

ends='{range .status.containerStatuses[*]}{.name}{": restarts "}{.restartCount}{", last exit "}'
ends+='{.lastState.terminated.exitCode}{" "}{.lastState.terminated.reason}{"\n"}{end}'
containers='{.spec.containers[*].name}'

kubectl get pod "$POD" --namespace "$NAMESPACE" --output jsonpath="$ends"
read -ra names <<<"$(kubectl get pod "$POD" --namespace "$NAMESPACE" --output jsonpath="$containers")"
for name in "${names[@]}"; do
  echo "--- $name"
  # A container that never restarted has no previous log.
  kubectl logs "$POD" --namespace "$NAMESPACE" --container "$name" --previous --tail 100 || true
done
