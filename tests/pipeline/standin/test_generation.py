"""Tests for statements outside the script book, for which the demo model adapts an example, follows a rule or
refuses.
"""

from __future__ import annotations

from itertools import product

import pytest

from pipeline.standin.language.shell_syntax import is_broken, parse, walk
from pipeline.standin.writing.example_adapter import adapt_script
from pipeline.standin.writing.script_writer import load_recipes, write_script
from tests.pipeline.standin.test_wordings import CLEAN_UP, RESTART
from tests.pipeline.standin.test_wordings import generate as answer_generate


def generate(statement: str, *examples: tuple[str, str]) -> str:
    """Return the script that the demo model writes."""
    return str(answer_generate(statement, *examples)["script"])


def test_an_example_is_adapted() -> None:
    cases = {
        "path, glob and days": ("Delete *.log files older than 30 days in /var/log/app",
            "find /var/log/app -name '*.log' -mtime +30 -delete",
            "Delete *.gz files older than 7 days in /srv/data",
            "find /srv/data -name '*.gz' -mtime +7 -delete"),
        "days become minutes": ("List files older than 30 days", "find . -mtime +30",
            "List files older than 12 hours", "find . -mmin +720"),
        "size": ("List files over 100 MB", "find . -size +100M", "List files over 512 KB",
            "find . -size +512k"),
        "size in bytes and in a comment": ("Compress logs over 100 MB",
            "# over 100 MB\nfind . -size +100000000c", "Compress logs over 2 GB",
            "# over 2 GB\nfind . -size +2000000000c"),
        "number, name and period": ("Show the last 100 lines of nginx since 1 hour ago",
            "journalctl -u nginx -n100 --since '1 hour ago'",
            "Show the last 50 lines of sshd since 20 minutes ago",
            "journalctl -u sshd -n50 --since '20 minutes ago'"),
        "names beside their nouns": ("Scale the deployment checkout in namespace shop to 6 replicas",
            "kubectl scale deployment/checkout -n shop --replicas 6",
            "Scale the deployment basket in namespace stage to 4 replicas",
            "kubectl scale deployment/basket -n stage --replicas 4"),
        "quoted in single quotes": ('List files with "ERROR" in /var/log', "grep -rl 'ERROR' /var/log",
            'List files with "can\'t $(x)" in /srv', "grep -rl 'can'\\''t $(x)' /srv"),
        "quoted in double quotes": ('List files with "ERROR" in /var/log', 'grep -rl "ERROR" /var/log',
            "List files with 'a \"b\" $(x)' in /srv", 'grep -rl "a \\"b\\" \\$(x)" /srv'),
        "quoted where it was bare": ('List files with "ERROR" in /var/log', "grep -rl ERROR /var/log",
            'List files with "a; rm -rf x" in /srv', "grep -rl 'a; rm -rf x' /srv"),
        "none is replaced twice": ("Copy /a to /b", "cp /a /b", "Copy /b to /c", "cp /b /c"),
        "parameters by their names": (*CLEAN_UP, "Delete *.tmp files older than two weeks in ~/cache",
            CLEAN_UP[1].replace("?directory to clean", "=$HOME/cache").replace("=30", "=14").replace("=*", "=*.tmp")),
        "a parameter that could break out": ("Show a pattern in a file",
            ': "${PATTERN:?what}"\ngrep "$PATTERN" x', 'Show "a`b`" in a file',
            "PATTERN='a`b`'\ngrep \"$PATTERN\" x"),
        "a required parameter": (*RESTART, "Restart the payments-api service",
            RESTART[1].replace("?its name", "=payments-api")),
    }  # fmt: skip
    wrong = {
        name: got
        for name, (example, script, statement, expected) in cases.items()
        if (got := adapt_script(script, example=example, statement=statement)) != expected
    }
    assert not wrong


def test_hostile_literal_stays_a_literal(subtests: pytest.Subtests) -> None:
    texts = ("$(reboot)", "'; reboot; '", "`reboot`", '\\"; reboot; \\"', "a\\")
    for text, quote in product(texts, ("", "'", '"')):
        with subtests.test(text=text, quote=quote):
            example, outer = 'List files with "ERROR" in /a', "'" if '"' in text else '"'
            statement = f"List files with {outer}{text}{outer} in /a"
            script = f"grep -rl {quote}ERROR{quote} /a\n"
            adapted = adapt_script(script, example=example, statement=statement)
            kinds = [node.type for node in walk(parse(adapted))]
            assert kinds.count("command") == 1
            assert "command_substitution" not in kinds
            assert not is_broken(adapted)


