"""The types for a run in a sandbox and for its results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from catalog.execution.helper.messages import CommandRequest, FileRequest
from catalog.execution.helper.world import WorldRefused, split_path

MEGABYTE = 1 << 20

# Names of stubs and processes, which become file names.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,60}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
_HOST_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
PROC_FILES = ("cpuinfo", "loadavg", "meminfo", "stat", "swaps", "uptime", "version")
# The programs that run the script or that a stub needs.
NEVER_STUBBED = ("base64", "bash", "env", "sh")
# Variables that would affect the shell that runs the script.
RESERVED_VARIABLES = ("BASHOPTS", "BASH_ENV", "ENV", "LD_LIBRARY_PATH", "LD_PRELOAD", "SHELLOPTS")
LARGEST_SCRIPT = 1_000_000
LARGEST_ARGUMENTS = 100_000  # bytes, for arguments and environment together


class CannotBePrepared(ValueError):
    """The run can't be prepared. The message is shown to users."""


class SandboxFailed(Exception):
    """The infrastructure failed. The failure proves nothing about the script, and the state is *not run*."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The resource limits of one run."""

    # The wall time limit is several times the processor time limit, because runs have a low priority.
    seconds: float = 20
    cpu_seconds: int = 5  # for all processes together
    memory_bytes: int = 256 * MEGABYTE  # for all processes together
    process_count: int = 64
    output_bytes: int = 64 << 10  # each for stdout and stderr
    disk_bytes: int = 32 * MEGABYTE
    inodes: int = 5000


@dataclass(frozen=True, kw_only=True)
class PreparedRun:
    """A script and the scenario that it runs in. Raises CannotBePrepared if a value is invalid."""

    script: str
    arguments: tuple[str, ...] = ()
    stdin: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/root"
    hostname: str = "web-1"
    files: tuple[FileRequest, ...] = ()
    commands: tuple[CommandRequest, ...] = ()
    # The initial states of stubbed commands.
    states: Mapping[str, str] = field(default_factory=dict)
    failing_call: int | None = None  # index, from 0, of the stubbed call that fails
    processes: tuple[str, ...] = ()
    proc: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    runs: int = 1  # in sequence, in the same scenario

    def __post_init__(self) -> None:
        _refuse_nul("script", self.script)
        if len(self.script.encode("utf-8", "surrogateescape")) > LARGEST_SCRIPT:
            raise CannotBePrepared(f"The script is larger than {LARGEST_SCRIPT:,} bytes.")
        for argument in self.arguments:
            _refuse_nul("argument", argument)
        for name, value in self.environment.items():
            if not _VARIABLE.fullmatch(name) or name in RESERVED_VARIABLES:
                raise CannotBePrepared(f"{name!r} can't be used as a variable of the script.")
            _refuse_nul(name, value)
        given = sum(map(len, (*self.arguments, *self.environment, *self.environment.values())))
        if given > LARGEST_ARGUMENTS:
            raise CannotBePrepared("The arguments and the environment are too long.")
        if not _HOST_NAME.fullmatch(self.hostname):
            raise CannotBePrepared(f"{self.hostname!r} is not a valid host name.")
        for path in (*(file["path"] for file in self.files), *_below_root(self.cwd)):
            _refuse_path(path)
        for name in (*(command["name"] for command in self.commands), *self.processes):
            if not _PLAIN_NAME.fullmatch(name):
                raise CannotBePrepared(f"{name!r} is not a valid command name.")
        for command in self.commands:
            if command["name"] in NEVER_STUBBED:
                raise CannotBePrepared(f"{command['name']} can't be stubbed.")
        for name in self.proc:
            if name not in PROC_FILES:
                raise CannotBePrepared(f"/proc/{name} can't be set.")


def _below_root(folder: str) -> tuple[str, ...]:
    return () if folder == "/" else (folder,)


def _refuse_nul(what: str, text: str) -> None:
    if "\0" in text:
        raise CannotBePrepared(f"The {what} contains a NUL byte.")


def _refuse_path(path: str) -> None:
    try:
        split_path(path)
    except WorldRefused as error:
        raise CannotBePrepared(str(error)) from error


class Ended(StrEnum):
    """The reason why a run ended."""

    FINISHED = "finished"
    TIMED_OUT = "timed out"
    TOO_MUCH_WORK = "too much processor time"
    TOO_MUCH_OUTPUT = "too much output"
    TOO_MUCH_MEMORY = "too much memory"
    MACHINE_SHORT = "machine short of memory"  # other programs may have used it


@dataclass(frozen=True)
class Entry:
    """A path in a scenario. File contents are stored only if they are small."""

    kind: str  # file, folder, link, fifo, socket, other
    mode: int
    size: int
    modified: int  # whole seconds since 1970
    sha256: str | None
    target: str | None
    content: str | None


@dataclass(frozen=True)
class Call:
    """A call to a stubbed command. The log of calls is not reliable, because a script can add calls to it."""

    command: str
    arguments: tuple[str, ...]
    stdin: str | None  # None if the command did not read it
    status: int | None  # None if the command ran another program
    prepared: bool  # False if no reply matched
    reads: bool = False  # whether its rule declares that the call changes nothing

    def __str__(self) -> str:
        return " ".join((self.command, *self.arguments))


@dataclass(frozen=True)
class RunObservation:
    """The results of one run. Bytes that are not valid UTF-8 appear in strings as unpaired surrogates."""

    ended: Ended
    status: int | None  # as Bash reports it, or None if the run was killed
    stdout: str
    stderr: str
    seconds: float
    peak_memory: int  # in bytes, measured every 50 ms
    processes_seen: int
    calls: tuple[Call, ...]
    after: Mapping[str, Entry]


@dataclass(frozen=True)
class Observation:
    """A scenario before its runs and after each run."""

    started: float  # the time that ages refer to
    before: Mapping[str, Entry]
    runs: tuple[RunObservation, ...]
    cut: str | None  # which part of the scenario was not read, or None
    seconds: Mapping[str, float]
    not_again: str | None = None  # why the first run made a second run impossible


class Sandbox(Protocol):
    """An isolated environment for scripts."""

    name: str

    def run(self, prepared: PreparedRun) -> Observation:
        """Run the script and clean up. Raises SandboxFailed and CannotBePrepared."""
        ...
