#!/usr/bin/env bash
# Cancel queries of the role reporting that have run for more than 15 minutes; its sessions stay.
set -euo pipefail

psql -X -v ON_ERROR_STOP=1 -d postgres <<'SQL'
SELECT pid, datname, now() - query_start AS running, left(query, 80) AS query,
       pg_cancel_backend(pid) AS cancelled
FROM pg_stat_activity
WHERE usename = 'reporting' AND state = 'active' AND query_start < now() - interval '15 minutes';
SQL
