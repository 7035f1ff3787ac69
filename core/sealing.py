"""Encrypt secrets of other systems with keys derived from SECRET_KEY, one key for each purpose.

The database alone does not reveal the secrets. After a change of SECRET_KEY, secrets are decrypted with the old key in
SECRET_KEY_FALLBACKS. If the old key is missing there, an administrator must enter the secrets again.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CannotUnseal(Exception):
    """The secret was encrypted with a different SECRET_KEY or for a different purpose."""


def seal(secret: str, *, purpose: str) -> str:
    """Return the encrypted secret as text."""
    return _cipher(purpose).encrypt(secret.encode()).decode("ascii")


def unseal(sealed: str, *, purpose: str) -> str:
    """Return the decrypted secret. Raises CannotUnseal."""
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
