"""Where a script looks and at which files, beside what a statement says of it."""

from __future__ import annotations

from catalog.relevance import analyse
from catalog.relevance.statement.scope import has_other_scope
from catalog.relevance.statement.scripts import analyse_script

SCOPES = [
    ("find *.c files in /srv", "find /srv -name '*.c'", False),
    ("find files changed in the last hour", "find / -cmin -60", True),
    ("find core on the system", "find / -name core", False),
    ("find core on the system", "find home -name core", True),
    ("list jpg files in the home directory", "find . -name '*.jpg'", True),
    ("list logs in /var/log", "ls /var", True),
    ("files/directories in /srv", "find /srv -type f", True),
    ("regular files in /srv", "find /srv", True),
    ("delete all files here", "find . -delete", True),
    ("files not modified in the last 3 days", "find . -mtime -3", True),
    ("files not modified in the last 3 days", "find . -mtime +3", False),
    ("files not modified in the last 3 days", "find . ! -mtime -3", False),
    ("files newer than a.ref", r"find . \! -newer a.ref", True),
    ("files older than a.ref", "find . ! -newer a.ref", False),
    ("files larger than 5 MB", "find . -size -5M", True),
    ('make the directory "FOO"', "mkdir foo", True),
    ('find "FOO" ignoring case', "find . -iname foo", False),
]


def test_a_script_looks_where_the_statement_says() -> None:
    found = [
        (statement, script, has_other_scope(analyse(statement), analyse_script(script), script))
        for statement, script, _expected in SCOPES
    ]

    assert found == SCOPES
