"""Tests for what a script shows about the literals, places and directions in a statement."""

from __future__ import annotations

from catalog.relevance import analyse, find_literals
from catalog.relevance.statement.scope import has_other_scope
from catalog.relevance.statement.scripts import analyse_script
from catalog.relevance.statement.sorting import direction_of, sorts_otherwise

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


def test_script_explains_what_it_mentions() -> None:
    found = [
        (text, script, analyse_script(script).explains(find_literals(text)[-1]))
        for text, script, _expected in EXPLAINED
    ]
    assert found == EXPLAINED
    actions = analyse_script("cp a b && /bin/rm -f a; systemctl restart nginx").actions
    assert actions >= {"copy", "delete", "restart"}


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


DIRECTIONS = {
    "sort -n a.txt": "order:up",
    "sort a.txt | uniq -c | sort -rn": "order:down",
    "du -s * | sort -k1,1nr | head": "order:down",
    "sort --reverse a.txt": "order:down",
    "sort -rn a.txt | tac": "order:up",
    "ls -lS /var/log": "order:down",
    "ls -l -t -r": "order:up",
    "ps aux --sort=-%mem": "order:down",
    "ps -eo pid,rss --sort rss": "order:up",
    "sort -R a.txt": "order:up",
    "ls /srv/sort": "",
    "tac a.txt": "",
    "resort -r": "",
}


def test_direction_of_sorting_is_compared() -> None:
    found = {script: direction_of(script) for script in DIRECTIONS}
    assert found == DIRECTIONS
    assert sorts_otherwise(frozenset({"order:up"}), "sort -r x")
    assert not sorts_otherwise(frozenset({"order:up", "order:down"}), "sort -r x")
    assert not sorts_otherwise(frozenset(), "sort -r x")
    assert not sorts_otherwise(frozenset({"order:down"}), "cat x")
