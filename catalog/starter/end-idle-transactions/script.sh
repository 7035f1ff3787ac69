#!/usr/bin/env bash
# Terminate sessions of one database that are idle in a transaction for more than some minutes.
set -euo pipefail

: "${DATABASE:?name of the database}"
: "${MINUTES:=15}"

psql -X -v ON_ERROR_STOP=1 -v minutes="$MINUTES" -d "$DATABASE" <<'SQL'
SELECT pid, usename, application_name, now() - state_change AS idle, left(query, 60) AS last_query,
       pg_terminate_backend(pid) AS ended
FROM pg_stat_activity
WHERE datname = current_database()
  AND state IN ('idle in transaction', 'idle in transaction (aborted)')
  AND state_change < now() - make_interval(mins => :'minutes'::int);
SQL
