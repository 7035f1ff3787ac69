"""What services refuse, and why: pages and API show the text of each to the person."""

from __future__ import annotations


class Refused(Exception):
    """A change that the rules do not allow; its text is shown to the person. Nothing was changed."""


class NotAllowedNow(Refused):
    """The rules allow it, but not in the present state (409): somebody was faster, or it is done already."""


class TooManyRequests(NotAllowedNow):
    """So much may not be asked for in so short a time (429); in `seconds` it may again."""

    def __init__(self, message: str, *, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class Paused(NotAllowedNow):
    """An administrator has stopped the answers for a while (503)."""


class Stale(NotAllowedNow):
    """The person decided on something that is no longer the newest; `newest` says what is."""

    def __init__(self, message: str, *, newest: int) -> None:
        super().__init__(message)
        self.newest = newest


class BadInput(Refused):
    """What was typed or sent can't be used (422); `field` names where, or is empty."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field
