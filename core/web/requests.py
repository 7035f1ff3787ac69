"""Helpers for pages and the API: the current user, request data, pagination by key, and CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails
from rest_framework import serializers
from rest_framework.request import Request

from core.errors import BadInput
from core.files.cells import safe_cell
from core.web.parsers import require_usable

Row = TypeVar("Row", bound=Model)


def signed_in(request: HttpRequest | Request) -> User:
    """Return the user of a request. Raises PermissionDenied if the user is not signed in."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def read_body(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated body of an API request. Raises ValidationError or BadInput."""
    return _checked(serializer(data=request.data))


def read_query(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated query string of an API request. Raises ValidationError or BadInput."""
    return _checked(serializer(data=request.query_params))


def _checked(sent: serializers.Serializer[Any]) -> dict[str, Any]:
    sent.is_valid(raise_exception=True)
    # Check numbers that were sent as strings. The parser has checked them only as text.
    require_usable(sent.validated_data)
    return dict(sent.validated_data)


def read_key(text: str) -> int:
    """Return a key from a URL. If the text is not a number, return 0, which no row has."""
    return int(text) if text.isdecimal() and len(text) < 19 else 0


def wants_fragment(request: HttpRequest) -> bool:
    """Return whether the request is an htmx swap. Boosted and restored page loads are not swaps."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    return bool(htmx and not htmx.boosted and not htmx.history_restore_request)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """A page of a list, newest first. `newer` and `older` are query strings, which are empty at the list's ends."""

    rows: Sequence[Row]
    newer: str
    older: str

    def __bool__(self) -> bool:
        return bool(self.rows)


def page_of(queryset: QuerySet[Row], request: HttpRequest, *, size: int = 50) -> Page[Row]:
    """Return a page by key, which makes late pages as cheap as the first page.

    Raises BadInput if `before` or `after` in the URL is not a number.
    """
    before, after = (_read_key(request, name) for name in ("before", "after"))
    if after is not None:
        rows = list(queryset.filter(pk__gt=after).order_by("pk")[: size + 1])
        more_newer = len(rows) > size
        rows = rows[:size][::-1]
        more_older = True
    else:
        if before is not None:
            queryset = queryset.filter(pk__lt=before)
        rows = list(queryset.order_by("-pk")[: size + 1])
        more_newer = before is not None
        more_older = len(rows) > size
        rows = rows[:size]
    return Page(
        rows=rows,
        newer=_link(request, "after", rows[0].pk) if rows and more_newer else "",
        older=_link(request, "before", rows[-1].pk) if rows and more_older else "",
    )


def _read_key(request: HttpRequest, name: str) -> int | None:
    value = request.GET.get(name, "")
    if not value:
        return None
    if not value.isdecimal() or len(value) > 18:
        raise BadInput(
            f"The address has {name}={value[:20]!r}, which is not a position in this list."
        )
    return int(value)


def _link(request: HttpRequest, name: str, key: int) -> str:
    parameters = request.GET.copy()
    for other in ("before", "after"):
        parameters.pop(other, None)
    parameters[name] = str(key)
    return f"?{parameters.urlencode()}"


# --- CSV ------------------------------------------------------------------------------------------------------


def csv_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a CSV file, with cells escaped by `safe_cell`. Yielding lines one by one saves memory."""
    writer = csv.writer(_Echo())
    for row in rows:
        yield writer.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in row])


class _Echo:
    """A file for csv.writer that returns each line instead of storing it."""

    def write(self, line: str) -> str:
        return line
