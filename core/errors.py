"""Exceptions that services raise. Pages and the API show their messages to the user."""

from __future__ import annotations


class Refused(Exception):
    """The change is not allowed, and nothing was changed. The message is shown to the user."""


class NotAllowedNow(Refused):
    """The current state does not allow the change (409), for example because another user was faster."""


class TooManyRequests(NotAllowedNow):
    """Too many requests in a short time (429). The next request is allowed in `seconds`."""

    def __init__(self, message: str, *, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class Paused(NotAllowedNow):
    """An administrator has paused agents (503)."""


class Stale(NotAllowedNow):
    """The user decided on an outdated version. `newest` is the current version."""

    def __init__(self, message: str, *, newest: int) -> None:
        super().__init__(message)
        self.newest = newest


class BadInput(Refused):
    """The input is invalid (422). `field` is the name of the field, or empty."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field
