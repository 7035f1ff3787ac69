"""Detect outages that make requests fail: the database is unavailable, or the disk is full."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import NamedTuple

from django.db import InterfaceError, OperationalError

# SQLSTATE classes: connection lost, insufficient resources, operator intervention, system error.
_AWAY = ("08", "53", "57P", "58")
_DISK_FULL = "53100"


class Outage(NamedTuple):
    """An outage: what fails, what happened to the request, and what an administrator can do."""

    code: str  # stable, for programs
    title: str
    text: str
    help: str


# Not translated, because translations must not be looked up without the database.
DATABASE_AWAY = Outage(
    "database_unavailable",
    "The database is unavailable",
    "Your last change may not have been saved. Go back to keep your input, and try again "
    "in a minute.",
    "Administrators: /readyz shows which component fails, and the logs show why. make run "
    "restarts its own database automatically. Check any other database on its own server.",
)
DISK_FULL = Outage(
    "disk_full",
    "The disk is full",
    "Your last change was not saved. Go back to keep your input, and try again after an "
    "administrator has freed some space.",
    "Administrators: free space on the disk of the database and the data folder (see "
    "docs/operation.md). Saved data stays, and runs continue automatically.",
)


def outage_of(error: BaseException | None) -> Outage | None:
    """Return the outage that caused the error, or None if the error is a defect."""
    for one in _chain(error):
        if isinstance(one, OSError) and one.errno in (errno.ENOSPC, errno.EDQUOT):
            return DISK_FULL
        if isinstance(one, InterfaceError | OperationalError):
            state = getattr(one.__cause__, "sqlstate", None)
            if state == _DISK_FULL:
                return DISK_FULL
            # A connection that could not be opened has no SQLSTATE.
            if state is None or state.startswith(_AWAY):
                return DATABASE_AWAY
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
