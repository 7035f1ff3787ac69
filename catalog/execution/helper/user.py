"""Root never runs a script: the helper becomes a user that nothing else on the machine is."""

from __future__ import annotations

import os
import socket

from catalog.execution.helper import kernel

# Between the ranges that systemd, Debian and shadow hand out; systemd's own table calls it unused.
FIRST_USER = 60600
SLOTS = 100


class CannotLeaveRoot(OSError):
    """This is root, and in a user namespace that has nobody else to become."""


class NoUserLeft(OSError):
    """Every user of the range is taken by another run."""


def drop_root() -> socket.socket | None:
    """Become a user of this run's own where this is root; what is returned keeps the user reserved.

    An abstract socket is the reservation: the kernel frees it with the process, and no file is left. An
    ordinary user stays who they are, and so does one who is called root in a namespace of their own. Raises
    NoUserLeft, CannotLeaveRoot.
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
