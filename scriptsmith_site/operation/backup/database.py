"""Database operations for backup and restore: dump, load, count rows, and replace a database."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psycopg
from django.db import connection, transaction
from psycopg import sql

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.servers.binaries import find_postgres
from scriptsmith_site.operation.backup.archive import CannotBackUp

_LEAVING_SECONDS = 5.0
_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
}

# Drop all objects except extensions, because creating an extension may require a superuser.
_EMPTY_THE_DATABASE = """
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT format('TABLE %s', oid::regclass) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    UNION ALL SELECT format('FUNCTION %s', oid::regprocedure) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
    LOOP
        EXECUTE format('DROP %s CASCADE', name);
    END LOOP;
END
$$;
"""
_TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname
"""
# The checksum is a sum of MD5 prefixes, so that equal rows have the same checksum in any order and on any server.
_CHECKSUM: LiteralString = """
SELECT count(*),
    coalesce(sum(('x' || left(md5((one.*)::text), 15))::bit(60)::bigint::numeric), 0)::text
FROM public.{} AS one
"""
# The text form of rows must not depend on the server's settings.
_PLAIN_TEXT = """
SELECT set_config('TimeZone', 'UTC', false), set_config('DateStyle', 'ISO, MDY', false),
    set_config('IntervalStyle', 'postgres', false), set_config('extra_float_digits', '1', false),
    set_config('bytea_output', 'hex', false)
"""

Tables = dict[str, dict[str, str | int]]


@contextmanager
def snapshot() -> Iterator[str]:
    """Yield the name of a snapshot that exists while the block runs. Other connections are not blocked."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        yield str(cursor.fetchone()[0])


def dump(target: Path, *, at: str) -> None:
    """Dump a snapshot in pg_dump's custom format. Raises CannotBackUp."""
    command = [*_tool("pg_dump"), "--format=custom", "--schema=public", f"--snapshot={at}"]
    _run([*command, "--file", str(target)])


def count_tables() -> Tables:
    """Return the row count and checksum of each table, as seen by the current transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        names = [name for (name,) in cursor.fetchall()]
        cursor.execute(_PLAIN_TEXT)
        found: Tables = {}
        for name in names:
            cursor.execute(sql.SQL(_CHECKSUM).format(sql.Identifier(name)).as_string())
            rows, checksum = cursor.fetchone()
            found[name] = {"rows": rows, "checksum": checksum}
    return found


def count_tables_of(database: str) -> Tables:
    """Return the row count and checksum of each table of another database on this server."""
    with _connect(database) as other:
        other.execute(_PLAIN_TEXT)
        found: Tables = {}
        for (name,) in other.execute(_TABLES).fetchall():
            counted = other.execute(sql.SQL(_CHECKSUM).format(sql.Identifier(str(name))))
            for rows, checksum in counted:
                found[str(name)] = {"rows": int(str(rows)), "checksum": str(checksum)}
    return found


def migrations_of(database: str) -> list[str]:
    """Return the migrations applied to another database on this server as "app.name", sorted."""
    with _connect(database) as other:
        rows = other.execute("SELECT app, name FROM django_migrations").fetchall()
    return sorted(f"{app}.{name}" for app, name in rows)


def own_name() -> str:
    return str(connection.settings_dict["NAME"])


def may_make_databases() -> bool:
    """Return whether the current role may create databases and rename the current database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (rolsuper OR rolcreatedb) AND pg_has_role(datdba, 'USAGE')"
            " FROM pg_roles, pg_database WHERE rolname = current_user"
            " AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])


def require_alone() -> None:
    """Raise CannotBackUp if other connections to the database do not close within five seconds.

    The server needs a moment to notice that a program has exited.
    """
    until = time.monotonic() + _LEAVING_SECONDS
    while _count_others():
        if time.monotonic() > until:
            raise CannotBackUp("other programs are using the database. Stop ScriptSmith first")
        time.sleep(0.05)


def _count_others() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


