"""Tests that mutations are made only in relevant places, and that each is caught, survives or has no verdict."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from catalog.execution.cases import run_case_set
from catalog.execution.quality import (
    Quality,
    describe,
    make_mutants,
    measure_quality,
    quality_document,
)
from catalog.execution.quality.mutations import MOST_MUTANTS
from catalog.execution.quality.stored import read_document
from catalog.execution.sandbox import Ended, Observation, PreparedRun, SandboxFailed
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.execution.scripted import on_machine, run_seen, world_seen

FIND = "find /var/log/app -type f -name '*.log' -mtime +7 -delete"


ERRORS = [
    (FIND, "`-name` becomes `-path` on line 1", FIND.replace("-name", "-path")),
    (FIND, "`-name` becomes `-iname` on line 1", FIND.replace("-name", "-iname")),
    (FIND, "`-mtime` becomes `-mmin` on line 1", FIND.replace("-mtime", "-mmin")),
    (FIND, "`+7` becomes `+8` on line 1", FIND.replace("+7", "+8")),
    (FIND, "`+7` becomes `-7` on line 1", FIND.replace("+7", "-7")),
    (FIND, "`-type f` is removed", FIND.replace("-type f", "")),
    (FIND, "`'*.log'` becomes `*.log` on line 1", FIND.replace("'", "")),
    ("a && b", "`&&` becomes `;` on line 1", "a ; b"),
    ("a || b", "`||` becomes `&&` on line 1", "a && b"),
    ("date > log", "`>` becomes `>>` on line 1", "date >> log"),
    ("date >> log", "`>>` becomes `>` on line 1", "date > log"),
    ('rm "$1"', '`"$1"` becomes `$1` on line 1', "rm $1"),
    ("set -e\ndate", "`set -e` is removed", ":\ndate"),
    ("if a; then b; fi", "`a` becomes `! a` on line 1", "if ! a; then b; fi"),
    ("if ! a; then b; fi", "`! a` becomes `a` on line 1", "if a; then b; fi"),
    ("[[ $n -gt 3 ]]", "`-gt` becomes `-ge` on line 1", "[[ $n -ge 3 ]]"),
    ("[[ $n -gt 3 ]]", "`3` becomes `4` on line 1", "[[ $n -gt 4 ]]"),
    ("systemctl restart x", "`restart` becomes `stop` on line 1", "systemctl stop x"),
    ("ls | head -n 5", "`head` becomes `tail` on line 1", "ls | tail -n 5"),
]


def test_each_mutation_is_one_error_in_a_valid_script() -> None:
    made = {
        script: {one.words: one.script for one in make_mutants(script)} for script, *_ in ERRORS
    }
    assert [
        (script, words, made[script].get(words)) for script, words, _mutated in ERRORS
    ] == ERRORS
    script = f'set -eu\nif {FIND}; then echo "done $1" >> log || exit 3; fi\n'
    for mutant in make_mutants(script):
        read = subprocess.run(["bash", "-n"], input=mutant.script, text=True, check=False)
        assert read.returncode == 0, mutant.words


UNTOUCHED = [
    "echo 'a > b && c || d'", "# find -name x > y", "cat <<'E'\nrestart -name 7 > x\nE\n", "", ":",
]  # fmt: skip


def test_texts_and_comments_are_not_mutated() -> None:
    words = {script: [one.words for one in make_mutants(script)] for script in UNTOUCHED}
    assert {
        k: [one for one in v if "is removed" not in one] for k, v in words.items()
    } == dict.fromkeys(UNTOUCHED, [])
    assert not [text for text in ODD if any(one.script == text for one in make_mutants(text))]


ODD = ["if; then ((", "\0", "'" * 99, "\udcff date > x", "é > ü && ñ"]


def test_of_a_long_script_some_of_every_kind_are_taken_and_always_the_same() -> None:
    script = "".join(f"{FIND} && restart_{n} > log_{n}\n" for n in range(40))
    mutants = make_mutants(script)
    assert len(mutants) == len({mutant.script for mutant in mutants}) == MOST_MUTANTS
    assert mutants == make_mutants(script)
    said = " ".join(mutant.words for mutant in mutants)
    assert all(part in said for part in ("-name", "+7", "&&", ">>", "is removed", "'*.log'"))


RIGHT = "find /srv -mtime +7 -delete"


def measured(wrong: Callable[[], Observation]) -> tuple[Quality, str]:
    """Measure a sandbox test that the correct script passes. Each mutation returns the result of `wrong`."""

    def answer(prepared: PreparedRun) -> Observation:
        return world_seen(run_seen()) if prepared.script == RIGHT else wrong()

    found = on_machine(answer)
    cases = make_set(case_data({"check": "exit_status", "equals": 0}))
    execution = run_case_set(cases, RIGHT, found)
    quality = measure_quality(cases, RIGHT, execution, found.sandbox, most_mutants=3)
    return quality, describe(execution, quality)


def test_failing_check_notices_a_mutation() -> None:
    quality, line = measured(lambda: world_seen(run_seen(status=1)))
    assert (quality.mutants, quality.noticed) == (3, 3)
    assert line == "1 of 1 check passed in 1 scenario; the tests catch 3 of 3 mutations."

    def fail() -> Observation:
        raise SandboxFailed("the helper did not answer")

    quality, _ = measured(fail)
    assert (quality.noticed, len(quality.without_verdict)) == (0, 3)


def test_what_ends_without_a_verdict_is_counted_apart() -> None:
    missing = {"status": 127, "stderr": "x: line 1: jq: command not found\n"}
    for how in ({"ended": Ended.TIMED_OUT, "status": None}, missing):
        quality, line = measured(lambda how=how: world_seen(run_seen(**how)))
        assert (quality.noticed, quality.survivors) == (0, ())
        assert len(quality.without_verdict) == 3
        assert "the tests catch 0 of 3 mutations; 3 of them are inconclusive" in line
    document = quality_document(quality)
    stored = read_document({"sentence": line, "worlds": [], "quality": document})
    assert len(stored["quality"]["without_verdict"]) == 3
    del document["without_verdict"]  # the previous release did not have this field
    assert read_document({"quality": document})["quality"]["without_verdict"] == []
