"""Tests for finding a script's parameters and filling in their values."""

from __future__ import annotations

import re

import hypothesis
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from catalog.analysis import (
    Outcome,
    Parameter,
    UnfillableScript,
    UnreadableScript,
    check_syntax,
    dangerous_values,
    fill,
    find_parameters,
    read_values,
    suggest_parameters,
)
from catalog.analysis.filling import quote
from catalog.analysis.parameters import ParameterType, guess_type
from catalog.analysis.shell.program import read_program
from tests.catalog.analysis.case_files import read_cases


def show(parameter: Parameter) -> str:
    """Format the parameter as in tests/cases/parameters.txt."""
    default = "" if parameter.default is None else f"={parameter.default}"
    position = f"@{parameter.position}" if parameter.position else ""
    choices = f"{{{'|'.join(parameter.choices)}}}" if parameter.choices else ""
    return f"{parameter.name}{'!' * parameter.required}{default}{position}{choices}"


@pytest.mark.parametrize("section", ["parameters", "tests of values", "choices"])
def test_script_has_the_parameters_of_the_table(section: str) -> None:
    rows = read_cases("parameters.txt")[section]
    found = [(", ".join(map(show, find_parameters(script))), script) for _, script in rows]
    assert found == rows


def test_a_parameter_carries_its_message_and_line() -> None:
    (parameter,) = find_parameters('#!/bin/bash\n: "${DIR:?the folder to clean}"\n')
    assert (parameter.description, parameter.line) == ("the folder to clean", 2)
    assert parameter.type is ParameterType.PATH


TYPES = [
    ("MAX_COUNT", None, "number"),
    ("LOG_FILE", None, "path"),
    ("FILE_COUNT", None, "number"),
    ("WHERE", "/srv", "path"),
    ("WHERE", "./x", "path"),
    ("LEVEL_NAME", "3", "number"),
    ("SIZE", "100M", "text"),
    ("FILE", "report.txt", "path"),
    ("NAME", None, "text"),
]


def test_the_type_is_guessed_from_default_and_name() -> None:
    found = [(name, default, guess_type(name, default)) for name, default, _type in TYPES]
    assert found == TYPES


HEADER = "#!/usr/bin/env bash\n# Cleans a folder.\n\n# Safe to repeat.\nset -eu\n"
ASKS = ': "${DIR:?which}"\n: "${DAYS:=30}"\necho "$DIR" "$DAYS"\n'


def test_values_stand_after_the_header_and_nothing_else_changes() -> None:
    filled = fill(HEADER + ASKS, {"DIR": "/srv/a b", "DAYS": "7"})
    lines = HEADER.splitlines(keepends=True)
    assert filled == "".join([*lines[:4], "DIR='/srv/a b'\nDAYS='7'\n", lines[4], ASKS])


HEADERS = {
    "echo ${A:?}": "A='x'\necho ${A:?}",
    "#!/bin/sh\n\necho ${A:?}": "#!/bin/sh\nA='x'\n\necho ${A:?}",
    "# only\necho ${A:?}\r\n": "# only\nA='x'\necho ${A:?}\r\n",
    "# one\n\t # two\necho ${A:?}": "# one\n\t # two\nA='x'\necho ${A:?}",
}


def test_where_the_header_ends() -> None:
    assert {script: fill(script, {"A": "x"}) for script in HEADERS} == HEADERS


def test_arguments_are_set_in_order() -> None:
    script = "FROM=$1\nTO=${2:-/tmp}\nMODE=${3:-fast}\n"
    assert fill(script, {"FROM": "a", "MODE": "slow"}) == "set -- 'a' '' 'slow'\n" + script


def test_a_script_without_values_stays_as_it_is() -> None:
    assert fill("A=${A:-1}\necho\r\n", {}) == "A=${A:-1}\necho\r\n"


def given(script: str) -> list[str]:
    """Return the literal values in a filled-in script without running it."""
    program = read_program(script.encode())
    return [word.value.literal or "" for word in program.assignments if word.value is not None]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("it's", id="a quote"),
        pytest.param('$(touch /tmp/x) `id` \\ "', id="everything that the shell expands"),
        pytest.param("-rf", id="an option"),
        pytest.param("日本 é \u202e", id="other scripts"),
        pytest.param(" * ", id="blanks and stars"),
        pytest.param("one\ntwo's\t\\n\r\x1b[2J\x7f", id="control characters"),
    ],
)
def test_a_value_reaches_the_script_letter_for_letter(value: str) -> None:
    script = fill(': "${A:?}"\nprintf %s "$A"\n', {"A": value})
    assert given(script)[0] == value
    assert script.count("\n") == 3


VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
HOSTILE = st.text(st.sampled_from("'\"\\$`\n\t\r !*?[]{}();&|<>#~-=xn0u"), min_size=1)


@pytest.mark.slow
@hypothesis.given(value=VALUES | HOSTILE, other=VALUES | HOSTILE)
@settings(max_examples=300, deadline=None)
def test_any_value_comes_back_byte_for_byte(value: str, other: str) -> None:
    script = fill(': "${A:?}"\nB=$1\n', {"A": value, "B": other})
    assert given(script)[0] == value
    # The analysis also reads values that look like hidden code, to find their risks.
    arguments = next(c for c in read_program(script.encode()).commands if c.name == "set")
    assert [word.literal for word in arguments.arguments] == ["--", other]
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", script)


@pytest.mark.slow
@hypothesis.given(values=st.lists(VALUES | HOSTILE, min_size=20, max_size=40))
@settings(max_examples=15, deadline=None)
def test_bash_takes_any_values_for_data(values: list[str]) -> None:
    script = "A=(" + " ".join(quote(value) for value in values) + ")\n"
    # `bash -n` parses the script without running it.
    assert {found.outcome for found in check_syntax(script)} <= {Outcome.PASSED, Outcome.UNSCORED}
    array = read_program(script.encode()).assignments[0]
    assert [word.literal for word in array.values] == values


UNFIT = [
    ({}, "DIR needs a value."),
    ({"DIR": ""}, "DIR needs a value."),
    ({"DIR": "a", "X": "b"}, "The script has no parameter X."),
    ({"DIR": "a\0b"}, "The value of DIR contains a NUL byte."),
]


def test_values_that_do_not_fit_are_refused(subtests: pytest.Subtests) -> None:
    for values, message in UNFIT:
        with (
            subtests.test(message),
            pytest.raises(UnfillableScript, match=message.replace(".", r"\.")),
        ):
            fill(ASKS, values)


def test_only_bash_is_told_of_control_characters() -> None:
    with pytest.raises(UnfillableScript, match="only Bash"):
        fill("#!/bin/sh\n" + ASKS, {"DIR": "a\tb"})
    assert r"DIR=$'a\tb'" in fill("#!/usr/bin/env bash\n" + ASKS, {"DIR": "a\tb"})


def test_the_scripts_own_default_is_left_to_the_script() -> None:
    script = 'KEY=${KEY:-~/.ssh/id}\n: "${DIR:?}"\n'
    assert fill(script, {"KEY": "~/.ssh/id", "DIR": "x"}) == "DIR='x'\n" + script
    assert fill(script, {"KEY": "~/other", "DIR": "x"}).startswith("KEY='~/other'\n")


OPTIONS = """#!/bin/bash
DIR=/tmp
while getopts "n:vd:" option; do
  case $option in
    n) NAME=$OPTARG ;;
    d) DIR="$OPTARG" ;;
    v) VERBOSE=1 ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
FILE=$1
[ -n "$NAME" ] || exit 2
"""


def test_values_of_options_are_parameters() -> None:
    found = find_parameters(OPTIONS)
    assert [(p.name, p.option, p.required, p.default, p.position) for p in found] == [
        ("NAME", "n", True, None, None),
        ("DIR", "d", False, "/tmp", None),
        ("FILE", "", True, None, 1),
    ]
    filled = fill(OPTIONS, {"NAME": "-x y", "DIR": "/tmp", "FILE": "-rf"})
    assert filled == OPTIONS.replace("bash\n", "bash\nset -- -n '-x y' -- '-rf'\n", 1)


def test_an_option_of_another_loop_is_none() -> None:
    assert (
        find_parameters("f() { while getopts n: o; do case $o in n) A=$OPTARG;; esac; done; }")
        == ()
    )
    assert find_parameters("while getopts v o; do case $o in v) A=$OPTARG;; esac; done") == ()


