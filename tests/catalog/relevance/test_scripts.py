"""Which literals of a statement a script explains."""

from __future__ import annotations

from catalog.relevance import find_literals
from catalog.relevance.statement.scripts import analyse_script

EXPLAINED = [
    ("in /var/log", "ls /var/log/", True),
    ("in /var/log", "rm /var/log/*.gz", True),
    ("in /var", "ls /var/log/", False),
    ("in /var/lo", "ls /var/log/", False),
    ("the '*.log' files", "find . -name '*.log'", True),
    ("the '*.py' files", r"ls | grep '\.py$'", True),
    ("older than 7 days", "find . -mtime +7", True),
    ("older than 1 week", "find . -mtime +7", True),
    ("older than 8 days", "find . -mtime +7", False),
    ("the last 2 hours", "find . -mmin -120", True),
    ("wait 5 minutes", "sleep 300", True),
    ("wait 5 minutes", "sleep 5m", True),
    ("over 100 MB", "find . -size +100M", True),
    ("over 1 KB", "find . -size +1024c", True),
    ("over 200 MB", "find . -size +100M", False),
    ("the 10 largest", "sort -n | head -n 10", True),
    ("the 10 largest", "sort -n | head -10", True),
    ("the 2nd field", "cut -f2", True),
    ("2 files", "bzip2 x", False),
    ("permissions 0644", "chmod 644 x", True),
    ("on port 8080", "ss -ltn 'sport = :8080'", True),
    ("restart Nginx", "systemctl restart nginx", True),
    ("restart nginx", "systemctl restart nginx2", False),
    ('the text "two words"', "grep 'two words' x", True),
    ("in the current directory", "ls", True),
]


def test_a_script_explains_what_it_mentions() -> None:
    found = [
        (text, script, analyse_script(script).explains(find_literals(text)[-1]))
        for text, script, _expected in EXPLAINED
    ]

    assert found == EXPLAINED


def test_commands_stand_for_verbs() -> None:
    actions = analyse_script("cp a b && /bin/rm -f a; systemctl restart nginx").actions

    assert actions >= {"copy", "delete", "restart"}
