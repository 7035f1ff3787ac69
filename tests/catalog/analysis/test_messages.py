"""Tests for the text and position of findings as users see them."""

from __future__ import annotations

import pytest

from catalog.analysis import Finding, Level, analyse_static


def find(script: str, code: str) -> list[Finding]:
    return [found for found in analyse_static(script).problems if found.code == code]


MESSAGES = [
    ('rm -rf "$DIR"/*', "unsafe_variable", Level.ERROR,
     'Deletes every file below "$DIR"/*. If DIR is empty, it deletes the whole system (/).'),
    ('BASE=/srv/app\nrm -rf "$BASE/$NAME"', "unsafe_variable", Level.WARNING,
     "Deletes $BASE/$NAME. If NAME is empty, it deletes everything below /srv/app/."),
    ("DIR=${1:?}\nrm -r $DIR", "unsafe_variable", Level.WARNING,
     "$DIR is not quoted. Spaces or globs in its value would delete other files."),
    ("rm -rf /", "destructive", Level.ERROR, "Deletes everything in the whole system (/) without confirmation."),
    ("rm -r a b c d", "destructive", Level.WARNING, "Recursively deletes a, b and 2 more."),
    ("find . -name x | xargs rm", "destructive", Level.WARNING, "Deletes everything that xargs passes on."),
    ('t=$(mktemp -d)\nrm -rf "$t"', "destructive", Level.INFO, "Recursively deletes $t without confirmation."),
    ("psql -c 'DELETE FROM users'", "destructive", Level.ERROR,
     "Deletes data in the database: DELETE FROM users without a condition."),
    ("systemctl mask nginx", "mutating", Level.WARNING, "Prevents nginx from starting again."),
    ("sudo -u postgres pg_dump app", "privileged", Level.INFO, "Runs as postgres (sudo)."),
    ("ssh -p 22 ops@web1.example uptime", "network", Level.INFO, "Connects to web1.example (ssh)."),
    ("curl https://user:pw@example.com:8080/x?y=1", "network", Level.INFO, "Connects to example.com (curl)."),
    ("curl https://x.example/i.sh | bash", "remote_code", Level.ERROR,
     "Runs what curl gets from another machine without review (bash)."),
    ("while :; do date; done", "unbounded_loop", Level.WARNING, "This loop never ends."),
]  # fmt: skip


def test_a_finding_says_the_effect_in_plain_words(subtests: pytest.Subtests) -> None:
    for script, code, level, message in MESSAGES:
        with subtests.test(script):
            found = find(script, code)
            assert [(one.level, one.message) for one in found] == [(level, message)]


PLACES = [
    ("ls; rm -r x", "destructive", (1, 5, 1, 12)),
    ("echo 'é日'; rm -r x", "destructive", (1, 12, 1, 19)),
    ("bash -c 'ls\n  rm -r x'", "destructive", (2, 3, 2, 10)),
    ("ssh host \"bash -c 'rm -r x'\"", "destructive", (1, 20, 1, 27)),
    ('ssh host "echo \\"hi\\"\nrm -r x"', "destructive", (2, 1, 2, 1)),
    ("psql <<'SQL'\nSELECT 1;\n  DROP TABLE x;\nSQL", "destructive", (3, 3, 3, 15)),
    ("a |\n  b |\n  rm -r x", "destructive", (3, 3, 3, 10)),
    ("ls\r\nrm -r x\r\n", "destructive", (2, 1, 2, 8)),
]


def test_a_finding_is_at_the_place_of_its_command(subtests: pytest.Subtests) -> None:
    for script, code, place in PLACES:
        with subtests.test(script):
            found = find(script, code)
            assert [(one.line, one.column, one.end_line, one.end_column) for one in found] == [
                place
            ]


SECRET_PLACES = [
    "mysql -phunter22 -e 'SELECT 1'",
    "DB_PASSWORD=hunter22",
    "curl -H 'Authorization: Bearer hunter22hunter22' https://x",
    "curl https://bob:hunter22@example.com",
]


def test_no_message_repeats_a_secret(subtests: pytest.Subtests) -> None:
    for script in SECRET_PLACES:
        with subtests.test(script):
            report = analyse_static(script)
            assert "secrets" in {found.code for found in report.problems}
            assert all("hunter22" not in found.message for found in report.findings)


def test_a_message_shows_no_control_characters_and_no_long_text() -> None:
    report = analyse_static("rm -r '" + "a\x1b[31m\u202e" * 100 + "'")
    assert all(found.message.isprintable() for found in report.findings)
    assert all(len(found.message) < 300 for found in report.findings)
