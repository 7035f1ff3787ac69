"""What a run may use: limits of the kernel for each process, and a guard over the memory of all together."""

from __future__ import annotations

import os
import resource

from catalog.execution.helper.messages import Ended, LimitsRequest
from core.niceness import LEAST_NICE, session_niceness, set_session_niceness

ADDRESS_SPACE = 1 << 30
OPEN_FILES = 64
PENDING_SIGNALS = 256
PRIORITY = 10  # added to the worker's own niceness, because people who wait for a page come first
# Memory that is in no process, such as what waits in sockets, is seen in the machine's own figures only.
LEAST_FREE = 128 << 20
# Shared memory that nobody looks at and objects of the kernel, as the whole machine has them. Others have some, too,
# such as a database its buffers: only where they grow by a share of the machine since a run began is it ended, and
# nobody says that the script did it.
LEAST_GROWTH = 1 << 30
SHARE_OF_GROWTH = 4  # a quarter of the machine's memory
_TICKS = os.sysconf("SC_CLK_TCK")
_OUTSIDE_PROCESSES = (b"Shmem:", b"SUnreclaim:")


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
        # Timers count as well, and so do those of the same user outside.
        resource.RLIMIT_SIGPENDING: PENDING_SIGNALS,
        resource.RLIMIT_STACK: 8 << 20,
    }
    for kind, value in hard.items():
        _, allowed = resource.getrlimit(kind)
        if allowed != resource.RLIM_INFINITY:
            value = min(value, allowed)
        resource.setrlimit(kind, (value, value))
    os.nice(PRIORITY)


class Guard:
    """Adds up memory and processor time of every process of the helper's PID namespace but the helper itself.

    The kernel's limits are of each process, and a script may have sixty. A process that allocates faster than it
    is looked at goes over the limit by what it gets between two looks.
    """

    def __init__(self, limit: int, cpu_seconds: float) -> None:
        self.limit = limit
        self.cpu_seconds = cpu_seconds
        self.cpu_used = 0.0
        self.peak = 0
        self.most_processes = 0
        machine = _read_meminfo()
        self._before = _outside_processes(machine)
        self._niceness = min(os.getpriority(os.PRIO_PROCESS, 0) + PRIORITY, LEAST_NICE)
        growth = max(LEAST_GROWTH, machine.get(b"MemTotal:", 0) // SHARE_OF_GROWTH)
        self._most_growth = limit + growth

    def find_excess(self) -> Ended | None:
        """Look once; why the run has to end, None where it may go on."""
        used = processes = 0
        cpu = 0.0
        for name in os.listdir("/proc"):
            if name.isdigit() and name != "1":
                used += _memory_of(name)
                cpu += _cpu_of(name)
                processes += 1
                self._make_session_nice(name)
        # What has ended and was waited for is in the times of who waited; what nobody waited for is lost.
        self.cpu_used = max(self.cpu_used, cpu)
        self.peak = max(self.peak, used)
        self.most_processes = max(self.most_processes, processes)
        if used > self.limit:
            return "too much memory"
        if cpu > self.cpu_seconds:
            return "too much processor time"
        machine = _read_meminfo()
        grown = _outside_processes(machine) - self._before
        is_short = machine.get(b"MemAvailable:", LEAST_FREE) < LEAST_FREE
        return "machine short of memory" if is_short or grown > self._most_growth else None

    def _make_session_nice(self, process: str) -> None:
        """Make a session nice that bubblewrap or the script began. The next look retries a refused write."""
        if not _is_in_helpers_session(process):
            niceness = session_niceness(process)
            if niceness is not None and niceness < self._niceness:
                set_session_niceness(self._niceness, pid=process)


def _is_in_helpers_session(process: str) -> bool:
    """Whether the session is the worker's and the helper's, whose niceness is not ours to set."""
    try:
        return os.getsid(int(process)) == os.getsid(0)
    except ProcessLookupError:  # the process has just ended
        return True


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


def _cpu_of(process: str) -> float:
    """Seconds of it, and of those of its children that it has waited for."""
    try:
        with open(f"/proc/{process}/stat", "rb") as stat:
            # The name stands in brackets, and may hold anything.
            fields = stat.read().rpartition(b")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS if len(fields) > 14 else 0.0


def _read_meminfo() -> dict[bytes, int]:
    """Bytes by the name of the line."""
    with open("/proc/meminfo", "rb") as meminfo:
        rows = (line.split() for line in meminfo)
        return {row[0]: int(row[1]) << 10 for row in rows}


def _outside_processes(meminfo: dict[bytes, int]) -> int:
    return sum(meminfo.get(name, 0) for name in _OUTSIDE_PROCESSES)
