"""The exception for problems that keep the embedded servers from starting."""

from __future__ import annotations


class CannotStart(Exception):
    """A problem outside the program. The message is one line that says what to do."""
