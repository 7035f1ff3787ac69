"""Rows by a list of keys that goes to the database as one value: thousands of single ones take their time."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import BooleanField, F, Func, IntegerField, Value


class _IsAmong(Func):
    arg_joiner = " = ANY("
    template = "%(expressions)s)"
    output_field = BooleanField()


def is_among(field: str, keys: Iterable[int]) -> Func:
    """The condition that a key is one of these, for `filter`."""
    return _IsAmong(field, Value(list(keys)))


def place_in(keys: Iterable[int], field: str) -> Func:
    """Where a key stands among these, for `order_by`."""
    place = IntegerField()
    return Func(Value(list(keys)), F(field), function="array_position", output_field=place)
