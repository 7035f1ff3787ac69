"""Build bubblewrap's command line, which defines the parts of the host that a script can see."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from catalog.execution.helper.messages import Request
from catalog.execution.helper.recorded_commands.stubs import REAL_PROGRAMS
from catalog.execution.helper.world import FROM_HOST

SCRIPT = "/usr/local/bin/script.sh"
PROCESSES = "/dev/.processes"
BASH = "/usr/bin/bash"
PROGRAMS = ("/usr/bin", "/usr/sbin")

# Programs read these files when they start. Without /etc/alternatives, awk is not found.
READ_ONLY = (
    "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/share/awk",
    "/usr/share/file", "/usr/share/misc", "/usr/share/perl", "/usr/share/perl5",
    "/usr/share/terminfo", "/usr/share/zoneinfo", "/etc/alternatives",
)  # fmt: skip

# Files in /proc that describe the host instead of the sandbox.
MASKED = (
    "buddyinfo", "cmdline", "config.gz", "consoles", "diskstats", "iomem", "ioports", "kallsyms",
    "kcore", "key-users", "keys", "kmsg", "kpagecount", "kpageflags", "latency_stats", "modules",
    "pagetypeinfo", "partitions", "sched_debug", "slabinfo", "timer_list", "vmallocinfo",
    "zoneinfo",
)  # fmt: skip

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "USER": "root",
    "LOGNAME": "root",
    "SHELL": "/bin/bash",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
}

# The capabilities that root needs on a small machine, except CAP_SYS_ADMIN, CAP_SETUID and network capabilities.
CAPABILITIES = ("CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL")


class Places(NamedTuple):
    """Paths in the helper's namespace that are mounted into the sandbox."""

    world: str
    script: str
    stubs: str
    processes: str
    proc: str
    nothing: str  # an empty file
    empty: str  # an empty folder
    shared_memory: str  # mounted again for each run


def build_arguments(request: Request, places: Places) -> list[str]:
    """Return bubblewrap's options. Pass them with `--args`, because the sandbox can read command lines."""
    return [
        *_namespaces(request["hostname"]),
        "--bind", places.world, "/",
        *_programs(places),
        *_proc(request, places),
        *_devices(request, places),
        *_privileges(),
        *_environment(request),
        "--chdir", request["cwd"],
    ]  # fmt: skip


# Start the script only after each background process has its expected name. Before exec, the process still has Bash's
# name. Linux truncates names to 15 characters. The loop gives up after 20,000 reads.
_START = """
for name in "${@:2:$1}"; do
    "$0/$name" infinity <&- >&- 2>&- &
    for ((looks = 0; looks < 20000; looks++)); do
        read -r seen </proc/$!/comm && [[ $seen != "${name:0:15}" ]] || break
    done 2>&-
done
exec "${@:$1+2}"
"""


def build_command(request: Request) -> list[str]:
    """Return the command to run in the sandbox, which starts the scenario's background processes and then the
    script.
    """
    script = [BASH, SCRIPT, *request["arguments"]]
    if not request["processes"]:
        return script
    names = request["processes"]
    return [BASH, "-c", _START, PROCESSES, str(len(names)), *names, *script]


def _namespaces(hostname: str) -> list[str]:
    # Keep the network namespace that the helper created for this run. In a namespace created by bubblewrap, stubbed
    # commands would get no replies.
    return [
        "--unshare-user", "--uid", "0", "--gid", "0", "--unshare-pid", "--unshare-ipc",
        "--unshare-uts", "--unshare-cgroup-try", "--hostname", hostname,
        "--die-with-parent", "--new-session",
    ]  # fmt: skip


def _programs(places: Places) -> Iterator[str]:
    yield from ("--tmpfs", "/usr", "--dir", "/usr/local/sbin", "--dir", "/usr/share")
    yield from ("--ro-bind", places.script, SCRIPT)
    for folder in PROGRAMS:
        if os.path.islink(folder):
            yield from ("--symlink", os.readlink(folder), folder)
        elif os.path.isdir(folder):
            yield from ("--overlay-src", folder, "--overlay-src", places.stubs)
            yield from ("--ro-overlay", folder)
    for folder in READ_ONLY:
        if os.path.islink(folder):
            yield from ("--symlink", os.readlink(folder), folder)
        elif os.path.isdir(folder):
            yield from _read_only(folder, places)
    for name in FROM_HOST:
        if os.path.isdir(f"/{name}") and not os.path.islink(f"/{name}"):
            yield from _read_only(f"/{name}", places)
    yield from ("--remount-ro", "/usr")


def _read_only(folder: str, places: Places) -> tuple[str, ...]:
    """Mount a host folder as an overlay. A bind mount would reveal the host's disk in /proc/self/mountinfo."""
    return ("--overlay-src", folder, "--overlay-src", places.empty, "--ro-overlay", folder)


def _proc(request: Request, places: Places) -> Iterator[str]:
    yield from ("--proc", "/proc")
    for name in MASKED:
        if os.path.exists(f"/proc/{name}"):
            yield from ("--ro-bind", places.nothing, f"/proc/{name}")
    for name in request["proc"]:
        yield from ("--ro-bind", f"{places.proc}/{name}", f"/proc/{name}")


def _devices(request: Request, places: Places) -> Iterator[str]:
    yield from ("--dev", "/dev")
    if any(command["mode"] == "real" for command in request["commands"]):
        yield from ("--ro-bind", "/usr/bin", REAL_PROGRAMS)
    if request["processes"]:
        yield from ("--ro-bind", places.processes, PROCESSES)
    # By default, /dev would be a file system of up to half of the machine's memory, outside of the scenario's limit. A
    # tmpfs created by bubblewrap would have as many inodes as the machine has memory pages.
    yield from ("--bind", places.shared_memory, "/dev/shm")
    yield from ("--remount-ro", "/dev")


def _privileges() -> Iterator[str]:
    yield from ("--disable-userns", "--cap-drop", "ALL")
    for capability in CAPABILITIES:
        yield from ("--cap-add", capability)


def _environment(request: Request) -> Iterator[str]:
    yield "--clearenv"
    for name, value in (ENVIRONMENT | request["environment"]).items():
        yield from ("--setenv", name, value)
