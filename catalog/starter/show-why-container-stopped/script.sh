#!/usr/bin/env bash
# Show a container's exit state and its last log lines.
set -euo pipefail

: "${CONTAINER:?name or id of the container}"
: "${ENGINE:=docker}"

"$ENGINE" inspect --format 'status {{.State.Status}}
exit code {{.State.ExitCode}}
killed for lack of memory {{.State.OOMKilled}}
error {{printf "%q" .State.Error}}
finished {{.State.FinishedAt}}
restarts {{.RestartCount}}' "$CONTAINER"
"$ENGINE" logs --timestamps --tail 50 "$CONTAINER"
