"""Tests that every address responds to every role as the tables specify, for each kind of object."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from scriptsmith_site.people.sign_in.tokens import find_token, make_token
from tests.permissions.asking import NOTHING_THERE, Browser
from tests.permissions.matrix import (
    ANONYMOUS,
    SCOPES,
    SIGNED_IN,
    Row,
    addresses,
    admin_routes,
    admin_rows,
    api_routes,
    operation_rows,
    operations,
    page_routes,
    page_rows,
    url_of,
)
from tests.permissions.objects import EVERY_ROLE, Everything

# Possible responses to a method that an address does not accept. Some views check the user before the method.
_REFUSED = ("405", "403", "sign-in")


def differences(
    everything: Everything, rows: Iterable[Row], people: Iterable[str], *, is_whole: bool
) -> list[str]:
    """Return the responses that differ from the rows, and print the number of requests.

    With `is_whole=False`, each address is opened only by the first user with access. All users without access still
    try.
    """
    rows = list(rows)
    tried, addressed, opened, found = 0, set(), set(), []
    for person in people:
        browser = Browser(everything.people.get(person))
        for one in addresses(everything, person=person, rows=rows):
            expected = one.row.answer_to(person)
            if expected == "allowed" and not is_whole:
                if (one.name, one.method, one.row.object) in opened:
                    continue
                opened.add((one.name, one.method, one.row.object))
            answer = browser.answer(one.method, one.url)
            tried += 1
            addressed.add((one.name, one.method))
            if one.name.startswith("admin:") and _says_the_same(answer, expected):
                continue
            if answer != expected:
                found.append(
                    f"{one.method} {one.name} ({one.row.object}) as {person}: {answer}, the table says {expected}"
                    f"  [{one.url}]"
                )
    print(f"{len(addressed)} addresses, {tried} asked: {len(found)} differences")
    return found


def _says_the_same(answer: str, expected: str) -> bool:
    """Accept the admin's order of checks: it looks for missing rows first and checks the method last."""
    return answer == NOTHING_THERE or (answer, expected) in (("405", "allowed"), ("404", "403"))


def test_a_user_without_a_role_is_refused_as_the_tables_say(everything: Everything) -> None:
    """Send one request to each address. Denials are cheap, so `make test` sends only these requests."""
    refused = {
        row.name: replace(row, methods=row.methods[-1:])
        for row in (*page_rows(), *operation_rows())
        if row.answer_to("stranger") != "allowed"
    }
    found = differences(everything, refused.values(), ["stranger"], is_whole=True)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("table", [page_rows, operation_rows, admin_rows])
def test_every_address_answers_every_role_as_the_table_says(
    everything: Everything, table: Callable[[], tuple[Row, ...]], is_whole: bool
) -> None:
    """Only an actual request can show whether a view checks permissions."""
    found = differences(everything, table(), [ANONYMOUS, *SIGNED_IN], is_whole=is_whole)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("others", [1, pytest.param(len(SCOPES), marks=pytest.mark.nightly)])
def test_a_token_opens_what_its_scope_says(everything: Everything, others: int) -> None:
    """Call each operation with its own scopes and with `others` other scopes.

    The token's user has every role, so only the scope can deny a call.
    """
    person, tried, found = everything.people[EVERY_ROLE], 0, []
    asked_by_others = Counter[Row]()
    for scope in SCOPES:
        made = make_token(person, name=scope, scopes=[scope], days=1, by=person)
        # Record a use from this address. Otherwise every request would be the token's first from this address, because
        # each request is rolled back.
        find_token(made.secret, address="127.0.0.1")
        browser = Browser(token=made.secret)
        for one in addresses(everything, person=EVERY_ROLE, rows=operation_rows()):
            within = "allowed" if one.row.who else one.row.refused.split()[0]
            is_own = scope in one.row.scope.split("|")
            asked_by_others[one.row] += not is_own
            if not is_own and asked_by_others[one.row] > others:
                continue
            expected = within if is_own else "403"
            answer = browser.answer(one.method, one.url)
            tried += 1
            if answer != expected:
                asked = f"{one.method} {one.name} ({one.row.object}) with scope {scope}"
                found.append(f"{asked}: {answer}, the table says {expected}")
    print(f"{tried} asked with one scope each: {len(found)} differences")
    assert not found, "\n" + "\n".join(found)


def test_every_page_has_a_row_and_every_row_a_page(everything: Everything) -> None:
    """Every method that a URL accepts also needs a row."""
    rows = {(row.name, method): row for row in page_rows() for method in row.methods}
    named = {row.name: row for row in page_rows()}
    new = sorted(page_routes().keys() - named.keys())
    gone = sorted(named.keys() - page_routes().keys())
    assert not new, (
        f"add a row to tests/permissions/pages.txt for each of {new}: name, methods, object, who"
    )
    assert not gone, f"no address is called so any more; take its rows out of pages.txt: {gone}"
    browser = Browser(everything.people[EVERY_ROLE])
    more = [
        f"{method} {name}"
        for name, row in named.items()
        for method in ("GET", "POST")
        if (name, method) not in rows
        and not row.name.startswith("admin:")
        and browser.answer(method, url_of(row, everything, EVERY_ROLE)) not in _REFUSED
    ]
    assert not more, f"these are answered, and pages.txt does not say to whom: {more}"


@pytest.mark.slow
def test_every_operation_has_a_row_and_every_row_an_operation() -> None:
    named = {row.operation for row in operation_rows()}
    new, gone = sorted(operations().keys() - named), sorted(named - operations().keys())
    assert not new, (
        f"add a row to tests/permissions/operations.txt for each of {new}: operation, object, scope, who"
    )
    assert not gone, f"the schema has no such operation; take it out of operations.txt: {gone}"
    described = {(method, re.sub(r"{\w+}", "{}", path)) for method, path in operations().values()}
    assert api_routes() == described, "what the API answers and what its schema describes differ"


def test_every_address_of_the_admin_has_a_row() -> None:
    named = {(row.name, method) for row in admin_rows() for method in row.methods}
    missing = sorted(
        name
        for name in admin_routes()
        if (name, "GET") not in named and (name, "POST") not in named
    )
    assert not missing, f"add a row to tests/permissions/admin.txt that fits {missing}"
