#!/usr/bin/env bash
# Restart a container and wait for its health check; show its log when that does not pass in time.
set -euo pipefail

: "${CONTAINER:?name or id of the container}"
: "${TIMEOUT:=90}"

format='{{if .State.Health}}{{.State.Health.Status}}{{else}}none{{end}}'

docker restart "$CONTAINER"
for ((waited = 0; waited < TIMEOUT; waited++)); do
  health=$(docker inspect --format "$format" "$CONTAINER")
  case $health in
    healthy) echo "healthy after $waited s" && exit 0 ;;
    none) echo "$CONTAINER has no health check" >&2 && exit 1 ;;
  esac
  sleep 1
done
echo "$CONTAINER is $health after $TIMEOUT s" >&2
docker logs --tail 30 "$CONTAINER" >&2
exit 1
