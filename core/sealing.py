"""Secrets of other systems as they are kept: encrypted by a key that is made from SECRET_KEY, one for each purpose.

Whoever has the database alone cannot read them. After a change of SECRET_KEY they are read by SECRET_KEY_FALLBACKS,
and where that does not name the old one they are made anew.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CannotUnseal(Exception):
    """It was sealed under another SECRET_KEY, or for another purpose."""


def seal(secret: str, *, purpose: str) -> str:
    """The secret encrypted, as text."""
    return _cipher(purpose).encrypt(secret.encode()).decode("ascii")


def unseal(sealed: str, *, purpose: str) -> str:
    """The secret again. Raises CannotUnseal."""
    try:
        return _cipher(purpose).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise CannotUnseal from error


def _cipher(purpose: str) -> MultiFernet:
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([_fernet(one, purpose) for one in keys])


@lru_cache(maxsize=16)
def _fernet(secret_key: str, purpose: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode())
    return Fernet(urlsafe_b64encode(derived.derive(secret_key.encode())))
