"""What a script ran into that no world has is no verdict; its own mistakes are."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.execution.cases import run_case
from tests.catalog.execution.cases.writing import make_case
from tests.catalog.execution.scripted import ScriptedSandbox, run_seen, world_seen

AT = "/usr/local/bin/script.sh: line 3: "


def state(stderr: str, script: str = "x\n", status: int = 1, **world: Any) -> tuple[str, str]:
    case = make_case({"check": "exit_status", "equals": 0}, world=world)
    seen = world_seen(run_seen(status=status, stderr=f"{stderr}\n"))
    (found,) = run_case(case, script, ScriptedSandbox(lambda prepared: seen)).checks
    return found.state.value, found.got


OUTSIDE = [
    (f"{AT}tree: command not found", "unsupported", "there is no `tree` in the sandbox"),
    ("env: ‘node’: No such file or directory", "unsupported", "there is no `node`"),
    (f"{AT}fnid: command not found", "failed", ""),
    (f"{AT}/dev/tcp/10.0.0.1/80: Network is unreachable", "unsupported", "it needs a network"),
    ("fatal: unable to access 'https://x/': Could not resolve host: x", "unsupported", "it needs a network"),
    ("WARNING: Failed to establish a new connection: [Errno -3]", "unsupported", "it needs a network"),
    (f"{AT}/proc/sys/vm/drop_caches: Permission denied", "unsupported", "more of the kernel"),
    ("mount: /mnt: permission denied.", "unsupported", "more of the kernel"),
    ("cp: error writing '/srv/b': No space left on device", "timed out", "the world's disk is full"),
    ("truncate: failed to truncate 'x' at 99999999: File too large", "timed out", "file too large"),
    ("cat: /srv/x: No such file or directory", "failed", ""),
]  # fmt: skip


def test_a_check_that_fails_for_it_has_no_verdict(subtests: pytest.Subtests) -> None:
    for stderr, is_now, words in OUTSIDE:
        with subtests.test(stderr):
            found, got = state(stderr)
            assert found == is_now
            assert words in got


def test_a_script_that_copes_with_it_is_judged() -> None:
    assert state(f"{AT}tree: command not found", status=0)[0] == "passed"
    assert state("curl: (6) Could not resolve host: x", status=0)[0] == "passed"


def test_words_of_the_script_or_of_the_case_are_no_sign_of_it() -> None:
    """Or a script could take itself out of the figures, and a case could not prepare such an answer."""
    assert (
        state("No space left on device", script="echo No space left on device >&2; exit 1")[0]
        == "failed"
    )
    curl = {"curl": [{"exit": 6, "stderr": "curl: (6) Could not resolve host: x\n"}]}
    assert state("curl: (6) Could not resolve host: x", commands=curl)[0] == "failed"
