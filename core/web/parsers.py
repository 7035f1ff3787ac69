"""Parsers for the API's request bodies.

Invalid JSON results in status 400. Valid JSON with unusable values results in status 422 with the field's name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import IO, Any, NoReturn, cast

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from rest_framework import parsers, status
from rest_framework.exceptions import APIException, ParseError

from core.errors import BadInput
from core.web.storable_text import MOST_KEY, shown, why_unusable

MOST_DEPTH = 32


class TooLarge(APIException):
    """The request body is larger than allowed."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


class JSONParser(parsers.JSONParser):
    """A parser for JSON (RFC 8259) in UTF-8, with limits on size and depth.

    Raises TooLarge, ParseError, or BadInput for NUL, lone surrogates, duplicate names, numbers beyond 64 bits and
    nesting beyond `MOST_DEPTH`.
    """

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        body = _read(stream)
        try:
            parsed = json.loads(
                body.decode(), object_pairs_hook=_object, parse_constant=_refuse_constant
            )
        except RecursionError:
            raise _too_deep() from None
        except ValueError as error:
            raise ParseError(
                _("This is not valid JSON: %(why)s") % {"why": shown(str(error))}
            ) from None
        require_usable(parsed)
        return cast("dict[str, Any]", parsed)


class MultiPartParser(parsers.MultiPartParser):
    """A parser for forms with files. Raises Django's exceptions for large forms, and BadInput for unusable text."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> parsers.DataAndFiles[Any, Any]:
        found = super().parse(stream, media_type, parser_context)
        for name, values in found.data.lists():
            require_usable(name)
            for value in values:
                require_usable(value, at=name)
        for name, files in found.files.lists():
            require_usable(name)
            for file in files:
                require_usable(file.name or "", at=name)
        return found


def require_usable(value: object, *, at: str = "") -> None:
    """Raise BadInput, with the location as its field, for unusable text, large numbers and deep nesting."""
    # Do not use recursion, because deep nesting could exceed the recursion limit.
    open_values: list[tuple[str, object, int]] = [(at, value, 0)]
    while open_values:
        place, one, depth = open_values.pop()
        if isinstance(one, str):
            if problem := why_unusable(one):
                raise BadInput(problem, field=shown(place))
        elif isinstance(one, dict | list):
            if depth == MOST_DEPTH:
                raise _too_deep()
            open_values += [(name, inner, depth + 1) for name, inner in _inside(place, one)]
        elif isinstance(one, int | float) and not _fits(one):
            raise BadInput(_("This number is too large."), field=shown(place))


def _fits(number: float) -> bool:
    return -MOST_KEY <= number <= MOST_KEY if isinstance(number, int) else math.isfinite(number)


def _inside(place: str, value: dict[str, object] | list[object]) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if problem := why_unusable(name):
                raise BadInput(problem, field=shown(place))
            yield f"{place}.{name}" if place else name, inner
    else:
        for position, inner in enumerate(value):
            yield f"{place}.{position}" if place else str(position), inner


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInput(_("This field appears more than once."), field=shown(twice))
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _too_deep() -> BadInput:
    return BadInput(_("This data is nested more than %(most)s levels deep.") % {"most": MOST_DEPTH})


def _read(stream: IO[Any]) -> bytes:
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    body: bytes = stream.read() if most is None else stream.read(most + 1)
    if most is not None and len(body) > most:
        raise TooLarge(
            _("This request is too large. The limit is %(most)s.") % {"most": filesizeformat(most)}
        )
    return body