def test_each_kind_of_parameter_is_filled_in_its_own_way_and_read_back() -> None:
    for expected, script in read_cases("parameters.txt")["filled"]:
        values = {p.name: (*p.choices, "V")[0] for p in find_parameters(script)}
        filled = fill(script, values)
        assert filled == (f"{expected}\n{script}" if expected else script)
        assert read_values(script, filled) == values


def test_argument_that_reads_as_an_option_is_refused() -> None:
    script = "while [ $# -gt 0 ]; do case $1 in --to) T=$2; shift 2 ;; *) break ;; esac; done\nX=$1"
    with pytest.raises(UnfillableScript, match="as an option"):
        fill(script, {"X": "--to"})


def test_arguments_that_are_all_used_at_once_are_suggested_as_unfillable() -> None:
    for script in ('a\nkubectl get "$@"', "a\nfor x; do b; done", 'a\nX=("$@")', 'a\neval "$*"'):
        assert suggest_parameters(script).passed_on == 2, script
    for script in ('usage "$@"', 'f() { a "$@"; }; f x', "while getopts a: o; do shift; done"):
        assert suggest_parameters(script).passed_on is None, script


def test_what_is_asked_at_the_keyboard_is_told() -> None:
    script = (
        'read -rp "Which host? " HOST\nread A B\nread C <file\ndate | read D\n'
        "while read E; do :; done\n"
    )
    asked = suggest_parameters(script).asked
    assert [(one.name, one.prompt, one.line) for one in asked] == [
        ("HOST", "Which host?", 1), ("A", "", 2), ("B", "", 2),
    ]  # fmt: skip


def test_a_text_that_is_no_script_is_refused() -> None:
    with pytest.raises(UnreadableScript):
        fill("echo\0", {})


DELETES = ': "${DIR:?}"\nrm -rf "$DIR"\n'
CLEANS = ': "${DIR:?}"\n: "${DAYS:=30}"\nfind "$DIR" -mtime "+$DAYS" -delete\n'
CHAIN = 'BASE=$1\nCACHE="$BASE/cache"\nTARGET=$CACHE/*\nrm -rf $TARGET\n'
CHANGES_FOLDER = 'cd "${DIR:?}" && rm -rf ./*\n'
PIPES = ': "${DIR:?}"\nfind "$DIR" -name core -print0 | xargs -0 rm -f\n'
NAMES = ': "${POD:?}"\nkubectl delete pod "$POD"\n'
READS = ': "${DIR:?}"\ndu -sh "$DIR"\n'


DANGEROUS: list[tuple[str, dict[str, str]]] = [
    *((DELETES, {"DIR": value}) for value in ("/", "//", "/*", "/.", ".", "..", "", " ", "./", "~", "~/", "*",
     "/tmp/..")),
    (DELETES, {"DIR": "/etc"}),
    (DELETES, {}),
    (CLEANS, {"DIR": "/", "DAYS": "7"}),
    (CLEANS, {"DIR": "/srv", "DAYS": ""}),
    (CHAIN, {"BASE": ""}),
    (CHANGES_FOLDER, {"DIR": "/"}),
    (PIPES, {"DIR": "/"}),
    (NAMES, {"POD": ""}),
]  # fmt: skip


def test_a_value_that_deletes_too_much_is_named() -> None:
    assert [row for row in DANGEROUS if not dangerous_values(*row)] == []


HARMLESS: list[tuple[str, dict[str, str]]] = [
    (DELETES, {"DIR": "/srv/app/cache"}),
    (DELETES, {"DIR": "/tmp/x/../y"}),
    (CLEANS, {"DIR": "/home"}),
    (CHAIN, {"BASE": "/srv/app"}),
    (CHANGES_FOLDER, {"DIR": "/srv/app"}),
    (NAMES, {"POD": "web-1"}),
    (READS, {"DIR": "/"}),
    (READS, {"DIR": ""}),
]


def test_other_values_are_not() -> None:
    assert [row for row in HARMLESS if dangerous_values(*row)] == []


def test_the_reason_names_parameter_line_and_effect() -> None:
    assert dangerous_values(DELETES, {"DIR": "/"}) == [
        'DIR is "/": line 2 would delete everything in the whole system (/).'
    ]
    assert dangerous_values(CHAIN, {"BASE": ""}) == [
        "BASE is empty, but line 4 uses it to delete or overwrite files."
    ]
