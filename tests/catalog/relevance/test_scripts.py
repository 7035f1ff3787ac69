"""Which literals of a statement a script explains."""

from __future__ import annotations

import pytest

from catalog.relevance import find_literals
from catalog.relevance.statement.scripts import analyse_script


@pytest.mark.parametrize(
    ("text", "script", "expected"),
    [
        pytest.param("in /var/log", "ls /var/log/", True, id="path"),
        pytest.param("in /var/log", "rm /var/log/*.gz", True, id="path before a pattern"),
        pytest.param("in /var", "ls /var/log/", False, id="part of a path"),
        pytest.param("in /var/lo", "ls /var/log/", False, id="part of a word"),
        pytest.param("the '*.log' files", "find . -name '*.log'", True, id="glob"),
        pytest.param("the '*.py' files", r"ls | grep '\.py$'", True, id="glob as a regex"),
        pytest.param("older than 7 days", "find . -mtime +7", True, id="days"),
        pytest.param("older than 1 week", "find . -mtime +7", True, id="a week in days"),
        pytest.param("older than 8 days", "find . -mtime +7", False, id="other days"),
        pytest.param("the last 2 hours", "find . -mmin -120", True, id="hours in minutes"),
        pytest.param("wait 5 minutes", "sleep 300", True, id="minutes in seconds"),
        pytest.param("wait 5 minutes", "sleep 5m", True, id="minutes with a unit"),
        pytest.param("over 100 MB", "find . -size +100M", True, id="size"),
        pytest.param("over 1 KB", "find . -size +1024c", True, id="size in bytes"),
        pytest.param("over 200 MB", "find . -size +100M", False, id="other size"),
        pytest.param("the 10 largest", "sort -n | head -n 10", True, id="number"),
        pytest.param("the 10 largest", "sort -n | head -10", True, id="number as an option"),
        pytest.param("the 2nd field", "cut -f2", True, id="number behind an option's letter"),
        pytest.param("2 files", "bzip2 x", False, id="digit in a name"),
        pytest.param("permissions 0644", "chmod 644 x", True, id="mode"),
        pytest.param("on port 8080", "ss -ltn 'sport = :8080'", True, id="port"),
        pytest.param("restart Nginx", "systemctl restart nginx", True, id="name, any case"),
        pytest.param("restart nginx", "systemctl restart nginx2", False, id="longer name"),
        pytest.param('the text "two words"', "grep 'two words' x", True, id="quoted words"),
        pytest.param("in the current directory", "ls", True, id="the current directory"),
    ],
)
def test_a_script_explains_what_it_mentions(text: str, script: str, expected: bool) -> None:
    literal = find_literals(text)[-1]

    assert analyse_script(script).explains(literal) is expected


def test_commands_stand_for_verbs() -> None:
    actions = analyse_script("cp a b && /bin/rm -f a; systemctl restart nginx").actions

    assert actions >= {"copy", "delete", "restart"}
