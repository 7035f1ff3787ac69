"""What a script ran into that no prepared world has: a tool, the network, the kernel; or the end of its disk.

Looked for only where a check fails: a script that copes with it is judged as ever. What the case itself makes a
command say, or the script says in its own words, is no sign of it.
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
    """Why the failed checks of a case are no verdict, in words."""

    state: State
    words: str


@cache
def known_tools() -> frozenset[str]:
    """What administrators have, and this machine may not. Any other name is a mistake of the script."""
    return frozenset((Path(__file__).parent / "known_tools.txt").read_text().split())


def find_cause(stderr: str, known: str) -> Cause | None:
    """What on standard error says so, but for lines with words that the case and the script hold (`known`)."""
    for found in _NOT_FOUND.finditer(stderr):
        name = next(group for group in found.groups() if group)
        if name in known_tools() and f"{name}: command not found" not in known:
            return Cause(State.UNSUPPORTED, f"there is no {show_name(name)} in the sandbox")
    for pattern, state, words in (
        (_FULL, State.TIMED_OUT, "it was ended: the world's disk is full, or a file too large"),
        (_NETWORK, State.UNSUPPORTED, "it needs a network"),
        (_KERNEL, State.UNSUPPORTED, "it needs more of the kernel than the sandbox gives"),
    ):
        said = pattern.search(stderr)
        if said is not None and said[0] not in known:
            return Cause(state, f"{words}: {show_name(said[0])}")
    return None
