"""The memory that is available to the servers."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_bytes() -> int:
    """Return the machine's memory in bytes, or its container's limit if that is lower."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(physical, int(_CGROUP_LIMIT.read_text()))
    except (OSError, ValueError):
        return physical


def shared_memory_bytes() -> int:
    """Return the free space of /dev/shm, which is 64 MB in most containers and missing in some."""
    try:
        found = os.statvfs("/dev/shm")
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize


def available_bytes() -> int:
    """Return the memory that a new process can use without swapping, within its container's limit."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    return min(free, memory_bytes())
