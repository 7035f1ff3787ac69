"""Tests for the messages if no script can run, and for leftovers after processes are killed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bench.execution import execution
from bench.figures import is_held
from catalog.execution.sandbox import (
    Availability,
    Limits,
    PreparedRun,
    Sandbox,
    SandboxFailed,
    find_sandbox,
    programs,
)
from catalog.execution.sandbox.bubblewrap import BubblewrapSandbox
from tests.catalog.execution.cases.writing import case_data, set_data

ROOT = Path(__file__).parents[4]


def test_probe_names_sandbox_and_programs(availability: Availability, sandbox: Sandbox) -> None:
    assert set(availability.fingerprint.parts) == {
        "sandbox", "linux", "machine", "bash", "coreutils", "findutils", "grep", "sed", "awk", "awk-version",
        "tar", "gzip", "xz", "jq", "perl", "python3", "git", "diff", "bc", "file",
    }  # fmt: skip
    assert all(availability.fingerprint.parts.values())
    assert str(availability).startswith("bubblewrap: sandbox bubblewrap ")
    assert len(availability.fingerprint.sha256) == 64


def run_without_namespaces(*words: str) -> tuple[int, str]:
    """Run Python in a user namespace that allows no nested namespaces, and return the exit status and output."""
    forbid = (
        "echo ready; read; echo 0 > /proc/sys/user/max_user_namespaces;"
        f"exec {shlex.join([sys.executable, *words])}"
    )
    asked = subprocess.Popen(
        ["unshare", "-U", "--keep-caps", "bash", "-c", forbid],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert asked.stdout.readline() == "ready\n"
    # Root must map all of its users, because the kernel rejects a map with only root.
    users = "0 0 65536" if os.getuid() == 0 else f"0 {os.getuid()} 1"
    Path(f"/proc/{asked.pid}/setgroups").write_text("deny" if os.getuid() else "allow")
    Path(f"/proc/{asked.pid}/uid_map").write_text(users)
    Path(f"/proc/{asked.pid}/gid_map").write_text(users.replace(str(os.getuid()), str(os.getgid())))
    said, _ = asked.communicate("go\n", timeout=60)
    return asked.returncode, said


@pytest.mark.slow
def test_missing_user_namespaces_are_the_reason(sandbox: Sandbox, tmp_path: Path) -> None:
    removes = {"check": "removed", "exactly": ["/srv/old.log"]}
    cases, script = tmp_path / "cases.json", tmp_path / "script.sh"
    cases.write_text(json.dumps(set_data(case_data(removes))))
    script.write_text(f"touch {tmp_path}/it-was-run\n")
    tmp_path.chmod(0o755)
    status, said = run_without_namespaces(
        "manage.py", "run_cases", str(cases), str(script), "--json", "--quality"
    )
    document = json.loads(said)
    assert status == 2 and not (tmp_path / "it-was-run").exists()
    (check,) = document["cases"][0]["checks"]
    assert check["state"] == "not run" and "user.max_user_namespaces" in check["got"]
    assert check["got"].startswith("the kernel allows no more user namespaces")
    assert document["fingerprint"] is None and document["quality"] is None


@pytest.mark.nightly
@pytest.mark.timeout(1_500)
@pytest.mark.usefixtures("sandbox")
def test_nothing_is_left_after_many_killed_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill worker, helper or first process at random moments. No process, mount or file may remain."""
    monkeypatch.setattr(execution, "KILLED_RUNS", 200)
    monkeypatch.setattr(execution, "KILLS", 50)
    figures = execution.kill_at_random()
    assert all(is_held(figure) for figure in figures), figures
    _runs, killed, *left = figures
    for name in ("worker", "helper", "first of the namespace"):
        assert name in killed["note"]
    assert [figure["value"] for figure in left] == [0] * 3, left


def test_a_bubblewrap_with_other_bytes_is_never_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    wanted = programs.WHEEL_FILES[os.uname().machine]
    monkeypatch.setitem(programs.WHEEL_FILES, os.uname().machine, dict.fromkeys(wanted, "0" * 64))
    found = find_sandbox()
    assert found.sandbox is None
    assert "is not the tested file" in found.reason


