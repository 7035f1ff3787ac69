"""Every address of the product, taken from the URLconf, with what one likes in the places of its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

_PARAMETER = re.compile(r"\(\?P<\w+>(?:\[[^\]]*\]|[^)\[])*\)|<(?:\w+:)?\w+>")


def routes(
    patterns: list[URLPattern | URLResolver] | None = None, prefix: str = ""
) -> Iterator[str]:
    """The routes as they are written, with a {} for each parameter."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + re.sub(r"^\^|\$$|\\Z", "", str(one.pattern))
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, route)
        elif "format" not in route:
            yield "/" + _PARAMETER.sub("{}", route).replace("\\.", ".").replace("/?", "/")


def addresses(parameter: str = "1") -> list[str]:
    """Each address once, with this in the place of each parameter."""
    return sorted({route.replace("{}", parameter) for route in routes()})
