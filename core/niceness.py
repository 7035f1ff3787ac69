"""Niceness of sessions.

If `kernel.sched_autogroup_enabled` is 1, the default in most distributions, Linux first shares processors between
sessions, and applies a process's niceness only within its session. Each session has its own niceness in
`/proc/PID/autogroup`. The module imports only the standard library, because the sandbox helper uses it.
"""

from __future__ import annotations

import os
import time

LEAST_NICE = 19  # the lowest priority that the kernel supports
# From all processes without CAP_SYS_ADMIN together, the kernel accepts one write per 0.1 s.
_RETRY_SECONDS = 0.05


def set_session_niceness(niceness: int, *, pid: int | str = "self", patience: float = 0.0) -> bool:
    """Set the niceness of a process's session, retrying for `patience` seconds.

    Return False if the kernel has no autogroups, denies the write, or stays busy.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            with open(f"/proc/{pid}/autogroup", "w") as autogroup:
                autogroup.write(str(niceness))
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_RETRY_SECONDS)
        except OSError:
            return False
        else:
            return True


def session_niceness(pid: int | str = "self") -> int | None:
    """Return the niceness of a process's session, or None if the kernel has no autogroups."""
    try:
        with open(f"/proc/{pid}/autogroup") as autogroup:
            return int(autogroup.read().rpartition(" ")[2])
    except (OSError, ValueError):
        return None


def become_nice_session(niceness: int) -> None:
    """Lower the priority of this process and its session. The process must be the session leader."""
    os.nice(niceness)
    set_session_niceness(niceness, patience=2.0)
