#!/usr/bin/env bash
# Show the active queries of the server, the longest running first.
set -euo pipefail

: "${DATABASE:=postgres}"

psql -X -v ON_ERROR_STOP=1 -d "$DATABASE" <<'SQL'
SELECT pid, usename, datname, now() - query_start AS running, wait_event_type,
       left(regexp_replace(query, '\s+', ' ', 'g'), 100) AS query
FROM pg_stat_activity
WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()
ORDER BY query_start
LIMIT 20;
SQL
