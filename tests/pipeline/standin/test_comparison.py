"""Tests for what matches and which differences are listed when a statement is compared with a description."""

from __future__ import annotations

import unicodedata

import pytest

from pipeline.standin.description.script_description import describe
from pipeline.standin.language.statement_comparison import list_differences
from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.script_book import load_book

EMPTY = load_book(None)


def compare(task: str, statement: str, script: str) -> dict[str, object]:
    """Return the demo model's comparison of a statement with a script's description."""
    sections = (("STATEMENT", statement), ("FUNCTIONALITY", describe(script)))
    return answer_prompt(Prompt(task, sections), EMPTY)


def test_it_matches(subtests: pytest.Subtests) -> None:
    cases = {
        "literals and verb": ("Delete *.log files older than 30 days in /var/log",
            "find /var/log -name '*.log' -mtime +30 -delete"),
        "another unit": ("List files in /a modified within the last 2 hours", "find /a -type f -mmin -120"),
        "megabytes of 1000": ("Find files over 100 MB", "find . -size +100000000c"),
        "a condition": ("Restart nginx, but only if its configuration is valid",
            "nginx -t && systemctl restart nginx"),
        "counting without wc": ("Count the errors in app.log", "grep -c error app.log"),
        "an age inside a query": ("Cancel queries running for more than 15 minutes",
            "psql -c \"select 1 from t where age > interval '15 minutes'\""),
        "nothing concrete, but the subject": ("Show the current load", "uptime"),
        "what is not newer is older": ("List files in /a not modified in the last 45 days",
            "find /a -type f -mtime +45"),
        "the day itself too": ("Delete files in /a that are 45 days or older",
            "find /a -type f ! -mtime -45 -delete"),
    }  # fmt: skip
    for name, (statement, script) in cases.items():
        with subtests.test(name):
            assert compare("similarity", statement, script)["verdict"] == "match"
            assert compare("difference", statement, script) == {
                "verdict": "match",
                "differences": [],
                "reason": "The description covers all requirements.",
            }


def test_it_names_the_difference(subtests: pytest.Subtests) -> None:
    cases = {
        "another age": ("Delete files older than 30 days in /a", "find /a -mtime +20 -delete",
            "the request says 30 days, but the description says 20 days"),
        "another path": ("Delete the files in /a", "find /b -type f -delete",
            "the request says /a, but the description says /b"),
        "another service": ("Show the status of sshd", "systemctl status nginx",
            "the request says sshd, but the description says nginx"),
        "destruction unasked": ("List the files in /a", "find /a -type f -delete",
            "the script deletes, but the request does not ask for that"),
        "another verb": ("Compress the logs in /a", "ls /a",
            "the request asks to compress, but the description does not say so"),
        "modification for access": ("Find files accessed within the last hour", "find . -type f -mmin -60",
            "the request asks for access time, but the description does not include it"),
        "name for path": ('Find files with "x" in the path', "find . -type f -name '*x*'",
            "the request asks for matching the full path, but the description does not include it"),
        "the other direction": ("Find files older than 3 days", "find . -mtime -3",
            "the request asks for a minimum age, but the description does not include it"),
        "what is not to be done": ("Files older than 45 days in /a should not be deleted",
            "find /a -type f -mtime +45 -delete",
            "the script deletes, but the request does not ask for that"),
        "the other direction, in other words": ("Delete files that have been in /a for more than 45 days",
            "find /a -type f -mtime -45 -delete",
            "the request asks for a minimum age, but the description does not include it"),
        "the other side of a size": ("Delete files below 10 MB in /a", "find /a -type f -size +10M -delete",
            "the request asks for a maximum size, but the description does not include it"),
        "another subject": ("Show who is logged in", "df -h",
            "the request is about logged, but the description is not"),
    }  # fmt: skip
    for name, (statement, script, difference) in cases.items():
        with subtests.test(name):
            answer = compare("difference", statement, script)
            assert answer["verdict"] == "mismatch"
            assert difference in list(answer["differences"])


def test_one_literal_of_many_is_a_difference_but_no_great_unlikeness() -> None:
    statement = "Delete *.log files older than 30 days and larger than 10 MB in /a"
    script = "find /a -name '*.log' -size +10M -mtime +20 -delete"
    assert compare("similarity", statement, script)["verdict"] == "match"
    assert compare("difference", statement, script)["verdict"] == "mismatch"


def test_comments_are_ignored_and_words_compared_whole() -> None:
    script = "# Delete files older than 30 days in /a.\nfind /b -mtime +3 -print\n"
    differences = compare("difference", "Delete files older than 30 days in /a", script)
    assert differences["differences"] == [
        "the request says 30 days, but the description says 3 days",
        "the request says /a, but the description says /b",
    ]
    for form in ("NFC", "NFD"):
        statement = unicodedata.normalize(form, "Prüfe, ob die Konfiguration gültig ist")
        (said,) = list_differences(statement, "It lists files.")
        words = {unicodedata.normalize(form, word) for word in ("prüfe", "gültig")}
        assert words <= set(said.replace(",", " ").split())


def test_hostile_statements_are_compared_in_time(subtests: pytest.Subtests) -> None:
    cases = ("", "?" * 5000, "delete " * 2000, "a." * 3000, "'\"`" * 900)
    for statement in cases:
        with subtests.test(statement[:20]):
            assert compare("difference", statement, "ls")["verdict"] in ("match", "mismatch")
