#!/usr/bin/env bash
# Send SIGTERM to a process and SIGKILL when it is still there after a grace period.
set -euo pipefail

: "${PID:?id of the process}"
: "${GRACE:=15}"

# kill takes 0 and negative numbers for whole groups of processes.
if ! [[ $PID =~ ^[0-9]+$ ]] || ((PID < 2)); then
  echo "Not the id of a process that may be stopped: $PID" >&2
  exit 2
fi
ps -o pid,user,etime,args -p "$PID"
sudo kill -TERM "$PID"
for ((waited = 0; waited < GRACE; waited++)); do
  sleep 1
  if ! [[ -d /proc/$PID ]]; then
    echo "Process $PID ended by itself"
    exit 0
  fi
done
sudo kill -KILL "$PID"
echo "Process $PID was killed after $GRACE s"
