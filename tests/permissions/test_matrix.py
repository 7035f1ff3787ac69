"""Every address x every role x whose object is asked for real, and answers as the tables say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest

from scriptsmith_site.people.tokens import make_token
from tests.permissions.asking import Browser
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
)
from tests.permissions.objects import EVERY_ROLE, Everything


def differences(everything: Everything, rows: Iterable[Row], people: Iterable[str]) -> list[str]:
    """What is answered in another way than the rows say; prints how much was tried."""
    rows = list(rows)
    tried, addressed, found = 0, set(), []
    for person in people:
        browser = Browser(everything.people.get(person))
        for one in addresses(everything, person=person, rows=rows):
            expected, answer = one.row.answer_to(person), browser.answer(one.method, one.url)
            tried += 1
            addressed.add((one.name, one.method))
            if answer != expected:
                found.append(
                    f"{one.method} {one.name} ({one.row.object}) as {person}: {answer}, the table says {expected}"
                    f"  [{one.url}]"
                )
    print(f"{len(addressed)} addresses, {tried} asked: {len(found)} differences")
    return found


@pytest.mark.parametrize("table", [page_rows, operation_rows, admin_rows])
def test_every_address_answers_every_role_as_the_table_says(
    everything: Everything, table: Callable[[], tuple[Row, ...]]
) -> None:
    found = differences(everything, table(), [ANONYMOUS, *SIGNED_IN])
    assert not found, "\n" + "\n".join(found)


def test_a_token_opens_what_its_scope_says(everything: Everything) -> None:
    """The token's person has every role: what is refused is refused for want of the scope."""
    person, tried, found = everything.people[EVERY_ROLE], 0, []
    for scope in SCOPES:
        browser = Browser(
            token=make_token(person, name=scope, scopes=[scope], days=1, by=person).secret
        )
        for one in addresses(everything, person=EVERY_ROLE, rows=operation_rows()):
            within = "allowed" if one.row.who else one.row.refused
            expected = within if one.row.scope == scope else "403"
            answer = browser.answer(one.method, one.url)
            tried += 1
            if answer != expected:
                asked = f"{one.method} {one.name} ({one.row.object}) with scope {scope}"
                found.append(f"{asked}: {answer}, the table says {expected}")
    print(f"{tried} asked with one scope each: {len(found)} differences")
    assert not found, "\n" + "\n".join(found)
