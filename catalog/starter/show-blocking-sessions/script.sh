#!/usr/bin/env bash
# Show each waiting session with the sessions that block it.
set -euo pipefail

: "${DATABASE:=postgres}"

psql -X -v ON_ERROR_STOP=1 -d "$DATABASE" <<'SQL'
SELECT waiting.pid AS waiting, now() - waiting.query_start AS since,
       left(waiting.query, 60) AS query, blocking.pid AS blocked_by, blocking.usename,
       blocking.state, left(blocking.query, 60) AS its_query
FROM pg_stat_activity AS waiting
CROSS JOIN LATERAL unnest(pg_blocking_pids(waiting.pid)) AS blocker(pid)
JOIN pg_stat_activity AS blocking ON blocking.pid = blocker.pid
ORDER BY waiting.query_start;
SQL
