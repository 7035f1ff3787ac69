"""The scenario of a sandbox test, in the format that authors write."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from catalog.execution.cases.checks.base import Strict, Text, WorldPath
from catalog.execution.cases.personas import load_personas
from catalog.execution.helper.messages import CommandRequest, FileRequest, RuleRequest
from catalog.execution.sandbox.types import NEVER_STUBBED, PROC_FILES, RESERVED_VARIABLES

MOST_FILES = 200
MOST_CONTENT = 1 << 20  # characters in all files together
MOST_BYTES = 16 << 20  # in all files that have a `size`, together
MOST_RULES = 20
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}

Age = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,6}[smhdw]$")]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,60}$")]
States = Annotated[dict[Annotated[str, Field(max_length=100)], Text], Field(max_length=20)]


def _refuse_variable(name: str) -> str:
    if name in RESERVED_VARIABLES:
        raise ValueError(f"{name} would change the shell that runs the script")
    return name


Variable = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,100}$"),
    AfterValidator(_refuse_variable),
]


class WorldFile(Strict):
    """A file, folder or link. A folder has the `kind` "folder", and a link has a target in `link`."""

    path: WorldPath
    content: Annotated[Text, Field(max_length=MOST_CONTENT)] | None = None
    size: Annotated[int, Field(ge=0, le=MOST_BYTES)] | None = None
    mode: Annotated[str, StringConstraints(pattern=r"^[0-7]{3,4}$")] | None = None
    age: Age | None = None  # the time since the last change: 90s, 5m, 193h, 8d, 2w
    accessed: Age | None = None  # the time since the last access, by default equal to `age`
    kind: Literal["file", "folder"] | None = None
    link: Annotated[Text, Field(min_length=1, max_length=1000)] | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> WorldFile:
        given = [self.content is not None, self.size is not None, self.link is not None]
        if sum(given) + (self.kind == "folder") > 1:
            raise ValueError(
                "a file can have only one of content, size and link, and a folder none of them"
            )
        return self

    def to_request(self) -> FileRequest:
        request = FileRequest(path=self.path, kind="file")
        if self.link is not None:
            request |= {"kind": "link", "target": self.link}
        elif self.kind == "folder":
            request["kind"] = "folder"
        elif self.size is not None:
            request["size"] = self.size
        else:
            request["content"] = self.content or ""
        if self.mode is not None:
            request["mode"] = int(self.mode, 8)
        if self.age is not None:
            request["age"] = read_age(self.age)
        if self.accessed is not None:
            request["accessed"] = read_age(self.accessed)
        return request


class Rule(Strict):
    """A reply of a stubbed command. The first rule that matches a call is used."""

    model_config = ConfigDict(populate_by_name=True)

    args: Annotated[tuple[Text, ...], Field(max_length=50)] | None = None
    requires: States = Field(default_factory=dict, alias="if")
    stdin: Text | None = None  # a pattern for the standard input
    stdout: Text = ""
    stderr: Text = ""
    exit: Annotated[int, Field(ge=0, le=255)] = 0
    sets: States = Field(default_factory=dict)
    reads: bool = False  # whether the call changes nothing, so that `no_effect` still passes

    @model_serializer(mode="wrap")
    def _without_what_came_later(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `reads` if it is False, so that older tests keep their hash."""
        data: dict[str, Any] = write(self)
        if not self.reads:
            data.pop("reads", None)
        return data

    def to_request(self) -> RuleRequest:
        request = RuleRequest(stdout=self.stdout, stderr=self.stderr, exit=self.exit)
        if self.reads:
            request["reads"] = True
        if self.args is not None:
            request["args"] = list(self.args)
        if self.stdin is not None:
            request["stdin"] = self.stdin
        if self.requires:
            request["requires"] = dict(self.requires)
        if self.sets:
            request["sets"] = dict(self.sets)
        return request


class World(Strict):
    """The state of the machine before the script runs."""

    files: Annotated[tuple[WorldFile, ...], Field(max_length=MOST_FILES)] = ()
    arguments: Annotated[tuple[Text, ...], Field(max_length=50)] = ()
    stdin: Text = ""
    environment: Annotated[dict[Variable, Text], Field(max_length=50)] = Field(default_factory=dict)
    cwd: WorldPath = "/root"
    hostname: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")] = "web-1"
    # Rules by command name. An empty list selects the rules that are included with the command.
    commands: Annotated[
        dict[Name, Annotated[tuple[Rule, ...], Field(max_length=MOST_RULES)]], Field(max_length=30)
    ] = Field(default_factory=dict)
    states: States = Field(default_factory=dict)  # used by the included rules: {"nginx": "active"}
    proc: Annotated[dict[str, Text], Field(max_length=10)] = Field(default_factory=dict)
    processes: Annotated[tuple[Name, ...], Field(max_length=10)] = ()

    @model_validator(mode="after")
    def _can_be_built(self) -> World:
        paths = [file.path for file in self.files]
        twice = next((path for path in paths if paths.count(path) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} is listed twice")
        if sum(len(file.content or "") for file in self.files) > MOST_CONTENT:
            raise ValueError(f"the files have more than {MOST_CONTENT:,} characters in total")
        if sum(file.size or 0 for file in self.files) > MOST_BYTES:
            raise ValueError(f"the files have more than {MOST_BYTES:,} bytes in total")
        _refuse_things_inside_files(self.files)
        for name in self.commands:
            if name in NEVER_STUBBED:
                raise ValueError(f"{name} can't be stubbed")
            if name in load_personas() and load_personas()[name]["mode"] != "reply":
                raise ValueError(
                    f"{name} runs its arguments as a command, so it can't have replies"
                )
        for name in self.proc:
            if name not in PROC_FILES:
                raise ValueError(f"/proc/{name} can't be set, only {', '.join(PROC_FILES)}")
        return self

    def list_commands(self) -> tuple[CommandRequest, ...]:
        """Return the commands that the test stubs and the commands that are always stubbed."""
        personas = load_personas()
        commands = []
        for name in sorted(personas.keys() | self.commands.keys()):
            rules = [rule.to_request() for rule in self.commands.get(name, ())]
            persona = personas.get(name)
            if persona is not None and name in self.commands:
                rules += persona["rules"]
            mode = persona["mode"] if persona is not None else "reply"
            command = CommandRequest(name=name, mode=mode, rules=rules)
            if persona is not None and "input" in persona:
                command["input"] = persona["input"]
            commands.append(command)
        return tuple(commands)


def read_age(age: str) -> float:
    """Return an age such as `5m` in seconds."""
    return float(age[:-1]) * _UNITS[age[-1]]


def _refuse_things_inside_files(files: tuple[WorldFile, ...]) -> None:
    plain = {file.path for file in files if file.kind != "folder"}
    for file in files:
        parts = file.path.split("/")
        for end in range(2, len(parts)):
            if "/".join(parts[:end]) in plain:
                raise ValueError(
                    f"{file.path} can't be inside {'/'.join(parts[:end])}, which is not a folder"
                )
