"""The main function of the helper process, which `catalog.execution.sandbox` starts."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, TypeVar, cast

from catalog.execution.helper import kernel
from catalog.execution.helper.command_line import Places, build_arguments, build_command
from catalog.execution.helper.messages import EntryReply, Failure, Reply, Request, RunReply
from catalog.execution.helper.recorded_commands.replies import Replies
from catalog.execution.helper.recorded_commands.stubs import listen, write_stubs
from catalog.execution.helper.script_run import SandboxBroken, ScriptRun
from catalog.execution.helper.snapshot import Snapshot, take_snapshot
from catalog.execution.helper.system_call_filter.program import UntestedArchitecture, build_filter
from catalog.execution.helper.user import drop_root
from catalog.execution.helper.world import WorldRefused, build_world, restore_mount_points

T = TypeVar("T")

NOT_TRUSTED = kernel.MS_NOSUID | kernel.MS_NODEV

BESIDE_THE_RUNS = 20  # seconds in addition to the script's own time limit
PRIVATE_SIZE = "16m"
SHARED_MEMORY = "size=1m,nr_inodes=500,mode=1777"
# These limits include the user's other programs outside of the sandbox.
OWN_LIMITS = {"max_inotify_instances": 16, "max_fanotify_groups": 4}


def main() -> NoReturn:
    """Read the request, then reply from the first process of a new PID namespace."""
    request = cast("Request", json.load(sys.stdin.buffer))
    programs = _read_programs(request)  # while this process still has permission to read them
    reserved = _attempt("user", drop_root)
    kernel.die_with_parent()
    _attempt("namespaces", _enter_namespaces)
    gate_read, gate_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(gate_write)
        _be_first_process(request, programs, gate_read)
    os.close(gate_read)
    os.write(gate_write, b"go")
    limit = request["limits"]["seconds"] * request["runs"] + BESIDE_THE_RUNS
    if not _wait(child, limit):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if reserved is not None:
        reserved.close()
    sys.exit(os.waitstatus_to_exitcode(status) != 0)


def _attempt(step: str, call: Callable[[], T]) -> T:
    """Return the result of the call. If the call raises OSError, reply with a failure and exit."""
    try:
        return call()
    except OSError as error:
        _answer(_failure(step, error))
        sys.exit(1)


def _wait(child: int, limit: float) -> bool:
    """Wait until the child exits. Return False after a timeout, or if the reader of the reply has closed the pipe."""
    process = os.pidfd_open(child)
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.register(sys.stdout.fileno(), 0)  # reports only that the reader has closed the pipe
    found = poll.poll(limit * 1000)
    return bool(found) and all(descriptor == process for descriptor, _ in found)


def _enter_namespaces() -> None:
    user, group = os.getuid(), os.getgid()
    kernel.unshare(
        kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET
    )
    for name, content in (
        ("setgroups", "deny"),
        ("uid_map", f"0 {user} 1"),
        ("gid_map", f"0 {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as opened:
            opened.write(content)


def _be_first_process(request: Request, programs: dict[str, bytes], gate: int) -> NoReturn:
    """Handle the request, reply and exit. The function never returns to `main`."""
    status = 1
    try:
        kernel.die_with_parent()
        if os.read(gate, 2):  # empty if the parent has already exited
            os.close(gate)
            _answer(_run_all(request, programs))
            status = 0
    except WorldRefused as error:
        _answer(Failure(failed="world", message=str(error), errno=None))
    except UntestedArchitecture as error:
        _answer(Failure(failed="architecture", message=str(error), errno=None))
    except SandboxBroken as error:
        _answer(Failure(failed="bubblewrap", message=str(error), errno=None))
    except OSError as error:
        _answer(_failure("sandbox", error))
    except Exception as error:  # a traceback would not be shown
        _answer(Failure(failed="helper", message=repr(error), errno=None))
    finally:
        os._exit(status)


def _run_all(request: Request, programs: dict[str, bytes]) -> Reply:
    begun = time.monotonic()
    places = _mount(request)
    bubblewrap = _write_private_files(request, programs, places)
    kernel.bring_loopback_up()
    asking = listen()
    bpf = build_filter(os.uname().machine)
    # Use a whole second, because snapshots store timestamps in whole seconds.
    now = float(int(time.time()))
    root = os.open(places.world, os.O_RDONLY | os.O_DIRECTORY)
    build_world(root, request["files"], request["hostname"], now)
    before = take_snapshot(root)
    seconds = {"world": time.monotonic() - begun, "sandbox": 0.0}
    options, command = build_arguments(request, places), build_command(request)
    replies = Replies(request["commands"], request["states"], request["failing_call"])
    runs = []
    cut, not_again = before.cut, None
    for number in range(request["runs"]):
        try:
            restore_mount_points(root)
        except WorldRefused as error:
            if number == 0:
                raise
            # Keep the results of the first run. The script caused the state that prevents a second run.
            not_again = str(error)
            break
        # Mount over the previous run's file system to hide its content.
        kernel.mount("shm", places.shared_memory, "tmpfs", NOT_TRUSTED, SHARED_MEMORY)
        run = ScriptRun(request["limits"], replies, asking)
        run.run([bubblewrap, *command], options, bpf, request["stdin"])
        seconds["sandbox"] += run.seconds
        after = take_snapshot(root)
        cut = cut or after.cut or replies.cut
        runs.append(_describe(run, replies, after))
    seconds["all"] = time.monotonic() - begun
    return Reply(
        started=now,
        before=before.entries,
        runs=runs,
        not_again=not_again,
        cut=cut,
        seconds=seconds,
    )


def _mount(request: Request) -> Places:
    """Mount two private file systems and a /proc for the new namespace."""
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    private = request["mount_point"]
    for name, most in OWN_LIMITS.items():
        with suppress(OSError):  # an older kernel may not have this limit
            _write(f"/proc/sys/user/{name}", str(most).encode())
    kernel.mount("helper", private, "tmpfs", NOT_TRUSTED, f"size={PRIVATE_SIZE},mode=755")
    world, shared_memory = f"{private}/world", f"{private}/shm"
    os.mkdir(world)
    os.mkdir(shared_memory)
    limits = request["limits"]
    size = f"size={limits['disk_bytes']},nr_inodes={limits['inodes']},mode=755"
    kernel.mount("world", world, "tmpfs", NOT_TRUSTED, size)
    return Places(
        world=world,
        script=f"{private}/script.sh",
        stubs=f"{private}/stubs",
        processes=f"{private}/processes",
        proc=f"{private}/proc",
        nothing=f"{private}/nothing",
        empty=f"{private}/empty",
        shared_memory=shared_memory,
    )


def _write_private_files(request: Request, programs: dict[str, bytes], places: Places) -> str:
    """Write the files that are mounted into the sandbox or used by the helper. Return the path of bubblewrap."""
    private = request["mount_point"]
    for name, content in programs.items():
        path = f"{private}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write(path, content, 0o755)
    _write(places.script, request["script"].encode("utf-8", "surrogateescape"), 0o755)
    _write(places.nothing, b"", 0o444)
    write_stubs(places.stubs, request["commands"])
    os.mkdir(places.processes)
    os.mkdir(places.empty)
    os.mkdir(places.proc)
    if request["processes"]:
        with open("/usr/bin/sleep", "rb") as opened:
            sleep = opened.read()
        for name in request["processes"]:
            _write(f"{places.processes}/{name}", sleep, 0o755)
    for name, text in request["proc"].items():
        _write(f"{places.proc}/{name}", text.encode(), 0o444)
    path = request["bubblewrap"]
    return path if path.startswith("/") else f"{private}/{path}"


def _read_programs(request: Request) -> dict[str, bytes]:
    """Read bubblewrap's files, because the sandbox user can't read a virtual environment below /root."""
    contents = {}
    for name, path in request["bubblewrap_files"].items():
        with open(path, "rb") as opened:
            contents[name] = opened.read()
    return contents


def _write(path: str, content: bytes, mode: int | None = None) -> None:
    with open(path, "wb") as opened:
        opened.write(content)
    if mode is not None:
        os.chmod(path, mode)


def _describe(run: ScriptRun, replies: Replies, after: Snapshot) -> RunReply:
    calls, replies.calls = replies.calls, []
    entries: dict[str, EntryReply] = after.entries
    return RunReply(
        ended=run.ended,
        status=run.status,
        stdout=run.stdout.decode("utf-8", "surrogateescape"),
        stderr=run.stderr.decode("utf-8", "surrogateescape"),
        seconds=run.seconds,
        peak_memory=run.guard.peak,
        processes_seen=run.guard.most_processes,
        calls=calls,
        after=entries,
    )


def _failure(step: str, error: OSError) -> Failure:
    return Failure(failed=step, message=str(error), errno=error.errno)


def _answer(reply: Reply | Failure) -> None:
    data = json.dumps(reply).encode()
    while data:
        data = data[os.write(sys.stdout.fileno(), data) :]
