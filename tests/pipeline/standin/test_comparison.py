"""Statement against description: what matches, and which differences are named."""

from __future__ import annotations

import pytest

from pipeline.standin.description.script_description import describe
from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.script_book import load_book

EMPTY = load_book(None)


def compare(task: str, statement: str, script: str) -> dict[str, object]:
    """The answer to a comparison of a statement with what a script does."""
    sections = (("STATEMENT", statement), ("FUNCTIONALITY", describe(script)))
    return answer_prompt(Prompt(task, sections), EMPTY)


@pytest.mark.parametrize(
    ("statement", "script"),
    [
        pytest.param(
            "Delete *.log files older than 30 days in /var/log",
            "find /var/log -name '*.log' -mtime +30 -delete",
            id="literals and verb",
        ),
        pytest.param(
            "List files in /a modified within the last 2 hours",
            "find /a -type f -mmin -120",
            id="another unit",
        ),
        pytest.param("Find files over 100 MB", "find . -size +100000000c", id="megabytes of 1000"),
        pytest.param(
            "Restart nginx, but only if its configuration is valid",
            "nginx -t && systemctl restart nginx",
            id="a condition",
        ),
        pytest.param(
            "Count the errors in app.log", "grep -c error app.log", id="counting without wc"
        ),
        pytest.param(
            "Cancel queries running for more than 15 minutes",
            "psql -c \"select 1 from t where age > interval '15 minutes'\"",
            id="an age inside a query",
        ),
        pytest.param("Show the current load", "uptime", id="nothing concrete, but the subject"),
        pytest.param(
            "List files in /a not modified in the last 45 days",
            "find /a -type f -mtime +45",
            id="what is not newer is older",
        ),
        pytest.param(
            "Delete files in /a that are 45 days or older",
            "find /a -type f ! -mtime -45 -delete",
            id="the day itself too",
        ),
    ],
)
def test_it_matches(statement: str, script: str) -> None:
    assert compare("similarity", statement, script)["verdict"] == "match"
    assert compare("difference", statement, script) == {
        "verdict": "match",
        "differences": [],
        "reason": "Nothing that the statement asks for is missing.",
    }


@pytest.mark.parametrize(
    ("statement", "script", "difference"),
    [
        pytest.param(
            "Delete files older than 30 days in /a",
            "find /a -mtime +20 -delete",
            "the statement says 30 days; the description says 20 days",
            id="another age",
        ),
        pytest.param(
            "Delete the files in /a",
            "find /b -type f -delete",
            "the statement says /a; the description says /b",
            id="another path",
        ),
        pytest.param(
            "Show the status of sshd",
            "systemctl status nginx",
            "the statement says sshd; the description says nginx",
            id="another service",
        ),
        pytest.param(
            "List the files in /a",
            "find /a -type f -delete",
            "the description says that it deletes; the statement does not ask for that",
            id="destruction unasked",
        ),
        pytest.param(
            "Compress the logs in /a",
            "ls /a",
            "the statement asks to compress; the description does not say that it does",
            id="another verb",
        ),
        pytest.param(
            "Find files accessed within the last hour",
            "find . -type f -mmin -60",
            "the statement asks for access time; the description does not say so",
            id="modification for access",
        ),
        pytest.param(
            'Find files with "x" in the path',
            "find . -type f -name '*x*'",
            "the statement asks for the path and not only the name; "
            "the description does not say so",
            id="name for path",
        ),
        pytest.param(
            "Find files older than 3 days",
            "find . -mtime -3",
            "the statement asks for what is older; the description does not say so",
            id="the other direction",
        ),
        pytest.param(
            "Files older than 45 days in /a should not be deleted",
            "find /a -type f -mtime +45 -delete",
            "the description says that it deletes; the statement does not ask for that",
            id="what is not to be done",
        ),
        pytest.param(
            "Delete files that have been in /a for more than 45 days",
            "find /a -type f -mtime -45 -delete",
            "the statement asks for what is older; the description does not say so",
            id="the other direction, in other words",
        ),
        pytest.param(
            "Delete files below 10 MB in /a",
            "find /a -type f -size +10M -delete",
            "the statement asks for what is smaller; the description does not say so",
            id="the other side of a size",
        ),
        pytest.param(
            "Show who is logged in",
            "df -h",
            "the statement is about logged; the description is not",
            id="another subject",
        ),
    ],
)
def test_it_names_the_difference(statement: str, script: str, difference: str) -> None:
    answer = compare("difference", statement, script)
    assert answer["verdict"] == "mismatch"
    assert difference in list(answer["differences"])  # type: ignore[call-overload]


def test_one_literal_of_many_is_a_difference_but_no_great_unlikeness() -> None:
    statement = "Delete *.log files older than 30 days and larger than 10 MB in /a"
    script = "find /a -name '*.log' -size +10M -mtime +20 -delete"
    assert compare("similarity", statement, script)["verdict"] == "match"
    assert compare("difference", statement, script)["verdict"] == "mismatch"


def test_a_comment_does_not_stand_in_for_what_the_script_does() -> None:
    script = "# Delete files older than 30 days in /a.\nfind /b -mtime +3 -print\n"
    differences = compare("difference", "Delete files older than 30 days in /a", script)
    assert differences["differences"] == [
        "the statement says 30 days; the description says 3 days",
        "the statement says /a; the description says /b",
    ]


@pytest.mark.parametrize("statement", ["", "?" * 5000, "delete " * 2000, "a." * 3000, "'\"`" * 900])
def test_hostile_statements_are_compared_in_time(statement: str) -> None:
    assert compare("difference", statement, "ls")["verdict"] in ("match", "mismatch")
