"""What the helper is asked and what it answers, as JSON; both sides are typed by this module."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Ended = Literal[
    "finished",
    "timed out",
    "too much processor time",
    "too much output",
    "too much memory",
    "machine short of memory",
]


class FileRequest(TypedDict):
    """One file, folder or link of the world. Paths are absolute; ages are seconds before the start."""

    path: str
    kind: Literal["file", "folder", "link"]
    content: NotRequired[str]
    size: NotRequired[int]  # bytes of filler, in place of content
    mode: NotRequired[int]
    target: NotRequired[str]  # of a link
    age: NotRequired[float]
    accessed: NotRequired[float]


class RuleRequest(TypedDict):
    """One recorded reply: the first whose patterns and states fit is given."""

    args: NotRequired[list[str]]  # a pattern an argument; a last "**" takes any number; absent: any
    requires: NotRequired[
        dict[str, str]
    ]  # named states; a name such as "$2" is the second argument
    stdin: NotRequired[str]  # a pattern; its presence makes the command read its input
    stdout: NotRequired[str]
    stderr: NotRequired[str]
    exit: NotRequired[int]
    sets: NotRequired[dict[str, str]]
    reads: NotRequired[bool]  # the call changes nothing, says who wrote the case


class CommandRequest(TypedDict):
    """A command that is recorded: it gives a prepared reply, runs its arguments, or runs for real."""

    name: str
    mode: Literal["reply", "sudo", "su", "real"]
    rules: list[RuleRequest]
    # Patterns of calls that read their input to its end, so that nobody who writes to them meets a closed pipe.
    input: NotRequired[list[list[str]]]


class LimitsRequest(TypedDict):
    seconds: float  # of wall time, each run
    cpu_seconds: int  # of all processes together
    memory_bytes: int  # of all processes together
    process_count: int
    output_bytes: int  # of stdout and of stderr, each
    disk_bytes: int
    inodes: int


class Request(TypedDict):
    bubblewrap: str
    bubblewrap_files: dict[str, str]  # what is copied for it: name below its folder, path here
    mount_point: str
    script: str
    arguments: list[str]
    stdin: str
    environment: dict[str, str]
    cwd: str
    hostname: str
    files: list[FileRequest]
    commands: list[CommandRequest]
    states: dict[str, str]  # that rules ask for, before the first call
    failing_call: int | None  # the number, from 0, of the recorded call that fails
    processes: list[str]
    proc: dict[str, str]
    limits: LimitsRequest
    runs: int  # one after the other in the same world


class EntryReply(TypedDict):
    """One path of a world that was looked at."""

    kind: str
    mode: int
    size: int
    modified: int  # whole seconds since 1970
    sha256: str | None  # None for what is no file, or too large to read
    target: str | None
    content: str | None  # of small files


class CallReply(TypedDict):
    command: str
    arguments: list[str]
    stdin: str | None
    status: int | None  # None where the command went on to run something
    prepared: bool
    reads: bool  # as its rule says


class RunReply(TypedDict):
    ended: Ended
    status: int | None  # as bash says it: 128 and the signal's number where one ended it
    stdout: str
    stderr: str
    seconds: float
    peak_memory: int
    processes_seen: int
    calls: list[CallReply]
    after: dict[str, EntryReply]


class Reply(TypedDict):
    started: float  # the moment that ages count from, seconds since 1970
    before: dict[str, EntryReply]
    runs: list[RunReply]
    not_again: str | None  # why the script could not be run once more
    cut: str | None  # what of the world was not looked at
    seconds: dict[str, float]


class Failure(TypedDict):
    """The infrastructure failed, never the script."""

    failed: str  # at which step
    message: str
    errno: int | None
