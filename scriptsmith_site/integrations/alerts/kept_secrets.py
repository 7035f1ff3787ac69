"""Secrets of sources: tokens as hashes, keys of signatures encrypted by a key that is made from SECRET_KEY."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

_PURPOSE = b"scriptsmith alert sources"


class CannotUnseal(Exception):
    """It was encrypted under another SECRET_KEY."""


def hash_token(token: str) -> str:
    """What is kept of a token: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def seal(secret: str) -> str:
    """The secret encrypted, as text."""
    return _fernet(settings.SECRET_KEY).encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """The secret again. Raises CannotUnseal."""
    try:
        return _fernet(settings.SECRET_KEY).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise CannotUnseal from error


@lru_cache(maxsize=4)
def _fernet(secret_key: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE)
    return Fernet(urlsafe_b64encode(derived.derive(secret_key.encode())))