def test_old_bubblewrap_on_path_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho bubblewrap 0.8.0\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [found.path for found in programs.find_bubblewraps()] == [
        f"bubblewrap/{next(iter(programs.WHEEL_FILES[os.uname().machine]))}"
    ]


@pytest.mark.slow
def test_a_bubblewrap_on_the_path_that_does_not_work_is_no_reason_to_give_up(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho bubblewrap 0.99.0\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert "bubblewrap 0.11.0" in str(find_sandbox())


def test_an_architecture_that_nobody_tried_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.uname()
    other = os.uname_result((*real[:4], "riscv64"))
    monkeypatch.setattr(os, "uname", lambda: other)
    assert "riscv64" in find_sandbox().reason


def test_root_that_can_become_nobody_else_runs_nothing(sandbox: Sandbox) -> None:
    if os.getuid() != 0:
        pytest.skip("only root has to become somebody else")
    ask = "from catalog.execution.sandbox import find_sandbox; print(find_sandbox())"
    asked = subprocess.run(
        ["unshare", "-Ur", sys.executable, "-c", ask],
        capture_output=True, text=True, timeout=60, check=True, cwd=ROOT,
    )  # fmt: skip
    assert "root has no other user to become" in asked.stdout
    assert "Run the worker as an ordinary user." in asked.stdout


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["worker", "helper", "first process"])
def test_whatever_is_killed_nothing_is_left(sandbox: Sandbox, victim: str) -> None:
    mark = f"34.{os.getpid()}"
    run = (
        "from catalog.execution.sandbox import *;"
        f"find_sandbox().sandbox.run(PreparedRun(script='sleep {mark}'))"
    )
    mounts = Path("/proc/self/mountinfo").read_text()
    worker = subprocess.Popen(
        [sys.executable, "-c", run], cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for(lambda: bool(list_processes(mark)))
        helper, first = find_helpers(worker.pid)
        os.kill({"worker": worker.pid, "helper": helper, "first process": first}[victim], 9)
        wait_for(lambda: not list_processes(mark))
        worker.wait(120)
        wait_for(lambda: not any(is_alive(process) for process in (helper, first)))
    finally:
        worker.kill()
        worker.wait()
    assert Path("/proc/self/mountinfo").read_text() == mounts


def test_killed_helper_is_failure_of_sandbox_and_not_of_script(sandbox: Sandbox) -> None:
    mark = f"35.{os.getpid()}"

    def kill_helper() -> None:
        wait_for(lambda: bool(list_processes(mark)))
        helper, _ = find_helpers(os.getpid())
        os.kill(helper, signal.SIGKILL)

    killer = threading.Thread(target=kill_helper)
    killer.start()
    with pytest.raises(SandboxFailed, match="no reply"):
        sandbox.run(PreparedRun(script=f"sleep {mark}"))
    killer.join()


def test_a_broken_bubblewrap_is_a_failure_of_the_sandbox(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no luck >&2\nexit 1\n")
    broken.chmod(0o755)
    sandbox = BubblewrapSandbox(programs.Bubblewrap("bwrap", {"bwrap": str(broken)}, "0.11.0"))
    with pytest.raises(SandboxFailed, match="no luck"):
        sandbox.run(PreparedRun(script="exit 1", limits=Limits(seconds=2)))


def wait_for(condition: object, seconds: float = 120) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def list_processes(mark: str) -> list[int]:
    """Return the processes that have the mark as a separate argument, which excludes their parents."""
    return [
        int(process.parent.name)
        for process in Path("/proc").glob("[0-9]*/cmdline")
        if mark.encode() in read(process).split(b"\0")
    ]


def find_helpers(parent: int) -> tuple[int, int]:
    """Return the helper of this process and the first process in the helper's namespace."""
    (helper,) = [child for child in children(parent) if b"helper.process" in cmdline(child)]
    (first,) = children(helper)
    return helper, first


def children(parent: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{parent}/task").glob("*/children")
        for child in read(task).split()
    ]


def cmdline(process: int) -> bytes:
    return read(Path(f"/proc/{process}/cmdline"))


def is_alive(process: int) -> bool:
    return bool(cmdline(process))  # a zombie process has no command line


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
