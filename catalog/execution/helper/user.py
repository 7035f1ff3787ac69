"""Switch from root to an unused user, so that scripts never run as root."""

from __future__ import annotations

import os
import socket

from catalog.execution.helper import kernel

# This range is between the ranges of systemd, Debian and shadow. systemd's table of user IDs lists it as unused.
FIRST_USER = 60600
SLOTS = 100


class CannotLeaveRoot(OSError):
    """The process is root in a user namespace that has no other user to switch to."""


class NoUserLeft(OSError):
    """All users in the range are in use."""


def drop_root() -> socket.socket | None:
    """Switch to a reserved user if this process is root. The returned socket keeps the user reserved.

    The reservation is an abstract socket, so the kernel releases it when the process exits, and no file remains.
    Processes of ordinary users, or of root in a private namespace, do not switch. Raises NoUserLeft and
    CannotLeaveRoot.
    """
    reserved = None
    if 0 in (os.getuid(), os.geteuid()) and not _is_root_in_name_only():
        reserved, user = _reserve_user()
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        kernel.own_proc_files()
    kernel.forbid_new_privileges()
    return reserved


def _is_root_in_name_only() -> bool:
    with open("/proc/self/uid_map") as opened:
        ranges = [tuple(map(int, line.split())) for line in opened]
    if any(inside <= FIRST_USER < inside + count - SLOTS for inside, _, count in ranges):
        return False
    if any(inside == outside == 0 for inside, outside, _ in ranges):
        raise CannotLeaveRoot("root has no other user to become in this user namespace")
    return True


def _reserve_user() -> tuple[socket.socket, int]:
    for user in range(FIRST_USER, FIRST_USER + SLOTS):
        reservation = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            reservation.bind(f"\0scriptsmith-sandbox-{user}")
        except OSError:
            reservation.close()
        else:
            return reservation, user
    raise NoUserLeft(f"all {SLOTS} users for sandboxes are taken")
