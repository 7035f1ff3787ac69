"""Conditions on long lists of keys. The list is one array parameter, because thousands of parameters are slow."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import BooleanField, F, Func, IntegerField, Value


class _IsAmong(Func):
    arg_joiner = " = ANY("
    template = "%(expressions)s)"
    output_field = BooleanField()


def is_among(field: str, keys: Iterable[int]) -> Func:
    """Return a condition for `filter` that selects the rows whose field is one of these keys."""
    return _IsAmong(field, Value(list(keys)))


def place_in(keys: Iterable[int], field: str) -> Func:
    """Return an expression for `order_by` that sorts rows by the position of the field's value in `keys`."""
    place = IntegerField()
    return Func(Value(list(keys)), F(field), function="array_position", output_field=place)