def test_nearest_fitting_example_is_adapted() -> None:
    written = generate("Delete files older than 3 days in /data", RESTART, CLEAN_UP)
    assert ': "${DIRECTORY:=/data}"' in written
    assert ': "${DAYS:=3}"' in written
    written = generate("Delete files older than 3 days in /data", RESTART)
    assert written.endswith("\n\nfind /data -type f -mtime +3 -delete\n")


def test_a_small_script_is_written_by_rule() -> None:
    cases = {
        "Delete *.log files older than 30 days in /var/log/app": (
            "find /var/log/app -type f -name '*.log' -mtime +30 -delete"
        ),
        "List files in /tmp accessed within the last hour": "find /tmp -type f -amin -60",
        "Find files larger than 100 MB in /home not modified for 90 days": "find /home -type f -mtime +90 -size +100M",
        'Find files with "backup" in the path under /srv': "find /srv -type f -path '*backup*'",
        "Count the .py files under /srv": "find /srv -type f -name '*.py' | wc -l",
        "Compress files in /a older than 7 days": "find /a -type f -mtime +7 -exec gzip {} +",
        "Archive *.csv files from /in into /out/a.tgz": (
            "find /in -type f -name '*.csv' -print0 | tar -czf /out/a.tgz --null -T -"
        ),
        "Copy all jpg files from /in to /out": "find /in -type f -name '*.jpg' -exec cp {} /out \\;",
        'Find files containing "pass word" under /etc ignoring case': (
            "find /etc -type f -exec grep -li -- 'pass word' {} +"
        ),
        "Delete empty directories under /data": "find /data -mindepth 1 -type d -empty -delete",
        "List all symbolic links in the current directory": "find . -type l",
        "Find *.c and *.h files not recursively in /a": (
            "find /a -maxdepth 1 -type f \\( -name '*.c' -o -name '*.h' \\)"
        ),
        "Change permissions of all *.sh files under ~/bin to 755": (
            "find ~/bin -type f -name '*.sh' -exec chmod 755 {} +"
        ),
        "Restart the payments-api service": "systemctl restart payments-api",
        "Check whether docker is running": "systemctl is-active docker",
        "Show the last 200 lines of the journal of unit sshd": "journalctl -u sshd -n 200 --no-pager",
        "Show the logs of nginx from the last 2 hours": "journalctl -u nginx --since '2 hours ago' --no-pager",
        "List pods in namespace payments that are not running": (
            "kubectl get pods -n payments --field-selector=status.phase!=Running"
        ),
        "Which process is listening on port 8443?": 'ss -ltnp "sport = :8443"',
        "Find the 10 largest files under /var": "find /var -type f -printf '%s %p\\n' | sort -rn | sed -n 1,10p",
        "Show free disk space": "df -h",
        "Kill process 4242": "kill 4242",
        'Replace "a/b" by "x&y" in /etc/app.conf': "sed -i s/'a\\/b'/'x\\&y'/g /etc/app.conf",
        "Create the directory /srv/new": "mkdir -p -- /srv/new",
    }
    wrong = {
        statement: got
        for statement, body in cases.items()
        if (got := generate(statement)) != f"#!/usr/bin/env bash\nset -euo pipefail\n\n{body}\n"
    }
    assert not wrong


def test_every_script_is_valid_bash() -> None:
    values = {"pattern": "a", "verb": "start", "path2": "/b"}
    for recipe in load_recipes():
        filled = recipe.script
        for slot in ("path", "name", "number", "quoted", "age", "size"):
            values.setdefault(slot, "x")
        for name, value in values.items():
            filled = filled.replace(f"{{{name}}}", value)
        assert not is_broken(f"{filled}\n"), recipe.script
    hostile = ("Delete files in /a; rm -rf /b", "Restart $(reboot)", "Show `x` in 'a'b' \"c")
    assert [text for text in hostile if is_broken(write_script(text) or "")] == []


def test_unknown_statement_is_refused(subtests: pytest.Subtests) -> None:
    statements = (
        "Summarise the weather in Paris", "", "Drop the bass on port 22", "asdf", "Do it again",
        "Wie viele Dateien liegen in diesem Verzeichnis?",
    )  # fmt: skip
    for statement, examples in product(statements, [(), (CLEAN_UP, RESTART)]):
        with subtests.test(statement, examples=len(examples)):
            answer = answer_generate(statement, *examples)
            assert set(answer) == {"refusal"}
            assert "does not know how" in str(answer["refusal"])
