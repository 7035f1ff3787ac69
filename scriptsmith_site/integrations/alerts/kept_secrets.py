"""Secrets of sources: tokens as hashes, keys of signatures sealed."""

from __future__ import annotations

import hashlib

from core import sealing

_PURPOSE = "scriptsmith alert sources"


def hash_token(token: str) -> str:
    """What is kept of a token: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def seal(secret: str) -> str:
    """The secret encrypted, as text."""
    return sealing.seal(secret, purpose=_PURPOSE)


def unseal(sealed: str) -> str:
    """The secret again. Raises `core.sealing.CannotUnseal`."""
    return sealing.unseal(sealed, purpose=_PURPOSE)
