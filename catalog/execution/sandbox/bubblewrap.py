"""The built-in sandbox. The sandbox starts one helper process per scenario, which starts bubblewrap."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import cast

from catalog.execution.helper.messages import EntryReply, Failure, Reply, Request, RunReply
from catalog.execution.helper.process import BESIDE_THE_RUNS
from catalog.execution.sandbox.programs import Bubblewrap
from catalog.execution.sandbox.types import (
    Call,
    CannotBePrepared,
    Ended,
    Entry,
    Observation,
    PreparedRun,
    RunObservation,
    SandboxFailed,
)

_ROOT = Path(__file__).parents[3]
# Python runs in isolated mode and without the site module, so it ignores environment variables, the working folder and
# .pth files.
_START = "import sys; sys.path.insert(0, {root!r}); from catalog.execution.helper.process import main; main()"
# The helper mounts over one of these folders in its own namespace. The folder itself does not change.
_MOUNT_POINTS = ("/mnt", "/srv", "/media", "/opt", "/tmp")


class HelperFailed(SandboxFailed):
    """The helper failed at the given step."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure['failed']}: {failure['message']}")
        self.step = failure["failed"]
        self.errno = failure["errno"]


class BubblewrapSandbox:
    """A sandbox with read-only access to the host's programs and no access to the host's other files."""

    name = "bubblewrap"

    def __init__(self, bubblewrap: Bubblewrap) -> None:
        self.version = bubblewrap.version
        self._bubblewrap = bubblewrap
        self._mount_point = _choose_mount_point(bubblewrap.path)

    def run(self, prepared: PreparedRun) -> Observation:
        """Run the script and clean up. Raises SandboxFailed and CannotBePrepared."""
        limit = prepared.limits.seconds * prepared.runs + BESIDE_THE_RUNS + 5
        reply = _ask_helper(self._request(prepared), limit)
        return Observation(
            started=reply["started"],
            before=_read_entries(reply["before"]),
            runs=tuple(_read_run(run) for run in reply["runs"]),
            cut=reply["cut"],
            seconds=reply["seconds"],
            not_again=reply["not_again"],
        )

    def _request(self, prepared: PreparedRun) -> Request:
        return Request(
            bubblewrap=self._bubblewrap.path,
            bubblewrap_files=self._bubblewrap.files,
            mount_point=self._mount_point,
            script=prepared.script,
            arguments=list(prepared.arguments),
            stdin=prepared.stdin,
            environment=dict(prepared.environment),
            cwd=prepared.cwd,
            hostname=prepared.hostname,
            files=list(prepared.files),
            commands=list(prepared.commands),
            states=dict(prepared.states),
            failing_call=prepared.failing_call,
            processes=list(prepared.processes),
            proc=dict(prepared.proc),
            limits=asdict(prepared.limits),  # type: ignore[typeddict-item]
            runs=prepared.runs,
        )


def _choose_mount_point(bubblewrap: str) -> str:
    for folder in _MOUNT_POINTS:
        if os.path.isdir(folder) and not bubblewrap.startswith(f"{folder}/"):
            return folder
    raise SandboxFailed(f"none of {', '.join(_MOUNT_POINTS)} is a folder to mount over")


def _ask_helper(request: Request, limit: float) -> Reply:
    """Send the request to a new helper process and return the reply. If the calling thread exits, the kernel kills the
    helper and its processes.
    """
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START.format(root=str(_ROOT))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        # Start a process group but no session. A session has its own niceness and would compete with the web server.
        process_group=0,
    )
    try:
        stdout, stderr = process.communicate(json.dumps(request).encode(), timeout=limit)
    except subprocess.TimeoutExpired as error:
        raise SandboxFailed(f"the helper did not answer within {limit:.0f} seconds") from error
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    try:
        reply: Reply | Failure = json.loads(stdout)
    except ValueError as error:
        said = stderr.decode("utf-8", "replace").strip()[-2000:]
        raise SandboxFailed(
            f"the helper exited with {process.returncode} and no reply: {said}"
        ) from error
    if "failed" not in reply:
        return reply
    failure = cast("Failure", reply)
    if failure["failed"] == "world":
        raise CannotBePrepared(failure["message"])
    raise HelperFailed(failure)


def _read_entries(entries: dict[str, EntryReply]) -> dict[str, Entry]:
    return {path: Entry(**entry) for path, entry in entries.items()}


def _read_run(run: RunReply) -> RunObservation:
    return RunObservation(
        ended=Ended(run["ended"]),
        status=run["status"],
        stdout=run["stdout"],
        stderr=run["stderr"],
        seconds=run["seconds"],
        peak_memory=run["peak_memory"],
        processes_seen=run["processes_seen"],
        calls=tuple(
            Call(
                command=call["command"],
                arguments=tuple(call["arguments"]),
                stdin=call["stdin"],
                status=call["status"],
                prepared=call["prepared"],
                reads=call["reads"],
            )
            for call in run["calls"]
        ),
        after=_read_entries(run["after"]),
    )
