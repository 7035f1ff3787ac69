"""What a run may use: limits of the kernel for each process, and a guard over the memory of all together."""

from __future__ import annotations

import os
import resource

from catalog.execution.helper.messages import LimitsRequest

ADDRESS_SPACE = 1 << 30
OPEN_FILES = 64
PRIORITY = 10  # added to the worker's own niceness: people who wait for a page come first
# Memory that is in no process, such as what waits in sockets, is seen in the machine's own figure only.
LEAST_FREE = 128 << 20


def apply_limits(limits: LimitsRequest) -> None:
    """For this process and all that it starts; called between fork and exec."""
    hard = {
        resource.RLIMIT_AS: ADDRESS_SPACE,
        # 1, not 0: with 0 the kernel still starts the program that a core pattern pipes to.
        resource.RLIMIT_CORE: 1,
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_FSIZE: limits["disk_bytes"],
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        # Counted per user namespace (since Linux 5.14), so nobody else's processes matter.
        resource.RLIMIT_NPROC: limits["process_count"],
        resource.RLIMIT_STACK: 8 << 20,
    }
    for kind, value in hard.items():
        _, allowed = resource.getrlimit(kind)
        if allowed != resource.RLIM_INFINITY:
            value = min(value, allowed)
        resource.setrlimit(kind, (value, value))
    os.nice(PRIORITY)


class MemoryGuard:
    """Adds up the memory of every process of the helper's PID namespace but the helper itself.

    RLIMIT_AS is a limit of each process, and a script may have sixty. A process that allocates faster than it
    is looked at goes over the limit by what it gets between two looks.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.peak = 0
        self.most_processes = 0

    def is_exceeded(self) -> bool:
        """Look once; true where the run has to end."""
        used = processes = 0
        for name in os.listdir("/proc"):
            if name.isdigit() and name != "1":
                used += _memory_of(name)
                processes += 1
        self.peak = max(self.peak, used)
        self.most_processes = max(self.most_processes, processes)
        return used > self.limit or _free_memory() < LEAST_FREE


def _memory_of(process: str) -> int:
    """Bytes of its own: private pages and shared memory, but not the programs' text."""
    total = 0
    try:
        with open(f"/proc/{process}/status", "rb") as status:
            for line in status:
                if line.startswith((b"RssAnon:", b"RssShmem:", b"VmSwap:", b"VmPTE:")):
                    total += int(line.split()[1]) << 10
    except OSError:  # it has just ended
        return 0
    return total


def _free_memory() -> int:
    with open("/proc/meminfo", "rb") as meminfo:
        for line in meminfo:
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) << 10
    return LEAST_FREE
