"""Tests for scripts' kernel requests and for rare problems: full disks, endless folders, sparse files and clock
jumps."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from catalog.execution.cases import run_case
from catalog.execution.helper.messages import CommandRequest
from catalog.execution.helper.system_call_filter.numbers import ARCHITECTURES
from catalog.execution.sandbox import Limits, Observation, PreparedRun, Sandbox, bubblewrap
from tests.catalog.execution.cases.writing import make_case
from tests.catalog.execution.sandbox.test_hostile_scripts import BRIEF, run
from tests.catalog.execution.scripted import ScriptedSandbox, run_seen, world_seen

on_x86_64 = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="numbers of system calls are of x86_64"
)
RECORDED: tuple[CommandRequest, ...] = ({"name": "x", "mode": "reply", "rules": [{}]},)


@pytest.mark.slow
def test_a_limit_for_core_files_is_only_said_to_be_set(sandbox: Sandbox) -> None:
    """With a limit of 0, the kernel would start the machine's core dump program outside the sandbox with the script's
    memory."""
    script = "ulimit -c 0 && echo done; prlimit --core=0:0 true && echo done; grep core /proc/self/limits"
    seen = run(sandbox, script)
    assert seen.stdout.split() == [
        *("done", "done"), "Max", "core", "file", "size", "1", "1", "bytes",
    ]  # fmt: skip
    assert run(sandbox, "ulimit -n 32; ulimit -n").stdout == "32\n"


@on_x86_64
def test_calls_that_keep_memory_are_refused(sandbox: Sandbox) -> None:
    assert run(sandbox, "perl -e 'print syscall(64, 0, 9, 0600), $! + 0'").stdout == "-11"
    assert run(sandbox, "perl -e 'print syscall(278, 1, 0, 0, 0), $! + 0'").stdout == "-138"


def test_only_plain_pairs_of_sockets_open(sandbox: Sandbox) -> None:
    """A request for another socket family may load its kernel module, even if the request fails."""
    ask = (
        'for my $f (1, 16, 30, 40) { print socketpair(A, B, $f, 2, 0) ? "open " : ($! + 0) . " " }'
    )
    assert run(sandbox, f"perl -e 'use Socket; {ask}'").stdout.split() == ["open", "97", "97", "97"]


def test_shared_memory_is_small_and_gone_after_a_run(sandbox: Sandbox) -> None:
    seen = run(sandbox, "for i in {1..600}; do : > /dev/shm/$i || break; done; ls /dev/shm | wc -l")
    assert "No space left on device" in seen.stderr
    assert 400 < int(seen.stdout) < 500
    script = "ls /dev/shm; echo x > /dev/shm/left"
    seen = sandbox.run(PreparedRun(script=script, runs=2, limits=BRIEF))
    assert [run.stdout for run in seen.runs] == ["", ""]


@on_x86_64
def test_what_is_counted_for_the_person_outside_as_well_is_little(sandbox: Sandbox) -> None:
    for call, most in (("syscall(222, 1, 0, $id)", 256), ("syscall(294, 0)", 16)):
        script = f"perl -e '$id = q(12345678); while ({call} >= 0) {{ $n++ }} print $n'"
        assert 0 < int(run(sandbox, script).stdout) <= most


@pytest.mark.slow
def test_calls_are_not_all_carried_home(sandbox: Sandbox) -> None:
    """Each call may send a quarter of a megabyte, and a script may make five hundred calls."""
    words = "{ printf 'x\\0001\\000'; head -c 200000 /dev/zero | tr '\\000' w; printf '\\000'; }"
    ask = f"exec 9<>/dev/tcp/127.255.255.254/1; {words} >&9; read -r -d '' <&9"
    script = f"for i in {{1..24}}; do {ask}; done"
    seen = sandbox.run(PreparedRun(script=script, commands=RECORDED, limits=BRIEF))
    assert seen.cut == "more than 4 MB in calls of stubbed commands"
    assert 15 < len(seen.runs[0].calls) <= 21


@pytest.mark.slow
def test_targets_of_links_are_not_all_carried_home(sandbox: Sandbox) -> None:
    script = "printf -v long '%4000s' ''; for i in {1..700}; do ln -s \"$long\" /srv/$i; done"
    seen = sandbox.run(PreparedRun(script=script, limits=BRIEF))
    assert seen.cut == "too many files, or too long names"
    assert sum(len(one.target or "") for one in seen.runs[0].after.values()) < 3 << 20


def test_nothing_tells_on_which_disk_of_the_host_a_folder_is(sandbox: Sandbox) -> None:
    seen = sandbox.run(
        PreparedRun(script="cat /proc/self/mountinfo /proc/1/mountinfo /proc/mounts")
    )
    lines = seen.runs[0].stdout.splitlines()
    assert len(lines) > 20
    own = {"tmpfs", "overlay", "proc", "devpts", "devtmpfs", "mqueue"}
    kinds = {line.partition(" - ")[2].split()[0] for line in lines if " - " in line}
    assert kinds <= own, kinds
    assert not [
        line for line in lines if "/dev/vd" in line or "/dev/sd" in line or "/dev/nvme" in line
    ]


def test_asynchronous_input_of_the_old_kind_is_refused(sandbox: Sandbox) -> None:
    number = ARCHITECTURES[os.uname().machine].numbers["io_setup"]
    script = f'perl -e \'my $x = "\\0" x 8; print syscall({number}, 8, $x), " $!"\''
    seen = sandbox.run(PreparedRun(script=script)).runs[0]
    assert seen.stdout == "-1 Operation not permitted"


LIMITS = Limits(seconds=60)
SMALL = bubblewrap._START.replace(
    "; main()", "; process.PRIVATE_SIZE = '64k'; process.main()"
).replace(
    "from catalog.execution.helper.process import main",
    "from catalog.execution.helper import process",
)


def test_full_disk_is_sandbox_failure(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The helper's own disk is too small for bubblewrap, which causes a real ENOSPC error."""
    assert "PRIVATE_SIZE" in SMALL
    mounts = Path("/proc/self/mountinfo").read_text()
    monkeypatch.setattr(bubblewrap, "_START", SMALL)
    (found,) = run_case(make_case(), ":", sandbox, limits=LIMITS).checks
    assert found.state == "not run"
    assert "No space left on device" in found.got
    assert Path("/proc/self/mountinfo").read_text() == mounts
    monkeypatch.undo()
    assert run_case(make_case(), ":", sandbox, limits=LIMITS).state == "passed"


