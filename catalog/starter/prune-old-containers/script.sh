#!/usr/bin/env bash
# Remove stopped containers and untagged images older than some hours; volumes are kept.
set -euo pipefail

: "${HOURS:=48}"

docker system df
docker container prune --force --filter "until=${HOURS}h"
docker image prune --force --filter "until=${HOURS}h"
docker system df
