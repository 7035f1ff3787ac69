"""Scripts made to break their reader: no crash, no recursion error, bounded work."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.analysis import (
    SideEffect,
    analyse_static,
    dangerous_values,
    find_hidden_characters,
    find_secrets,
)

BOUND = (
    20.0  # seconds; each takes far less on an idle machine, and for ever when something is wrong
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        pytest.param("(" * 100_000, id="open parentheses"),
        pytest.param(
            "(" * 50_000 + "ls" + ")" * 50_000, id="deep parentheses", marks=pytest.mark.slow
        ),
        pytest.param("$(" * 50_000 + "ls" + ")" * 50_000, id="deep substitutions"),
        pytest.param('"$(' * 50_000, id="open strings"),
        pytest.param("`" * 100_001, id="backquotes", marks=pytest.mark.slow),
        pytest.param("${a:-" * 50_000, id="open expansions"),
        pytest.param("if true; then " * 3_000, id="open ifs"),
        pytest.param("while true; do " * 1_000, id="open loops"),
        pytest.param("<" * 300_000, id="redirections", marks=pytest.mark.slow),
        pytest.param("cat <<A <<B\n" * 1_000, id="heredocs"),
        pytest.param("a|" * 2_000 + "b", id="a long pipeline"),
        pytest.param("sudo " * 50_000 + "rm x", id="wrappers"),
        pytest.param("bash -c 'x; " * 1_000, id="shells in shells", marks=pytest.mark.slow),
        pytest.param('eval "ls; eval ls";' * 600, id="many texts"),
        pytest.param('echo "rm -rf /x" | sh\n' * 500, id="many pipes into shells"),
        pytest.param(
            "echo '" + "a b " * 249_000, id="one megabyte in an open string", marks=pytest.mark.slow
        ),
        pytest.param(
            "echo hello world $x\n" * 50_000, id="one megabyte of lines", marks=pytest.mark.slow
        ),
        pytest.param("sed '" + "[" * 100_000 + "'", id="sed brackets"),
        pytest.param("awk '" + '/"' * 100_000 + "'", id="awk patterns"),
        pytest.param("psql -c '" + "/*" * 100_000 + "'", id="SQL comments"),
        pytest.param("psql <<'E'\n" + "\n" * 200_000 + "E\n", id="SQL line ends"),
        pytest.param("eyJ-" * 100_000, id="beginnings of tokens"),
        pytest.param("A_TOKEN='" + "<" * 200_000 + "'", id="beginnings of placeholders"),
        pytest.param(
            "".join(f"a{n + 1}=$a{n}$a{n}\n" for n in range(2_000)) + "rm -rf $a2000/",
            id="variables that double",
        ),
        pytest.param("a=$b\nb=$a\nrm -rf $a/*", id="variables in a circle"),
        pytest.param("\u202e" * 30_000, id="hidden characters"),
        pytest.param("echo ${x#`ls`}\n" * 5_000, id="hidden substitutions"),
        pytest.param(
            "echo " + "${x#`" * 5_000,
            id="hidden substitutions in one another",
            marks=pytest.mark.slow,
        ),
        pytest.param("echo `" + "\\`" * 50_000, id="escaped backquotes"),
        pytest.param("x='" + "a[$(" * 50_000 + "'", id="subscripts", marks=pytest.mark.slow),
        pytest.param(
            "a=(" + "w " * 20_000 + ")\n" + "$a\n" * 500, id="a large array", marks=pytest.mark.slow
        ),
        pytest.param(
            "".join(f'f{n}() {{ f{n + 1} "$@"; f{n + 1} "$@"; }}\n' for n in range(30)) + "f0 rm a",
            id="functions that double",
        ),
        pytest.param(
            "cd $x\n" * 2_000 + "rm -rf *\n" * 2_000, id="many folders", marks=pytest.mark.slow
        ),
        pytest.param(
            "x=$y\n" * 2_000 + "rm -rf $x/\n" * 1_000, id="many values", marks=pytest.mark.slow
        ),
    ],
)
def test_the_work_is_bounded(script: str) -> None:
    started = time.monotonic()
    report = analyse_static(script)
    assert time.monotonic() - started < BOUND
    assert len(report.findings) < 1_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        pytest.param("$(" * 1_000 + "ls" + ")" * 1_000, id="too deep"),
        pytest.param("ls\n" * 80_000, id="too long"),
        pytest.param("env " * 50 + "ls", id="too many wrappers"),
        pytest.param("ls )", id="not Bash"),
        pytest.param("cat <<\u00e9\nls\n\u00e9\n", id="a heredoc with a foreign end"),
    ],
)
def test_what_is_not_read_to_its_end_is_no_pass(script: str) -> None:
    report = analyse_static(script)
    assert report.unscored
    assert report.side_effect is SideEffect.UNKNOWN


def test_letters_of_other_scripts_do_not_crash_the_parser() -> None:
    letters = "\u6c7d\U0004e765\u65e5\u00e9\U00100917\u3322"
    for start in range(200):
        analyse_static(
            f"{letters}|{letters[start % 6 :]}{{{letters}}}<n{chr(0x10000 + 977 * start)}$"
        )


BASH = st.lists(
    st.sampled_from(
        [
            "rm",
            "-rf",
            "/",
            "$X",
            "${X:?}",
            '"$X"',
            "'",
            '"',
            "`",
            "$(",
            ")",
            "(",
            "{",
            "}",
            ";",
            "|",
            "||",
            "&&",
            "&",
            ">",
            ">>",
            "<",
            "<<E",
            "<<<",
            "if",
            "then",
            "fi",
            "while",
            "do",
            "done",
            "case",
            "esac",
            "in",
            "function",
            "f()",
            "=",
            "A=b",
            "[[",
            "]]",
            "((",
            "))",
            "!",
            "#",
            "\\",
            "sudo",
            "bash",
            "-c",
            "find",
            "-exec",
            "+",
            "xargs",
            "eval",
            "-delete",
            "E",
            "é",
            "\u202e",
            "\t",
            "1",
            "{a,b}",
            "$'\\x72'",
        ]
        + ["\n", "\r\n", "\nE\n"]
    ),
    max_size=40,
).map(" ".join)


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
