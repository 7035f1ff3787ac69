"""Where a script looks and at which files, beside what a statement says of it."""

from __future__ import annotations

import pytest

from catalog.relevance import analyse
from catalog.relevance.statement.scope import has_other_scope
from catalog.relevance.statement.scripts import analyse_script


@pytest.mark.parametrize(
    ("statement", "script", "expected"),
    [
        pytest.param("find *.c files in /srv", "find /srv -name '*.c'", False, id="as asked"),
        pytest.param("find files changed in the last hour", "find / -cmin -60", True, id="root"),
        pytest.param("find core on the system", "find / -name core", False, id="everywhere"),
        pytest.param("find core on the system", "find home -name core", True, id="not everywhere"),
        pytest.param("list jpg files in the home directory", "find . -name '*.jpg'", True, id="~"),
        pytest.param("list logs in /var/log", "ls /var", True, id="literal left out"),
        pytest.param("files/directories in /srv", "find /srv -type f", True, id="files only"),
        pytest.param("regular files in /srv", "find /srv", True, id="not only regular files"),
        pytest.param("delete all files here", "find . -delete", True, id="directories along"),
        pytest.param(
            "files not modified in the last 3 days", "find . -mtime -3", True, id="turned round"
        ),
        pytest.param(
            "files not modified in the last 3 days", "find . -mtime +3", False, id="right way"
        ),
        pytest.param(
            "files not modified in the last 3 days", "find . ! -mtime -3", False, id="negated"
        ),
        pytest.param("files newer than a.ref", r"find . \! -newer a.ref", True, id="not newer"),
        pytest.param("files older than a.ref", "find . ! -newer a.ref", False, id="older by not"),
        pytest.param("files larger than 5 MB", "find . -size -5M", True, id="smaller"),
        pytest.param('make the directory "FOO"', "mkdir foo", True, id="other letters"),
        pytest.param(
            'find "FOO" ignoring case', "find . -iname foo", False, id="letters do not matter"
        ),
    ],
)
def test_a_script_looks_where_the_statement_says(
    statement: str, script: str, expected: bool
) -> None:
    assert has_other_scope(analyse(statement), analyse_script(script), script) is expected
