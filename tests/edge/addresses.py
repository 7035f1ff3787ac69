"""List every address of the product from the URLconf, with a given value for each parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

_PARAMETER = re.compile(r"\(\?P<\w+>(?:\[[^\]]*\]|[^)\[])*\)|<(?:\w+:)?\w+>")


def routes(
    patterns: list[URLPattern | URLResolver] | None = None, prefix: str = ""
) -> Iterator[str]:
    """Yield the route of each URL, with `{}` in place of each parameter."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + re.sub(r"^\^|\$$|\\Z", "", str(one.pattern))
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, route)
        elif "format" not in route:
            yield "/" + _PARAMETER.sub("{}", route).replace("\\.", ".").replace("/?", "/")


def addresses(parameter: str = "1") -> list[str]:
    """Return each address once, with the given value in place of each parameter."""
    return sorted({route.replace("{}", parameter) for route in routes()})
