"""What a script can ask of the kernel that no process of its own shows: objects, limits of the person, core files."""

from __future__ import annotations

import os

import pytest

from catalog.execution.helper.messages import CommandRequest
from catalog.execution.helper.system_call_filter.numbers import ARCHITECTURES
from catalog.execution.sandbox import PreparedRun, Sandbox
from tests.catalog.execution.sandbox.test_hostile_scripts import BRIEF, run

on_x86_64 = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="numbers of system calls are of x86_64"
)
RECORDED: tuple[CommandRequest, ...] = ({"name": "x", "mode": "reply", "rules": [{}]},)


@pytest.mark.slow
def test_a_limit_for_core_files_is_only_said_to_be_set(sandbox: Sandbox) -> None:
    """With 0 the machine's own program for core files would be started, outside, with the script's memory."""
    script = "ulimit -c 0 && echo done; prlimit --core=0:0 true && echo done; grep core /proc/self/limits"
    seen = run(sandbox, script)
    assert seen.stdout.split() == [
        *("done", "done"), "Max", "core", "file", "size", "1", "1", "bytes",
    ]  # fmt: skip
    assert run(sandbox, "ulimit -n 32; ulimit -n").stdout == "32\n"


@on_x86_64
def test_semaphores_would_take_the_machine_s_memory(sandbox: Sandbox) -> None:
    assert run(sandbox, "perl -e 'print syscall(64, 0, 9, 0600), $! + 0'").stdout == "-11"


@on_x86_64
def test_no_pipe_holds_on_to_pages(sandbox: Sandbox) -> None:
    assert run(sandbox, "perl -e 'print syscall(278, 1, 0, 0, 0), $! + 0'").stdout == "-138"


@pytest.mark.parametrize("family, answer", [(1, "open"), (16, "97"), (30, "97"), (40, "97")])
def test_only_plain_pairs_of_sockets_open(sandbox: Sandbox, family: int, answer: str) -> None:
    """Asking for another family may load its module, whatever the answer is."""
    script = f"perl -e 'use Socket; print socketpair(A, B, {family}, 2, 0) ? \"open\" : $! + 0'"
    assert run(sandbox, script).stdout == answer


def test_shared_memory_has_few_files(sandbox: Sandbox) -> None:
    seen = run(sandbox, "for i in {1..600}; do : > /dev/shm/$i || break; done; ls /dev/shm | wc -l")
    assert "No space left on device" in seen.stderr
    assert 400 < int(seen.stdout) < 500


def test_shared_memory_of_a_first_run_is_gone_in_the_second(sandbox: Sandbox) -> None:
    script = "ls /dev/shm; echo x > /dev/shm/left"
    seen = sandbox.run(PreparedRun(script=script, runs=2, limits=BRIEF))
    assert [run.stdout for run in seen.runs] == ["", ""]


@on_x86_64
@pytest.mark.parametrize(
    "call, most",
    [
        pytest.param("syscall(222, 1, 0, $id)", 256, id="timers"),
        pytest.param("syscall(294, 0)", 16, id="watches of files"),
    ],
)
def test_what_is_counted_for_the_person_outside_as_well_is_little(
    sandbox: Sandbox, call: str, most: int
) -> None:
    script = f"perl -e '$id = q(12345678); while ({call} >= 0) {{ $n++ }} print $n'"
    assert 0 < int(run(sandbox, script).stdout) <= most


@pytest.mark.slow
def test_calls_are_not_all_carried_home(sandbox: Sandbox) -> None:
    """Each may have a quarter of a megabyte, and a script may make five hundred."""
    words = "{ printf 'x\\0001\\000'; head -c 200000 /dev/zero | tr '\\000' w; printf '\\000'; }"
    ask = f"exec 9<>/dev/tcp/127.255.255.254/1; {words} >&9; read -r -d '' <&9"
    script = f"for i in {{1..24}}; do {ask}; done"
    seen = sandbox.run(PreparedRun(script=script, commands=RECORDED, limits=BRIEF))
    assert seen.cut == "more than 4 MB in calls of recorded commands"
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
