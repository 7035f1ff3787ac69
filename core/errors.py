"""The exceptions of services. Pages and API show the text of each to the user."""

from __future__ import annotations


class Refused(Exception):
    """The rules do not allow the change. Nothing was changed; the text is shown to the user."""


class NotAllowedNow(Refused):
    """The change is not allowed in the present state (409): somebody else was faster, or it was made already."""


class TooManyRequests(NotAllowedNow):
    """So much may not be asked for in so short a time (429); in `seconds` it may again."""

    def __init__(self, message: str, *, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class Paused(NotAllowedNow):
    """An administrator has stopped the answers for a while (503)."""


class Stale(NotAllowedNow):
    """The user decided on something that is not the newest any more; `newest` says what is."""

    def __init__(self, message: str, *, newest: int) -> None:
        super().__init__(message)
        self.newest = newest


class BadInput(Refused):
    """What was typed or sent is not valid (422); `field` names where, or is empty."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field
