"""Public keys for tables whose database keys would reveal confidential information.

The database assigns keys in order, so keys reveal the order of rows and the number of rows in between. An item's key
reveals how long its run took. A Draft's key reveals how many Drafts the previous run has, and therefore the assessor's
verdict. A public key is the database key under a secret permutation. Public keys identify rows but reveal nothing about
other rows.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.urls.converters import IntConverter
from rest_framework import serializers

# A public key has 52 bits, which JavaScript and JSON represent exactly.
_HALF = 26
_MASK = (1 << _HALF) - 1
LIMIT = 1 << (2 * _HALF)  # all public keys are smaller
# Four rounds of a Feistel network with a keyed hash suffice for a pseudorandom permutation.
_ROUNDS = 6

ITEM = "item"
DRAFT = "draft"
FEEDBACK = "feedback"


class PublicKey(int):
    """A public key, which URLs and API responses contain instead of the database key."""


@lru_cache(maxsize=16_384)
def public_key(kind: str, key: int) -> PublicKey:
    """Return the public key, below 2**52, for a database key. Each kind of object has a different permutation.

    A change of SECRET_KEY changes all public keys.
    """
    if not 0 <= key < LIMIT:
        raise ValueError(f"{key} is out of range for a public key")
    left, right = key >> _HALF, key & _MASK
    secret = _secret_of(kind)
    for number in range(_ROUNDS):
        left, right = right, left ^ _mix(secret, number, right)
    return PublicKey(left << _HALF | right)


def find_key(kind: str, public: int) -> int:
    """Return the database key for a public key. For an invalid public key, return a key that no row has."""
    if not 0 <= public < LIMIT:
        return 0
    left, right = public >> _HALF, public & _MASK
    secret = _secret_of(kind)
    for number in reversed(range(_ROUNDS)):
        left, right = right ^ _mix(secret, number, left), left
    return left << _HALF | right


def read_public(kind: str, text: str) -> int:
    """Return the database key for a public key from a URL or form. For invalid text, return a key that no row has."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 19
    return find_key(kind, int(text)) if is_number else 0


def _mix(secret: bytes, number: int, half: int) -> int:
    text = number.to_bytes(1) + half.to_bytes(4)
    return int.from_bytes(hashlib.blake2b(text, key=secret, digest_size=4).digest()) & _MASK


@lru_cache(maxsize=1_024)
def _secret_of(kind: str) -> bytes:
    return hashlib.blake2b(
        kind.encode(),
        key=hashlib.sha256(settings.SECRET_KEY.encode()).digest(),
        person=b"public key",
        digest_size=32,
    ).digest()


class PublicKeyConverter(IntConverter):
    """A path converter for public keys. Views get the database key.

    `reverse` accepts a database key or a PublicKey.
    """

    regex = "[0-9]{1,16}"
    kind = ""

    def to_python(self, value: str) -> int:
        return find_key(self.kind, int(value))

    def to_url(self, value: object) -> str:
        if isinstance(value, PublicKey):
            return str(value)
        return str(public_key(self.kind, int(str(value))))


class PublicKeyField(serializers.IntegerField):
    """An API field that reads and writes a public key."""

    def __init__(self, kind: str, **options: Any) -> None:
        self.kind = kind
        super().__init__(**options)

    def to_representation(self, value: int) -> int:
        return public_key(self.kind, int(value))

    def to_internal_value(self, data: Any) -> int:
        return find_key(self.kind, super().to_internal_value(data))
