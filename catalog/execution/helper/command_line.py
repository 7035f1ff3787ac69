"""The command line of bubblewrap: what of the host a script sees, and nothing else of it."""

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

# Read by programs as they start; without /etc/alternatives awk is not found.
READ_ONLY = (
    "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/share/awk",
    "/usr/share/file", "/usr/share/misc", "/usr/share/perl", "/usr/share/perl5",
    "/usr/share/terminfo", "/usr/share/zoneinfo", "/etc/alternatives",
)  # fmt: skip

# What /proc says of the host and not of the sandbox.
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

# As the root of a small machine would; no CAP_SYS_ADMIN, no CAP_SETUID, nothing of the network.
CAPABILITIES = ("CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL")


class Places(NamedTuple):
    """Where the helper has put what is mounted into the sandbox; paths in its own namespace."""

    world: str
    script: str
    stubs: str
    processes: str
    proc: str
    nothing: str  # an empty file
    empty: str  # an empty folder
    shared_memory: str  # of one run


def build_arguments(request: Request, places: Places) -> list[str]:
    """Every option, for `--args`: what stands on a command line could be read in the sandbox."""
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


# The script begins once each process has the name that it is looked for by: until then it is one more Bash. Linux cuts
# names at 15 characters; who looks that often has waited long enough.
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
    """What runs inside: the script, after the processes that the world has."""
    script = [BASH, SCRIPT, *request["arguments"]]
    if not request["processes"]:
        return script
    names = request["processes"]
    return [BASH, "-c", _START, PROCESSES, str(len(names)), *names, *script]


def _namespaces(hostname: str) -> list[str]:
    # The network namespace is the helper's own, made for this run: bubblewrap's would have no replies.
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
    """A folder of the host. Bound, it would show in /proc/self/mountinfo on which of its disks it is."""
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
    # Otherwise /dev is a file system of half the machine's memory, beside the world's limit. One of bubblewrap's own
    # would have as many inodes as the machine has pages.
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
