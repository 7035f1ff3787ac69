"""What keeps the embedded servers from starting."""

from __future__ import annotations


class CannotStart(Exception):
    """Something outside the program is in the way; the text is one line that says what to do."""
