#!/usr/bin/env bash
# Dump a database in custom format; the file gets its name only when it is complete and readable.
set -euo pipefail

: "${DATABASE:?name of the database}"
: "${DIRECTORY:?directory for the dump}"

target="$DIRECTORY/$DATABASE-$(date +%Y%m%d-%H%M%S).dump"
umask 077
pg_dump --format custom --file "$target.partial" --dbname "$DATABASE"
pg_restore --list "$target.partial" >/dev/null
mv -- "$target.partial" "$target"
ls -lh -- "$target"