@pytest.mark.slow
def test_four_thousand_nested_folders_are_left_out_and_gone(sandbox: Sandbox) -> None:
    script = "perl -e 'for (1 .. 4000) { mkdir q(d) and chdir q(d) or die $! }' && echo made"
    seen = sandbox.run(PreparedRun(script=script, limits=LIMITS))
    assert (seen.runs[0].stdout, seen.cut) == ("made\n", "folders more than 100 deep")
    result = run_case(make_case(), script, sandbox, limits=LIMITS)
    assert result.state == "unsupported"
    assert "folders more than 100 deep" in result.checks[0].got


@pytest.mark.slow
def test_a_sparse_file_larger_than_what_is_read_is_left_out(sandbox: Sandbox) -> None:
    large = Limits(seconds=60, disk_bytes=128 << 20)
    seen = sandbox.run(PreparedRun(script="truncate -s 100M /srv/holes", limits=large))
    assert seen.cut == "more than 64 MB in files"
    assert (seen.runs[0].after["/srv/holes"].size, seen.runs[0].after["/srv/holes"].sha256) == (
        100 << 20,
        None,
    )
    several = "for i in 1 2 3; do truncate -s 30M /srv/$i; done"
    assert sandbox.run(PreparedRun(script=several, limits=LIMITS)).cut == "more than 64 MB in files"
    assert (
        "File too large" in sandbox.run(PreparedRun(script="truncate -s 65M /srv/x")).runs[0].stderr
    )


@pytest.mark.parametrize(
    "moments, days",
    [
        pytest.param(["23:59:59", "+1 00:00:01", "+1 00:00:02", "+1 00:00:03"], 2, id="midnight"),
        pytest.param(["12:00:00", "-3 12:00:00", "-3 12:00:01", "-3 12:00:02"], 2, id="a clock set back"),
        pytest.param(["12:00:00", "12:00:09"], 1, id="the same day"),
    ],
)  # fmt: skip
def test_a_run_over_which_the_day_changes_is_made_once_more(
    moments: list[str], days: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(moments)
    paths: list[str] = []

    def answer(prepared: PreparedRun) -> Observation:
        paths.append(prepared.files[-1]["path"])
        return world_seen(run_seen())

    monkeypatch.setattr("time.time", lambda: _moment(next(clock)))
    case = make_case(world={"files": [{"path": "/srv/x"}]})
    dated = case.model_copy(
        update={"world": case.world.model_copy(
            update={"files": (case.world.files[0].model_copy(update={"path": "/srv/{date:%d}"}),)}
        )}
    )  # fmt: skip
    assert run_case(dated, ":", ScriptedSandbox(answer)).state == "passed"
    assert len(paths) == len(set(paths)) == days, "each with the date of its own day"


def _moment(told: str) -> float:
    day, _, time = told.rpartition(" ")
    hour, minute, second = map(int, time.split(":"))
    return datetime(2026, 3, 10 + int(day or 0), hour, minute, second, tzinfo=UTC).timestamp()
