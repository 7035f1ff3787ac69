"""Find deletions and changes in SQL on the command line, in a heredoc or from a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.analysis.risk.effects import Effect
from catalog.analysis.shell.command_words import Word, show_text
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.inline_code import code_of
from catalog.analysis.shell.program import Program
from catalog.analysis.tables import PATTERNS, WORDS
from catalog.analysis.types import Level

SQL_CLIENTS = WORDS["sql-clients"]

_NOISE = re.compile(r"--(?=\s|\Z)[^\n]*|/\*(?!!).*?(?:\*/|\Z)|'[^']*(?:'|\Z)", re.DOTALL)


def find_database_effects(command: Command, program: Program) -> Iterator[Effect]:
    """Yield the deletions and changes in the command's SQL."""
    for word in sql_of(command):
        sql = strip_sql(word)
        for found in PATTERNS["sql-deletes"].finditer(sql):
            verb = " ".join(found["verb"].upper().rstrip("(").split())
            rest = sql[found.end() :].partition(";")[0]
            is_all = verb == "DELETE FROM" and "where" not in rest.lower()
            is_worst = is_all or verb in ("DROP DATABASE", "DROP SCHEMA", "DROPDATABASE")
            target = f" {show_text(found['what'])}" if found["what"] else ""
            condition = " without a condition" if is_all else ""
            message = f"Deletes data in the database: {verb}{target}{condition}."
            level = Level.ERROR if is_worst else Level.WARNING
            yield Effect("destructive", level, message, word.span_of(*found.span()))
        if secret := PATTERNS["sql-secrets"].search(sql):
            message = f"Reads password hashes or accounts of the database ({show_text(secret[0])})."
            yield Effect("reads_secrets", Level.WARNING, message, word.span_of(*secret.span()))
        if change := PATTERNS["sql-changes"].search(sql):
            verb = change[0].strip("; \n\t").upper()
            yield Effect(
                "mutating",
                Level.INFO,
                f"Changes the database: {verb}.",
                word.span_of(*change.span()),
            )


def strip_sql(word: Word) -> str:
    """Return the SQL without comments and strings, which don't change its effect."""
    sql = word.literal if word.literal is not None else word.span.text
    if "\\'" in sql:  # databases differ in where such a string ends
        return sql
    return _NOISE.sub(lambda found: " " * len(found[0]), sql)


def sql_of(command: Command) -> Iterator[Word]:
    """Yield the words of the command that contain SQL or a similar language."""
    return code_of(command) if command.name in SQL_CLIENTS else iter(())
