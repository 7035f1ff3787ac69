"""Find out whether scripts can run on this machine by running one real test."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from errno import EINVAL, ENOSPC, EPERM
from pathlib import Path

from catalog.execution.helper.system_call_filter.numbers import ARCHITECTURES
from catalog.execution.sandbox.bubblewrap import BubblewrapSandbox, HelperFailed
from catalog.execution.sandbox.programs import Bubblewrap, NoBubblewrap, find_bubblewraps
from catalog.execution.sandbox.types import (
    Limits,
    Observation,
    PreparedRun,
    Sandbox,
    SandboxFailed,
)

# The script writes a file, calls a stubbed command, changes an owner, and expects no network and no new namespace. It
# then prints the versions of its tools.
_SCRIPT = r"""
echo changed > /srv/probe.txt
systemctl restart probe
chown nobody /srv/probe.txt && echo owner
(echo > /dev/tcp/192.0.2.1/80) 2>/dev/null || echo offline
unshare -U true 2>/dev/null || echo confined
for tool in bash ls find grep sed awk awk-version tar gzip xz jq perl python3 git diff bc file; do
  printf '%s\t' "$tool"
  case $tool in
    awk) readlink -f "$(command -v awk)" || echo none; continue ;;
    awk-version) awk -W version < /dev/null 2>&1 | head -n 1; continue ;;
  esac
  command -v "$tool" > /dev/null || { echo none; continue; }
  case $tool in
    perl) perl -e 'printf "%vd\n", $^V' ;;
    *) "$tool" --version 2>/dev/null | head -n 1 ;;
  esac
done
"""
# The timeout is long, because the sandbox may work on a busy machine, too. On an idle machine, the probe takes 0.2 s.
PATIENCE = 60.0  # seconds
_EXPECTED = ["owner", "offline", "confined"]
_NAMES = {"ls": "coreutils", "find": "findutils"}


@dataclass(frozen=True)
class Fingerprint:
    """The environment that produced a result. Results are compared only if their fingerprints are equal."""

    parts: Mapping[str, str]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(json.dumps(dict(self.parts), sort_keys=True).encode()).hexdigest()

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.parts.items())


@dataclass(frozen=True, kw_only=True)
class Availability:
    """The sandbox that works on this machine, or the reason why none works and a remedy."""

    sandbox: Sandbox | None
    fingerprint: Fingerprint | None = None
    reason: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        if self.sandbox is None:
            return f"unavailable: {self.reason} {self.remedy}".rstrip()
        return f"{self.sandbox.name}: {self.fingerprint}"


def find_sandbox() -> Availability:
    """Probe the sandbox with one real test, which takes about 0.2 s. Without a working sandbox, no script runs."""
    if platform.system() != "Linux":
        return _unavailable(
            f"scripts run only on Linux, and this is {platform.system()}.",
            "Run the worker on Linux or in a Linux virtual machine.",
        )
    return _probe_bubblewrap()


def probe(sandbox: Sandbox) -> Fingerprint:
    """Run the probe in this sandbox and return its fingerprint. Raises SandboxFailed if the result is wrong."""
    seen = sandbox.run(
        PreparedRun(
            script=_SCRIPT,
            files=({"path": "/srv/probe.txt", "kind": "file", "content": "before\n"},),
            commands=(
                {"name": "systemctl", "mode": "reply", "rules": [{"args": ["restart", "probe"]}]},
            ),
            limits=Limits(seconds=PATIENCE),
        )
    )
    lines = seen.runs[0].stdout.splitlines()
    _require(
        lines[:3] == _EXPECTED, f"the script printed {lines[:3]}: {seen.runs[0].stderr[-500:]}"
    )
    after = seen.runs[0].after.get("/srv/probe.txt")
    _require(after is not None and after.content == "changed\n", "a file was not changed")
    _require(len(seen.runs[0].calls) == 1, "a stubbed command was not called")
    return _read_fingerprint(sandbox, seen)


def _require(holds: bool, complaint: str) -> None:
    if not holds:
        raise SandboxFailed(f"the probe failed: {complaint}")


def _read_fingerprint(sandbox: Sandbox, seen: Observation) -> Fingerprint:
    version = getattr(sandbox, "version", "")
    parts = {"sandbox": f"{sandbox.name} {version}".strip(), "linux": os.uname().release}
    parts["machine"] = os.uname().machine
    for line in seen.runs[0].stdout.splitlines()[len(_EXPECTED) :]:
        tool, _, said = line.partition("\t")
        words = said.replace(",", " ").split()
        parts[_NAMES.get(tool, tool)] = next((w for w in words if w[0].isdigit()), said.strip())
    return Fingerprint(parts)


def _probe_bubblewrap() -> Availability:
    if os.uname().machine not in ARCHITECTURES:
        return _unavailable(
            f"the sandbox has no system call filter for {os.uname().machine}.",
            "Run the worker on x86_64 or aarch64, or turn execution off.",
        )
    failures = []
    try:
        for bubblewrap in find_bubblewraps():
            found = _try_bubblewrap(bubblewrap)
            if found.sandbox is not None:
                return found
            failures.append(found)
    except NoBubblewrap as error:
        remedy = "Install bubblewrap 0.11 or newer, or run `make setup`."
        failures.append(_unavailable(f"{error}.", remedy))
    return failures[0]  # the program on the PATH failed first, and its reason is more useful


def _try_bubblewrap(bubblewrap: Bubblewrap) -> Availability:
    try:
        sandbox = BubblewrapSandbox(bubblewrap)
        return Availability(sandbox=sandbox, fingerprint=probe(sandbox))
    except HelperFailed as error:
        return _explain(error)
    except SandboxFailed as error:
        return _unavailable(f"{error}.", "See its output in the worker's log.")


def _explain(error: HelperFailed) -> Availability:
    """Return the reason for the helper's failure, and a remedy. The same error number can have multiple causes with
    different remedies.
    """
    if error.step == "namespaces" and error.errno == ENOSPC:
        return _unavailable(
            "the kernel allows no more user namespaces (ENOSPC).",
            "Raise the sysctl user.max_user_namespaces.",
        )
    if error.step == "user":
        return _unavailable(f"{error}.", "Run the worker as an ordinary user.")
    if error.step == "namespaces" and error.errno in (EPERM, EINVAL):
        if _reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
            return _unavailable(
                "AppArmor blocks user namespaces for ordinary users.",
                "Load its profile bwrap-userns-restrict, or set"
                " kernel.apparmor_restrict_unprivileged_userns=0.",
            )
        if _reads("/proc/sys/kernel/unprivileged_userns_clone") == "0":
            return _unavailable(
                "user namespaces are disabled for ordinary users.",
                "Set the sysctl kernel.unprivileged_userns_clone=1.",
            )
        return _unavailable(
            f"user namespaces are blocked ({error}), for example by Docker's default"
            " seccomp profile.",
            "Give the worker's container a seccomp profile that allows unshare and mount.",
        )
    if error.step == "sandbox" and error.errno == EPERM and "mount proc" in str(error):
        return _unavailable(
            "the container hides parts of /proc, so a new /proc can't be mounted.",
            "Start the worker's container with --security-opt systempaths=unconfined.",
        )
    return _unavailable(f"{error}.", "See its output in the worker's log.")


def _unavailable(reason: str, remedy: str) -> Availability:
    return Availability(sandbox=None, reason=reason, remedy=remedy)


def _reads(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
