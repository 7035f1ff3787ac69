"""Public forms of keys, for tables whose database keys would reveal something.

The database assigns keys in order. The order reveals what was created first, and the gap between two keys reveals how
much was created in between. An item's key reveals how long its run took, and a Draft's key how many Drafts the
previous run has, and so the assessor's verdict. A public key is the same key under a secret permutation: it finds the
row just as well, but reveals nothing about other rows.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.urls.converters import IntConverter
from rest_framework import serializers

# 52 bits, a number that JavaScript and JSON represent exactly.
_HALF = 26
_MASK = (1 << _HALF) - 1
LIMIT = 1 << (2 * _HALF)  # no public key is as large
# Four rounds of a Feistel network with a keyed hash are enough for a pseudorandom permutation.
_ROUNDS = 6

ITEM = "item"
DRAFT = "draft"
FEEDBACK = "feedback"


class PublicKey(int):
    """The public form of a key, for use in a URL."""


@lru_cache(maxsize=16_384)
def public_key(kind: str, key: int) -> PublicKey:
    """Return the public form of a database key, below 2**52; it differs for each kind of object.

    It stays the same as long as SECRET_KEY does.
    """
    if not 0 <= key < LIMIT:
        raise ValueError(f"{key} is out of range for a public key")
    left, right = key >> _HALF, key & _MASK
    secret = _secret_of(kind)
    for number in range(_ROUNDS):
        left, right = right, left ^ _mix(secret, number, right)
    return PublicKey(left << _HALF | right)


def find_key(kind: str, public: int) -> int:
    """Return the database key of a public key; for an invalid one, a key that no row has."""
    if not 0 <= public < LIMIT:
        return 0
    left, right = public >> _HALF, public & _MASK
    secret = _secret_of(kind)
    for number in reversed(range(_ROUNDS)):
        left, right = right ^ _mix(secret, number, left), left
    return left << _HALF | right


def read_public(kind: str, text: str) -> int:
    """Return the database key for text from a URL or form; for an invalid one, a key that no row has."""
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
    """A public key in a URL; views get the database key.

    `reverse` accepts both a database key and a PublicKey.
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
    """A public key in the API, in both directions."""

    def __init__(self, kind: str, **options: Any) -> None:
        self.kind = kind
        super().__init__(**options)

    def to_representation(self, value: int) -> int:
        return public_key(self.kind, int(value))

    def to_internal_value(self, data: Any) -> int:
        return find_key(self.kind, super().to_internal_value(data))
