"""Texts that are not written for Bash get a finding that names their language, and shells get none."""

from __future__ import annotations

from pathlib import Path

from catalog.analysis import Outcome, Risk, SideEffect, analyse_static

STARTER = Path(__file__).parents[3] / "catalog" / "starter"

OTHERS: dict[str, list[str]] = {
    "zsh": ["#!/bin/zsh\nls", "#!/usr/bin/env zsh\nls", "setopt nullglob\nls", "ls ${(f)x}"],
    "fish": [
        "#!/usr/bin/env fish\nls",
        "set -gx PATH /opt $PATH",
        "if test -d /x\n  ls /x\nend",
        "for f in *.log\n  ls $f\nend",
    ],
    "Python": [
        "#!/usr/bin/python3.11\nprint(1)",
        'import os\nos.remove("/etc/passwd")',
        'print("hello")',
        "def f(x):\n    return x",
        "for i in range(3):\n    print(i)",
        'x = open("f").read()',
    ],
    "Perl": ["#!/usr/bin/perl -w\nprint 1;", "use strict;\nls", "my @a = (1, 2);\nunlink @a;"],
    "PowerShell": ["Get-ChildItem | Remove-Item -Force", "$x = 1", "param([string]$Name)\nls"],
    "YAML": [
        "---\n- hosts: all\n  tasks:\n    - shell: ls",
        "on: push\njobs:\n  a:\n    steps:\n      - run: |\n          ls",
    ],
    "JSON": ['{"a": 1}', '[\n {"ls": []}\n]'],
    "prose": [
        "To list log files, run the command below.\n\nls",
        "I cannot help with that request, because it is dangerous.",
        "Sure! Here is a script:\nls",
    ],
    "SQL": ["DROP TABLE users;"],
    "Ruby": ["#!/usr/bin/env ruby\nls"],
}

SHELLS = [
    *("#!/bin/sh", "#!/bin/dash", "#!/usr/bin/env bash", "#!/usr/bin/env -S bash -eu", "#!/bin/ksh93"),
    *("#! /bin/bash -e", "#!/usr/bin/env -i bash", "#!/usr/local/bin/bash5", "#!/bin/busybox sh"),
    "import screenshot.png",
    "function backup {\n  ls\n}\nbackup",
    '[ -n "$x" ] && ls',
    "python3 - <<EOF\nimport os\nprint(1)\nEOF",
    "cat <<E >x.yaml\na: 1\nb: 2\nE",
    'python3 -c "\nimport os\nprint(1)\n"',
    'psql -c "DROP TABLE x;"',
    "perl -e 'use strict; my $x = 1;'",
    "case $1 in\na) ls ;;\nesac",
    "# To delete files, run this script now.\nls",
    "A=1\nB=2",
    "shopt -s extglob\nls !(a|b) *(.txt)",
    "for f in *\ndo\n  ls $f\ndone",
]  # fmt: skip


def languages(script: str) -> list[str]:
    found = [f for f in analyse_static(script).unscored if f.code == "dialect"]
    return [f.message.partition("looks like ")[2].partition(",")[0] for f in found]


def test_other_language_is_named_and_never_harmless() -> None:
    for language, scripts in OTHERS.items():
        for script in scripts:
            report = analyse_static(script)
            assert languages(script) == [language], script
            assert report.risk is not Risk.LOW
            assert report.side_effect is not SideEffect.READ_ONLY


def test_shell_has_no_such_finding() -> None:
    starter = [path.read_text() for path in STARTER.glob("*/script.sh")]
    assert len(starter) > 80
    assert [script for script in (*SHELLS, *starter) if languages(script)] == []


def test_language_is_a_finding_at_the_first_line() -> None:
    (found,) = [f for f in analyse_static("import os\nls").findings if f.code == "dialect"]
    assert (found.outcome, found.line) == (Outcome.UNSCORED, 1)
