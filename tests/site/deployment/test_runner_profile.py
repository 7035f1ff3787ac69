"""Tests that the runner's seccomp profile allows the sandbox and blocks what a script outside it might try."""

from __future__ import annotations

import json
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalog.execution.sandbox.probe import find_sandbox
from tests.site.deployment.deploying import ROOT

PROFILE = ROOT / "deploy" / "seccomp-runner.json"
_PROBE = """
from catalog.execution.sandbox.probe import find_sandbox
print(find_sandbox())
"""
_TRY = """
import ctypes, errno, socket
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {numbers}.items():
    if libc.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != errno.EPERM:
        print(name)
for family, protocol in {families}:
    try:
        socket.socket(family, socket.SOCK_RAW, protocol).close()
    except OSError as error:
        if error.errno != errno.EAFNOSUPPORT:
            print(family, error)
    else:
        print(family, "opened")
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()
"""
# The x86_64 numbers of system calls that are also blocked for root, because the tests may run as root.
NUMBERS = {"keyctl": 250, "bpf": 321, "ptrace": 101, "setns": 308, "io_uring_setup": 425}
FAMILIES = [(17, 768), (38, 0), (40, 0), (16, 12), (9, 0)]  # packet, alg, vsock, netfilter, x25


def under(profile: Path, lines: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.site.deployment.seccomp", str(profile)]
        + [sys.executable, "-c", lines],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def _can_be_tried() -> None:
    if not find_library("seccomp"):
        pytest.skip("there is no libseccomp here, by which Docker reads profiles")


@pytest.fixture(scope="module")
def sandbox() -> None:
    found = find_sandbox()
    if found.sandbox is None:
        pytest.skip(f"there is no sandbox here to try it with: {found.reason}")


@pytest.mark.slow
def test_the_sandbox_works_under_it(sandbox: None) -> None:
    assert under(PROFILE, _PROBE).startswith("bubblewrap: sandbox bubblewrap ")


@pytest.mark.slow
def test_the_sandbox_says_what_is_missing_where_it_is_not_given(
    sandbox: None, tmp_path: Path
) -> None:
    """Docker's default profile blocks these calls."""
    profile: dict[str, Any] = json.loads(PROFILE.read_text())
    profile["syscalls"][0]["names"] += ["unshare", "mount"]
    stricter = tmp_path / "stricter.json"
    stricter.write_text(json.dumps(profile))
    said = under(stricter, _PROBE)
    assert said.startswith("unavailable: ") and "seccomp profile that allows unshare" in said


@pytest.mark.skipif("sys.maxsize < 2**32 or __import__('os').uname().machine != 'x86_64'")
def test_what_it_forbids_is_refused() -> None:
    assert under(PROFILE, _TRY.format(numbers=NUMBERS, families=FAMILIES)) == ""


def test_only_the_runner_is_given_it_and_no_program_is_without_any() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    given = {name: " ".join(one.get("security_opt", ())) for name, one in services.items()}
    assert [name for name, words in given.items() if "seccomp" in words] == ["runner"]
    assert "seccomp=./deploy/seccomp-runner.json" in given["runner"]
    assert "systempaths=unconfined" in given["runner"], "a /proc of one's own needs it"
    # Programs for other ABIs (x32, 32-bit) use different call numbers, so they are killed.
    assert all(not one["subArchitectures"] for one in json.loads(PROFILE.read_text())["archMap"])
