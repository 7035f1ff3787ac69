"""Explaining, refining and repairing by rule."""

from __future__ import annotations

import subprocess

import pytest

from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import Prompt
from pipeline.standin.script_book import load_book

EMPTY = load_book(None)


def ask(task: str, **texts: str) -> dict[str, object]:
    """An answer by rule."""
    return answer_prompt(Prompt(task, tuple(texts.items())), EMPTY)


@pytest.mark.parametrize(
    ("script", "differences", "points"),
    [
        pytest.param(
            "find /a -mtime +3",
            "- the statement says /b; the description says /a\n- it prints nothing",
            ["The statement says /b; the script says /a.", "It prints nothing."],
            id="each difference is a point",
        ),
        pytest.param(
            "find /a -mtime +3",
            "the statement says /a; the description does not mention it",
            [],
            id="what the script has is no error",
        ),
        pytest.param("ls", "1. a\n2. b\n3. c\n4. d", ["A.", "B.", "C."], id="three points at most"),
        pytest.param(
            "ls /b",
            "(nothing)",
            ["The statement says /a; the script says /b."],
            id="differences of its own where none are given",
        ),
    ],
)
def test_an_explanation_is_short_and_holds_against_the_script(
    script: str, differences: str, points: list[str]
) -> None:
    answer = ask(
        "explain",
        STATEMENT="List /a",
        SCRIPT=script,
        FUNCTIONALITY="Lists /b.",
        DIFFERENCES=differences,
    )
    assert answer == {"verdict": "error" if points else "no_error", "points": points}


@pytest.mark.parametrize(
    ("script", "statement", "feedback", "expected"),
    [
        pytest.param(
            "find . -name '*x*'",
            "x",
            "Use -path instead of -name.",
            "find . -path '*x*'",
            id="an option",
        ),
        pytest.param(
            "find . -mtime +30", "x", "30 days should be 12 hours", "find . -mmin +720", id="an age"
        ),
        pytest.param("head -n 5 a", "x", "Replace 5 with 10.", "head -n 10 a", id="a number"),
        pytest.param(
            "grep 'a' f",
            "x",
            'Change "a" to "it\'s"',
            "grep 'it'\\''s' f",
            id="a text, quoted for its place",
        ),
        pytest.param(
            "ls /a",
            "x",
            "- The statement says /b; the script says /a.",
            "ls /b",
            id="a point of its own",
        ),
        pytest.param(
            "find . -type f -name 'x'",
            'Find files with "x" in the path',
            "The statement asks for the path and not only the name; the script does not say so.",
            "find . -type f -path '*x*'",
            id="an aspect",
        ),
        pytest.param(
            "find . -mmin -60",
            "Find files accessed within the last hour",
            "It looks at the wrong time: it should be access time.",
            "find . -amin -60",
            id="another aspect",
        ),
        pytest.param(
            "ls /a", "List /b", "Wrong directory.", "ls /b", id="a literal that the statement has"
        ),
        pytest.param("ls /a", "List /a", "I do not like it.", "ls /a", id="nothing that it can do"),
        pytest.param(
            "echo 'a' b", "x", "Use \" instead of '.", "echo 'a' b", id="nothing that breaks it"
        ),
    ],
)
def test_a_refinement_does_what_the_feedback_asks(
    script: str, statement: str, feedback: str, expected: str
) -> None:
    assert ask("refine", STATEMENT=statement, SCRIPT=script, FEEDBACK=feedback) == {
        "script": expected
    }


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(
            'if true; then\n  echo "hi\nfi\n', 'if true; then\n  echo "hi"\nfi\n', id="quote"
        ),
        pytest.param("echo 'it\n", "echo 'it'\n", id="single quote"),
        pytest.param(
            'for f in *; do\n  if [ -f "$f" ]; then\n    ls "$f"\n',
            'for f in *; do\n  if [ -f "$f" ]; then\n    ls "$f"\nfi\ndone\n',
            id="fi and done",
        ),
        pytest.param("f() {\n  ls\n", "f() {\n  ls\n}\n", id="brace"),
        pytest.param("case x in\n  x) ls ;;\n", "case x in\n  x) ls ;;\nesac\n", id="esac"),
    ],
)
def test_what_was_left_open_is_closed(script: str, expected: str) -> None:
    assert ask("repair", STATEMENT="x", SCRIPT=script, CHECKER="") == {"script": expected}
    done = subprocess.run(["bash", "-n"], input=expected.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_cannot_be_closed_is_written_anew_or_left() -> None:
    anew = ask("repair", STATEMENT="Show free disk space", SCRIPT="if x; then; fi", CHECKER="")
    assert str(anew["script"]).endswith("\ndf -h\n")
    left = ask("repair", STATEMENT="?", SCRIPT="if x; then; fi", CHECKER="")
    assert left == {"script": "if x; then; fi"}
