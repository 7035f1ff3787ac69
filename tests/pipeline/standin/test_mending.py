"""Tests for rule-based explanation, refinement and repair."""

from __future__ import annotations

import subprocess

import pytest

from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.script_book import load_book

EMPTY = load_book(None)


def ask(task: str, **texts: str) -> dict[str, object]:
    """Return a rule-based answer."""
    return answer_prompt(Prompt(task, tuple(texts.items())), EMPTY)


def test_an_explanation_is_short_and_holds_against_the_script(subtests: pytest.Subtests) -> None:
    cases = {
        "each difference is a point": ("find /a -mtime +3",
            "- the request says /b, but the description says /a\n- it prints nothing",
            ["The request says /b, but the script says /a.", "It prints nothing."]),
        "what the script has is no error": ("find /a -mtime +3",
            "the request says /a, but the description does not mention it", []),
        "three points at most": ("ls", "1. a\n2. b\n3. c\n4. d", ["A.", "B.", "C."]),
        "differences of its own where none are given": ("ls /b", "(nothing)",
            ["The request says /a, but the script says /b."]),
    }  # fmt: skip
    for name, (script, differences, points) in cases.items():
        with subtests.test(name):
            answer = ask(
                "explain",
                STATEMENT="List /a",
                SCRIPT=script,
                FUNCTIONALITY="Lists /b.",
                DIFFERENCES=differences,
            )
            assert answer == {"verdict": "error" if points else "no_error", "points": points}


def test_a_refinement_does_what_the_feedback_asks() -> None:
    cases = {
        "an option": ("find . -name '*x*'", "x", "Use -path instead of -name.", "find . -path '*x*'"),
        "an age": ("find . -mtime +30", "x", "30 days should be 12 hours", "find . -mmin +720"),
        "a number": ("head -n 5 a", "x", "Replace 5 with 10.", "head -n 10 a"),
        "a text, quoted for its place": ("grep 'a' f", "x", 'Change "a" to "it\'s"', "grep 'it'\\''s' f"),
        "a point of its own": ("ls /a", "x", "- The request says /b, but the script says /a.", "ls /b"),
        "an aspect": ("find . -type f -name 'x'", 'Find files with "x" in the path',
            "The request asks for matching the full path, but the script does not include it.",
            "find . -type f -path '*x*'"),
        "another aspect": ("find . -mmin -60", "Find files accessed within the last hour",
            "It looks at the wrong time: it should be access time.", "find . -amin -60"),
        "a literal that the statement has": ("ls /a", "List /b", "Wrong directory.", "ls /b"),
        "nothing that it can do": ("ls /a", "List /a", "I do not like it.", "ls /a"),
        "nothing that breaks it": ("echo 'a' b", "x", "Use \" instead of '.", "echo 'a' b"),
    }  # fmt: skip
    wrong = {
        name: got
        for name, (script, statement, feedback, expected) in cases.items()
        if (got := ask("refine", STATEMENT=statement, SCRIPT=script, FEEDBACK=feedback))
        != {"script": expected}
    }
    assert not wrong


def test_what_was_left_open_is_closed(subtests: pytest.Subtests) -> None:
    cases = {
        "quote": ('if true; then\n  echo "hi\nfi\n', 'if true; then\n  echo "hi"\nfi\n'),
        "single quote": ("echo 'it\n", "echo 'it'\n"),
        "fi and done": ('for f in *; do\n  if [ -f "$f" ]; then\n    ls "$f"\n',
            'for f in *; do\n  if [ -f "$f" ]; then\n    ls "$f"\nfi\ndone\n'),
        "brace": ("f() {\n  ls\n", "f() {\n  ls\n}\n"),
        "esac": ("case x in\n  x) ls ;;\n", "case x in\n  x) ls ;;\nesac\n"),
    }  # fmt: skip
    for name, (script, expected) in cases.items():
        with subtests.test(name):
            assert ask("repair", STATEMENT="x", SCRIPT=script, CHECKER="") == {"script": expected}
            done = subprocess.run(
                ["bash", "-n"], input=expected.encode(), capture_output=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, b"")


def test_what_cannot_be_closed_is_written_anew_or_left() -> None:
    anew = ask("repair", STATEMENT="Show free disk space", SCRIPT="if x; then; fi", CHECKER="")
    assert str(anew["script"]).endswith("\ndf -h\n")
    left = ask("repair", STATEMENT="?", SCRIPT="if x; then; fi", CHECKER="")
    assert left == {"script": "if x; then; fi"}
