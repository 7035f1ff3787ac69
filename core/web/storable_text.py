"""Check whether text can be stored. PostgreSQL rejects NUL, and UTF-8 can't encode lone surrogates."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from django.utils.translation import gettext as _

MOST_KEY = 2**63 - 1  # the maximum of bigint, the type of all keys
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def why_unusable(text: str) -> str:
    """Return the reason why the text can't be stored, as a sentence, or an empty string if it can."""
    if "\0" in text:
        return _("The text contains a NUL character.")
    if not text.isascii() and _SURROGATE.search(text):
        return _("The text contains an invalid character (unpaired surrogate).")
    return ""


def why_unreadable(encoded: str) -> str:
    """Return the reason why an encoded query string or form is unusable, as a sentence, or an empty string."""
    if "%" not in encoded:
        return why_unusable(encoded)
    if _BROKEN_ESCAPE.search(encoded):
        return _("The text contains a % that is not followed by two hexadecimal digits.")
    raw = unquote_to_bytes(encoded)
    if b"\0" in raw:
        return why_unusable("\0")
    try:
        raw.decode()
    except UnicodeDecodeError:
        return _("The text is not valid UTF-8.")
    return ""


def has_control_character(header: str) -> bool:
    """Return whether a header contains a control character other than a tab."""
    return _CONTROL.search(header) is not None


def shown(name: str) -> str:
    """Return a name from a request, shortened and safe to include in a response."""
    return name[:80].replace("\0", "").encode(errors="replace").decode()
