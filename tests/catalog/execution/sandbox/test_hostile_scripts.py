"""Tests for what hostile scripts attempt and achieve. Small limits protect the machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from catalog.execution.helper.limits import PRIORITY
from catalog.execution.helper.messages import CommandRequest
from catalog.execution.helper.user import FIRST_USER, SLOTS
from catalog.execution.sandbox import Ended, Limits, PreparedRun, RunObservation, Sandbox
from core.niceness import LEAST_NICE, session_niceness
from scriptsmith_site.embedded.supervision import processes

BRIEF = Limits(seconds=30)  # enough for a busy machine; tests of the time limit set other values


def run(sandbox: Sandbox, script: str, limits: Limits = BRIEF) -> RunObservation:
    return sandbox.run(PreparedRun(script=script, limits=limits)).runs[0]


@pytest.mark.slow
def test_a_fork_bomb_meets_the_process_limit_and_ends_with_its_time(sandbox: Sandbox) -> None:
    limits = replace(BRIEF, seconds=4, process_count=24)
    seen = run(sandbox, ":(){ :|:& }; :; sleep 30", limits)
    assert seen.ended is Ended.TIMED_OUT
    assert 10 < seen.processes_seen <= 24
    assert "fork: retry: Resource temporarily unavailable" in seen.stderr


def test_deleting_everything_deletes_the_own_world_only(sandbox: Sandbox) -> None:
    seen = run(sandbox, "rm -rf /etc/*s* /var; rm -rf --no-preserve-root /")
    assert "/etc/passwd" not in seen.after
    assert "/var/log" not in seen.after
    assert Path("/etc/passwd").exists()
    assert Path("/usr/bin/bash").exists()


FILLING = {
    "the disk": ("head -c 20M /dev/zero > /tmp/big", "No space left on device"),
    "the inodes": ("for i in {1..600}; do : > /tmp/$i || break; done", "No space left"),
    "a sparse giant": ("truncate -s 1T /tmp/giant", "File too large"),
    "shared memory": ("head -c 9M /dev/zero > /dev/shm/big", "No space left"),
    "the devices": ("head -c 9M /dev/zero > /dev/big", "Read-only file system"),
    "the programs": ("echo x > /usr/bin/x", "Read-only file system"),
    "alternatives": ("echo x > /etc/alternatives/x", "Read-only file system"),
}


def run_each(sandbox: Sandbox, scripts: Iterable[str], limits: Limits = BRIEF) -> list[str]:
    """Run all scripts as subshells of one run, and return what each printed on standard output or standard error."""
    marked = "; ".join(f"({script}) 2>&1; echo; echo ----" for script in scripts)
    return run(sandbox, marked, limits).stdout.split("----\n")[:-1]


def test_what_can_be_filled_has_an_end(sandbox: Sandbox) -> None:
    limits = replace(BRIEF, disk_bytes=8 << 20, inodes=500)
    scripts = [f"{script}; rm -rf /tmp/* /dev/shm/big" for script, _said in FILLING.values()]
    printed = dict(zip(FILLING, run_each(sandbox, scripts, limits), strict=True))
    assert {
        name: printed[name] for name, (_, said) in FILLING.items() if said not in printed[name]
    } == {}


def test_endless_output_is_cut_and_ends_the_run(sandbox: Sandbox) -> None:
    seen = run(sandbox, "yes", replace(BRIEF, output_bytes=10_000))
    assert (seen.ended, len(seen.stdout)) == (Ended.TOO_MUCH_OUTPUT, 10_000)


def test_many_small_processes_together_meet_the_memory_limit(sandbox: Sandbox) -> None:
    limits = replace(BRIEF, memory_bytes=64 << 20)
    script = "for i in 1 2 3 4 5 6 7 8; do perl -e '$x = \"a\" x 2e7; sleep 10' & done; wait"
    seen = run(sandbox, script, limits)
    assert seen.ended is Ended.TOO_MUCH_MEMORY
    assert seen.peak_memory > 64 << 20


@pytest.mark.slow
def test_one_process_meets_the_memory_limit(sandbox: Sandbox) -> None:
    limits = replace(BRIEF, memory_bytes=64 << 20)
    seen = run(sandbox, "perl -e 'push @x, \"a\" x 1e6 while 1'", limits)
    assert seen.ended is Ended.TOO_MUCH_MEMORY


@pytest.mark.slow
def test_processor_time_is_limited_over_all_processes(sandbox: Sandbox) -> None:
    """The limit includes processes that have exited. Here, each process is short and stays below the limit."""
    script = "work() { for ((i = 0; i < 60000; i++)); do :; done; }; while :; do work & wait; done"
    seen = run(sandbox, script, replace(BRIEF, seconds=300, cpu_seconds=1))
    assert seen.ended is Ended.TOO_MUCH_WORK
    assert run(sandbox, "sleep 1.5", replace(BRIEF, cpu_seconds=1)).ended is Ended.FINISHED


@pytest.mark.slow
def test_a_run_ends_at_its_time_limit_with_everything_inside(sandbox: Sandbox) -> None:
    mark = f"31.{os.getpid()}"
    script = f"setsid nohup sleep {mark} & sleep {mark}"
    seen = run(sandbox, script, replace(BRIEF, seconds=0.5))
    assert (seen.ended, seen.status) == (Ended.TIMED_OUT, None)
    assert seen.seconds < 25, "the script would sleep for longer"
    assert not find_processes(mark)


@pytest.mark.slow
def test_a_daemon_ends_with_its_script(sandbox: Sandbox) -> None:
    mark = f"32.{os.getpid()}"
    seen = run(sandbox, f"setsid nohup sleep {mark} & echo started; sleep 0.1")
    assert (seen.ended, seen.stdout) == (Ended.FINISHED, "started\n")
    assert not find_processes(mark)


def test_a_script_that_kills_all_it_may_kills_nothing_outside(sandbox: Sandbox) -> None:
    seen = run(sandbox, "kill -9 1; kill -9 -1; echo still here")
    assert (seen.stdout, seen.status) == ("still here\n", 0)


WAYS_OUT = {
    "outside": ("echo > /dev/tcp/192.0.2.1/80", "Network is unreachable"),
    "this machine": ("echo > /dev/tcp/127.0.0.1/80", "Connection refused"),
    "a user namespace": ("unshare -U true", "Operation not permitted"),
    "a mount namespace": ("unshare -m true", "Operation not permitted"),
    "mount": ("mount -t tmpfs none /mnt", "permission denied"),
    "chroot": ("chroot /", "Operation not permitted"),
    "the machine's name": ("hostname other", "you must be root"),
    "core pattern": ("echo x > /proc/sys/kernel/core_pattern", "denied"),
    "sysrq": ("echo b > /proc/sysrq-trigger", "No such file"),
    "sys": ("ls /sys", "No such file"),
}


def test_the_way_out_is_closed(sandbox: Sandbox) -> None:
    scripts = [f"({script}) && echo got out" for script, _said in WAYS_OUT.values()]
    printed = dict(zip(WAYS_OUT, run_each(sandbox, scripts), strict=True))
    assert {
        name: printed[name] for name, (_, said) in WAYS_OUT.items() if said not in printed[name]
    } == {}
    assert [name for name, text in printed.items() if "got out" in text] == []


CALLS = {
    "ptrace": 101, "io_uring_setup": 425, "bpf": 321, "perf_event_open": 298, "keyctl": 250, "userfaultfd": 323,
    "memfd_create": 319, "shmget": 29, "msgget": 68, "process_vm_writev": 311, "pidfd_getfd": 438, "setns": 308,
    "open_by_handle_at": 304, "mount_setattr": 442, "x32": 0x40000000 + 39,
}  # fmt: skip


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of system calls are of x86_64")
def test_a_dangerous_system_call_is_refused(sandbox: Sandbox) -> None:
    numbers = ", ".join(map(str, CALLS.values()))
    ask = f"for my $n ({numbers}) {{ print syscall($n, 0, 0, 0, 0, 0), $! + 0, qq( ) }}"
    answers = run(sandbox, f"perl -e '{ask}'").stdout.split()
    assert dict(zip(CALLS, answers, strict=True)) == dict.fromkeys(CALLS, "-11")  # -1 and EPERM


def test_only_plain_sockets_open(sandbox: Sandbox) -> None:
    """Netlink (16), packet (17), kernel cryptography (38) and hypervisor (40) sockets must be blocked."""
    ask = "print socket(S, $_, 1, 0) ? qq(open ) : ($! + 0) . qq( ) for (1, 2, 10, 16, 17, 38, 40)"
    answers = run(sandbox, f"perl -e 'use Socket; {ask}'").stdout.split()
    assert answers == [*["open"] * 3, *["97"] * 4]


def test_an_owner_is_only_said_to_be_changed(sandbox: Sandbox) -> None:
    seen = run(sandbox, "chown nobody:nogroup /etc/hosts; echo $?; stat -c %U /etc/hosts")
    assert seen.stdout == "0\nroot\n"


def test_nothing_of_environment_is_seen(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_WORKER", "do-not-show")
    script = (
        "for p in /proc/[0-9]*; do cat $p/environ $p/cmdline; done 2>/dev/null | tr '\\0' '\\n';"
        "wc -c < /proc/1/environ"
    )
    seen = run(sandbox, script)
    assert "SECRET" not in seen.stdout
    assert "do-not-show" not in seen.stdout
    assert seen.stdout.splitlines()[-1] == "0"
    assert str(Path.cwd()) not in seen.stdout


def test_only_the_standard_descriptors_are_inherited(sandbox: Sandbox) -> None:
    seen = run(sandbox, "readlink /proc/$$/fd/*")
    stdin, *pipes, script = seen.stdout.splitlines()
    assert stdin == "/memfd:input (deleted)"  # sealed
    assert [pipe[:6] for pipe in pipes] == ["pipe:["] * 2
    assert script == "/usr/local/bin/script.sh"  # Bash is reading it


def test_rights_cannot_grow(sandbox: Sandbox) -> None:
    seen = run(sandbox, "grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status")
    assert seen.stdout.split() == [
        "CapEff:", "000000000000002a", "CapBnd:", "000000000000002a",
        "NoNewPrivs:", "1", "Seccomp:", "2",
    ]  # fmt: skip
    assert run(sandbox, "cat /proc/cmdline /proc/keys /proc/kallsyms | wc -c").stdout == "0\n"


def test_no_file_of_the_host_is_readable_but_its_programs(sandbox: Sandbox) -> None:
    here = Path(__file__).resolve()
    script = f"cat '{here}'; ls -d /*; find / -xdev -newermt 2000-01-01 -type f -not -path '/usr/*'"
    seen = run(sandbox, script)
    assert "hostile script" not in seen.stdout
    listed = set(seen.stdout.split())
    assert listed & {"/boot", "/sys", "/work", "/lost+found"} == set()
    assert {name for name in listed if name.count("/") > 1} == {
        "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/hostname", "/etc/nsswitch.conf",
    }  # fmt: skip


@pytest.mark.slow
def test_writing_to_the_first_process_harms_the_run_at_most(sandbox: Sandbox) -> None:
    script = "printf '%s' \"$(head -c 4096 /dev/zero | tr '\\0' x)\" > /proc/1/mem; echo done"
    seen = run(sandbox, script)
    assert seen.ended is Ended.FINISHED
    assert run(sandbox, "echo as before").stdout == "as before\n"


@pytest.mark.slow
def test_root_becomes_a_user_that_nothing_else_is(sandbox: Sandbox) -> None:
    if os.getuid() != 0:
        pytest.skip("only root has to become somebody else")
    mark = f"33.{os.getpid()}"
    with ThreadPoolExecutor() as pool:
        ends = pool.submit(run, sandbox, f"sleep {mark}", replace(BRIEF, seconds=4))
        users = set()
        while not ends.done():
            users |= set(find_processes(mark).values())
            time.sleep(0.05)
    assert users <= set(range(FIRST_USER, FIRST_USER + SLOTS))
    assert users


HARD_TO_READ = {
    "nested folders": "d() { mkdir d; cd d; }; for i in {1..99}; do d; done",
    "cyclic links": "ln -s loop /tmp/loop; ln -s /tmp /tmp/self; ls /tmp",
    "a pipe that nobody writes to": "mkfifo /tmp/pipe; echo",
    "a socket": "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => q(/tmp/s), Listen => 1)'",
    "no rights": "mkdir -m 0 /tmp/closed; umask 777; echo x > /tmp/unreadable",
}


@pytest.mark.slow
def test_world_that_is_hard_to_read_is_read(sandbox: Sandbox, subtests: pytest.Subtests) -> None:
    for name, script in HARD_TO_READ.items():
        with subtests.test(name):
            seen = sandbox.run(PreparedRun(script=script, limits=BRIEF))
            assert seen.runs[0].ended is Ended.FINISHED
            assert set(seen.runs[0].after) > set(seen.before)
    script = "for i in {1..150}; do mkdir d; cd d; done"
    assert sandbox.run(PreparedRun(script=script, limits=BRIEF)).cut == "folders more than 100 deep"


@pytest.mark.slow
def test_long_names_in_deep_folders_are_not_all_carried_home(sandbox: Sandbox) -> None:
    script = (
        "n=$(printf 'x%.0s' {1..200}); for i in {1..90}; do mkdir $n; cd $n; done;"
        "for i in {1..300}; do : > $n$i; done"
    )
    seen = sandbox.run(PreparedRun(script=script, limits=BRIEF))
    assert seen.cut == "too many files, or too long names"
    assert sum(map(len, seen.runs[0].after)) <= 2 << 20


def test_second_run_does_not_follow_planted_link(sandbox: Sandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    for target in (f"/oldroot{tmp_path}", str(tmp_path)):
        script = f"mv /etc /other; ln -s {target} /etc"
        seen = sandbox.run(PreparedRun(script=script, runs=2, limits=BRIEF))
        assert seen.not_again == "The script replaced /etc, so it can't be run again."
        assert len(seen.runs) == 1 and seen.runs[0].after, "what the first run did stands"
    assert list(tmp_path.iterdir()) == []


def test_its_input_cannot_be_written_to(sandbox: Sandbox) -> None:
    seen = sandbox.run(
        PreparedRun(script="echo x > /proc/self/fd/0; cat", stdin="given\n", runs=2, limits=BRIEF)
    )
    assert [run.stdout for run in seen.runs] == ["given\n"] * 2
    assert "Operation not permitted" in seen.runs[0].stderr


@pytest.mark.slow
def test_a_reply_that_nobody_reads_keeps_nobody_from_looking(sandbox: Sandbox) -> None:
    """The memory guard must keep working while a connection is full."""
    commands: tuple[CommandRequest, ...] = (
        {"name": "x", "mode": "reply", "rules": [{"stdout": "y" * 20_000_000}]},
    )
    ask = "exec 9<>/dev/tcp/127.255.255.254/1; printf 'x\\0000\\000' >&9; "
    script = f"{ask} sleep 0.2; perl -e 'push @x, \"a\" x 1e6 while 1'"
    limits = replace(BRIEF, memory_bytes=64 << 20)
    seen = sandbox.run(PreparedRun(script=script, commands=commands, limits=limits)).runs[0]
    assert (seen.ended, len(seen.calls)) == (Ended.TOO_MUCH_MEMORY, 1)


@pytest.mark.slow
def test_more_calls_than_are_kept_are_said_to_be(sandbox: Sandbox) -> None:
    commands: tuple[CommandRequest, ...] = ({"name": "x", "mode": "reply", "rules": [{}]},)
    ask = "exec 9<>/dev/tcp/127.255.255.254/1; printf 'x\\0000\\000' >&9; read -r -d '' <&9"
    script = f"for i in {{1..510}}; do {ask}; done"
    seen = sandbox.run(PreparedRun(script=script, commands=commands))
    assert len(seen.runs[0].calls) == 500
    assert seen.cut == "more than 500 calls of stubbed commands"


def test_names_and_bytes_that_are_no_text_come_back(sandbox: Sandbox) -> None:
    seen = run(sandbox, r"touch $'/tmp/\xff\n'; printf '\xfe'; ln -s ../../../etc/shadow /tmp/link")
    assert seen.stdout == "\udcfe"
    assert seen.after["/tmp/\udcff\n"].kind == "file"
    assert (seen.after["/tmp/link"].kind, seen.after["/tmp/link"].content) == ("link", None)


def find_processes(mark: str) -> dict[str, int]:
    """Return the processes whose command line contains the mark, with the user ID of each."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:  # a process may exit during the check
            if mark in (process / "cmdline").read_text(errors="replace"):
                found[process.name] = process.stat().st_uid
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(session_niceness() is None, reason="the kernel has no autogroups")
@pytest.mark.parametrize(
    "begin",
    [
        pytest.param("", id="of bubblewrap"),
        pytest.param("setsid ", id="of the script"),
        pytest.param("echo 0 > /proc/self/autogroup; ", id="reset by the script"),
    ],
)
def test_session_that_lasts_becomes_nice(sandbox: Sandbox, begin: str) -> None:
    niceness = min(os.getpriority(os.PRIO_PROCESS, 0) + PRIORITY, LEAST_NICE)
    look = f'[[ $(</proc/self/autogroup) == *" {niceness}" ]] && echo nice && break; sleep 0.05'
    seen = run(sandbox, f"{begin}bash -c 'for _ in {{1..200}}; do {look}; done'")
    assert seen.stdout == "nice\n"


@pytest.mark.slow
def test_helper_stays_in_the_session_of_its_worker(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor() as threads:
        running = threads.submit(run, sandbox, "sleep 1")
        helpers: set[int] = set()
        while not running.done() and not helpers:
            found = map(int, find_processes("catalog.execution.helper.process"))
            helpers = {pid for pid in found if processes.parent(pid) == os.getpid()}
        assert {os.getsid(pid) for pid in helpers} == {os.getsid(0)}
        running.result()
