"""Secrets of alert sources. Tokens are stored as hashes, and signing keys are encrypted."""

from __future__ import annotations

import hashlib

from core import sealing

_PURPOSE = "scriptsmith alert sources"


def hash_token(token: str) -> str:
    """Return the token's hash for storage. A token has 256 random bits, so it needs no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def seal(secret: str) -> str:
    """Encrypt the secret and return it as text."""
    return sealing.seal(secret, purpose=_PURPOSE)


def unseal(sealed: str) -> str:
    """Decrypt the secret. Raises `core.sealing.CannotUnseal`."""
    return sealing.unseal(sealed, purpose=_PURPOSE)
