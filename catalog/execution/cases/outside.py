"""Determine whether a script failed because it needs something that no scenario provides.

Examples are a missing tool, the network, kernel features or disk space. Such causes matter only if a check fails, so a
script that handles the problem gets verdicts as usual. Messages that occur in the test or in the script itself are
ignored.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from catalog.execution.cases.display import show_name
from catalog.execution.cases.results import State

_NOT_FOUND = re.compile(
    r"^\S+: line \d+: ([^:\n]+): command not found$"
    r"|^(?:env|nice|nohup|xargs): .?([\w.+-]+).?: No such file or directory$",
    re.MULTILINE,
)
_NETWORK = re.compile(
    r"Network is unreachable|No route to host|Could not resolve host|Temporary failure in name resolution"
    r"|Name or service not known|Failed to establish a new connection|failure in name resolution|EAI_AGAIN"
)
_KERNEL = re.compile(
    r"/proc/sys/\S+: (?:Permission denied|Read-only file system|No such file or directory)"
    r"|(?:unshare|nsenter|pivot_root)\S* failed: Operation not permitted"
    r"|mount: .*(?:permission denied|must be superuser)"
    r"|cannot set date: Operation not permitted|you must be root to change the host name"
    r"|cannot change root directory|(?:modprobe|insmod|rmmod): |losetup: .*(?:No such file|Permission denied)"
)
_FULL = re.compile(r"No space left on device|File too large|File size limit exceeded")


class Cause(NamedTuple):
    """The reason why the failed checks of a test give no verdict."""

    state: State
    words: str


@cache
def known_tools() -> frozenset[str]:
    """Return the tools that administrators may have installed. Any other missing command is an error in the script."""
    return frozenset((Path(__file__).parent / "known_tools.txt").read_text().split())


def find_cause(stderr: str, known: str) -> Cause | None:
    """Return the cause that standard error reveals, or None. Messages that occur in `known`, the text of the test and
    the script, are ignored.
    """
    for found in _NOT_FOUND.finditer(stderr):
        name = next(group for group in found.groups() if group)
        if name in known_tools() and f"{name}: command not found" not in known:
            return Cause(State.UNSUPPORTED, f"the sandbox has no {show_name(name)}")
    for pattern, state, words in (
        (
            _FULL,
            State.TIMED_OUT,
            "stopped because the scenario's disk is full or a file is too large",
        ),
        (_NETWORK, State.UNSUPPORTED, "the script needs a network"),
        (_KERNEL, State.UNSUPPORTED, "the script needs kernel features that the sandbox lacks"),
    ):
        said = pattern.search(stderr)
        if said is not None and said[0] not in known:
            return Cause(state, f"{words}: {show_name(said[0])}")
    return None
