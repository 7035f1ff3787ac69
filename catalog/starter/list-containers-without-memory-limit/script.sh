#!/usr/bin/env bash
# List running containers whose memory is not limited.
set -euo pipefail

format='{{.HostConfig.Memory}} {{.Name}} {{.Config.Image}}'

docker ps --quiet |
  xargs --no-run-if-empty docker inspect --format "$format" |
  awk '$1 == 0 {print substr($2, 2), $3}'
