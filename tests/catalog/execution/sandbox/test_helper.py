"""Tests for the helper's imports, its system call numbers, and its argument patterns."""

from __future__ import annotations

import mmap
import re
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.execution.helper import limits
from catalog.execution.helper.recorded_commands.patterns import match_arguments, match_text
from catalog.execution.helper.recorded_commands.replies import Replies
from catalog.execution.helper.system_call_filter.numbers import ARCHITECTURES
from catalog.execution.helper.system_call_filter.program import (
    PRETENDED,
    REFUSED,
    UntestedArchitecture,
    build_filter,
)

ROOT = Path(__file__).parents[4]
HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


def test_the_helper_loads_the_standard_library_only_and_little_of_it() -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import catalog.execution.helper.process;"
        "print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    tops = {name.split(".")[0] for name in loaded} - {"catalog", "core", "__main__"}
    assert tops <= sys.stdlib_module_names
    assert [name for name in loaded if name.startswith("core.")] == ["core.niceness"]
    # Importing each of these modules takes a tenth of the time of a sandbox test.
    assert not {"dataclasses", "inspect", "subprocess", "threading", "logging"} & set(loaded)


@pytest.mark.parametrize("machine", list(ARCHITECTURES))
def test_the_numbers_of_system_calls_are_the_kernel_s(machine: str) -> None:
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip(f"the kernel's headers are not installed: {header}")
    wanted = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text()))
    ours = ARCHITECTURES[machine].numbers
    # This machine's headers may lack newer system calls.
    known = {name: str(number) for name, number in ours.items() if name in wanted}
    assert known == {name: wanted[name] for name in known}
    assert len(known) > 50


def test_refused_calls_have_numbers() -> None:
    named = {name for found in ARCHITECTURES.values() for name in found.numbers}
    assert {*PRETENDED, *REFUSED} <= named
    with pytest.raises(UntestedArchitecture):
        build_filter("riscv64")


@pytest.mark.parametrize("machine", list(ARCHITECTURES))
def test_the_filter_is_whole_instructions_within_the_kernel_s_limit(machine: str) -> None:
    program = build_filter(machine)
    assert len(program) % 8 == 0
    assert len(program) // 8 < 4096


PATTERNS = [
    (["restart", "nginx"], ["restart", "nginx"], True),
    (["restart", "*"], ["restart", "nginx"], True),
    (["restart", "*"], ["restart"], False),
    (["restart", "*"], ["restart", "a", "b"], False),
    (["restart", "**"], ["restart"], True),
    (["restart", "**"], ["restart", "a", "b"], True),
    (["**"], [], True),
    ([], [], True),
    ([], ["x"], False),
    (["a b"], ["a", "b"], False),
    (["ng?nx"], ["nginx"], True),
    (["*.service"], ["nginx.service"], True),
    (["[a-z]"], ["b"], False),
]


def test_argument_patterns_match_quickly() -> None:
    found = [(patterns, given, match_arguments(patterns, given)) for patterns, given, _ in PATTERNS]
    assert found == PATTERNS
    # An algorithm that tries every possible match would never finish.
    assert not match_text("*a" * 200 + "b", "a" * 5_000)


def test_a_state_may_be_named_by_an_argument() -> None:
    replies = Replies(
        [
            {
                "name": "systemctl",
                "mode": "reply",
                "rules": [
                    {"args": ["stop", "*"], "sets": {"$2": "inactive"}},
                    {"args": ["is-active", "*"], "requires": {"$2": "active"}, "stdout": "yes"},
                    {"args": ["is-active", "*"], "requires": {"$2": "inactive"}, "exit": 3},
                ],
            }
        ],
        {"a": "active", "b": "active"},
        None,
    )
    replies.answer("systemctl", ["stop", "a"], None)
    assert replies.answer("systemctl", ["is-active", "a"], None).words == ("reply", "3", "", "")
    assert replies.answer("systemctl", ["is-active", "b"], None).words == ("reply", "0", "yes", "")
    assert replies.answer("systemctl", ["is-active", "c"], None).words[1] == "127"


def test_memory_outside_processes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_memory_of", lambda _process: 0)
    monkeypatch.setattr(limits, "LEAST_GROWTH", 8 << 20)
    monkeypatch.setattr(limits, "SHARE_OF_GROWTH", 1 << 20)
    guard = limits.Guard(0, float("inf"))
    with mmap.mmap(-1, 128 << 20) as shared:
        for page in range(0, len(shared), mmap.PAGESIZE):
            shared[page] = 1
        shared.madvise(mmap.MADV_DONTNEED)
        assert guard.find_excess() == "machine short of memory"


def test_growth_that_a_database_has_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = {b"MemTotal:": 8 << 30, b"MemAvailable:": 4 << 30, b"Shmem:": 0}
    monkeypatch.setattr(limits, "_read_meminfo", lambda: machine)
    monkeypatch.setattr(limits, "_memory_of", lambda _process: 0)
    guard = limits.Guard(64 << 20, float("inf"))
    machine[b"Shmem:"] = 2 << 30
    assert guard.find_excess() is None
    machine[b"MemAvailable:"] = limits.LEAST_FREE - 1
    assert guard.find_excess() == "machine short of memory"
    monkeypatch.setattr(limits, "_memory_of", lambda _process: 65 << 20)
    assert guard.find_excess() == "too much memory", "its own comes first"
