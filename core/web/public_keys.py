"""Keys as people and programs see them, where a key of the database would tell something.

Keys of the database are given out in order. Their order tells what was made first, and a gap between two
tells how much was made in between: an item's key says how long its run took, a Draft's how many Drafts the
run before it has, and so what the assessor thought. A public key is the same key under a secret permutation:
it finds its row as well, and says nothing of any other.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.urls.converters import IntConverter
from rest_framework import serializers

# 52 bits: a number that JavaScript and JSON hold exactly.
_HALF = 26
_MASK = (1 << _HALF) - 1
_LIMIT = 1 << (2 * _HALF)
# Of a Feistel network whose round function is a keyed hash, four are enough for a pseudorandom permutation.
_ROUNDS = 6

ITEM = "item"
DRAFT = "draft"
FEEDBACK = "feedback"


class PublicKey(int):
    """A key in its public form; an address takes it as it is."""


@lru_cache(maxsize=16_384)
def public_key(kind: str, key: int) -> PublicKey:
    """The public form of a key of the database, 0 to 2**52; another one for each kind.

    It stays the same for as long as the SECRET_KEY does.
    """
    if not 0 <= key < _LIMIT:
        raise ValueError(f"{key} is no key that can be shown")
    left, right = key >> _HALF, key & _MASK
    secret = _secret_of(kind)
    for number in range(_ROUNDS):
        left, right = right, left ^ _mix(secret, number, right)
    return PublicKey(left << _HALF | right)


def find_key(kind: str, public: int) -> int:
    """The key that is shown as `public`; one that no row has where it is none."""
    if not 0 <= public < _LIMIT:
        return 0
    left, right = public >> _HALF, public & _MASK
    secret = _secret_of(kind)
    for number in reversed(range(_ROUNDS)):
        left, right = right ^ _mix(secret, number, left), left
    return left << _HALF | right


def read_public(kind: str, text: str) -> int:
    """The key that an address or a form names; one that no row has where it names none."""
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
    """A public key in an address; views get the key of the database.

    To make an address, both a key of the database and a PublicKey will do.
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
    """A public key in the API, in and out."""

    def __init__(self, kind: str, **options: Any) -> None:
        self.kind = kind
        super().__init__(**options)

    def to_representation(self, value: int) -> int:
        return public_key(self.kind, int(value))

    def to_internal_value(self, data: Any) -> int:
        return find_key(self.kind, super().to_internal_value(data))
