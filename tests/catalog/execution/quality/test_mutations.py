"""Small errors are made where they mean something, in words that a person can check."""

from __future__ import annotations

import subprocess

import pytest

from catalog.execution.quality import make_mutants
from catalog.execution.quality.mutations import MOST_MUTANTS

FIND = "find /var/log/app -type f -name '*.log' -mtime +7 -delete"


ERRORS = [
    (FIND, "`-name` becomes `-path` in line 1", FIND.replace("-name", "-path")),
    (FIND, "`-name` becomes `-iname` in line 1", FIND.replace("-name", "-iname")),
    (FIND, "`-mtime` becomes `-mmin` in line 1", FIND.replace("-mtime", "-mmin")),
    (FIND, "`+7` becomes `+8` in line 1", FIND.replace("+7", "+8")),
    (FIND, "`+7` becomes `-7` in line 1", FIND.replace("+7", "-7")),
    (FIND, "`-type f` is left out", FIND.replace("-type f", "")),
    (FIND, "`'*.log'` becomes `*.log` in line 1", FIND.replace("'", "")),
    ("a && b", "`&&` becomes `;` in line 1", "a ; b"),
    ("a || b", "`||` becomes `&&` in line 1", "a && b"),
    ("date > log", "`>` becomes `>>` in line 1", "date >> log"),
    ("date >> log", "`>>` becomes `>` in line 1", "date > log"),
    ('rm "$1"', '`"$1"` becomes `$1` in line 1', "rm $1"),
    ("set -e\ndate", "`set -e` is left out", ":\ndate"),
    ("if a; then b; fi", "`a` becomes `! a` in line 1", "if ! a; then b; fi"),
    ("if ! a; then b; fi", "`! a` becomes `a` in line 1", "if a; then b; fi"),
    ("[[ $n -gt 3 ]]", "`-gt` becomes `-ge` in line 1", "[[ $n -ge 3 ]]"),
    ("[[ $n -gt 3 ]]", "`3` becomes `4` in line 1", "[[ $n -gt 4 ]]"),
    ("systemctl restart x", "`restart` becomes `stop` in line 1", "systemctl stop x"),
    ("ls | head -n 5", "`head` becomes `tail` in line 1", "ls | tail -n 5"),
]


def test_one_error_is_made(subtests: pytest.Subtests) -> None:
    for script, words, mutated in ERRORS:
        with subtests.test(script):
            assert {mutant.words: mutant.script for mutant in make_mutants(script)}[
                words
            ] == mutated


UNTOUCHED = [
    "echo 'a > b && c || d'", "# find -name x > y", "cat <<'E'\nrestart -name 7 > x\nE\n", "", ":",
]  # fmt: skip


def test_texts_and_comments_are_left_alone(subtests: pytest.Subtests) -> None:
    for script in UNTOUCHED:
        with subtests.test(script):
            changed = [m.words for m in make_mutants(script) if "left out" not in m.words]
            assert changed == []


ODD = ["if; then ((", "\0", "'" * 99, "\udcff date > x", "é > ü && ñ"]


def test_no_text_stops_it(subtests: pytest.Subtests) -> None:
    for script in ODD:
        with subtests.test(script):
            for mutant in make_mutants(script):
                assert mutant.script != script


def test_of_a_long_script_some_of_every_kind_are_taken_and_always_the_same() -> None:
    script = "".join(f"{FIND} && restart_{n} > log_{n}\n" for n in range(40))
    mutants = make_mutants(script)
    assert len(mutants) == len({mutant.script for mutant in mutants}) == MOST_MUTANTS
    assert mutants == make_mutants(script)
    said = " ".join(mutant.words for mutant in mutants)
    assert all(part in said for part in ("-name", "+7", "&&", ">>", "left out", "'*.log'"))


def test_every_error_is_still_a_script() -> None:
    script = f'set -eu\nif {FIND}; then echo "done $1" >> log || exit 3; fi\n'
    for mutant in make_mutants(script):
        read = subprocess.run(["bash", "-n"], input=mutant.script, text=True, check=False)
        assert read.returncode == 0, mutant.words