def make_database(name: str, *, dump: Path) -> None:
    """Create a database from a dump, with the extensions of the current database. Raises CannotBackUp."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_encoding_to_char(encoding), datcollate, datctype FROM pg_database"
            " WHERE datname = current_database()"
        )
        encoding, collation, characters = cursor.fetchone()
        cursor.execute("SELECT extname FROM pg_extension WHERE extname <> 'plpgsql'")
        extensions = {"vector"} | {extension for (extension,) in cursor.fetchall()}
    connection.close()
    create = sql.SQL(
        "CREATE DATABASE {} TEMPLATE template0 ENCODING {} LC_COLLATE {} LC_CTYPE {}"
    ).format(sql.Identifier(name), encoding, collation, characters)
    try:
        with _connect(_elsewhere()) as server:
            server.execute(create)
        with _connect(name) as new:
            for extension in sorted(extensions):
                command = sql.SQL("CREATE EXTENSION IF NOT EXISTS {}")
                new.execute(command.format(sql.Identifier(extension)))
    except psycopg.Error as error:
        raise CannotBackUp(f"can't create a new database: {_first_line(error)}") from error
    _run([*_loading(), f"--file={_as_script(dump)}"], database=name)


def exchange(old: str, new: str, *, aside: str) -> None:
    """Rename `old` to `aside` and `new` to `old` in one transaction. Raises CannotBackUp."""
    connection.close()
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    try:
        with _connect(_elsewhere()) as server, server.transaction():
            server.execute(rename.format(sql.Identifier(old), sql.Identifier(aside)))
            server.execute(rename.format(sql.Identifier(new), sql.Identifier(old)))
    except psycopg.Error as error:
        raise CannotBackUp(f"can't swap the databases: {_first_line(error)}") from error


def drop_database(name: str) -> None:
    """Drop a database if it exists. Raises CannotBackUp."""
    try:
        with _connect(_elsewhere()) as server:
            drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
            server.execute(drop.format(sql.Identifier(name)))
    except psycopg.Error as error:
        raise CannotBackUp(
            f"can't drop the temporary database {name}: {_first_line(error)}"
        ) from error


def replace_in_place(dump: Path, *, expected: Tables) -> None:
    """Replace the contents of the database and verify them in one transaction, which is rolled back on errors.

    This is for roles that may not create databases. Raises CannotBackUp.
    """
    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.close()
    script, check = _as_script(dump), dump.with_suffix(".check.sql")
    check.write_text("".join(_check(name, wanted) for name, wanted in expected.items()))
    load = [*_loading(), f"--command={_EMPTY_THE_DATABASE}", f"--file={script}"]
    _run([*load, f"--command={_PLAIN_TEXT}", f"--file={check}"])


def _check(name: str, wanted: Mapping[str, str | int]) -> str:
    """Return a statement that fails if the table differs from the backup."""
    counted = sql.SQL(_CHECKSUM).format(sql.Identifier(name)).as_string()
    said = sql.Literal(f"{name} differs from the backup").as_string()
    rows, checksum = int(wanted["rows"]), int(wanted["checksum"])
    return (
        f"DO $check$ BEGIN IF NOT EXISTS (SELECT FROM ({counted}) AS found (rows, checksum)"
        f" WHERE rows = {rows} AND checksum = '{checksum}')"
        f" THEN RAISE EXCEPTION USING MESSAGE = {said}; END IF; END $check$;\n"
    )


def _as_script(dump: Path) -> Path:
    """Convert the whole dump to SQL before any of it is executed."""
    script = dump.with_suffix(".sql")
    unpack = [*_tool("pg_restore"), "--no-owner", "--no-privileges", "--schema=public"]
    _run([*unpack, f"--file={script}", str(dump)])
    return script


def _loading() -> list[str]:
    return [
        *_tool("psql"),
        "--no-psqlrc",
        "--quiet",
        "--single-transaction",
        "--set=ON_ERROR_STOP=1",
    ]


def _connect(database: str) -> psycopg.Connection[tuple[object, ...]]:
    parameters = connection.get_connection_params()
    given = {name: parameters[name] for name in _VARIABLES if parameters.get(name)}
    return psycopg.connect(**given | {"dbname": database}, autocommit=True)


def _elsewhere() -> str:
    """Return a database to connect to while the product's database is renamed or dropped. Raises CannotBackUp."""
    for name in ("postgres", "template1"):
        try:
            _connect(name).close()
            return name
        except psycopg.Error:
            continue
    raise CannotBackUp("can't connect to the database postgres or template1")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no error message"])[0]


def _tool(name: str) -> list[str]:
    """Return a PostgreSQL client program, preferably the bundled one, because it must not be older than the server."""
    try:
        return [str(find_postgres() / "bin" / name)]
    except CannotStart:
        on_path = shutil.which(name)
    if on_path is None:
        raise CannotBackUp(f"{name} is not installed. Install the PostgreSQL client programs")
    return [on_path]


def _run(command: list[str], *, database: str = "") -> None:
    own = connection_environment(connection.get_connection_params())
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **own, **({"PGDATABASE": database} if database else {})},
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        # Search all lines for the error, because psql prints context after it.
        told = [line for line in lines if "ERROR:" in line] or lines[-1:] or ["no error message"]
        raise CannotBackUp(f"{Path(command[0]).name} failed: {told[0]}")


def connection_environment(parameters: Mapping[str, object]) -> dict[str, str]:
    """Return connection parameters as environment variables, so that no password is on a command line."""
    return {
        variable: str(parameters[name])
        for name, variable in _VARIABLES.items()
        if parameters.get(name)
    }
