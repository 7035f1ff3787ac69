"""What the findings say, and at which place, in the words that people read."""

from __future__ import annotations

import pytest

from catalog.analysis import Finding, Level, analyse_static


def find(script: str, code: str) -> list[Finding]:
    return [found for found in analyse_static(script).problems if found.code == code]


@pytest.mark.parametrize(
    ("script", "code", "level", "message"),
    [
        pytest.param(
            'rm -rf "$DIR"/*',
            "unsafe_variable",
            Level.ERROR,
            'Deletes every file below "$DIR"/*; if DIR is empty, this is the whole system (/).',
            id="an empty variable before a slash",
        ),
        pytest.param(
            'BASE=/srv/app\nrm -rf "$BASE/$NAME"',
            "unsafe_variable",
            Level.WARNING,
            "Deletes $BASE/$NAME; if NAME is empty, this is everything below /srv/app/.",
            id="an empty last part",
        ),
        pytest.param(
            "DIR=${1:?}\nrm -r $DIR",
            "unsafe_variable",
            Level.WARNING,
            "$DIR is not quoted: with a blank or * in its value other files are deleted.",
            id="an unquoted variable",
        ),
        pytest.param(
            "rm -rf /",
            "destructive",
            Level.ERROR,
            "Deletes everything in the whole system (/) without asking.",
            id="the root folder",
        ),
        pytest.param(
            "rm -r a b c d",
            "destructive",
            Level.WARNING,
            "Deletes a, b and 2 more and everything below.",
            id="many operands",
        ),
        pytest.param(
            "find . -name x | xargs rm",
            "destructive",
            Level.WARNING,
            "Deletes every file that xargs passes on.",
            id="operands from xargs",
        ),
        pytest.param(
            't=$(mktemp -d)\nrm -rf "$t"',
            "destructive",
            Level.INFO,
            "Deletes $t and everything below without asking.",
            id="its own temporary folder",
        ),
        pytest.param(
            "psql -c 'DELETE FROM users'",
            "destructive",
            Level.ERROR,
            "Deletes data in the database: DELETE FROM users without a condition.",
            id="SQL without a condition",
        ),
        pytest.param(
            "systemctl mask nginx",
            "mutating",
            Level.WARNING,
            "Keeps nginx from starting again.",
            id="a masked service",
        ),
        pytest.param(
            "sudo -u postgres pg_dump app",
            "privileged",
            Level.INFO,
            "Runs with the rights of postgres (sudo).",
            id="sudo as somebody",
        ),
        pytest.param(
            "ssh -p 22 ops@web1.example uptime",
            "network",
            Level.INFO,
            "Connects to web1.example (ssh).",
            id="the host of ssh",
        ),
        pytest.param(
            "curl https://user:pw@example.com:8080/x?y=1",
            "network",
            Level.INFO,
            "Connects to example.com (curl).",
            id="the host of an address, without the password",
        ),
        pytest.param(
            "curl https://x.example/i.sh | bash",
            "remote_code",
            Level.ERROR,
            "Runs what curl gets from another machine, unread (bash).",
            id="remote code",
        ),
        pytest.param(
            "while :; do date; done",
            "unbounded_loop",
            Level.WARNING,
            "Repeats for ever: nothing in this loop ends it.",
            id="an endless loop",
        ),
    ],
)
def test_a_finding_says_the_effect_in_plain_words(
    script: str, code: str, level: Level, message: str
) -> None:
    found = find(script, code)
    assert [(one.level, one.message) for one in found] == [(level, message)]


@pytest.mark.parametrize(
    ("script", "code", "place"),
    [
        pytest.param("ls; rm -r x", "destructive", (1, 5, 1, 12), id="in the middle of a line"),
        pytest.param("echo 'é日'; rm -r x", "destructive", (1, 12, 1, 19), id="after wide letters"),
        pytest.param(
            "bash -c 'ls\n  rm -r x'", "destructive", (2, 3, 2, 10), id="in a quoted text"
        ),
        pytest.param(
            "ssh host \"bash -c 'rm -r x'\"", "destructive", (1, 20, 1, 27), id="two texts deep"
        ),
        pytest.param(
            'ssh host "echo \\"hi\\"\nrm -r x"', "destructive", (2, 1, 2, 1), id="an escaped text"
        ),
        pytest.param(
            "psql <<'SQL'\nSELECT 1;\n  DROP TABLE x;\nSQL",
            "destructive",
            (3, 3, 3, 15),
            id="in SQL of a heredoc",
        ),
        pytest.param("a |\n  b |\n  rm -r x", "destructive", (3, 3, 3, 10), id="in a pipeline"),
        pytest.param("ls\r\nrm -r x\r\n", "destructive", (2, 1, 2, 8), id="Windows line ends"),
    ],
)
def test_a_finding_is_at_the_place_of_its_command(
    script: str, code: str, place: tuple[int, int, int, int]
) -> None:
    found = find(script, code)
    assert [(one.line, one.column, one.end_line, one.end_column) for one in found] == [place]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("mysql -phunter22 -e 'SELECT 1'", id="on a command line"),
        pytest.param("DB_PASSWORD=hunter22", id="in a variable"),
        pytest.param(
            "curl -H 'Authorization: Bearer hunter22hunter22' https://x", id="in a header"
        ),
        pytest.param("curl https://bob:hunter22@example.com", id="in an address"),
    ],
)
def test_no_message_repeats_a_secret(script: str) -> None:
    report = analyse_static(script)
    assert "secrets" in {found.code for found in report.problems}
    assert all("hunter22" not in found.message for found in report.findings)


def test_a_message_shows_no_control_characters_and_no_long_text() -> None:
    report = analyse_static("rm -r '" + "a\x1b[31m\u202e" * 100 + "'")
    assert all(found.message.isprintable() for found in report.findings)
    assert all(len(found.message) < 300 for found in report.findings)
