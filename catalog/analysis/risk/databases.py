"""SQL and other database commands given on the command line, in a heredoc or through a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.analysis.risk.effects import Effect
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Word, show_text
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.program import Program
from catalog.analysis.types import Level

_SQL_LONG = frozenset({"command", "execute", "query", "eval"})
# Letters of options with a value, and the one of them that carries SQL.
SQL_CLIENTS = {
    "psql": ("cdhpUfvFLoPRT", "c"),
    "cockroach": ("e", "e"),
    "mysql": ("ehuPDS", "e"),
    "mariadb": ("ehuPDS", "e"),
    "sqlite3": ("", ""),
    "sqlcmd": ("QqSUPd", "Q"),
    "clickhouse-client": ("qhud", "q"),
    "cqlsh": ("eku", "e"),
    "mongo": ("", "eval"),
    "mongosh": ("", "eval"),
}

_NOISE = re.compile(r"--(?=\s|\Z)[^\n]*|/\*(?!!).*?(?:\*/|\Z)|'[^']*(?:'|\Z)", re.DOTALL)
_DESTRUCTIVE = re.compile(
    r"\b(?P<verb>DROP\s+(?:TABLE|DATABASE|SCHEMA|INDEX|VIEW|MATERIALIZED\s+VIEW|USER|ROLE|COLUMN|"
    r"KEYSPACE|SEQUENCE|EXTENSION)|TRUNCATE(?:\s+TABLE)?|DELETE\s+FROM|dropDatabase|drop\(|"
    r"deleteMany|deleteOne|remove\()\s*(?:IF\s+EXISTS\s+)?(?P<what>[\w.\"$`{}]*)",
    re.IGNORECASE,
)
_SECRETS = re.compile(
    r"\b(?:mysql\.user|mysql\.global_priv|pg_shadow|pg_authid|authentication_string|rolpassword|passwd"
    r"|sql_logins|dba_users|user\$|system\.users)\b",
    re.IGNORECASE,
)
_CHANGING = re.compile(
    r"(?:^|;)\s*(INSERT|UPDATE|ALTER|CREATE|GRANT|REVOKE|MERGE|REPLACE|VACUUM|REINDEX)\b"
    r"|\bpg_(?:terminate|cancel)_backend\b|\b(?:updateMany|updateOne|insertMany|insertOne)\b",
    re.IGNORECASE,
)


def find_database_effects(command: Command, program: Program) -> Iterator[Effect]:
    """What the SQL of the command deletes or changes."""
    for word in sql_of(command):
        sql = strip_sql(word)
        for found in _DESTRUCTIVE.finditer(sql):
            verb = " ".join(found["verb"].upper().rstrip("(").split())
            rest = sql[found.end() :].partition(";")[0]
            is_all = verb == "DELETE FROM" and "where" not in rest.lower()
            is_worst = is_all or verb in ("DROP DATABASE", "DROP SCHEMA", "DROPDATABASE")
            target = f" {show_text(found['what'])}" if found["what"] else ""
            condition = " without a condition" if is_all else ""
            message = f"Deletes data in the database: {verb}{target}{condition}."
            level = Level.ERROR if is_worst else Level.WARNING
            yield Effect("destructive", level, message, word.span_of(*found.span()))
        if secret := _SECRETS.search(sql):
            message = f"Reads password hashes or accounts of the database ({show_text(secret[0])})."
            yield Effect("reads_secrets", Level.WARNING, message, word.span_of(*secret.span()))
        if change := _CHANGING.search(sql):
            verb = change[0].strip("; \n\t").upper()
            yield Effect(
                "mutating",
                Level.INFO,
                f"Changes the database: {verb}.",
                word.span_of(*change.span()),
            )


def strip_sql(word: Word) -> str:
    """The SQL without its comments and strings, which say nothing about what it does."""
    sql = word.literal if word.literal is not None else word.span.text
    if "\\'" in sql:  # where a string ends is then a question of the database
        return sql
    return _NOISE.sub(lambda found: " " * len(found[0]), sql)


def sql_of(command: Command) -> Iterator[Word]:
    """The words of the command that hold SQL, or a like language."""
    if command.name not in SQL_CLIENTS:
        return
    short, letter = SQL_CLIENTS[command.name]
    arguments = read_arguments(command.arguments, short=short, long=_SQL_LONG)
    for name, value in arguments.options:
        if value is not None and name in (letter, *_SQL_LONG):
            yield value
    if command.name == "sqlite3":
        yield from arguments.operands[1:]
    if command.fed_text is not None:
        yield command.fed_text
