"""The types of the helper's JSON requests and replies, used by both sides."""

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
    """A file, folder or link of the scenario. Paths are absolute. Ages are in seconds before the start."""

    path: str
    kind: Literal["file", "folder", "link"]
    content: NotRequired[str]
    size: NotRequired[int]  # bytes of filler, in place of content
    mode: NotRequired[int]
    target: NotRequired[str]  # a link's target
    age: NotRequired[float]
    accessed: NotRequired[float]


class RuleRequest(TypedDict):
    """A stubbed reply. The first rule whose patterns and states match is used."""

    # One pattern per argument. A final "**" matches any arguments. Without `args`, all calls match.
    args: NotRequired[list[str]]
    # Named states. In a name, "$2" is replaced by the second argument.
    requires: NotRequired[dict[str, str]]
    stdin: NotRequired[str]  # a pattern, which makes the command read its input
    stdout: NotRequired[str]
    stderr: NotRequired[str]
    exit: NotRequired[int]
    sets: NotRequired[dict[str, str]]
    reads: NotRequired[bool]  # whether the test's author declares that the call changes nothing


class CommandRequest(TypedDict):
    """A stubbed command: it returns a prepared reply, runs its arguments or runs the real program."""

    name: str
    mode: Literal["reply", "sudo", "su", "real"]
    rules: list[RuleRequest]
    # Patterns of calls that read all of their input, so that the writing process never gets a broken pipe.
    input: NotRequired[list[list[str]]]


class LimitsRequest(TypedDict):
    seconds: float  # wall time per run
    cpu_seconds: int  # for all processes together
    memory_bytes: int  # for all processes together
    process_count: int
    output_bytes: int  # each for stdout and stderr
    disk_bytes: int
    inodes: int


class Request(TypedDict):
    bubblewrap: str
    bubblewrap_files: dict[str, str]  # files copied for bubblewrap, from relative path to host path
    mount_point: str
    script: str
    arguments: list[str]
    stdin: str
    environment: dict[str, str]
    cwd: str
    hostname: str
    files: list[FileRequest]
    commands: list[CommandRequest]
    states: dict[str, str]  # states before the first call, used by the rules
    failing_call: int | None  # the index, from 0, of the stubbed call that fails
    processes: list[str]
    proc: dict[str, str]
    limits: LimitsRequest
    runs: int  # in sequence, in the same scenario


class EntryReply(TypedDict):
    """A path in a scenario, as the helper read it."""

    kind: str
    mode: int
    size: int
    modified: int  # whole seconds since 1970
    sha256: str | None  # None if the path is not a file or is too large
    target: str | None
    content: str | None  # for small files


class CallReply(TypedDict):
    command: str
    arguments: list[str]
    stdin: str | None
    status: int | None  # None if the command ran another program
    prepared: bool
    reads: bool  # as declared by its rule


class RunReply(TypedDict):
    ended: Ended
    status: int | None  # as Bash reports it: 128 plus the number of a fatal signal
    stdout: str
    stderr: str
    seconds: float
    peak_memory: int
    processes_seen: int
    calls: list[CallReply]
    after: dict[str, EntryReply]


class Reply(TypedDict):
    started: float  # the time that ages refer to, in seconds since 1970
    before: dict[str, EntryReply]
    runs: list[RunReply]
    not_again: str | None  # why the script could not run a second time
    cut: str | None  # which part of the scenario was not read
    seconds: dict[str, float]


class Failure(TypedDict):
    """A failure of the infrastructure, never of the script."""

    failed: str  # the step
    message: str
    errno: int | None
