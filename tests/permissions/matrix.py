"""The permissions from the tables in this folder, and the product's own addresses to compare them with.

The keys do not depend on the location of a view. `pages.txt` uses the name of the URL pattern and the method,
`operations.txt` uses the operation in the OpenAPI schema, and `admin.txt` uses the name of the pattern. An address
without a row fails the suite, and so does a row without an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

from django.urls import URLPattern, URLResolver, get_resolver

from scriptsmith_site.api import api_schema

HERE = Path(__file__).parent
ROLES = ("reviewer", "curator", "manager", "administrator")
SIGNED_IN = (*ROLES, "stranger")
ANONYMOUS = "anonymous"
SCOPES = (
    "read",
    "ask",
    "review",
    "curate",
    "manage",
    "agent_read",
    "report_outcome",
    "request_script",
)
_EITHER = re.compile(r"<(?:\w+:)?(\w+)>|\{(\w+)\}")


class Objects(Protocol):
    """Rows of every kind. Their keys fill in the parameters of addresses."""

    def keys(self, object: str, person: str) -> dict[str, object]:
        """Return the row's keys by parameter name. The key for all other parameters is under ""."""


@dataclass(frozen=True)
class Row:
    """One line of a table: the users that may access one address, for one kind of object."""

    room: str
    name: str  # name of the URL pattern, or ID of the operation
    methods: tuple[str, ...]
    object: str  # kind and owner, or "-"
    who: tuple[str, ...]
    refused: str = "403"  # 403, or 404 and the roles that get 404 (others get 403)
    scope: str = ""  # API scopes, separated by |; any one of them is enough
    operation: str = ""

    def answer_to(self, person: str) -> str:
        """Return the expected response for this user: allowed, 403, 404 or sign-in."""
        if "public" in self.who:
            return "allowed"
        if person == ANONYMOUS:
            return "sign-in"
        if "everybody" in self.who or person in self.who:
            return "allowed"
        status, *roles = self.refused.split()
        return status if not roles or person in roles else "403"


class Address(NamedTuple):
    """One method and address, with the keys of real rows."""

    name: str
    method: str
    url: str
    operation: str  # "" for a page
    row: Row


def _lines(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the package and the columns of each row in the named table."""
    room = ""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            room = line.removeprefix("== ")
        elif line.strip() and not line.startswith("#"):
            yield room, re.split(r"\s{2,}", line.strip())


def _who(text: str) -> tuple[str, ...]:
    known = {"public", "everybody", "nobody", *ROLES}
    who = tuple(text.split())
    assert set(who) <= known, f"nobody is called {set(who) - known} in tests/permissions"
    return () if who == ("nobody",) else who


@cache
def page_rows() -> tuple[Row, ...]:
    """Return the rows of pages.txt."""
    rows = []
    for room, (name, methods, object, who, *refused) in _lines("pages.txt"):
        rows.append(Row(room, name, tuple(methods.split()), object, _who(who), *refused))
    return tuple(rows)


@cache
def operation_rows() -> tuple[Row, ...]:
    """Return the rows of operations.txt. Rows of unknown operations have no method."""
    rows, known = [], operations()
    for room, (name, object, scope, who, *refused) in _lines("operations.txt"):
        assert set(scope.split("|")) <= {*SCOPES}, f"there is no scope {scope} in {name}"
        methods = (known[name][0],) if name in known else ()
        row = Row(room, name, methods, object, _who(who), *refused, scope=scope, operation=name)  # type: ignore[misc]
        rows.append(row)
    return tuple(rows)


@cache
def admin_rows() -> tuple[Row, ...]:
    """Return a row for each address and method of the admin, from the first matching line of admin.txt."""
    lines = [
        (name, set(methods.split()), _who(who))
        for _room, (name, methods, who) in _lines("admin.txt")
    ]
    rows = []
    for name in sorted(admin_routes()):
        left = {"GET", "POST"}
        for pattern, methods, who in lines:
            if fnmatch(name.removeprefix("admin:"), pattern) and methods & left:
                rows.append(Row("Admin", name, tuple(sorted(methods & left)), name, who))
                left -= methods
    return tuple(rows)


def _patterns(
    patterns: Sequence[URLPattern | URLResolver], prefix: str = "", space: str = ""
) -> Iterator[tuple[str, str, URLPattern]]:
    for one in patterns:
        route = prefix + re.sub(r"^\^|\$$|\\Z$", "", str(one.pattern))
        if isinstance(one, URLPattern):
            yield space + (one.name or route), route, one
        else:
            inner = f"{space}{one.namespace}:" if one.namespace else space
            yield from _patterns(one.url_patterns, route, inner)


@cache
def _all() -> tuple[tuple[str, str, URLPattern], ...]:
    return tuple(_patterns(get_resolver().url_patterns))


@cache
def page_routes() -> dict[str, str]:
    """Return the routes of all addresses outside the admin and the API, by name."""
    return {
        name: route
        for name, route, pattern in _all()
        if not name.startswith("admin:")
        and not hasattr(pattern.callback, "actions")
        and "format>" not in route
    }


@cache
def admin_routes() -> dict[str, str]:
    """Return the routes of the admin's addresses, by name. Unnamed addresses only redirect to named addresses."""
    named = [
        (name, route)
        for name, route, pattern in _all()
        if name.startswith("admin:") and pattern.name
    ]
    return dict(named)


@cache
def operations() -> dict[str, tuple[str, str]]:
    """Return the method and path of each operation in the OpenAPI schema."""
    return {
        one["operationId"]: (method.upper(), path)
        for path, methods in api_schema()["paths"].items()
        for method, one in methods.items()
        if isinstance(one, dict) and "operationId" in one and not path.endswith("/schema/")
    }


def api_routes() -> set[tuple[str, str]]:
    """Return the method and path of every endpoint that the API's routers serve, with parameters as {}."""
    found = set()
    for _name, route, pattern in _all():
        actions = getattr(pattern.callback, "actions", None)
        if actions and "(?P<format>" not in route:
            path = re.sub(r"\(\?P<\w+>[^)]*\)", "{}", route.replace("^", ""))
            # After the first request, REST framework adds HEAD to views that have GET.
            found |= {(method.upper(), f"/{path}") for method in actions if method != "head"}
    return found


def url_of(row: Row, objects: Objects, person: str) -> str:
    """Return the address of a row as this user would request it, with the keys of the row's objects."""
    route = operations()[row.operation][1] if row.operation else "/" + _plain(row)
    if not _EITHER.search(route):
        return route
    keys = objects.keys(row.object, person)
    return _EITHER.sub(lambda found: str(keys.get(found[1] or found[2], keys.get("", 0))), route)


def _plain(row: Row) -> str:
    route = admin_routes().get(row.name) or page_routes()[row.name]
    # Some of Django's own addresses are regular expressions.
    route = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^)]*\))*\)", r"<\1>", route)
    return route.replace("\\.", ".").replace("/?", "/").removesuffix("$").replace("^", "")


def addresses(
    objects: Objects, *, person: str, rows: Iterable[Row] | None = None
) -> Iterator[Address]:
    """Yield every address of the pages and the API as this user would request it, once per method.

    `rows` limits the addresses, for example `[row for row in page_rows() if row.answer_to("reviewer") == "allowed"]`.
    """
    for row in (*page_rows(), *operation_rows()) if rows is None else rows:
        for method in row.methods:
            yield Address(row.name, method, url_of(row, objects, person), row.operation, row)
