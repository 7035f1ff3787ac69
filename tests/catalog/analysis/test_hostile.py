"""Tests that hostile scripts cause no crash, no recursion error and no unbounded work."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.analysis import (
    Risk,
    SideEffect,
    analyse_static,
    dangerous_values,
    find_hidden_characters,
    find_secrets,
)

BOUND = 20.0  # seconds; unless the work is unbounded, each script takes much less


HOSTILE = {
    "open parentheses": "(" * 100_000,
    "deep substitutions": "$(" * 50_000 + "ls" + ")" * 50_000,
    "open expansions": "${a:-" * 50_000,
    "open ifs": "if true; then " * 3_000,
    "open loops": "while true; do " * 1_000,
    "heredocs": "cat <<A <<B\n" * 1_000,
    "a long pipeline": "a|" * 1_500 + "b",
    "shells in shells": "bash -c 'x; " * 1_000,
    "many texts": 'eval "ls; eval ls";' * 600,
    "many pipes into shells": 'echo "rm -rf /x" | sh\n' * 500,
    "one megabyte in an open string": "echo '" + "a b " * 249_000,
    "sed brackets": "sed '" + "[" * 100_000 + "'",
    "awk patterns": "awk '" + '/"' * 100_000 + "'",
    "SQL comments": "psql -c '" + "/*" * 100_000 + "'",
    "SQL line ends": "psql <<'E'\n" + "\n" * 200_000 + "E\n",
    "beginnings of tokens": "eyJ-" * 100_000,
    "beginnings of placeholders": "A_TOKEN='" + "<" * 200_000 + "'",
    "variables that double": "".join(f"a{n + 1}=$a{n}$a{n}\n" for n in range(2_000))
    + "rm -rf $a2000/",
    "variables in a circle": "a=$b\nb=$a\nrm -rf $a/*",
    "hidden characters": "\u202e" * 30_000,
}
HEAVY = {
    "deep parentheses": "(" * 50_000 + "ls" + ")" * 50_000,
    "open strings": '"$(' * 50_000,
    "backquotes": "`" * 100_001,
    "redirections": "<" * 300_000,
    "wrappers": "sudo " * 50_000 + "rm x",
    "one megabyte of lines": "echo hello world $x\n" * 50_000,
    "hidden substitutions": "echo ${x#`ls`}\n" * 5_000,
    "hidden substitutions in one another": "echo " + "${x#`" * 5_000,
    "escaped backquotes": "echo `" + "\\`" * 50_000,
    "subscripts": "x='" + "a[$(" * 50_000 + "'",
    "a large array": "a=(" + "w " * 20_000 + ")\n" + "$a\n" * 500,
    "functions that double": "".join(f'f{n}() {{ f{n + 1} "$@"; f{n + 1} "$@"; }}\n' for n in range(30)) + "f0 rm a",
    "many folders": "cd $x\n" * 2_000 + "rm -rf *\n" * 2_000,
    "many values": "x=$y\n" * 2_000 + "rm -rf $x/\n" * 1_000,
}  # fmt: skip


def check_bounds(scripts: dict[str, str], subtests: pytest.Subtests) -> None:
    for name, script in scripts.items():
        with subtests.test(name):
            started = time.process_time()
            report = analyse_static(script)
            assert time.process_time() - started < BOUND
            assert len(report.findings) < 1_000


def test_hostile_script_is_read_in_bounded_time(subtests: pytest.Subtests) -> None:
    check_bounds(HOSTILE, subtests)


@pytest.mark.slow
def test_heavy_hostile_script_is_read_in_bounded_time(subtests: pytest.Subtests) -> None:
    """Larger scripts reach limits that smaller scripts do not. Each takes at most two seconds."""
    check_bounds(HEAVY, subtests)


UNREAD = {
    "too deep": "$(" * 1_000 + "ls" + ")" * 1_000,
    "too long": "ls\n" * 80_000,
    "too many wrappers": "env " * 50 + "ls",
    "not Bash": "ls )",
    "a heredoc with a foreign end": "cat <<\u00e9\nls\n\u00e9\n",
}


def test_text_not_read_to_its_end_makes_the_risk_high(subtests: pytest.Subtests) -> None:
    for name, script in UNREAD.items():
        with subtests.test(name):
            report = analyse_static(script)
            assert report.risk is Risk.HIGH
            assert report.side_effect is SideEffect.UNKNOWN


def test_letters_of_other_scripts_do_not_crash_the_parser() -> None:
    letters = "\u6c7d\U0004e765\u65e5\u00e9\U00100917\u3322"
    for start in range(200):
        analyse_static(
            f"{letters}|{letters[start % 6 :]}{{{letters}}}<n{chr(0x10000 + 977 * start)}$"
        )


WORDS = (
    'rm -rf / $X ${X:?} "$X" \' " ` $( ) ( { } ; | || && & > >> < <<E <<< if then fi while do done case '
    "esac in function f() = A=b [[ ]] (( )) ! # \\ sudo bash -c find -exec + xargs eval -delete E é "
    "\u202e 1 {a,b} $'\\x72'"
)
BASH = st.lists(st.sampled_from([*WORDS.split(" "), "\t", "\n", "\r\n", "\nE\n"]), max_size=40).map(
    " ".join
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(BASH)
def test_no_mixture_of_bash_breaks_the_analysis(script: str) -> None:
    report = analyse_static(script)
    for found in report.findings:
        assert found.line is None or 1 <= found.line <= script.count("\n") + 1
    dangerous_values(script, {})


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200))
def test_no_text_breaks_the_analysis(script: str) -> None:
    analyse_static(script)
    for character in find_hidden_characters(script):
        assert script[character.offset] == character.character
    for secret in find_secrets(script):
        assert 0 <= secret.start < secret.end <= len(script)
