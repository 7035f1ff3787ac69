#!/usr/bin/env bash
# Show the lag of every standby, in bytes and time; run it on the primary.
set -euo pipefail

: "${DATABASE:=postgres}"

psql -X -v ON_ERROR_STOP=1 -d "$DATABASE" <<'SQL'
SELECT application_name, client_addr, state, sync_state,
       pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) AS behind, replay_lag
FROM pg_stat_replication
ORDER BY pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) DESC NULLS FIRST;

SELECT slot_name, active,
       pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) AS kept_for_it
FROM pg_replication_slots;
SQL
