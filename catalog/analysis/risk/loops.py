"""Find loops and commands that never end, and functions that multiply processes."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.analysis.risk.effects import Effect
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.commands import Command, Loop
from catalog.analysis.shell.program import Program
from catalog.analysis.types import Level

_ENDERS = frozenset({"exit", "return", "exec"})


def find_endless(program: Program) -> Iterator[Effect]:
    """Yield effects for endless loops, commands that run until they are stopped, full disks and fork bombs."""
    ended = _ended_loops(program)
    for loop in program.loops:
        if loop.endless and loop not in ended:
            message = "This loop never ends."
            yield Effect("unbounded_loop", Level.WARNING, message, loop.span)
    for command in program.commands:
        if "timeout" not in command.context.via and _follows(command):
            message = f"{command.name} runs until it is stopped."
            yield Effect("unbounded_loop", Level.INFO, message, command.span)
        if _fills(command, program):
            message = (
                "Fills the disk until no program can write. Set a size that leaves free space."
            )
            yield Effect("outage", Level.ERROR, message, command.span)
        if _multiplies(command):
            message = f"The function {command.name} starts two copies of itself until the machine is full."
            yield Effect("destructive", Level.ERROR, message, command.span)


def _ended_loops(program: Program) -> set[Loop]:
    exiting = {c.context.function for c in program.commands if c.name == "exit"} - {""}
    ended: set[Loop] = set()
    for command in program.commands:
        loops, via = command.context.loops, command.context.via
        if not loops or "trap" in via:
            continue
        if "timeout" in via or command.name in _ENDERS or command.name in exiting:
            ended.update(loops)
        elif command.name == "break":
            ended.update(loops[-_break_depth(command) :])
    return ended


def _break_depth(command: Command) -> int:
    count = command.arguments[0].literal if command.arguments else None
    return int(count) if count and count.isdecimal() and len(count) < 3 and int(count) else 1


def _follows(command: Command) -> bool:
    if command.name in ("tail", "journalctl"):
        arguments = read_arguments(
            command.arguments, short="ncsuptSU", long=("lines", "pid", "unit")
        )
        return arguments.has("f", "F", "follow") and not arguments.has("pid")
    if command.name in ("ping", "ping6"):
        return not read_arguments(command.arguments, short="cwiWIst").has("c", "w")
    return command.name == "watch"


def _fills(command: Command, program: Program) -> bool:
    """Return whether the command reserves all free space, or writes to a file endlessly."""
    if command.name == "fallocate":
        size = read_arguments(command.arguments, short="lo", long=("length",)).value("l", "length")
        names = (program.variables.reaching(size) or ()) if size else ()
        words = [w for name in names for w in program.variables.sources(name) or ()]
        found = [c for w in ([size, *words] if size else ()) for c in program.inside(w)]
        return any(other.name in ("df", "stat") for other in found)
    targets = [r.word.prefix for r in command.redirects if r.kind in ("write", "append")]
    is_file = any(not target.startswith("/dev/") for target in targets)
    is_endless = any(word.literal in ("/dev/zero", "/dev/urandom") for word in command.arguments)
    is_endless = command.name == "yes" or (command.name == "cat" and is_endless)
    return is_file and is_endless and "timeout" not in command.context.via


def _multiplies(command: Command) -> bool:
    is_itself = command.name != "" and command.name == command.context.function
    return is_itself and bool(command.context.pipes) and command.context.pipes[-1][2] > 0
