"""Limit the resources of a run: kernel limits per process, and a guard for the totals of all processes."""

from __future__ import annotations

import os
import resource

from catalog.execution.helper.messages import Ended, LimitsRequest
from core.niceness import LEAST_NICE, session_niceness, set_session_niceness

ADDRESS_SPACE = 1 << 30
OPEN_FILES = 64
PENDING_SIGNALS = 256
PRIORITY = 10  # added to the worker's own niceness, because page requests have priority
# Memory outside of processes, such as socket buffers, appears only in the machine's total.
LEAST_FREE = 128 << 20
# Unmapped shared memory and kernel objects are measured for the whole machine, including other programs such as
# databases. The run ends only if they grow by a share of the machine's memory during the run. Such a result is not
# attributed to the script.
LEAST_GROWTH = 1 << 30
SHARE_OF_GROWTH = 4  # a quarter of the machine's memory
_TICKS = os.sysconf("SC_CLK_TCK")
_OUTSIDE_PROCESSES = (b"Shmem:", b"SUnreclaim:")


def apply_limits(limits: LimitsRequest) -> None:
    """Apply the limits to this process and its children, between fork and exec."""
    hard = {
        resource.RLIMIT_AS: ADDRESS_SPACE,
        # With a limit of 0, the kernel would still start a program to which the core pattern pipes.
        resource.RLIMIT_CORE: 1,
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_FSIZE: limits["disk_bytes"],
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        # Linux 5.14 and newer count processes per user namespace, so the user's other processes are not included.
        resource.RLIMIT_NPROC: limits["process_count"],
        # This limit also covers timers, including the same user's timers outside the sandbox.
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
    """A monitor for the total memory and processor time of all processes in the PID namespace except the helper.

    The kernel's limits apply to single processes, and a script may start sixty processes. Memory use can exceed the
    limit by the memory allocated between two measurements.
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
        """Measure once. Return the reason why the run must end, or None if the run can continue."""
        used = processes = 0
        cpu = 0.0
        for name in os.listdir("/proc"):
            if name.isdigit() and name != "1":
                used += _memory_of(name)
                cpu += _cpu_of(name)
                processes += 1
                self._make_session_nice(name)
        # The times of a process include the children that it has waited for. The times of other exited processes are
        # lost.
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
        """Raise the niceness of a session that bubblewrap or the script started. The next call retries a failure."""
        if not _is_in_helpers_session(process):
            niceness = session_niceness(process)
            if niceness is not None and niceness < self._niceness:
                set_session_niceness(self._niceness, pid=process)


def _is_in_helpers_session(process: str) -> bool:
    """Return whether the process is in the session of the worker and helper, whose niceness must not change."""
    try:
        return os.getsid(int(process)) == os.getsid(0)
    except ProcessLookupError:  # the process has just exited
        return True


def _memory_of(process: str) -> int:
    """Return the process's private and shared memory in bytes, without program code."""
    total = 0
    try:
        with open(f"/proc/{process}/status", "rb") as status:
            for line in status:
                if line.startswith((b"RssAnon:", b"RssShmem:", b"VmSwap:", b"VmPTE:")):
                    total += int(line.split()[1]) << 10
    except OSError:  # the process has exited
        return 0
    return total


def _cpu_of(process: str) -> float:
    """Return the processor seconds used by the process and by the children that it has waited for."""
    try:
        with open(f"/proc/{process}/stat", "rb") as stat:
            # The program name is in parentheses and can contain any character.
            fields = stat.read().rpartition(b")")[2].split()
    except OSError:  # the process has exited
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS if len(fields) > 14 else 0.0


def _read_meminfo() -> dict[bytes, int]:
    """Return the values in /proc/meminfo in bytes, by line name."""
    with open("/proc/meminfo", "rb") as meminfo:
        rows = (line.split() for line in meminfo)
        return {row[0]: int(row[1]) << 10 for row in rows}


def _outside_processes(meminfo: dict[bytes, int]) -> int:
    return sum(meminfo.get(name, 0) for name in _OUTSIDE_PROCESSES)
