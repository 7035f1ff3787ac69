"""System calls for which Python 3.11 has no function."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from fcntl import ioctl

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_REC, MS_PRIVATE = 0x4000, 0x40000

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_SIGKILL = 9
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Move this process to new namespaces. The process must have only one thread. Raises OSError."""
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system. Raises OSError."""
    encoded = None if kind is None else kind.encode()
    result = _libc.mount(
        source.encode(), os.fsencode(target), encoded, ctypes.c_ulong(flags), data.encode()
    )
    _check(result, f"mount {kind or 'namespace'} on {target}")


def die_with_parent() -> None:
    """Send SIGKILL to this process when the parent's thread exits. A change of user resets this setting."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0), "prctl")


def forbid_new_privileges() -> None:
    """Prevent programs, including setuid programs, from gaining more privileges than this process has."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def own_proc_files() -> None:
    """Make this user own /proc/self again, because its files belong to root after a change of user."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def bring_loopback_up() -> None:
    """Bring the loopback interface up, because it is down in a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sH14s", b"lo", 0, b"")
        (flags,) = struct.unpack_from("H", ioctl(probe, _SIOCGIFFLAGS, request), 16)
        ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", flags | _IFF_UP, b""))


def _check(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
